"""Some rows of a table as a new table: training and test rows, in memory or on disk.

Also the base class of sources that change the rows of another source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import Bits
from hiddenbits.data.table import Source, Table
from hiddenbits.exceptions import TableError

MAX_REPEATED_CELLS = 1 << 32  # of the table that `repeat_rows` returns


@dataclass(frozen=True, eq=False)
class DerivedSource:
    """Rows of another source, changed as they are read."""

    source: Source

    resident = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.source.n_columns

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers."""
        return getattr(self.source, "n_numbers", 0)

    @property
    def row_cells(self) -> float:
        """Cells of a row that computations use."""
        return self.source.row_cells

    def for_rows(self, start: int, stop: int) -> Self:
        """Return this source with only the data for rows start to stop of the other source."""
        source: Any = self.source
        return replace(self, source=source.only(start, stop)) if hasattr(source, "only") else self


@dataclass(frozen=True, eq=False)
class SubsetSource(DerivedSource):
    """Some rows of another source, which has to read all rows between the first and the last of them."""

    chosen: AnyArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.chosen)

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes, with the rows that are read around it."""
        span = int(self.chosen[-1] - self.chosen[0]) + 1
        return self.source.row_bytes * span / len(self.chosen)

    def only(self, start: int, stop: int) -> SubsetSource:
        """Return the source with only the data that rows start to stop need."""
        return self.for_rows(int(self.chosen[start]), int(self.chosen[stop - 1]) + 1)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop of those chosen."""
        rows = self.chosen[start:stop]
        x, observed = self.source.read(int(rows[0]), int(rows[-1]) + 1)
        return x.take(rows - rows[0]), observed.take(rows - rows[0])


def take_rows(table: Table, rows: AnyArray) -> Table:
    """Return some rows of a table as a table, with their weights: for training, or for testing.

    Rows in memory are copied. Those on disk stay there: each part is read from its first to its last row, so that rows
    close together are the cheapest.

    Parameters
    ----------
    table : Table
        From `open_table`, in memory or on disk, of bits or of real numbers.
    rows : array of int or bool
        Increasing numbers of the rows; or True for each row to take.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.eye(4))
    >>> hiddenbits.tables.take_rows(table, np.array([1, 3])).to_float()
    array([[0., 1., 0., 0.],
           [0., 0., 0., 1.]])
    """
    numbers = np.asarray(rows)
    if numbers.dtype == np.bool_ and numbers.shape == (table.shape[0],):
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise TableError("Select rows with a non-empty list of row numbers, or with a boolean mask over all rows.")
    chosen = numbers.astype(np.int64)
    if chosen[0] < 0 or chosen[-1] >= table.shape[0] or (np.diff(chosen) <= 0).any():
        raise TableError(
            f"Row numbers must be between 0 and {table.shape[0] - 1} and strictly increasing. Sort them. To use a row "
            "several times, set a weight."
        )
    weights = None if table.weights is None else table.weights[chosen]
    if not table.source.resident:
        return replace(table, source=SubsetSource(table.source, chosen), weights=weights)
    x, observed = table.source.read(0, table.shape[0])
    held = table.of_rows(x.take(chosen), observed.take(chosen), table.names, table.coding_of_levels)
    return replace(held, weights=weights, part_bytes=table.part_bytes)


def repeat_rows(table: Table) -> Table:
    """Expand a table of counts: repeat each row as often as its weight, and remove the weights.

    A fit is the same, but scores on held-out rows differ: in a table of counts, equal rows are held out together.

    Parameters
    ----------
    table : Table
        With weights that are whole numbers, such as ``open_table(frame, sample_weight="count")``.

    Returns
    -------
    table : Table
        In memory.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.eye(2), sample_weight=[2, 1])
    >>> hiddenbits.tables.repeat_rows(table).to_float()
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """
    if table.weights is None:
        return table
    counts = table.weights.astype(np.int64)
    if (counts != table.weights).any():
        raise TableError("The weights of rows are not counts: some are not whole numbers.")
    if int(counts.sum()) * table.shape[1] > MAX_REPEATED_CELLS:
        raise TableError(f"The weights count {counts.sum():,} rows, too many to repeat them in memory.")
    rows, read_as = np.repeat(np.arange(len(counts)), counts), table.read_as
    x, observed = table.source.read(0, len(counts))
    held = table.of_rows(x.take(rows), observed.take(rows), table.names, table.coding_of_levels)
    if read_as is not None:
        parts = {name: cells.part(0, len(counts)) for name, cells in read_as.cells.items()}
        cells = {name: part.take(rows) for name, part in parts.items()}
        read_as = replace(read_as, cells=cells)
    return replace(held, part_bytes=table.part_bytes, read_as=read_as)
