"""Mixed tables: bits, real numbers and categories in the same rows, with one algebra.

A block of a mixed table has `Cells` in place of plain bits: an operand of theirs is one matrix of D numbers a row, in
the order that `kinds.Layout` describes, so that the products of a model are the same as for bits. The mask of observed
cells has D columns too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hiddenbits.data.bits import Bits, ByteArray, FloatArray, IndexArray
from hiddenbits.data.kinds import Layout
from hiddenbits.data.table import HeldRows, Table, TableError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells(Bits):
    """Rows of a mixed table.

    Attributes
    ----------
    bits : ndarray of uint8, shape (rows, number of bits)
        Binary columns and the bits of ordered ones; 0 where not observed.
    real : ndarray of float64, shape (rows, real columns)
        NaN where not observed.
    codes : ndarray of int32, shape (rows, nominal columns)
        Number of the category; -1 where not observed.
    layout : Layout
        What the columns are.
    """

    bits: ByteArray
    real: Floats
    codes: NDArray[np.int32]
    layout: Layout

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """(rows, D)."""
        return len(self.bits), self.layout.n_numbers

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> FloatArray:
        """Return the D numbers of each row, 0 where not observed; a nominal cell has a 1 for its category."""
        out = np.zeros(self.shape, dtype)
        first = self.bits.shape[1]
        out[:, :first] = self.bits
        out[:, first : first + self.real.shape[1]] = np.nan_to_num(self.real, nan=0.0)
        first += self.real.shape[1]
        for c, n_levels in enumerate(self.layout.levels):
            seen = np.flatnonzero(self.codes[:, c] >= 0)
            out[seen, first + self.codes[seen, c]] = 1.0
            first += n_levels
        return out

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return 8 * self.shape[0] * self.shape[1]

    def ones(self) -> tuple[IndexArray, IndexArray]:
        """Refuse: real numbers have no ones."""
        raise TableError("A table with real numbers and categories has no pattern of ones.")

    def rows(self, start: int, stop: int) -> Cells:
        """Return views of rows start to stop."""
        return Cells(self.bits[start:stop], self.real[start:stop], self.codes[start:stop], self.layout)

    def take(self, rows: IndexArray) -> Cells:
        """Return copies of the given rows."""
        return Cells(self.bits[rows], self.real[rows], self.codes[rows], self.layout)

    def to_dense(self) -> Any:
        """Return the D numbers of each row as floats."""
        return self.operand()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.bits.nbytes + self.real.nbytes + self.codes.nbytes)

    def row_sums(self) -> NDArray[np.int64]:
        """Refuse: real numbers have no ones."""
        raise TableError("A table with real numbers and categories has no ones to count.")


@dataclass(frozen=True, eq=False)
class MixedSource(HeldRows):
    """Rows of a mixed table in memory, checked.

    Attributes
    ----------
    x : Cells
        The rows.
    observed : Bits
        1 where a number was observed, (rows, D).
    """

    x: Cells

    @property
    def n_columns(self) -> int:
        """Number of columns of the table, not of the numbers that stand for them."""
        return len(self.x.layout.columns)

    @property
    def row_cells(self) -> float:
        """Numbers of a row that arithmetic touches."""
        return float(self.x.shape[1])


@dataclass(frozen=True, eq=False)
class MixedTable(Table):
    """A table whose columns are of several kinds, in memory; `LogisticPCA` makes it from a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.data.mixed_columns import open_mixed
    >>> table = open_mixed(np.array([[0.5, 1], [np.nan, 2], [-1.0, 3]]), kinds=["real", "nominal"])
    >>> table.shape, table.n_missing, table.layout.n_numbers
    ((3, 2), 1, 4)
    """

    source: MixedSource

    @classmethod
    def of_rows(cls, x: Any, observed: Bits, names: tuple[str, ...] | None) -> MixedTable:
        """Return a mixed table over checked rows in memory."""
        return cls(MixedSource(x, observed), names)

    @property
    def layout(self) -> Layout:
        """What the columns are."""
        return self.source.x.layout

    @property
    def n_missing(self) -> int:
        """Number of cells that were not observed; a bit that an ordered cell leaves open is no cell."""
        seen = self.source.observed.to_dense()[:, first_numbers(self.layout)]
        return int(seen.size - seen.sum())

    def to_float(self) -> Floats:
        """Return the D numbers of each row, NaN where not observed."""
        numbers: Floats = self.source.x.operand()
        numbers[self.source.observed.to_dense() == 0] = np.nan
        return numbers


def first_numbers(layout: Layout) -> NDArray[np.intp]:
    """Return the place of the first number of every column that numbers stand for, in their order."""
    widths = [*layout.sticks, *[1] * len(layout.real_columns), *layout.levels]
    return np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.intp)


def mixed_table(x: Cells, observed: Bits) -> MixedTable:
    """Return a table over cells in memory that have been checked."""
    names = tuple(column.name for column in x.layout.columns)
    return MixedTable(MixedSource(x, observed), names if x.layout.frame else None)
