"""pandas, polars, Arrow and other frames, through narwhals."""

from __future__ import annotations

from typing import Any

from hiddenbits.data.columns.gather import cells_of_frame, opened_frame
from hiddenbits.data.columns.open import open_cells
from hiddenbits.data.reals import open_reals
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def open_frame(X: Any, request: Request, *, from_file: bool = False) -> Table:
    """Open a frame; a lazy frame or query is collected.

    Results are frames of the same library, unless the table was read from a file.
    """
    if request.reals:
        return open_reals(X, request)
    frame = opened_frame(X)
    return open_cells(cells_of_frame(frame), request, frame=None if from_file else frame.implementation.value)
