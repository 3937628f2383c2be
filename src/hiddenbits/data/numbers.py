"""Columns of numbers next to the bits of a table: continuous columns first, then counts.

`BitsAndNumbers` carries both from a source to a `Part`, so that whatever selects, repeats or shuffles rows keeps them
together; a `Block` has them apart, as computations need them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.bits import Bits
from hiddenbits.data.operands import Operand

MAX_NUMBER = 1e100  # squares of larger numbers would be unreliable


@dataclass(frozen=True, eq=False)
class BitsAndNumbers(Bits):
    """Rows of bits, and of numbers: float64 of shape (rows, columns of numbers), NaN where not observed.

    Its shape and its operands are those of the bits.
    """

    bits: Bits
    numbers: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, bits)."""
        return self.bits.shape

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> Operand:
        """Return the operand of the bits."""
        return self.bits.operand(dtype, slot)

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes, and the numbers."""
        return self.bits.operand_bytes + int(self.numbers.nbytes)

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the positions of the 1s."""
        return self.bits.ones()

    def rows(self, start: int, stop: int) -> BitsAndNumbers:
        """Return a view of rows start to stop."""
        return BitsAndNumbers(self.bits.rows(start, stop), self.numbers[start:stop])

    def take(self, rows: AnyArray) -> BitsAndNumbers:
        """Return a copy of the given rows."""
        return BitsAndNumbers(self.bits.take(rows), self.numbers[rows])

    def to_dense(self) -> Bytes:
        """Return the bits."""
        return self.bits.to_dense()

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return self.bits.nbytes + int(self.numbers.nbytes)


def numbers_of(x: Bits) -> Floats | None:
    """Return the numbers of rows; None if the table has only bits."""
    return x.numbers if isinstance(x, BitsAndNumbers) else None


@dataclass(frozen=True, eq=False)
class NumberSums:
    """Weight, mean and sum of squared deviations of columns of numbers, over observed cells."""

    weights: Floats
    means: Floats
    squares: Floats

    @classmethod
    def of(cls, numbers: Floats | None, weights: Floats) -> NumberSums:
        """Return the sums of some rows with these weights."""
        if numbers is None:
            return cls(*np.zeros((3, 0)))
        observed = ~np.isnan(numbers)
        w = np.where(observed, weights[:, None], 0.0)
        first = np.nan_to_num(np.take_along_axis(numbers, observed.argmax(axis=0)[None, :], axis=0)[0])
        from_first = np.where(observed, numbers - first, 0.0)  # exactly 0 in constant columns
        total = w.sum(axis=0)
        means = (w * from_first).sum(axis=0) / np.where(total > 0.0, total, 1.0)
        return cls(total, first + means, (w * np.where(observed, from_first - means, 0.0) ** 2).sum(axis=0))

    def __add__(self, other: NumberSums) -> NumberSums:
        """Merge without the cancellation that sums of squares of years or incomes would suffer (Chan et al. 1983)."""
        weights = self.weights + other.weights
        share = other.weights / np.where(weights > 0.0, weights, 1.0)
        gap = other.means - self.means
        return NumberSums(
            weights, self.means + share * gap, self.squares + other.squares + self.weights * share * gap**2
        )

    @property
    def scales(self) -> Floats:
        """Standard deviations; 1 for constant columns."""
        scales = np.sqrt(self.squares / np.where(self.weights > 0.0, self.weights, 1.0))
        return np.where(scales > 0.0, scales, 1.0)

    def to_arrays(self) -> Mapping[str, Any]:
        """Return the sums by name."""
        return {"number_weights": self.weights, "number_means": self.means, "number_squares": self.squares}
