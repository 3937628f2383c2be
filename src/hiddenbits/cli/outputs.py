"""The files that commands write: CSV (safe in a spreadsheet), Parquet, NumPy's .npz."""

from __future__ import annotations

import csv
import glob
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from hiddenbits.array_types import AnyArray

# Spreadsheets run text that begins with these as a formula; full-width signs count as plain ones.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
NUMBER = re.compile(r"[-+]?[0-9]+([.,][0-9]+)?([eE][-+]?[0-9]+)?")
FORMATS = (".csv", ".parquet", ".npz")


def safe(cell: Any) -> Any:
    """Return a cell that is safe in a spreadsheet: text that would run as a formula gets a leading apostrophe.

    Examples
    --------
    >>> safe("=1+2"), safe("plain"), safe(-1.5), safe("-1.5")
    ("'=1+2", 'plain', -1.5, '-1.5')
    """
    dangerous = isinstance(cell, str) and cell.startswith(DANGEROUS) and NUMBER.fullmatch(cell) is None
    return f"'{cell}" if dangerous else cell


def check_outputs(*outs: Path | None, read: Sequence[str | Path | None]) -> None:
    """Reject, before any work, output files that cannot be written or that would overwrite an input."""
    from hiddenbits.store import check_target

    given = [out for out in outs if out is not None]
    inputs = [file for one in read if one is not None for file in _files(os.fspath(one))]
    for number, out in enumerate(given):
        check_target(out)
        if any(_is_within(out, file) for file in inputs):
            raise ValueError(f"{out} is an input of this command. Write to another file.")
        if any(os.path.realpath(out) == os.path.realpath(other) for other in given[:number]):
            raise ValueError(f"{out} is given for two outputs. Choose another file for one of them.")


def check_rows_file(out: Path, read: Sequence[str | Path | None]) -> None:
    """Reject, before any work, a file that row results cannot be written to."""
    if out.suffix.lower() not in FORMATS:
        raise ValueError(f"{out}: results can be written to {', '.join(FORMATS)} files. Choose one of these.")
    if out.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise ImportError("Parquet files need pyarrow: pip install 'hiddenbits[files]'.")
    check_outputs(out, read=read)


def check_folder(folder: Path | None) -> None:
    """Reject, before any work, a folder that is a file, or that cannot be created or written to."""
    if folder is None:
        return
    there = next(one for one in [folder.absolute(), *folder.absolute().parents] if one.exists())
    if not there.is_dir():
        raise ValueError(f"{there} is not a folder. Choose another.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"The folder {there} is not writable. Choose another, or change its permissions.")


def _files(path: str) -> list[str]:
    """Return the local files that a path or pattern stands for."""
    path = os.path.expanduser(path.removeprefix("file://"))  # noqa: PTH111  (it may be a pattern)
    return [path] if Path(path).exists() else glob.glob(path, recursive=True)  # noqa: PTH207


def _is_within(out: Path, file: str) -> bool:
    """Whether a path is a file, or lies in it if it is a folder."""
    here, read = Path(os.path.realpath(out)), Path(os.path.realpath(file))
    return (here.exists() and here.samefile(read)) or (read.is_dir() and read in here.parents)


def write_rows(
    path: Path,
    names: Sequence[str],
    pieces: Iterator[Any],
    read_as: Any = None,
    types: Mapping[str, type] | None = None,
) -> int:
    """Write some rows at a time; return their number.

    A piece is an array of numbers, in which blanks are NaN, or a list of columns of any values, in which they are None.
    Columns of `read_as` that did not enter the model come first; NumPy's files do not hold them. Columns that have one
    of `types` hold values of the user's, which are written as they are; numbers in others are the model's, of which CSV
    files get six digits.
    """
    from hiddenbits.store import whole_file

    with whole_file(path) as file:
        if path.suffix.lower() == ".npz":
            return _write_npz(file, names, pieces)
        write = _write_csv if path.suffix.lower() == ".csv" else _write_parquet
        if read_as is not None:
            pieces = _with_beside(pieces, read_as)
        heads = [] if read_as is None else read_as.names_beside
        return write(file, [*heads, *names], pieces, types or {})


def _with_beside(pieces: Iterator[Any], read_as: Any) -> Iterator[list[list[Any]]]:
    """Yield pieces as lists of columns, after the columns that did not enter the model."""
    start = 0
    for piece in pieces:
        columns = piece if isinstance(piece, list) else piece.T.tolist()
        stop = start + len(columns[0])
        yield [*read_as.beside(start, stop).values(), *columns]
        start = stop


def _write_csv(file: BinaryIO, names: Sequence[str], pieces: Iterator[Any], own: Mapping[str, type]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([safe(name) for name in names])
    rows = 0
    for piece in pieces:
        if isinstance(piece, list):
            told = ([_cell(cell, name in own) for cell in cells] for name, cells in zip(names, piece, strict=True))
            for row in zip(*told, strict=True):
                lines.writerow(row)
                rows += 1
            continue
        whole = piece.dtype.kind in "iub"
        for row in piece.tolist():
            lines.writerow(row if whole else ["" if cell != cell else f"{cell:.6g}" for cell in row])
        rows += len(piece)
    text.detach()  # flushed; the caller, who opened the file, closes it
    return rows


def _cell(cell: Any, as_it_is: bool) -> Any:
    """Return a cell as a line of a CSV file has it."""
    if isinstance(cell, float):
        if not as_it_is:
            return "" if cell != cell else f"{cell:.6g}"
        return "" if cell != cell else int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    return "" if cell is None else safe(cell)


def _write_parquet(file: BinaryIO, names: Sequence[str], pieces: Iterator[Any], own: Mapping[str, type]) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    rows, writer = 0, None
    for piece in pieces:
        if isinstance(piece, list):
            columns = [_arrow(cells, own.get(name)) for name, cells in zip(names, piece, strict=True)]
        else:
            columns = [pa.array(column, mask=column != column) for column in piece.T]
        part = pa.table(columns, names=list(names))
        writer = writer or parquet.ParquetWriter(file, part.schema)
        writer.write_table(part)
        rows += part.num_rows
    if writer is not None:
        writer.close()
    return rows


def _arrow(cells: list[Any], kind: type | None) -> Any:
    """Return a column of a type, or else of numbers, or of text."""
    import pyarrow as pa

    if kind is not None:
        kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
        return pa.array([None if cell is None or cell == "" else kind(cell) for cell in cells], kinds[kind])
    if all(isinstance(cell, float) for cell in cells):
        return pa.array(cells, pa.float64(), from_pandas=True)
    return pa.array([None if cell is None or cell == "" else str(cell) for cell in cells], pa.string())


def _write_npz(file: BinaryIO, _names: Sequence[str], pieces: Iterator[AnyArray]) -> int:
    import numpy as np

    values = np.concatenate(list(pieces))
    np.savez_compressed(file, X=values)  # without names: a file of one array is a table that `open_table` takes
    return len(values)
