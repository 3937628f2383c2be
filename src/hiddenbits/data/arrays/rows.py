"""Rows of arrays on disk, dense or sparse by rows; read part by part, in any thread or process."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hiddenbits.array_types import Bytes
from hiddenbits.data.arrays.stored import Reader, Store, StoredArray
from hiddenbits.data.bits import AllOnes, Bits, Complement, Pattern
from hiddenbits.data.cell_checks import Blank, dense_bits, sparse_bits
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import reading
from hiddenbits.data.masks import Mask, RowsToFill, mask_bytes
from hiddenbits.data.stack import stack

SLAB_BYTES = 1 << 24  # stored bytes that are turned into bits at a time
BAND_BYTES = 1 << 28  # whole chunks are decompressed together up to this size; above, each is for every slab


@dataclass(frozen=True)
class Piece:
    """The rows of one file: an array, or the index pointers, indices and values of a CSR matrix."""

    store: Store
    arrays: tuple[StoredArray, ...]
    n_rows: int


@dataclass(frozen=True)
class Pieces:
    """Files, one below the other.

    Attributes
    ----------
    pieces : tuple of Piece
        The files.
    starts : tuple of int
        The table's row at which each file starts, and the number of rows.
    """

    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.starts[-1]

    def touched(self, start: int, stop: int) -> Iterator[tuple[Piece, int, int, int]]:
        """Yield (piece, first row and last row within it, row of the answer) that together are rows start to stop."""
        first = max(0, min(bisect_right(self.starts, start) - 1, len(self.pieces) - 1))
        for i in range(first, len(self.pieces)):
            low, high = max(start, self.starts[i]), min(stop, self.starts[i + 1])
            if low < high:
                yield self.pieces[i], low - self.starts[i], high - self.starts[i], low - start


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Rows of two-dimensional arrays on disk; only the chunks that hold them are read.

    Attributes
    ----------
    files : Pieces
        Where the rows are.
    n_columns : int
        Number of columns.
    mask : {"none", "missing", "dense", "observed"}
        Storage of the observed-mask, the same for all rows: none, the pattern of the missing cells, dense, or
        the pattern of the observed cells.
    share : float
        Share of the cells that is missing, as far as the first rows tell.
    threshold : float or None
        Numbers above it are ones.
    names : tuple of str or None
        Column names, for messages.
    """

    files: Pieces
    n_columns: int
    mask: Mask
    share: float
    threshold: float | None
    names: tuple[str, ...] | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    @property
    def resident(self) -> bool:
        """The rows are on disk."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded."""
        return self.n_columns * (1 + mask_bytes(self.mask, self.share))

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: all."""
        return float(self.n_columns)

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        rows = RowsToFill((max(min(stop, self.n_rows) - start, 0), self.n_columns), self.mask)
        for piece, low, high, _ in self.files.touched(start, stop):
            (array,) = piece.arrays
            with reading(piece.store.place), piece.store.open() as reader:
                for first, last in _slabs(array, low, high):
                    self._fill(cells_of(reader, array, first, last), first, *rows.next(last - first))
        return rows.bits()

    def _fill(self, values: NDArray[Any], first_row: int, x: Bytes, missing: Bytes | None) -> None:
        """Check a few rows and write their bits and blanks."""
        blank: Blank = "zero" if missing is None else "missing"
        bits, observed = dense_bits(
            values, blank=blank, threshold=self.threshold, names=self.names, first_row=first_row
        )
        x[:] = bits.to_dense()
        if missing is not None and not isinstance(observed, AllOnes):
            missing[:] = 1 - observed.to_dense()


def cells_of(reader: Reader, array: StoredArray, start: int, stop: int) -> NDArray[Any]:
    """Return rows of an array. A byte of a bool array may hold anything: as a number it is checked."""
    values = reader.rows(array, start, stop)
    return values.view(np.uint8) if values.dtype == np.bool_ else values


def _slabs(array: StoredArray, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows that are read together: whole chunks where these are not too large."""
    band, row_bytes = array.band, max(array.row_bytes, 1)
    height = max(1, SLAB_BYTES // row_bytes)
    if height >= band:
        height = height // band * band
    elif band * row_bytes <= BAND_BYTES:
        height = band
    while start < stop:
        last = min((start // height + 1) * height, stop)
        yield start, last
        start = last


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of CSR matrices on disk; only the chunks that hold them are read.

    Attributes
    ----------
    files : Pieces
        Where the rows are.
    n_columns : int
        Number of columns.
    row_items : float
        Stored cells in a row, on average.
    blank : {"auto", "zero", "missing"}
        What an absent cell means.
    nan : bool
        Whether stored cells may be NaN. Every part needs the same storage of the observed-mask.
    threshold : float or None
        Numbers above it are ones.
    names : tuple of str or None
        Column names, for messages.
    max_bytes : int
        The most that the stored cells of the rows of one call may take.
    """

    files: Pieces
    n_columns: int
    row_items: float
    blank: Blank
    nan: bool
    threshold: float | None
    names: tuple[str, ...] | None
    max_bytes: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.files.n_rows

    @property
    def resident(self) -> bool:
        """The rows are on disk."""
        return False

    @property
    def row_bytes(self) -> float:
        """Bytes of memory that one row takes when loaded, on average."""
        return 8 + (8 if self.blank == "missing" else 4) * self.row_items

    @property
    def row_cells(self) -> float:
        """Cells of a row that arithmetic touches: its ones."""
        return self.row_items

    def read(self, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of rows start to stop."""
        xs: list[Bits] = []
        masks: list[Bits] = []
        for piece, low, high, _ in self.files.touched(start, stop):
            with reading(piece.store.place), piece.store.open() as reader:
                x, observed = self._rows(reader, piece, low, high)
            xs.append(x)
            masks.append(observed)
        if not xs:
            nothing = Pattern(np.zeros(1, np.int64), np.zeros(0, np.int32), self.n_columns)
            return nothing, self._mask(nothing if self.blank == "missing" else AllOnes(nothing.shape))
        if isinstance(masks[0], AllOnes):
            return stack(xs), AllOnes((sum(x.shape[0] for x in xs), self.n_columns))
        if isinstance(masks[0], Complement):
            return stack(xs), Complement(stack([mask.of for mask in masks if isinstance(mask, Complement)]))
        return stack(xs), stack(masks)

    def _rows(self, reader: Reader, piece: Piece, start: int, stop: int) -> tuple[Bits, Bits]:
        """Return (x, observed) of some rows of one file."""
        pointers, indices, data = piece.arrays
        item_bytes = indices.row_bytes + data.row_bytes
        indptr = read_pointers(reader, pointers, start, stop, indices.shape[0], self.n_columns)
        first, last = int(indptr[0]), int(indptr[-1])
        if (last - first) * item_bytes > self.max_bytes:
            raise TableError(
                f"rows {start} to {stop - 1} hold {last - first} cells, above max_bytes={self.max_bytes} bytes. Open "
                "the table with a smaller part_bytes=, or raise max_bytes=."
            )
        matrix: Any = sparse.csr_array((stop - start, self.n_columns), dtype=np.uint8)
        matrix.indptr = indptr - first  # set, not passed: SciPy's constructor would check and cast them first
        matrix.indices, matrix.data = (
            native(reader.rows(indices, first, last)),
            native(cells_of(reader, data, first, last)),
        )
        try:
            x, observed = sparse_bits(matrix, blank=self.blank, threshold=self.threshold, names=self.names)
        except TableError as error:
            raise in_file(error, start) from error
        return x, self._mask(observed)

    def _mask(self, observed: Bits) -> Bits:
        """Return the observed-mask in the storage of the whole table."""
        if self.blank == "auto" and self.nan and isinstance(observed, AllOnes):
            n_rows = observed.shape[0]
            return Complement(Pattern(np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32), self.n_columns))
        if not self.nan and isinstance(observed, Complement):
            raise TableError(
                "a stored cell is NaN, after none in the first million. Open the table with nan=True, so that every "
                "part is ready for it, or with blank='zero'."
            )
        return observed


def read_pointers(
    reader: Reader, pointers: StoredArray, start: int, stop: int, n_items: int, n_columns: int
) -> NDArray[np.int64]:
    """Return the index pointers of rows start to stop, checked: ascending, within the items, no row too long."""
    indptr = reader.rows(pointers, start, stop + 1)
    if start == 0 and indptr[0] != 0:
        raise TableError(f"the sparse table is damaged: its index pointers start with {indptr[0]}, not 0.")
    wrong = (indptr[1:] < indptr[:-1]) | (indptr[:-1] < 0) | (indptr[1:] > n_items)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise TableError(
            f"row {start + row}: the sparse table is damaged: its index pointers go from {indptr[row]} to "
            f"{indptr[row + 1]} of {n_items} stored cells. Write it again."
        )
    indptr = indptr.astype(np.int64)
    lengths = np.diff(indptr)
    if lengths.max(initial=0) > n_columns:
        row = int(np.argmax(lengths))
        raise TableError(
            f"row {start + row}: {lengths[row]} cells are stored for {n_columns} columns, so some are stored twice. "
            "Write each cell once."
        )
    return indptr


def native(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of a type that SciPy's sparse arrays know: this machine's byte order, no half floats."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def in_file(error: TableError, start: int) -> TableError:
    """Return an error about a row of a part as one about a row of the file."""
    return TableError(re.sub(r"^row (\d+)", lambda found: f"row {int(found[1]) + start}", str(error)))
