"""Hostile sparse containers: private arrays and shapes edited, read again entry by entry."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from tests.data.hostile_oracle import EITHER, REFUSED, UnlawfulError, base, cell, nan, pick

FORMATS = ["csr", "csc", "coo", "bsr", "dok", "lil", "dia"]
Entries = Iterator[tuple[int, int, Any]]


def require(valid: Any) -> None:
    if not valid:
        raise UnlawfulError


def integers(held: Any) -> list[int]:
    held = np.asarray(held)  # SciPy takes a list for one
    require(held.ndim == 1 and held.dtype.kind in "iu")
    return [int(i) for i in held]


def numbers_of(held: Any, ndim: int = 1) -> np.ndarray:
    require(isinstance(held, np.ndarray) and held.ndim == ndim and held.dtype.kind in "biuf")
    return held


def runs(data: Any, n_major: int, ndim: int = 1) -> Iterator[tuple[int, int, Any]]:
    """Yield (major, minor, value) of a compressed container."""
    indptr, indices, values = integers(data.indptr), integers(data.indices), numbers_of(data.data, ndim)
    require(len(indptr) == n_major + 1 and indptr[0] == 0 and indptr == sorted(indptr))
    require(len(indices) == len(values) and indptr[-1] <= len(indices))
    for major in range(n_major):
        for at in range(indptr[major], indptr[major + 1]):
            yield major, indices[at], values[at]


def csr(data: Any, n: int, d: int) -> Entries:
    yield from runs(data, n)


def csc(data: Any, n: int, d: int) -> Entries:
    for j, i, value in runs(data, d):
        yield i, j, value


def bsr(data: Any, n: int, d: int) -> Entries:
    _, high, wide = numbers_of(data.data, 3).shape
    require(n % high == 0 and d % wide == 0)
    for i, j, block in runs(data, n // high, 3):
        require(0 <= j < d // wide)
        for a, b in np.ndindex(high, wide):
            yield i * high + a, j * wide + b, block[a, b]


def coo(data: Any, n: int, d: int) -> Entries:
    values = numbers_of(data.data)
    yield from zip(integers(data.row), integers(data.col), values, strict=True)


def dok(data: Any, n: int, d: int) -> Entries:
    for (i, j), value in data.items():
        yield i, j, value


def lil(data: Any, n: int, d: int) -> Entries:
    require(len(data.rows) == len(data.data) == n)
    for i, (columns, values) in enumerate(zip(data.rows, data.data, strict=True)):
        for j, value in zip(columns, values, strict=True):
            yield i, j, value


def dia(data: Any, n: int, d: int) -> Entries:
    values, offsets = numbers_of(data.data, 2), integers(data.offsets)
    require(len(offsets) == len(values) == len(set(offsets)))
    for offset, line in zip(offsets, values, strict=True):
        for j in range(min(d, len(line))):
            if 0 <= j - offset < n and line[j] != 0:
                yield j - offset, j, line[j]


ENTRIES = {"csr": csr, "csc": csc, "coo": coo, "bsr": bsr, "dok": dok, "lil": lil, "dia": dia}


def edited(rng: Any, held: Any, shape: tuple[int, int]) -> Any:
    """Return an index or value array, damaged in one of many ways."""
    held = np.array(held)
    flat, n_flat = held.reshape(-1), held.size
    way = rng.integers(12)
    if way < 6 and n_flat:
        wide = flat.astype(np.int64) if held.dtype.kind == "i" and way == 0 else flat.copy()
        values = [-1, 0, 1, 2, shape[0], shape[1], 2**31 - 1] + ([2**40, -(2**40)] if wide.dtype == np.int64 else [])
        wide[int(rng.integers(n_flat))] = np.array(pick(rng, values)).astype(wide.dtype)
        return wide.reshape(held.shape)
    if rng.random() < 0.4:
        return held.astype(pick(rng, [float, np.uint64, object, "U8", np.int8, np.int64]))
    return pick(rng, [held[:-1], np.concatenate([held, held[:1]]), held[None], held[::-1], None, held.tolist()])


def sparse_one(rng: Any) -> tuple[Any, dict[str, Any], Any]:
    """Sparse containers, their private parts edited."""
    values, options = base(rng)
    stored = np.nan_to_num(values, nan=1.0)
    kind, box = pick(rng, FORMATS), pick(rng, ["array", "matrix"])
    data = getattr(sparse, f"{kind}_{box}")(stored.astype(pick(rng, ["d", "f", "b", "q", "bool"])))
    if kind in ("csr", "csc", "coo", "bsr") and data.data.dtype.kind == "f":
        data.data[rng.random(data.data.shape) < 0.2] = pick(rng, [0, nan, 1, 2, 0.5])
    if kind == "coo" and data.nnz and rng.random() < 0.2:
        twice = [np.concatenate([a, a[-1:]]) for a in (data.data, data.row, data.col)]
        data = getattr(sparse, "coo_" + box)((twice[0], (twice[1], twice[2])), shape=data.shape)
    if rng.random() < 0.6:
        names = {"coo": ["data", "row", "col"], "lil": ["rows", "data"], "dok": [], "dia": ["data", "offsets"]}
        name = pick(rng, [*names.get(kind, ["indptr", "indices", "data"]), "_shape"])
        if name == "_shape":
            n, d = values.shape
            near = [(n + 1, d), (n, d + 1), (n - 1, d), (d, n), (-n, d), (n,), (n, d, 1), (n + 0.5, d)]
            data._shape = pick(rng, [*near, (n, 10**12), (10**12, d), (2**63, d), (n, 2**62)])
        else:
            try:
                setattr(data, name, edited(rng, getattr(data, name), values.shape))
            except Exception:
                return data, options, EITHER  # SciPy itself refused the edit, half-way perhaps
    if isinstance(getattr(data, "data", None), list):
        return data, options, EITHER  # as good as an array
    return data, options, sparse_meaning(data, kind, options)


def sparse_meaning(data: Any, kind: str, options: dict[str, Any]) -> Any:
    """Read a container entry by entry; wide tables are judged only by being valid."""
    threshold, blank = options.get("threshold"), options.get("empty", "auto")
    if (threshold is not None and threshold < 0 and blank != "missing") or (kind == "dia" and blank == "missing"):
        return REFUSED
    try:
        n, d = data.shape
        require(type(n) is type(d) is int and n > 0 and d > 0 and n <= 10**6)
        cells = list(ENTRIES[kind](data, n, d))
        require(len({(i, j) for i, j, _ in cells}) == len(cells))
        require(all(0 <= i < n and 0 <= j < d for i, j, _ in cells))
        means = [(i, j, cell(v, threshold)) for i, j, v in cells]
    except Exception:
        return REFUSED
    if d > 10**6:
        return EITHER
    out = np.full((n, d), nan if blank == "missing" else 0.0)
    for i, j, mean in means:
        out[i, j] = 0.0 if blank == "zero" and math.isnan(mean) else mean
    return out
