"""The header of a model file: every entry is checked before it is used.

The checks use the header alone, with Python's unbounded integers, so that no entry of a damaged or hostile file can
cause a large allocation.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import safetensors
import safetensors.numpy

from hiddenbits.array_types import AnyArray
from hiddenbits.quoting import redacted
from hiddenbits.store.json import DAMAGED, JSON, RAISE_LIMIT, Flaw, dump, parse, plain, refuse_strange

FORMAT = "hiddenbits"
VERSION = "1"  # the format number of files that are written, and the only one that is read
CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int32": "I32",
    "int64": "I64",
    "uint64": "U64",
    "float32": "F32",
    "float64": "F64",
}
DTYPES = {code: np.dtype(name).newbyteorder("<") for name, code in CODES.items()}
MAX_NAME_LENGTH = 128
FIX_INPUT = "fix the arguments of write"


@dataclass(frozen=True)
class Limits:
    """Bounds that a file must satisfy before anything of its size is allocated.

    Attributes
    ----------
    max_file_bytes : int
        Largest file, and largest single dimension of a tensor.
    max_header_bytes : int
        Largest JSON header, metadata included.
    max_tensors : int
        Largest number of tensors.
    max_dims : int
        Largest number of dimensions of a tensor.
    max_depth : int
        Deepest nesting of ``meta``, the object itself being level 1.
    max_values : int
        Largest number of commas and brackets in the header; parsing costs up to about 60 bytes for each.
    max_containers : int
        Largest number of brackets among them: lists and objects cost up to about 300 bytes each.
    """

    max_file_bytes: int = 8 * 2**30
    max_header_bytes: int = 64 * 2**20
    max_tensors: int = 4096
    max_dims: int = 8
    max_depth: int = 32
    max_values: int = 2**20
    max_containers: int = 2**17


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class ArrayEntry:
    """One array as the header describes it; ``begin`` and ``end`` count from the end of the header."""

    code: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """A header whose entries have been checked against the size of the file."""

    version: str
    kind: str
    meta_text: str
    meta: dict[str, JSON]
    checksum: str
    entries: dict[str, ArrayEntry]


def check_sizes(size: int, n_header: int, limits: Limits) -> None:
    """Compare the sizes of a file and its header with the limits and with each other."""
    if size > limits.max_file_bytes:
        raise Flaw(f"it has {size} bytes, more than the limit of {limits.max_file_bytes}", RAISE_LIMIT)
    if n_header > size - 8:
        raise Flaw("it is cut short, or is not a model file")
    if n_header > limits.max_header_bytes:
        raise Flaw(f"its header has more than the limit of {limits.max_header_bytes} bytes", RAISE_LIMIT)


def decode_header(raw: bytes, n_data: int, limits: Limits) -> Header:
    """Parse and check a header that is followed by ``n_data`` bytes of tensors."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Flaw("its header is not text") from None
    header = parse(text, what="its header", max_values=limits.max_values, max_containers=limits.max_containers)
    if not (isinstance(header, dict) and text.startswith("{")):
        raise Flaw("its header is not a JSON object")
    # Checked before the tensors, so that a file of another format is reported as such, and not as damaged.
    version, kind, meta_text, digest = _metadata(header.pop("__metadata__", None))
    if len(header) > limits.max_tensors:
        raise Flaw(f"it has more than the limit of {limits.max_tensors} tensors", RAISE_LIMIT)
    entries = {tensor_name(name, DAMAGED): _entry(name, raw, limits) for name, raw in header.items()}
    position = 0
    for entry in sorted(entries.values(), key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != position:
            raise Flaw("its tensors overlap or leave gaps")
        position = entry.end
    if position != n_data:
        raise Flaw(f"its tensors take {position} bytes, but {n_data} are there")
    meta = parse(meta_text, what="its meta", max_values=limits.max_values, max_containers=limits.max_containers)
    refuse_strange(meta, what="its meta", max_depth=limits.max_depth)
    if not isinstance(meta, dict):
        raise Flaw("its meta is not a JSON object")
    return Header(version, kind, meta_text, meta, digest, entries)


def _metadata(content: object) -> tuple[str, str, str, str]:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise Flaw("it is not a hiddenbits model file", "pass a file written by hiddenbits")
    version = content.get("version")
    if version != VERSION:
        raise Flaw(
            f"its format number is {version!r:.22}, and this version of hiddenbits reads only {VERSION!r}",
            "use the version that wrote it, or fit again",
        )
    if content.keys() != {"format", "version", "kind", "meta", "checksum"}:
        raise Flaw("its metadata lacks an entry or has one too many")
    kind, meta_text, digest = content["kind"], content["meta"], content["checksum"]
    if not is_name(kind):
        raise Flaw("its kind is not a short printable string")
    if not (isinstance(meta_text, str) and meta_text.isascii() and isinstance(digest, str)):
        raise Flaw("its meta or checksum is not plain text")
    return VERSION, kind, meta_text, digest


def _entry(name: str, content: object, limits: Limits) -> ArrayEntry:
    if not isinstance(content, dict) or content.keys() != {"dtype", "shape", "data_offsets"}:
        raise Flaw(f"tensor {name!r} is not described by dtype, shape and data_offsets")
    code, shape, offsets = content["dtype"], content["shape"], content["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise Flaw(f"tensor {name!r} has a dtype that model files do not use")
    if not (_are_sizes(shape, limits.max_file_bytes) and len(shape) <= limits.max_dims):
        raise Flaw(f"tensor {name!r} has an impossible shape")
    # A zero among huge dimensions makes the product 0, but numpy multiplies the others too.
    if math.prod(n for n in shape if n) > limits.max_file_bytes:
        raise Flaw(f"tensor {name!r} has an impossible shape")
    if not (_are_sizes(offsets, limits.max_file_bytes) and len(offsets) == 2):
        raise Flaw(f"tensor {name!r} has impossible offsets")
    begin, end = offsets
    if end - begin != math.prod(shape) * DTYPES[code].itemsize:
        raise Flaw(f"tensor {name!r} has offsets that do not fit its shape")
    return ArrayEntry(code, tuple(shape), begin, end)


def _are_sizes(sizes: object, bound: int) -> bool:
    # type(), not isinstance(): true is an int in Python, but not a size.
    return isinstance(sizes, list) and all(type(n) is int and 0 <= n <= bound for n in sizes)


def is_name(name: object) -> bool:
    """Whether this is a short printable ASCII string."""
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME_LENGTH and name.isascii() and name.isprintable()


def tensor_name(name: str, remedy: str = FIX_INPUT) -> str:
    """Return the name of a tensor; Flaw if it is reserved, long or not printable ASCII."""
    if name == "__metadata__":
        raise Flaw(f"the tensor name {name!r} is reserved by safetensors", remedy)
    if not is_name(name):
        raise Flaw(f"the tensor name {name!r:.80} is not a short printable ASCII string", remedy)
    return name


# What the bytes of a model file mean.
#
# A model file is an ordinary safetensors file (8 bytes of header length, a JSON header, the tensors' bytes, all
# little-endian).  Its ``__metadata__`` holds exactly five strings:
#
# format    ``hiddenbits``
# version   ``1``, the format number: it alone decides whether a file is read
# kind      the type of the content; the caller's word
# meta      strict JSON text of an object
# checksum  SHA-256, in hexadecimal, of the fields below
#
# Fields: version, kind, meta text, then for every tensor in sorted name order its name, dtype code, shape (decimal,
# joined by commas) and bytes.  Each field is preceded by its length in 8 little-endian bytes.  The checksum detects
# damage, not manipulation: whoever can write the file can also compute it.  It covers the content, not its layout:
# another order of keys or of tensors is the same content.

# Name, dtype code, shape, bytes.
Tensor: TypeAlias = tuple[str, str, tuple[int, ...], bytes | bytearray | memoryview]

# Not safetensors.numpy.load, which reads in the machine's own byte order.
_deserialize: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = safetensors.deserialize


def encode(
    kind: str, meta: Mapping[str, object], arrays: Mapping[str, Any], limits: Limits
) -> list[bytes | memoryview]:
    """Return the pieces of a file with this content, to be written one after the other."""
    for what, value in (("meta", meta), ("arrays", arrays)):
        if not isinstance(value, Mapping):
            raise Flaw(f"{what} must be a mapping, not a {type(value).__name__}", FIX_INPUT)
    if not is_name(kind):
        raise Flaw(f"the kind {kind!r:.80} is not a short printable ASCII string", FIX_INPUT)
    meta_text = dump(plain(meta, what="meta", max_depth=limits.max_depth, remedy=FIX_INPUT))
    checked = {tensor_name(name): _tensor(name, value) for name, value in arrays.items()}
    tensors = ((name, CODES[a.dtype.name], a.shape, _as_bytes(a)) for name, a in checked.items())
    body = memoryview(safetensors.numpy.save(checked))
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
    """Yield the arrays of a complete file whose header has been checked, after comparing the checksum."""
    try:
        views = {name: view["data"] for name, view in _deserialize(raw)}
    except Exception as error:  # safetensors has several types of errors
        raise Flaw(f"safetensors refuses it ({redacted(error)})") from None
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
    """Return the SHA-256 of the content, as the comment above defines it."""
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
    """Return a little-endian, C-contiguous array with the value's shape; 0-d stays 0-d."""
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
