"""Every storage of bits against NumPy on the dense matrix."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hiddenbits.data import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.bits import pattern_of
from hiddenbits.data.operands import product_with_totals
from hiddenbits.maths.cooccurrence import co_counts


def gram_of(bits):
    d = bits.shape[1]
    return np.broadcast_to(co_counts(bits, bits), (d, d))


pytestmark = pytest.mark.core


def frozen(array):
    """Read-only: an operation that writes to its input fails."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def as_dense(x):
    return Dense(frozen(x))


def as_pattern(x):
    indptr, indices = pattern_of(x)
    return Pattern(frozen(indptr), frozen(indices), x.shape[1])


def as_pattern64(x):
    indptr, indices = pattern_of(x)
    return Pattern(frozen(indptr), frozen(indices.astype(np.int64)), x.shape[1])


def as_packed(x):
    return Packed(frozen(np.packbits(x, axis=1)), x.shape[1])


PLAIN = {"dense": as_dense, "pattern": as_pattern, "pattern64": as_pattern64, "packed": as_packed}
STORAGES = [*PLAIN, "ones"]
STORAGES += [f"complement of {name}" for name in STORAGES] + ["complement of complement of packed"]


def build(storage: str, x) -> tuple[Bits, np.ndarray]:
    """Return bits in the storage, and the dense matrix that they stand for."""
    if storage.startswith("complement of "):
        bits, dense = build(storage.removeprefix("complement of "), x)
        return Complement(bits), 1 - dense
    if storage == "ones":
        return AllOnes(x.shape), np.ones_like(x)
    return PLAIN[storage](x), x


def broadcasts(storage: str) -> bool:
    return storage.endswith("ones")


tables = st.tuples(st.integers(0, 12), st.integers(1, 19)).flatmap(
    lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 1))
)
either_float = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_storage = pytest.mark.parametrize("storage", STORAGES)


def whole(seed: int, shape, dtype):
    """Whole numbers as floats, so that every product is exact in any order of adding."""
    return frozen(np.random.default_rng(seed).integers(-50, 51, shape).astype(dtype))


@every_storage
@either_float
@given(x=tables, seed=st.integers(0, 99), k=st.integers(0, 4))
def test_products(storage, dtype, x, seed, k):
    bits, dense = build(storage, x)
    (n, d), operand = bits.shape, bits.operand(dtype)
    assert (n, d) == x.shape
    for left, small, truth in (
        (operand, whole(seed, (d, k), dtype), dense.astype(np.float64)),
        (operand.T, whole(seed, (n, k), dtype), dense.T.astype(np.float64)),
    ):
        product = left @ small
        assert product.dtype == dtype
        assert product.shape == ((1, k) if broadcasts(storage) else (len(truth), k))
        np.testing.assert_array_equal(np.broadcast_to(product, (len(truth), k)), truth @ small)
        again = product_with_totals(left, small, small.sum(axis=0, keepdims=True))
        np.testing.assert_array_equal(again, product)


@every_storage
@either_float
def test_products_of_real_numbers(storage, dtype):
    rng = np.random.default_rng(1)
    bits, dense = build(storage, rng.integers(0, 2, (37, 21), dtype=np.uint8))
    W, R = rng.normal(size=(21, 3)), rng.normal(size=(37, 3))
    operand, few = bits.operand(dtype), 64 * np.finfo(dtype).eps
    for product, truth in ((operand @ W.astype(dtype), dense @ W), (operand.T @ R.astype(dtype), dense.T @ R)):
        np.testing.assert_allclose(np.broadcast_to(product, truth.shape), truth, rtol=0, atol=few)


@every_storage
@given(x=tables)
def test_counts(storage, x):
    bits, dense = build(storage, x)
    exact = dense.astype(np.int64)
    gram, sums = gram_of(bits), bits.row_sums()
    assert gram.dtype == np.float64
    assert sums.dtype == np.int64
    np.testing.assert_array_equal(gram, exact.T @ exact)
    np.testing.assert_array_equal(sums, exact.sum(axis=1))


def assert_same(bits: Bits, dense) -> None:
    """Shape, cells, and the pattern of the ones."""
    assert bits.shape == dense.shape
    back = bits.to_dense()
    assert back.dtype == np.uint8
    np.testing.assert_array_equal(back, dense)
    indptr, indices = bits.ones()
    assert indptr.dtype == np.int64
    assert indices.dtype.kind == "i"
    rows, columns = np.nonzero(dense)
    np.testing.assert_array_equal(indices, columns)  # nonzero ascends within a row
    np.testing.assert_array_equal(np.repeat(np.arange(len(dense)), np.diff(indptr)), rows)
    assert indptr[0] == 0


@every_storage
@given(x=tables, data=st.data())
def test_rows_and_take(storage, x, data):
    bits, dense = build(storage, x)
    n = len(x)
    assert_same(bits, dense)
    start = data.draw(st.integers(0, n))
    stop = data.draw(st.integers(start, n))
    assert_same(bits.rows(start, stop), dense[start:stop])
    assert type(bits.rows(start, stop)) is type(bits)
    rows = data.draw(st.lists(st.integers(-n, n - 1), max_size=2 * n)) if n else []
    rows = np.array(rows, np.int64)
    assert_same(bits.take(rows), dense[rows])
    cut = bits.rows(start, stop)  # what is cut off can be cut and multiplied again
    assert_same(cut.take(np.arange(stop - start)[::-1]), dense[start:stop][::-1])
    assert_same(cut.rows(0, max(0, stop - start - 1)), dense[start:stop][:-1])
    W = whole(0, (x.shape[1], 2), np.float64)
    np.testing.assert_array_equal(np.broadcast_to(cut.operand() @ W, (stop - start, 2)), dense[start:stop] @ W)


@every_storage
def test_pickle_and_bytes(storage):
    x = np.random.default_rng(3).integers(0, 2, (9, 11), dtype=np.uint8)
    bits, dense = build(storage, x)
    assert_same(pickle.loads(pickle.dumps(bits)), dense)
    ones = int(x.sum())
    held = {"dense": 99, "pattern": 80 + 4 * ones, "pattern64": 80 + 8 * ones, "packed": 18, "ones": 0}
    assert bits.nbytes == held[storage.split()[-1]]


def test_rows_do_not_copy():
    x = np.random.default_rng(4).integers(0, 2, (30, 16), dtype=np.uint8)
    dense, pattern, packed = as_dense(x), as_pattern(x), as_packed(x)
    assert np.shares_memory(dense.rows(3, 9).values, dense.values)
    assert np.shares_memory(pattern.rows(3, 9).indices, pattern.indices)
    assert np.shares_memory(packed.rows(3, 9).packed, packed.packed)


def test_pattern_operand_shares_its_indices():
    pattern = as_pattern(np.eye(9, dtype=np.uint8))
    assert np.shares_memory(pattern.operand().indices, pattern.indices)


@either_float
def test_memory_maps(tmp_path, dtype):
    x = np.random.default_rng(5).integers(0, 2, (40, 13), dtype=np.uint8)
    indptr, indices = pattern_of(x)
    mapped = {}
    for name, array in {"x": x, "indptr": indptr, "indices": indices, "packed": np.packbits(x, axis=1)}.items():
        np.save(tmp_path / f"{name}.npy", array)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    W = whole(1, (13, 3), dtype)
    for bits in (Dense(mapped["x"]), Pattern(mapped["indptr"], mapped["indices"], 13), Packed(mapped["packed"], 13)):
        assert_same(bits, x)
        assert_same(bits.rows(5, 31).take(np.array([3, 3, 0])), x[[8, 8, 5]])
        np.testing.assert_array_equal(bits.operand(dtype) @ W, x @ W)
        np.testing.assert_array_equal(bits.operand(dtype).T @ W[:1].repeat(40, 0), x.T @ W[:1].repeat(40, 0))
        assert_same(Complement(bits), 1 - x)


def test_a_longer_run_of_ones_does_not_disturb_a_shorter_one():
    small = as_pattern(np.eye(3, dtype=np.uint8)).operand(np.float32)
    large = as_pattern(np.ones((300, 300), np.uint8)).operand(np.float32)
    assert large.nnz == 90000
    np.testing.assert_array_equal((large @ np.ones((300, 1), np.float32))[:, 0], np.full(300, 300))
    np.testing.assert_array_equal(small.todense(), np.eye(3))


def test_no_columns_and_no_rows():
    for storage in STORAGES:
        for shape in ((0, 3), (4, 0), (0, 0)):
            bits, dense = build(storage, np.zeros(shape, np.uint8))
            assert_same(bits, dense)
            np.testing.assert_array_equal(gram_of(bits), dense.T @ dense.astype(float))
            np.testing.assert_array_equal(bits.row_sums(), dense.sum(axis=1))
