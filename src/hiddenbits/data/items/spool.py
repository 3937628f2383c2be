"""Arrays and row keys that grow: in memory, or in files of a temporary folder once they are large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hiddenbits.array_types import AnyArray
from hiddenbits.data.file_request import reading


class Spool:
    """A growing array whose slices can be read and replaced from any thread or process."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype, self.n = np.dtype(dtype), 0
        self.path: Path | None = None
        self._held: list[AnyArray] = []

    @property
    def nbytes(self) -> int:
        """Bytes in memory or on disk."""
        return self.n * self.dtype.itemsize

    def add(self, array: AnyArray) -> None:
        """Append an array."""
        if self.path is None:
            self._held.append(np.array(array, self.dtype))
            self.n += len(array)
        else:
            self.put(self.n, array)

    def spill(self, path: Path) -> None:
        """Move everything to a file."""
        path.write_bytes(self.get().data)
        self.path, self._held = path, []

    def get(self, start: int = 0, stop: int | None = None) -> AnyArray:
        """Return a slice: a view if it is in memory."""
        stop = self.n if stop is None else min(stop, self.n)
        if self.path is not None:
            with reading(self.path):
                return np.fromfile(self.path, self.dtype, max(stop - start, 0), offset=start * self.dtype.itemsize)
        if len(self._held) != 1:
            self._held = [np.concatenate([np.zeros(0, self.dtype), *self._held])]
        return self._held[0][start:stop]

    def put(self, start: int, array: AnyArray) -> None:
        """Replace values from `start` on; only a file can grow."""
        if self.path is None:
            self.get(start, start + len(array))[:] = array
        else:
            with self.path.open("r+b") as file:
                file.seek(start * self.dtype.itemsize)
                array.astype(self.dtype, copy=False).tofile(file)
            self.n = max(self.n, start + len(array))


class KeySpool:
    """The keys of rows as Arrow arrays of one type, in row order."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._path: Path | None = None
        self._held: list[Any] = []
        self._writer: Any = None
        self._last: Any = None
        self._rises = self._falls = True

    @property
    def ordered(self) -> bool:
        """Whether no key can occur again later: keys only increase, or only decrease."""
        return self._rises or self._falls

    def add(self, keys: Any) -> None:
        """Append keys."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.ordered and len(keys):
            with_last = keys if self._last is None else pa.concat_arrays([self._last, keys])
            self._rises &= pc.all(pc.less(with_last[:-1], with_last[1:])).as_py() is not False
            self._falls &= pc.all(pc.greater(with_last[:-1], with_last[1:])).as_py() is not False
            self._last = keys[-1:]
        self.nbytes += keys.nbytes
        self._held.append(keys)
        if self._path is not None:
            self.spill(self._path)

    def spill(self, path: Path) -> None:
        """Move everything to a file."""
        import pyarrow as pa

        self._path, held, self._held = path, self._held, []
        for keys in held:
            if self._writer is None:
                self._writer = pa.ipc.new_file(str(path), pa.schema([("key", keys.type)]))
            self._writer.write_batch(pa.record_batch([keys], ["key"]))

    def all(self) -> Any:
        """Return all keys in chunks, mapped if they are on disk. No more keys can be added."""
        import pyarrow as pa

        if self._path is None:
            return pa.chunked_array(self._held)
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        with pa.memory_map(str(self._path)) as file:
            return pa.ipc.open_file(file).read_all().column(0)
