"""Column sums of a table, from the first pass over the data: the basis of all starting values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.block import Block
from hiddenbits.data.declared import Arrays
from hiddenbits.data.layout import Layout
from hiddenbits.data.numbers import NumberSums


@dataclass(frozen=True, eq=False)
class ColumnSums(Arrays):
    """Weighted counts of a table.

    Attributes
    ----------
    weight : ndarray, 0-d
        Sum of the row weights.
    rows : ndarray, 0-d
        Number of rows.
    ones, observed : ndarray of shape (columns,)
        Weighted number of 1s and of observed cells in each column.
    fingerprint : ndarray of shape (2,)
        Sum w (x.u)^2 and Sum w (o.u)^2 with fixed random u: these tell apart tables that have equal counts but
        different rows.
    number_weights, number_means, number_squares : ndarray of shape (columns of numbers,)
        Weight, mean and sum of squared deviations of the observed cells of each column of numbers.
    """

    weight: Floats
    rows: Floats
    ones: Floats
    observed: Floats
    fingerprint: Floats
    number_weights: Floats
    number_means: Floats
    number_squares: Floats

    def __iadd__(self, other: Self) -> Self:
        merged = (self.numbers + other.numbers).to_arrays()
        total = super().__iadd__(other)
        return replace(total, **merged) if len(self.number_means) else total

    @property
    def numbers(self) -> NumberSums:
        """Weights, means and squared deviations of the columns of numbers."""
        return NumberSums(self.number_weights, self.number_means, self.number_squares)

    @property
    def means(self) -> Floats:
        """P(bit = 1) of each column, shrunk by half a row so that no probability is 0 or 1."""
        return np.asarray((self.ones + 0.5) / (self.observed + 1.0))

    def recorded(self, layout: Layout) -> Floats:
        """Return for each bit the weighted number of recorded cells of its column."""
        return np.where(layout.is_level, layout.column_sums(self.ones), self.observed)

    def independent(self, layout: Layout) -> float | None:
        """Return the mean log-likelihood per row, in nats, of independent columns; None if not all cells are bits."""
        if len(self.number_means):
            return None
        recorded = self.recorded(layout)
        zeros = (recorded - self.ones)[~layout.is_level]
        if min(self.ones.min(), zeros.min(initial=0.0)) < 0.0:  # sums of numbers that are not bits
            return None
        columns = recorded[layout.starts]
        return float((_n_log_n(self.ones) + _n_log_n(zeros) - _n_log_n(columns)) / self.weight)


def _n_log_n(counts: Floats) -> Floats:
    return np.asarray((counts * np.log(np.where(counts > 0.0, counts, 1.0))).sum())


@lru_cache(maxsize=4)
def _random_column(length: int) -> Floats:
    return np.random.default_rng(0xB175).standard_normal((length, 1))


def summarize(block: Block) -> ColumnSums:
    """Return the column sums of a block."""
    weights = block.weights[:, None]
    x, o = block.operands()
    observed = (o.T @ weights)[:, 0]
    numbers = NumberSums.of(block.numbers, block.weights)
    return ColumnSums(
        weight=np.asarray(block.weights.sum()),
        rows=np.asarray(float(block.n_rows)),
        ones=np.ascontiguousarray((x.T @ weights)[:, 0]),
        observed=np.array(np.broadcast_to(observed, (block.n_columns,))),
        fingerprint=np.array([np.sum(weights * (bits @ _random_column(block.n_columns)) ** 2) for bits in (x, o)]),
        **numbers.to_arrays(),
    )
