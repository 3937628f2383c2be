"""What a cell may be: everything accepted gives the same table, everything else is refused with its place."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import AllOnes, Complement, Dense, Packed, Pattern, open_table
from hiddenbits.data import cell_checks as checks_module
from hiddenbits.exceptions import TableError

pytestmark = pytest.mark.core
nan = np.nan
BITS = np.random.default_rng(0).integers(0, 2, (23, 11))
HOLES = np.where(np.random.default_rng(1).random((23, 11)) < 0.3, nan, BITS)
FORMATS = ["csr", "csc", "coo", "bsr", "dok", "lil", "dia"]
KINDS = [f"{kind}_{box}" for kind in FORMATS for box in ("array", "matrix")]
REMEDY = "Cells must be 0, 1 or empty. Recode the column, or set threshold="


def assert_table(table, values):
    """The same cells, by the table's own account and by its two matrices of bits."""
    values = np.asarray(values, float)
    np.testing.assert_array_equal(table.to_float(), values)
    source = table.source
    np.testing.assert_array_equal(source.x.to_dense(), np.nan_to_num(values))
    np.testing.assert_array_equal(source.observed.to_dense(), ~np.isnan(values))
    assert table.shape == values.shape
    assert table.n_missing == np.isnan(values).sum()


@pytest.mark.parametrize("dtype", ["bool", *np.typecodes["AllInteger"], *np.typecodes["Float"], ">i4", ">f8", "O"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dtypes(dtype, order):
    values = np.array(BITS, dtype=dtype, order=order)
    before = values.copy()
    values.flags.writeable = False
    table = open_table(values)
    assert_table(table, BITS)
    assert isinstance(table.source.observed, AllOnes)
    np.testing.assert_array_equal(values, before)
    assert_table(open_table(values[::2, ::-3]), BITS[::2, ::-3])
    hidden = np.ma.array(values, mask=np.isnan(HOLES))
    assert_table(open_table(hidden), HOLES)
    assert_table(open_table(hidden, empty="zero"), np.nan_to_num(HOLES))


@pytest.mark.parametrize("dtype", [*np.typecodes["Float"], ">f4"])
@pytest.mark.parametrize("blank", ["auto", "missing"])
def test_nan_is_not_observed(dtype, blank):
    assert_table(open_table(HOLES.astype(dtype), empty=blank), HOLES)
    assert_table(open_table(HOLES.astype(dtype), empty="zero"), np.nan_to_num(HOLES))


def test_python_objects():
    values = HOLES.astype(object)
    values[np.isnan(HOLES)] = None
    values[0, :6] = [Decimal(1), Fraction(0), True, np.False_, 1.0, np.int8(1)]
    values[0, 6:] = [np.float32(nan), None, 0, -0.0, Decimal("NaN")]
    want = HOLES.copy()
    want[0] = [1, 0, 1, 0, 1, 1, nan, nan, 0, 0, nan]
    assert_table(open_table(values), want)
    assert_table(open_table(values.tolist()), want)
    assert_table(open_table(tuple(map(tuple, values))), want)
    assert_table(open_table(HOLES.view(np.matrix)), HOLES)
    assert_table(open_table([np.ma.array(row, mask=np.isnan(row)) for row in HOLES]), HOLES)


def test_masked_cells_may_hold_anything():
    held = np.array([["x", 1, 2], [0, object(), 10**400]], dtype=object)
    masked = np.ma.array(held, mask=[[1, 0, 1], [0, 1, 1]])
    assert_table(open_table(masked), [[nan, 1, nan], [0, nan, nan]])
    assert_table(open_table(np.ma.array([[7.0, np.inf, nan, 1]], mask=[[1, 1, 0, 0]])), [[nan, nan, nan, 1]])
    assert_table(open_table(np.ma.array(np.array([[7, 1]], np.uint8), mask=[[1, 0]])), [[nan, 1]])
    assert_table(open_table(np.ma.array([[3, -3]], mask=[[1, 0]]), threshold=0), [[nan, 0]])


def test_memory_map(tmp_path):
    np.save(tmp_path / "x.npy", BITS.astype(np.uint8))
    table = open_table(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert_table(table, BITS)
    assert isinstance(table.source.x, Dense)
    assert isinstance(table.source.x.values.base, np.memmap)  # mapped, not copied


def test_chunks_do_not_show(monkeypatch):
    monkeypatch.setattr(checks_module, "CHUNK_CELLS", 30)
    for values in (HOLES, BITS, BITS.astype(np.uint8), np.ma.array(BITS.astype(np.uint8), mask=np.isnan(HOLES))):
        assert_table(open_table(values), np.ma.filled(np.ma.array(values, float), nan))
    for dtype in (np.uint8, np.float32, object):
        bad = BITS.astype(dtype)
        bad[17, 4] = bad[20, 1] = 2
        with pytest.raises(TableError, match=r"^row 17, column 4: 2"):
            open_table(bad)


@pytest.mark.parametrize(("share", "storage"), [(0.02, Complement), (0.5, Dense), (0.98, Pattern)])
def test_storage_of_the_mask(share, storage):
    values = np.where(np.random.default_rng(2).random((50, 40)) < share, nan, 1.0)
    table = open_table(values)
    assert_table(table, values)
    assert isinstance(table.source.observed, storage)


@pytest.mark.parametrize("dtype", ["bool", "B", "i", "e", "f", "d", "O"])
@pytest.mark.parametrize("threshold", [-1, 0, 0.5, np.float32(0.5), 1, 7, 1e6])
def test_threshold(dtype, threshold):
    values = np.array([[0, 1, 1], [1, 0, 0]] if dtype == "bool" else [[0, 1, 2], [9, 200, 0]], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_table(open_table(values, threshold=threshold), values.astype(float) > threshold)


def test_threshold_and_blanks():
    values = [[-2.0, nan, 0.3], [0.5, 0.7, None]]
    assert_table(open_table(values, threshold=0.5), [[0, nan, 0], [0, 1, nan]])
    assert_table(open_table(values, threshold=0.5, empty="zero"), [[0, 0, 0], [0, 1, 0]])
    with pytest.raises(TableError, match=r"row 0, column 1: -?inf is not a finite number.*threshold"):
        open_table([[1.0, np.inf]], threshold=0)
    for wrong in (nan, np.inf, "0", 1j, [0, 1]):
        for data in (BITS, sparse.csr_array(BITS)):
            with pytest.raises(TableError, match=r"threshold=.* is not a finite number"):
                open_table(data, threshold=wrong)


STORED = ([1.0, 0.0, nan, 1.0, 0.0], ([0, 0, 1, 2, 2], [1, 2, 0, 3, 0]))
MEANINGS = {
    "auto": [[0, 1, 0, 0], [nan, 0, 0, 0], [0, 0, 0, 1]],
    "zero": [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]],
    "missing": [[nan, 1, 0, nan], [nan, nan, nan, nan], [0, nan, nan, 1]],
}


def container(kind: str, cells=STORED, shape=(3, 4)):
    """A sparse container that keeps the stored zeros (DIA cannot)."""
    coo = getattr(sparse, "coo_" + kind[4:])(cells, shape=shape)
    if kind.startswith("lil"):
        return coo.tocsr().tolil()
    if kind.startswith("bsr"):
        return coo.tobsr(blocksize=(1, 1))
    return coo.asformat(kind[:3])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blank", MEANINGS)
def test_sparse_blanks(kind, blank):
    matrix = container(kind)
    if kind.startswith("dia") and blank == "missing":
        with pytest.raises(TableError, match="DIA array cannot distinguish zeros"):
            open_table(matrix, empty=blank)
    else:
        before = matrix.toarray()
        assert_table(open_table(matrix, empty=blank), MEANINGS[blank])
        np.testing.assert_array_equal(matrix.toarray(), before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["bool", *np.typecodes["AllInteger"], "f", "d", "g"])
def test_sparse_dtypes(kind, dtype):
    box = getattr(sparse, kind)
    table = open_table(box(BITS.astype(dtype)))
    assert_table(table, BITS)
    assert isinstance(table.source.x, Pattern)
    assert table.source.x.indptr.dtype == np.int64
    assert table.source.x.indices.dtype == np.int32
    if dtype != "bool":
        assert_table(open_table(box(3 * BITS.astype(dtype)), threshold=2), BITS)


def test_sparse_blocks_keep_their_zeros_as_observed():
    bsr = sparse.bsr_array(np.kron([[1, 0]], [[1, 0], [1, 1]]), blocksize=(2, 2))
    assert_table(open_table(bsr, empty="missing"), [[1, 0, nan, nan], [1, 1, nan, nan]])


def test_packed():
    for d in (1, 7, 8, 9, 16, 23):
        bits = np.random.default_rng(d).integers(0, 2, (5, d))
        packed = np.packbits(bits, axis=1)
        for data, want in ((packed, bits), (packed[::-1], bits[::-1]), (np.asfortranarray(packed), bits)):
            table = open_table(data, packed=True, n_columns=np.int64(d), names=[f"c{j}" for j in range(d)])
            assert_table(table, want)
            assert isinstance(table.source.x, Packed)


BAD = [2, -1, 0.5, np.inf, -np.inf, 1 + 2**-40, 1e300]


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("dtype", [np.float64, object])
def test_bad_numbers(value, dtype):
    values = HOLES.astype(dtype)
    values[7, 3] = value
    shown = f"infinity ({value})" if np.isinf(value) else f"{float(value)}"
    remedy = "Use NaN for a cell that was not observed" if np.isinf(value) else REMEDY
    for data in (values, values.tolist()):
        with pytest.raises(TableError) as caught:
            open_table(data, names=[f"item {j}" for j in range(11)])
        assert str(caught.value).startswith(f"row 7, column 3 ('item 3'): {shown} is not a bit.")
        assert remedy in str(caught.value)
    for kind in KINDS:
        one_bad = getattr(sparse, kind)(np.where(np.arange(77).reshape(11, 7) == 40, float(value), 0.0))
        with pytest.raises(TableError, match=r"^row 5, column 5 \('f'\): ") as caught:
            open_table(one_bad, names="abcdefg")
        assert remedy in str(caught.value)
