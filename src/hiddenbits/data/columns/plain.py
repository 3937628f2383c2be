"""Named columns of nothing but bits: a plain table, about which nothing has to be said."""

from __future__ import annotations

from collections.abc import Sequence

from hiddenbits.data.coding.coded_columns import CodedColumn, Coding
from hiddenbits.data.request import Request


def may_be_plain(request: Request) -> bool:
    """Whether columns of bits are bits as they are: nothing was said about them, and no fit has read them otherwise."""
    coded = request.choices or request.coding is not None
    return not coded and (request.threshold is None or request.plain_only)


def plain_column(name: str, request: Request) -> CodedColumn:
    """Return how a column of a plain table is read: 0 and 1 as they are, or numbers above the threshold."""
    return CodedColumn(name, "bits" if request.threshold is None else "above", threshold=request.threshold)


def plain_coding(names: Sequence[str], request: Request) -> Coding:
    """Return how the columns of a plain table are read."""
    return Coding(tuple(plain_column(name, request) for name in names))
