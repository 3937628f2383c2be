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


def check_outputs(*outputs: Path | None, read: Sequence[str | Path | None]) -> None:
    """Reject, before any work, output files that cannot be written or that would overwrite an input."""
    from hiddenbits.store import check_target

    targets = [out for out in outputs if out is not None]
    inputs = [file for path in read if path is not None for file in _files(os.fspath(path))]
    for number, out in enumerate(targets):
        check_target(out)
        if any(_is_within(out, file) for file in inputs):
            raise ValueError(f"{out} is an input of this command. Write to another file.")
        if any(os.path.realpath(out) == os.path.realpath(other) for other in targets[:number]):
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
    existing = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    if not existing.is_dir():
        raise ValueError(f"{existing} is not a folder. Choose another.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ValueError(f"The folder {existing} is not writable. Choose another, or change its permissions.")


def _files(path: str) -> list[str]:
    """Return the local files that a path or pattern stands for."""
    path = os.path.expanduser(path.removeprefix("file://"))  # noqa: PTH111  (it may be a pattern)
    return [path] if Path(path).exists() else glob.glob(path, recursive=True)  # noqa: PTH207


def _is_within(out: Path, file: str) -> bool:
    """Whether a path is a file, or lies in it if it is a folder."""
    target, source = Path(os.path.realpath(out)), Path(os.path.realpath(file))
    return (target.exists() and target.samefile(source)) or (source.is_dir() and source in target.parents)


def write_rows(
    path: Path,
    names: Sequence[str],
    pieces: Iterator[Any],
    read_as: Any = None,
    types: Mapping[str, type] | None = None,
) -> int:
    """Write rows piece by piece; return their number.

    A piece is an array of numbers with NaN for missing values, or a list of columns of any values, with None for them.
    Metadata columns of `read_as` come first, except in NumPy files. Columns in `types` hold the user's own values,
    which are written unchanged; numbers in other columns come from the model and are rounded to six digits in CSV.
    """
    from hiddenbits.store import whole_file

    with whole_file(path) as file:
        if path.suffix.lower() == ".npz":
            return _write_npz(file, names, pieces)
        write = _write_csv if path.suffix.lower() == ".csv" else _write_parquet
        if read_as is not None:
            pieces = _with_metadata(pieces, read_as)
        heads = [] if read_as is None else read_as.names_beside
        return write(file, [*heads, *names], pieces, types or {})


def _with_metadata(pieces: Iterator[Any], read_as: Any) -> Iterator[list[list[Any]]]:
    """Yield pieces as lists of columns, metadata columns first."""
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
            columns = ([_cell(cell, name in own) for cell in cells] for name, cells in zip(names, piece, strict=True))
            for row in zip(*columns, strict=True):
                lines.writerow(row)
                rows += 1
            continue
        is_integer = piece.dtype.kind in "iub"
        for row in piece.tolist():
            cells = zip(names, row, strict=True)
            lines.writerow(row if is_integer else [_cell(cell, name in own) for name, cell in cells])
        rows += len(piece)
    text.detach()  # flushed; the caller, who opened the file, closes it
    return rows


def _cell(cell: Any, unrounded: bool) -> Any:
    """Return a cell as it is written to a CSV file."""
    if isinstance(cell, float):
        if not unrounded:
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


def _arrow(cells: list[Any], cell_type: type | None) -> Any:
    """Return a column of a type; without one, of floats if all cells are, otherwise of text."""
    import pyarrow as pa

    if cell_type is not None:
        arrow_types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
        cells = [None if cell is None or cell == "" else cell_type(cell) for cell in cells]
        return pa.array(cells, arrow_types[cell_type])
    if all(isinstance(cell, float) for cell in cells):
        return pa.array(cells, pa.float64(), from_pandas=True)
    return pa.array([None if cell is None or cell == "" else str(cell) for cell in cells], pa.string())


def _write_npz(file: BinaryIO, _names: Sequence[str], pieces: Iterator[AnyArray]) -> int:
    import numpy as np

    values = np.concatenate(list(pieces))
    np.savez_compressed(file, X=values)  # without names, so that `open_table` reads the file
    return len(values)
