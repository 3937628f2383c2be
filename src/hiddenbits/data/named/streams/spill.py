"""Rows that can be read only once, written to Parquet files in a temporary folder, in constant memory."""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiddenbits.data.errors import SpilledTableWarning
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.table import PART_BYTES, Table

KEEP_BYTES = PART_BYTES  # what is smaller is held in memory, and needs no word
GROUP_ROWS, GROUP_BYTES = 100_000, 1 << 24  # rows are gathered to groups of about this size
FILE_BYTES = 1 << 29  # of Arrow's bytes: a file for each so many


@dataclass(frozen=True)
class Spilled:
    """Parquet files in a temporary folder.

    Attributes
    ----------
    folder : Path
        The folder.
    files : tuple of Path
        The files, in order.
    n_bytes : int
        What the rows took in memory, as Arrow has them.
    """

    folder: Path
    files: tuple[Path, ...]
    n_bytes: int

    def keep_for(self, table: Table) -> Table:
        """Return the table; when its rows are no longer used, the folder is removed."""
        weakref.finalize(table.source, shutil.rmtree, self.folder, ignore_errors=True)
        return table

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def gather(batches: Iterator[Any], schema: Any, what: str, *, to_disk: bool = False) -> Any:
    """Return record batches as one Arrow table where they are few, and otherwise as `Spilled` files, which is said.

    Parameters
    ----------
    batches : iterator of pyarrow.RecordBatch
        The rows.
    schema : pyarrow.Schema
        Their columns.
    what : str
        What they come from, for the warning.
    to_disk : bool
        Write files in any case; no more is said of small ones.
    """
    pa = pyarrow()
    held: list[Any] = []
    n_bytes = 0
    for batch in batches:
        held.append(batch)
        n_bytes += batch.nbytes
        if n_bytes > KEEP_BYTES:
            break
    if n_bytes <= KEEP_BYTES and not to_disk:
        return pa.Table.from_batches(held, schema)
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="hiddenbits-"))
    writer = _Writer(folder, schema)
    try:
        while held:
            writer.add(held.pop(0))
        for batch in batches:
            writer.add(batch)
        writer.close()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    spilled = Spilled(folder, tuple(writer.files), writer.n_bytes)
    if writer.n_bytes > KEEP_BYTES:
        _say(spilled, what, writer.n_rows, started)
    return spilled


def gather_sunk(sink: Callable[[Path, int], Any], what: str, *, to_disk: bool = False) -> Any:
    """Do the same for a library that writes a Parquet file itself: `sink` is given its path and the rows of a group."""
    pa = pyarrow()
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="hiddenbits-"))
    path = folder / "part-00000.parquet"
    try:
        sink(path, GROUP_ROWS)
        meta = pa.parquet.read_metadata(path)
        n_bytes = 8 * meta.num_rows * meta.num_columns  # in memory, roughly
        spilled = Spilled(folder, (path,), n_bytes)
        if n_bytes <= KEEP_BYTES and not to_disk:
            table = pa.parquet.read_table(path, memory_map=False, partitioning=None)
            spilled.remove()
            return table
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if n_bytes > KEEP_BYTES:
        _say(spilled, what, meta.num_rows, started)
    return spilled


def _say(spilled: Spilled, what: str, n_rows: int, started: float) -> None:
    """Warn, once, where the rows are now."""
    size = sum(file.stat().st_size for file in spilled.files)
    warnings.warn(
        f"{what} can be read only once, so its {n_rows:,} rows were written to {spilled.folder} ({size / 1e6:.1f} MB, "
        f"{time.monotonic() - started:.1f} s). The files are removed when the table is no longer used. For workers on "
        "other machines write Parquet files where all can read them, and open those.",
        SpilledTableWarning,
        stacklevel=3,
    )


class _Writer:
    """Writes record batches as row groups of about one size, into files of about one size."""

    def __init__(self, folder: Path, schema: Any) -> None:
        pa = pyarrow()
        self._folder = folder
        self._pending: list[Any] = []
        self._open: Any = None
        self._rows = self._bytes = self._in_file = 0
        self.files: list[Path] = []
        self.n_rows = self.n_bytes = 0
        self.schema = pa.schema([pa.field(field.name, _writable(field.type)) for field in schema])

    def add(self, batch: Any) -> None:
        for start in range(0, batch.num_rows, GROUP_ROWS):
            piece = batch.slice(start, GROUP_ROWS)
            self._pending.append(piece)
            self._rows, self._bytes = self._rows + piece.num_rows, self._bytes + piece.nbytes
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._flush()

    def close(self) -> None:
        if self._pending or not self.files:
            self._flush()
        self._end()

    def _flush(self) -> None:
        pa = pyarrow()
        if self._open is None:
            self.files.append(self._folder / f"part-{len(self.files):05d}.parquet")
            self._open = pa.parquet.ParquetWriter(self.files[-1], self.schema)
        table = pa.Table.from_batches(self._pending) if self._pending else self.schema.empty_table()
        columns = [_blank_nan(column.cast(f.type)) for column, f in zip(table.columns, self.schema, strict=True)]
        self._open.write_table(pa.table(columns, schema=self.schema), row_group_size=max(self._rows, 1))
        self.n_rows, self.n_bytes = self.n_rows + self._rows, self.n_bytes + self._bytes
        self._in_file += self._bytes
        self._pending, self._rows, self._bytes = [], 0, 0
        if self._in_file >= FILE_BYTES:
            self._end()

    def _end(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open, self._in_file = None, 0


def _writable(kind: Any) -> Any:
    """Return a type that Parquet files can have, in which a column can be read again."""
    pa = pyarrow()
    if kind in (pa.string_view(), pa.binary_view()):
        return pa.large_string() if kind == pa.string_view() else pa.large_binary()
    return pa.float32() if kind == pa.float16() else kind


def _blank_nan(column: Any) -> Any:
    """Return a column with null for NaN: of nulls the files know how many there are."""
    pa = pyarrow()
    if not pa.types.is_floating(column.type):
        return column
    import pyarrow.compute as pc

    nan = pc.is_nan(column)
    return pc.if_else(nan, pa.scalar(None, column.type), column) if pc.any(nan).as_py() else column
