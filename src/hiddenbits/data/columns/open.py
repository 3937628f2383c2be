"""Named columns of any origin become a Table: their profiles, a plan, coded rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.coding.cells import ColumnCells, KeptColumn
from hiddenbits.data.coding.coded_columns import FRAMES, CodedColumn, Coding, ReadColumns
from hiddenbits.data.columns.describe import ColumnDescription
from hiddenbits.data.columns.gather import MAX_COUNTED
from hiddenbits.data.columns.plan import plan
from hiddenbits.data.columns.profiles import profile_columns
from hiddenbits.data.columns.protocol import ColumnOnDisk, Columns, HeldColumns
from hiddenbits.data.columns.shape import refuse_totals
from hiddenbits.data.columns.source import CodedSource, mask_of, warn_of_unknown
from hiddenbits.data.file_request import check_shape
from hiddenbits.data.masks import Mask
from hiddenbits.data.request import Request
from hiddenbits.data.table import MemorySource, Source, Table
from hiddenbits.exceptions import TableError


def open_cells(
    cells: Sequence[ColumnCells], request: Request, *, named: bool = True, frame: str | None = None
) -> Table:
    """Return a table from columns in memory.

    Parameters
    ----------
    cells : sequence of ColumnCells
        The columns.
    request : Request
        How the table is to be read.
    named : bool
        Whether the columns have names of their own.
    frame : str, optional
        The library of the frame that the columns come from, such as "pandas"; None for a file.
    """
    names = [column.name for column in cells]
    check_distinct(names)
    check_shape(len(cells[0]) if cells else 0, len(cells))
    if request.names is not None:
        check_names(request.names, len(cells))
        check_distinct(request.names)
        names, named = list(request.names), True
    if request.coding is None and not request.plain_only:
        refuse_totals(cells, offers=request.offers)
    return open_columns(HeldColumns(dict(zip(names, cells, strict=True))), request, named=named, frame=frame)


def open_columns(columns: Columns, request: Request, *, named: bool = True, frame: str | None = None) -> Table:
    """Return a table from named columns: by the coding of a fit, or by their profiles and the user's options.

    Parameters
    ----------
    columns : Columns
        Where the rows are.
    request : Request
        How the table is to be read.
    named : bool
        Whether the columns have names of their own.
    frame : str, optional
        The library of the frame that they come from.
    """
    held = columns.by_name if isinstance(columns, HeldColumns) else {}
    is_decided = request.coding is not None or request.plain_only
    profiles = profile_columns(columns, max_values=math.inf if held else MAX_COUNTED) if held or not is_decided else {}
    if request.coding is not None:
        request.coding.check_columns(columns.names)
        if request.handle_unknown == "missing":
            warn_of_unknown(request.coding, columns, profiles)
        mask = mask_of(request.coding, profiles, columns.n_rows)
        return _table(columns, request.coding, request, mask, named=named)
    if request.plain_only or (may_be_plain(request) and all(profile.is_bits for profile in profiles.values())):
        mask = mask_of(plain_coding(columns.names, request), profiles, columns.n_rows)
        return open_bits(columns, request, mask, named=named)
    column_plan = plan(profiles, columns, request, named=named, held=held)
    column_plan.warn(levels=request.levels)
    coding = replace(column_plan.coding, frame=frame if frame in FRAMES else None)
    mask = mask_of(coding, profiles, columns.n_rows)
    table = _table(columns, coding, request, mask, named=named, descriptions=column_plan.descriptions)
    if request.threshold is not None and not (request.choices or coding.excluded or column_plan.recoded):
        return replace(table, read_as=None)  # one threshold for all columns of numbers
    return table


def open_bits(columns: Columns, request: Request, mask: tuple[Mask, float], *, named: bool = True) -> Table:
    """Return a table of columns that hold bits, or numbers that are 1 above the threshold."""
    table = _table(columns, plain_coding(columns.names, request), request, mask, named=named)
    return replace(table, read_as=None)


def may_be_plain(request: Request) -> bool:
    """Whether columns of bits can be read as they are: without options for columns, and without the coding of a fit."""
    coded = request.choices or request.coding is not None
    return not coded and (request.threshold is None or request.plain_only)


def plain_column(name: str, request: Request) -> CodedColumn:
    """Return how a column of a plain table is read: 0 and 1 as they are, or numbers above the threshold."""
    return CodedColumn(name, "binary" if request.threshold is None else "above", threshold=request.threshold)


def plain_coding(names: Sequence[str], request: Request) -> Coding:
    """Return how the columns of a plain table are read."""
    return Coding(tuple(plain_column(name, request) for name in names))


def _table(
    columns: Columns,
    coding: Coding,
    request: Request,
    mask: tuple[Mask, float],
    *,
    named: bool,
    descriptions: tuple[ColumnDescription, ...] = (),
) -> Table:
    """Return the table of a coding; `mask` is how the observed-mask is stored."""
    applied, unknown_is_missing = coding, request.handle_unknown == "missing"
    if request.empty == "zero":  # then only codes mean a missing value
        zeros = (replace(c, if_missing=0) if c.if_missing is None else c for c in coding.columns)
        applied = replace(coding, columns=tuple(zeros))
        mask = mask if unknown_is_missing or any(column.missing for column in coding.columns) else ("none", 0.0)
    source: Source = CodedSource(columns, applied, *mask, unknown_is_missing)
    if isinstance(columns, HeldColumns):
        source = MemorySource(*source.read(0, columns.n_rows))
    # columns that become bits by one threshold for all do not keep their numbers
    bit_methods = ("binary",) if request.threshold is None else ("binary", "above")
    bit_columns = {column.name for column in coding.columns if column.how in bit_methods}
    cells: dict[str, KeptColumn] = {
        name: columns.cells(name) if isinstance(columns, HeldColumns) else ColumnOnDisk(columns, name)
        for name in columns.names
        if name not in bit_columns
    }
    read_as = ReadColumns(coding.applied_to(columns.names), columns.names, cells, descriptions)
    return Table(source, coding.labels if coding.named and named else None, read_as=read_as)


def check_names(names: Sequence[str], n_columns: int) -> None:
    """Raise an error unless there is one name for each column."""
    if len(names) != n_columns:
        raise TableError(f"{len(names)} names were given for {n_columns} columns. Give one name for each column.")
