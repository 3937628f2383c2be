"""A random sample of the rows of a table, from one pass over the data: a small table that represents the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data.bits import Bits, Dense, Pattern, pattern_of
from hiddenbits.data.block import Block
from hiddenbits.data.hashing import uniform_by_row
from hiddenbits.data.numbers import BitsAndNumbers
from hiddenbits.data.table import Table, memory_table


@dataclass(frozen=True, eq=False)
class SomeRows:
    """A sample of rows in the order of the table: cells and weights; `sparse` is the storage of the table."""

    x: Bytes
    observed: Bytes
    weights: Floats
    sparse: bool
    numbers: Floats | None = None

    def __iadd__(self, other: Self) -> Self:
        x, observed = (np.concatenate(pair) for pair in ((self.x, other.x), (self.observed, other.observed)))
        has_numbers = self.numbers is not None and other.numbers is not None
        numbers = np.concatenate([self.numbers, other.numbers]) if has_numbers else None
        return type(self)(x, observed, np.concatenate([self.weights, other.weights]), self.sparse, numbers)

    def table(self, weight: float) -> Table:
        """Return them as a table with this total weight."""
        d = self.x.shape[1]
        x: Bits = Pattern(*pattern_of(self.x), d) if self.sparse else Dense(self.x)
        x = x if self.numbers is None else BitsAndNumbers(x, self.numbers)
        observed = None if self.observed.all() else Dense(self.observed)
        return memory_table(x, observed).with_weights(self.weights * (weight / self.weights.sum()))


def rate_for(rows: int, weights: Floats | None, n_rows: int) -> float:
    """Return the rate that samples about this number of rows; very heavy rows are always in the sample."""
    if weights is None:
        return rows / n_rows
    heavy = np.zeros(len(weights), bool)
    while True:
        rate = (rows - int(heavy.sum())) / max(float(weights[~heavy].sum()), np.finfo(float).tiny)
        certain = heavy | (rate * weights >= 1.0)
        if certain.sum() == heavy.sum():
            return rate
        heavy = certain


@dataclass(frozen=True)
class RowSampler:
    """Samples rows of a block, each with probability min(1, rate * weight); if below 1, it gets the weight 1/rate.

    The sample depends on the seed and on the position of a row in the table, not on how the table is cut into blocks.
    If equal rows are collapsed, the engine samples from all rows, because collapsing changes positions.
    """

    seed: int
    rate: float

    def __call__(self, block: Block) -> SomeRows:
        """Return the sample of a block."""
        share = np.minimum(1.0, self.rate * block.weights)
        numbers = np.arange(block.n_rows, dtype=np.uint64) + np.uint64(block.start)
        sampled = np.flatnonzero(uniform_by_row(self.seed, numbers) < share)
        return SomeRows(
            block.x.take(sampled).to_dense(),
            block.observed.take(sampled).to_dense(),
            block.weights[sampled] / share[sampled],
            isinstance(block.x, Pattern),
            None if block.numbers is None else block.numbers[sampled],
        )
