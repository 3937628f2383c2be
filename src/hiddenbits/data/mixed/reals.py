"""Tables whose columns are all real numbers, held as one matrix: patches of images, spectra, traces.

`Reals` stand in a block where bits would. Their operand is the matrix itself wherever it has the right type, so that a
large table in memory, or a memory map, is never copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Bits, Dense
from hiddenbits.data.cell_checks import CHUNK_CELLS, observed_from_missing
from hiddenbits.data.mixed.cells import MixedRows, MixedSource, MixedTable
from hiddenbits.data.mixed.encode import LARGEST
from hiddenbits.data.mixed.layout import Column, Layout
from hiddenbits.data.operands import scratch
from hiddenbits.data.table import TableError
from hiddenbits.quoting import quoted


@dataclass(frozen=True, eq=False)
class Reals(MixedRows):
    """Rows of real numbers.

    Attributes
    ----------
    numbers : ndarray of float32 or float64, shape (rows, columns)
        0 where not observed.
    layout : Layout
        What the columns are: real, all of them.
    """

    numbers: AnyArray
    layout: Layout

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.numbers.shape[0], self.numbers.shape[1]

    def operand(self, dtype: DTypeLike = np.float64, slot: str | None = None) -> AnyArray:
        """Return the numbers, themselves where they are of that type."""
        if self.numbers.dtype == dtype:
            return self.numbers
        if slot is None:
            return self.numbers.astype(dtype)
        floats = scratch(slot, self.shape, dtype)
        np.copyto(floats, self.numbers)
        return floats

    def rows(self, start: int, stop: int) -> Reals:
        """Return a view of rows start to stop."""
        return Reals(self.numbers[start:stop], self.layout)

    def take(self, rows: AnyArray) -> Reals:
        """Return a copy of the given rows."""
        return Reals(self.numbers[rows], self.layout)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.numbers.nbytes)

    def values(self, observed: Bits) -> list[tuple[AnyArray, NDArray[np.bool_]]]:
        """Return what each column holds, and where it was observed."""
        seen = observed.to_dense() == 1
        return [(self.numbers[:, j], seen[:, j]) for j in range(self.shape[1])]

    def without(self, observed: Bits, hidden: NDArray[np.bool_]) -> tuple[Reals, Bits]:
        """Return (numbers, observed) with some cells not observed; `hidden` is of shape (rows, columns)."""
        numbers = np.where(hidden, 0.0, self.numbers).astype(self.numbers.dtype)
        return Reals(numbers, self.layout), Dense(np.where(hidden, 0, observed.to_dense()).astype(np.uint8))


def open_reals(array: AnyArray, names: tuple[str, ...] | None = None) -> MixedTable:
    """Return a table over an array of real numbers; NaN and masked cells are blanks.

    float32 stays float32, and rows without blanks are not copied.

    Examples
    --------
    >>> table = open_reals(np.array([[0.5, np.nan], [2.0, 3.0]], np.float32))
    >>> table.shape, table.n_missing, table.source.x.numbers.dtype
    ((2, 2), 1, dtype('float32'))
    """
    if array.ndim != 2:
        raise TableError(f"Expected a table with rows and columns, got an array with {array.ndim} dimension(s).")
    if array.dtype.kind not in "biuf":
        raise TableError(f"The array is of type {array.dtype}. Give real numbers.")
    if np.ma.isMaskedArray(array):
        array = np.where(np.ma.getmaskarray(array), np.nan, np.ma.getdata(array))
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    array = np.ascontiguousarray(array) if not array.flags.c_contiguous else array
    blanks = _check(array)
    layout = Layout(tuple(Column(name, "real") for name in names or [f"x{j}" for j in range(array.shape[1])]))
    observed: Bits = AllOnes((array.shape[0], array.shape[1]))
    if blanks:
        missing = np.isnan(array)
        observed, array = observed_from_missing(missing.view(np.uint8)), np.where(missing, array.dtype.type(0), array)
    return MixedTable(MixedSource(Reals(array, layout), observed), names)


def _check(array: AnyArray) -> bool:
    """Refuse numbers that cannot be worked with; return whether there are blanks."""
    largest = min(LARGEST, float(np.sqrt(np.finfo(array.dtype).max)))
    blanks, step = False, max(1, CHUNK_CELLS // max(array.shape[1], 1))
    for start in range(0, len(array), step):
        rows = np.abs(array[start : start + step])
        blank = np.isnan(rows)
        blanks = blanks or bool(blank.any())
        invalid = np.argwhere(~((rows <= largest) | blank))
        if len(invalid):
            row, column = int(invalid[0][0]) + start, int(invalid[0][1])
            raise TableError(
                f"row {row}, column {column}: {quoted(array[row, column])} is infinite or too large. Use NaN for a "
                "cell that was not observed."
            )
    return blanks
