"""Parquet tables whose columns hold other values than bits, or of which the user said something.

Small ones are read into memory and opened as frames are. Larger ones stay on disk: one scan counts the values of each
column, by which it is decided how they become bits, and each part is coded as it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from hiddenbits.data.columns.open import check_names, open_columns
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, naming
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.named.parquet.columns import plain_source
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, pyarrow
from hiddenbits.data.named.parquet.named import CELL_BYTES, ParquetColumns
from hiddenbits.data.table import Table
from hiddenbits.quoting import told

SMALL_BYTES = 64 * 2**20  # of Arrow's: what is smaller is read into memory


def open_coded(request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo]) -> Table:
    """Return a table of bits from columns of any values: by the coding of a fit, or a look and what the user said."""
    _check_types(request, infos)
    held = _in_memory(files, infos)
    if held is not None:
        with naming(request.files[0]):
            return open_frame(held, request, of_file=True)
    return _on_disk(request, files, infos)


def _check_types(request: FileRequest, infos: Sequence[FileInfo]) -> None:
    """Refuse files whose columns have types that do not go together."""
    pa, first = pyarrow(), infos[0].schema
    for path, info in zip(request.files[1:], infos[1:], strict=True):
        for field, other in zip(first, info.schema, strict=True):
            try:
                pa.unify_schemas([pa.schema([field]), pa.schema([other])], promote_options="permissive")
            except pa.ArrowException as error:
                raise TableError(
                    f"{path}: column {field.name!r} has type {other.type}, but {field.type} in "
                    f"{request.files[0].name}. All files of a table need the same types."
                ) from error


def _in_memory(files: ParquetFiles, infos: Sequence[FileInfo]) -> Any:
    """Return the files as one Arrow table; None where it would be too large."""
    pa, names = pyarrow(), infos[0].schema.names
    if files.n_rows * len(names) > 8 * SMALL_BYTES:  # a cell takes at least a bit
        return None
    tables, n_bytes = [], 0
    for _, _, batch in files.batches(0, files.n_rows, names, CELL_BYTES * len(names)):
        n_bytes += batch.nbytes
        if n_bytes > SMALL_BYTES:
            return None
        tables.append(pa.Table.from_batches([batch]))
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise TableError(f"{files.paths[0]}: the columns do not go together ({told(error)}).") from error


def _on_disk(request: FileRequest, files: ParquetFiles, infos: Sequence[FileInfo]) -> Table:
    """Return a table whose rows stay in the files; so do columns that did not enter."""
    inside = infos[0].schema.names
    names = tuple(inside if request.names is None else request.names)
    with naming(request.files[0]):
        check_names(names, len(inside))
        columns = ParquetColumns(files, dict(zip(names, inside, strict=True)))
        return open_columns(columns, request, cut=partial(plain_source, request, files, infos))
