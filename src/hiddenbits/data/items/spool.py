"""Arrays and row keys that grow at their end: in memory, or in files of a temporary folder once they are large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hiddenbits.array_types import AnyArray
from hiddenbits.data.file_request import reading


class Spool:
    """An array that grows; any slice of it can be read, and replaced, from any thread or process."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype, self.n = np.dtype(dtype), 0
        self.path: Path | None = None
        self._held: list[AnyArray] = []

    @property
    def nbytes(self) -> int:
        """Bytes in memory or on disk."""
        return self.n * self.dtype.itemsize

    def add(self, array: AnyArray) -> None:
        """Put an array at the end."""
        self.n += len(array)
        if self.path is None:
            self._held.append(np.array(array, self.dtype))
        else:
            with self.path.open("ab") as file:
                array.astype(self.dtype, copy=False).tofile(file)

    def spill(self, path: Path) -> None:
        """Move everything to a file."""
        with path.open("wb") as file:
            for array in self._held:
                array.tofile(file)
        self.path, self._held = path, []

    def get(self, start: int = 0, stop: int | None = None) -> AnyArray:
        """Return a slice: a view where it is in memory."""
        stop = self.n if stop is None else min(stop, self.n)
        if self.path is not None:
            with reading(self.path):
                return np.fromfile(self.path, self.dtype, max(stop - start, 0), offset=start * self.dtype.itemsize)
        if len(self._held) != 1:
            self._held = [np.concatenate([np.zeros(0, self.dtype), *self._held])]
        return self._held[0][start:stop]

    def put(self, start: int, array: AnyArray) -> None:
        """Replace what is there from `start` on."""
        if self.path is None:
            self.get(start, start + len(array))[:] = array
        else:
            with self.path.open("r+b") as file:
                file.seek(start * self.dtype.itemsize)
                array.astype(self.dtype, copy=False).tofile(file)


class KeySpool:
    """The keys of rows as Arrow arrays of one type, in the order in which the rows begin.

    Attributes
    ----------
    path : Path or None
        Where the keys are, if not in memory.
    nbytes : int
        Bytes that the keys take.
    """

    def __init__(self) -> None:
        self.path: Path | None = None
        self.nbytes = 0
        self._rises = self._falls = True
        self._last: Any = None
        self._held: list[Any] = []
        self._writer: Any = None

    @property
    def ordered(self) -> bool:
        """Whether no key can come back: they only rise, or only fall."""
        return self._rises or self._falls

    def add(self, keys: Any) -> None:
        """Put keys at the end."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.ordered and len(keys):
            seen = pa.concat_arrays([self._last, keys]) if self._last is not None else keys
            self._rises &= pc.all(pc.less(seen[:-1], seen[1:])).as_py() is not False
            self._falls &= pc.all(pc.greater(seen[:-1], seen[1:])).as_py() is not False
            self._last = keys[-1:]
        self.nbytes += keys.nbytes
        if self._writer is None:
            self._held.append(keys)
        else:
            self._writer.write_batch(pa.record_batch([keys], ["key"]))

    def spill(self, path: Path) -> None:
        """Move everything to a file."""
        import pyarrow as pa

        if self._held:
            self.path = path
            self._writer = pa.ipc.new_file(str(path), pa.schema([("key", self._held[0].type)]))
            for keys in self._held:
                self._writer.write_batch(pa.record_batch([keys], ["key"]))
            self._held = []

    def all(self) -> Any:
        """Return all keys as one Arrow array of chunks; those on disk are mapped, not read. No more can be added."""
        import pyarrow as pa

        if self.path is None:
            return pa.chunked_array(self._held)
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        with pa.memory_map(str(self.path)) as file:
            return pa.ipc.open_file(file).read_all().column(0)
