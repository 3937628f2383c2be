"""pandas, polars, Arrow and other frames, through narwhals."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from hiddenbits.data.bits import AllOnes, Bits, Dense
from hiddenbits.data.cell_checks import Blank, check_blank, dense_bits, observed_from_missing
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table, TableError
from hiddenbits.quoting import told


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
        raise TableError(f"{told(error)}. Give each column a unique name.") from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def open_frame(X: Any, request: Request) -> Table:
    """Open a frame of bits; a lazy frame or query is collected."""
    x, observed, names = frame_bits(X, blank=request.blank, threshold=request.threshold)
    return Table(MemorySource(x, observed), names if request.names is None else request.names)


def frame_bits(
    data: Any, *, blank: Blank = "auto", threshold: float | None = None
) -> tuple[Bits, Bits, tuple[str, ...]]:
    """Check a frame, column by column, and return (x, observed, names). Null and NaN are blanks."""
    check_blank(blank)
    frame = opened_frame(data)
    names = tuple(str(name) for name in frame.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"Two columns are called {twice!r}. Give each column a unique name.")
    n, d = frame.shape
    x, missing = np.empty((n, d), np.uint8), np.zeros((n, d), np.uint8)
    for j, name in enumerate(names):
        values = numbers_of(frame[:, j])  # by place: pandas names may be numbers or tuples
        try:
            column, observed = dense_bits(values[:, None], blank="missing", threshold=threshold)
        except TableError as error:
            raise TableError(str(error).replace("column 0", f"column {j} ({name!r})", 1)) from error
        x[:, j] = column.to_dense()[:, 0]
        if not isinstance(observed, AllOnes):
            missing[:, j] = 1 - observed.to_dense()[:, 0]
    if blank == "zero" or not missing.any():
        return Dense(x), AllOnes((n, d)), names
    return Dense(x), observed_from_missing(missing), names


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
