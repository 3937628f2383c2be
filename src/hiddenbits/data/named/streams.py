"""Queries, datasets, cursors and streams of Arrow batches.

Datasets of Parquet files are read in place, in every pass over the data. All others can be read only once: few rows
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

KEEP_BYTES = PART_BYTES  # tables up to this size are held in memory, without a warning
GROUP_ROWS, GROUP_BYTES = 100_000, 1 << 24  # approximate limits of a row group
NOT_IN_PARQUET = ("Object", "Int128", "UInt128", "Unknown")  # polars types that Parquet cannot store


def open_stream(X: Any, request: Request) -> Table:
    """Open a query, dataset, reader or cursor, or any object with ``__arrow_c_stream__``."""
    pyarrow()
    parts = files_of_dataset(X)
    if parts is not None:
        return open_files(request, *parts, options=request.options)
    if type(X).__name__ == "LazyFrame":
        return _open_lazy(X, request)
    name = "The query of DuckDB" if type(X).__name__ == "DuckDBPyRelation" else f"A {type(X).__name__}"
    with _naming_query(name):
        reader = _reader(X)
    schema = pyarrow().schema([field.with_type(_storable(field.type)) for field in reader.schema])
    check_distinct(schema.names)
    return open_batches(_cast_batches(reader, schema, name), schema, name, request, request.options)


def open_batches(batches: Iterator[Any], schema: Any, name: str, request: Request, options: Mapping[str, Any]) -> Table:
    """Open record batches that can be read once: few in memory, more from a temporary file, with a warning.

    Parameters
    ----------
    batches : iterator of pyarrow.RecordBatch
        The rows.
    schema : pyarrow.Schema
        Their columns.
    name : str
        The origin of the rows, for the warning.
    request : Request
        The options of `open_table`.
    options : Mapping
        Options of `open_parquet`; with any of them, few rows are written to a file, too.
    """
    held, n_bytes, n_rows = [], 0, 0
    for batch in batches:
        held.append(batch)
        n_bytes, n_rows = n_bytes + batch.nbytes, n_rows + batch.num_rows
        if n_bytes > KEEP_BYTES:
            break
    if n_bytes <= KEEP_BYTES and not options:
        return open_frame(pyarrow().Table.from_batches(held, schema), request)
    started, group_rows = time.monotonic(), max(1, min(GROUP_ROWS, GROUP_BYTES * n_rows // max(n_bytes, 1)))
    with ExitStack() as stack:
        path = _temporary_path(stack)
        n_rows = _write(chain(held, batches), schema, path, group_rows)
        if n_bytes > KEEP_BYTES:
            _warn_of_spill(name, n_rows, path, started)
        return _open_temporary(stack, path, request, options)


def _open_lazy(X: Any, request: Request) -> Table:
    """Open a lazy frame of polars, which writes Parquet files itself and has no stable stream of batches."""
    import polars

    name, started = "The query of the LazyFrame", time.monotonic()
    with ExitStack() as stack:
        path = _temporary_path(stack)
        with _naming_query(name):
            if any(str(column_type) in NOT_IN_PARQUET for column_type in X.collect_schema().dtypes()):
                return open_frame(X.collect(), request)
            X.sink_parquet(path, row_group_size=GROUP_ROWS)
        metadata = pyarrow().parquet.read_metadata(path)
        is_large = 8 * metadata.num_rows * metadata.num_columns > KEEP_BYTES  # approximate memory
        if not is_large and not request.options:
            return open_frame(polars.read_parquet(path, hive_partitioning=False, memory_map=False), request)
        if is_large:
            _warn_of_spill(name, metadata.num_rows, path, started)
        return _open_temporary(stack, path, request, request.options)


@contextmanager
def _naming_query(name: str) -> Iterator[None]:
    """Turn any library's error into a `TableError` that names the origin of the rows."""
    try:
        yield
    except Exception as error:
        raise TableError(f"{name} gives no rows ({type(error).__name__}: {redacted(error)}).") from error


def _reader(X: Any) -> Any:
    """Return a reader of record batches with a schema."""
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


def _storable(arrow_type: Any) -> Any:
    """Return a type that Parquet files can store, for views and for types that only ADBC has, such as ``numeric``."""
    pa = pyarrow()
    if hasattr(arrow_type, "storage_type"):
        return pa.float64() if getattr(arrow_type, "type_name", "") == "numeric" else arrow_type.storage_type
    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(arrow_type, arrow_type)


def _cast_batches(batches: Iterator[Any], schema: Any, name: str) -> Iterator[Any]:
    """Yield the batches in types that files can store; an error of any library names the origin and the row."""
    n_rows = 0
    try:
        for batch in batches:
            yield batch.cast(schema)
            n_rows += batch.num_rows
    except Exception as error:
        raise TableError(
            f"{name} failed after {n_rows:,} rows ({type(error).__name__}: {redacted(error)}). Run it again."
        ) from error


def _temporary_path(stack: ExitStack) -> Path:
    """Return the path of a Parquet file in a new folder, which is removed with the stack."""
    return Path(stack.enter_context(TemporaryDirectory(prefix="hiddenbits-", ignore_cleanup_errors=True))) / "0.parquet"


def _open_temporary(stack: ExitStack, path: Path, request: Request, options: Mapping[str, Any]) -> Table:
    """Open a temporary file, whose folder is removed when the rows are no longer used."""
    try:
        table = open_files(request, (path,), options=options)
    except TableError as error:  # about the rows, not about the temporary file
        raise TableError(str(error).removeprefix(f"{path}: ")) from error
    weakref.finalize(table.source, stack.pop_all().close)
    return table


def _write(batches: Iterator[Any], schema: Any, path: Path, group_rows: int) -> int:
    """Write record batches in row groups of about `group_rows` rows; return the number of rows."""
    pa = pyarrow()
    n_written, n_rows, pending = 0, 0, []
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for batch in batches:
            pending.append(batch)
            n_rows += batch.num_rows
            if n_rows - n_written >= group_rows:
                writer.write_table(pa.Table.from_batches(pending), row_group_size=group_rows)
                n_written, pending = n_rows, []
        if pending:
            writer.write_table(pa.Table.from_batches(pending), row_group_size=group_rows)
    return n_rows


def _warn_of_spill(name: str, n_rows: int, path: Path, started: float) -> None:
    """Warn, once, that the rows were written to files."""
    warnings.warn(
        f"{name} can be read only once, so its {n_rows:,} rows were written to {path.parent} "
        f"({path.stat().st_size / 1e6:.1f} MB, {time.monotonic() - started:.1f} s). The files are removed when the "
        "table is no longer used. For workers on other machines write Parquet files where all can read them, and open "
        "those.",
        SpilledTableWarning,
        stacklevel=3,
    )
