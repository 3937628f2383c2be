"""From named columns, whatever they were read from, to a Table: look, plan, rows of bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.coding.cells import Beside, ColumnCells
from hiddenbits.data.coding.coded_columns import FRAMES, LEVELS, Coding, ReadColumns
from hiddenbits.data.columns.gather import MANY
from hiddenbits.data.columns.look import look
from hiddenbits.data.columns.plain import plain_table
from hiddenbits.data.columns.plan import offers_of, plan
from hiddenbits.data.columns.protocol import Columns, HeldColumns
from hiddenbits.data.columns.shape import refuse_totals
from hiddenbits.data.columns.source import CodedSource, held_rows, mask_of
from hiddenbits.data.errors import TableError
from hiddenbits.data.masks import Mask
from hiddenbits.data.request import Request
from hiddenbits.data.table import Source, Table

Cut = Callable[[Sequence[str]], Source]  # rows of some columns of numbers, cut in the type that they have


def open_cells(
    cells: Sequence[ColumnCells],
    request: Request,
    *,
    named: bool = True,
    frame: str | None = None,
    cut: Cut | None = None,
) -> Table:
    """Return a table from columns in memory.

    Parameters
    ----------
    cells : sequence of ColumnCells
        The columns as they were read.
    request : Request
        How the table is to be read.
    named : bool
        Whether the columns have names of their own.
    frame : str, optional
        The kind of frame that the columns come from, such as "pandas"; None for a file.
    cut : function, optional
        See `open_columns`.
    """
    if request.names is not None:
        check_names(request.names, len(cells))
        cells = [replace(column, name=name) for column, name in zip(cells, request.names, strict=True)]
        named = True
    check_distinct([column.name for column in cells])
    if frame is None and (table := plain_table(cells, request, named=named)) is not None:
        return table
    if request.coding is None:
        refuse_totals(cells, offers=offers_of(request))
    return open_columns(HeldColumns(tuple(cells)), request, named=named, frame=frame, cut=cut)


def open_columns(
    columns: Columns, request: Request, *, named: bool = True, frame: str | None = None, cut: Cut | None = None
) -> Table:
    """Return a table from named columns: by the coding of a fit, or a look and what the user said.

    Parameters
    ----------
    columns : Columns
        Where the rows are.
    request : Request
        How the table is to be read.
    named : bool
        Whether the columns have names of their own.
    frame : str, optional
        The kind of frame that they come from.
    cut : function, optional
        Returns the rows of columns that hold nothing but numbers, cut at the threshold of all columns in the type that
        they have: as a float32, a number may lie on the other side than as a float64.
    """
    if isinstance(request.coding, Coding):
        request.coding.check_columns(columns.names)
        return _table(columns, request.coding, request, ("dense", 0.5), named=named)
    held = columns.columns if isinstance(columns, HeldColumns) else ()
    profiles = look(columns, most=math.inf if held else MANY)
    planned = plan(profiles, request, named=named, held=held)
    planned.say(levels=request.levels)
    coding = replace(planned.coding, frame=frame if frame in FRAMES else None)
    plain = not (request.choices or planned.guessed or request.names)
    if request.threshold is not None and plain and cut is not None:
        table = Table(cut([column.name for column in coding.columns]), coding.labels)
        if not coding.left_out:
            return table
        beside = {name: columns.beside(name) for name in coding.left_out}
        return replace(table, read_as=ReadColumns(coding, columns.names, beside, planned.looks))
    mask = mask_of(coding, profiles, columns.n_rows)
    table = _table(columns, coding, request, mask, named=named)
    assert table.read_as is not None  # noqa: S101
    return replace(table, read_as=replace(table.read_as, looks=planned.looks))


def _table(columns: Columns, coding: Coding, request: Request, mask: tuple[Mask, float], *, named: bool) -> Table:
    zero = request.blank == "zero"
    source: Source
    if isinstance(columns, HeldColumns):
        source = held_rows(columns, coding, missing_is_zero=zero)
    else:
        source = CodedSource(columns, coding, *(("none", 0.0) if zero else mask), zero)
    # numbers are kept where code= cut them; with a threshold for all of them the table is one of bits
    keeps = ("values", "one-hot", "above", *LEVELS) if request.threshold is None else ("values", "one-hot", *LEVELS)
    inside = {column.name: column.how in keeps for column in coding.columns}
    beside: dict[str, Beside] = {name: columns.beside(name) for name in columns.names if inside.get(name, True)}
    read_as = ReadColumns(coding.applied_to(columns.names), columns.names, beside)
    return Table(source, coding.labels if coding.named and named else None, read_as=read_as)


def check_names(names: Sequence[str], n_columns: int) -> None:
    """Refuse names that are not one for each column."""
    if len(names) != n_columns:
        raise TableError(f"{len(names)} names were given for {n_columns} columns. Give one name for each column.")
