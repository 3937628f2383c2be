"""Checks for tables with too little to learn from: no recorded cell, columns without recorded cells, no 0s."""

from __future__ import annotations

import warnings

import numpy as np

from hiddenbits.data import Table
from hiddenbits.data.summary import ColumnSums
from hiddenbits.exceptions import NoZerosWarning, TableError, UnobservedColumnsWarning

ROUNDING = 1e-9  # relative, of weighted sums, which are added in different orders
MAX_NAMED = 5  # columns in a message


def check_recorded_cells(table: Table, summary: ColumnSums) -> None:
    """Refuse a table without recorded cells; warn if columns have none, or if there are missing values but no 0s."""
    weight = float(summary.weight)
    recorded = summary.recorded(table.layout)
    of_columns = np.concatenate([recorded[table.layout.starts], summary.number_weights])
    unrecorded = np.flatnonzero(of_columns <= ROUNDING * weight)
    if len(unrecorded) == table.n_columns:
        raise no_cell_recorded()
    if len(unrecorded):
        _warn_of_columns(table, unrecorded)
    cells, observed = weight * table.shape[1], float(recorded.sum())
    missing, zeros = cells - observed, observed - float(summary.ones.sum())
    if table.only_bits and missing > ROUNDING * cells and zeros <= ROUNDING * observed:
        warnings.warn(
            f"The table has 1s and missing values ({missing / cells:.1%} of all cells) but no 0s, so a model can only "
            "learn that every cell is 1. If an empty cell means 0, open the table with open_table(..., empty='zero').",
            NoZerosWarning,
            stacklevel=4,
        )


def no_cell_recorded() -> TableError:
    """Return the error of a table whose cells are all missing."""
    return TableError(
        "No cell of the table is recorded: all cells are missing, not counting rows of weight 0, so there is nothing "
        "to learn from. Check how missing values are coded, and which rows and columns were selected."
    )


def _warn_of_columns(table: Table, unrecorded: np.ndarray) -> None:
    """Warn of columns about which nothing can be learned."""
    names = table.column_names
    named = ", ".join(str(j) if names is None else repr(names[j]) for j in unrecorded[:MAX_NAMED])
    more = f" and {len(unrecorded) - MAX_NAMED:,} more" if len(unrecorded) > MAX_NAMED else ""
    warnings.warn(
        f"{len(unrecorded):,} of {table.n_columns:,} columns have no recorded cell, not counting rows of weight 0: "
        f"{named}{more}. Nothing can be learned about them: estimates come from the prior or the starting values. "
        "Exclude them.",
        UnobservedColumnsWarning,
        stacklevel=5,
    )
