"""From frames and arrays with columns of several kinds to checked `Cells`: kinds, categories, cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Bytes, Floats, Rows
from hiddenbits.data.bits import AllOnes
from hiddenbits.data.cell_checks import bad_cell, observed_from_missing
from hiddenbits.data.inputs.frames import is_frame, numbers_of, opened_frame
from hiddenbits.data.mixed.cells import Cells, MixedTable, mixed_table
from hiddenbits.data.mixed.layout import (
    FRAMES,
    Category,
    Column,
    Layout,
    asked_kinds,
    asked_orders,
    given_layout,
    is_category,
)
from hiddenbits.data.table import TableError
from hiddenbits.quoting import quoted

LARGEST = 1e100  # squares of larger numbers are none to rely on


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as it was handed in.

    `values` are numbers (blanks are NaN) or, for text and categories, objects (blanks are None). `categories` are those
    that the type of the column declares. `first_row` is the number of the first row, for messages.
    """

    number: int
    name: str
    form: str
    values: AnyArray
    categories: tuple[Category, ...] | None = None
    ordered: bool = False
    first_row: int = 0

    @property
    def is_numeric(self) -> bool:
        """Whether cells are numbers."""
        return self.form in ("bool", "int", "float")

    def refuse(self, reason: str) -> NoReturn:
        """Raise an error that names the column."""
        raise TableError(f"column {self.number} ({self.name!r}): {reason}")


def open_mixed(data: Any, *, kinds: Any = "auto", names: Sequence[str] | None = None) -> MixedTable:
    """Open a frame or array whose columns are of several kinds.

    Parameters
    ----------
    data : frame, or array of shape (rows, columns)
        pandas, polars and Arrow frames; arrays of numbers, text or objects.
    kinds : "auto", str, list, dict or fitted model
        "binary", "real", "nominal" or "ordered": one for all columns, one for each, or by name; by name a list of
        categories, lowest first, makes a column ordered. "auto" infers from types and values: bool, and numbers that
        are all 0 or 1, are binary; other floats are real; text and categorical types are nominal; ordered categorical
        types are ordered. Other integers have to be named. A model has kinds and categories of its own, and cells that
        do not fit are refused.
    names : sequence of str, optional
        Other names for the columns.

    Returns
    -------
    table : MixedTable

    Examples
    --------
    >>> import numpy as np
    >>> open_mixed(np.array([["a", "b"], ["c", "b"]]), kinds="nominal").layout.columns[0].categories
    ('a', 'c')
    """
    raw, frame = raw_columns(data)
    return open_raw(raw, frame, kinds, names)


def open_raw(
    raw: Sequence[RawColumn], frame: str | None, kinds: Any, names: Sequence[str] | None = None, *, named: bool = False
) -> MixedTable:
    """Return the table that columns make up; those of a file may be `named` without being a frame's."""
    raw, layout = described(raw, frame, kinds, names)
    return encode(raw, layout, named=True if named or names is not None else None)


def described(
    raw: Sequence[RawColumn], frame: str | None, kinds: Any, names: Sequence[str] | None
) -> tuple[Sequence[RawColumn], Layout]:
    """Return the columns under the names that were given, and what they are: as a model says, as asked, or inferred."""
    if names is not None:
        if len(names) != len(raw):
            raise TableError(f"{len(names)} names were given for {len(raw)} columns. Give one name for each column.")
        raw = [replace(column, name=name) for column, name in zip(raw, names, strict=True)]
    layout = given_layout(kinds, [column.name for column in raw])
    return raw, inferred_layout(raw, frame, kinds) if layout is None else layout


def raw_columns(data: Any, first_row: int = 0) -> tuple[list[RawColumn], str | None]:
    """Return the columns of a frame or array as they are, and the kind of frame."""
    if is_frame(data):
        frame = opened_frame(data)
        name = frame.implementation.value
        columns = [_of_series(j, str(label), frame[:, j]) for j, label in enumerate(frame.columns)]
        columns = [replace(column, first_row=first_row) for column in columns]
        return columns, name if name in FRAMES else "pandas"
    array = data if isinstance(data, np.ndarray) else np.asarray(data, dtype=object)
    if array.ndim != 2:
        raise TableError(f"Expected a table with rows and columns, got an array with {array.ndim} dimension(s).")
    if np.ma.isMaskedArray(array):
        mask = np.ma.getmaskarray(array)
        array = np.asarray(np.ma.getdata(array))
        blank: Any = np.nan if array.dtype.kind in "biuf" else None
        array = np.where(mask, blank, array)
    return [_of_array(j, f"x{j}", array[:, j]) for j in range(array.shape[1])], None


def _of_series(number: int, name: str, series: Any) -> RawColumn:
    dtype = series.dtype
    if dtype == nw.Boolean:
        return RawColumn(number, name, "bool", np.asarray(numbers_of(series), np.float64))
    if dtype.is_numeric():
        form = "int" if dtype.is_integer() else "float"
        return _of_array(number, name, np.asarray(numbers_of(series)), form)
    if series.implementation.is_pyarrow() and dtype in (nw.String, nw.Categorical):
        return _of_arrow(number, name, series.to_native(), "text" if dtype == nw.String else "categorical")
    if dtype == nw.String or dtype == nw.Object:
        return _of_objects(number, name, series.to_list(), "text")
    if dtype == nw.Categorical or dtype == nw.Enum:
        native = series.to_native()
        if series.implementation.is_pandas_like():
            categories = tuple(_plain(value) for value in native.cat.categories.tolist())
            return _of_objects(number, name, series.to_list(), "categorical", categories, bool(native.cat.ordered))
        if dtype == nw.Enum:  # of polars: a fixed list, which need not be an order
            return _of_objects(number, name, series.to_list(), "enum", tuple(dtype.categories))
        return _of_objects(number, name, series.to_list(), "categorical")
    if dtype == nw.Unknown and series.null_count() == len(series):  # a column of blanks alone may be anything
        return RawColumn(number, name, "float", np.full(len(series), np.nan))
    raise TableError(
        f"column {number} ({name!r}) is of type {dtype}, which is neither a number nor a category. Turn dates into "
        "numbers, or drop the column."
    )


def _of_arrow(number: int, name: str, native: Any, form: str) -> RawColumn:
    """Return an Arrow column of text or categories; Python looks at its distinct values only."""
    encoded = native if form == "categorical" else native.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
    distinct: list[Any] = chunks[0].dictionary.to_pylist() if chunks else []
    codes = [chunk.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False) for chunk in chunks]
    ordered = form == "categorical" and bool(native.type.ordered)
    rows = np.concatenate([np.zeros(0, np.intp), *codes])
    return raw_of_distinct(number, name, [*distinct, None], rows, form, tuple(distinct) if ordered else None, ordered)


def raw_of_distinct(
    number: int,
    name: str,
    values: list[Any],
    rows: AnyArray,
    form: str = "text",
    categories: tuple[Category, ...] | None = None,
    ordered: bool = False,
) -> RawColumn:
    """Return a column of objects from a list of values, and the number of the value of each row."""
    rows = rows.astype(np.intp)
    used = np.bincount(rows, minlength=len(values)) > 0  # a dictionary may list what no row has
    rows = (np.cumsum(used) - 1)[rows]
    found = _of_objects(number, name, [values[k] for k in np.flatnonzero(used)], form, categories, ordered, rows)
    return replace(found, values=found.values[rows])


def raw_column_of(number: int, name: str, values: Sequence[Any]) -> RawColumn:
    """Return a column from Python objects: numbers where all of them are, otherwise text."""
    return _of_objects(number, name, list(values), "text")


def _of_array(number: int, name: str, values: AnyArray, form: str | None = None) -> RawColumn:
    kind = values.dtype.kind
    if kind in "OUS":
        return _of_objects(number, name, values.tolist(), "text")
    if kind not in "biuf":
        raise TableError(f"column {number} ({name!r}) is of type {values.dtype}. Give numbers, text or categories.")
    found = {"b": "bool", "f": "float"}.get(kind, "int") if form is None else form
    return RawColumn(number, name, found, values.astype(np.float64))


def _of_objects(
    number: int,
    name: str,
    values: list[Any],
    form: str,
    categories: tuple[Category, ...] | None = None,
    ordered: bool = False,
    rows: Rows | None = None,
) -> RawColumn:
    """Return a column of Python objects; objects that are all bools or numbers, and categories 0 and 1, are numbers.

    Where the objects are distinct, `rows` has the number of the one in each row, for messages.
    """
    cells = np.empty(len(values), object)
    for row, value in enumerate(values):
        cells[row] = None if _is_blank(value) else _plain(value)
        if cells[row] is not None and not is_category(cells[row]):
            row = row if rows is None else int(np.flatnonzero(rows == row)[0])
            raise TableError(
                f"row {row}, column {number} ({name!r}): {quoted(str(value))} is neither a finite number nor a "
                "category. Use NaN or None for a cell that was not observed."
            )
    seen = {type(value) for value in cells if value is not None}
    numeric = seen <= {bool, int, float}  # a column of blanks alone too: it may be anything
    if numeric and (form == "text" or (seen and set(categories or cells) <= {0, 1, None})):
        numbers = np.array([np.nan if value is None else _number(value) for value in cells], np.float64)
        found = "bool" if seen == {bool} else "int" if int in seen and float not in seen else "float"
        return RawColumn(number, name, found, numbers)
    return RawColumn(number, name, form, cells, categories, ordered)


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return float("inf")


def _is_blank(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def inferred_layout(raw: Sequence[RawColumn], frame: str | None, kinds: Any) -> Layout:
    """Return what the columns are: as asked for, or inferred from types and values."""
    asked, orders = asked_kinds(kinds, [column.name for column in raw]), asked_orders(kinds)
    raw = [replace(column, categories=orders.get(column.name, column.categories)) for column in raw]
    return Layout(tuple(_column_of(column, kind) for column, kind in zip(raw, asked, strict=True)), frame)


def _column_of(raw: RawColumn, asked: str | None) -> Column:
    kind: Any = asked or _inferred_kind(raw)
    if kind in ("binary", "real"):
        return Column(raw.name, kind, (), raw.form if raw.is_numeric else "float")
    if kind == "ordered" and raw.categories is None and not raw.is_numeric:
        raw.refuse(
            f"the order of its categories is not known. List them, lowest first, with kinds={{{raw.name!r}: [...]}}, "
            "or give it an ordered categorical type (pandas: CategoricalDtype(..., ordered=True); polars: Enum)."
        )
    categories = raw.categories if raw.categories is not None else _found_categories(raw)
    return Column(raw.name, kind, categories, raw.form)


def _inferred_kind(raw: RawColumn) -> str:
    if not raw.is_numeric:
        return "ordered" if raw.ordered else "nominal"
    invalid = np.flatnonzero(~((raw.values == 0.0) | (raw.values == 1.0) | np.isnan(raw.values)))
    if len(invalid) == 0:
        return "binary"
    if raw.form != "int":
        return "real"
    row = int(invalid[0])
    found = float(raw.values[row])
    whole = int(found) if found.is_integer() else found  # one beyond all floats is infinite
    raise TableError(
        f"row {raw.first_row + row}, column {raw.number} ({raw.name!r}): {quoted(whole)} is not a bit, and "
        f"whole numbers may be measurements or categories. Say which with kinds={{{raw.name!r}: 'real'}} (or "
        "'nominal', or 'ordered'), or leave the column out."
    )


def _found_categories(raw: RawColumn) -> tuple[Category, ...]:
    """Return the categories that the cells show, sorted."""
    if raw.is_numeric:
        values = np.unique(raw.values[~np.isnan(raw.values)])
        if raw.form == "bool":
            return tuple(bool(value) for value in values)
        return tuple(int(value) if value == np.rint(value) and abs(value) < 2**53 else float(value) for value in values)
    found = {value for value in raw.values if value is not None}
    return tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))


def encode(raw: Sequence[RawColumn], layout: Layout, *, named: bool | None = None) -> MixedTable:
    """Return the columns as a table of the given layout; cells that do not fit are refused."""
    cells, missing = encoded_cells(raw, layout)
    observed = observed_from_missing(missing) if missing.any() else AllOnes(cells.shape)
    return mixed_table(cells, observed, named=named)


def encoded_cells(raw: Sequence[RawColumn], layout: Layout) -> tuple[Cells, Bytes]:
    """Return the columns as cells of the given layout, and 1 where a number was not observed."""
    n_rows = len(raw[0].values) if raw else 0
    n_bits, levels = layout.n_bits, layout.levels
    bits, missing = np.zeros((n_rows, n_bits), np.uint8), np.zeros((n_rows, layout.n_numbers), np.uint8)
    real = np.empty((n_rows, len(layout.real_columns)))
    codes = np.empty((n_rows, len(levels)), np.int32)
    first = 0
    for j in layout.bit_columns:
        column, many = layout.columns[j], layout.columns[j].n_bits
        at = np.arange(many)
        code = _bits(raw[j]) if column.kind == "binary" else _codes(raw[j], column)
        bits[:, first : first + many] = code[:, None] > at
        missing[:, first : first + many] = (code[:, None] < at) | (code[:, None] < 0)
        first += many
    for at_real, j in enumerate(layout.real_columns):
        real[:, at_real] = _reals(raw[j])
    missing[:, n_bits : n_bits + real.shape[1]] = np.isnan(real)
    first = n_bits + real.shape[1]
    for c, j in enumerate(layout.nominal_columns):
        codes[:, c] = _codes(raw[j], layout.columns[j])
        missing[:, first : first + levels[c]] = codes[:, [c]] < 0
        first += levels[c]
    for j, column in enumerate(layout.columns):
        if column.has_categories and len(column.categories) == 1:
            _codes(raw[j], column)  # no number stands for it, but a second category would be an error all the same
    return Cells(bits, real, codes, layout), missing


def _bits(raw: RawColumn) -> NDArray[np.int64]:
    """Return 0, 1, and -1 for a blank."""
    values = raw.values
    if not raw.is_numeric:
        row = next((row for row, value in enumerate(values) if value is not None), None)
        if row is not None:
            _refuse_cell(raw, row)
        return np.full(len(values), -1)
    blank = np.isnan(values)
    invalid = np.flatnonzero(~((values == 0.0) | (values == 1.0) | blank))
    if len(invalid):
        _refuse_cell(raw, int(invalid[0]))
    return np.where(blank, -1, np.nan_to_num(values)).astype(np.int64)


def _refuse_cell(raw: RawColumn, row: int) -> NoReturn:
    error = bad_cell(raw.values[row], raw.first_row + row, 0, (raw.name,), None)
    raise TableError(str(error).replace("column 0", f"column {raw.number}", 1))


def _reals(raw: RawColumn) -> Floats:
    """Return numbers, NaN for a blank."""
    if not raw.is_numeric:
        row = next((row for row, value in enumerate(raw.values) if value is not None), None)
        if row is not None:
            where = f"row {raw.first_row + row}"
            raw.refuse(f"{quoted(raw.values[row])} in {where} is not a number, so the column cannot be real.")
        return np.full(len(raw.values), np.nan)
    invalid = np.flatnonzero(np.abs(np.nan_to_num(raw.values, nan=0.0, posinf=np.inf, neginf=-np.inf)) > LARGEST)
    if len(invalid):
        row = int(invalid[0])
        raw.refuse(
            f"{quoted(raw.values[row])} in row {raw.first_row + row} is infinite or too large. Use NaN for a cell "
            "that was not observed."
        )
    return np.asarray(raw.values, np.float64)


def _codes(raw: RawColumn, column: Column) -> NDArray[np.int64]:
    """Return the number of each cell's category, -1 for a blank."""
    if raw.is_numeric:
        values = raw.values
        found, inverse = np.unique(values, return_inverse=True)
        known = {value: code for code, value in enumerate(column.categories)}
        table = np.array([-1 if np.isnan(value) else known.get(float(value), -2) for value in found], np.int64)
        codes = table[inverse] if len(values) else np.zeros(0, np.int64)
    else:
        known = {value: code for code, value in enumerate(column.categories)}
        codes = np.array([-1 if value is None else known.get(value, -2) for value in raw.values], np.int64)
    unknown = np.flatnonzero(codes == -2)
    if len(unknown):
        row = int(unknown[0])
        listed = ", ".join(map(quoted, column.categories[:8])) + (", ..." if len(column.categories) > 8 else "")
        raise TableError(
            f"row {raw.first_row + row}, column {raw.number} ({raw.name!r}): {quoted(raw.values[row])} is not among "
            f"the categories of the fit: {listed}. Make the cell blank, or fit again with this category."
        )
    return codes
