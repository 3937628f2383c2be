"""The bits of each column: one for a binary column, and one for each level of a nominal or ordinal column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.bits import Bits


@dataclass(frozen=True)
class Layout:
    """The bits of a table, column by column.

    Parameters
    ----------
    sizes : tuple of int
        Bits of each column: 1 for a binary one, otherwise the number of its levels.
    """

    sizes: tuple[int, ...]

    @classmethod
    def of_columns(cls, columns: Floats) -> Layout:
        """Return the layout from the number of the column of each bit, such as 0 0 0 1 2 2."""
        return _layout_of(columns.astype(np.intp).tobytes())

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """First bit of each column."""
        return np.cumsum([0, *self.sizes])[:-1]

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """Number of the column of each bit."""
        return np.repeat(np.arange(len(self.sizes)), np.array(self.sizes, np.intp))

    @cached_property
    def is_level(self) -> NDArray[np.bool_]:
        """Which bits are levels."""
        return np.repeat(np.array(self.sizes, np.intp) > 1, self.sizes)

    @cached_property
    def all_binary(self) -> bool:
        """Whether every column is binary."""
        return max(self.sizes, default=1) == 1

    @property
    def n_bits(self) -> int:
        """Number of bits, d."""
        return sum(self.sizes)

    @property
    def n_free(self) -> int:
        """Number of free probabilities at a node: one for a binary column, all levels but one for the others."""
        return sum(max(size - 1, 1) for size in self.sizes)

    def column_sums(self, values: AnyArray, axis: int = 0) -> AnyArray:
        """Return for each bit the sum over all bits of its column, along an axis."""
        return np.take(np.add.reduceat(values, self.starts, axis=axis), self.columns, axis=axis)

    def recorded(self, x: Bits, observed: Bits) -> AnyArray:
        """Return which bits belong to recorded cells; a cell of levels is missing if none of its bits is set."""
        mask = observed.to_dense()
        if self.all_binary:
            return mask
        return np.where(self.is_level, self.column_sums(x.to_dense(), axis=1), mask).astype(mask.dtype)


@lru_cache(maxsize=64)
def _layout_of(numbers: bytes) -> Layout:
    return Layout(tuple(np.bincount(np.frombuffer(numbers, np.intp)).tolist()))


def layout_of(sizes: tuple[int, ...] | None, n_bits: int) -> Layout:
    """Return the layout of columns with these numbers of bits; with None, every bit is a column."""
    return binary_columns(n_bits) if sizes is None else Layout(sizes)


@lru_cache(maxsize=64)
def binary_columns(n_columns: int) -> Layout:
    """Return the layout of a table whose columns are all binary."""
    return Layout((1,) * n_columns)
