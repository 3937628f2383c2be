"""Queries, datasets and streams of Arrow batches: what can be read again stays where it is, what cannot is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from hiddenbits.data.errors import TableError
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.named.parquet.hive import within_dataset
from hiddenbits.data.named.streams.spill import Spilled, gather, gather_sunk
from hiddenbits.quoting import told

STREAM = "__arrow_c_stream__"
NOT_IN_PARQUET = ("Object", "Int128", "UInt128", "Unknown")  # types of polars that only memory can hold


def within_stream(X: Any, *, to_disk: bool) -> Any:
    """Return what to open in its place: Parquet files, an Arrow table, or the files to which the rows were written.

    Parameters
    ----------
    X : object
        A query, dataset, reader or cursor, or what has ``__arrow_c_stream__``.
    to_disk : bool
        Write files even for few rows, for options that only Parquet files have.
    """
    pa = pyarrow()
    files = within_dataset(X)
    if files is not None:
        return files
    name = type(X).__name__
    what = {"LazyFrame": "The query of the LazyFrame", "DuckDBPyRelation": "The query of DuckDB"}.get(name, f"A {name}")
    try:
        if name == "LazyFrame":  # polars has no stream of its own that is stable
            if any(str(kind) in NOT_IN_PARQUET for kind in X.collect_schema().dtypes()):
                return X.collect()
            found = gather_sunk(lambda path, rows: X.sink_parquet(path, row_group_size=rows), what, to_disk=to_disk)
            return found if isinstance(found, Spilled) else import_module("polars").from_arrow(found)
        schema, batches = _batches(pa, X)
    except Exception as error:  # of whatever library
        raise TableError(f"{what} gives no rows ({type(error).__name__}: {told(error)}).") from error
    schema, batches = _plain_types(schema, batches)
    names = schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"Two columns are called {twice!r}. Give each column a unique name.")
    return gather(_guarded(batches, what), schema, what, to_disk=to_disk)


def _guarded(batches: Iterator[Any], what: str) -> Iterator[Any]:
    """Yield the batches; whatever library fails half-way, one error says after how many rows."""
    n_rows = 0
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except Exception as error:
            raise TableError(
                f"{what} failed after {n_rows:,} rows ({type(error).__name__}: {told(error)}). Run it again."
            ) from error
        n_rows += batch.num_rows
        yield batch


def _batches(pa: Any, X: Any) -> tuple[Any, Iterator[Any]]:
    """Return (schema, iterator of record batches)."""
    kinds = {kind.__name__ for kind in type(X).__mro__}
    if "Dataset" in kinds or "Scanner" in kinds:
        scanner = X.scanner(use_threads=False) if "Dataset" in kinds else X
        return scanner.projected_schema, iter(scanner.to_batches())
    if "RecordBatch" in kinds:
        return X.schema, iter([X])
    if hasattr(X, "fetch_record_batch") and not hasattr(X, STREAM):
        X = X.fetch_record_batch()
    reader = X if isinstance(X, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(X)
    return reader.schema, iter(reader)


def _plain_types(schema: Any, batches: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    """Return columns of types that ADBC made up as what they are: ``numeric`` as numbers, others as text or bytes."""
    pa = pyarrow()
    types = [_plain(field.type) for field in schema]
    if types == schema.types:
        return schema, batches
    plain = pa.schema([pa.field(name, kind) for name, kind in zip(schema.names, types, strict=True)])

    def turned() -> Iterator[Any]:
        for batch in batches:
            arrays = [getattr(column, "storage", column) for column in batch.columns]
            yield pa.RecordBatch.from_arrays([a.cast(k) for a, k in zip(arrays, types, strict=True)], schema=plain)

    return plain, turned()


def _plain(kind: Any) -> Any:
    """Return the plain type in place of a type of ADBC's own."""
    if not hasattr(kind, "storage_type"):
        return kind
    return pyarrow().float64() if getattr(kind, "type_name", "") == "numeric" else kind.storage_type
