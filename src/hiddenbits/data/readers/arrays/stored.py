"""Named arrays in chunks, as Zarr stores and HDF5 files hold them: what is declared, and how rows are put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.readers.arrays.chunks import Steps, check_steps
from hiddenbits.data.readers.request import DAMAGE
from hiddenbits.data.table import TableError
from hiddenbits.quoting import cause, told

Index = tuple[int, ...]

MANY_CHUNKS = 1 << 20  # an array that declares more chunks must hold some of them
MANY_ROWS = 1 << 27  # and so must one that declares more rows
ACROSS = 1 << 16  # the most chunks side by side
META_BYTES = 1 << 26  # the most that a metadata document may take
NAME_BYTES = 1 << 28  # the most that all column names may take


@dataclass(frozen=True)
class StoredArray:
    """What a file declares of one array.

    Attributes
    ----------
    name : str
        Path of the array within the file.
    shape : tuple of int
        Its shape; the first axis is cut when rows are read.
    dtype : str
        NumPy's name of the cells' type, byte order included.
    chunk : tuple of int or None
        Shape of a chunk; None if the array lies in the file in one piece.
    axes : tuple of int
        The axes in the order in which a chunk's cells are laid out, the slowest first.
    steps : Steps
        What was done to a chunk's bytes when it was written.
    fill : number or None
        Value of the cells of a chunk that is not there; None if such a chunk is damage.
    mark : str
        What the metadata said, in short, to notice an array that was replaced.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    chunk: tuple[int, ...] | None
    axes: tuple[int, ...]
    steps: Steps
    fill: Any = field(compare=False)  # NaN is not equal to itself; the mark tells
    mark: str

    @property
    def row_bytes(self) -> int:
        """Bytes of one row as it is stored."""
        return math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk's cells."""
        return math.prod(self.chunk or (0,)) * np.dtype(self.dtype).itemsize

    @property
    def band(self) -> int:
        """Rows that are unfolded together: the height of a chunk."""
        return self.chunk[0] if self.chunk else 1

    @property
    def n_chunks(self) -> int:
        """Number of chunks that the shape makes."""
        return math.prod(-(-n // c) for n, c in zip(self.shape, self.chunk or self.shape, strict=True) if n)


class Reader(Protocol):
    """An opened file of named arrays."""

    def kind(self, name: str) -> Literal["array", "group"] | None:
        """Return what is at this path, None if nothing."""
        ...

    def children(self, name: str) -> list[str]:
        """Return the names of what a group holds, for messages."""
        ...

    def attribute(self, name: str, key: str) -> Any:
        """Return an attribute of the array or group at this path, None if it has none of that name."""
        ...

    def array(self, name: str) -> StoredArray:
        """Return what the file declares of the array, after checking that it can be read here."""
        ...

    def rows(self, array: StoredArray, start: int, stop: int) -> NDArray[Any]:
        """Return rows start to stop; an error if the array is not what it was when it was declared."""
        ...

    def texts(self, name: str, length: int) -> tuple[str, ...]:
        """Return a one-dimensional array of text."""
        ...


class Store(Protocol):
    """A file of named arrays that can be opened again and again, in any thread or process."""

    @property
    def path(self) -> str:
        """Where the file is."""
        ...

    def open(self) -> AbstractContextManager[Reader]:
        """Open the file for a while."""
        ...


def pieces_of(name: str) -> list[str]:
    """Return the parts of a path within a file. A path never leads out of its file."""
    pieces = [piece for piece in name.split("/") if piece]
    if any(piece in (".", "..") or "\\" in piece or "\0" in piece or ":" in piece for piece in pieces):
        raise TableError(f"{name[:100]!r} is not a path within the file.")
    return pieces


def check_array(array: StoredArray, max_bytes: int, count: Callable[[int], int], kinds: str = "biuf") -> None:
    """Refuse an array that cannot hold a table, or whose chunks or rows are beyond what memory should be taken for.

    Parameters
    ----------
    array : StoredArray
        What the file declares.
    max_bytes : int
        The most that a chunk or a row may take.
    count : callable
        Given a number that is enough, how many chunks are in the file; asked only when very many are declared.
    kinds : str
        NumPy's letters of the kinds of cells that are allowed.
    """
    where = f"the array {array.name!r}"
    if np.dtype(array.dtype).kind not in kinds:
        raise TableError(f"{where} holds {array.dtype}, not numbers. Cells must be 0, 1 or blank; recode it.")
    if any(n < 0 for n in array.shape) or any(c < 1 for c in array.chunk or ()):
        raise TableError(f"{where} declares the impossible shape {array.shape} in chunks of {array.chunk}.")
    if array.chunk is not None and len(array.chunk) != len(array.shape):
        raise TableError(f"{where} declares the shape {array.shape} in chunks of {array.chunk}. It is damaged.")
    try:
        check_steps(array.steps)
    except TableError as error:
        raise TableError(f"{where}: {error}") from error
    for what, size in (("chunk", array.chunk_bytes), ("row", array.row_bytes)):
        if size > max_bytes:
            raise TableError(
                f"a {what} of {where} declares {size} bytes, above max_bytes={max_bytes}. Write it again in smaller "
                "chunks, or raise max_bytes=."
            )
    if array.chunk is None:
        return
    if math.prod(-(-n // c) for n, c in zip(array.shape[1:], array.chunk[1:], strict=True)) > ACROSS:
        raise TableError(f"{where} is cut into more than {ACROSS} chunks across. Write it again in wider chunks.")
    if array.n_chunks > MANY_CHUNKS or (array.shape and array.shape[0] > MANY_ROWS):
        enough = -(-array.n_chunks // 16)
        if count(enough) < enough:
            raise TableError(
                f"{where} declares the shape {array.shape}, {array.n_chunks} chunks, but hardly any of them are "
                "there. Its metadata is damaged, or the file was never written; write it again."
            )


def read_rows(
    array: StoredArray, start: int, stop: int, fetch: Callable[[Index], NDArray[np.uint8] | None]
) -> NDArray[Any]:
    """Return rows start to stop of an array in chunks.

    Parameters
    ----------
    array : StoredArray
        What the file declares.
    start, stop : int
        The rows.
    fetch : callable
        Given the place of a chunk on the grid of chunks, the bytes of its cells; None if it is not there.
    """
    dtype, chunk = np.dtype(array.dtype), array.chunk or array.shape
    out = np.empty((max(stop - start, 0), *array.shape[1:]), dtype)
    if not out.size:
        return out
    laid_out = [chunk[axis] for axis in array.axes]
    back = np.argsort(array.axes)
    for index in _touched(array.shape, chunk, start, stop):
        first = [i * c for i, c in zip(index, chunk, strict=True)]
        last = [min(f + c, n) for f, c, n in zip(first, chunk, array.shape, strict=True)]
        low, high = max(first[0], start), min(last[0], stop)
        across = list(zip(first[1:], last[1:], strict=True))
        inside = (slice(low - first[0], high - first[0]), *(slice(0, b - a) for a, b in across))
        place = (slice(low - start, high - start), *(slice(a, b) for a, b in across))
        with_place = f"the array {array.name!r}, chunk {index}"
        try:
            cells = fetch(index)
            if cells is not None:
                out[place] = cells.view(dtype).reshape(laid_out).transpose(back)[inside]
        except TableError as error:
            raise TableError(f"{with_place}: {error}") from error
        except DAMAGE as error:
            raise TableError(
                f"{with_place}: it cannot be read ({type(error).__name__}: {told(error)}). It is damaged; write "
                "it again."
            ) from cause(error)
        if cells is None:
            if array.fill is None:
                raise TableError(f"{with_place}: it is not there, and no fill value is given. Write it again.")
            out[place] = array.fill
    return out


def _touched(shape: Sequence[int], chunk: Sequence[int], start: int, stop: int) -> Iterator[Index]:
    """Yield the places of the chunks that hold rows start to stop."""
    rows = range(start // chunk[0], -(-stop // chunk[0]))
    yield from product(rows, *(range(-(-n // c)) for n, c in zip(shape[1:], chunk[1:], strict=True)))
