"""Parquet files: which kind of table they are, and who reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct
from hiddenbits.data.columns import Choices
from hiddenbits.data.columns.open import check_names, open_bits, open_columns
from hiddenbits.data.file_request import FileRequest, check_options, check_shape, naming, reading
from hiddenbits.data.items.arrow import Asked, open_arrow
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.named.parquet.columns import CELL_BYTES, ParquetColumns
from hiddenbits.data.named.parquet.files import FileInfo, ParquetFiles, find_groups, is_list, pyarrow
from hiddenbits.data.named.parquet.statistics import hold_bits, mask_of_bits
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import told

BIT_BYTES = 1.0  # of a cell of columns of bits, in Arrow's memory: as people write them, small integers
SMALL_BYTES = 64 * 2**20  # of Arrow's: what is smaller is read into memory

LINE_BYTES, LIST_BYTES = 48, 256  # what a line of pairs and a list take while they are decoded, roughly


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

    Columns of 0 and 1 may be of type bool, int, uint or float; null and NaN are blanks. The rows stay on
    disk: opening reads the files' metadata only, and cells are checked as they are read. The quickest are
    uint8 columns in row groups that are small against a part (10 to 20 MB).

    Where types or metadata show other values, with `threshold`, or where something was said about columns, each column
    is taken for what its values are (`columns.describe`). Tables of up to 64 MiB, as Arrow has them, are then read into
    memory. Larger ones stay on disk: one scan counts the values, and rows are coded as they are read. Columns that do
    not enter stay in the files, and `Table.beside` reads them.

    Pairs (`row` and `item`) are one line for each item of a row, as databases export them. The table has a row for
    each distinct row key, in the order in which keys first appear, and a column for each item. A line is a 1, and a
    cell without a line is 0, or not observed with ``empty="missing"``. With `value` a line says what was seen: 0, 1, or
    null for nothing. Then a cell without a line was not observed (a question that was not put to this student), unless
    ``empty="zero"`` takes it, and null, for 0. ``table.source.row_keys(start, stop)`` returns the keys of some rows.

    Lists and pairs are read once, when the table is opened, into memory; above 256 MiB into temporary files
    (`SpilledTableWarning`). Lines of one row may stand anywhere; unless they stand together, as in a sorted file, they
    are grouped in memory.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    column : str, optional
        The column that lists each row's items, as column numbers or names. Not needed if it is the only one.
    row, item : str, optional
        The columns of row keys and of items, both whole numbers or text, in files with a line for each pair. The
        columns of the table are the items that occur, ascending; or, for whole numbers and if `n_columns` or `items`
        is given, item i is column i.
    value : str, optional
        The column that says what was seen: 0, 1 or null, or numbers with ``threshold=``.
    items : sequence of str or path, optional
        Names of the items, in the order of the table's columns, or a text file with one a line. By default
        names are gathered in one scan of the files and sorted; numbered items end at the largest found.
    max_columns : int, default=10,000,000
        The most columns that lists of items may make.
    max_bytes : int, default=4 GiB
        The most that pairs may take in memory, if the lines of a row do not stand together.
    """
    files, infos = find_groups(request.files, request.schema, request.constants)
    schema = infos[0].schema
    with reading(request.files[0]):
        check_shape(files.n_rows, len(schema))
    for path, info in zip(request.files, infos, strict=True):
        with reading(path):
            _check_fields(info.schema.names, schema.names, request.files[0].name)
    asked = Asked(column, row, item, value, items, max_columns, max_bytes)
    if asked.is_for(schema):
        size = LIST_BYTES if row is None else LINE_BYTES
        return open_arrow(request, schema.names, lambda names: files.batches(0, files.n_rows, names, size), asked)
    _refuse_lists(request, infos)
    names = schema.names if request.names is None else request.names
    with naming(request.files[0]):
        check_names(names, len(schema))
        check_distinct(names)
        at = dict(zip(names, schema.names, strict=True))
        said = request.choices or request.coding is not None or request.threshold is not None
        columns = ParquetColumns(files, at, BIT_BYTES)
        if request.plain_only or not (said or not hold_bits(columns, infos)):
            return open_bits(columns, request, mask_of_bits(infos, files.n_rows))
        _check_types(request, infos)
        held = _in_memory(files, infos)
        if held is not None:
            return open_frame(held, request, of_file=True)
        return open_columns(ParquetColumns(files, at), request)


def open_files(
    request: Request,
    files: Sequence[Place],
    given: Sequence[Mapping[str, Any]] = (),
    *,
    schema: Any = None,
    options: Mapping[str, Any],
) -> Table:
    """Open Parquet files that another reader found or wrote, with options of `open_parquet`."""
    if request.reals:
        raise TableError("reals=True is for tables in memory, and this one stays in its files. Load the rows.")
    check_options(open_parquet, options, "parquet")
    more = {"files": tuple(files), "constants": tuple(given), "schema": schema}
    return open_parquet(FileRequest(**{**vars(request), **more}), **options)


def _check_fields(mine: Sequence[str], first: Sequence[str], first_file: str) -> None:
    """Refuse files whose columns are not those of the first file."""
    if list(mine) != list(first):
        odd = sorted(set(mine) ^ set(first))
        raise TableError(
            f"the columns differ from those of {first_file}"
            + (f" ({', '.join(map(repr, odd[:5]))})" if odd else " (another order)")
            + ". All files of a table need the same."
        )


def _refuse_lists(request: FileRequest, infos: Sequence[FileInfo]) -> None:
    """Refuse columns of lists that nobody left out: they may be the table."""
    names = infos[0].schema.names
    if request.coding is not None:
        return
    with reading(request.files[0]):
        said = (request.choices or Choices()).by_column(names if request.names is None else request.names)
        for field, one in zip(infos[0].schema, said, strict=False):
            if is_list(field.type) and not one.is_excluded:
                raise TableError(
                    f"column {field.name!r} holds {field.type}, not bits. Leave it out with drop=[{field.name!r}], or "
                    f"read its lists of items with column={field.name!r}."
                )


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
