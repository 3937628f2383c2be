"""Parquet files: which kind of table they are, and who reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.masks import Mask, mask_for
from hiddenbits.data.readers.parquet.columns import ParquetSource
from hiddenbits.data.readers.parquet.files import FileInfo, find_groups, is_list, pyarrow
from hiddenbits.data.readers.parquet.lists import open_lists
from hiddenbits.data.readers.parquet.mixed import open_mixed_parquet
from hiddenbits.data.readers.parquet.pairs import open_pairs
from hiddenbits.data.readers.request import FileRequest, check_shape, choose, reading
from hiddenbits.data.table import Table, TableError


def open_parquet(
    request: FileRequest,
    *,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    column: str | None = None,
    row: str | None = None,
    item: str | None = None,
    value: str | None = None,
    items: Any = None,
    max_columns: int = MAX_COLUMNS,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Open Parquet files: columns of 0 and 1, one column that lists the items of each row, or a line for each pair.

    Columns of 0 and 1 may be of type bool, int, uint or float; null and NaN are blanks. The rows stay on
    disk: opening reads the files' metadata only, and cells are checked as they are read. The quickest are
    uint8 columns in row groups that are small against a part (10 to 20 MB).

    Pairs (`row` and `item`) are one line for each item of a row, as databases export them. The table has a row for
    each distinct row key, in the order in which keys first appear, and a column for each item. Opening scans the row
    keys. If the lines of every row stand together (a sorted file, say), they stay on disk, and a row may go on in the
    next row group or file; otherwise they are gathered in memory. ``table.source.row_keys(start, stop)`` returns the
    keys of some rows. A line is a 1, and a cell without a line is 0, or not observed with ``blank="missing"``. With
    `value` a line says what was seen: 0, 1, or null for nothing. Then a cell without a line was not observed (a
    question that was not put to this student), unless ``blank="zero"`` takes it, and null, for 0.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    columns, drop : sequence of str or int, optional
        The 0/1 columns to keep, or to leave out, by name or number.
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
    pa, kinds = pyarrow(), request.kinds
    files, infos = find_groups(request.files, request.schema, request.given)
    schema = infos[0].schema
    with reading(request.files[0]):
        check_shape(files.n_rows, len(schema))
    for path, info in zip(request.files, infos, strict=True):
        with reading(path):
            _check_fields(info.schema.names, schema.names, request.files[0].name)
    if kinds is not None and not row is item is value is column is items is None:
        raise TableError("kinds= is for files with one column per variable, not for lists or pairs of items.")
    if not row is item is value is None:
        if not column is columns is drop is None:
            raise TableError(
                "row=, item= and value= read pairs. Remove column=, columns= and drop=, which do not apply."
            )
        return open_pairs(request, files, infos, row, item, value, items, max_columns, max_bytes)
    if column is not None or (len(schema) == 1 and is_list(schema.field(0).type) and kinds is None):
        if columns is not None or drop is not None:
            raise TableError(
                "columns= and drop= select 0/1 columns, but this table has a column of lists. Remove them."
            )
        return open_lists(request, files, infos, column or schema.names[0], items, max_columns)
    if items is not None:
        raise TableError("items= names the items of a column of lists. Name the column with column=.")
    with reading(request.files[0]):
        keep = choose(schema.names, columns, drop)
    names = tuple(schema.names[j] for j in keep)
    if kinds is not None and (mixed := open_mixed_parquet(request, files, infos, names, kinds)) is not None:
        return mixed
    for path, info in zip(request.files, infos, strict=True):
        with reading(path):
            for name in names:
                _check_type(pa, info.schema.field(name))
    mask, share = _mask(pa, infos, names, files.n_rows)
    if request.blank == "zero":
        mask = "none"
    source = ParquetSource(files, names, mask, share, request.blank == "zero", request.threshold)
    return Table(source, request.names if request.names is not None else names)


def _check_fields(mine: Sequence[str], first: Sequence[str], first_file: str) -> None:
    """Refuse files whose columns are not those of the first file."""
    if list(mine) != list(first):
        odd = sorted(set(mine) ^ set(first))
        raise TableError(
            f"the columns differ from those of {first_file}"
            + (f" ({', '.join(map(repr, odd[:5]))})" if odd else " (another order)")
            + ". All files of a table need the same."
        )


def _check_type(pa: Any, field: Any) -> None:
    """Refuse a column that cannot hold bits."""
    kind = field.type
    if not (
        any(test(kind) for test in (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_null))
    ):
        remedy = "recode it as 0 and 1; LogisticPCA also takes other columns: open the table with kinds='auto'"
        if is_list(kind):
            remedy = f"read its lists of items with column={field.name!r}"
        raise TableError(
            f"column {field.name!r} holds {kind}, not bits. Leave it out with drop=[{field.name!r}], or {remedy}."
        )


def _mask(pa: Any, infos: Sequence[FileInfo], names: Sequence[str], n_rows: int) -> tuple[Mask, float]:
    """Decide, from metadata only and for the whole table, how the observed-mask is stored.

    Every part must have the same storage, or sums over parts would depend on where parts begin. The share of
    blanks only guides the choice: NaNs are not in the metadata, and where it is silent the mask is dense.
    """
    counts: list[int | None] = []
    maybe_nan, wanted = False, set(names)
    for info in infos:
        maybe_nan |= any(pa.types.is_floating(info.schema.field(name).type) for name in names)
        numbers = [j for j, leaf in enumerate(info.leaves) if leaf in wanted]
        counts.extend(group[j].null_count for group in info.chunks for j in numbers)
    share = sum(count or 0 for count in counts) / (n_rows * len(names))
    if None in counts or not 0 <= share <= 1:
        return "dense", 0.5
    if not any(counts) and not maybe_nan:
        return "none", 0.0
    return mask_for(share), share
