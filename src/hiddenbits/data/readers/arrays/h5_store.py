"""HDF5 files of named arrays: a process of its own finds them, and their cells are read here, without HDF5.

HDF5's library crashes or hangs on some damaged files, unfolds chunks without limit, and fills up a chunk that
unfolds to too little with whatever lay in memory. So it only says where the arrays are (`h5_child`), and in a
process whose death is an error like any other.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.readers.arrays.chunks import most_stored, unfold
from hiddenbits.data.readers.arrays.stored import MANY_ROWS, Index, StoredArray, check_array, read_rows
from hiddenbits.data.table import TableError

SECONDS = 60.0  # that a single step of the survey may take
KEPT = 256  # surveys that are remembered
Nodes = dict[str, dict[str, Any]]

_surveys: dict[Any, Nodes] = {}
_lock = threading.Lock()


def check_h5py() -> None:
    """Say how to install h5py if it is not there."""
    if importlib.util.find_spec("h5py") is None:
        raise ImportError(".h5ad files need h5py: pip install 'hiddenbits[files]'.")


@dataclass(frozen=True)
class H5Store:
    """An HDF5 file; opened again for every read, so that it can be read by any thread or process.

    Attributes
    ----------
    path : str
        The file.
    size : int
        Its bytes, to notice one that was replaced.
    layer : str or None
        A layer of AnnData instead of X.
    names : bool
        Whether the names of the columns are wanted.
    max_bytes : int
        The most that a chunk may take in memory.
    """

    path: str
    size: int
    layer: str | None
    names: bool
    max_bytes: int

    @contextmanager
    def open(self) -> Iterator[H5Reader]:
        """Open the file for a while."""
        if Path(self.path).stat().st_size != self.size:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        (nodes,) = survey([self])
        if isinstance(nodes, TableError):
            raise nodes
        with Path(self.path).open("rb") as file:
            yield H5Reader(file, self.size, nodes, self.max_bytes)


def survey(stores: Sequence[H5Store]) -> list[Nodes | TableError]:
    """Return what each file holds, or what is wrong with it; files that are not known yet are surveyed together."""
    keys = [(store.path, store.layer, store.names, store.size, Path(store.path).stat().st_mtime_ns) for store in stores]
    with _lock:  # one survey at a time: the second thread that asks for a file finds it known
        found: dict[Any, Nodes | TableError] = {key: _surveys[key] for key in keys if key in _surveys}
        todo = [key for key in dict.fromkeys(keys) if key not in found]
        while todo:
            answers = _ask([key[0] for key in todo], todo[0][1], todo[0][2])
            for key, answer in zip(todo, answers, strict=False):
                found[key] = answer["nodes"] if "nodes" in answer else TableError(answer["error"])
            if len(answers) < len(todo):
                found[todo[len(answers)]] = TableError(
                    "HDF5's library crashed or took for ever over the file. It is damaged; write it again."
                )
            todo = todo[len(answers) + 1 :]
        for key, nodes in found.items():
            if not isinstance(nodes, TableError):
                if len(_surveys) >= KEPT:
                    _surveys.clear()
                _surveys[key] = nodes
    return [found[key] for key in keys]


def _ask(paths: Sequence[str], layer: str | None, names: bool) -> list[dict[str, Any]]:
    """Run the survey of some files of one kind; it ends early at a file that the library cannot bear."""
    script = Path(__file__).with_name("h5_child.py")
    asked = json.dumps({"paths": list(paths), "layer": layer, "names": names, "seconds": SECONDS})
    run = subprocess.run(  # noqa: S603  (this Python, and a script of this package)
        [sys.executable, "-P", "-W", "ignore", str(script)],
        input=asked.encode(),
        capture_output=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    ready, *lines = run.stdout.split(b"\n")
    if ready != b"ready":
        said = " ".join(run.stderr.decode("utf-8", "replace").split())[-200:]
        raise TableError(f"h5py could not be run in a process of its own, which reads .h5ad files safely: {said}")
    return [json.loads(line) for line in lines[:-1]]  # the last line is empty, or was cut short


class H5Reader:
    """An opened HDF5 file; see `stored.Reader`."""

    def __init__(self, file: BinaryIO, size: int, nodes: Nodes, max_bytes: int) -> None:
        self._file, self._size, self._nodes, self._max_bytes = file, size, nodes, max_bytes

    def kind(self, name: str) -> Literal["array", "group"] | None:
        """Return what is at this path, None if nothing."""
        node = self._nodes.get(name)
        return None if node is None else "array" if node["kind"] == "array" else "group"

    def children(self, name: str) -> list[str]:
        """Return the names of what a group holds, for messages."""
        return list(self._nodes.get(name, {}).get("children", []))

    def attribute(self, name: str, key: str) -> Any:
        """Return an attribute of the array or group at this path, None if it has none of that name."""
        return self._nodes[name]["attributes"].get(key)

    def array(self, name: str) -> StoredArray:
        """Return what the file declares of the array, after checking that it can be read here."""
        array = self._declared(name)
        check_array(array, self._max_bytes, lambda _: len(self._places(name)))
        if array.chunk is None and array.shape:
            offset, n_rows = self._nodes[name].get("offset"), array.shape[0]
            # An array that was never written has no place, and is its fill value.
            if n_rows > MANY_ROWS if offset is None else offset + n_rows * array.row_bytes > self._size:
                raise TableError(
                    f"the array {name!r} declares the shape {array.shape}, more than the file holds. It is damaged or "
                    "was cut short; write it again."
                )
        return array

    def rows(self, array: StoredArray, start: int, stop: int) -> NDArray[Any]:
        """Return rows start to stop; an error if the array is not what it was when it was declared."""
        if array.name not in self._nodes or self._declared(array.name) != array:
            raise TableError("the file has changed since the table was opened. Open the table again.")
        if array.chunk is not None:
            return read_rows(array, start, stop, lambda index: self._chunk(array, index))
        node, width = self._nodes[array.name], array.row_bytes
        shape = max(stop - start, 0), *array.shape[1:]
        if "data" in node:
            raw = base64.b64decode(node["data"])[start * width : stop * width]
        elif node.get("offset") is None:
            if array.fill is None:
                raise TableError(f"the array {array.name!r} was never written. Write the file again.")
            return np.full(shape, array.fill, array.dtype)
        else:
            self._file.seek(node["offset"] + start * width)
            raw = self._file.read(shape[0] * width)
        if len(raw) != shape[0] * width:
            raise TableError(f"the array {array.name!r} ends beyond the file, which was cut short. Write it again.")
        return np.frombuffer(raw, array.dtype).reshape(shape)

    def texts(self, name: str, length: int) -> tuple[str, ...]:
        """Return a one-dimensional array of text."""
        node = self._nodes[name]
        if node["shape"] != [length]:
            raise TableError(f"{length} names are needed, but {name!r} has the shape {node['shape']}.")
        if "texts" not in node:
            raise TableError(f"{name!r} does not hold the columns' names as text. Give them with names=.")
        if node["chunk"] is not None:  # these HDF5 unfolded itself: were they whole?
            size = node["chunk"][0] * node["bytes"]
            array = self._declared(name)
            for flat in range(-(-length // node["chunk"][0])):
                self._unfolded(array, flat, size)
        return tuple(node["texts"])

    def _declared(self, name: str) -> StoredArray:
        """Return what the file declares of the array."""
        node = self._nodes.get(name)
        if node is None or node["kind"] != "array":
            raise TableError(f"there is no array {name!r} in the file. It is damaged, or AnnData did not write it.")
        return StoredArray(
            name=name,
            shape=tuple(node["shape"]),
            dtype=node["dtype"],
            chunk=None if node["chunk"] is None else tuple(node["chunk"]),
            axes=tuple(range(len(node["shape"]))),
            steps=tuple((step, width) for step, width in node["steps"]),
            fill=node["fill"],
            mark=f"{node['fill']!r} {node.get('offset')}",
        )

    def _places(self, name: str) -> NDArray[np.int64]:
        """Return where the chunks of an array are, one row for each, by their place on the grid."""
        node = self._nodes[name]
        if "table" not in node:
            table = np.frombuffer(base64.b64decode(node["places"]), np.int64).reshape(-1, 4)
            table = table[np.argsort(table[:, 0], kind="stable")]
            if (table < 0).any() or (np.diff(table[:, 0]) == 0).any():
                raise TableError(
                    f"the array {name!r} has a chunk twice, or at no place. It is damaged; write it again."
                )
            node["table"] = table
        places: NDArray[np.int64] = node["table"]
        return places

    def _chunk(self, array: StoredArray, index: Index) -> NDArray[np.uint8] | None:
        """Return the bytes of a chunk's cells, None if the chunk is not there."""
        grid = [-(-n // c) for n, c in zip(array.shape, array.chunk or (), strict=True)]
        flat = 0
        for i, many in zip(index, grid, strict=True):
            flat = flat * many + i
        return self._unfolded(array, flat, array.chunk_bytes)

    def _unfolded(self, array: StoredArray, flat: int, size: int) -> NDArray[np.uint8] | None:
        """Return the `size` bytes of a chunk, given its place on the grid."""
        places = self._places(array.name)
        at = int(np.searchsorted(places[:, 0], flat))
        if at == len(places) or places[at, 0] != flat:
            return None
        _, offset, length, mask = (int(number) for number in places[at])
        if length > most_stored(size) or offset + length > self._size:
            raise TableError(f"it declares {length} bytes at {offset}. It is damaged; write it again.")
        self._file.seek(offset)
        steps = tuple(step for i, step in enumerate(array.steps) if not mask >> i & 1)
        return unfold(self._file.read(length), steps, size)
