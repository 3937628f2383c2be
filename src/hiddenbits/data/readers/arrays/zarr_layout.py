"""What the metadata of a Zarr array says, in formats 2 and 3."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.data.readers.arrays.chunks import Step, Steps
from hiddenbits.data.readers.arrays.stored import StoredArray
from hiddenbits.data.table import TableError

DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs")


def zarr_library() -> Any:
    """Return zarr, or say how to install it."""
    try:
        import zarr
    except ImportError as error:
        raise ImportError("Zarr stores need zarr: pip install 'hiddenbits[files]'.") from error
    return zarr


@dataclass(frozen=True)
class ZarrArray(StoredArray):
    """An array of a Zarr store.

    Attributes
    ----------
    prefix, separator : str
        A chunk's key is the prefix and the chunk's numbers, joined by the separator.
    shard : tuple of int or None
        Chunks along each axis of a shard, the file that holds several; None if each chunk is a file.
    index_first : bool
        Whether a shard's index is at its start.
    index_steps : Steps
        What was done to the bytes of a shard's index.
    """

    prefix: str = ""
    separator: str = "/"
    shard: tuple[int, ...] | None = None
    index_first: bool = False
    index_steps: Steps = ()


def declared(name: str, documents: Mapping[str, bytes]) -> tuple[ZarrArray, bool]:
    """Return what a store declares of an array, and whether it holds text of any length."""
    dtype, shape, fill = _opened(name, documents)
    if "zarr.json" in documents:
        layout = _layout3(parsed(documents["zarr.json"]), len(shape))
    else:
        layout = _layout2(parsed(documents[".zarray"]), len(shape))
    if layout["separator"] not in (".", "/"):
        raise TableError(f"the metadata of {name!r} is damaged: {layout['separator']!r} cannot separate numbers.")
    is_text, endian = layout.pop("text"), layout.pop("endian", None)
    if endian is not None:
        dtype = dtype.newbyteorder(">" if endian == "big" else "<")
    array = ZarrArray(name=name, shape=shape, dtype=dtype.str, fill=fill, mark=mark_of(documents), **layout)
    return array, is_text


def parsed(document: bytes) -> dict[str, Any]:
    """Return a JSON object."""
    found = json.loads(document)
    if not isinstance(found, dict):
        raise TableError("the metadata is damaged: it is no JSON object.")
    return found


def mark_of(documents: Mapping[str, bytes]) -> str:
    """Return what tells these documents from others."""
    return hashlib.sha256(repr(sorted(documents.items())).encode()).hexdigest()


def _opened(name: str, documents: Mapping[str, bytes]) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    """Return (type, shape, fill value) of an array as zarr reads its metadata.

    zarr is shown the metadata alone, so that it never reads or unfolds anything else.
    """
    zarr = zarr_library()
    from zarr.core.buffer import default_buffer_prototype
    from zarr.storage import MemoryStore

    held = {key: default_buffer_prototype().buffer.from_bytes(value) for key, value in documents.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about types of text that are not part of the standard yet
            array = zarr.open_array(
                MemoryStore(held, read_only=True), mode="r", zarr_format=3 if "zarr.json" in documents else 2
            )
            dtype, shape, fill = array.dtype, tuple(int(n) for n in array.shape), array.fill_value
    except (AttributeError, AssertionError) as error:  # what zarr says to metadata of another form
        raise TableError(f"the metadata of {name!r} is damaged ({error}). Write it again.") from error
    if dtype.kind in "OT":  # text of any length, or Python objects
        dtype = np.dtype("O")
    return dtype, shape, fill.item() if isinstance(fill, np.generic) else fill


def _layout2(found: Mapping[str, Any], n_axes: int) -> dict[str, Any]:
    """Return how the chunks of an array in format 2 are stored."""
    steps: list[Step] = []
    text = False
    for step in [*(found.get("filters") or []), *([found["compressor"]] if found.get("compressor") else [])]:
        if step["id"] == "vlen-utf8" and not steps:
            text = True
        else:
            steps.append((str(step["id"]), int(step.get("elementsize", 0))))
    return {
        "chunk": tuple(int(n) for n in found["chunks"]),
        "axes": tuple(range(n_axes))[:: -1 if found["order"] == "F" else 1],
        "steps": tuple(steps),
        "prefix": "",
        "separator": str(found.get("dimension_separator", ".")),
        "text": text,
    }


def _layout3(found: Mapping[str, Any], n_axes: int) -> dict[str, Any]:
    """Return how the chunks of an array in format 3 are stored."""
    grid, keys = found["chunk_grid"], found["chunk_key_encoding"]
    if grid["name"] != "regular" or found.get("storage_transformers"):
        raise TableError("the array has chunks of several shapes, or stored in a way that is not read here.")
    default = keys["name"] == "default"
    separator = str(keys.get("configuration", {}).get("separator", "/" if default else "."))
    layout: dict[str, Any] = {
        "chunk": tuple(int(n) for n in grid["configuration"]["chunk_shape"]),
        "prefix": f"c{separator}" if default else "",
        "separator": separator,
    }
    codecs = [
        (step, {}) if isinstance(step, str) else (step["name"], step.get("configuration") or {})
        for step in found["codecs"]
    ]
    if codecs[0][0] == "sharding_indexed" and len(codecs) == 1:
        shard = codecs[0][1]
        inner = tuple(int(n) for n in shard["chunk_shape"])
        if len(inner) != n_axes or any(n < 1 or outer % n for n, outer in zip(inner, layout["chunk"], strict=True)):
            raise TableError(f"shards of {layout['chunk']} cells are not made up of chunks of {inner}.")
        index = [(step["name"], 0) for step in shard["index_codecs"]]
        if index not in ([("bytes", 0)], [("bytes", 0), ("crc32c", 0)]):
            raise TableError("the index of its shards is stored in a way that is not read here.")
        layout |= {
            "shard": tuple(outer // n for n, outer in zip(inner, layout["chunk"], strict=True)),
            "chunk": inner,
            "index_first": shard.get("index_location", "end") == "start",
            "index_steps": tuple(index[1:]),
        }
        codecs = [(step["name"], step.get("configuration") or {}) for step in shard["codecs"]]
    return layout | _codecs(codecs, n_axes)


def _codecs(codecs: Sequence[tuple[str, Mapping[str, Any]]], n_axes: int) -> dict[str, Any]:
    """Return the order of the axes, the order of bytes, and the steps after it."""
    axes = tuple(range(n_axes))
    while codecs and codecs[0][0] == "transpose":
        order = tuple(int(axis) for axis in codecs[0][1]["order"])
        if sorted(order) != list(range(n_axes)):
            raise TableError(f"its axes are put in the impossible order {order}. The metadata is damaged.")
        axes, codecs = tuple(axes[axis] for axis in order), codecs[1:]
    if not codecs or codecs[0][0] not in ("bytes", "vlen-utf8"):
        first = codecs[0][0] if codecs else "nothing"
        raise TableError(f"it is stored with {first!r}, which is not read here. Write it again with zstd.")
    steps = tuple((name.removeprefix("numcodecs."), int(given.get("elementsize", 0))) for name, given in codecs[1:])
    return {
        "axes": axes,
        "endian": codecs[0][1].get("endian"),
        "text": codecs[0][0] == "vlen-utf8",
        "steps": steps,
    }
