"""The 2 x 2 tables of all pairs of columns, counted in one pass, with or without missing values.

    both_ij = Sum_n w_n x_ni x_nj      ones_ij = Sum_n w_n x_ni o_nj      seen_ij = Sum_n w_n o_ni o_nj

x is 0 if a cell is missing, so that `ones` counts the 1s of column i in the rows in which j was observed, too. Without
missing values `ones` has one column and `seen` one cell: they broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import AllOnes, Arrays, Block
from hiddenbits.exceptions import TableError
from hiddenbits.maths.cooccurrence import co_counts

MOST_COLUMNS = 20_000  # for these a matrix of columns x columns takes 3.2 GB


# Numbers of cells and rows in a block. The statistics of a wide table are larger than its blocks: 32 MB for 2,048
# columns. So blocks are as tall as memory allows; writing the statistics then takes a tenth of the time of counting.
BLOCK_CELLS = 1 << 27
SHORTEST, TALL, TALLEST = 1 << 13, 1 << 16, 1 << 20
ROUNDING_SHARE = 1e-11  # of the total: smaller counts are only rounding errors


class TwoByTwoTables(NamedTuple):
    """The four cells of 2 x 2 tables, as weights of rows; in `one_zero` the first column is 1 and the second 0."""

    one_one: Floats
    one_zero: Floats
    zero_one: Floats
    zero_zero: Floats

    @property
    def total(self) -> Floats:
        """Weight of the rows in which both were observed."""
        return self.one_one + self.one_zero + self.zero_one + self.zero_zero


@dataclass(frozen=True, eq=False)
class PairCounts(Arrays):
    """Weighted counts of all pairs of columns; they add up over blocks.

    Attributes
    ----------
    both : ndarray of shape (columns, columns)
        Weight of the rows in which both columns are 1.
    ones : ndarray of shape (columns, columns), or (columns, 1) without missing values
        Weight of the rows in which column i is 1 and column j was observed.
    seen : ndarray of shape (columns, columns), or (1, 1) without missing values
        Weight of the rows in which both were observed.
    """

    both: Annotated[Floats, "d d"]
    ones: Annotated[Floats, "d [d]"]
    seen: Annotated[Floats, "[d] [d]"]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.both)

    @property
    def column_ones(self) -> Floats:
        """Weight of the rows in which each column is 1."""
        return np.diagonal(self.both)

    @property
    def column_seen(self) -> Floats:
        """Weight of the rows in which each column was observed."""
        return np.broadcast_to(np.diagonal(self.seen), (self.n_columns,))

    def cells(self, rows: slice, columns: slice) -> TwoByTwoTables:
        """Return the 2 x 2 tables of some columns (`rows`) with others (`columns`).

        Sums of weights that are not whole numbers are rounded, so that an empty cell may be slightly above or below 0:
        counts below `ROUNDING_SHARE` of the total are set to 0.
        """
        d = self.n_columns
        both, observed = self.both[rows, columns], np.broadcast_to(self.seen, (d, d))[rows, columns]
        ones = np.broadcast_to(self.ones, (d, d))
        first, second = ones[rows, columns], ones[columns, rows].T
        cells = TwoByTwoTables(both, first - both, second - both, observed - first - second + both)
        rounding = ROUNDING_SHARE * observed
        return TwoByTwoTables(*(np.where(cell > rounding, cell, 0.0) for cell in cells))


def block_rows(n_columns: int, row_cells: float) -> int:
    """Return the number of rows in a block, a power of two; `row_cells` is the number of stored cells per row.

    Blocks of sparse tables are taller, because rows with few 1s are counted faster.
    """
    tall = min(max(TALL, 40.0 * (n_columns / max(row_cells, 1.0)) ** 2), TALLEST)
    rows = SHORTEST
    while rows < tall and 2 * rows * row_cells <= BLOCK_CELLS:
        rows *= 2
    return rows


def count_pairs(block: Block) -> PairCounts:
    """Count the pairs of columns of a block."""
    x, o, weights = block.x, block.observed, block.weights
    both = co_counts(x, x, weights)
    if isinstance(o, AllOnes):  # the diagonal counts the 1s of each column
        return PairCounts(both, np.diagonal(both)[:, None].copy(), np.full((1, 1), weights.sum()))
    d = block.n_columns
    ones, observed = co_counts(x, o, weights), co_counts(o, o, weights)
    return PairCounts(both, *(np.array(np.broadcast_to(counts, (d, d))) for counts in (ones, observed)))


def refuse_width(n_columns: int, method: str, most: int | None = None) -> None:
    """Raise a TableError for tables whose matrices of pairs would not fit in memory."""
    most = MOST_COLUMNS if most is None else most
    if n_columns > most:
        raise TableError(
            f"The table has {n_columns} columns, and every matrix of columns x columns would take "
            f"{8 * n_columns**2 / 1e9:.0f} GB. {method} supports at most {most} columns: select some of them (those "
            "with most 1s, or a random sample), or fit a model whose size grows linearly with the columns, such as "
            "LogisticPCA or LatentClassAnalysis."
        )
