"""Items in Arrow's record batches (of Parquet, JSON lines and others): a list in each row, or a line for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.cell_checks import Empty, dense_bits
from hiddenbits.data.file_request import FileRequest, naming, reading
from hiddenbits.data.items.gather import NULL, ItemBatch, open_items
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

Batches = Iterable[tuple[str, int, Any]]  # the file, the number of the first row in it, and a record batch


class ItemOptions(NamedTuple):
    """Options of readers whose files may hold lists of items or pairs; see `open_parquet`."""

    column: str | None
    row: str | None
    item: str | None
    value: str | None
    items: Any
    max_columns: int
    max_bytes: int

    def is_for(self, schema: Any) -> bool:
        """Whether columns of this schema hold items: an option names such a column, or the only column holds lists."""
        import pyarrow as pa

        are_lists = [pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type) for arrow_type in schema.types]
        return are_lists == [True] or any(option is not None for option in self[:5])


def open_arrow(
    request: FileRequest, names: Sequence[str], batches: Callable[[list[str]], Batches], options: ItemOptions
) -> Table:
    """Open record batches with a column that lists the items of each row, or with a line for each pair.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    names : sequence of str
        Names of all columns.
    batches : function
        Returns batches of the columns with the names given to it.
    options : ItemOptions
        Which columns hold lists, row keys, items and values, and limits.
    """
    column, row, item, value, items, max_columns, max_bytes = options
    has_pairs = not row is item is value is None
    column = column or (names[0] if not has_pairs and len(names) == 1 else None)
    roles = {"column": column, "row": row, "item": item, "value": value}
    with naming(request.files[0]):
        if request.choices or (has_pairs and column is not None):
            raise TableError(
                "Lists and pairs have no columns of their own. Remove the options about columns, and column= for pairs."
            )
        if column is None and (row is None or item is None):
            raise TableError("Give column=, which lists items, or row= and item=, the columns of keys and of items.")
        if has_pairs and len({row, item, value}) < 3:
            raise TableError("row=, item= and value= must name different columns.")
        if value is None and request.threshold is not None:
            raise TableError("threshold= does not apply to baskets, which contain items, not numbers.")
        for option, name in roles.items():
            if name is not None and name not in names:
                shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
                raise TableError(f"{option}= names {name!r}, but the columns are {shown}.")
    record_batches = batches([name for name in roles.values() if name is not None])
    if row is None or item is None:
        return open_items(request, _lists(record_batches, str(column), request.empty), items, max_columns, max_bytes)
    are_numbers = items is not None or request.n_columns is not None  # then integers are column numbers
    lines = _pairs(record_batches, row, item, value, request.threshold, are_numbers)
    return open_items(request, lines, items, max_columns, max_bytes, row)


def _lists(batches: Batches, column: str, empty: Empty) -> Iterator[ItemBatch]:
    """Yield the items of lists. A null list is an empty basket only with ``empty="zero"``."""
    import pyarrow as pa

    types: dict[str, str] = {}
    for path, first, batch in batches:
        with decoding(path):
            lists = batch.column(column)
            if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
                raise TableError(f"column {column!r} holds {lists.type}, not lists of item numbers or names.")
            if lists.null_count and empty != "zero":
                raise TableError(
                    f"row {first + _first_null(lists)}: the list is null. Write [] for an empty basket, or set "
                    "empty='zero'."
                )
            lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            values = lists.flatten()
            items = ItemBatch(path, "row", first, np.cumsum(lengths) - lengths, np.zeros(0))
            if values.null_count:
                raise TableError(f"{items.label(_first_null(values))}: the list contains a null. Remove it.")
            values = _plain(values, column, "lists of item numbers or names", types)
        yield items._replace(items=_encode(values) if types[column] == "large_string" else values.to_numpy())


def _pairs(
    batches: Batches, row: str, item: str, value: str | None, threshold: float | None, are_numbers: bool
) -> Iterator[ItemBatch]:
    """Yield the items of pairs, and a key for each row: consecutive lines with one key are a row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types: dict[str, str] = {}
    last: Any = None
    for path, first, batch in batches:
        if not batch.num_rows:
            continue
        with decoding(path):
            for name in (row, item):
                if batch.column(name).null_count:
                    line = first + _first_null(batch.column(name))
                    raise TableError(f"line {line}: {name!r} is null. Remove the line. (Lines are counted from 0.)")
            keys = _plain(batch.column(row), row, "whole numbers or text, as row= takes", types)
            items = _plain(batch.column(item), item, "whole numbers or text, as item= takes", types)
            begins_row = np.ones(len(keys), bool)
            begins_row[0] = last is None or keys[0] != last
            begins_row[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
            last, starts = keys[-1], np.flatnonzero(begins_row)
            values = None if value is None else _binary_values(batch.column(value), value, threshold, first)
            use_numbers = are_numbers and types[item] != "large_string"
            columns = items.to_numpy() if use_numbers else _encode(items)
        yield ItemBatch(path, "line", first, starts, columns, values, keys.take(pa.array(starts)))


def _binary_values(array: Any, column: str, threshold: float | None, first: int) -> NDArray[np.uint8]:
    """Return the values of pairs: 0, 1 or `NULL`."""
    import pyarrow as pa

    numbers = array.cast("uint8" if pa.types.is_boolean(array.type) else "float64", safe=False).cast("float64")
    cells = numbers.to_numpy(zero_copy_only=False)[:, None]
    bits, observed = dense_bits(cells, empty="missing", threshold=threshold, names=(column,), first_row=first)
    values: NDArray[np.uint8] = np.where(observed.to_dense()[:, 0] == 0, np.uint8(NULL), bits.to_dense()[:, 0])
    return values


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """Name the file in errors, also in those of Arrow, some of which are only ArrowException."""
    import pyarrow as pa

    with reading(path):
        try:
            yield
        except pa.ArrowException as error:
            raise TableError(f"the file is damaged ({redacted(error)}). Write it again.") from error


def _plain(array: Any, column: str, expected: str, types: dict[str, str]) -> Any:
    """Return integers or text as one of three types; all batches must have the same type."""
    import pyarrow as pa

    original_type = array.type
    if pa.types.is_dictionary(original_type):
        array = array.dictionary_decode()
    if pa.types.is_integer(array.type):
        type_name = "uint64" if pa.types.is_uint64(array.type) else "int64"
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array.validate(full=True)  # the Parquet reader does not check that text is UTF-8
        type_name = "large_string"
    else:
        raise TableError(f"column {column!r} holds {original_type}, not {expected}. Cast the column.")
    if types.setdefault(column, type_name) != type_name:
        raise TableError(f"column {column!r} holds {original_type}, but {types[column]} before. Use one type.")
    return array.cast(type_name)


def _encode(values: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return codes of values, and the distinct values."""
    encoded = values.dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()


def _first_null(array: Any) -> int:
    return int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
