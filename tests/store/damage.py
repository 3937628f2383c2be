"""Damage model files in every way we can think of.

Reads and writes the format with its own few lines, so that a mistake in ``hiddenbits.store`` cannot
hide itself here.  Works on any model file; a test of whole estimators can use it on theirs.

Every kind of damage is a function.  Those of ``RAW`` change the bytes.  Those of ``CONTENT`` change
header and data in place, and a fitting checksum may be computed afterwards.  Those of ``HEADER`` come
after the checksum and may return the header's bytes themselves.  A `LookupError` says that the file
has no place for that damage.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

NUMPY = {"BOOL": "?", "U8": "u1", "I32": "<i4", "I64": "<i8", "U64": "<u8", "F32": "<f4", "F64": "<f8"}
META = "__metadata__"


def split(raw: bytes) -> tuple[dict[str, Any], bytearray]:
    end = 8 + int.from_bytes(raw[:8], "little")
    return json.loads(raw[8:end]), bytearray(raw[end:])


def join(header: dict[str, Any] | bytes, data: bytes | bytearray) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(data)


def resum(header: dict[str, Any], data: bytes | bytearray) -> None:
    """Put a fitting checksum into the header, also into one that makes little sense."""
    fields = [header[META][key].encode() for key in ("version", "kind", "meta")]
    for name in sorted(set(header) - {META}):
        entry = header[name]
        begin, end = entry["data_offsets"]
        fields += [name.encode(), entry["dtype"].encode(), ",".join(map(str, entry["shape"])).encode()]
        fields += [bytes(data[begin:end])]
    joined = b"".join(len(field).to_bytes(8, "little") + field for field in fields)
    header[META]["checksum"] = hashlib.sha256(joined).hexdigest()


def contents(raw: bytes) -> tuple[str, Any, dict[str, np.ndarray]]:
    """Kind, meta and arrays of a well-formed file, read without any check."""
    header, data = split(raw)
    found = header.pop(META)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(bytes(data[begin:end]), dtype=NUMPY[entry["dtype"]])
        arrays[name] = flat.reshape(entry["shape"])
    return found["kind"], json.loads(found["meta"]), arrays


def damaged_copies(raw: bytes, rng: np.random.Generator, n: int) -> Iterator[tuple[str, bytes, bool]]:
    """Yield ``n`` damaged copies: what was done, the bytes, and whether the checksum was recomputed.

    All kinds of damage come in turn, about half of the copies with a fitting checksum.
    """
    kinds = [*RAW, *CONTENT, *HEADER]
    made = turn = 0
    while made < n:
        what = kinds[turn % len(kinds)]
        turn += 1
        if what in RAW:
            made += 1
            yield what, bytes(RAW[what](bytearray(raw), rng)), False
            continue
        header, data = split(raw)
        fit = bool(rng.random() < 0.6)
        try:
            if what in CONTENT:
                CONTENT[what](header, data, rng)
            if fit:
                resum(header, data)
            text = HEADER[what](header, rng) if what in HEADER else None
        except LookupError:
            if turn > len(kinds) * (made + 1):
                raise  # the file has no place for anything
            continue
        made += 1
        yield what, join(header if text is None else text, data), fit


# ---- helpers


def _pick(rng, items):
    items = list(items)
    if not items:
        raise LookupError("nothing to damage")
    return items[rng.integers(len(items))]


def _tensor(header, rng, codes="BOOL U8 I32 I64 U64 F32 F64", *, filled=True):
    codes = codes.split()
    fits = (n for n, e in header.items() if n != META and e["dtype"] in codes)
    return _pick(rng, (n for n in fits if not filled or math.prod(header[n]["shape"])))


def _add(header, data, name, code, shape, size):
    header[name] = {"dtype": code, "shape": shape, "data_offsets": [len(data), len(data) + size]}
    data += bytes(size)


def _shift(header, start, by):
    for name, entry in header.items():
        if name != META and entry["data_offsets"][0] >= start:
            entry["data_offsets"] = [n + by for n in entry["data_offsets"]]


def _flip(raw, rng, begin, end):
    for _ in range(rng.integers(1, 4)):
        raw[rng.integers(begin, end)] ^= 1 << int(rng.integers(8))
    return raw


def _header_end(raw):
    return 8 + int.from_bytes(raw[:8], "little")


def _meta_place(header, rng):
    """Parse meta and choose a key of one of its objects; returns meta, the object and the key."""
    meta = json.loads(header[META]["meta"])
    objects, i = [meta], 0
    while i < len(objects):
        inner = objects[i].values() if isinstance(objects[i], dict) else objects[i]
        objects += [value for value in inner if isinstance(value, dict | list)]
        i += 1
    where = _pick(rng, (o for o in objects if isinstance(o, dict) and o))
    return meta, where, _pick(rng, where)


# ---- damage to the bytes


def _extended(raw, rng):
    return raw + rng.bytes(int(rng.integers(1, 40)))


def _set_length(raw, rng):
    raw[:8] = _pick(rng, [2**64 - 1, 2**63, 2**40, 2**31, len(raw), len(raw) - 7, 0, 1]).to_bytes(8, "little")
    return raw


RAW = {
    "cut": lambda raw, rng: raw[: rng.integers(len(raw))],
    "extended": _extended,
    "bad length": _set_length,
    "length flipped": lambda raw, rng: _flip(raw[:], rng, 0, 8),
    "header flipped": lambda raw, rng: _flip(raw[:], rng, 8, _header_end(raw)),
    "anything flipped": lambda raw, rng: _flip(raw[:], rng, 0, len(raw)),
    "block zeroed": lambda raw, rng: raw[: (i := int(rng.integers(len(raw))))] + bytes(len(raw) - i),
}

# ---- damage to the content


def _odd_value(header, data, rng):
    name = _tensor(header, rng, "U8 I32 I64 U64 F32 F64")
    dtype = np.dtype(NUMPY[header[name]["dtype"]])
    odd = [0, 1, 2, 100]
    if dtype.kind == "f":
        odd += [np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny, -0.0, -1.0, 1.5]
    else:
        odd += [np.iinfo(dtype).min, np.iinfo(dtype).max]
    begin, end = header[name]["data_offsets"]
    values = np.frombuffer(data[begin:end], dtype=dtype).copy()
    values[rng.integers(values.size)] = _pick(rng, odd)
    data[begin:end] = values.tobytes()


def _data_flipped(header, data, rng):
    _flip(data, rng, *header[_tensor(header, rng, "U8 I32 I64 U64 F32 F64")]["data_offsets"])


def _not_truth(header, data, rng):
    data[header[_tensor(header, rng, "BOOL")]["data_offsets"][0]] = int(rng.integers(2, 256))


def _renamed(header, data, rng):
    name = _tensor(header, rng, filled=False)
    header[_pick(rng, ["foreign", name + "_", name[:-1] or "x"])] = header.pop(name)


def _dropped(header, data, rng):
    begin, end = header.pop(_tensor(header, rng))["data_offsets"]
    del data[begin:end]
    _shift(header, end, begin - end)


def _swapped(header, data, rng):
    one, two = _tensor(header, rng, filled=False), _tensor(header, rng, filled=False)
    header[one], header[two] = header[two], header[one]


def _other_dtype(header, data, rng):
    entry = header[_tensor(header, rng, filled=False)]
    same = {"BOOL": "U8", "U8": "U8", "I32": "F32", "F32": "I32", "I64": "F64", "F64": "U64", "U64": "I64"}
    entry["dtype"] = same[entry["dtype"]]


def _other_shape(header, data, rng):
    entry = header[_tensor(header, rng, filled=False)]
    entry["shape"] = _pick(rng, [[1, *entry["shape"]], [*entry["shape"], 1], [math.prod(entry["shape"])]])


def _shape(*shapes):
    def change(header, data, rng):
        header[_tensor(header, rng)]["shape"] = list(_pick(rng, shapes))

    return change


def _not_size(header, data, rng):
    # Beside the true shape, so that the number of bytes stays plausible.
    header[_tensor(header, rng)]["shape"].insert(0, _pick(rng, [True, 1.0, "1", None, [1], 1e30]))


def _wrong_shape(header, data, rng):
    entry = header[_tensor(header, rng)]
    entry["shape"] = [*entry["shape"], 2] if rng.random() < 0.5 else [0, *entry["shape"]]


def _overlap(header, data, rng):
    name = _pick(rng, (n for n in header if n != META and header[n]["data_offsets"][0]))
    header[name]["data_offsets"] = [n - 1 for n in header[name]["data_offsets"]]


def _gap(header, data, rng):
    end = header[_tensor(header, rng)]["data_offsets"][1]
    data[end:end] = bytes(8)
    _shift(header, end, 8)


def _offsets_backwards(header, data, rng):
    header[_tensor(header, rng)]["data_offsets"].reverse()


def _dtype(header, data, rng):
    header[_tensor(header, rng)]["dtype"] = _pick(rng, ["F16", "BF16", "C64", "I8", "O", "", "f64", "F8_E4M3"])


def _name(header, data, rng):
    name = _tensor(header, rng, filled=False)
    header[_pick(rng, ["", "a\nb", "x" * 1000, "\x00", "é", "\u202e"])] = header.pop(name)


def _meta_replaced(header, data, rng):
    meta, where, key = _meta_place(header, rng)
    odd = [None, True, -1, 0, 2, 0.5, 10**30, -(10**39), 1e308, "", "x" * 1000, [], {}, [[1]], {"a": [None]}]
    where[key] = _pick(rng, odd)
    header[META]["meta"] = json.dumps(meta)


def _meta_dropped(header, data, rng):
    meta, where, key = _meta_place(header, rng)
    del where[key]
    header[META]["meta"] = json.dumps(meta)


def _meta_text(*texts):
    def change(header, data, rng):
        """Set meta, or give its object one more entry where the text starts with a comma."""
        text, old = _pick(rng, texts), header[META]["meta"]
        header[META]["meta"] = old[:-1] + (text if len(json.loads(old)) else text[1:]) + "}" if text[0] == "," else text

    return change


def _set_meta(key, *values):
    return lambda header, data, rng: header[META].__setitem__(key, _pick(rng, values))


CONTENT = {
    "odd value": _odd_value,
    "data flipped": _data_flipped,
    "not a truth value": _not_truth,
    "tensor renamed": _renamed,
    "tensor dropped": _dropped,
    "tensor added": lambda header, data, rng: _add(header, data, "another", "F64", [2, 2], 32),
    "tensors swapped": _swapped,
    "other dtype": _other_dtype,
    "other shape": _other_shape,
    "wrong shape": _wrong_shape,
    "huge shape": _shape([2**40], [2**32, 2**32], [2**64 + 1], [2**63, 2], [10**39]),
    "huge shape of no bytes": lambda header, data, rng: _add(header, data, "z", "F64", [2**62, 2**62, 0], 0),
    "negative shape": _shape([-1], [-1, -1], [-(2**63)], [0, -5]),
    "not a size": _not_size,
    "many dimensions": _shape([1] * 33, [1] * 5000),
    "overlap": _overlap,
    "gap": _gap,
    "offsets backwards": _offsets_backwards,
    "foreign dtype": _dtype,
    "bad tensor name": _name,
    "foreign kind": _set_meta("kind", "Pickle", "os.system", "mixture2", "../../x", "__import__"),
    "bad kind": _set_meta("kind", "", "a\tb", "x" * 1000, "é"),
    "newer version": _set_meta("version", "2", "10", "9" * 5000),
    "bad version": _set_meta("version", "", "0", "-1", "1.0", "01", "²"),
    "meta value replaced": _meta_replaced,
    "meta key dropped": _meta_dropped,
    "meta key added": _meta_text(',"another":1', ',"__class__":"x"', ',"another":[{}]'),
    "duplicate meta key": _meta_text('{"a":1,"a":1}', ',"twice":1,"twice":2', ',"x":{"a":1,"a":2}'),
    "deep meta": _meta_text("[" * 100_000, '{"a":' * 200 + "1" + "}" * 200, ',"d":' + "[" * 40 + "]" * 40),
    "bad number in meta": _meta_text(',"x":NaN', ',"x":-Infinity', ',"x":1e999', ',"x":' + "9" * 9000, ',"x":01'),
    "surrogate in meta": _meta_text(',"x":"\\ud800"', ',"\\udfff":1'),
    "meta not an object": _meta_text("[]", "null", "1", '"x"', " ", "{", "{}{}", "{'a':1}"),
}

# ---- damage to the header, after the checksum


def _respelled(header, rng):
    names = list(rng.permutation(list(header)))
    return json.dumps({str(n): header[n] for n in names}, indent=2).replace("hiddenbits", "\\u0068iddenbits").encode()


def _entry(header, rng):
    header[_tensor(header, rng, filled=False)] = _pick(rng, [None, [], "x", {}, {"dtype": "F64", "shape": [1]}])


def _field(header, rng):
    entry = header[_tensor(header, rng, filled=False)]
    entry[_pick(rng, entry)] = _pick(rng, [None, {}, "x", True, [None], {"a": 1}])


def _text(*choices):
    return lambda header, rng: _pick(rng, choices)(json.dumps(header).encode())


HEADER = {
    "respelled": _respelled,
    "entry not an object": _entry,
    "bad field": _field,
    "no metadata": lambda header, rng: header.pop(META) and None,
    "metadata not a string": lambda header, rng: header[META].__setitem__(
        _pick(rng, header[META]), _pick(rng, [None, 1, {}, []])
    ),
    "metadata key added": lambda header, rng: header[META].__setitem__("another", "1"),
    "metadata key dropped": lambda header, rng: header[META].pop(_pick(rng, header[META])) and None,
    # One parser reads header and meta: other bad JSON is among the damage to meta.
    "duplicate header key": _text(lambda text: text.replace(b'"dtype"', b'"dtype":"F64","dtype"')),
    "header not JSON": _text(
        lambda text: b"",
        lambda text: b"[]",
        lambda text: b"\xff\xfe" + text,
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"\n" + text,
        lambda text: text + b"\x00",
        lambda text: text.replace(b'"hiddenbits"', b'"hidden\\ud800"'),
    ),
}

# With a fitting checksum these are well-formed files, and only the owner of the kind can object.
WELL_FORMED = {
    "odd value", "data flipped", "tensor renamed", "tensor dropped", "tensor added", "tensors swapped",
    "other dtype", "other shape", "foreign kind", "meta value replaced", "meta key dropped",
    "meta key added",
}  # fmt: skip
# These say the same in other words, whatever the checksum.
HARMLESS = {"respelled"}
# All else must be refused, whatever the checksum (but for flips, which may cancel each other out).
FLIPS = {"length flipped", "header flipped", "anything flipped", "block zeroed"}
