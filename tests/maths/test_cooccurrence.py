"""How often columns are 1 together: every pair of storages, and the compiled twin, against whole-number products."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hiddenbits.data import Dense, Packed
from hiddenbits.maths import cooccurrence
from hiddenbits.maths.cooccurrence import co_counts, column_sums
from tests.data.test_bits import STORAGES, build

pytestmark = pytest.mark.core
PAIRS = list(product(STORAGES, STORAGES))


def rows(seed, n, d, share):
    return (np.random.default_rng(seed).random((n, d)) < share).astype(np.uint8)


def whole(a, b, weights=None):
    """a.T @ diag(w) @ b in whole numbers."""
    w = np.ones(len(a), np.int64) if weights is None else weights.astype(np.int64)
    return a.T.astype(np.int64) @ (w[:, None] * b.astype(np.int64))


@pytest.fixture
def only_the_kernel(monkeypatch):
    """Nothing but the compiled functions may count."""
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    monkeypatch.setattr(cooccurrence, "KERNEL_WORK", 0)
    monkeypatch.setattr(cooccurrence, "SPARSE", 0.0)
    monkeypatch.delattr(cooccurrence, "_product")


def check(a, b, truth, weights=None, atol=0.0):
    counts = co_counts(a, b, weights)
    assert counts.dtype == np.float64
    np.testing.assert_allclose(np.broadcast_to(counts, truth.shape), truth, rtol=0, atol=atol)


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=" and ".join)
def test_every_pair_of_storages(first, second):
    """Without weights, with equal ones, with whole ones (all exact), with real ones; few ones and many; no rows."""
    for seed, (n, d, share) in enumerate([(37, 21, 0.4), (150, 9, 0.01), (0, 5, 0.5), (1, 1, 0.5)]):
        a, x = build(first, rows(seed, n, d, share))
        b, y = build(second, rows(seed + 10, n, d + 3, share))
        weights = np.random.default_rng(seed).integers(0, 5, n).astype(float)
        check(a, b, whole(x, y))
        check(a, b, 3 * whole(x, y), np.full(n, 3.0))
        check(a, b, whole(x, y, weights), weights)
        check(a, b, x.T.astype(float) @ (0.1 * weights[:, None] * y), 0.1 * weights, 1e-13 * max(n, 1))
        np.testing.assert_array_equal(column_sums(a), x.sum(axis=0, dtype=np.int64))
        np.testing.assert_array_equal(column_sums(a, weights), weights @ x)


@pytest.mark.parametrize("storage", STORAGES)
def test_one_object_twice(storage):
    bits, x = build(storage, rows(3, 300, 17, 0.3))
    check(bits, bits, whole(x, x))


@pytest.mark.parametrize("chunk", [1, 100, 1 << 23])
def test_chunks_do_not_matter(chunk, monkeypatch):
    monkeypatch.setattr(cooccurrence, "CHUNK_CELLS", chunk)
    x, y = rows(0, 530, 7, 0.5), rows(1, 530, 4, 0.5)
    weights = np.arange(530.0)
    for bits in (Dense(x), Packed(np.packbits(x, axis=1), 7)):
        check(bits, bits, whole(x, x))
        check(bits, Dense(y), whole(x, y, weights), weights)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("n", "d"), [(1, 1), (63, 5), (64, 64), (65, 3), (200, 131), (33_000, 9)], ids=str)
def test_kernel(n, d, seed, only_the_kernel):
    """Rows that do not fill a word, more of them than one run, columns that do not fill a tile, more than one panel."""
    x, y = rows(seed, n, d, 0.4), rows(seed + 5, n, d + 2, 0.7)
    as_packed = Packed(np.packbits(x, axis=1), d)
    as_packed.packed.flags.writeable = False  # such as a memory map
    exact = x.astype(np.float64)
    check(as_packed, as_packed, exact.T @ exact)
    check(as_packed, Dense(y), exact.T @ y)


@pytest.mark.parametrize(("first", "second"), [pair for pair in PAIRS if "ones" not in "".join(pair)], ids=" and ".join)
def test_kernel_from_every_storage(first, second, only_the_kernel):
    a, x = build(first, rows(1, 70, 9, 0.4))
    b, y = build(second, rows(2, 70, 6, 0.4))
    check(a, b, whole(x, y))


def test_without_numba(monkeypatch):
    monkeypatch.setattr(cooccurrence, "KERNEL_WORK", 0)
    monkeypatch.setattr(cooccurrence, "_kernel", lambda: None)
    x = rows(0, 100, 8, 0.5)
    check(Packed(np.packbits(x, axis=1), 8), Dense(x), whole(x, x))
