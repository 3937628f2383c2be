"""A survey of HDF5 files, run as a process of its own: where the arrays of a table are, and nothing of their cells.

HDF5's library can crash, or never come back, on a file whose metadata is damaged. Here it can do neither to the
program that asks: this script is started for the survey, under a limit of memory and of time for each step, and tells
what it found as JSON, one line a file. It imports nothing of the package. The cells are read by the program that asked,
without HDF5. Nothing outside the file is ever followed.
"""

from __future__ import annotations

import base64
import faulthandler
import json
import math
import os
import sys
from typing import Any

import h5py
import numpy as np

ATTRIBUTES = ("encoding-type", "shape", "_index")
FILTERS = {1: "zlib", 2: "shuffle", 3: "fletcher32", 32000: "lzf"}
MAX_ATTRIBUTE = 16  # numbers or texts in an attribute
MAX_CHUNKS = 1 << 22
NAME_BYTES = 1 << 28  # the most that all names may take
TEXTS = 8, 1 << 16  # texts read at a time, at least and at most: each might be as large as the file
MEMORY = 4 << 30
READY = "ready"  # the first line: from here on, only a file can be to blame


class RefusedError(Exception):
    """What is wrong with a file, in one sentence for the user."""


class Survey:
    """What one file holds, gathered node by node."""

    def __init__(self, file: Any, size: int, seconds: float) -> None:
        self._file, self._size, self._seconds = file, size, seconds
        self.nodes: dict[str, dict[str, Any]] = {}

    def alive(self) -> None:
        """Put off the end of this process: each step has its own time."""
        faulthandler.dump_traceback_later(self._seconds, exit=True)

    def table(self, layer: str | None, names: bool) -> None:
        """Look at what AnnData writes: X or a layer, and the index of `var`."""
        self.add("")
        where = "X" if layer is None else f"layers/{layer}"
        found = self.add(where)
        if found is None:
            self.add("layers")
        elif found["kind"] == "group":
            for part in ("indptr", "indices", "data"):
                self.add(f"{where}/{part}")
        var = self.add("var") if names else None
        if var is not None and var["kind"] == "group":
            told = var["attributes"].get("_index")
            index = f"var/{told if isinstance(told, str) else '_index'}"
            found = self.add(index, texts=True)
            if found is not None and found["kind"] == "group":
                self.add(f"{index}/values", texts=True)
                self.add(f"{index}/mask")

    def add(self, name: str, texts: bool = False) -> dict[str, Any] | None:
        """Look at what is at a path; None if nothing."""
        self.alive()
        node = self._node(name)
        if isinstance(node, h5py.Group):
            found: dict[str, Any] = {"kind": "group", "children": self._children(node)}
        elif isinstance(node, h5py.Dataset):
            found = {"kind": "array", **self._array(node, name, texts)}
        else:
            return None
        found["attributes"] = {key: self._attribute(node, key) for key in ATTRIBUTES}
        self.nodes["/".join(_pieces(name))] = found
        return found

    def _node(self, name: str) -> Any:
        """Return the group or dataset at a path, None if there is nothing; no link is followed."""
        node, pieces = self._file["/"], _pieces(name)
        for i, piece in enumerate(pieces):
            if not isinstance(node, h5py.Group) or not node.id.links.exists(piece.encode()):
                return None
            if node.id.links.get_info(piece.encode()).type != h5py.h5l.TYPE_HARD:
                raise RefusedError(
                    f"{'/'.join(pieces[: i + 1])!r} is a link to another place or file, and links are not followed. "
                    "Write what it points to into this file."
                )
            node = node[piece]
        return node

    def _children(self, group: Any) -> list[str]:
        """Return the names of what a group holds; a hundred are enough to be told."""
        found: list[str] = []

        def take(name: bytes) -> bool | None:
            found.append(name.decode("utf-8", "replace"))
            return True if len(found) >= 100 else None

        group.id.links.iterate(take)
        return found

    def _attribute(self, node: Any, key: str) -> Any:
        """Return an attribute: text, or a list of whole numbers; None if there is none or it is of another kind."""
        self.alive()
        if not h5py.h5a.exists(node.id, key.encode()):
            return None
        if math.prod(h5py.h5a.open(node.id, key.encode()).shape or ()) > MAX_ATTRIBUTE:
            raise RefusedError(f"the attribute {key!r} is too large. The file is damaged; write it again.")
        value = node.attrs[key]
        if isinstance(value, bytes):
            return value.decode("utf-8")
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return value.tolist()
        return value if isinstance(value, str) else None

    def _array(self, dataset: Any, name: str, texts: bool) -> dict[str, Any]:
        """Return what the file declares of an array, and where its bytes are."""
        self.alive()
        plan, h5d = dataset.id.get_create_plist(), h5py.h5d
        layout = plan.get_layout()
        if layout == h5d.VIRTUAL:
            raise RefusedError(
                f"{name!r} is a virtual dataset, made of other files, which are not read. Copy it whole."
            )
        if layout == h5d.CONTIGUOUS and plan.get_external_count():
            raise RefusedError(f"{name!r} is stored outside the file, which is not read. Copy it into the file.")
        if dataset.shape is None:
            raise RefusedError(f"{name!r} is an empty dataset without a shape. Write the file again.")
        kind = dataset.dtype
        found: dict[str, Any] = {
            "shape": [int(n) for n in dataset.shape],
            "dtype": kind.str,
            "chunk": [int(n) for n in plan.get_chunk()] if layout == h5d.CHUNKED else None,
            "steps": [_step(plan, i) for i in range(plan.get_nfilters())],
            "bytes": self._cell_bytes(dataset),
            "fill": None,
        }
        if kind.kind in "biuf":
            if not h5py.h5t.py_create(kind, logical=True).equal(dataset.id.get_type()):
                raise RefusedError(f"{name!r} holds numbers of an unusual kind. Write it again as {kind.str}.")
            if plan.fill_value_defined() != h5d.FILL_VALUE_UNDEFINED:
                found["fill"] = dataset.fillvalue.item()
        self.alive()
        if layout == h5d.CHUNKED:
            found["places"] = _text(self._places(dataset, found["chunk"]))
        elif layout == h5d.CONTIGUOUS:
            found["offset"] = dataset.id.get_offset()
        elif math.prod(found["shape"]) * found["bytes"] <= 1 << 16 and kind.kind in "biuf":  # inside the header
            found["data"] = _text(np.asarray(dataset[()]))
        string = h5py.check_string_dtype(kind)
        if texts and string is not None and len(dataset.shape) == 1:
            found["texts"] = self._texts(dataset, name, string.length)
        return found

    def _cell_bytes(self, dataset: Any) -> int:
        """Return the bytes of a cell in the file; of text of any length, those of its length and of where it is."""
        kind = dataset.id.get_type()
        if isinstance(kind, h5py.h5t.TypeStringID) and kind.is_variable_str():
            return 8 + int(self._file.id.get_create_plist().get_sizes()[0])
        return int(kind.get_size())

    def _places(self, dataset: Any, chunk: list[int]) -> Any:
        """Return one row for each chunk that is there: its place on the grid, first byte, length, filters left out."""
        grid = [-(-int(n) // c) for n, c in zip(dataset.shape, chunk, strict=True)]
        if math.prod(grid) >= 2**62:
            raise RefusedError(f"an array declares the impossible shape {dataset.shape}. The file is damaged.")
        rows: list[tuple[int, int, int, int]] = []

        def take(info: Any) -> None:
            if len(rows) % 1024 == 0:
                self.alive()
            if len(rows) >= MAX_CHUNKS:
                raise RefusedError(f"an array has more than {MAX_CHUNKS} chunks. Write it again in larger chunks.")
            flat = 0
            for at, size, many in zip(info.chunk_offset, chunk, grid, strict=True):
                if at % size or not 0 <= at // size < many:
                    raise RefusedError(f"a chunk lies at {info.chunk_offset}, outside its array. The file is damaged.")
                flat = flat * many + at // size
            rows.append((flat, int(info.byte_offset), int(info.size), int(info.filter_mask)))

        if dataset.id.get_num_chunks():
            dataset.id.chunk_iter(take)
        return np.array(rows, np.uint64).reshape(-1, 4)

    def _texts(self, dataset: Any, name: str, fixed: int | None) -> list[str]:
        """Return an array of text, a few at a time."""
        length = int(dataset.shape[0])
        if (fixed or 1) * length > NAME_BYTES:
            raise RefusedError(f"{name!r} is too large to hold the columns' names. Give them with names=.")
        step, total = max(TEXTS[0], min(TEXTS[1], NAME_BYTES // max(self._size, 1))), 0
        found: list[str] = []
        for start in range(0, length, step):
            self.alive()
            found += dataset.asstr("utf-8")[start : start + step].tolist()
            total += sum(map(len, found[start:]))
            if total > NAME_BYTES:
                raise RefusedError(f"{name!r} is too large to hold the columns' names. Give them with names=.")
        return found


def _pieces(name: str) -> list[str]:
    return [piece for piece in name.split("/") if piece]


def _step(plan: Any, i: int) -> tuple[str, int]:
    """Return the name of a filter, and the size of an element where it shuffles."""
    code, _, values, name = plan.get_filter(i)
    known = FILTERS.get(code, name.decode("utf-8", "replace") or f"filter {code}")
    return known, int(values[0]) if known == "shuffle" and values else 0


def _text(array: Any) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def survey(path: str, layer: str | None, names: bool, seconds: float) -> dict[str, Any]:
    """Return what one file holds, or what is wrong with it."""
    try:
        with h5py.File(path, "r", locking="best-effort") as file:
            if file.userblock_size:
                return {
                    "error": "the file begins with a block that is not HDF5. Write it again without userblock_size."
                }
            found = Survey(file, os.path.getsize(path), seconds)  # noqa: PTH202  (this script is to start quickly)
            found.table(layer, names)
            return {"nodes": found.nodes}
    except RefusedError as error:
        return {"error": str(error)}
    except BlockingIOError:
        return {"error": "the file is open for writing, here or in another program. Close it there first."}
    except Exception as error:  # whatever the library says: this process has nothing to hide
        said = " ".join(str(error).split())[:200]
        return {"error": f"cannot be read ({type(error).__name__}: {said}). The file is damaged; write it again."}


def main() -> None:
    """Answer what is asked on the standard input."""
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass  # a system without such limits
    asked = json.load(sys.stdin)
    print(READY, flush=True)
    for path in asked["paths"]:
        faulthandler.dump_traceback_later(asked["seconds"], exit=True)
        answer = survey(path, asked["layer"], asked["names"], asked["seconds"])
        print(json.dumps(answer), flush=True)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
