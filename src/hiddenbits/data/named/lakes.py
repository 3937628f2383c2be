"""Delta tables: the rows of one version, from the files that its log names; the folder may contain others.

The package deltalake reads the log. Our own Parquet reader reads the rows, file by file, in the order in which the
files were written (then by name), so that every pass and every later run has the same order. Iceberg tables are
refused with advice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from hiddenbits.data.file_request import naming
from hiddenbits.data.locations.paths import natural_key
from hiddenbits.data.named.parquet.files import pyarrow, read_footers
from hiddenbits.data.named.parquet.open import open_files
from hiddenbits.data.named.streams import open_batches, open_stream
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

# Features of tables whose files can be read here; columnMapping renames columns only in some modes (refused below).
SUPPORTED_FEATURES = {"appendOnly", "columnMapping", "deletionVectors", "domainMetadata", "timestampNtz"}
SUPPORTED_FEATURES |= {"v2Checkpoint", "vacuumProtocolCheck"}


def open_delta(X: Any, request: Request) -> Table:
    """Open a version of a Delta table: of a folder, or the version of a ``deltalake.DeltaTable``.

    The option ``version=`` is for folders; others are those of Parquet files.
    """
    options = dict(request.options)
    delta, label = _load(X, options.pop("version", None))
    request, number = replace(request, options=options), int(delta.version())
    if not delta.table_uri.startswith("file://"):
        return replace(open_stream(delta.to_pyarrow_dataset(), request), version=number)
    folder = Path(unquote(urlsplit(delta.table_uri).path)).resolve()
    with naming(label):
        _refuse_unknown(delta)
        schema, files, partitions = _list_files(delta, folder, number)
        selections = {str(folder / _relative(uri, folder)): rows for uri, rows in _deletion_vectors(delta)}
    if not selections:
        return replace(open_files(request, files, partitions, schema=schema, options=options), version=number)
    description = f"Version {number} of the Delta table, without its deleted rows,"
    batches = _remaining_rows(files, schema, partitions, selections)
    return replace(open_batches(batches, schema, description, request, options), version=number)


def _load(X: Any, version: Any) -> tuple[Any, str]:
    """Return the table at a version, and its name in messages."""
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise ImportError("Delta tables need deltalake: pip install 'hiddenbits[lakes]'.") from error
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or version < 0):
        raise TypeError(f"version={version!r}: give the number of a version of the Delta table, 0 for the first.")
    if isinstance(X, DeltaTable):
        if version is not None:
            raise TypeError("version= is for the folder of a Delta table, but this DeltaTable already has a version.")
        return X, "The Delta table"
    label = os.fspath(X)
    try:
        return DeltaTable(Path(label).absolute(), version=version), label
    except (DeltaError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__  # a Rust trace follows
        if version is not None and "version" in reason.lower():
            raise TableError(f"{label}: the Delta table has no version {version}, or no longer.") from error
        raise TableError(
            f"{label}: the log of the Delta table cannot be read ({redacted(reason)}). It is damaged, or of a newer "
            "format; update the package deltalake, or restore the folder _delta_log."
        ) from error


def _refuse_unknown(delta: Any) -> None:
    """Refuse tables whose files cannot be read directly."""
    mode = delta.metadata().configuration.get("delta.columnMapping.mode", "none")
    features = set(delta.protocol().reader_features or ()) - SUPPORTED_FEATURES
    if mode != "none" or features:
        why = "other names of columns in its files (column mapping)" if mode != "none" else ", ".join(sorted(features))
        raise TableError(
            f"this Delta table uses unsupported features: {why}. Let deltalake read it: "
            "open_table(deltalake.DeltaTable(folder).scan()); the order of rows may then differ from run to run."
        )


def _list_files(delta: Any, folder: Path, number: int) -> tuple[Any, tuple[Path, ...], tuple[Mapping[str, Any], ...]]:
    """Return the columns of a version, its files in a fixed order, and for each file values that only the log has."""
    pa = pyarrow()
    schema = pa.schema(delta.schema().to_arrow())
    actions = pa.table(delta.get_add_actions()).to_pylist()
    if not actions:
        raise TableError(f"version {number} of the Delta table has no rows.")
    actions.sort(key=lambda action: (action["modification_time"], natural_key(action["path"])))
    files = tuple(folder / _relative(action["path"], folder) for action in actions)
    for path in files:
        if not path.is_file():
            raise TableError(
                f"version {number} needs {path.relative_to(folder)}, but there is no such file. It was lost, or "
                "VACUUM removed it as one of an old version."
            )
    fields = [pa.field(f.name, f.type) for f in schema]  # only names and types: null is allowed everywhere
    return pa.schema(fields), files, tuple(action.get("partition") or {} for action in actions)


def _relative(path: str, folder: Path) -> Path:
    """Return the path within the folder of a file in the log; files outside are refused."""
    unquoted = unquote(re.sub("^file://(?=/)", "", path))
    try:
        return (folder / unquoted).resolve().relative_to(folder)
    except (ValueError, OSError, RuntimeError):
        raise TableError(
            f"the log names a file outside of the table's folder ({redacted(unquoted)}), which is not read. Copy the "
            "table as a whole (a deep clone), or restore its log."
        ) from None


def _deletion_vectors(delta: Any) -> list[tuple[str, Any]]:
    """Return (file, mask of its remaining rows) for files with rows that were deleted without a new file."""
    if "deletionVectors" not in (delta.protocol().reader_features or ()):
        return []
    try:
        vectors = pyarrow().table(delta.deletion_vectors())
    except Exception as error:  # Rust errors have no common class
        raise TableError(
            f"its deletion vectors cannot be read ({redacted(str(error).splitlines()[0])}). Update the package "
            "deltalake."
        ) from error
    columns = (vectors.column(name) for name in ("filepath", "selection_vector"))
    return [(str(file), rows.values) for file, rows in zip(*columns, strict=True)]


def _remaining_rows(
    files: Sequence[Path], schema: Any, partitions: Sequence[Mapping[str, Any]], selections: Mapping[str, Any]
) -> Iterator[Any]:
    """Yield record batches of the rows that were not deleted."""
    pa = pyarrow()
    parquet_files, _ = read_footers(files, schema, partitions)
    for path, first, batch in parquet_files.batches(0, parquet_files.n_rows, schema.names, len(schema)):
        if path in selections:
            selection = selections[path].slice(first, batch.num_rows)  # it ends at the last deleted row
            batch = batch.filter(pa.concat_arrays([selection, pa.repeat(True, batch.num_rows - len(selection))]))
        yield batch.cast(schema)
