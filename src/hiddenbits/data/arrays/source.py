"""Rows of arrays in any format, and the source that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from scipy import sparse

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.cell_checks import Empty, dense_bits, packed_bits, sparse_bits
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.places import Place
from hiddenbits.data.masks import Mask, in_storage, mask_bytes, mask_for
from hiddenbits.data.table import MemorySource
from hiddenbits.exceptions import TableError

SAMPLE_CELLS = 1 << 18  # cells of each array that are searched for missing values

Storage = Literal["dense", "sparse", "packed"]
T = TypeVar("T")


class RowArray(Protocol):
    """An array that can be sliced by rows, in any thread or process."""

    @property
    def place(self) -> Place | None:
        """Its file, for messages."""
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
        """Yield function(values, first row) for each piece of rows start to stop, in order.

        The values are an ndarray, a SciPy sparse array, or packed bits.
        """
        ...


@dataclass(frozen=True)
class CellConverter:
    """Checks cells and converts them to `Bits`.

    Attributes
    ----------
    storage : {"dense", "sparse", "packed"}
        The type of the arrays.
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
        """Return (x, observed) of some rows; messages count rows from `first_row`."""
        if self.storage == "packed":
            return packed_bits(values, self.n_columns, first_row)
        if self.storage == "sparse":
            return sparse_bits(
                values, empty=self.empty, threshold=self.threshold, names=self.names, first_row=first_row
            )
        if values.dtype == np.bool_:
            values = values.view(np.uint8)  # bytes of a bool file may have any value, which is checked
        return dense_bits(values, empty=self.empty, threshold=self.threshold, names=self.names, first_row=first_row)

    def count_missing(self, values: Any, first_row: int) -> int:
        """Return the number of missing cells of some rows; of a sparse array, only stored cells count."""
        if self.storage == "sparse":
            return int(np.isnan(values.data).sum()) if values.dtype.kind == "f" else 0
        _, observed = self(values, first_row)
        return int(np.prod(observed.shape)) - int(observed.row_sums().sum())

    def convert_no_rows(self) -> tuple[Bits, Bits]:
        """Return (x, observed) of no rows; raises an error for options that no cell could satisfy."""
        if self.storage == "sparse":
            return self(sparse.csr_array((1, self.n_columns), dtype=np.uint8)[:0], 0)
        width = self.n_columns if self.storage == "dense" else (self.n_columns + 7) // 8
        return self(np.zeros((0, width), np.uint8), 0)


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Rows of stacked arrays; cells are checked as they are read.

    Attributes
    ----------
    arrays : tuple of RowArray
        The arrays that hold the rows.
    converter : CellConverter
        Converts cells to `Bits`.
    mask : {"none", "missing", "dense", "observed"}
        Storage of the observed-mask, the same for all rows, or sums over parts would depend on where parts begin.
    share : float
        Share of missing cells, estimated from the first rows.
    """

    arrays: tuple[RowArray, ...]
    converter: CellConverter
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
        return self.converter.n_columns

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        n, mask = self.n_columns, self.n_columns * mask_bytes(self.mask, self.share)
        return mask + {"dense": n, "packed": (n + 7) // 8, "sparse": 8 + 4 * self.row_cells}[self.converter.storage]

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic uses: all, or those that are stored."""
        if self.converter.storage != "sparse":
            return float(self.n_columns)
        return sum(array.row_items * array.shape[0] for array in self.arrays) / max(self.n_rows, 1)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop; memory-mapped bytes are not copied."""
        xs: list[Bits] = []
        masks: list[Bits] = []
        for array, low, high in self._array_ranges(start, stop):
            with nullcontext() if array.place is None else reading(array.place):
                for x, observed in array.mapped(self.converter, low, high):
                    xs.append(x)
                    masks.append(self._in_table_storage(observed))
        if not xs:
            x, observed = self.converter.convert_no_rows()
            return x, self._in_table_storage(observed)
        return stack(xs), stack(masks)

    def only(self, start: int, stop: int) -> ArraySource:
        """Return the source with only the data that rows start to stop need, so that less is sent to workers."""
        ranges = {id(array): (low, high) for array, low, high in self._array_ranges(start, stop)}
        cut = (array.only(*ranges.get(id(array), (0, 0))) if hasattr(array, "only") else array for array in self.arrays)
        return replace(self, arrays=tuple(cut))

    def _array_ranges(self, start: int, stop: int) -> Iterator[tuple[RowArray, int, int]]:
        """Yield (array, first row and last row within it) that together are rows start to stop."""
        for array in self.arrays:
            low, high = max(start, 0), min(stop, array.shape[0])
            if low < high:
                yield array, low, high
            start, stop = start - array.shape[0], stop - array.shape[0]

    def _in_table_storage(self, observed: Bits) -> Bits:
        """Return the observed-mask of some rows in the storage of the whole table."""
        if self.mask == "none" and not isinstance(observed, AllOnes):
            raise TableError(
                "a cell is missing, although the type of the cells allows no missing values, or the first 250,000 have "
                "none. Give dask the right dtype; for a sparse file, set nan=True, so that every part allows missing "
                "values; or set empty='zero'."
            )
        return in_storage(observed, self.mask)


def open_rows(arrays: Sequence[RowArray], converter: CellConverter, *, nan: bool | None = None) -> ArraySource:
    """Return the source of stacked arrays; the first rows of each determine the storage of the mask.

    Parameters
    ----------
    arrays : sequence of RowArray
        All of one storage, with the same number of columns.
    converter : CellConverter
        Converts cells to `Bits`.
    nan : bool, optional
        Whether stored cells of sparse arrays may be missing. By default determined from the first rows.
    """
    converter.convert_no_rows()
    source = ArraySource(tuple(arrays), converter, "none", 0.0)
    is_dense = converter.storage != "sparse"
    if converter.empty == "missing" and not is_dense:
        return replace(source, mask="observed", share=1 - source.row_cells / converter.n_columns)
    arrays_with_missing = [array for array in arrays if array.can_miss] if converter.empty != "zero" else []
    if not arrays_with_missing or nan is False:
        return source
    if nan:
        return replace(source, mask="missing")
    n_missing_cells = n_cells = 0
    for array in arrays_with_missing:
        rows = min(int(max(1, SAMPLE_CELLS // max(array.row_items, 1.0))), array.shape[0])
        n_cells += rows * converter.n_columns
        with nullcontext() if array.place is None else reading(array.place):
            n_missing_cells += sum(array.mapped(converter.count_missing, 0, rows))
    share = n_missing_cells / max(n_cells, 1)
    if is_dense:
        return replace(source, mask=mask_for(share), share=share)
    return replace(source, mask="missing" if n_missing_cells else "none", share=share)


def memory_source(pieces: Sequence[tuple[Bits, Bits]]) -> MemorySource:
    """Return the source of stacked arrays in memory, from their (x, observed)."""
    return MemorySource(stack([x for x, _ in pieces]), stack_observed([observed for _, observed in pieces]))


def stack(pieces: Sequence[Bits]) -> Bits:
    """Return the stacked pieces, in their storage if all have the same, otherwise dense."""
    first, n_columns = pieces[0], pieces[0].shape[1]
    if len(pieces) == 1:
        return first
    if any(type(piece) is not type(first) for piece in pieces):
        return Dense(np.concatenate([piece.to_dense() for piece in pieces]))
    if isinstance(first, AllOnes):
        return AllOnes((sum(piece.shape[0] for piece in pieces), n_columns))
    if isinstance(first, Complement):
        return Complement(stack([piece.of for piece in pieces if isinstance(piece, Complement)]))
    if isinstance(first, Packed):
        return Packed(np.concatenate([piece.packed for piece in pieces if isinstance(piece, Packed)]), n_columns)
    if isinstance(first, Pattern):
        patterns = [piece.ones() for piece in pieces]
        lengths = np.concatenate([np.diff(indptr) for indptr, _ in patterns])
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Pattern(indptr, np.concatenate([indices for _, indices in patterns]), n_columns)
    return Dense(np.concatenate([piece.to_dense() for piece in pieces]))


def stack_observed(pieces: Sequence[Bits]) -> Bits:
    """Return the stacked observed-masks, in a storage that suits the whole table."""
    if len({type(piece) for piece in pieces}) == 1 and isinstance(pieces[0], (AllOnes, Pattern)):
        return stack(pieces)
    n_cells = sum(piece.shape[0] * piece.shape[1] for piece in pieces)
    n_missing_cells = n_cells - sum(int(piece.row_sums().sum()) for piece in pieces)
    return stack([in_storage(piece, mask_for(n_missing_cells / n_cells)) for piece in pieces])
