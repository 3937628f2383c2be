"""Queries, datasets, cursors and streams of Arrow batches.

Datasets of nothing but Parquet files are read where they are, in every pass. Everything else comes only once: few rows
are held in memory, more are written to a temporary Parquet file, in constant memory.
"""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.named.parquet.hive import files_of_dataset
from hiddenbits.data.named.parquet.open import open_files
from hiddenbits.data.request import Request
from hiddenbits.data.table import PART_BYTES, Table
from hiddenbits.exceptions import SpilledTableWarning, TableError
from hiddenbits.quoting import redacted

KEEP_BYTES = PART_BYTES  # what is smaller is held in memory, and needs no word
GROUP_ROWS, GROUP_BYTES = 100_000, 1 << 24  # a row group has about so many rows, or fewer if they take more bytes
NOT_IN_PARQUET = ("Object", "Int128", "UInt128", "Unknown")  # types of polars that only memory can hold


def open_stream(X: Any, request: Request) -> Table:
    """Open a query, dataset, reader or cursor, or whatever has ``__arrow_c_stream__``."""
    pyarrow()
    parts = files_of_dataset(X)
    if parts is not None:
        return open_files(request, *parts, options=request.options)
    if type(X).__name__ == "LazyFrame":
        return _open_lazy(X, request)
    what = "The query of DuckDB" if type(X).__name__ == "DuckDBPyRelation" else f"A {type(X).__name__}"
    with _asking(what):
        reader = _reader(X)
    schema = pyarrow().schema([field.with_type(_plain(field.type)) for field in reader.schema])
    check_distinct(schema.names)
    return open_batches(_guarded(reader, schema, what), schema, what, request, request.options)


def open_batches(batches: Iterator[Any], schema: Any, what: str, request: Request, options: Mapping[str, Any]) -> Table:
    """Open record batches that come once: few as an Arrow table, more from a temporary file, which is said.

    Parameters
    ----------
    batches : iterator of pyarrow.RecordBatch
        The rows.
    schema : pyarrow.Schema
        Their columns.
    what : str
        What they come from, for the warning.
    request : Request
        How the table is to be read.
    options : Mapping
        Options of `open_parquet`: where there are any, few rows are written to a file as well.
    """
    held, n_bytes, n_rows = [], 0, 0
    for batch in batches:
        held.append(batch)
        n_bytes, n_rows = n_bytes + batch.nbytes, n_rows + batch.num_rows
        if n_bytes > KEEP_BYTES:
            break
    if n_bytes <= KEEP_BYTES and not options:
        return open_frame(pyarrow().Table.from_batches(held, schema), request)
    started, group = time.monotonic(), max(1, min(GROUP_ROWS, GROUP_BYTES * n_rows // max(n_bytes, 1)))
    with ExitStack() as stack:
        path = _temporary(stack)
        n_rows = _write(chain(held, batches), schema, path, group)
        if n_bytes > KEEP_BYTES:
            _warn(what, n_rows, path, started)
        return _kept(stack, path, request, options)


def _open_lazy(X: Any, request: Request) -> Table:
    """Open a lazy frame of polars, which writes Parquet files itself and has no stream of its own that is stable."""
    import polars

    what, started = "The query of the LazyFrame", time.monotonic()
    with ExitStack() as stack:
        path = _temporary(stack)
        with _asking(what):
            if any(str(kind) in NOT_IN_PARQUET for kind in X.collect_schema().dtypes()):
                return open_frame(X.collect(), request)
            X.sink_parquet(path, row_group_size=GROUP_ROWS)
        meta = pyarrow().parquet.read_metadata(path)
        large = 8 * meta.num_rows * meta.num_columns > KEEP_BYTES  # in memory, roughly
        if not large and not request.options:
            return open_frame(polars.read_parquet(path, hive_partitioning=False, memory_map=False), request)
        if large:
            _warn(what, meta.num_rows, path, started)
        return _kept(stack, path, request, request.options)


@contextmanager
def _asking(what: str) -> Iterator[None]:
    """Turn the error of whatever library into one that says what gives no rows."""
    try:
        yield
    except Exception as error:
        raise TableError(f"{what} gives no rows ({type(error).__name__}: {redacted(error)}).") from error


def _reader(X: Any) -> Any:
    """Return what yields record batches and knows their schema."""
    pa = pyarrow()
    if hasattr(X, "scanner"):  # a dataset
        X = X.scanner(use_threads=False)
    if hasattr(X, "to_reader"):
        return X.to_reader()
    if hasattr(X, "fetch_record_batch") and not hasattr(X, "__arrow_c_stream__"):
        X = X.fetch_record_batch()
    if isinstance(X, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(X.schema, [X])
    return X if isinstance(X, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(X)


def _plain(kind: Any) -> Any:
    """Return a type that files can have in place of a view, or of a type that ADBC made up, such as ``numeric``."""
    pa = pyarrow()
    if hasattr(kind, "storage_type"):
        return pa.float64() if getattr(kind, "type_name", "") == "numeric" else kind.storage_type
    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(kind, kind)


def _guarded(batches: Iterator[Any], schema: Any, what: str) -> Iterator[Any]:
    """Yield the batches in types that files can have; whatever library fails, one error says after how many rows."""
    n_rows = 0
    try:
        for batch in batches:
            yield batch.cast(schema)
            n_rows += batch.num_rows
    except Exception as error:
        raise TableError(
            f"{what} failed after {n_rows:,} rows ({type(error).__name__}: {redacted(error)}). Run it again."
        ) from error


def _temporary(stack: ExitStack) -> Path:
    """Return the path of a Parquet file in a new folder, which goes when the stack is left."""
    return Path(stack.enter_context(TemporaryDirectory(prefix="hiddenbits-", ignore_cleanup_errors=True))) / "0.parquet"


def _kept(stack: ExitStack, path: Path, request: Request, options: Mapping[str, Any]) -> Table:
    """Open a temporary file; from now on its folder goes when the rows are no longer used."""
    try:
        table = open_files(request, (path,), options=options)
    except TableError as error:  # about what came, whatever the file is called
        raise TableError(str(error).removeprefix(f"{path}: ")) from error
    weakref.finalize(table.source, stack.pop_all().close)
    return table


def _write(batches: Iterator[Any], schema: Any, path: Path, group: int) -> int:
    """Write record batches in row groups of about so many rows; return how many rows they were."""
    pa = pyarrow()
    written, n_rows, pending = 0, 0, []
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for batch in batches:
            pending.append(batch)
            n_rows += batch.num_rows
            if n_rows - written >= group:
                writer.write_table(pa.Table.from_batches(pending), row_group_size=group)
                written, pending = n_rows, []
        if pending:
            writer.write_table(pa.Table.from_batches(pending), row_group_size=group)
    return n_rows


def _warn(what: str, n_rows: int, path: Path, started: float) -> None:
    """Warn, once, where the rows are now."""
    warnings.warn(
        f"{what} can be read only once, so its {n_rows:,} rows were written to {path.parent} "
        f"({path.stat().st_size / 1e6:.1f} MB, {time.monotonic() - started:.1f} s). The files are removed when the "
        "table is no longer used. For workers on other machines write Parquet files where all can read them, and open "
        "those.",
        SpilledTableWarning,
        stacklevel=3,
    )
