"""Columns that a library decoded, as a table: numbers by the rules for arrays, all else by what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenbits.data.cell_checks import dense_bits
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.columns import open_cells
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import check_shape
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table


def open_decoded(columns: Sequence[ColumnCells], request: Request) -> Table:
    """Return the table of some columns: as bits, where they are nothing else; if not, by a look at the columns."""
    check_shape(len(columns[0].rows) if columns else 0, len(columns))
    said = request.choices or request.coding is not None
    if not said and (request.threshold is None or request.plain_only) and all(one.is_numeric for one in columns):
        names = tuple(column.name for column in columns) if request.names is None else request.names
        cells = np.column_stack([column.numbers() for column in columns])
        try:
            return Table(
                MemorySource(*dense_bits(cells, blank=request.blank, threshold=request.threshold, names=names)), names
            )
        except TableError:
            if request.plain_only:
                raise
    return open_cells(columns, request)
