"""Named arrays in HDF5 files and Zarr stores, which h5py and zarr read with the same interface."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hiddenbits.data.locations.places import Place
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

SLAB_BYTES = 1 << 24  # stored bytes that are converted at a time

Find = Callable[[str], Any]  # the group or array at a path, None if there is nothing
T = TypeVar("T")


class Store(Protocol):
    """A file of named arrays that can be opened repeatedly, in any thread or process."""

    @property
    def place(self) -> Place:
        """The location of the file."""
        ...

    @property
    def max_bytes(self) -> int:
        """Maximum memory of a chunk, a row, or the stored cells of a part."""
        ...

    def open(self) -> AbstractContextManager[Find]:
        """Open the file for a while."""
        ...


@dataclass(frozen=True)
class StoredArray:
    """Metadata of one array of numbers in a file.

    Attributes
    ----------
    name : str
        Path of the array within the file.
    shape : tuple of int
        Its shape; the first axis is sliced when rows are read.
    dtype : str
        NumPy's name of the type, including the byte order.
    chunk : tuple of int or None
        Shape of a chunk; None if the array is stored in one piece.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    chunk: tuple[int, ...] | None

    @property
    def row_bytes(self) -> int:
        """Bytes of one row as it is stored."""
        return math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize

    def read(self, find: Find, start: int, stop: int) -> NDArray[Any]:
        """Return rows start to stop, in a type that SciPy supports: native byte order, no half floats."""
        node = find(self.name)
        if node is None or declared(node, self.name) != self:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        values = np.asarray(node[start:stop])
        return values.astype(np.float32 if values.dtype == np.float16 else values.dtype.newbyteorder("="), copy=False)

    def slabs(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows that are read together: complete chunks."""
        band = self.chunk[0] if self.chunk else 1
        height = max(SLAB_BYTES // max(self.row_bytes, 1) // band, 1) * band
        while start < stop:
            last = min((start // height + 1) * height, stop)
            yield start, last
            start = last


def declared(node: Any, name: str, max_bytes: float = math.inf) -> StoredArray:
    """Return the metadata of an array of numbers, after checking its sizes against the limit."""
    if node is None or node.dtype.kind not in "biuf":
        unit = "is not there" if node is None else f"holds {node.dtype.str}, not numbers"
        raise TableError(f"the array {name!r} {unit}. Cells must be 0, 1 or missing; write them again.")
    chunk = None if node.chunks is None else tuple(int(n) for n in node.chunks)
    array = StoredArray(name, tuple(int(n) for n in node.shape), node.dtype.str, chunk)
    for unit, size in (("chunk", math.prod(chunk or ()) * node.dtype.itemsize), ("row", array.row_bytes)):
        if size > max_bytes:
            raise TableError(
                f"a {unit} of the array {name!r} declares {size} bytes, above max_bytes={max_bytes}. Write it again in "
                "smaller chunks, or raise max_bytes=."
            )
    return array


@dataclass(frozen=True)
class DenseRows:
    """Rows of a two-dimensional array in a file; only the chunks that hold them are read."""

    store: Store
    array: StoredArray

    kind: Literal["dense"] = "dense"

    @property
    def place(self) -> Place:
        """The file."""
        return self.store.place

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.array.shape[0], self.array.shape[1]

    @property
    def row_items(self) -> float:
        """Cells of a row."""
        return float(self.array.shape[1])

    @property
    def can_miss(self) -> bool:
        """Whether cells may be NaN."""
        return np.dtype(self.array.dtype).kind == "f"

    def mapped(self, function: Callable[[Any, int], T], start: int, stop: int) -> Iterator[T]:
        """Yield function(rows, first row), some chunks at a time."""
        with library(), self.store.open() as find:
            for low, high in self.array.slabs(start, stop):
                yield function(self.array.read(find, low, high), low)


@dataclass(frozen=True)
class SparseRows:
    """Rows of a CSR or CSC matrix in a file; one by columns (CSC) is read completely."""

    store: Store
    kind: Literal["csr", "csc"]
    shape: tuple[int, int]
    indptr: StoredArray
    indices: StoredArray
    data: StoredArray

    @property
    def place(self) -> Place:
        """The file."""
        return self.store.place

    @property
    def row_items(self) -> float:
        """Stored cells of a row, on average."""
        return self.indices.shape[0] / max(self.shape[0], 1)

    @property
    def can_miss(self) -> bool:
        """Whether cells may be NaN."""
        return np.dtype(self.data.dtype).kind == "f"

    def mapped(self, function: Callable[[Any, int], T], start: int, stop: int) -> Iterator[T]:
        """Yield function(rows, first row) with the rows as one sparse array; for a CSC matrix, the columns."""
        with library(), self.store.open() as find:
            indptr = self.indptr.read(find, start, stop + 1).astype(np.int64)
            first, last, n_items = int(indptr[0]), int(indptr[-1]), self.indices.shape[0]
            if not 0 <= first <= last <= n_items or (start == 0 and first):
                raise TableError(
                    f"rows {start} to {stop - 1}: the sparse table is damaged: its index pointers go from {first} to "
                    f"{last} of {n_items} stored cells. Write it again."
                )
            if (last - first) * (self.indices.row_bytes + self.data.row_bytes) > self.store.max_bytes:
                raise TableError(
                    f"rows {start} to {stop - 1} hold {last - first} cells, above max_bytes={self.store.max_bytes} "
                    "bytes. Open the table with a smaller part_bytes=, or raise max_bytes=. A table that is stored by "
                    "columns (CSC) is loaded whole: write it by rows (X.tocsr())."
                )
            by_rows = self.kind == "csr"
            shape = (stop - start, self.shape[1]) if by_rows else self.shape
            matrix: Any = (sparse.csr_array if by_rows else sparse.csc_array)(shape, dtype=np.uint8)
            # Set, not passed: SciPy's constructor would cast index arrays before they are checked.
            matrix.indptr = indptr - first
            matrix.indices = self.indices.read(find, first, last)
            data = self.data.read(find, first, last)
            matrix.data = data.view(np.uint8) if data.dtype == np.bool_ else data  # checked: bytes may have any value
            yield function(matrix, start if by_rows else 0)


def pieces_of(name: str) -> list[str]:
    """Return the parts of a path within a file. A path never leads out of its file."""
    pieces = [piece for piece in name.split("/") if piece]
    if any(piece in (".", "..") or "\\" in piece or "\0" in piece or ":" in piece for piece in pieces):
        raise TableError(f"{name[:100]!r} is not a path within the file.")
    return pieces


@contextmanager
def library() -> Iterator[None]:
    """Turn all errors of h5py and zarr into a `TableError`."""
    try:
        yield
    except (TableError, PermissionError, FileNotFoundError):
        raise
    except BlockingIOError as error:
        raise TableError("the file is open for writing, here or in another program. Close it there first.") from error
    except Exception as error:  # after damage these libraries raise anything, from AttributeError to ZeroDivisionError
        plugin = (
            " or import the package that has this filter, such as hdf5plugin" if "required filter" in str(error) else ""
        )
        raise TableError(
            f"cannot be read ({type(error).__name__}: {redacted(error)}). The file is damaged, or of another format; "
            f"write it again{plugin}."
        ) from error
