"""From raw columns, whatever they were read from, to a Table."""

from __future__ import annotations

from collections.abc import Sequence

from hiddenbits.data.bits import Dense
from hiddenbits.data.mixed.encode import RawColumn, open_raw
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Table


def open_raw_columns(raw: Sequence[RawColumn], request: Request, frame: str | None = None) -> Table:
    """Return the table that raw columns make up: of bits, or with ``kinds=`` of several kinds.

    Parameters
    ----------
    raw : sequence of RawColumn
        The columns as they were read, each with its name.
    request : Request
        How the table is to be read.
    frame : str, optional
        The kind of frame that the columns come from, such as "pandas"; None for a file.
    """
    table = open_raw(raw, frame, request.kinds or "binary", request.names, named=True)
    if not table.layout.only_bits:
        return table
    x, observed = table.source.read(0, table.shape[0])
    return Table(MemorySource(Dense(x.bits), observed), table.names)
