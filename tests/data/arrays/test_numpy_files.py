"""Files of NumPy: one or several, mapped or packed, dense or sparse; what is refused, bombs and lies."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import MemorySource, Packed, Pattern, open_table
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits, holes, is_mapped

pytestmark = pytest.mark.core


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int64", "float32", ">i4"])
def test_npy(tmp_path, dtype):
    np.save(tmp_path / "x.npy", bits().astype(dtype))
    table = open_table(tmp_path / "x.npy", names="abcdefg")
    assert_reads(table, bits())
    assert table.names == tuple("abcdefg")
    assert isinstance(table.source, MemorySource)
    assert is_mapped(table.source.x.values) == (dtype in ("uint8", "bool"))


def test_npy_with_blanks_threshold_and_fortran_order(tmp_path):
    x = holes(bits())
    np.save(tmp_path / "x.npy", x)
    assert_reads(open_table(tmp_path / "x.npy"), x)
    assert_reads(open_table(tmp_path / "x.npy", empty="zero"), np.nan_to_num(x))
    np.save(tmp_path / "gray.npy", bits() * 200)
    assert_reads(open_table(tmp_path / "gray.npy", threshold=127), bits())
    np.save(tmp_path / "f.npy", np.asfortranarray(bits()))
    assert_reads(open_table(tmp_path / "f.npy"), bits())


def test_packed_npy(tmp_path):
    x = bits(40, 13)
    for i in range(2):
        np.save(tmp_path / f"{i}.npy", np.packbits(x[20 * i : 20 * i + 20], axis=1))
    table = open_table(tmp_path / "*.npy", packed=True, n_columns=13)
    assert_reads(table, x)
    assert isinstance(table.source.read(15, 25)[0], Packed)
    with pytest.raises(TableError, match=r"0\.npy: packed=True needs n_columns="):
        open_table(tmp_path / "0.npy", packed=True)


def test_several_npy_files_stay_on_disk(tmp_path):
    x = bits(100)
    for i, (start, stop) in enumerate([(0, 10), (10, 11), (11, 70), (70, 100)]):
        np.save(tmp_path / f"{i}.npy", x[start:stop].astype(bool if i % 2 else np.uint8))
    table = open_table(tmp_path / "*.npy")
    assert_reads(table, x, 100)
    assert not table.source.resident
    assert is_mapped(table.source.read(12, 60)[0].values)
    again = pickle.loads(pickle.dumps(table.source))
    np.testing.assert_array_equal(again.read(5, 80)[0].to_dense(), x[5:80])
    np.save(tmp_path / "1.npy", x[10:13])
    with pytest.raises(TableError, match=r"1\.npy: the file has changed"):
        table.source.read(0, 20)


def test_cells_are_checked_whenever_they_are_read(tmp_path):
    for i in range(2):
        np.save(tmp_path / f"{i}.npy", bits())
    table = open_table(f"{tmp_path}/*.npy")
    np.save(tmp_path / "1.npy", 7 * bits())
    with pytest.raises(TableError, match=r"1\.npy.*7"):
        table.to_float()


def test_npy_errors(tmp_path):
    path = tmp_path / "x.npy"

    def fails(array, message, **options):
        np.save(path, array, allow_pickle=True)
        with pytest.raises(TableError, match=message):
            open_table(path, **options)

    fails(bits() * 2, r"x\.npy: row 0, column \d.*2 is not a bit")
    fails(np.full((3, 2), np.inf), r"x\.npy: row 0, column 0: infinity")
    fails(np.array([[1, None]], object), "Python objects in dtype")
    fails(np.zeros((2, 2), "U3"), "dtype <U3")
    fails(np.zeros(5, np.uint8), r"1 dimension\(s\)")
    fails(np.zeros((0, 5), np.uint8), r"x\.npy: The table has 0 rows and 5 columns")
    fails(np.zeros((5, 0), np.uint8), r"x\.npy: The table has 5 rows and 0 columns")
    np.save(path, bits())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TableError, match="mmap length is greater than file size"):
        open_table(path)
    raw = io.BytesIO()
    np.save(raw, bits().astype(bool))
    path.write_bytes(raw.getvalue()[:-1] + b"\x07")  # True, says NumPy; a damaged file, say we
    with pytest.raises(TableError, match=r"row 59, column 6: 7 is not a bit"):
        open_table(path)
    np.save(tmp_path / "y.npy", bits(5, 6))
    np.save(path, bits(5, 7))
    with pytest.raises(TableError, match=r"y\.npy: 6 columns, but x\.npy has 7"):
        open_table([path, tmp_path / "y.npy"])


def test_npz_dense(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", train=bits(), test=holes(bits(20)))
    assert_reads(open_table(tmp_path / "x.npz", key="train"), bits())
    assert_reads(open_table(tmp_path / "x.npz", key="test"), holes(bits(20)))
    with pytest.raises(TableError, match=r"x\.npz: the file holds 2 arrays.*key=.*'train', 'test'"):
        open_table(tmp_path / "x.npz")
    with pytest.raises(TableError, match=r"no array 'valid'.*'train', 'test'"):
        open_table(tmp_path / "x.npz", key="valid")
    np.savez(tmp_path / "one.npz", bits())
    assert_reads(open_table(tmp_path / "one.npz"), bits())
    np.savez(tmp_path / "packed.npz", np.packbits(bits(), axis=1))
    assert_reads(open_table(tmp_path / "packed.npz", packed=True, n_columns=7), bits())
    np.savez(tmp_path / "two.npz", holes(bits()))
    both = open_table([tmp_path / "one.npz", tmp_path / "two.npz"])
    assert_reads(both, np.concatenate([bits(), holes(bits())]))
    np.savez(tmp_path / "object.npz", np.array([[None]], object))
    with pytest.raises(TableError, match="Object arrays cannot be loaded"):
        open_table(tmp_path / "object.npz")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_npz_sparse(tmp_path, kind):
    sparse.save_npz(tmp_path / "a.npz", kind(bits()))
    sparse.save_npz(tmp_path / "b.npz", kind(bits(seed=5)))
    table = open_table(tmp_path / "a.npz")
    assert_reads(table, bits())
    assert isinstance(table.source.x, Pattern)
    assert_reads(open_table(tmp_path / "*.npz"), np.concatenate([bits(), bits(seed=5)]))
    observed = open_table(tmp_path / "*.npz", empty="missing").to_float()
    np.testing.assert_array_equal(np.isnan(observed), np.concatenate([bits(), bits(seed=5)]) == 0)
    sparse.save_npz(tmp_path / "c.npz", kind(bits() * 3))
    assert_reads(open_table(tmp_path / "c.npz", threshold=2), bits())
    with pytest.raises(TableError, match=r"c\.npz: row 0, column \d: 3 is not a bit"):
        open_table(tmp_path / "c.npz")
    with pytest.raises(TableError, match=r"declares 7 columns, above max_columns=5"):
        open_table(tmp_path / "a.npz", max_columns=5)
    for other in (sparse.csc_array, sparse.coo_array, sparse.bsr_array, sparse.dia_array):
        sparse.save_npz(tmp_path / "d.npz", other(bits()))
        assert_reads(open_table(tmp_path / "d.npz"), bits())


@pytest.mark.parametrize("name", ["indptr", "indices", "shape", "data"])
def test_npz_sparse_damaged(tmp_path, name):
    matrix = sparse.csr_array(bits())
    good = {"format": np.array(b"csr"), "shape": np.array(matrix.shape)}
    good |= {key: getattr(matrix, key) for key in ("indptr", "indices", "data")}
    for wrong in (good[name][:-1], -good[name].astype(int) - 1, good[name] * 1.5, good[name].astype(int) * 100):
        np.savez(tmp_path / "x.npz", **{**good, name: wrong})
        with pytest.raises(TableError, match=r"x\.npz: "):
            open_table(tmp_path / "x.npz")


def npy_header(shape, descr="|u1"):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_npz_bombs_and_lies(tmp_path):
    path = tmp_path / "x.npz"

    def write(*pieces):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as file:
            for piece in pieces:
                file.write(piece)

    write(npy_header((2**14, 2**10)), *[bytes(2**20)] * 16)
    assert path.stat().st_size < 2**16
    with pytest.raises(TableError, match=r"x\.npz: the arrays take 16777344 bytes, above max_bytes=1000000"):
        open_table(path, max_bytes=1_000_000)
    assert open_table(path).shape == (2**14, 2**10)
    for header, cells, message in [
        (npy_header((10**6, 10**6)), bytes(100), "cannot be read"),
        (npy_header((2, -50)), bytes(100), "cannot be read"),
        (npy_header((10, 10), "|O"), bytes(800), "Object arrays cannot be loaded"),
        (npy_header("(" * 3000 + ")" * 3000), b"\0", "cannot be read"),
    ]:
        write(header, cells)
        with pytest.raises(TableError, match=rf"x\.npz: .*{message}"):
            open_table(path)
    path.write_bytes(b"no zip file at all")
    with pytest.raises(TableError, match=r"cannot be read \(BadZipFile"):
        open_table(path)
