"""Blocks, the unit of computation, and parts, the unit of loading."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.bits import Bits, with_nan
from hiddenbits.data.declared import aligned
from hiddenbits.data.numbers import BitsAndNumbers, numbers_of
from hiddenbits.data.operands import Operand


@dataclass(frozen=True, eq=False)
class Block:
    """A few hundred to a few thousand consecutive rows, few enough that computations stay in a core's cache.

    Attributes
    ----------
    x : Bits
        The cells; 0 where not observed.
    observed : Bits
        1 if the cell was observed. Always 1 for nominal and ordinal columns: if such a cell is missing, none of its
        bits is set (see `Layout.recorded`).
    weights : ndarray of shape (rows,)
        Row weights.
    number : int
        Position on the table's grid: the key of the summation tree and of the random numbers.
    start : int
        First row, counted over the whole table.
    keep : bool
        Whether operands are created once and stay in memory for all iterations, as for a small table.
    table_cells : float
        Cells of the whole table, which decide whether compiled kernels are worth loading.
    numbers : ndarray of shape (rows, columns of numbers) or None
        The columns of numbers, continuous ones first, then counts; NaN where not observed.
    features : dict
        What a model computes from the numbers once for all iterations, if the block keeps its operands.
    """

    x: Bits
    observed: Bits
    weights: Floats
    number: int
    start: int
    keep: bool = False
    table_cells: float = math.inf
    numbers: Floats | None = None
    features: dict[Any, Any] = field(default_factory=dict, repr=False)

    def operands(self) -> tuple[Operand, Operand]:
        """Return the operands of x and observed, for ``@`` and ``.T @``; see `Bits`.

        They are read-only, and valid until the same thread requests the operands of another block.
        """
        if self.keep:
            return self._cached_operands
        return self.x.operand(slot="x"), self.observed.operand(slot="observed")

    @property
    def rows(self) -> Bits:
        """The bits, with the numbers if there are any."""
        return self.x if self.numbers is None else BitsAndNumbers(self.x, self.numbers)

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Return the positions of the 1s of x, row by row; see `Bits.ones`."""
        return self._cached_ones if self.keep else self.x.ones()

    @cached_property
    def _cached_ones(self) -> tuple[AnyArray, AnyArray]:
        return self.x.ones()

    @cached_property
    def _cached_operands(self) -> tuple[Operand, Operand]:
        return self.x.operand(), self.observed.operand()

    @cached_property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.weights.sum())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.x.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.x.shape[1]

    def to_float(self) -> Floats:
        """Return the rows as floats, NaN where not observed: for users and tests, not for computations."""
        return with_nan(self.x, self.observed)


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive whole blocks, loaded together."""

    x: Bits
    observed: Bits
    weights: Floats | None
    start: int
    height: int
    table_cells: float = math.inf

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(aligned(state))

    def blocks(self) -> Iterator[Block]:
        """Cut the part into blocks of `height` rows (the table's last one may be shorter)."""
        n_rows, numbers = self.x.shape[0], numbers_of(self.x)
        x = self.x.bits if isinstance(self.x, BitsAndNumbers) else self.x
        for first in range(0, n_rows, self.height):
            last = min(first + self.height, n_rows)
            yield Block(
                x.rows(first, last),
                self.observed.rows(first, last),
                np.ones(last - first) if self.weights is None else self.weights[first:last],
                (self.start + first) // self.height,
                self.start + first,
                table_cells=self.table_cells,
                numbers=None if numbers is None else numbers[first:last],
            )

    @property
    def nbytes(self) -> Any:
        """Bytes held by the cells."""
        return self.x.nbytes + self.observed.nbytes
