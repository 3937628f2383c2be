"""Believe a header only when every claim in it has been checked.

Everything here works on the header alone, with Python's unbounded integers, so that no claim of a
damaged or hostile file can make anything large be allocated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hiddenbits.store.json import DAMAGED, JSON, RAISE_LIMIT, Flaw, parse, refuse_strange

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
MAX_NAME = 128
FIX_INPUT = "fix the arguments of write"


@dataclass(frozen=True)
class Limits:
    """Bounds that a file must respect before anything of its size is allocated.

    Attributes
    ----------
    max_file_bytes : int
        Largest file, and largest single dimension of a tensor.
    max_header_bytes : int
        Largest JSON header, metadata included.
    max_tensors : int
        Most tensors.
    max_dims : int
        Most dimensions of a tensor.
    max_depth : int
        Deepest nesting of ``meta``, the object itself being level 1.
    max_values : int
        Most commas and brackets in the header; parsing costs up to about 60 bytes for each.
    max_containers : int
        Most brackets among them: lists and objects cost up to about 300 bytes each.
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
class Entry:
    """One tensor as the header describes it; ``begin`` and ``end`` count from the end of the header."""

    code: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """A header whose every claim has been checked against the size of the file."""

    version: str
    kind: str
    meta_text: str
    meta: dict[str, JSON]
    checksum: str
    entries: dict[str, Entry]


def check_sizes(size: int, n_header: int, limits: Limits) -> None:
    """Compare the sizes that a file has and claims with the limits and with each other."""
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
    # Before the tensors, so that a file of another format is called that, and not damaged.
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


def _metadata(found: object) -> tuple[str, str, str, str]:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Flaw("it is not a hiddenbits model file", "pass a file written by hiddenbits")
    version = found.get("version")
    if version != VERSION:
        raise Flaw(
            f"its format number is {version!r:.22}, and this version of hiddenbits reads only {VERSION!r}",
            "use the version that wrote it, or fit again",
        )
    if found.keys() != {"format", "version", "kind", "meta", "checksum"}:
        raise Flaw("its metadata lacks an entry or has one too many")
    kind, meta_text, digest = found["kind"], found["meta"], found["checksum"]
    if not is_name(kind):
        raise Flaw("its kind is not a short printable string")
    if not (isinstance(meta_text, str) and meta_text.isascii() and isinstance(digest, str)):
        raise Flaw("its meta or checksum is not plain text")
    return VERSION, kind, meta_text, digest


def _entry(name: str, found: object, limits: Limits) -> Entry:
    if not isinstance(found, dict) or found.keys() != {"dtype", "shape", "data_offsets"}:
        raise Flaw(f"tensor {name!r} is not described by dtype, shape and data_offsets")
    code, shape, offsets = found["dtype"], found["shape"], found["data_offsets"]
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
    return Entry(code, tuple(shape), begin, end)


def _are_sizes(found: object, bound: int) -> bool:
    # type(), not isinstance(): true is an int in Python, but not a size.
    return isinstance(found, list) and all(type(n) is int and 0 <= n <= bound for n in found)


def is_name(name: object) -> bool:
    """Whether this is a short printable ASCII string."""
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isascii() and name.isprintable()


def tensor_name(name: str, remedy: str = FIX_INPUT) -> str:
    """Name of a tensor, unless safetensors or a person would stumble over it."""
    if name == "__metadata__":
        raise Flaw(f"the tensor name {name!r} is reserved by safetensors", remedy)
    if not is_name(name):
        raise Flaw(f"the tensor name {name!r:.80} is not a short printable ASCII string", remedy)
    return name
