"""pandas, polars, Arrow and other frames, through narwhals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, Dense
from hiddenbits.data.cell_checks import Blank, check_blank, check_distinct, dense_bits, observed_from_missing
from hiddenbits.data.columns.gather import cells_of_frame, numbers_of, opened_frame
from hiddenbits.data.columns.open import open_cells
from hiddenbits.data.errors import TableError
from hiddenbits.data.reals import open_reals
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Source, Table


def open_plain_frame(X: Any, request: Request) -> Table:
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


def open_frame(X: Any, request: Request, *, of_file: bool = False) -> Table:
    """Open a frame: as bits, where it holds nothing else; if not, or if something was said about columns, by a look.

    What is made from the table is a frame of the same kind, unless it was read from a file.
    """
    if request.reals:
        return open_reals(X, request)
    if not request.choices and request.coding is None and (request.threshold is None or request.plain_only):
        try:
            return open_plain_frame(X, request)
        except TableError:
            if request.plain_only:
                raise
    frame = opened_frame(X)
    check_distinct([str(name) for name in frame.columns])
    if not all(frame.shape):
        return open_plain_frame(X, request)

    def cut(names: Sequence[str]) -> Source:
        wanted = set(names)
        inside = [j for j, name in enumerate(frame.columns) if str(name) in wanted]
        return open_plain_frame(frame[:, inside].to_native(), request).source

    return open_cells(cells_of_frame(frame), request, frame=None if of_file else frame.implementation.value, cut=cut)
