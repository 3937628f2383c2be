"""What may be named: differences between two sets of rows that are large, common and certain enough.

Two sets of rows are compared column by column: a class and all other rows, the two ends of a dimension, rows with a
cause and without. The effect is the difference d of the two shares of 1s, with the standard error

    se = sqrt(p (1 - p) / n + q (1 - q) / m)

where rows count by the probability that they belong to a set, which makes se too large rather than too small. Columns
are ranked by |d| - 2 se, in percentage points: an item that is 40 times as frequent but occurs in one row of a thousand
comes last. A column is named only if

- d is more than two standard errors from 0, and more than chance makes of the largest of so many columns: the normal
  quantile at 0.025 divided by their number; at least 2 percentage points, and a quarter of the largest d;
- both sets, and the 1s in the set with more of them, count at least 20 rows. In tables with fewer than 200 rows it is
  a tenth of the rows, at least 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from hiddenbits.array_types import Floats

LEAST_ROWS, SMALLEST = 20, 5
LEAST_DIFFERENCE, LEAST_SHARE = 0.02, 0.25  # of an effect: in percentage points, and of the largest
ERRORS = 2.0  # standard errors that an effect must exceed at least
CHANCE = 0.025  # number of columns that chance would name in one direction


def least_rows(n_rows: int) -> int:
    """Return the number of rows on which an effect has to rest, in a table of this size.

    Examples
    --------
    >>> least_rows(10_000), least_rows(101), least_rows(30)
    (20, 10, 5)
    """
    return min(LEAST_ROWS, max(SMALLEST, n_rows // 10))


def chance_edge(n_columns: int) -> float:
    """Return the standard errors that the largest of so many effects exceeds by chance in 0.025 of all tables."""
    return max(ERRORS, float(norm.isf(CHANCE / n_columns)))


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two sets of rows: the numbers of their observed cells and of 1s, by column; (2, columns)."""

    ones: Floats
    observed: Floats

    @property
    def shares(self) -> Floats:
        """Share of 1s of both sets, (2, columns); NaN where a set has no observed cell."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.ones / self.observed)

    @property
    def difference(self) -> Floats:
        """Difference of the shares."""
        return np.asarray(self.shares[0] - self.shares[1])

    @property
    def errors(self) -> Floats:
        """Standard errors of the differences; one row is added to each set, so that a share of 0 is not certain."""
        share = (self.ones + 0.5) / (self.observed + 1.0)
        return np.asarray(np.sqrt((share * (1.0 - share) / np.maximum(self.observed, 1e-9)).sum(axis=0)))

    def named(self, least: int) -> list[int]:
        """Return the columns that may be named, those with the largest effect first."""
        d, error = np.nan_to_num(self.difference), np.nan_to_num(self.errors, nan=np.inf)
        supported = (self.observed.min(axis=0) >= least) & (np.where(d > 0, self.ones[0], self.ones[1]) >= least)
        sure = supported & (np.abs(d) > chance_edge(len(d)) * error) & (np.abs(d) >= LEAST_DIFFERENCE)
        sure &= np.abs(d) >= LEAST_SHARE * np.abs(d[sure]).max(initial=0.0)
        rank = np.abs(d) - ERRORS * error
        return [int(j) for j in np.argsort(-rank, kind="stable") if sure[j]]
