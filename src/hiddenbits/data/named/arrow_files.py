"""JSON lines and Arrow files (Feather), decoded into memory by pyarrow and read like frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct
from hiddenbits.data.file_request import FileRequest, check_shape, naming, reading
from hiddenbits.data.items.arrow import ItemOptions, open_arrow
from hiddenbits.data.locations.places import Place, open_file
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import open_text, too_large
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted


def open_jsonl(
    request: FileRequest,
    *,
    column: str | None = None,
    row: str | None = None,
    item: str | None = None,
    value: str | None = None,
    items: Any = None,
    max_columns: int = MAX_COLUMNS,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Open ``.jsonl`` or ``.ndjson`` files (also gzipped): an object per line, whose keys are the column names.

    A key that a line lacks is a missing value. Lists of items (`column`) and pairs (`row`, `item`, `value`) are read
    as from Parquet files.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    column, row, item, value, items, max_columns
        As for Parquet files.
    max_bytes : int, default=4 GiB
        Maximum size of the text, decompressed, and of the table in memory.
    """
    table = _read(request, _decode_json, max_bytes)
    item_options = ItemOptions(column, row, item, value, items, max_columns, max_bytes)
    if not item_options.is_for(table.schema):
        return _open(request, table)

    def batches(names: list[str]) -> Iterator[tuple[str, int, Any]]:
        n_rows = 0
        for batch in table.select(names).to_batches():
            yield str(request.files[0]), n_rows, batch
            n_rows += batch.num_rows

    return open_arrow(request, table.column_names, batches, item_options)


def open_feather(request: FileRequest, *, max_bytes: int = MAX_BYTES) -> Table:
    """Open ``.feather``, ``.arrow`` or ``.ipc`` files: Arrow files (Feather version 2) and streams.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    max_bytes : int, default=4 GiB
        Maximum size of a file, and of the table in memory.
    """
    return _open(request, _read(request, _decode_feather, max_bytes))


def _open(request: FileRequest, table: Any) -> Table:
    """Open an Arrow table that was read from files."""
    with naming(request.files[0]):
        check_shape(table.num_rows, table.num_columns)
        return open_frame(table, request, from_file=True)


def _read(request: FileRequest, decode: Callable[[Any, Place, int], Any], max_bytes: int) -> Any:
    """Return the stacked files as one Arrow table."""
    pa = pyarrow()
    tables: list[Any] = []
    for path in request.files:
        with reading(path):
            try:
                table = decode(pa, path, max_bytes)
                table.validate(full=True)
            except pa.ArrowException as error:
                raise TableError(
                    f"the file is damaged or of another format ({redacted(error)}). Write it again."
                ) from error
            check_distinct(table.column_names)
            if sum(earlier.nbytes for earlier in tables) + table.nbytes > max_bytes:
                raise too_large(path, max_bytes)
            if tables and set(table.column_names) != set(tables[0].column_names):
                raise TableError(
                    f"the columns differ from those of {request.files[0].name}. All files of a table need the same."
                )
            tables.append(table.select(tables[0].column_names) if tables else table)
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def _decode_json(pa: Any, path: Place, max_bytes: int) -> Any:
    import pyarrow.json as from_json

    with open_text(path, max_bytes) as file:
        if not file.peek(1).strip():
            raise TableError("the file is empty. A table needs at least one row.")
        return from_json.read_json(pa.PythonFile(file, mode="r"), from_json.ReadOptions(use_threads=False))


def _decode_feather(pa: Any, path: Place, max_bytes: int) -> Any:
    with open_file(path) as file:
        is_file = file.read(6) == b"ARROW1"
        if file.seek(0, 2) > max_bytes:
            raise too_large(path, max_bytes)
        file.seek(0)
        source = pa.PythonFile(file, mode="r")
        return (pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)).read_all()
