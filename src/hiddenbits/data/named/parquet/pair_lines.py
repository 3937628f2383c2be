"""The lines of pair files: one line for each pair of a row and an item, decoded a few at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import reading
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, pyarrow
from hiddenbits.quoting import told

LINE_BYTES = 48  # what a line takes while it is decoded, roughly


class Lines(NamedTuple):
    """Consecutive lines of one row group.

    Attributes
    ----------
    path, first : str, int
        The file, and the number of the first line within it, from 0.
    start : int
        Number of the first line over all files.
    keys : pyarrow.Array
        Row keys: int64, uint64 or large_string; none is null.
    opens : ndarray of bool
        Whether a line opens a run: its key is not that of the line before. The first line of all opens one.
    batch : pyarrow.RecordBatch
        All columns that were asked for.
    """

    path: str
    first: int
    start: int
    keys: Any
    opens: NDArray[np.bool_]
    batch: Any


@dataclass(frozen=True)
class PairFiles:
    """Files of lines, and which of their columns say what.

    Attributes
    ----------
    files : ParquetFiles
        Where the lines are.
    row, item, value : str
        The columns of row keys, of items, and of what was seen there, if there is one.
    row_type, item_type : str
        "int64", "uint64" or "large_string": the Arrow type in which keys and items are compared.
    """

    files: ParquetFiles
    row: str
    item: str
    value: str | None
    row_type: str
    item_type: str

    def lines(self, start: int, stop: int, *columns: str) -> Iterator[Lines]:
        """Yield lines start to stop, with their row keys and the given columns."""
        import pyarrow.compute as pc

        last: Any = None
        wanted = list(dict.fromkeys([self.row, *columns]))
        for path, first, batch in self.files.batches(start, stop, wanted, LINE_BYTES):
            with decoding(path):
                keys = plain(batch.column(self.row), self.row_type, self.row, first)
                opens = np.ones(len(keys), bool)
                opens[0] = last is None or keys[0].as_py() != last
                opens[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
                last = keys[-1].as_py()
            yield Lines(path, first, start, keys, opens, batch)
            start += len(keys)

    def place(self, line: int) -> str:
        """Return the file and the line within it of a line counted over all files."""
        for path, starts in zip(self.files.paths, self.files.groups, strict=True):
            if line < starts[-1]:
                return f"{path}: line {line - starts[0]}"
        raise IndexError(line)


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """Name the file in errors, those of Arrow included: some of its exceptions are nothing else."""
    with reading(path):
        try:
            yield
        except pyarrow().ArrowException as error:
            raise TableError(f"the file is damaged ({told(error)}). Write it again.") from error


def plain(array: Any, kind: str, column: str, first: int) -> Any:
    """Return keys in the type in which they are compared; a null is refused with its line."""
    if pyarrow().types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count:
        line = first + int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise TableError(f"line {line}: {column!r} is null. Remove the line. (Lines are counted from 0.)")
    if kind == "large_string":
        array.validate(full=True)  # Parquet's reader lets text pass that is not UTF-8
    return array.cast(kind)


def key_type(paths: Sequence[Any], infos: Sequence[FileInfo], column: str, option: str) -> str:
    """Return the Arrow type in which the keys of a column are compared: one for all files."""
    types = pyarrow().types
    found: list[str] = []
    for path, info in zip(paths, infos, strict=True):
        with reading(path):
            check_column(info, column, option)
            held = info.schema.field(column).type
            kind = held.value_type if types.is_dictionary(held) else held
            if types.is_integer(kind):
                found.append("uint64" if types.is_uint64(kind) else "int64")
            elif types.is_string(kind) or types.is_large_string(kind):
                found.append("large_string")
            else:
                raise TableError(
                    f"column {column!r} holds {held}, but {option}= takes whole numbers or text. Cast the column."
                )
            if found[-1] != found[0]:
                first = infos[0].schema.field(column).type
                raise TableError(f"column {column!r} holds {held}, but {first} in {paths[0].name}. Use one type.")
    return found[0]


def check_column(info: FileInfo, column: str, option: str) -> None:
    """Refuse a column that is not there."""
    if column not in info.schema.names:
        shown = ", ".join(map(repr, info.schema.names[:10])) + (", ..." if len(info.schema.names) > 10 else "")
        raise TableError(f"{option}= names {column!r}, but the columns are {shown}.")
