"""The test that a difference between two sets of rows must pass to be named in a finding.

Two sets of rows are compared column by column: a class and all other rows, the two ends of a dimension, rows with a
cause and without. The effect is the difference d of the two shares of 1s, with the standard error

    se = sqrt(p (1 - p) / n + q (1 - q) / m)

where each row is weighted by the probability that it belongs to a set; this makes se too large rather than too small.
Columns are ranked by |d| - 2 se, in percentage points: an item that is 40 times as frequent but occurs in one row of a
thousand comes last. A column is named only if

- |d| exceeds two standard errors, and also the normal quantile of 0.025 divided by the number of columns, because the
  largest of many differences is large by chance; and |d| is at least 2 percentage points and a quarter of the largest;
- both sets have at least 20 rows, and the set with more 1s has at least 20 of them. In tables with fewer than 200 rows
  the minimum is a tenth of the rows, but at least 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from hiddenbits.array_types import Floats

MIN_ROWS, MIN_ROWS_SMALL_TABLE = 20, 5
MIN_DIFFERENCE, MIN_SHARE_OF_LARGEST = 0.02, 0.25  # of |d|: as a share of the rows, and relative to the largest
MIN_ERRORS = 2.0  # standard errors that |d| must exceed
FALSE_POSITIVES = 0.025  # expected number of columns named by chance, in each direction


def least_rows(n_rows: int) -> int:
    """Return the minimum number of rows in each set, for a table of this size.

    Examples
    --------
    >>> least_rows(10_000), least_rows(101), least_rows(30)
    (20, 10, 5)
    """
    return min(MIN_ROWS, max(MIN_ROWS_SMALL_TABLE, n_rows // 10))


def chance_limit(n_columns: int) -> float:
    """Return the standard errors that the largest of `n_columns` differences exceeds by chance in 2.5% of tables."""
    return max(MIN_ERRORS, float(norm.isf(FALSE_POSITIVES / n_columns)))


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two sets of rows: the number of 1s and of observed cells in each column, both (2, columns)."""

    ones: Floats
    observed: Floats

    @property
    def shares(self) -> Floats:
        """Share of 1s in each set, (2, columns); NaN if a set has no observed cell in the column."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.ones / self.observed)

    @property
    def difference(self) -> Floats:
        """Difference d of the shares in each column."""
        return np.asarray(self.shares[0] - self.shares[1])

    @property
    def errors(self) -> Floats:
        """Standard errors of the differences; one row is added to each set, so that no error is 0."""
        share = (self.ones + 0.5) / (self.observed + 1.0)
        return np.asarray(np.sqrt((share * (1.0 - share) / np.maximum(self.observed, 1e-9)).sum(axis=0)))

    def named(self, min_rows: int) -> list[int]:
        """Return the columns that pass the test, the largest |d| - 2 se first."""
        d, se = np.nan_to_num(self.difference), np.nan_to_num(self.errors, nan=np.inf)
        supported = (self.observed.min(axis=0) >= min_rows) & (np.where(d > 0, self.ones[0], self.ones[1]) >= min_rows)
        clear = supported & (np.abs(d) > chance_limit(len(d)) * se) & (np.abs(d) >= MIN_DIFFERENCE)
        clear &= np.abs(d) >= MIN_SHARE_OF_LARGEST * np.abs(d[clear]).max(initial=0.0)
        rank = np.abs(d) - MIN_ERRORS * se
        return [int(j) for j in np.argsort(-rank, kind="stable") if clear[j]]
