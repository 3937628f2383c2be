"""Zarr stores, formats 2 and 3: zarr's library reads the metadata, and chunks are unfolded here, each under a cap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.readers.arrays.chunks import most_stored, unfold, unfold_text
from hiddenbits.data.readers.arrays.stored import (
    META_BYTES,
    NAME_BYTES,
    Index,
    StoredArray,
    check_array,
    pieces_of,
    read_rows,
)
from hiddenbits.data.readers.arrays.zarr_folder import Files, open_files_of
from hiddenbits.data.readers.arrays.zarr_layout import DOCUMENTS, ZarrArray, declared, mark_of, parsed
from hiddenbits.data.table import TableError


@dataclass(frozen=True)
class ZarrStore:
    """A Zarr store: a folder, or a zip archive of one.

    Attributes
    ----------
    path : str
        The folder or archive.
    size : int or None
        Bytes of the archive, to notice one that was replaced.
    max_bytes : int
        The most that a chunk may take in memory.
    """

    path: str
    size: int | None
    max_bytes: int

    @contextmanager
    def open(self) -> Iterator[ZarrReader]:
        """Open the store for a while."""
        if self.size is not None and Path(self.path).stat().st_size != self.size:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        with open_files_of(self.path) as files:
            yield ZarrReader(files, self.max_bytes)


class ZarrReader:
    """An opened Zarr store; see `stored.Reader`."""

    def __init__(self, files: Files, max_bytes: int) -> None:
        self._files, self._max_bytes = files, max_bytes

    def kind(self, name: str) -> Literal["array", "group"] | None:
        """Return what is at this path, None if nothing."""
        documents = self._documents(name)
        if "zarr.json" in documents:
            kind = parsed(documents["zarr.json"]).get("node_type")
            if kind not in ("array", "group"):
                raise TableError(f"the metadata of {name!r} is damaged: it is neither array nor group.")
            return "array" if kind == "array" else "group"
        return "array" if ".zarray" in documents else "group" if ".zgroup" in documents else None

    def children(self, name: str) -> list[str]:
        """Return the names of what a group holds, for messages."""
        return self._files.children("/".join(pieces_of(name)))

    def attribute(self, name: str, key: str) -> Any:
        """Return an attribute of the array or group at this path, None if it has none of that name."""
        documents = self._documents(name)
        if "zarr.json" in documents:
            attributes = parsed(documents["zarr.json"]).get("attributes", {})
        else:
            attributes = parsed(documents.get(".zattrs", b"{}"))
        return attributes.get(key) if isinstance(attributes, dict) else None

    def array(self, name: str) -> ZarrArray:
        """Return what the store declares of the array, after checking that it can be read here."""
        array, _ = declared("/".join(pieces_of(name)), self._documents(name))
        self._check(array)
        return array

    def rows(self, array: StoredArray, start: int, stop: int) -> NDArray[Any]:
        """Return rows start to stop; an error if the array is not what it was when it was declared."""
        if mark_of(self._documents(array.name)) != array.mark or not isinstance(array, ZarrArray):
            raise TableError("the store has changed since the table was opened. Open the table again.")
        indices: dict[Index, NDArray[np.uint64] | None] = {}
        return read_rows(array, start, stop, lambda index: self._chunk(array, index, indices))

    def texts(self, name: str, length: int) -> tuple[str, ...]:
        """Return a one-dimensional array of text."""
        array, is_text = declared("/".join(pieces_of(name)), self._documents(name))
        if array.shape != (length,) or array.chunk is None or len(array.chunk) != 1 or array.chunk[0] < 1:
            raise TableError(f"{length} names are needed, but {name!r} has the shape {array.shape}.")
        dtype, height = np.dtype(array.dtype), array.chunk[0]
        if dtype.kind == "U" and dtype.itemsize * max(length, height) <= NAME_BYTES:
            cells = replace(array, dtype=f"V{dtype.itemsize}", fill=np.void(bytes(dtype.itemsize)))
            self._check(cells, "V")
            return tuple(str(text) for text in self.rows(cells, 0, length).view(dtype))
        if not is_text or array.shard is not None or 4 * max(length, height) > NAME_BYTES:
            raise TableError(f"{name!r} does not hold the columns' names as text. Give them with names=.")
        found: list[str] = []
        for i in range(-(-length // height)):
            key, size = self._key(array, (i,))
            if size is None:
                found += [""] * height
            elif size > NAME_BYTES:
                raise TableError(f"{key} is too large to hold names. Give them with names=.")
            else:
                found += _texts(unfold_text(self._files.read(key, 0, size), array.steps, NAME_BYTES), height)
        return tuple(found[:length])

    def _check(self, array: ZarrArray, kinds: str = "biuf") -> None:
        together = math.prod(array.shard or ())  # chunks in a file
        check_array(
            array,
            self._max_bytes,
            lambda enough: together * self._files.count(array.name, -(-enough // together)),
            kinds,
        )

    def _documents(self, name: str) -> dict[str, bytes]:
        """Return the metadata documents of an array or group."""
        folder, found = "/".join(pieces_of(name)), {}
        for document in DOCUMENTS:
            key = f"{folder}/{document}" if folder else document
            size = self._files.size(key)
            if size is None:
                continue
            if size > META_BYTES:
                raise TableError(f"{key} has {size} bytes, too many for metadata. It is damaged; write it again.")
            found[document] = self._files.read(key, 0, size)
        return found

    def _key(self, array: ZarrArray, index: Index) -> tuple[str, int | None]:
        """Return the key of the file that a chunk or shard is, and its size."""
        numbers = array.separator.join(map(str, index))
        key = f"{array.name}/{array.prefix}{numbers}" if array.name else f"{array.prefix}{numbers}"
        return key, self._files.size(key)

    def _chunk(
        self, array: ZarrArray, index: Index, indices: dict[Index, NDArray[np.uint64] | None]
    ) -> NDArray[np.uint8] | None:
        """Return the bytes of a chunk's cells, None if the chunk is not there."""
        if array.shard is None:
            key, size = self._key(array, index)
            if size is None:
                return None
            start, length = 0, size
        else:
            at = tuple(i // n for i, n in zip(index, array.shard, strict=True))
            key, size = self._key(array, at)
            if at not in indices:
                indices[at] = None if size is None else self._shard_index(array, key, size)
            places = indices[at]
            if places is None or size is None:
                return None
            place = places[tuple(i % n for i, n in zip(index, array.shard, strict=True))]
            start, length = int(place[0]), int(place[1])
            if start == length == 2**64 - 1:
                return None
            if start + length > size:
                raise TableError(f"it lies beyond the end of {key}, which is damaged or was cut short. Write it again.")
        if length > most_stored(array.chunk_bytes):
            raise TableError(f"{length} bytes are too many for {array.chunk_bytes} bytes of cells. Write it again.")
        return unfold(self._files.read(key, start, length), array.steps, array.chunk_bytes)

    def _shard_index(self, array: ZarrArray, key: str, size: int) -> NDArray[np.uint64]:
        """Return where a shard's chunks are: for each, its first byte and its length."""
        shard = array.shard or ()
        cells = 16 * math.prod(shard)
        length = cells + 4 * len(array.index_steps)
        if length > min(size, META_BYTES):
            raise TableError(f"{key} is too short for the index of a shard. It is damaged; write it again.")
        raw = self._files.read(key, 0 if array.index_first else size - length, length)
        return unfold(raw, array.index_steps, cells).view("<u8").reshape(*shard, 2)


def _texts(raw: bytes, count: int) -> list[str]:
    """Return the texts of a chunk: their number, then for each its length and its UTF-8 bytes."""
    data = memoryview(raw)
    if len(data) < 4 or int.from_bytes(data[:4], "little") != count:
        raise TableError(f"a chunk of names does not hold {count} of them. It is damaged; write it again.")
    found, at = [], 4
    for _ in range(count):
        length = int.from_bytes(data[at : at + 4], "little")
        if at + 4 + length > len(data):
            raise TableError("a chunk of names is cut short. It is damaged; write it again.")
        found.append(bytes(data[at + 4 : at + 4 + length]).decode("utf-8"))
        at += 4 + length
    return found
