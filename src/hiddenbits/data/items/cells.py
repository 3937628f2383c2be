"""Several codes in a cell, such as ``E11.9;I10``: a column for each code, 1 in rows that have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hiddenbits.data.cell_checks import Empty
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.exceptions import TableError


def split_cells(
    columns: Sequence[ColumnCells], split: str | Mapping[str, str], empty: Empty, max_columns: int
) -> list[ColumnCells]:
    """Return columns in which columns of several codes are replaced by a column for each code.

    The new columns are named like the codes if only one column is split and no other column has such a name.

    Parameters
    ----------
    columns : sequence of ColumnCells
        The columns of the file.
    split : str or dict
        The separator of codes: in all columns, or by column name.
    empty : {"auto", "zero", "missing"}
        With "missing", codes are missing in rows with an empty cell; otherwise such rows have no code.
    max_columns : int
        Maximum number of codes of a column.
    """
    names = [column.name for column in columns]
    separators = dict(split) if isinstance(split, Mapping) else dict.fromkeys(names, split)
    for name, separator in separators.items():
        if not isinstance(separator, str) or not separator:
            raise TableError(f"split={split!r}: give the separator of codes, such as ';', or a dict by column.")
        if name not in names:
            raise TableError(f"split= names {name!r}, but the columns are {', '.join(map(repr, names[:10]))}.")
    if isinstance(split, str):
        with_codes = [column.name for column in columns if any(split in str(value or "") for value in column.values)]
        separators = dict.fromkeys(with_codes, split)
    if not separators:
        raise TableError(f"split={split!r}: no cell contains it. Remove split=.")
    columns_with_codes = (column for column in columns if column.name in separators)
    codes = {column.name: _codes(column, separators[column.name], max_columns) for column in columns_with_codes}
    short_names = len(codes) == 1 and not any(
        name in other_codes for other_codes in codes.values() for name in names if name not in codes
    )
    new_columns: list[ColumnCells] = []
    for column in columns:
        if column.name not in codes:
            new_columns.append(column)
            continue
        codes_if_absent = [2 * (key is None and empty == "missing") for key in column.keys]
        for code, numbers in codes[column.name].items():
            indicator = np.array(codes_if_absent, np.uint8)
            indicator[numbers] = 1
            values, rows = np.unique(indicator, return_inverse=True)  # those that occur
            name, rows = code if short_names else f"{column.name}={code}", rows.astype(np.uint8)[column.rows]
            new_columns.append(ColumnCells(name, [(0, 1, None)[k] for k in values], rows))
    return new_columns


def _codes(column: ColumnCells, separator: str, max_columns: int) -> dict[str, list[int]]:
    """Return the sorted codes of a column, each with the numbers of the distinct cells that contain it."""
    cells_of_code: dict[str, list[int]] = {}
    for number, (value, key) in enumerate(zip(column.values, column.keys, strict=True)):
        for code in [] if key is None else {code_text.strip() for code_text in str(value).split(separator)} - {""}:
            cells_of_code.setdefault(code, []).append(number)
    if len(cells_of_code) > max_columns:
        raise TableError(f"column {column.name!r} has more than max_columns={max_columns} codes.")
    return dict(sorted(cells_of_code.items()))
