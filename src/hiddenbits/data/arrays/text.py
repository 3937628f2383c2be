"""Arrays and lists of rows of text, or about whose columns something was said: named columns without names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hiddenbits.data.arrays.dense import as_array
from hiddenbits.data.arrays.dense import open_array as open_plain
from hiddenbits.data.coding.coded_columns import CodedColumn, Coding
from hiddenbits.data.columns.gather import cells_of_array
from hiddenbits.data.columns.open import open_cells
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def open_text_array(X: Any, request: Request) -> Table:
    """Open an array or a list of rows of text, or about whose columns something was said."""
    request = replace(request, levels=False)  # in an array 0 and 1 are binary; all else has its type in column_types=
    array = as_array(X)
    if array.ndim == 2 and not array.size:
        return open_plain(array.astype(float), request)
    cells = cells_of_array(array)
    if request.plain_only:
        request = replace(request, coding=Coding(tuple(CodedColumn(column.name) for column in cells), named=False))
        return replace(open_cells(cells, request, named=False), read_as=None)
    return open_cells(cells, request, named=False)
