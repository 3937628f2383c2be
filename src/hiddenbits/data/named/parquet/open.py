"""Opens Parquet files of columns, of lists of items, or of pairs."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct
from hiddenbits.data.columns import Choices
from hiddenbits.data.columns.open import check_names, open_bits, open_columns
from hiddenbits.data.columns.protocol import Columns
from hiddenbits.data.file_request import FileRequest, check_options, check_shape, naming, reading
from hiddenbits.data.items.arrow import ItemOptions, open_arrow
from hiddenbits.data.locations.places import Place
from hiddenbits.data.masks import Mask, mask_for
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.named.parquet.columns import CELL_BYTES, ParquetColumns
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, is_list, pyarrow, read_footers
from hiddenbits.data.named.parquet.footer import Chunk
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

BIT_BYTES = 1.0  # memory of a binary cell in Arrow: usually a small integer
SMALL_BYTES = 64 * 2**20  # tables that are smaller in Arrow are read into memory
FIRST_ROWS = 1 << 16  # rows that are read to find out whether floats between 0 and 1 are binary
LINE_BYTES, LIST_BYTES = 48, 256  # approximate memory of a pair and of a list while they are decoded


def open_parquet(
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
    """Open Parquet files: a column per variable, one column that lists the items of each row, or a line for each pair.

    Columns of 0 and 1 may be of type bool, int, uint or float; null and NaN are missing values. The rows stay on
    disk: opening reads only the metadata of the files, and cells are checked as they are read. The fastest are
    uint8 columns in row groups that are smaller than a part (10 to 20 MB).

    If types or metadata show other values, with `threshold`, or with options about columns, the type of each column is
    inferred from its values (`columns.describe`). Tables of up to 64 MiB in Arrow are then read into memory. Larger
    ones stay on disk: one scan counts the values, and rows are coded as they are read. Columns that are excluded
    stay in the files, and `Table.beside` reads them.

    Pairs (`row` and `item`) have one line for each item of a row, as databases export them. The table has a row for
    each distinct row key, in order of first appearance, and a column for each item. A line is a 1, and a cell without a
    line is 0, or missing with ``empty="missing"``. With `value` a line has a value: 0, 1, or null if missing. Then a
    cell without a line is missing (a question that was not put to this student), unless ``empty="zero"`` reads it,
    and null, as 0. ``table.source.row_keys(start, stop)`` returns the keys of some rows.

    Lists and pairs are read once, when the table is opened, into memory, or above 256 MiB into temporary files
    (`SpilledTableWarning`). Lines may be in any order; unless lines of the same row are consecutive, as in a sorted
    file, they are grouped in memory.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    column : str, optional
        The column that lists each row's items, as column numbers or names. Not needed if it is the only column.
    row, item : str, optional
        The columns of row keys and of items, both integers or text, in files with a line for each pair. The
        columns of the table are the items that occur, sorted; or, for integers and if `n_columns` or `items` is
        given, item i is column i.
    value : str, optional
        The column of values: 0, 1 or null, or numbers with ``threshold=``.
    items : sequence of str or path, optional
        Names of the items, in the order of the table's columns, or a text file with one per line. By default
        names are gathered in one scan of the files and sorted; numbered items end at the largest number.
    max_columns : int, default=10,000,000
        Maximum number of columns that lists of items may become.
    max_bytes : int, default=4 GiB
        Maximum memory for pairs, if the lines of a row are not consecutive.
    """
    files, infos = read_footers(request.files, request.schema, request.constants)
    schema = infos[0].schema
    with reading(request.files[0]):
        check_shape(files.n_rows, len(schema))
    for path, info in zip(request.files, infos, strict=True):
        with reading(path):
            _check_fields(info.schema.names, schema.names, request.files[0].name)
    as_items = ItemOptions(column, row, item, value, items, max_columns, max_bytes)
    if as_items.is_for(schema):
        size = LIST_BYTES if row is None else LINE_BYTES
        return open_arrow(request, schema.names, lambda names: files.batches(0, files.n_rows, names, size), as_items)
    _refuse_lists(request, infos)
    names = schema.names if request.names is None else request.names
    with naming(request.files[0]):
        check_names(names, len(schema))
        check_distinct(names)
        file_columns = dict(zip(names, schema.names, strict=True))
        has_options = request.choices or request.coding is not None or request.threshold is not None
        columns = ParquetColumns(files, file_columns, BIT_BYTES)
        if request.plain_only or not (has_options or not are_binary(columns, infos)):
            return open_bits(columns, request, mask_of_binary_columns(infos, files.n_rows))
        _check_types(request, infos)
        frame = _in_memory(files, infos)
        if frame is not None:
            return open_frame(frame, request, from_file=True)
        return open_columns(ParquetColumns(files, file_columns), request)


def open_files(
    request: Request,
    files: Sequence[Place],
    constants: Sequence[Mapping[str, Any]] = (),
    *,
    schema: Any = None,
    options: Mapping[str, Any],
) -> Table:
    """Open Parquet files that another reader found or wrote, with options of `open_parquet`."""
    if request.reals:
        raise TableError("reals=True is for tables in memory, and this one stays in its files. Load the rows.")
    check_options(open_parquet, options, "parquet")
    file_options = {"files": tuple(files), "constants": tuple(constants), "schema": schema}
    return open_parquet(FileRequest(**{**vars(request), **file_options}), **options)


def _check_fields(names: Sequence[str], first_names: Sequence[str], first_file: str) -> None:
    """Refuse files whose columns are not those of the first file."""
    if list(names) != list(first_names):
        differing = sorted(set(names) ^ set(first_names))
        raise TableError(
            f"the columns differ from those of {first_file}"
            + (f" ({', '.join(map(repr, differing[:5]))})" if differing else " (another order)")
            + ". All files of a table need the same."
        )


def _refuse_lists(request: FileRequest, infos: Sequence[FileInfo]) -> None:
    """Refuse columns of lists that were not excluded: they may hold the items of a table."""
    names = infos[0].schema.names
    if request.coding is not None:
        return
    with reading(request.files[0]):
        columns = (request.choices or Choices()).by_column(names if request.names is None else request.names)
        for field, column in zip(infos[0].schema, columns, strict=False):
            if is_list(field.type) and not column.is_excluded:
                raise TableError(
                    f"column {field.name!r} holds {field.type}, not 0 and 1. Exclude it with drop=[{field.name!r}], or "
                    f"read its lists of items with column={field.name!r}."
                )


def _check_types(request: FileRequest, infos: Sequence[FileInfo]) -> None:
    """Refuse files whose columns have incompatible types."""
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
    """Return the files as one Arrow table; None if it would be too large."""
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
        raise TableError(f"{files.paths[0]}: the columns of the files are incompatible ({redacted(error)}).") from error


def may_be_binary(arrow_type: Any) -> bool:
    """Whether a column of this type may be binary."""
    types = pyarrow().types
    return any(test(arrow_type) for test in (types.is_boolean, types.is_integer, types.is_floating, types.is_null))


def are_binary(columns: Columns, infos: Sequence[FileInfo]) -> bool:
    """Whether all columns have only 0, 1 and missing values, as far as is known without reading all rows.

    For integers the range in the metadata suffices; for floats the first rows are read, too. Columns without statistics
    are read completely. Other values that are found later are refused.
    """
    without_statistics: dict[str, None] = {}
    floats: dict[str, None] = {}
    for info in infos:
        positions = {leaf: j for j, leaf in enumerate(info.leaves)}
        for name, field in zip(columns.names, info.schema, strict=True):
            if not may_be_binary(field.type):
                return False
            answers = {_is_binary(group[positions[field.name]], field.type) for group in info.chunks}
            if False in answers:
                return False
            if None in answers:
                without_statistics[name] = None
            elif pyarrow().types.is_floating(field.type):
                floats[name] = None
    first_rows_binary = _rows_are_binary(columns, list(floats), FIRST_ROWS)
    return first_rows_binary and _rows_are_binary(columns, list(without_statistics), columns.n_rows)


def _is_binary(chunk: Chunk, arrow_type: Any) -> bool | None:
    """Whether the smallest and largest value of a chunk are 0 or 1; None if it has no statistics."""
    types = pyarrow().types
    if types.is_boolean(arrow_type) or types.is_null(arrow_type) or chunk.null_count == chunk.num_values:
        return True
    if chunk.smallest is None or chunk.largest is None:
        return None
    limits = chunk.smallest, chunk.largest
    if types.is_integer(arrow_type):  # negative integers are read as large ones
        return all(int.from_bytes(limit, "little") <= 1 for limit in limits)
    format_ = {4: "<f", 8: "<d"}.get(len(chunk.smallest))
    if format_ is None or len(chunk.smallest) != len(chunk.largest):
        return None
    return all(struct.unpack(format_, limit)[0] in (0.0, 1.0) for limit in limits)


def _rows_are_binary(columns: Columns, names: Sequence[str], n_rows: int) -> bool:
    """Whether the first rows of some columns are binary."""
    for batch in columns.batches(0, min(n_rows, columns.n_rows), names) if names else ():
        with batch.reading():
            if any(value not in (0, 1, None) for name in names for value in batch.cells(name).values):
                return False
    return True


def mask_of_binary_columns(infos: Sequence[FileInfo], n_rows: int) -> tuple[Mask, float]:
    """Return the storage of the observed-mask of binary columns, for the whole table and from metadata only.

    All parts must have the same storage, or sums over parts would depend on where parts begin. The share of missing
    values only guides the choice: metadata do not count NaN, and without statistics the mask is dense.
    """
    counts = [chunk.null_count for info in infos for group in info.chunks for chunk in group]
    maybe_nan = any(pyarrow().types.is_floating(arrow_type) for info in infos for arrow_type in info.schema.types)
    share = sum(count or 0 for count in counts) / (n_rows * len(infos[0].schema))
    if None in counts or not 0 <= share <= 1:
        return "dense", 0.5
    if not any(counts) and not maybe_nan:
        return "none", 0.0
    return mask_for(share), share
