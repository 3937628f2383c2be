"""Columns of frames, arrays and lists as their distinct values: Python looks at each distinct value, not at each cell.

pandas factorizes text, categories have codes, and Arrow's dictionaries and polars' enums number the values that occur.
Cells of mixed types are numbered one by one, by type and value: True, 1 and 1.0 are equal, and shown differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from numbers import Number
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from hiddenbits.array_types import AnyArray, Bytes, Rows
from hiddenbits.data.cell_checks import check_form
from hiddenbits.data.coding.cells import ColumnCells, is_category, small
from hiddenbits.data.coding.vocabulary import plain_number
from hiddenbits.exceptions import CellTypeError, TableError
from hiddenbits.quoting import quoted, redacted

MOST_IN_RANGE = 1 << 16  # whole numbers within such a range are numbered without sorting them
MANY = 2000  # values of a column that are told apart one by one; one that has more is an id, numbers, dates or text
FEW = 32  # values of an Arrow array that are remembered from part to part


def is_frame(data: Any) -> bool:
    """Whether narwhals knows this object as a frame (lazy ones too)."""
    try:
        return isinstance(nw.from_native(data, pass_through=True), (nw.DataFrame, nw.LazyFrame))
    except DuplicateError:
        return True  # a frame, which `opened_frame` refuses


def opened_frame(data: Any) -> Any:
    """Return a frame as narwhals has it, a lazy one collected."""
    try:
        frame = nw.from_native(data)
    except DuplicateError as error:
        raise TableError(f"{redacted(error)}. Give each column a unique name.") from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def numbers_of(series: Any) -> Any:
    """Return a column as an array in which null is NaN."""
    if series.dtype in (nw.Int128, nw.UInt128) or not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        # NumPy has no such integers; a column of None has no type; cells of anything else are refused one by one
        return np.fromiter(series.to_list(), dtype=object, count=len(series))
    nulls = series.is_null().to_numpy()
    if not np.asarray(nulls).any():
        return np.asarray(series.to_numpy())
    if series.dtype != nw.Float32:  # which keeps its type, and its side of a threshold
        series = series.cast(nw.Float64())
    # not fill_null: with pandas it sets filters of warnings, which chunks in several threads undo for each other
    values = np.array(series.to_numpy(), dtype=np.float32 if series.dtype == nw.Float32 else np.float64)
    values[np.asarray(nulls, dtype=bool)] = np.nan
    return values


def cells_of_frame(frame: Any) -> list[ColumnCells]:
    """Return the columns of a frame, as narwhals has it; by place, because names in pandas may be tuples."""
    return [cells_of_series(str(label), frame[:, j]) for j, label in enumerate(frame.columns)]


def cells_of_array(array: AnyArray) -> list[ColumnCells]:
    """Return the columns of an array, known by their places; an object that is no cell is refused with its place."""
    check_form(array)
    if np.ma.isMaskedArray(array):
        mask, data = np.ma.getmaskarray(array), np.asarray(np.ma.getdata(array))
        blank: Any = np.nan if data.dtype.kind in "biuf" else None
        array = np.where(mask, blank, data)
    kind = array.dtype.kind
    if kind in "biuf":
        return [cells_of_numbers(str(j), column, boolean=kind == "b") for j, column in enumerate(array.T)]
    if kind not in "OUS":
        raise TableError(f"column 0 ('x0') is of type {array.dtype}. Give numbers, text or categories.")
    return [cells_of_objects(str(j), column.tolist(), number=j) for j, column in enumerate(array.T)]


def cells_of_series(name: str, series: Any) -> ColumnCells:
    """Return a column of a frame; one of a type that is neither a number nor a category as text of another form."""
    if series.implementation.is_pyarrow() and not (series.dtype == nw.Boolean or series.dtype.is_numeric()):
        return _used(cells_of_arrow(name, _whole(series.to_native())))
    return _by_type(name, series)


def _by_type(name: str, series: Any) -> ColumnCells:
    dtype = series.dtype
    if dtype == nw.Boolean or dtype.is_numeric():
        values = np.asarray(numbers_of(series))
        if values.dtype.kind == "O":
            return cells_of_objects(name, values.tolist())
        return cells_of_numbers(name, values, boolean=dtype == nw.Boolean)
    if dtype.is_temporal():
        return _as_text(name, series.to_list(), "date")
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object, nw.Unknown):
        factorized = _factorized(series)
        try:
            return cells_of_objects(name, series.to_list()) if factorized is None else _settled(name, *factorized)
        except TableError:
            pass
    if series.null_count() == len(series):  # a column of missing values alone may be anything
        return ColumnCells(name, [None], np.zeros(len(series), np.uint8))
    return _as_text(name, series.to_list(), "other")


def cells_of_numbers(name: str, numbers: AnyArray, *, boolean: bool = False) -> ColumnCells:
    """Return a column of numbers, in which NaN and masked cells are missing values; whole numbers are ints."""
    if np.ma.isMaskedArray(numbers):
        numbers = np.ma.filled(numbers if numbers.dtype.kind == "f" else numbers.astype(float), np.nan)
    numbers = np.ascontiguousarray(numbers)  # which a column of a two-dimensional array is not
    kind = numbers.dtype.type if numbers.dtype.kind == "f" else float
    if (bits := _of_bits(numbers)) is not None:
        values = [False, True] if boolean else [0, 1]
        return ColumnCells(name, values if bits.max(initial=0) <= 1 else [*values, None], bits, number=kind)
    distinct, rows = _distinct_numbers(np.asarray(numbers, np.float64))
    plain = [None if value != value else plain_number(value) for value in distinct.tolist()]
    return ColumnCells(name, plain, small(rows, len(plain)), number=kind)


def _of_bits(numbers: AnyArray) -> Bytes | None:
    """Return 2 for NaN and the bit for all others, where there are only bits: quicker than to search for values."""
    if numbers.dtype == bool:
        return np.minimum(numbers.view(np.uint8), 1)  # NumPy takes any byte but 0 for True
    if numbers.dtype == np.uint8:
        return numbers if numbers.max(initial=0) <= 1 else None
    ones = numbers == 1
    bits: Bytes = ones.view(np.uint8)
    known = ones | (numbers == 0)
    if known.all():
        return bits
    missing = numbers != numbers
    return bits + 2 * missing.view(np.uint8) if (known | missing).all() else None


def cells_of_objects(name: str, cells: Sequence[Any], *, number: int | None = None) -> ColumnCells:
    """Return a column of Python objects, numbered by type and value; None, NaN and the like are missing values.

    An object that is neither a category nor a finite number is refused, with its place where `number` is the column's.
    """
    known: dict[Any, int] = {}
    try:
        keys = ((cell.__class__, cell) for cell in cells)
        rows = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(cells))
    except TypeError as error:  # lists and dicts have no hash
        cell = next(cell for cell in cells if cell.__class__.__hash__ is None)
        raise _no_cell(name, number, next(row for row, one in enumerate(cells) if one is cell), cell) from error
    return _settled(name, [value for _, value in known], rows, number)


def cells_of_arrow(name: str, array: Any) -> ColumnCells:
    """Return an Arrow array; its dictionary may list values that no row has."""
    import pyarrow as pa

    types = pa.types
    if types.is_null(array.type):
        return ColumnCells(name, [None], np.zeros(len(array), np.uint8))
    if types.is_nested(array.type):
        return _as_text(name, array.to_pylist(), "other")
    if (numbers := numbers_of_arrow(array)) is not None:
        return cells_of_numbers(name, numbers, boolean=types.is_boolean(array.type))
    if not types.is_dictionary(array.type):
        array = array.dictionary_encode()
    elif len(array.dictionary) > max(len(array), MANY):  # that of a whole row group
        array = array.dictionary_decode().dictionary_encode()
    distinct = array.dictionary
    known = _of_few(distinct.type, tuple(distinct.to_pylist())) if len(distinct) <= FEW else _of_arrow_values(distinct)
    values, codes = known.values, array.indices
    numbers = np.append(known.rows.astype(np.int64), len(values))
    if codes.null_count:
        values, codes = [*values, None], codes.fill_null(len(distinct))
    rows = numbers[codes.to_numpy(zero_copy_only=False)]
    return ColumnCells(name, values, small(rows, len(values)), known.form)


def numbers_of_arrow(array: Any) -> AnyArray | None:
    """Return an Arrow array of numbers or truths in the type that it has, null masked; None for any other."""
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(array.type) or types.is_null(array.type):
        array = array.cast("uint8")
    if not (types.is_integer(array.type) or types.is_floating(array.type)):
        return None
    if not array.null_count:
        return np.asarray(array.to_numpy(zero_copy_only=False))
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(array.fill_null(0).to_numpy(zero_copy_only=False), missing)


def _of_arrow_values(distinct: Any) -> ColumnCells:
    """Return the cells of Arrow values that are all different, by the type that they have."""
    import pyarrow as pa

    return _by_type("", nw.from_native(pa.chunked_array([distinct]), series_only=True))


@lru_cache(maxsize=4096)
def _of_few(kind: Any, values: tuple[Any, ...]) -> ColumnCells:
    """Do the same for a few values, which come again in every part."""
    import pyarrow as pa

    return _of_arrow_values(pa.array(values, kind))


def _whole(column: Any) -> Any:
    """Return the chunks of an Arrow column as one array."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    chunks = column.unify_dictionaries().chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], column.type)


def _factorized(series: Any) -> tuple[list[Any], Rows] | None:
    """Return the distinct values of a column of text or categories and the number of each cell's; None if mixed.

    The number of a missing value is -1.
    """
    native = series.to_native()
    if series.implementation.is_polars():
        import polars

        if series.dtype == nw.Object:
            return None
        text = native.cast(polars.String)
        values = text.drop_nulls().unique(maintain_order=True)
        codes = text.cast(polars.Enum(values)).to_physical().cast(polars.Int64).fill_null(-1)
        return values.to_list(), codes.to_numpy()
    if series.implementation.is_pandas():
        import pandas

        if isinstance(native.dtype, pandas.CategoricalDtype):
            return native.cat.categories.tolist(), native.cat.codes.to_numpy(np.int64)
        if native.dtype == object and pandas.api.types.infer_dtype(native, skipna=True) != "string":
            return None
        codes, values = pandas.factorize(native)
        return values.tolist(), codes
    return None


def _settled(name: str, distinct: Sequence[Any], rows: Rows, number: int | None = None) -> ColumnCells:
    """Return a column from its distinct values, checked and as plain Python objects, and each row's number of them.

    Objects that are all numbers are numbers, of which True, 1 and 1.0 are one. -1 is the number of a missing value.
    """
    used = np.bincount(rows + 1, minlength=len(distinct) + 1) > 0  # categories may list what no row has
    places: list[int] = []
    values: dict[Any, int] = {}
    plain = [None, *(None if _is_missing(value) else _plain(value) for value in distinct)]
    kinds = {type(value) for value, one in zip(plain, used.tolist(), strict=True) if one and value is not None}
    numeric, boolean = kinds <= {bool, int, float}, kinds == {bool}
    for k, (value, one) in enumerate(zip(plain, used.tolist(), strict=True)):
        if one and value is not None and numeric:
            value = value if boolean else plain_number(_float(value))
        elif one and value is not None and not is_category(value):
            raise _no_cell(name, number, int(np.flatnonzero(rows == k - 1)[0]), value)
        places.append(values.setdefault((type(value), value), len(values)) if one else 0)
    return ColumnCells(name, [value for _, value in values], small(np.array(places)[rows + 1], len(values)))


def _used(cells: ColumnCells) -> ColumnCells:
    """Return a column without values that no row has."""
    used = np.bincount(cells.rows, minlength=len(cells.values)) > 0
    if used.all():
        return cells
    values = [value for value, one in zip(cells.values, used.tolist(), strict=True) if one]
    return ColumnCells(cells.name, values, small((np.cumsum(used) - 1)[cells.rows], len(values)), cells.form)


def _distinct_numbers(numbers: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct numbers, ascending and NaN last, and the number of each cell's."""
    missing = np.isnan(numbers)
    some = numbers[~missing] if missing.any() else numbers
    low, high = (some.min(), some.max()) if len(some) else (0.0, 0.0)
    if not np.isfinite(low) or not high - low < MOST_IN_RANGE or (some != np.rint(some)).any():
        values, rows = np.unique(numbers, return_inverse=True)
        return values, rows.reshape(-1)
    places = np.where(missing, high - low + 1, numbers - low).astype(np.intp)
    used = np.flatnonzero(np.bincount(places, minlength=1))
    number = np.zeros(int(high - low) + 2, np.intp)
    number[used] = np.arange(len(used))
    values = used + low
    if missing.any():
        values[-1] = np.nan
    return values, number[places]


def _as_text(name: str, cells: Iterable[Any], form: str) -> ColumnCells:
    """Return cells as text, of a form that stays out of a model."""
    texts = cells_of_objects(name, [None if _is_missing(cell) else str(cell) for cell in cells])
    return ColumnCells(name, texts.values, texts.rows, form)


def _no_cell(name: str, number: int | None, row: int, value: Any) -> TableError:
    where = f"column {name!r}" if number is None else f"column {number} ('x{number}')"
    kind = TableError if isinstance(value, (str, bytes, Number)) else CellTypeError
    return kind(
        f"row {row}, {where}: {quoted(str(value))} is neither a finite number nor a category: the argument must be a "
        "string or a real number. Use NaN or None for a cell that was not observed."
    )


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return float("inf")
