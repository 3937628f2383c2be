"""Columns of frames, arrays and lists as distinct values, so that Python processes each value, not each cell.

pandas factorizes text, categories have codes, and Arrow's dictionaries and polars' enums number the values that occur.
Cells of mixed types are numbered one by one, by type and value: True, 1 and 1.0 are equal, but displayed differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from numbers import Number
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from hiddenbits.array_types import AnyArray, Bytes, Floats, Rows
from hiddenbits.data.cell_checks import check_form
from hiddenbits.data.coding.cells import ColumnCells, compact, is_category
from hiddenbits.data.coding.vocabulary import plain_number
from hiddenbits.exceptions import CellTypeError, TableError
from hiddenbits.quoting import quoted, redacted

MAX_NUMBER_RANGE = 1 << 16  # whole numbers within such a range are numbered without sorting them
MAX_COUNTED = 2000  # values that are counted one by one; a column with more has ids, numbers, dates or text
SAMPLED_NUMBERS, MANY_NUMBERS = 1024, 256  # numbers are not told apart if of so many cells more than so many differ
MAX_CACHED_VALUES = 32  # values of an Arrow array that are remembered from part to part


def is_frame(data: Any) -> bool:
    """Whether narwhals knows this object as a frame (lazy ones too)."""
    try:
        return isinstance(nw.from_native(data, pass_through=True), (nw.DataFrame, nw.LazyFrame))
    except DuplicateError:
        return True  # a frame, for which `opened_frame` raises an error


def opened_frame(data: Any) -> Any:
    """Return a frame as a narwhals DataFrame; lazy frames are collected."""
    try:
        frame = nw.from_native(data)
    except DuplicateError as error:
        raise TableError(f"{redacted(error)}. Give each column a unique name.") from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def numbers_of(series: Any) -> Any:
    """Return a column as an array in which null is NaN."""
    if series.dtype in (nw.Int128, nw.UInt128) or not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        # NumPy has no such integers; a column of None has no type; cells of anything else are checked one by one
        return np.fromiter(series.to_list(), dtype=object, count=len(series))
    nulls = series.is_null().to_numpy()
    if not np.asarray(nulls).any():
        return np.asarray(series.to_numpy())
    if series.dtype != nw.Float32:  # float32 stays: in another type, a number may be on the other side of a threshold
        series = series.cast(nw.Float64())
    # not fill_null: with pandas it changes the warning filters, which is not safe in several threads
    values = np.array(series.to_numpy(), dtype=np.float32 if series.dtype == nw.Float32 else np.float64)
    values[np.asarray(nulls, dtype=bool)] = np.nan
    return values


def cells_of_frame(frame: Any) -> list[ColumnCells]:
    """Return the columns of a narwhals frame; by position, because names in pandas may be tuples."""
    return [cells_of_series(str(label), frame[:, j]) for j, label in enumerate(frame.columns)]


def cells_of_array(array: AnyArray) -> list[ColumnCells]:
    """Return the columns of an array, named by their positions; an invalid cell raises an error with its position."""
    check_form(array)
    if np.ma.isMaskedArray(array):
        mask, data = np.ma.getmaskarray(array), np.asarray(np.ma.getdata(array))
        missing: Any = np.nan if data.dtype.kind in "biuf" else None
        array = np.where(mask, missing, data)
    kind = array.dtype.kind
    if kind in "biuf":
        return [cells_of_numbers(str(j), column, boolean=kind == "b") for j, column in enumerate(array.T)]
    if kind not in "OUS":
        raise TableError(f"column 0 ('x0') is of type {array.dtype}. Give numbers, text or categories.")
    return [cells_of_objects(str(j), column.tolist(), number=j) for j, column in enumerate(array.T)]


def cells_of_series(name: str, series: Any) -> ColumnCells:
    """Return a column of a frame; as text, of form "date" or "other", if it holds neither numbers nor categories."""
    if series.implementation.is_pyarrow() and not (series.dtype == nw.Boolean or series.dtype.is_numeric()):
        return _drop_unused_values(cells_of_arrow(name, _as_one_array(series.to_native())))
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
        factorized = _factorize(series)
        try:
            return cells_of_objects(name, series.to_list()) if factorized is None else _checked_cells(name, *factorized)
        except TableError:
            pass
    if series.null_count() == len(series):  # a column of missing values alone may be anything
        return ColumnCells(name, [None], np.zeros(len(series), np.uint8))
    return _as_text(name, series.to_list(), "other")


class NumberCells(ColumnCells):
    """A column of many different numbers, NaN where missing: they are told apart only if somebody asks for values."""

    array: AnyArray

    def __init__(self, name: str, array: AnyArray, number: type) -> None:
        self.__dict__.update(name=name, array=array, number=number)

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def _distinct(self) -> tuple[list[Any], AnyArray]:
        return _values_and_rows(self.array)

    @cached_property
    def values(self) -> list[Any]:
        """The distinct values."""
        return self._distinct[0]

    @cached_property
    def rows(self) -> AnyArray:
        """For each row the number of its value."""
        return self._distinct[1]

    def numbers(self) -> Floats:
        """Return the cells, NaN for a missing value."""
        return self.array.astype(np.float64)

    def part(self, start: int = 0, stop: int | None = None) -> NumberCells:
        """Return some rows of the column."""
        return self.take(np.s_[start:stop])

    def take(self, rows: Any) -> NumberCells:
        """Return the given rows of the column."""
        return NumberCells(self.name, self.array[rows], self.number)

    def listed(self, start: int = 0, stop: int | None = None) -> list[Any]:
        """Return the cells of some rows, None for a missing value."""
        cells = self.array[start:stop].astype(np.float64).tolist()
        return [None if cell != cell else plain_number(cell) for cell in cells]

    def examples(self) -> list[Any]:
        """Return a value that shows the type of the column: whole numbers are ints."""
        present = self.array[~np.isnan(self.array)]
        return [0 if (present == np.rint(present)).all() else 0.5]


def cells_of_numbers(name: str, numbers: AnyArray, *, boolean: bool = False) -> ColumnCells:
    """Return a column of numbers, in which NaN and masked cells are missing values; whole numbers are ints."""
    if np.ma.isMaskedArray(numbers):
        numbers = np.ma.filled(numbers if numbers.dtype.kind == "f" else numbers.astype(float), np.nan)
    numbers = np.ascontiguousarray(numbers)  # which a column of a two-dimensional array is not
    kind = numbers.dtype.type if numbers.dtype.kind == "f" else float
    if (bits := _bit_codes(numbers)) is not None:
        values = [False, True] if boolean else [0, 1]
        return ColumnCells(name, values if bits.max(initial=0) <= 1 else [*values, None], bits, number=kind)
    sample = numbers[:: max(1, len(numbers) // SAMPLED_NUMBERS)]
    if len(np.unique(sample[~np.isnan(sample)])) > MANY_NUMBERS:
        return NumberCells(name, numbers, kind)
    return ColumnCells(name, *_values_and_rows(numbers), number=kind)


def _values_and_rows(numbers: AnyArray) -> tuple[list[Any], AnyArray]:
    distinct, rows = _distinct_numbers(np.asarray(numbers, np.float64))
    plain = [None if value != value else plain_number(value) for value in distinct.tolist()]
    return plain, compact(rows, len(plain))


def _bit_codes(numbers: AnyArray) -> Bytes | None:
    """Return bits, and 2 for NaN, if all numbers are bits or NaN: faster than a search for values. Otherwise None."""
    if numbers.dtype == bool:
        return np.minimum(numbers.view(np.uint8), 1)  # to NumPy any byte but 0 is True
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

    An object that is neither a category nor a finite number raises an error, with the position if `number`, the number
    of the column, is given.
    """
    number_of: dict[Any, int] = {}
    try:
        keys = ((cell.__class__, cell) for cell in cells)
        rows = np.fromiter((number_of.setdefault(key, len(number_of)) for key in keys), np.int64, len(cells))
    except TypeError as error:  # lists and dicts have no hash
        row, cell = next((row, cell) for row, cell in enumerate(cells) if cell.__class__.__hash__ is None)
        raise _invalid_cell(name, number, row, cell) from error
    return _checked_cells(name, [value for _, value in number_of], rows, number)


def cells_of_arrow(name: str, array: Any) -> ColumnCells:
    """Return a column from an Arrow array, whose dictionary may list values that no row has."""
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
    elif len(array.dictionary) > max(len(array), MAX_COUNTED):  # that of a whole row group
        array = array.dictionary_decode().dictionary_encode()
    distinct = array.dictionary
    is_small = len(distinct) <= MAX_CACHED_VALUES
    cells = _cached_cells(distinct.type, tuple(distinct.to_pylist())) if is_small else _cells_of_distinct(distinct)
    values, codes = cells.values, array.indices
    numbers = np.append(cells.rows.astype(np.int64), len(values))
    if codes.null_count:
        values, codes = [*values, None], codes.fill_null(len(distinct))
    rows = numbers[codes.to_numpy(zero_copy_only=False)]
    return ColumnCells(name, values, compact(rows, len(values)), cells.form)


def numbers_of_arrow(array: Any) -> AnyArray | None:
    """Return an Arrow array of numbers or booleans in its own type, null masked; None for any other."""
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


def _cells_of_distinct(distinct: Any) -> ColumnCells:
    """Return the cells of Arrow values that are all different, according to their type."""
    import pyarrow as pa

    return _by_type("", nw.from_native(pa.chunked_array([distinct]), series_only=True))


@lru_cache(maxsize=4096)
def _cached_cells(type_: Any, values: tuple[Any, ...]) -> ColumnCells:
    """Return the cells of a few distinct values, cached because every part of the table has the same values."""
    import pyarrow as pa

    return _cells_of_distinct(pa.array(values, type_))


def _as_one_array(column: Any) -> Any:
    """Return the chunks of an Arrow column as one array."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    chunks = column.unify_dictionaries().chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], column.type)


def _factorize(series: Any) -> tuple[list[Any], Rows] | None:
    """Return the distinct values of a column of text or categories, and for each cell the number of its value.

    The number of a missing value is -1. Returns None for columns of mixed types.
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


def _checked_cells(name: str, distinct: Sequence[Any], rows: Rows, number: int | None = None) -> ColumnCells:
    """Return a column from its distinct values, which are checked, and for each row the number of its value.

    If all objects are numbers, True, 1 and 1.0 are one value. -1 is the number of a missing value.
    """
    occurs = np.bincount(rows + 1, minlength=len(distinct) + 1) > 0  # categories may list what no row has
    new_numbers: list[int] = []
    values: dict[Any, int] = {}
    plain = [None, *(None if _is_missing(value) else _to_python(value) for value in distinct)]
    types = {type(value) for value, used in zip(plain, occurs.tolist(), strict=True) if used and value is not None}
    numeric, boolean = types <= {bool, int, float}, types == {bool}
    for k, (value, used) in enumerate(zip(plain, occurs.tolist(), strict=True)):
        if used and value is not None and numeric:
            value = value if boolean else plain_number(_float(value))
        elif used and value is not None and not is_category(value):
            raise _invalid_cell(name, number, int(np.flatnonzero(rows == k - 1)[0]), value)
        new_numbers.append(values.setdefault((type(value), value), len(values)) if used else 0)
    return ColumnCells(name, [value for _, value in values], compact(np.array(new_numbers)[rows + 1], len(values)))


def _drop_unused_values(cells: ColumnCells) -> ColumnCells:
    """Return a column without values that no row has."""
    occurs = np.bincount(cells.rows, minlength=len(cells.values)) > 0
    if occurs.all():
        return cells
    values = [value for value, used in zip(cells.values, occurs.tolist(), strict=True) if used]
    return ColumnCells(cells.name, values, compact((np.cumsum(occurs) - 1)[cells.rows], len(values)), cells.form)


def _distinct_numbers(numbers: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct numbers, ascending and NaN last, and the position of each cell's number among them."""
    missing = np.isnan(numbers)
    present = numbers[~missing] if missing.any() else numbers
    low, high = (present.min(), present.max()) if len(present) else (0.0, 0.0)
    if not np.isfinite(low) or not high - low < MAX_NUMBER_RANGE or (present != np.rint(present)).any():
        values, rows = np.unique(numbers, return_inverse=True)
        return values, rows.reshape(-1)
    offsets = np.where(missing, high - low + 1, numbers - low).astype(np.intp)
    occurring_offsets = np.flatnonzero(np.bincount(offsets, minlength=1))
    positions = np.zeros(int(high - low) + 2, np.intp)
    positions[occurring_offsets] = np.arange(len(occurring_offsets))
    values = occurring_offsets + low
    if missing.any():
        values[-1] = np.nan
    return values, positions[offsets]


def _as_text(name: str, cells: Iterable[Any], form: str) -> ColumnCells:
    """Return cells as text, with the form of a column that does not enter a model."""
    texts = cells_of_objects(name, [None if _is_missing(cell) else str(cell) for cell in cells])
    return ColumnCells(name, texts.values, texts.rows, form)


def _invalid_cell(name: str, number: int | None, row: int, value: Any) -> TableError:
    where = f"column {name!r}" if number is None else f"column {number} ('x{number}')"
    error = TableError if isinstance(value, (str, bytes, Number)) else CellTypeError
    return error(
        f"row {row}, {where}: {quoted(str(value))} is neither a finite number nor a category: the argument must be a "
        "string or a real number. Use NaN or None for a cell that was not observed."
    )


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def _to_python(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return float("inf")
