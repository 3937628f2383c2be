"""A few random rows of a table, from one pass over the data, as starting values of fits.

A row's number is a hash of its bits and the seed, and the rows with the smallest numbers are chosen. So the choice does
not depend on the order or storage of rows, or on whether equal rows are counted by a weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.hashing import PRIME, hash_bits, hash_reals
from hiddenbits.data.reals import Reals


@dataclass(frozen=True, eq=False)
class SmallestNumbered:
    """The rows with the smallest numbers so far: numbers (k,), rows (k, d), and the weights of all equal rows."""

    numbers: Floats
    rows: AnyArray
    weights: Floats
    n_rows: int

    def __iadd__(self, other: Self) -> Self:
        numbers, rows = np.append(self.numbers, other.numbers), np.concatenate([self.rows, other.rows])
        _, first, position = np.unique(numbers, return_index=True, return_inverse=True)  # in order of the numbers
        weights = np.bincount(position, np.append(self.weights, other.weights)).astype(np.float64)
        first = first[: self.n_rows]
        return type(self)(numbers[first], rows[first], weights[: self.n_rows], self.n_rows)


def choose_rows(n: int, key: Any, passes: Any) -> Floats:
    """Return about n different rows of -1, +1 and 0 (missing); fewer if the table has fewer.

    Real numbers are returned as they are, with NaN for missing; columns of numbers follow the bits. Rows of large
    weight are as likely as others, because starting values should vary.

    Parameters
    ----------
    n : int
        Number of rows.
    key : Key
        Source of the random choice.
    passes : callable
        The engine's sum over blocks.
    """
    return weighted_rows(n, key, passes)[0]


def weighted_rows(n: int, key: Any, passes: Any) -> tuple[Floats, Floats]:
    """Return the rows that `choose_rows` returns, and the total weight of each in the table."""
    chosen: SmallestNumbered = passes(partial(_smallest, n, int(key.rng().integers(2**62))))
    return chosen.rows.astype(np.float64), chosen.weights


def _smallest(n: int, seed: int, block: Block) -> SmallestNumbered:
    """Return the rows of a block with the smallest numbers."""
    numbers = np.where(block.weights > 0.0, row_numbers(seed, block), np.inf)
    smallest, first, position = np.unique(numbers, return_index=True, return_inverse=True)
    first = first[np.isfinite(smallest)][:n]
    weights = np.bincount(position, block.weights)[: len(first)].astype(np.float64)
    missing = block.observed.take(first).to_dense() == 0
    if block.numbers is not None:
        signs = np.where(missing, 0, 2 * block.x.take(first).to_dense().astype(np.int8) - 1)
        return SmallestNumbered(numbers[first], np.concatenate([signs, block.numbers[first]], axis=1), weights, n)
    if isinstance(block.x, Reals):
        return SmallestNumbered(numbers[first], np.where(missing, np.nan, block.x.take(first).to_dense()), weights, n)
    rows = 2 * block.x.take(first).to_dense().astype(np.int8) - 1
    rows[missing] = 0
    return SmallestNumbered(numbers[first], rows, weights, n)


def row_numbers(seed: int, block: Block) -> Floats:
    """Return a whole number below 2^31 for each row of a block, from its content and the seed."""
    if isinstance(block.x, Reals):
        return hash_reals(seed, block.x.to_dense(), block.observed.to_dense())
    hashes = hash_bits(seed, *block.operands(), (block.n_rows, block.n_columns))
    if block.numbers is None:
        return hashes
    observed = ~np.isnan(block.numbers)
    of_numbers = hash_reals(seed, np.where(observed, block.numbers, 0.0), observed.view(np.uint8))
    return np.asarray(np.mod(hashes + of_numbers, PRIME))
