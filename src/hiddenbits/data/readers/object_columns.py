"""Dicts of columns and lists of records, as raw columns."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from hiddenbits.data.columns.raw import RawColumn, raw_column_of, raw_columns
from hiddenbits.data.readers.objects import columns_of
from hiddenbits.data.readers.raw_table import open_decoded
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def open_dict(X: Any, request: Request) -> Table:
    """Open a dict of columns (lists, arrays, series), or a list of dicts."""
    return open_decoded([_raw(j, *pair) for j, pair in enumerate(columns_of(X).items())], request)


def _raw(number: int, name: str, column: Any) -> RawColumn:
    """Return one column."""
    series = nw.from_native(column, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        found = raw_columns(series.alias(name).to_frame().to_native())[0][0]
        return RawColumn(number, name, found.form, found.values)
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)  # of masked cells None
    return raw_column_of(number, name, values)
