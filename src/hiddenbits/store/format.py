"""What the bytes of a model file mean.

A model file is an ordinary safetensors file (8 bytes of header length, a JSON header, the tensors'
bytes, all little-endian).  Its ``__metadata__`` holds exactly five strings:

========  ===========================================================================
format    ``hiddenbits``
version   ``1``, the format number: it alone decides whether a file is read
kind      what is stored; the caller's word
meta      strict JSON text of an object
checksum  SHA-256, in hexadecimal, of the fields below
========  ===========================================================================

Fields: version, kind, meta text, then for every tensor in sorted name order its name, dtype code,
shape (decimal, joined by commas) and bytes.  Each field is preceded by its length in 8 little-endian
bytes.  The checksum finds accidents, not malice: whoever can write the file can also compute it.  It
covers the content, not its spelling, so another order of keys or of tensors is the same content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import safetensors
import safetensors.numpy

from hiddenbits.array_types import AnyArray
from hiddenbits.quoting import told
from hiddenbits.store.header import (
    CODES,
    DTYPES,
    FIX_INPUT,
    FORMAT,
    VERSION,
    Header,
    Limits,
    check_sizes,
    decode_header,
    is_name,
    tensor_name,
)
from hiddenbits.store.json import Flaw, dump, plain

# Name, dtype code, shape, bytes.
Tensor: TypeAlias = tuple[str, str, tuple[int, ...], bytes | bytearray | memoryview]

# Not safetensors.numpy.load, which reads in the machine's own byte order.
_deserialize: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = safetensors.deserialize


def encode(
    kind: str, meta: Mapping[str, object], arrays: Mapping[str, Any], limits: Limits
) -> list[bytes | memoryview]:
    """Pieces of the file that, written one after the other, hold this content."""
    for what, given in (("meta", meta), ("arrays", arrays)):
        if not isinstance(given, Mapping):
            raise Flaw(f"{what} must be a mapping, not a {type(given).__name__}", FIX_INPUT)
    if not is_name(kind):
        raise Flaw(f"the kind {kind!r:.80} is not a short printable ASCII string", FIX_INPUT)
    meta_text = dump(plain(meta, what="meta", max_depth=limits.max_depth, remedy=FIX_INPUT))
    ready = {tensor_name(name): _tensor(name, value) for name, value in arrays.items()}
    tensors = ((name, CODES[a.dtype.name], a.shape, _as_bytes(a)) for name, a in ready.items())
    body = memoryview(safetensors.numpy.save(ready))
    data_start = 8 + int.from_bytes(body[:8], "little")
    # safetensors writes metadata in random order; the same content must give the same file.
    header = json.loads(bytes(body[8:data_start]))
    header["__metadata__"] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "meta": meta_text,
        "checksum": checksum(VERSION, kind, meta_text, tensors),
    }
    text = dump(header).encode()
    text += b" " * (-len(text) % 8)  # keeps the tensors aligned for readers that map the file
    size = 8 + len(text) + len(body) - data_start
    try:
        check_sizes(size, len(text), limits)
        decode_header(text, len(body) - data_start, limits)
    except Flaw as flaw:  # what would not be read back is not written
        raise Flaw(flaw.what, "store less, or pass larger limits to write and to read") from None
    return [len(text).to_bytes(8, "little"), text, body[data_start:]]


def decode_tensors(raw: bytes, header: Header) -> Iterator[tuple[str, AnyArray]]:
    """Arrays of a whole file whose header has been checked, after comparing the checksum."""
    try:
        views = {name: view["data"] for name, view in _deserialize(raw)}
    except Exception as error:  # whatever safetensors objects to, its reader gets one kind of error
        raise Flaw(f"safetensors refuses it ({told(error)})") from None
    del raw
    entries = header.entries
    tensors = ((name, entries[name].code, entries[name].shape, data) for name, data in views.items())
    if (
        views.keys() != entries.keys()
        or checksum(header.version, header.kind, header.meta_text, tensors) != header.checksum
    ):
        raise Flaw("its checksum does not match its content")
    for name, entry in entries.items():
        flat = np.frombuffer(views.pop(name), dtype=DTYPES[entry.code])
        if entry.code == "BOOL" and flat.size and flat.view(np.uint8).max() > 1:
            raise Flaw(f"tensor {name!r} has boolean values other than 0 and 1")
        yield name, flat.reshape(entry.shape).astype(flat.dtype.newbyteorder("="), order="C", copy=True)


def checksum(version: str, kind: str, meta_text: str, tensors: Iterable[Tensor]) -> str:
    """SHA-256 of the content, as the head of this module defines it."""
    digest = hashlib.sha256()

    def add(field: bytes | bytearray | memoryview) -> None:
        digest.update(len(field).to_bytes(8, "little"))
        digest.update(field)

    for text in (version, kind, meta_text):
        add(text.encode())
    for name, code, shape, data in sorted(tensors, key=lambda tensor: tensor[0]):
        for text in (name, code, ",".join(map(str, shape))):
            add(text.encode())
        add(data)
    return digest.hexdigest()


def _tensor(name: str, value: object) -> AnyArray:
    """Little-endian, C-contiguous array with the value's shape; 0-d stays 0-d."""
    if not isinstance(value, np.ndarray | np.generic) or isinstance(value, np.ma.MaskedArray):
        raise Flaw(f"{name!r} is a {type(value).__name__}, not a plain numpy array", FIX_INPUT)
    code = CODES.get(value.dtype.name)
    if code is None:
        allowed = ", ".join(CODES)
        raise Flaw(f"{name!r} has dtype {value.dtype}, not one of {allowed}", FIX_INPUT)
    array = np.asarray(value, dtype=DTYPES[code], order="C")
    # A boolean made by a view may hold any byte, but only 0 and 1 are read back.
    return np.asarray(array.view(np.uint8) != 0) if code == "BOOL" else array


def _as_bytes(array: AnyArray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
