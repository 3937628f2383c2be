"""A table of ones and blanks: most often its blanks mean 0, and were taken for cells that nobody looked at."""

from __future__ import annotations

import warnings

from hiddenbits.data import Table
from hiddenbits.data.summary import Summary

ROUNDING = 1e-9  # of weighted sums, which are added in different orders


class NoZerosWarning(UserWarning):
    """The table has ones and blanks but no zeros, so nothing can be learned but that every bit is 1."""


def warn_of_no_zeros(table: Table, summary: Summary) -> None:
    """Warn where a table has blanks and no zeros."""
    cells, observed = float(summary.weight) * table.shape[1], float(summary.observed.sum())
    blanks, zeros = cells - observed, observed - float(summary.ones.sum())
    if table.only_bits and observed > 0.0 and blanks > ROUNDING * cells and zeros <= ROUNDING * observed:
        warnings.warn(
            f"The table has ones and blanks ({blanks / cells:.1%} of all cells) but no zeros, and blanks count as not "
            "observed: the model can only learn that every bit is 1. If a blank means 0 here, open the table with "
            "open_table(..., blank='zero').",
            NoZerosWarning,
            stacklevel=3,
        )
