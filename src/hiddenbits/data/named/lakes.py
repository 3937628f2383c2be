"""Delta tables: the rows of one version, from the files that its log names. What lies in the folder is more than that.

The log is read by the package deltalake; rows by our own reader of Parquet, file by file, in the order in which the
files were written (then by name), so that every pass and every later run has the same order. Iceberg tables are refused
with advice.
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
from hiddenbits.data.named.parquet.files import find_groups, pyarrow
from hiddenbits.data.named.parquet.open import open_files
from hiddenbits.data.named.streams import open_batches, open_stream
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

# Features with which files can be read as they are, or as is done here; columnMapping renames in some modes only.
FEATURES = {"appendOnly", "columnMapping", "deletionVectors", "domainMetadata", "timestampNtz"}
FEATURES |= {"v2Checkpoint", "vacuumProtocolCheck"}


def open_delta(X: Any, request: Request) -> Table:
    """Open a version of a Delta table: of a folder, or of a ``deltalake.DeltaTable`` the one that it stands at.

    The option ``version=`` is for folders; others are those of Parquet files.
    """
    options = dict(request.options)
    delta, shown = _loaded(X, options.pop("version", None))
    request, number = replace(request, options=options), int(delta.version())
    if not delta.table_uri.startswith("file://"):
        return replace(open_stream(delta.to_pyarrow_dataset(), request), version=number)
    folder = Path(unquote(urlsplit(delta.table_uri).path)).resolve()
    with naming(shown):
        _refuse_unknown(delta)
        schema, files, given = _listed(delta, folder, number)
        kept = {str(folder / _relative(uri, folder)): rows for uri, rows in _deletion_vectors(delta)}
    if not kept:
        return replace(open_files(request, files, given, schema=schema, options=options), version=number)
    what = f"Version {number} of the Delta table, without its deleted rows,"
    batches = _kept_rows(files, schema, given, kept)
    return replace(open_batches(batches, schema, what, request, options), version=number)


def _loaded(X: Any, version: Any) -> tuple[Any, str]:
    """Return the table at a version, and how messages name it."""
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise ImportError("Delta tables need deltalake: pip install 'hiddenbits[lakes]'.") from error
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or version < 0):
        raise TypeError(f"version={version!r}: give the number of a version of the Delta table, 0 for the first.")
    if isinstance(X, DeltaTable):
        if version is not None:
            raise TypeError("version= is for the folder of a Delta table, but this DeltaTable stands at a version.")
        return X, "The Delta table"
    shown = os.fspath(X)
    try:
        return DeltaTable(Path(shown).absolute(), version=version), shown
    except (DeltaError, OSError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__  # a trace of Rust's follows
        if version is not None and "version" in said.lower():
            raise TableError(f"{shown}: the Delta table has no version {version}, or no longer.") from error
        raise TableError(
            f"{shown}: the log of the Delta table cannot be read ({redacted(said)}). It is damaged, or of a newer "
            "kind; update the package deltalake, or restore the folder _delta_log."
        ) from error


def _refuse_unknown(delta: Any) -> None:
    """Refuse tables whose files are not to be read as they are."""
    mode = delta.metadata().configuration.get("delta.columnMapping.mode", "none")
    features = set(delta.protocol().reader_features or ()) - FEATURES
    if mode != "none" or features:
        why = "other names of columns in its files (column mapping)" if mode != "none" else ", ".join(sorted(features))
        raise TableError(
            f"this Delta table uses what is not supported here: {why}. Let deltalake read it: "
            "open_table(deltalake.DeltaTable(folder).scan()); the order of rows may then differ from run to run."
        )


def _listed(delta: Any, folder: Path, number: int) -> tuple[Any, tuple[Path, ...], tuple[Mapping[str, Any], ...]]:
    """Return the columns of a version, its files in a fixed order, and what of each file stands in the log alone."""
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
    fields = [pa.field(f.name, f.type) for f in schema]  # nothing but names and types: null is allowed everywhere
    return pa.schema(fields), files, tuple(action.get("partition") or {} for action in actions)


def _relative(path: str, folder: Path) -> Path:
    """Return where in the folder a file of the log is; one outside is refused."""
    plain = unquote(re.sub("^file://(?=/)", "", path))
    try:
        return (folder / plain).resolve().relative_to(folder)
    except (ValueError, OSError, RuntimeError):
        raise TableError(
            f"the log names a file outside of the table's folder ({redacted(plain)}), which is not read. Copy the "
            "table as a whole (a deep clone), or restore its log."
        ) from None


def _deletion_vectors(delta: Any) -> list[tuple[str, Any]]:
    """Return (file, which rows of it are left) for files of which rows were deleted without writing a new file."""
    if "deletionVectors" not in (delta.protocol().reader_features or ()):
        return []
    try:
        found = pyarrow().table(delta.deletion_vectors())
    except Exception as error:  # errors of Rust's are of no common class
        raise TableError(
            f"its deletion vectors cannot be read ({redacted(str(error).splitlines()[0])}). Update the package "
            "deltalake."
        ) from error
    columns = (found.column(name) for name in ("filepath", "selection_vector"))
    return [(str(file), rows.values) for file, rows in zip(*columns, strict=True)]


def _kept_rows(
    files: Sequence[Path], schema: Any, given: Sequence[Mapping[str, Any]], kept: Mapping[str, Any]
) -> Iterator[Any]:
    """Yield record batches of the rows that were not deleted."""
    pa = pyarrow()
    found, _ = find_groups(files, schema, given)
    for path, first, batch in found.batches(0, found.n_rows, schema.names, len(schema)):
        if path in kept:
            keep = kept[path].slice(first, batch.num_rows)  # it ends with the last row that was deleted
            batch = batch.filter(pa.concat_arrays([keep, pa.repeat(True, batch.num_rows - len(keep))]))
        yield batch.cast(schema)
