"""Cells held out at random, to measure how well a model predicts them.

The choice depends on the seed and on the row's number in the whole table, not on parts, workers or storage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hiddenbits.array_types import AnyArray
from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.hashing import keyed_rng
from hiddenbits.data.layout import Layout
from hiddenbits.data.reals import Reals, RealsSource
from hiddenbits.data.subset import DerivedSource
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.exceptions import TableError

RUN_CELLS = 1 << 20  # cells that are sampled with one random stream
RANDOM_LEVELS = 65536  # a cell is hidden if a random 16-bit number is below share * RANDOM_LEVELS


@dataclass(frozen=True)
class HiddenCells:
    """Which cells are hidden.

    Attributes
    ----------
    share : float
        Share of the cells.
    seed : int
        Seed of the random choice.
    layout : Layout
        The bits of columns: all bits of a hidden cell with levels become 0; only binary columns have a mask.
    leaders : ndarray of shape (rows of the whole table,) or None
        For each row, the first row of its group, whose hidden cells it shares. None: every row has its own.
    """

    share: float
    seed: int
    layout: Layout
    leaders: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise ValueError(f"share={self.share}: the share of cells to hide must be between 0 and 1.")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.layout.sizes)

    def cells(self, start: int, stop: int) -> Pattern:
        """Return the hidden cells of rows start to stop."""
        if self.leaders is not None:
            return self._cells_of(self.leaders[start:stop])
        height = self._run_rows
        counts, columns = [np.zeros(1, np.int64)], []
        for run in range(start // height, -(-stop // height)):
            low, high = max(start - run * height, 0), min(stop - run * height, height)
            rows, hidden_columns = np.nonzero(self._random_cells(run)[low:high])
            counts.append(np.bincount(rows, minlength=high - low))
            columns.append(hidden_columns.astype(np.int32))
        return Pattern(np.cumsum(np.concatenate(counts)), np.concatenate(columns), self.n_columns)

    @property
    def _run_rows(self) -> int:
        return max(1, RUN_CELLS // self.n_columns)

    def _random_cells(self, run: int) -> NDArray[np.bool_]:
        """Return the random choice for a run of rows: which cells are hidden."""
        rng, shape = keyed_rng(self.seed, 2**32, run), (self._run_rows, self.n_columns)
        return np.asarray(rng.integers(0, RANDOM_LEVELS, shape, dtype=np.uint16) < round(self.share * RANDOM_LEVELS))

    def _cells_of(self, rows: NDArray[np.int64]) -> Pattern:
        """Return the hidden cells of any rows, in the order given."""
        runs, run_cells, positions = rows // self._run_rows, [], []
        for run in np.unique(runs).tolist():
            positions.append(np.flatnonzero(runs == run))
            run_rows = rows[positions[-1]] - run * self._run_rows
            run_cells.append(sparse.csr_array(self._random_cells(run)[run_rows].astype(np.int8)))
        hidden = sparse.csr_array(sparse.vstack(run_cells, format="csr"))[np.argsort(np.concatenate(positions))]
        return Pattern(hidden.indptr, hidden.indices, self.n_columns)

    def hide(self, x: Bits, observed: Bits, start: int) -> tuple[Bits, Bits]:
        """Return rows with the hidden cells not observed; the first is row `start` of the table."""
        hidden = self.cells(start, start + x.shape[0])
        if isinstance(x, Reals):
            return x.without(observed, hidden.to_dense() == 1)
        masked = hidden
        if not self.layout.all_binary:
            binary = ~self.layout.is_level
            hidden, masked = (_spread(hidden, self.layout, selected) for selected in (np.ones(x.shape[1]), binary))
            if not binary.any():
                return without(x, hidden), observed
        if isinstance(observed, AllOnes):
            return without(x, hidden), Complement(masked)
        return without(x, hidden), without(observed, masked)


def _spread(cells: Pattern, layout: Layout, selected: AnyArray) -> Pattern:
    """Return the selected bits of cells."""
    n_bits, ends = layout.n_bits, [*layout.starts, layout.n_bits]
    bits = sparse.csr_array((selected.astype(np.int8), np.arange(n_bits), ends), (len(layout.sizes), n_bits))
    bits.eliminate_zeros()
    spread = sparse.csr_array(_csr(cells) @ bits)
    spread.sort_indices()
    return Pattern(spread.indptr, spread.indices, n_bits)


def without(bits: Bits, hidden: Pattern) -> Bits:
    """Return a matrix with 0 where `hidden` is 1, in the same storage."""
    if isinstance(bits, Pattern):
        remaining = _csr(bits) - _csr(bits).multiply(_csr(hidden))
        remaining.eliminate_zeros()
        remaining.sort_indices()
        return Pattern(remaining.indptr, remaining.indices, bits.shape[1])
    if isinstance(bits, Complement) and isinstance(bits.of, Pattern):
        union = _csr(bits.of) + _csr(hidden)
        union.sort_indices()
        return Complement(Pattern(union.indptr, union.indices, bits.shape[1]))
    values = bits.to_dense().copy()
    rows = np.repeat(np.arange(bits.shape[0]), np.diff(hidden.indptr))
    values[rows, hidden.indices] = 0
    return Packed(np.packbits(values, axis=1), bits.shape[1]) if isinstance(bits, Packed) else Dense(values)


def _csr(pattern: Pattern) -> sparse.csr_array:
    ones = np.ones(len(pattern.indices), np.int8)
    return sparse.csr_array((ones, pattern.indices, pattern.indptr), pattern.shape)


@dataclass(frozen=True, eq=False)
class MaskedSource(DerivedSource):
    """Rows of another source, with cells hidden as they are read."""

    hiding: HiddenCells
    first_row: int = 0

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes: four for the position of a hidden cell."""
        return self.source.row_bytes + 4.0 * self.hiding.share * self.n_columns

    def only(self, start: int, stop: int) -> MaskedSource:
        """Return the source with only the data that rows start to stop need."""
        return self.for_rows(start, stop)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        return self.hiding.hide(*self.source.read(start, stop), self.first_row + start)


def hide_cells(table: Table, share: float, *, random_state: int = 0, first_row: int = 0, groups: Any = None) -> Table:
    """Hold out a share of the cells of a table at random: in the returned table they are not observed.

    Parameters
    ----------
    table : Table
        From `open_table`, in memory or on disk, of bits or of real numbers.
    share : float
        Share of the cells, between 0 and 1.
    random_state : int
        Seed of the random choice. The same seed hides the same cells, wherever the rows are read.
    first_row : int
        Number of the table's first row in a larger table, so that the same cells are hidden as there.
    groups : array, optional
        A label for each row, also of the larger table: rows with equal labels have the same cells hidden.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.ones((1000, 10)))
    >>> hidden = hiddenbits.tables.hide_cells(table, 0.2, random_state=0)
    >>> bool(1800 < hidden.n_missing < 2200)
    True
    """
    if table.n_numbers:
        raise TableError("Cells of columns of numbers cannot be held out. Exclude these columns, or hold out rows.")
    leaders = None
    if groups is not None:
        labels = np.asarray(groups)
        if labels.ndim != 1 or len(labels) < first_row + table.shape[0]:
            raise ValueError(f"groups= has shape {labels.shape}. Give one label for each of the {table.shape[0]} rows.")
        _, first, group = np.unique(labels, return_index=True, return_inverse=True)
        leaders = first[group]
    hiding = HiddenCells(share, random_state, table.layout, leaders)
    if not table.source.resident:
        return replace(table, source=MaskedSource(table.source, hiding, first_row))
    x, observed = hiding.hide(*table.source.read(0, table.shape[0]), first_row)
    held = RealsSource(x, observed) if isinstance(x, Reals) else MemorySource(x, observed)
    return replace(table, source=held)
