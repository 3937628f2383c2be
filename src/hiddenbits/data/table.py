"""A table of bits and numbers: rows that can be loaded repeatedly, on one grid of blocks that belongs to the table.

A `Source` reads rows; a `Table` adds names and weights; a `Grid` cuts the table into blocks of a fixed height and
parts of whole blocks. Blocks are numbered over the whole table, so that results never depend on the size of parts, on
the boundaries of files, or on which worker loads a part.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import LEAST_WEIGHT, MOST_WEIGHT, AnyArray, Floats
from hiddenbits.data.bits import AllOnes, Bits, Dense, Packed, Pattern, with_nan
from hiddenbits.data.block import Block, Part
from hiddenbits.data.layout import Layout, layout_of
from hiddenbits.data.numbers import BitsAndNumbers, numbers_of
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import discreet, quoted

if TYPE_CHECKING:
    from hiddenbits.data.coding.coded_columns import Coding, ReadColumns

PART_BYTES = 64 * 2**20
FEATURE_BYTES = 24  # of what a model computes from a number: its square, itself, and whether it is observed
KEEP_BYTES = 128 * 2**20  # operands of a table in memory are created only once if they take at most this


class Source(Protocol):
    """Where rows come from. `read` may be called any number of times, in any order, from any thread."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        ...

    @property
    def resident(self) -> bool:
        """Whether the rows are already in memory, so that reading is free."""
        ...

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded, on average."""
        ...

    @property
    def row_cells(self) -> float:
        """Cells of a row that computations use, on average: all of them, or the 1s of a pattern."""
        ...

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        ...


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Base class of rows in memory, of bits or real numbers. Only a `MemorySource` has bits to collapse."""

    x: Bits
    observed: Bits

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.x.shape[0]

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers next to the bits."""
        numbers = numbers_of(self.x)
        return 0 if numbers is None else numbers.shape[1]

    @property
    def resident(self) -> bool:
        """Always True."""
        return True

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes."""
        return (self.x.nbytes + self.observed.nbytes) / max(self.n_rows, 1)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return views of rows start to stop."""
        return self.x.rows(start, stop), self.observed.rows(start, stop)


@dataclass(frozen=True, eq=False)
class MemorySource(HeldRows):
    """Rows of bits held in memory or mapped into it; already checked."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.x.shape[1]

    @property
    def row_cells(self) -> float:
        """Cells of a row that computations use, on average."""
        if isinstance(self.x, Pattern):
            return len(self.x.indices) / max(self.n_rows, 1)
        return float(self.n_columns)

    @property
    def mapped(self) -> bool:
        """Whether the rows are a memory map, and in memory only when used."""
        array: Any = self.x.packed if isinstance(self.x, Packed) else getattr(self.x, "values", None)
        while array is not None and not isinstance(array, np.memmap):
            array = getattr(array, "base", None)
        return array is not None


@dataclass(frozen=True, eq=False)
class Table:
    """A table of bits of any size, in memory or on disk, from `open_table`.

    Attributes
    ----------
    source : Source
        Where the rows come from.
    names : tuple of str or None
        Column names, if the source has them.
    weights : ndarray of shape (rows,) or None
        Row weights; None means 1 for every row.
    part_bytes : int
        How much is loaded at a time.
    read_as : ReadColumns or None
        How columns were read that hold values other than bits, and the columns that did not enter.
    levels : Coding or None
        For rows selected from a table with columns that are not binary: how these became bits and numbers.
    version : int or None
        The version of a Delta table; None for all other tables.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.array([[0, 1], [1, np.nan]]))
    >>> table.shape
    (2, 2)
    >>> table.n_missing
    1
    """

    source: Source
    names: tuple[str, ...] | None = None
    weights: Floats | None = None
    part_bytes: int = PART_BYTES
    read_as: ReadColumns | None = field(default=None, repr=False)
    levels: Coding | None = field(default=None, repr=False)
    version: int | None = None

    def __post_init__(self) -> None:
        if not self.shape[0] or not (self.shape[1] or self.n_numbers):
            n, d = self.shape  # scikit-learn's checks require the words in parentheses
            none = "" if d else f" (0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required.)"
            raise TableError(f"The table has {n} rows and {d} columns. It needs at least one of each.{none}")
        if self.names is not None and len(self.names) != self.source.n_columns:
            raise TableError(
                f"{len(self.names)} names were given for {self.source.n_columns} columns. "
                "Give one name for each column."
            )
        if self.names is not None and len(set(self.names)) < len(self.names):
            repeated = next(name for name, count in Counter(self.names).items() if count > 1)
            raise TableError(f"Two columns are called {repeated!r}. Give each column a unique name.")
        if self.weights is not None:
            _check_weights(self.weights, self.shape[0])

    @classmethod
    def of_rows(cls, x: Any, observed: Bits, names: tuple[str, ...] | None, levels: Coding | None = None) -> Table:
        """Return a table of this class over checked rows in memory; a class method is sent to workers without rows."""
        return cls(MemorySource(x, observed), names, levels=levels)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.source.n_rows, self.source.n_columns

    @cached_property
    def layout(self) -> Layout:
        """The bits of each column."""
        return layout_of(None if self.coding_of_levels is None else self.coding_of_levels.sizes, self.shape[1])

    @property
    def coding_of_levels(self) -> Coding | None:
        """How values became bits and numbers, if some columns are not binary; selected rows keep it."""
        return self.coding if self.coding is not None and self.coding.has_levels else None

    @property
    def n_columns(self) -> int:
        """Number of columns; `shape` counts the bits, of which a nominal or ordinal column has several."""
        return self.shape[1] if self.coding_of_levels is None else len(self.coding_of_levels.column_names)

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers next to the bits: continuous ones and counts."""
        return getattr(self.source, "n_numbers", 0)

    def numbers(self) -> Floats | None:
        """Return the columns of numbers of the whole table, NaN where missing; None if there are none."""
        return numbers_of(self.source.read(0, self.source.n_rows)[0]) if self.n_numbers else None

    @property
    def row_size(self) -> int:
        """Number of bits and numbers of a row."""
        return self.shape[1] + self.n_numbers

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if the source has them."""
        if self.coding_of_levels is None or self.names is None:
            return self.names
        return self.coding_of_levels.column_names

    @property
    def only_bits(self) -> bool:
        """Whether the cells are bits, not real numbers."""
        return True

    @property
    def coding(self) -> Coding | None:
        """How values of columns became bits; None if all were bits."""
        return self.levels if self.read_as is None else self.read_as.coding

    @property
    def beside(self) -> dict[str, list[Any]]:
        """The columns that did not enter, by name: their original cells, None for a missing value."""
        return {} if self.read_as is None else self.read_as.beside()

    @property
    def n_missing(self) -> int:
        """Number of cells that were not observed; reads the table when it is on disk."""
        grid = self.grid(max(1, self.part_rows(1)))
        levels = np.flatnonzero(self.layout.is_level)
        n_columns = len(np.unique(self.layout.columns[levels]))
        n_missing = 0
        for part in (grid.load(i) for i in range(grid.n_parts)):
            n_rows, n_bits = part.observed.shape
            n_missing += n_rows * n_bits - int(part.observed.row_sums().sum())
            if (numbers := numbers_of(part.x)) is not None:
                n_missing += int(np.isnan(numbers).sum())
            if n_columns:  # a missing cell of levels has no bit set
                n_missing += n_rows * n_columns - int(part.x.to_dense()[:, levels].sum())
        return n_missing

    def with_weights(self, weights: AnyArray | None) -> Table:
        """Return the same rows with other weights."""
        return replace(self, weights=None if weights is None else np.asarray(weights, np.float64))

    def with_sample_weight(self, sample_weight: ArrayLike | None) -> Table:
        """Return the same rows with their weights multiplied by others, which are checked; None changes nothing.

        A string is the name of a column of weights that did not enter the model.
        """
        if sample_weight is None:
            return self
        if isinstance(sample_weight, str):
            if self.read_as is None:
                raise TableError(
                    f"sample_weight={sample_weight!r} names a column, but all columns of this table are in the model. "
                    "Name it when you open a frame or file, or pass an array with a weight for each row."
                )
            sample_weight = self.read_as.weights(sample_weight, self.shape[0])
        weights = np.asarray(sample_weight, np.float64)
        weighted = self.with_weights(weights)  # checks the weights
        return weighted if self.weights is None else self.with_weights(weights * self.weights)

    def part_rows(self, height: int) -> int:
        """Return how many rows, in whole blocks of `height`, take about `part_bytes`."""
        rows = int(self.part_bytes // max(self.source.row_bytes, 1e-9))
        return max(height, min(rows, self.source.n_rows + height) // height * height)

    def grid(self, height: int) -> Grid:
        """Return the table cut into blocks of `height` rows."""
        return Grid(self, height, self.part_rows(height))

    def to_float(self) -> Floats:
        """Return the whole table as floats, numbers after bits, NaN where missing. For small tables."""
        x, observed = self.source.read(0, self.source.n_rows)
        if self.layout.all_binary:
            cells = with_nan(x, observed)
        else:
            cells = np.where(self.layout.recorded(x, observed) == 1, x.to_dense(), np.nan)
        numbers = numbers_of(x)
        return cells if numbers is None else np.concatenate([cells, numbers], axis=1)

    @classmethod
    def _of_cells(cls, cells: AnyArray, n_numbers: int) -> Table:
        """Return rows as `to_float` returns them as a table in memory; its last columns are numbers."""
        bits, numbers = map(np.ascontiguousarray, np.split(cells, [cells.shape[1] - n_numbers], axis=1))
        observed = ~np.isnan(bits)
        x = BitsAndNumbers(Dense((bits == 1.0).view(np.uint8)), numbers)
        return memory_table(x, None if observed.all() else Dense(observed.view(np.uint8)))


@dataclass(frozen=True, eq=False)
class Grid:
    """A table cut into blocks of one height, and into parts of whole blocks.

    Attributes
    ----------
    table : Table
        The rows.
    height, part_rows : int
        Rows of a block, and of a part.
    given : Grid or None
        If the rows are distinct rows with weights (`collapsed`): all rows, in their own order.
    """

    table: Table
    height: int
    part_rows: int
    given: Grid | None = None

    @cached_property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.table.shape[0] // self.height)

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return -(-self.table.shape[0] // self.part_rows)

    @property
    def as_given(self) -> Grid:
        """The grid of all rows, including equal ones."""
        return self.given or self

    @cached_property
    def blocks(self) -> list[Block]:
        """All blocks of a table in memory, cut once; those of a small table keep their operands."""
        blocks = [block for i in range(self.n_parts) for block in self.load(i).blocks()]
        n_bytes = sum(block.x.operand_bytes + block.observed.operand_bytes for block in blocks)
        keep = n_bytes + FEATURE_BYTES * self.table.n_numbers * self.table.shape[0] <= KEEP_BYTES
        return [replace(block, keep=keep) for block in blocks]

    def load(self, i: int) -> Part:
        """Load part `i`; can be called repeatedly."""
        start = i * self.part_rows
        stop = min(start + self.part_rows, self.table.shape[0])
        with discreet():
            x, observed = self.table.source.read(start, stop)
        weights = self.table.weights
        cells = float(self.table.shape[0] * (self.table.shape[1] + self.table.n_numbers))
        return Part(x, observed, None if weights is None else weights[start:stop], start, self.height, cells)


def _check_weights(weights: Floats, n_rows: int) -> None:
    """Raise an error unless there is one valid weight for each row."""
    if weights.shape != (n_rows,):
        raise TableError(f"Weights of shape {weights.shape} were given for {n_rows} rows. Give one for each row.")
    invalid = ~(np.isfinite(weights) & (weights >= 0.0))
    if invalid.any():
        row = int(np.flatnonzero(invalid)[0])
        raise TableError(f"The weight of row {row} is {quoted(weights[row])}. Weights must be finite and not negative.")
    if not weights.any():
        raise TableError("The weight of every row is 0, so there is nothing to learn from.")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not LEAST_WEIGHT <= total <= MOST_WEIGHT:
        raise TableError(
            f"The weights of the rows add up to {total:.3g}; computations need a sum from {LEAST_WEIGHT:g} to "
            f"{MOST_WEIGHT:g}. Scale them to a mean of 1: first w / w.max(), then w * len(w) / w.sum()."
        )


def memory_table(x: Bits, observed: Bits | None = None) -> Table:
    """Return a table over checked bits in memory."""
    return Table(MemorySource(x, AllOnes(x.shape) if observed is None else observed))
