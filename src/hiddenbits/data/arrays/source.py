"""Rows of arrays, wherever they are: the one source of all their formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from scipy import sparse

from hiddenbits.data.bits import AllOnes, Bits
from hiddenbits.data.cell_checks import Empty, dense_bits, packed_bits, sparse_bits
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.places import Place
from hiddenbits.data.masks import Mask, in_storage, mask_bytes, mask_for
from hiddenbits.data.stack import stack, stack_observed
from hiddenbits.data.table import MemorySource
from hiddenbits.exceptions import TableError

SAMPLE = 1 << 18  # cells of each array in which missing ones are looked for

Storage = Literal["dense", "sparse", "packed"]
T = TypeVar("T")


class RowArray(Protocol):
    """An array that can be sliced by rows, in any thread or process."""

    @property
    def place(self) -> Place | None:
        """The file that it is in, for messages."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Its shape; packed bits have a column for each byte."""
        ...

    @property
    def row_items(self) -> float:
        """Stored cells of a row, on average."""
        ...

    @property
    def can_miss(self) -> bool:
        """Whether its type allows missing values."""
        ...

    def mapped(self, function: Callable[[Any, int], T], start: int, stop: int) -> Iterator[T]:
        """Yield function(values, first row) of runs of rows that together are rows start to stop, in order.

        Values are an ndarray, a sparse array of SciPy's, or packed bits.
        """
        ...


@dataclass(frozen=True)
class Cells:
    """How cells are checked and become bits.

    Attributes
    ----------
    storage : {"dense", "sparse", "packed"}
        What arrays they are in.
    n_columns : int
        Number of columns.
    empty, threshold, names
        As for `open_table`.
    """

    storage: Storage
    n_columns: int
    empty: Empty = "auto"
    threshold: float | None = None
    names: tuple[str, ...] | None = None

    def __call__(self, values: Any, first_row: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of some rows; those of messages are counted from `first_row`."""
        if self.storage == "packed":
            return packed_bits(values, self.n_columns, first_row)
        if self.storage == "sparse":
            return sparse_bits(
                values, empty=self.empty, threshold=self.threshold, names=self.names, first_row=first_row
            )
        if values.dtype == np.bool_:
            values = values.view(np.uint8)  # a byte of a bool file may hold anything: have it checked
        return dense_bits(values, empty=self.empty, threshold=self.threshold, names=self.names, first_row=first_row)

    def count_missing(self, values: Any, first_row: int) -> int:
        """Return how many cells of some rows are missing; stored ones of a sparse array are looked at alone."""
        if self.storage == "sparse":
            return int(np.isnan(values.data).sum()) if values.dtype.kind == "f" else 0
        _, observed = self(values, first_row)
        return int(np.prod(observed.shape)) - int(observed.row_sums().sum())

    def no_rows(self) -> tuple[Bits, Bits]:
        """Return (x, observed) of no rows; refuses options with which no cell could be read."""
        if self.storage == "sparse":
            return self(sparse.csr_array((1, self.n_columns), dtype=np.uint8)[:0], 0)
        width = self.n_columns if self.storage == "dense" else (self.n_columns + 7) // 8
        return self(np.zeros((0, width), np.uint8), 0)


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Rows of arrays one below the other; cells are checked as they are read.

    Attributes
    ----------
    arrays : tuple of RowArray
        Where the rows are.
    cells : Cells
        How cells become bits.
    mask : {"none", "missing", "dense", "observed"}
        How the observed-mask is stored, for all rows alike, or sums over parts would depend on where parts begin.
    share : float
        Share of the cells that is missing, as far as the first rows tell.
    """

    arrays: tuple[RowArray, ...]
    cells: Cells
    mask: Mask
    share: float

    resident: ClassVar[bool] = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(array.shape[0] for array in self.arrays)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.cells.n_columns

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        n, mask = self.n_columns, self.n_columns * mask_bytes(self.mask, self.share)
        return mask + {"dense": n, "packed": (n + 7) // 8, "sparse": 8 + 4 * self.row_cells}[self.cells.storage]

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: all, or those that are stored."""
        if self.cells.storage != "sparse":
            return float(self.n_columns)
        return sum(array.row_items * array.shape[0] for array in self.arrays) / max(self.n_rows, 1)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop; bytes that are mapped into memory are not copied."""
        xs: list[Bits] = []
        masks: list[Bits] = []
        for array, low, high in self._touched(start, stop):
            with nullcontext() if array.place is None else reading(array.place):
                for x, observed in array.mapped(self.cells, low, high):
                    xs.append(x)
                    masks.append(self._stored(observed))
        if not xs:
            x, observed = self.cells.no_rows()
            return x, self._stored(observed)
        return stack(xs), stack(masks)

    def only(self, start: int, stop: int) -> ArraySource:
        """Return the source with what rows start to stop need and no more: less to send, where arrays can be large."""
        needed = {id(array): (low, high) for array, low, high in self._touched(start, stop)}
        cut = [array.only(*needed.get(id(array), (0, 0))) if hasattr(array, "only") else array for array in self.arrays]
        return replace(self, arrays=tuple(cut))

    def _touched(self, start: int, stop: int) -> Iterator[tuple[RowArray, int, int]]:
        """Yield (array, first row and last row within it) that together are rows start to stop."""
        for array in self.arrays:
            low, high = max(start, 0), min(stop, array.shape[0])
            if low < high:
                yield array, low, high
            start, stop = start - array.shape[0], stop - array.shape[0]

    def _stored(self, observed: Bits) -> Bits:
        """Return the observed-mask of some rows in the storage of the whole table."""
        if self.mask == "none" and not isinstance(observed, AllOnes):
            raise TableError(
                "a cell is missing, where the type of the cells allows no missing values, or after none among the "
                "first 250,000. Give dask the right dtype; of a sparse file, set nan=True, so that every part is ready "
                "for missing values; or set empty='zero'."
            )
        return in_storage(observed, self.mask)


def open_rows(arrays: Sequence[RowArray], cells: Cells, *, nan: bool | None = None) -> ArraySource:
    """Return the source of arrays one below the other; the first rows of each tell how the mask is stored.

    Parameters
    ----------
    arrays : sequence of RowArray
        All of one storage, with the same number of columns.
    cells : Cells
        How cells become bits.
    nan : bool, optional
        Whether stored cells of sparse arrays may be missing. By default the first rows tell.
    """
    cells.no_rows()
    source = ArraySource(tuple(arrays), cells, "none", 0.0)
    dense = cells.storage != "sparse"
    if cells.empty == "missing" and not dense:
        return replace(source, mask="observed", share=1 - source.row_cells / cells.n_columns)
    may_miss = [array for array in arrays if array.can_miss] if cells.empty != "zero" else []
    if not may_miss or nan is False:
        return source
    if nan:
        return replace(source, mask="missing")
    missing = seen = 0
    for array in may_miss:
        rows = min(int(max(1, SAMPLE // max(array.row_items, 1.0))), array.shape[0])
        seen += rows * cells.n_columns
        with nullcontext() if array.place is None else reading(array.place):
            missing += sum(array.mapped(cells.count_missing, 0, rows))
    share = missing / max(seen, 1)
    if dense:
        return replace(source, mask=mask_for(share), share=share)
    return replace(source, mask="missing" if missing else "none", share=share)


def held(pieces: Sequence[tuple[Bits, Bits]]) -> MemorySource:
    """Return (x, observed) of arrays in memory, one below the other."""
    return MemorySource(stack([x for x, _ in pieces]), stack_observed([observed for _, observed in pieces]))
