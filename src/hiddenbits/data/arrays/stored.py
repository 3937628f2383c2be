"""Named arrays, as HDF5 files and Zarr stores hold them: what a file declares, and rows that h5py or zarr read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.places import Place
from hiddenbits.quoting import told

LISTED = 100  # names that a message shows at most


@dataclass(frozen=True)
class StoredArray:
    """What a file declares of one array of numbers.

    Attributes
    ----------
    name : str
        Path of the array within the file.
    shape : tuple of int
        Its shape; the first axis is cut when rows are read.
    dtype : str
        NumPy's name of the cells' type, byte order included.
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

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk's cells."""
        return math.prod(self.chunk or (0,)) * np.dtype(self.dtype).itemsize

    @property
    def band(self) -> int:
        """Rows that are decompressed together: the height of a chunk."""
        return self.chunk[0] if self.chunk else 1


class Store(Protocol):
    """A file of named arrays that can be opened again and again, in any thread or process."""

    @property
    def place(self) -> Place:
        """Where the file is."""
        ...

    def open(self) -> AbstractContextManager[Reader]:
        """Open the file for a while."""
        ...


class Reader(ABC):
    """An opened file of named arrays: groups and arrays of h5py or of zarr, which answer to the same words.

    Parameters
    ----------
    max_bytes : int
        The most that a chunk or a row may take in memory.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._nodes: dict[str, Any] = {}

    @abstractmethod
    def _find(self, name: str) -> Any:
        """Return the library's group or array at a path, None if there is nothing."""

    @abstractmethod
    def _texts(self, node: Any) -> list[Any] | None:
        """Return the cells of an array of text; None if it holds no text."""

    def _check(self, node: Any, name: str) -> None:  # noqa: B027  (Zarr has nothing to refuse)
        """Refuse an array whose cells are not in this file, or cannot be decoded."""

    def _calls(self, what: str) -> AbstractContextManager[None]:
        """Return a context for calls of the library."""
        return library(what)

    def _node(self, name: str) -> Any:
        if name not in self._nodes:
            with self._calls(f"what is at {name[:100]!r}"):
                self._nodes[name] = self._find(name)
        return self._nodes[name]

    def kind(self, name: str) -> Literal["array", "group"] | None:
        """Return what is at this path, None if nothing."""
        node = self._node(name)
        return None if node is None else "array" if hasattr(node, "dtype") else "group"

    def children(self, name: str) -> list[str]:
        """Return the names of what a group holds, sorted; a hundred at most, and none that cannot be listed."""
        if self.kind(name) != "group":
            return []
        with self._calls(f"the group {name!r}"):
            return sorted(str(child) for child in self._node(name))[:LISTED]

    def attribute(self, name: str, key: str) -> Any:
        """Return an attribute of the array or group at this path, None if it has none of that name."""
        with self._calls(f"the attribute {key!r} of {name!r}"):
            value = self._node(name).attrs.get(key)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def array(self, name: str) -> StoredArray:
        """Return what the file declares of an array of numbers, after checking that it can be read here."""
        node = self._node(name)
        if self.kind(name) != "array":
            raise TableError(f"there is no array {name!r} in the file. It is damaged, or AnnData did not write it.")
        self._check(node, name)
        array = _declared(node, name)
        for what, size in (("chunk", array.chunk_bytes), ("row", array.row_bytes)):
            if size > self._max_bytes:
                raise TableError(
                    f"a {what} of the array {name!r} declares {size} bytes, above max_bytes={self._max_bytes}. Write "
                    "it again in smaller chunks, or raise max_bytes=."
                )
        return array

    def rows(self, array: StoredArray, start: int, stop: int) -> NDArray[Any]:
        """Return rows start to stop; an error if the array is not what it was when it was declared."""
        node = self._node(array.name)
        if self.kind(array.name) != "array" or _declared(node, array.name) != array:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        with self._calls(f"the array {array.name!r}, rows {start} to {stop - 1}"):
            return np.asarray(node[start:stop])

    def texts(self, name: str, length: int) -> tuple[str, ...]:
        """Return a one-dimensional array of text."""
        node = self._node(name)
        shape = tuple(node.shape or ())
        if shape != (length,):
            raise TableError(f"{length} names are needed, but {name!r} has the shape {shape}.")
        self._check(node, name)
        with self._calls(f"the array {name!r}"):
            found = self._texts(node)
        if found is None or not all(isinstance(text, str) for text in found):
            raise TableError(f"{name!r} does not hold the columns' names as text. Give them with names=.")
        return tuple(found)


def _declared(node: Any, name: str) -> StoredArray:
    """Return what the library says of an array of numbers."""
    if node.dtype.kind not in "biuf":
        raise TableError(
            f"the array {name!r} holds {node.dtype.str}, not numbers. Cells must be 0, 1 or blank; recode it."
        )
    chunk = None if node.chunks is None else tuple(int(n) for n in node.chunks)
    return StoredArray(name, tuple(int(n) for n in node.shape), node.dtype.str, chunk)


def pieces_of(name: str) -> list[str]:
    """Return the parts of a path within a file. A path never leads out of its file."""
    pieces = [piece for piece in name.split("/") if piece]
    if any(piece in (".", "..") or "\\" in piece or "\0" in piece or ":" in piece for piece in pieces):
        raise TableError(f"{name[:100]!r} is not a path within the file.")
    return pieces


@contextmanager
def library(what: str) -> Iterator[None]:
    """Turn whatever h5py or zarr raises into one `TableError`; only calls of theirs stand in such a block."""
    try:
        yield
    except (TableError, PermissionError):
        raise
    except BlockingIOError as error:
        raise TableError("the file is open for writing, here or in another program. Close it there first.") from error
    except Exception as error:  # damage makes these libraries raise anything, from AttributeError to ZeroDivisionError
        where = f"{what}: " if what else ""
        raise TableError(
            f"{where}cannot be read ({type(error).__name__}: {told(error)}). The file is damaged, or of another "
            "format; write it again."
        ) from error
