"""A few rows of a table at random, through one pass: what starts from data are made of.

A row is chosen by its content: a hash of its bits, mixed with the seed, gives its number, and the smallest numbers win.
So the choice is the same for equal rows counted by a weight, in another order, or in another storage.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.mixed.cells import MixedRows

PRIME = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Chosen:
    """The rows with the smallest numbers so far: numbers (k,), rows (k, d)."""

    numbers: Floats
    rows: AnyArray
    n_wanted: int

    def __iadd__(self, other: Self) -> Self:
        numbers, rows = np.append(self.numbers, other.numbers), np.concatenate([self.rows, other.rows])
        _, first = np.unique(numbers, return_index=True)  # in order of the numbers; equal rows once
        first = first[: self.n_wanted]
        return type(self)(numbers[first], rows[first], self.n_wanted)


def choose_rows(n: int, key: Any, passes: Any) -> Floats:
    """Return about n different rows of -1, +1 and 0 (missing); fewer where the table has fewer.

    Rows of real numbers come as they are, with NaN for missing.
    Rows of large weight are as likely as others: a start wants variety.

    Parameters
    ----------
    n : int
        How many.
    key : Key
        Its random numbers choose.
    passes : callable
        The engine's sum over blocks.
    """
    chosen: Chosen = passes(partial(_smallest, n, int(key.rng().integers(2**62))))
    return chosen.rows.astype(np.float64)


def _smallest(n: int, seed: int, block: Block) -> Chosen:
    """Return the rows of a block with the smallest numbers."""
    numbers = np.where(block.weights > 0.0, row_numbers(seed, block), np.inf)
    smallest, first = np.unique(numbers, return_index=True)
    first = first[np.isfinite(smallest)][:n]
    missing = block.observed.take(first).to_dense() == 0
    if isinstance(block.x, MixedRows):
        return Chosen(numbers[first], np.where(missing, np.nan, block.x.take(first).to_dense()), n)
    rows = 2 * block.x.take(first).to_dense().astype(np.int8) - 1
    rows[missing] = 0
    return Chosen(numbers[first], rows, n)


def row_numbers(seed: int, block: Block) -> Floats:
    """Return a whole number below 2^31 for each row of a block, of its content and the seed."""
    rng, d = np.random.default_rng(seed), block.n_columns
    if isinstance(block.x, MixedRows):  # the numbers as they lie in memory, mixed modulo 2^64: exact, too
        factors = 2 * rng.integers(2**62, size=(2, d), dtype=np.uint64) + np.uint64(1)
        words = (block.x.to_dense() + 0.0).view(np.uint64)  # -0 is 0
        words = (words ^ (words >> np.uint64(32))) * factors[0]
        words = (words ^ (words >> np.uint64(29))) * factors[1]
        mixed = words.sum(axis=1, dtype=np.uint64) + block.observed.to_dense() @ factors[1]
        return np.asarray(np.mod(mixed ^ (mixed >> np.uint64(31)), np.uint64(PRIME)), np.float64)
    # Whole numbers below 2^53 in all: the sums are exact, in whatever order a storage adds them.
    factors = rng.integers(1, min(PRIME, 2**53 // (4 * d)), (2, d, 1)).astype(np.float64)
    x, o = block.operands()
    hashed = np.broadcast_to(x @ factors[0] + (o @ factors[1]), (block.n_rows, 1))[:, 0] + rng.integers(PRIME)
    return np.asarray(np.mod(hashed, PRIME))
