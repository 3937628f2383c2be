"""Parquet files with a column that lists the items of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import Bits
from hiddenbits.data.cell_checks import Blank
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.items import Repeats, basket_bits, check_items, item_names, row_of, sort_baskets
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, is_list, pyarrow
from hiddenbits.data.named.parquet.footer import Chunk
from hiddenbits.data.table import Table
from hiddenbits.quoting import quoted


def open_lists(
    request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo], column: str, items: Any, max_columns: int
) -> Table:
    """Open files whose `column` lists each row's items; see `open_parquet`."""
    words = {_holds_words(path, info.schema, column) for path, info in zip(request.files, infos, strict=True)}
    if len(words) > 1:
        raise TableError(f"{request.files[0]}: column {column!r} lists numbers in some files and names in others.")
    by_name = words.pop()
    vocabulary = item_names(items, request)
    n_columns = check_items(request, vocabulary, max_columns)
    chunks = _chunks(infos, column)
    row_items = sum(max(chunk.num_values, 0) for chunk in chunks) / max(files.n_rows, 1)
    scan = ListSource(files, column, 0, None, row_items, request.blank)
    if by_name and vocabulary is None:
        vocabulary = scan.find_names(max_columns)
        if n_columns is not None and n_columns != len(vocabulary):
            raise TableError(
                f"{request.files[0]}: {len(vocabulary)} items found, not n_columns={n_columns}. Name them with items=."
            )
        n_columns = len(vocabulary)
    if n_columns is None:
        largest = _largest(chunks)
        if largest is None or largest >= max_columns:  # the scan says where the culprit is
            largest = scan.find_largest(max_columns)
        n_columns = largest + 1
    if not n_columns:
        raise TableError(f"{request.files[0]}: all baskets are empty. Give the number of columns with n_columns=.")
    source = ListSource(files, column, n_columns, vocabulary if by_name else None, row_items, request.blank)
    return Table(source, request.names if request.names is not None else vocabulary)


def _holds_words(path: Any, schema: Any, column: str) -> bool:
    """Whether the column lists names; False for numbers, and an error for anything else."""
    types = pyarrow().types
    with reading(path):
        if column not in schema.names:
            raise TableError(
                f"there is no column {column!r}. The columns are {', '.join(map(repr, schema.names[:10]))}."
            )
        kind = schema.field(column).type
        item = kind.value_type if is_list(kind) else None
        if item is not None and types.is_integer(item):
            return False
        if item is not None and types.is_dictionary(item):
            item = item.value_type
        if item is not None and (types.is_string(item) or types.is_large_string(item)):
            return True
        raise TableError(f"column {column!r} holds {kind}, not lists of item numbers or names.")


def _chunks(infos: Sequence[FileInfo], column: str) -> list[Chunk]:
    """Return what the metadata says of the column's items, row group by row group."""
    found: list[Chunk] = []
    for info in infos:
        numbers = [j for j, leaf in enumerate(info.leaves) if leaf.startswith(column + ".")]
        found.extend(group[j] for group in info.chunks for j in numbers)
    return found


def _largest(chunks: Sequence[Chunk]) -> int | None:
    """Return the largest item number from the metadata, or None where it does not tell."""
    told = [int.from_bytes(chunk.largest, "little") for chunk in chunks if chunk.largest]
    return max(told) if told and len(told) == len(chunks) else None


@dataclass(frozen=True, eq=False)
class ListSource:
    """Rows of baskets in Parquet files; `read` opens the files again, in any thread or process.

    Attributes
    ----------
    files : ParquetFiles
        Where the rows are.
    column : str
        The column of lists.
    n_columns : int
        Number of columns of the table.
    items : tuple of str or None
        Names of the items, if the lists hold names.
    row_items : float
        Items in a row, on average.
    blank : {"auto", "zero", "missing"}
        What an item that is not listed means.
    """

    files: ParquetFiles
    column: str
    n_columns: int
    items: tuple[str, ...] | None
    row_items: float
    blank: Blank

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    @property
    def resident(self) -> bool:
        """The rows are on disk."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded, on average."""
        return 8 + 4 * self.row_items

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: its ones."""
        return self.row_items

    @property
    def complete(self) -> bool:
        """Whether all cells are observed, as far as is known without reading the rows."""
        return self.blank != "missing"

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop; reads only the row groups that hold them."""
        all_lengths, all_items, repeats = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], Repeats()
        for path, first_row, lists in self._lists(start, stop):
            with reading(path):
                lengths, values = _flat(lists, first_row, self.blank)
                items = self._positions(values, lengths, first_row)
                lengths, items = sort_baskets(lengths, items, repeats, f"{path}, row", first_row)
            all_lengths.append(lengths)
            all_items.append(items.astype(np.int32, copy=False))
        repeats.warn()
        return basket_bits(np.concatenate(all_lengths), np.concatenate(all_items), self.n_columns, self.blank)

    def find_names(self, max_columns: int) -> tuple[str, ...]:
        """Return all names that occur, sorted, in one scan."""
        found: set[str] = set()
        for path, first_row, lists in self._lists(0, self.n_rows):
            with reading(path):
                _, values = _flat(lists, first_row, self.blank)
                found.update(_decoded(values).unique().to_pylist())
                if len(found) > max_columns:
                    raise TableError(f"more than max_columns={max_columns} items. List the ones you need with items=.")
        return tuple(sorted(found))

    def find_largest(self, max_columns: int) -> int:
        """Return the largest item number, in one scan; -1 if all baskets are empty."""
        largest = -1
        for path, first_row, lists in self._lists(0, self.n_rows):
            with reading(path):
                lengths, values = _flat(lists, first_row, self.blank)
                items = _numbers(values, lengths, first_row, max_columns, f"is not below max_columns={max_columns}")
                largest = max(largest, int(items.max()) if len(items) else -1)
        return largest

    def _lists(self, start: int, stop: int) -> Any:
        """Yield (path, row within the file, Arrow array of lists)."""
        for path, first_row, batch in self.files.batches(start, stop, [self.column], 2 * self.row_bytes):
            yield path, first_row, batch.column(batch.schema.get_field_index(self.column))

    def _positions(self, values: Any, lengths: NDArray[np.int64], first_row: int) -> NDArray[Any]:
        """Return the column numbers of the listed items."""
        if self.items is None:
            return _numbers(values, lengths, first_row, self.n_columns, f"is beyond the {self.n_columns} columns")
        pa = pyarrow()
        import pyarrow.compute as pc

        encoded = _decoded(values).dictionary_encode()  # look each name up once
        known = pc.index_in(encoded.dictionary, pa.array(self.items, encoded.dictionary.type))
        where = known.fill_null(-1).to_numpy(zero_copy_only=False)
        items = where[encoded.indices.to_numpy(zero_copy_only=False)] if len(values) else where[:0]
        if len(items) and items.min() < 0:
            at = int(np.argmin(items))
            raise TableError(
                f"row {first_row + row_of(lengths, at)}: the item {quoted(_decoded(values)[at].as_py())} is not in "
                "items=. List all items there."
            )
        return np.asarray(items)


def _decoded(values: Any) -> Any:
    """Return dictionary-encoded names as plain ones."""
    return values.dictionary_decode() if pyarrow().types.is_dictionary(values.type) else values


def _flat(lists: Any, first_row: int, blank: Blank) -> tuple[NDArray[np.int64], Any]:
    """Return (items in each list, all items). A null list is an empty basket only with ``blank="zero"``."""
    if lists.null_count and blank != "zero":
        row = first_row + int(np.argmax(lists.is_null().to_numpy(zero_copy_only=False)))
        raise TableError(f"row {row}: the list is null. Write [] for an empty basket, or set blank='zero'.")
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    values = lists.flatten()
    if values.null_count:
        at = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise TableError(f"row {first_row + row_of(lengths, at)}: the list contains a null. Remove it.")
    return lengths, values


def _numbers(values: Any, lengths: NDArray[np.int64], first_row: int, limit: int, why: str) -> NDArray[Any]:
    """Return item numbers after checking their range."""
    items: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    bad = (items < 0) | (items >= limit)
    if bad.any():
        at = int(np.argmax(bad))
        said = "is negative" if items[at] < 0 else why
        raise TableError(f"row {first_row + row_of(lengths, at)}: item {quoted(items[at])} {said}.")
    return items
