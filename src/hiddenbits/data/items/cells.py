"""Several codes in a cell, such as ``E11.9;I10``: a column for each code, 1 where a row has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hiddenbits.data.cell_checks import Empty
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.exceptions import TableError


def split_cells(
    columns: Sequence[ColumnCells], split: str | Mapping[str, str], empty: Empty, max_columns: int
) -> list[ColumnCells]:
    """Return columns in which those of several codes have become a column for each code.

    A code's column has its own name where one column is cut and no name is taken.

    Parameters
    ----------
    columns : sequence of ColumnCells
        The columns as they are in the file.
    split : str or dict
        What is between codes: in all cells, or by the name of the column.
    empty : {"auto", "zero", "missing"}
        With "missing", a blank cell says nothing of its codes; otherwise there are none.
    max_columns : int
        The most codes that a column may have.
    """
    names = [column.name for column in columns]
    marks = dict(split) if isinstance(split, Mapping) else dict.fromkeys(names, split)
    for name, mark in marks.items():
        if not isinstance(mark, str) or not mark:
            raise TableError(f"split={split!r}: give what is between codes, such as ';', or a dict by column.")
        if name not in names:
            raise TableError(f"split= names {name!r}, but the columns are {', '.join(map(repr, names[:10]))}.")
    if isinstance(split, str):
        marks = {column.name: split for column in columns if any(split in str(value or "") for value in column.values)}
    if not marks:
        raise TableError(f"split={split!r}: no cell has it. Leave split= out.")
    codes = {column.name: _codes(column, marks[column.name], max_columns) for column in columns if column.name in marks}
    alone = len(codes) == 1 and not any(
        name in found for found in codes.values() for name in names if name not in codes
    )
    out: list[ColumnCells] = []
    for column in columns:
        if column.name not in codes:
            out.append(column)
            continue
        unsaid = [2 * (key is None and empty == "missing") for key in column.keys]
        for code, numbers in codes[column.name].items():
            has = np.array(unsaid, np.uint8)
            has[numbers] = 1
            values, at = np.unique(has, return_inverse=True)  # those that occur
            named = code if alone else f"{column.name}={code}"
            out.append(ColumnCells(named, [(0, 1, None)[k] for k in values], at.astype(np.uint8)[column.rows]))
    return out


def _codes(column: ColumnCells, mark: str, max_columns: int) -> dict[str, list[int]]:
    """Return the codes of a column, sorted, each with the numbers of the distinct cells that have it."""
    found: dict[str, list[int]] = {}
    for number, (value, key) in enumerate(zip(column.values, column.keys, strict=True)):
        for code in [] if key is None else {part.strip() for part in str(value).split(mark)} - {""}:
            found.setdefault(code, []).append(number)
    if len(found) > max_columns:
        raise TableError(f"column {column.name!r} has more than max_columns={max_columns} codes.")
    return dict(sorted(found.items()))
