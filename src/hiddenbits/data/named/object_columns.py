"""Dicts of columns and lists of records."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.columns.gather import cells_of_objects, cells_of_series
from hiddenbits.data.items.objects import columns_of
from hiddenbits.data.named.raw_table import open_decoded
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def open_dict(X: Any, request: Request) -> Table:
    """Open a dict of columns (lists, arrays, series), or a list of dicts."""
    return open_decoded([_cells(*pair) for pair in columns_of(X).items()], request)


def _cells(name: str, column: Any) -> ColumnCells:
    series = nw.from_native(column, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return cells_of_series(name, series)
    return cells_of_objects(name, column.tolist() if isinstance(column, np.ndarray) else list(column))
