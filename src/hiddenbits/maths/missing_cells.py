"""The missing cells of a block, to fill arrays of rows x columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Bits, Complement


@dataclass(frozen=True, eq=False)
class MissingCells:
    """The missing cells of a block: `where` is their index, None if there are none; `counts` is their number by row."""

    where: Any
    counts: AnyArray

    @classmethod
    def of(cls, observed: Bits) -> MissingCells:
        """Return the missing cells of a block from its observed ones."""
        if isinstance(observed, AllOnes):
            return cls(None, np.zeros(observed.shape[0]))
        if isinstance(observed, Complement):
            indptr, columns = observed.of.ones()
            counts = np.diff(indptr)
            return cls((np.repeat(np.arange(len(counts)), counts), columns), counts.astype(np.float64))
        missing = observed.to_dense() == 0
        return cls(missing, missing.sum(axis=1).astype(np.float64))

    def fill(self, values: AnyArray, number: float) -> None:
        """Put a number into the missing cells of (rows, d)."""
        if self.where is not None:
            values[self.where] = number

    def fill_drawn(self, values: AnyArray, number: float) -> None:
        """Put a number into the missing cells of (rows, draws, d), in every draw."""
        if self.where is not None:
            np.moveaxis(values, 1, 2)[self.where] = number  # (rows, d, draws), which an index of cells fits

    def fill_standing(self, values: AnyArray, columns: slice, number: float) -> None:
        """Put a number into the missing cells of some columns, in a transposed array (these columns, rows)."""
        if self.where is None:
            return
        if isinstance(self.where, tuple):
            cell_rows, cell_columns = self._by_column
            chosen = slice(*np.searchsorted(cell_columns, (columns.start, columns.stop)))
            values[cell_columns[chosen] - columns.start, cell_rows[chosen]] = number
        else:
            values[self.where[:, columns].T] = number

    @cached_property
    def _by_column(self) -> tuple[AnyArray, AnyArray]:
        order = np.argsort(self.where[1], kind="stable")
        return self.where[0][order], self.where[1][order]
