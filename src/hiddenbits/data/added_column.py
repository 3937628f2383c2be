"""A table with one more nominal column, which is held in memory: the known classes of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.bits import Bits, with_columns
from hiddenbits.data.coding.coded_columns import CodedColumn, Coding
from hiddenbits.data.numbers import BitsAndNumbers, numbers_of
from hiddenbits.data.subset import DerivedSource
from hiddenbits.data.table import MemorySource, Table


@dataclass(frozen=True, eq=False)
class AddedColumnSource(DerivedSource):
    """Rows of another source with the levels of a nominal column, one bit each, at their end.

    Attributes
    ----------
    levels : ndarray of int
        The level of each row from `first` on, counted from 0; -1 if missing.
    n_levels : int
        Number of levels.
    first : int
        The row of the first of these levels.
    """

    levels: NDArray[np.int32]
    n_levels: int
    first: int = 0

    @property
    def n_columns(self) -> int:
        """Number of bits of a row."""
        return self.source.n_columns + self.n_levels

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes."""
        return self.source.row_bytes + self.n_levels

    @property
    def row_cells(self) -> float:
        """Cells of a row that computations use."""
        return self.source.row_cells + self.n_levels

    def only(self, start: int, stop: int) -> AddedColumnSource:
        """Return the source with only the data that rows start to stop need."""
        levels = self.levels[start - self.first : stop - self.first]
        return replace(self.for_rows(start, stop), levels=levels, first=start)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        x, observed = self.source.read(start, stop)
        numbers = numbers_of(x)
        levels = self.levels[start - self.first : stop - self.first, None]
        bits = (levels == np.arange(self.n_levels)).view(np.uint8)
        x = with_columns(x.bits if isinstance(x, BitsAndNumbers) else x, bits)
        observed = with_columns(observed, np.ones_like(bits))
        return (x if numbers is None else BitsAndNumbers(x, numbers)), observed


def with_nominal_column(table: Table, levels: NDArray[np.int32], n_levels: int) -> Table:
    """Return a table with a nominal column after its own; -1 is a missing value. The columns have no names."""
    if n_levels == 1:  # which says nothing
        return table
    coding = table.coding or Coding(tuple(CodedColumn(str(j)) for j in range(table.shape[1])))
    coding = replace(coding, columns=(*coding.columns, CodedColumn("added", "nominal", tuple(range(n_levels)))))
    source: Any = AddedColumnSource(table.source, levels, n_levels)
    if isinstance(table.source, MemorySource) and not table.source.mapped:
        source = MemorySource(*source.read(0, source.n_rows))
    return replace(table, source=source, names=None, read_as=None, levels=coding)
