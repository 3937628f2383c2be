"""Columns that a library decoded, as a table: numbers by the rules for arrays, all else by what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.data.cell_checks import bad_cell, dense_bits
from hiddenbits.data.columns import open_raw_columns
from hiddenbits.data.mixed.encode import RawColumn
from hiddenbits.data.readers.request import check_shape
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table, TableError


def open_decoded(raw: Sequence[RawColumn], request: Request) -> Table:
    """Return the table of some columns; ``threshold=`` and ``blank=`` mean what they mean for arrays."""
    check_shape(len(raw[0].values) if raw else 0, len(raw))
    if request.kinds is None:
        words = next((column for column in raw if not column.is_numeric), None)
        if words is None:
            names = tuple(column.name for column in raw) if request.names is None else request.names
            cells = np.column_stack([column.values for column in raw])
            try:
                bits = dense_bits(cells, blank=request.blank, threshold=request.threshold, names=names)
            except TableError:
                if request.threshold is not None:
                    raise
            else:
                return Table(MemorySource(*bits), names)
        elif request.threshold is not None:
            row = next((row for row, value in enumerate(words.values) if value is not None), 0)
            error = bad_cell(words.values[row], row, 0, (words.name,), request.threshold)
            raise TableError(str(error).replace("column 0", f"column {words.number}", 1))
    return open_raw_columns(raw, request, None)
