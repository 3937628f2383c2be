"""Files that commands write: CSV that is safe in a spreadsheet, Parquet, NumPy's .npz."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A spreadsheet takes text that begins so for a formula; full-width signs are taken for the plain ones.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
FORMATS = (".csv", ".parquet", ".npz")


def safe(cell: Any) -> Any:
    """Return a cell as a spreadsheet shows it: text that it would run gets an apostrophe in front.

    Examples
    --------
    >>> safe("=1+2"), safe("plain"), safe(-1.5)
    ("'=1+2", 'plain', -1.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(DANGEROUS) else cell


def checked_out(path: Path) -> Path:
    """Return the path if results can be written there, or say what is wrong, before any work is done."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: results are written to {', '.join(FORMATS)} files. Choose one of these.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.absolute().parent}. Make it first.")
    return path


def write_rows(path: Path, names: Sequence[str], pieces: Iterator[NDArray[Any]]) -> int:
    """Write numbers, a piece of rows at a time; blanks are NaN. Return the number of rows."""
    suffix = checked_out(path).suffix.lower()
    write = {".csv": _write_csv, ".parquet": _write_parquet, ".npz": _write_npz}[suffix]
    from hiddenbits.store import whole_file

    with whole_file(path) as file:
        return write(file, names, pieces)


def _write_csv(file: BinaryIO, names: Sequence[str], pieces: Iterator[NDArray[Any]]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([safe(name) for name in names])
    rows = 0
    for piece in pieces:
        whole = piece.dtype.kind in "iub"
        for row in piece.tolist():
            lines.writerow(row if whole else ["" if cell != cell else f"{cell:.6g}" for cell in row])
        rows += len(piece)
    text.detach()  # all of it written; the file itself is closed by who opened it
    return rows


def _write_parquet(file: BinaryIO, names: Sequence[str], pieces: Iterator[NDArray[Any]]) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'hiddenbits[files]'.") from error
    rows, writer = 0, None
    for piece in pieces:
        columns = [pa.array(column, mask=column != column) for column in piece.T]
        part = pa.table(columns, names=list(names))
        writer = writer or parquet.ParquetWriter(file, part.schema)
        writer.write_table(part)
        rows += len(piece)
    if writer is not None:
        writer.close()
    return rows


def _write_npz(file: BinaryIO, _names: Sequence[str], pieces: Iterator[NDArray[Any]]) -> int:
    import numpy as np

    values = np.concatenate(list(pieces))
    np.savez_compressed(file, X=values)  # without names: a file of one array is a table that `open_table` takes
    return len(values)
