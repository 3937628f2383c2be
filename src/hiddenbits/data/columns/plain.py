"""Named columns of nothing but bits: a plain table, about which nothing has to be said."""

from __future__ import annotations

from collections.abc import Sequence

from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.coded_columns import UNKNOWN, CodedColumn, Coding
from hiddenbits.data.columns.protocol import HeldColumns
from hiddenbits.data.columns.source import held_rows
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def may_be_plain(request: Request) -> bool:
    """Whether columns of bits are bits as they are: nothing was said about them, and no fit has read them otherwise."""
    coded = request.choices or request.coding is not None
    return not coded and (request.threshold is None or request.plain_only)


def plain_column(name: str, request: Request) -> CodedColumn:
    """Return how a column of a plain table is read: 0 and 1 as they are, or numbers above the threshold."""
    return CodedColumn(name, "bits" if request.threshold is None else "above", threshold=request.threshold)


def plain_table(cells: Sequence[ColumnCells], request: Request, *, named: bool) -> Table | None:
    """Return a table of columns in memory that hold nothing but bits; None where some have other values.

    After a fit to such a table, other values are refused.
    """
    if not may_be_plain(request):
        return None
    coding = Coding(tuple(plain_column(column.name, request) for column in cells), named=named)
    known = all(
        how.code_of(key) != UNKNOWN for how, column in zip(coding.columns, cells, strict=True) for key in column.keys
    )
    if not known and not request.plain_only:
        return None
    source = held_rows(HeldColumns(tuple(cells)), coding, missing_is_zero=request.blank == "zero")
    return Table(source, coding.labels if named else None)
