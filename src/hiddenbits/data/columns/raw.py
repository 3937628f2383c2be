"""Columns as they were handed in, before anything is made of them: numbers, or text and categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.array_types import AnyArray, Rows
from hiddenbits.data.inputs.frames import is_frame, numbers_of, opened_frame
from hiddenbits.data.table import TableError
from hiddenbits.quoting import quoted

Category = str | int | float | bool

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def is_category(value: Any) -> bool:
    """Whether this may be the name of a category: text or a finite number."""
    return isinstance(value, (str, bool, int)) or (isinstance(value, float) and abs(value) < float("inf"))


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as it was handed in.

    `values` are numbers (blanks are NaN) or, for text and categories, objects (blanks are None).
    """

    number: int
    name: str
    form: str
    values: AnyArray

    @property
    def is_numeric(self) -> bool:
        """Whether cells are numbers."""
        return self.form in ("bool", "int", "float")


def raw_columns(data: Any) -> tuple[list[RawColumn], str | None]:
    """Return the columns of a frame or array as they are, and the kind of frame."""
    if is_frame(data):
        frame = opened_frame(data)
        name = frame.implementation.value
        columns = [_of_series(j, str(label), frame[:, j]) for j, label in enumerate(frame.columns)]
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
    rows = np.concatenate([np.zeros(0, np.intp), *codes])
    return _of_distinct(number, name, [*distinct, None], rows.astype(np.intp), form)


def _of_distinct(number: int, name: str, values: list[Any], rows: Rows, form: str) -> RawColumn:
    """Return a column of objects from a list of values, and the number of the value of each row."""
    used = np.bincount(rows, minlength=len(values)) > 0  # a dictionary may list what no row has
    rows = (np.cumsum(used) - 1)[rows]
    found = _of_objects(number, name, [values[k] for k in np.flatnonzero(used)], form, rows)
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
    if numeric and (form == "text" or (seen and set(cells) <= {0, 1, None})):
        numbers = np.array([np.nan if value is None else _number(value) for value in cells], np.float64)
        found = "bool" if seen == {bool} else "int" if int in seen and float not in seen else "float"
        return RawColumn(number, name, found, numbers)
    return RawColumn(number, name, form, cells)


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
