"""Dicts of columns and lists of records."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.columns.gather import cells_of_objects, cells_of_series
from hiddenbits.data.columns.open import open_cells
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError


def is_columns(X: Any) -> bool:
    """Whether an object is a dict of columns."""
    if not isinstance(X, Mapping) or hasattr(X, "shape"):  # SciPy's dok_array is a mapping, too
        return False
    return len(X) > 0 and all(_is_column(column) for column in X.values())


def is_records(X: Any) -> bool:
    """Whether an object is a list of dicts, one per row, with at least one cell in all."""
    return isinstance(X, (list, tuple)) and all(isinstance(row, Mapping) for row in X) and any(X)


def open_dict(X: Any, request: Request) -> Table:
    """Open a dict of columns (lists, arrays, series), or a list of dicts, some of which may lack keys."""
    if not isinstance(X, Mapping):
        keys = dict.fromkeys(key for row in X for key in row)
        X = {key: [row.get(key) for row in X] for key in keys}
    first, *others = cells = [_cells(str(name), column) for name, column in X.items()]
    for column in others:
        if len(column.rows) != len(first.rows):
            raise TableError(
                f"Column {column.name!r} has {len(column.rows)} cells, but {first.name!r} has {len(first.rows)}. Give "
                "all columns the same length."
            )
    return open_cells(cells, request)


def _cells(name: str, column: Any) -> ColumnCells:
    series = nw.from_native(column, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return cells_of_series(name, series)
    return cells_of_objects(name, column.tolist() if isinstance(column, np.ndarray) else list(column))


def _is_column(column: Any) -> bool:
    if isinstance(column, (str, bytes, Mapping, Set)) or not hasattr(column, "__len__"):
        return False
    return getattr(column, "ndim", 1) == 1 and (hasattr(column, "__iter__") or hasattr(column, "__array__"))
