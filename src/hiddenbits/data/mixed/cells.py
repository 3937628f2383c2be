"""Mixed tables: bits, real numbers and categories in the same rows, with one algebra.

A block of a mixed table has `Cells` in place of plain bits: an operand of theirs is one matrix of D numbers a row, in
the order that `layout.Layout` describes, so that the products of a model are the same as for bits. The mask of observed
cells has D columns too.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hiddenbits.array_types import AnyArray, Bytes, Floats, Rows
from hiddenbits.data.bits import Bits, Dense
from hiddenbits.data.mixed.layout import Layout
from hiddenbits.data.table import HeldRows, Table, TableError


class MixedRows(Bits):
    """Rows that stand where bits would: `Cells`, or `Reals` where all columns are real."""

    layout: Layout

    @property
    def operand_bytes(self) -> int:
        """Bytes that an operand in float64 takes."""
        return 8 * self.shape[0] * self.shape[1]

    def ones(self) -> tuple[AnyArray, AnyArray]:
        """Refuse: real numbers have no ones."""
        raise TableError("A table with real numbers and categories has no pattern of ones.")

    def to_dense(self) -> Any:
        """Return the D numbers of each row as floats."""
        return self.operand()

    def row_sums(self) -> NDArray[np.int64]:
        """Refuse: real numbers have no ones."""
        raise TableError("A table with real numbers and categories has no ones to count.")

    @abstractmethod
    def values(self, observed: Bits) -> list[tuple[AnyArray, NDArray[np.bool_]]]:
        """Return what each column of the table holds (bits, numbers, codes), and where it was observed."""

    @abstractmethod
    def without(self, observed: Bits, hidden: NDArray[np.bool_]) -> tuple[MixedRows, Bits]:
        """Return (rows, observed) with some cells of the table not observed; `hidden` is of shape (rows, columns)."""


@dataclass(frozen=True, eq=False)
class Cells(MixedRows):
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

    bits: Bytes
    real: Floats
    codes: NDArray[np.int32]
    layout: Layout

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, D)."""
        return len(self.bits), self.layout.n_numbers

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> AnyArray:
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

    def rows(self, start: int, stop: int) -> Cells:
        """Return views of rows start to stop."""
        return Cells(self.bits[start:stop], self.real[start:stop], self.codes[start:stop], self.layout)

    def take(self, rows: AnyArray) -> Cells:
        """Return copies of the given rows."""
        return Cells(self.bits[rows], self.real[rows], self.codes[rows], self.layout)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.bits.nbytes + self.real.nbytes + self.codes.nbytes)

    def values(self, observed: Bits) -> list[tuple[AnyArray, NDArray[np.bool_]]]:
        """Return what each column of the table holds (bits, numbers, codes of categories), and where it was observed.

        A column with a single category, for which no number stands, is always that category.
        """
        layout, n_rows = self.layout, len(self.bits)
        seen = observed.to_dense()[:, first_numbers(layout)] == 1
        alone = (np.zeros(n_rows, np.int64), np.ones(n_rows, np.bool_))
        out: list[tuple[AnyArray, NDArray[np.bool_]]] = [alone for _ in layout.columns]
        first, at = 0, 0
        for j in layout.bit_columns:
            many = layout.columns[j].n_bits
            out[j] = (self.bits[:, first : first + many].sum(axis=1, dtype=np.int64), seen[:, at])
            first, at = first + many, at + 1
        for k, j in enumerate(layout.real_columns):
            out[j] = (self.real[:, k], seen[:, at + k])
        at += len(layout.real_columns)
        for k, j in enumerate(layout.nominal_columns):
            out[j] = (self.codes[:, k], seen[:, at + k])
        return out

    def without(self, observed: Bits, hidden: NDArray[np.bool_]) -> tuple[Cells, Bits]:
        """Return (cells, observed) with some cells of the table not observed; `hidden` is of shape (rows, columns)."""
        layout = self.layout
        numbers = hidden[:, numbered_columns(layout)]
        bits = np.where(numbers[:, : self.bits.shape[1]], 0, self.bits).astype(np.uint8)
        real = np.where(hidden[:, layout.real_columns], np.nan, self.real)
        codes = np.where(hidden[:, layout.nominal_columns], -1, self.codes).astype(np.int32)
        seen = np.where(numbers, 0, observed.to_dense()).astype(np.uint8)
        return Cells(bits, real, codes, layout), Dense(seen)


@dataclass(frozen=True, eq=False)
class MixedSource(HeldRows):
    """Rows of a mixed table in memory, checked.

    Attributes
    ----------
    x : MixedRows
        The rows.
    observed : Bits
        1 where a number was observed, (rows, D).
    """

    x: MixedRows

    @property
    def layout(self) -> Layout:
        """What the columns are."""
        return self.x.layout

    @property
    def n_columns(self) -> int:
        """Number of columns of the table, not of the numbers that stand for them."""
        return len(self.layout.columns)

    @property
    def row_cells(self) -> float:
        """Numbers of a row that arithmetic touches."""
        return float(self.x.shape[1])


@dataclass(frozen=True, eq=False)
class MixedTable(Table):
    """A table whose columns are of several kinds, in memory or on disk; made by `open_table` with ``kinds=``.

    Its source reads `Cells`, and knows their `layout`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.data.mixed.encode import open_mixed
    >>> table = open_mixed(np.array([[0.5, 1], [np.nan, 2], [-1.0, 3]]), kinds=["real", "nominal"])
    >>> table.shape, table.n_missing, table.layout.n_numbers
    ((3, 2), 1, 4)
    """

    source: Any

    @classmethod
    def of_rows(cls, x: Any, observed: Bits, names: tuple[str, ...] | None) -> MixedTable:
        """Return a mixed table over checked rows in memory."""
        return cls(MixedSource(x, observed), names)

    @property
    def only_bits(self) -> bool:
        """Whether every column is binary."""
        return self.layout.only_bits

    @property
    def layout(self) -> Layout:
        """What the columns are."""
        layout: Layout = self.source.layout
        return layout

    @property
    def n_missing(self) -> int:
        """Number of cells that were not observed; a bit that an ordered cell leaves open is no cell."""
        grid, first = self.grid(max(1, self.part_rows(1))), first_numbers(self.layout)
        masks = (grid.load(i).observed.to_dense()[:, first] for i in range(grid.n_parts))
        return sum(int(seen.size - seen.sum()) for seen in masks)

    def values(self) -> list[tuple[AnyArray, NDArray[np.bool_]]]:
        """Return what each column holds (bits, numbers, codes of categories), and where; reads the whole table."""
        x, observed = self.source.read(0, self.shape[0])
        found: list[tuple[AnyArray, NDArray[np.bool_]]] = x.values(observed)
        return found

    def seen(self) -> NDArray[np.bool_]:
        """Return which cells were observed, (rows, columns)."""
        return np.column_stack([seen for _, seen in self.values()])

    def hiding(self, hidden: NDArray[np.bool_], rows: AnyArray | None = None) -> MixedTable:
        """Return a table in memory of all or some rows, without weights, with some of their cells not observed."""
        x, observed = self.source.read(0, self.shape[0])
        if rows is not None:
            x, observed = x.take(rows), observed.take(rows)
        cells, seen = x.without(observed, hidden)
        return self.of_rows(cells, seen, self.names)

    def to_float(self) -> Floats:
        """Return the D numbers of each row, NaN where not observed."""
        x, observed = self.source.read(0, self.shape[0])
        numbers: Floats = x.operand()
        numbers[observed.to_dense() == 0] = np.nan
        return numbers


def first_numbers(layout: Layout) -> Rows:
    """Return the place of the first number of every column that numbers stand for, in their order."""
    return np.concatenate([[0], np.cumsum(_widths(layout))[:-1]]).astype(np.intp)


def numbered_columns(layout: Layout) -> Rows:
    """Return the column of the table that each of the D numbers stands for."""
    order = [*layout.bit_columns, *layout.real_columns, *layout.nominal_columns]
    return np.repeat(np.array(order, np.intp), _widths(layout))


def _widths(layout: Layout) -> list[int]:
    return [*layout.sticks, *[1] * len(layout.real_columns), *layout.levels]


def mixed_table(x: Cells, observed: Bits, *, named: bool | None = None) -> MixedTable:
    """Return a table over cells in memory that have been checked; by default only the columns of frames are named."""
    names = tuple(column.name for column in x.layout.columns)
    named = x.layout.frame is not None if named is None else named
    return MixedTable(MixedSource(x, observed), names if named else None)
