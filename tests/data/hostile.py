"""Hostile tables in memory: seeded mixtures of valid tables and damage, judged by a naive oracle.

Each case is (data, options, wanted): `wanted` is the meaning of a valid table, REFUSED where `open_table`
must raise a TableError, or EITHER where both are right. No other exception, warning, crash or memory blow-up.
"""

from __future__ import annotations

import array
import contextlib
import math
import traceback
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

from hiddenbits.data import collapse, open_table
from hiddenbits.exceptions import TableError
from tests.data.hostile_frames import FRAMES, frame
from tests.data.hostile_oracle import BAD, EITHER, GOOD, REFUSED, base, meaning, nan, pick
from tests.data.hostile_sparse import sparse_one

Case = tuple[Any, dict[str, Any], Any]


def dense(rng: Any) -> Case:
    """Arrays of every number type, strange strides, one bad number, masks over anything."""
    values, options = base(rng)
    dtype = pick(rng, ["bool", *np.typecodes["AllInteger"], *np.typecodes["Float"], ">f4", ">i8"])
    if np.dtype(dtype).kind != "f":
        values = np.nan_to_num(values)
    data = values.astype(dtype)
    if data.size and rng.random() < 0.4:
        at = tuple(int(rng.integers(size)) for size in data.shape)
        bad = [2, 7] if np.dtype(dtype).kind in "iu" else [2, -3, 0.5, math.inf, -math.inf, nan]
        data[at] = pick(rng, bad)
    if dtype == "bool" and rng.random() < 0.5:
        data = rng.integers(0, 256, data.shape).astype(np.uint8).view(bool)  # bytes that are neither 0 nor 1
        return data, options, meaning((data.view(np.uint8) != 0).tolist(), data.shape, options)
    spread = np.broadcast_to(data[:1], data.shape)
    data = pick(rng, [data, data[::-1], data[:, ::2], np.asfortranarray(data), spread, data.T])
    rows = [[data[i, j] for j in range(data.shape[1])] for i in range(data.shape[0])]
    if rng.random() < 0.3:
        mask = rng.random(data.shape) < 0.3
        data = np.ma.array(data, mask=mask)
        rows = [[None if m else v for v, m in zip(*pair, strict=True)] for pair in zip(rows, mask, strict=True)]
    return data, options, meaning(rows, data.shape, options)


def objects(rng: Any) -> Case:
    """Lists and object arrays of anything."""
    values, options = base(rng)
    values = values[:20]
    data = np.empty(values.shape, object)
    for at in np.ndindex(values.shape):
        data[at] = pick(rng, GOOD)
        if rng.random() < 0.01:
            data[at] = pick(rng, BAD)
    wanted = meaning(data, data.shape, options)
    way = rng.integers(5)
    if way == 0:
        return data, options, wanted
    if way == 1:
        mask = rng.random(data.shape) < 0.3
        return np.ma.array(data, mask=mask), options, meaning(np.where(mask, None, data), data.shape, options)
    rows = [list(row) for row in data]
    if any(isinstance(value, np.ndarray) and value.ndim == 0 for row in rows for value in row):
        wanted = EITHER  # NumPy takes it for its number, unless the list becomes an array of objects
    if way == 2 and len(rows) > 1:
        del rows[0][:1]  # ragged, unless there was nothing to lose
        return rows, options, REFUSED
    if way == 3:
        rows = tuple(tuple(row) for row in rows)
    return rows, options, wanted


def packed(rng: Any) -> Case:
    """Packed bits, often of another width than told."""
    values, _ = base(rng)
    n, d = values.shape
    data = np.packbits(np.nan_to_num(values).astype(np.uint8), axis=1)
    told: Any = d
    if rng.random() < 0.5:
        told = pick(rng, [d + 1, d - 1, d + 8, -d, 0, 10**18, float(d), str(d), None, True, nan])
    if data.size and rng.random() < 0.3:
        data[int(rng.integers(len(data))), -1] = rng.integers(256)
    if rng.random() < 0.1:
        data = pick(rng, [data.astype(int), data[0] if n else data, data[None], data.tolist(), np.ma.array(data)])
    options = {"packed": True, "n_columns": told}
    valid = type(data) is np.ndarray and data.ndim == 2 and data.dtype == np.uint8
    if not valid or type(told) is not int or told < 1 or not len(data) or data.shape[1] != -(-told // 8):
        return data, options, REFUSED
    rows = [[int(byte) >> bit & 1 for byte in row for bit in range(7, -1, -1)] for row in data]
    if any(any(row[told:]) for row in rows):
        return data, options, REFUSED
    return data, options, meaning([row[:told] for row in rows], (n, told), {})


class Liar:
    """An array-like that is none."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return 3


def no_table(rng: Any) -> Case:
    """Things that are no table at all."""
    things: list[Any] = [None, 3, nan, 1j, object(), {}, {"a": 1}, {0, 1}, range(3), [], [[]], [[], []], b"01", len]
    things += [iter([[0, 1]]), bytearray(b"01"), memoryview(b"01"), array.array("b", [0, 1]), np.ma.masked, Liar(), int]
    things += [np.zeros(3), np.array(1), np.zeros((2, 2, 2)), np.zeros((1, 1), "S1"), np.zeros((2, 2), "M8[s]")]
    things += [np.zeros(3, [("a", "b"), ("b", "b")]), np.rec.array([(1, 0)]), np.zeros((2, 2), complex), [[[0, 1]]]]
    things += [[np.zeros(2), np.zeros(3)], [{}], [None], [0, 1], [[0, 1], 1], np.void(b"01"), ...]
    things += [np.array([["0", "1"]], np.dtypes.StringDType()), slice(3), Exception("x"), type("T", (), {})()]
    return pick(rng, things), base(rng)[1], REFUSED


MAKERS = [dense, objects, packed, sparse_one, sparse_one, no_table] + [frame] * (2 if FRAMES else 0)


def case(seed: int) -> tuple[str, Case]:
    """Return the kind and the case of a seed."""
    rng = np.random.default_rng([0x805717E, seed])
    maker = pick(rng, MAKERS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about the damage
        data, options, wanted = maker(rng)
    if isinstance(wanted, np.ndarray) and rng.random() < 0.1:
        more = int(rng.integers(-1, 2))
        options = {**options, "names": [f"c{j}" for j in range(wanted.shape[1] + more)]}
        wanted = REFUSED if more else wanted
    return maker.__name__, (data, options, wanted)


PLAIN = SimpleNamespace(coding_=None)  # stands for a model that was fitted to bits


def verdict(data: Any, options: dict[str, Any], wanted: Any) -> tuple[str, str | None]:
    """Open a table; return (outcome, what was wrong or None).

    A frame is opened twice: with a look at its columns, which may read more than bits but fail in no other way than by
    a `TableError`, and without one, as for a model that was fitted to bits.
    """
    try:
        if hasattr(type(data), "columns") or hasattr(type(data), "column_names"):  # not of the object: a lazy one warns
            with warnings.catch_warnings(), contextlib.suppress(TableError):
                warnings.simplefilter("ignore")
                looked = open_table(data, **options)
                # Columns may be left out: of nothing, or that a threshold cannot cut.
                same = isinstance(wanted, str) or "threshold" in options or looked.shape[1] < wanted.shape[1]
                if not same and not np.array_equal(looked.to_float(), wanted, equal_nan=True):
                    return "table", f"with a look read as {looked.to_float()}, not {wanted}"
            options = {**options, "recode": PLAIN}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = open_table(data, **options)
    except TableError as error:
        fine = isinstance(wanted, str) and 20 < len(str(error)) < 600
        return REFUSED, None if fine else f"refused: {error}"
    except BaseException:
        return "exception", traceback.format_exc()
    if isinstance(wanted, str) and wanted == REFUSED:
        return "table", f"accepted as {table.source}"
    indptr, indices = table.source.x.ones()
    if len(indptr) != table.shape[0] + 1 or (len(indices) and not 0 <= indices.min() <= indices.max() < table.shape[1]):
        return "table", "not valid"
    if isinstance(wanted, str):
        return "table", None
    values = table.to_float()
    if not np.array_equal(values, wanted, equal_nan=True):
        return "table", f"read as\n{values}\nnot\n{wanted}"
    small, inverse = collapse(table)
    again = small.to_float() if inverse is None else small.to_float()[inverse]
    grid = table.grid(3)
    blocks = [block.to_float() for i in range(grid.n_parts) for block in grid.load(i).blocks()]
    for name, other in (("collapsed", again), ("blocks", np.concatenate(blocks))):
        if not np.array_equal(values, other, equal_nan=True):
            return "table", f"{name} differ"
    return "table", None if table.n_missing == np.isnan(wanted).sum() else "n_missing"
