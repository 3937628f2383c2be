"""Whether a table has recorded cells to learn from: no cell, columns without one, or ones without zeros."""

from __future__ import annotations

import warnings

import numpy as np

from hiddenbits.data import Table
from hiddenbits.data.summary import ColumnSums
from hiddenbits.exceptions import NoZerosWarning, TableError, UnobservedColumnsWarning

ROUNDING = 1e-9  # of weighted sums, which are added in different orders
NAMED = 5  # columns that a message names


def check_recorded_cells(table: Table, summary: ColumnSums) -> None:
    """Refuse a table without recorded cells; warn where columns have none, or blanks stand where zeros should."""
    weight = float(summary.weight)
    recorded = summary.recorded(table.layout)
    unrecorded = np.flatnonzero(recorded[table.layout.starts] <= ROUNDING * weight)
    if len(unrecorded) == table.n_columns:
        raise no_cell_recorded()
    if len(unrecorded):
        _warn_of_columns(table, unrecorded)
    cells, observed = weight * table.shape[1], float(recorded.sum())
    blanks, zeros = cells - observed, observed - float(summary.ones.sum())
    if table.only_bits and blanks > ROUNDING * cells and zeros <= ROUNDING * observed:
        warnings.warn(
            f"The table has ones and blanks ({blanks / cells:.1%} of all cells) but no zeros, and blanks count as not "
            "observed: the model can only learn that every bit is 1. If a blank means 0 here, open the table with "
            "open_table(..., empty='zero').",
            NoZerosWarning,
            stacklevel=4,
        )


def no_cell_recorded() -> TableError:
    """Return the error of a table whose cells are all missing."""
    return TableError(
        "No cell of the table is recorded: all cells are missing, not counting rows of weight 0, so there is nothing "
        "to learn from. Check how missing values are marked, and which rows and columns were chosen."
    )


def _warn_of_columns(table: Table, unrecorded: np.ndarray) -> None:
    """Warn that nothing is learned about columns."""
    names = table.column_names
    named = ", ".join(str(j) if names is None else repr(names[j]) for j in unrecorded[:NAMED])
    more = f" and {len(unrecorded) - NAMED:,} more" if len(unrecorded) > NAMED else ""
    warnings.warn(
        f"{len(unrecorded):,} of {table.n_columns:,} columns have no recorded cell, not counting rows of weight 0: "
        f"{named}{more}. Nothing is learned about them, so what the model says about them comes from its prior or its "
        "start. Leave them out.",
        UnobservedColumnsWarning,
        stacklevel=5,
    )
