"""Every format against the table in memory; errors that name file, place and remedy; damaged files."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import sys
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import AllOnes, Complement, Dense, MemorySource, Packed, Pattern, TableError, open_table
from hiddenbits.data.items.gather import DuplicateItemsWarning
from hiddenbits.data.locations.paths import natural_key

PLAIN = SimpleNamespace(coding_=None)  # stands for a model that was fitted to bits: nothing is guessed
core = pytest.mark.core


def bits(rows=60, columns=7, seed=0, density=0.4):
    return (np.random.default_rng(seed).random((rows, columns)) < density).astype(np.uint8)


def holes(x, share=0.1, seed=1):
    """Return floats with NaN in some cells."""
    values = x.astype(float)
    values[np.random.default_rng(seed).random(x.shape) < share] = np.nan
    return values


RANGES = 8  # runs of rows that are read of each table; 25 with --full


def assert_reads(table, expected, n_ranges=None):
    """The whole table, and any run of its rows, is what is expected (NaN where not observed)."""
    expected = np.asarray(expected, float)
    assert table.shape == expected.shape
    np.testing.assert_array_equal(table.to_float(), expected)
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(n_ranges or RANGES):
        start, stop = np.sort(rng.integers(0, len(expected) + 1, 2))
        x, observed = table.source.read(int(start), int(stop))
        part = expected[start:stop]
        assert x.shape == observed.shape == part.shape
        np.testing.assert_array_equal(x.to_dense(), np.nan_to_num(part))
        np.testing.assert_array_equal(observed.to_dense(), ~np.isnan(part))
        kinds.add((type(x), type(observed)))
    assert len(kinds) == 1  # parts are added, so all need one storage


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return type(array).__name__ == "mmap"


def write_baskets(path, x):
    path.write_text("".join(" ".join(map(str, np.flatnonzero(row))) + "\n" for row in x))
    return path


# Paths and formats -----------------------------------------------------------------------------------------------


@core
def test_globs_come_in_natural_order(tmp_path):
    x = bits(33)
    for i in range(11):
        np.save(tmp_path / f"part{i}.npy", x[3 * i : 3 * i + 3])
    assert_reads(open_table(tmp_path / "part*.npy"), x)
    backwards = [str(tmp_path / f"part{i}.npy") for i in (10, 2)]
    assert_reads(open_table(backwards), np.concatenate([x[30:33], x[6:9]]))
    mixed = [tmp_path / "part1?.npy", tmp_path / "part0.npy"]
    assert_reads(open_table(mixed), np.concatenate([x[30:33], x[:3]]))
    assert sorted(["b1", "a10", "a9", "a09b", "a"], key=natural_key) == ["a", "a9", "a09b", "a10", "b1"]


@pytest.mark.slow
@core
def test_a_name_with_brackets_is_a_file(tmp_path):
    np.save(tmp_path / "x[1].npy", bits())
    assert_reads(open_table(tmp_path / "x[1].npy"), bits())


@core
def test_path_errors(tmp_path):
    np.save(tmp_path / "a.npy", bits())
    (tmp_path / "a.csv").write_text("0,1\n")
    (tmp_path / "a.doc").write_text("0,1\n")
    (tmp_path / "a.npy.gz").write_bytes(b"")
    for paths, message in [
        (tmp_path / "none.npy", r"none\.npy: there is no such file"),
        (tmp_path / "none*.npy", r"none\*\.npy: there is no such file"),
        (tmp_path, r"this is a folder.*\*\.parquet"),
        ([tmp_path / "a.npy", tmp_path / "a.csv"], r"a\.csv: the files of one table must have one format"),
        ([tmp_path / "a.npy", tmp_path / "*.npy"], "given twice"),
        (tmp_path / "a.doc", r"'\.doc' is unknown.*\.npy, \.npz, \.parquet.*format="),
        (tmp_path / "a.npy.gz", r"'\.gz' is unknown.*\.csv\.gz"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(paths)
    assert_reads(open_table(tmp_path / "a.doc", format="csv"), [[0, 1]])
    with pytest.raises(
        TableError,
        match="format='excel' is not one of baskets, csv, feather, h5ad, jsonl, labelled, npy, npz, parquet, sheets",
    ):
        open_table(tmp_path / "a.doc", format="excel")
    with pytest.raises(TypeError, match=r"colour= is not an option of the csv reader, which has: decimal, delim"):
        open_table(tmp_path / "a.csv", colour="red")
    with pytest.raises(TypeError, match=r"packed=True is for arrays, \.npy and \.npz files, not for csv files"):
        open_table(tmp_path / "a.csv", packed=True, n_columns=2)
    with pytest.raises(TableError, match="n_columns=8 was given, but the table has 7 columns"):
        open_table(tmp_path / "a.npy", n_columns=8)
    with pytest.raises(TableError, match="blank='no' is not one of"):
        open_table(tmp_path / "a.npy", blank="no")


# .npy ------------------------------------------------------------------------------------------------------------


@core
@pytest.mark.parametrize("dtype", ["uint8", "bool", "int64", "float32", ">i4"])
def test_npy(tmp_path, dtype):
    np.save(tmp_path / "x.npy", bits().astype(dtype))
    table = open_table(tmp_path / "x.npy", names="abcdefg")
    assert_reads(table, bits())
    assert table.names == tuple("abcdefg")
    assert isinstance(table.source, MemorySource)
    assert is_mapped(table.source.x.values) == (dtype in ("uint8", "bool"))


@core
def test_npy_with_blanks_threshold_and_fortran_order(tmp_path):
    x = holes(bits())
    np.save(tmp_path / "x.npy", x)
    assert_reads(open_table(tmp_path / "x.npy"), x)
    assert_reads(open_table(tmp_path / "x.npy", blank="zero"), np.nan_to_num(x))
    np.save(tmp_path / "grey.npy", bits() * 200)
    assert_reads(open_table(tmp_path / "grey.npy", threshold=127), bits())
    np.save(tmp_path / "f.npy", np.asfortranarray(bits()))
    assert_reads(open_table(tmp_path / "f.npy"), bits())


@core
def test_packed_npy(tmp_path):
    x = bits(40, 13)
    for i in range(2):
        np.save(tmp_path / f"{i}.npy", np.packbits(x[20 * i : 20 * i + 20], axis=1))
    table = open_table(tmp_path / "*.npy", packed=True, n_columns=13)
    assert_reads(table, x)
    assert isinstance(table.source.read(15, 25)[0], Packed)
    with pytest.raises(TableError, match=r"0\.npy: packed=True needs n_columns="):
        open_table(tmp_path / "0.npy", packed=True)


@core
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


@core
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.97])
def test_several_npy_files_with_blanks(tmp_path, share):
    x = holes(bits(50), share)
    x[:20] = bits(50)[:20]
    np.save(tmp_path / "1.npy", bits(50)[:20])
    np.save(tmp_path / "2.npy", x[20:])
    assert_reads(open_table(tmp_path / "*.npy"), x)


@core
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


# .npz ------------------------------------------------------------------------------------------------------------


@core
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


@core
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_npz_sparse(tmp_path, kind):
    sparse.save_npz(tmp_path / "a.npz", kind(bits()))
    sparse.save_npz(tmp_path / "b.npz", kind(bits(seed=5)))
    table = open_table(tmp_path / "a.npz")
    assert_reads(table, bits())
    assert isinstance(table.source.x, Pattern)
    assert_reads(open_table(tmp_path / "*.npz"), np.concatenate([bits(), bits(seed=5)]))
    observed = open_table(tmp_path / "*.npz", blank="missing").to_float()
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


@core
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


@core
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


# Parquet ---------------------------------------------------------------------------------------------------------


def write_parquet(path, columns, group=17, **options):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, path, row_group_size=group, **options)
    return path


def frame(values, dtype=None):
    """Return columns c0, c1, ...: NaN becomes null, and dtype "nan" keeps it."""
    pa = pytest.importorskip("pyarrow")
    values = np.asarray(values, float)
    if dtype == "nan":
        return {f"c{j}": pa.array(column) for j, column in enumerate(values.T)}
    return {f"c{j}": pa.array([None if v != v else v for v in column]).cast(dtype) for j, column in enumerate(values.T)}


@pytest.mark.thin(3)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "uint32", "float", "double"])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.97])
def test_parquet(tmp_path, dtype, share):
    pytest.importorskip("pyarrow")
    x = holes(bits(90), share)
    for i, (start, stop) in enumerate([(0, 40), (40, 41), (41, 90)]):
        write_parquet(tmp_path / f"{i}.parquet", frame(x[start:stop], dtype))
    table = open_table(tmp_path / "*.parquet")
    assert_reads(table, x, 60)
    assert table.names == tuple(f"c{j}" for j in range(7))
    assert not table.source.resident
    exact = dtype not in ("float", "double")
    kinds = {0.0: AllOnes if exact else Complement, 0.03: Complement, 0.5: Dense, 0.97: Pattern}
    assert isinstance(table.source.read(40, 41)[1], kinds[share])
    zero = open_table(tmp_path / "*.parquet", blank="zero")
    assert_reads(zero, np.nan_to_num(x))
    assert isinstance(zero.source.read(0, 5)[1], AllOnes)
    assert_reads(open_table(tmp_path / "2.parquet", columns=["c3", "c1"]), x[41:, [3, 1]])
    assert_reads(open_table(tmp_path / "2.parquet", drop=["c3"]), np.delete(x[41:], 3, 1))


def test_parquet_nan_threshold_and_silent_metadata(tmp_path):
    x = holes(bits())
    assert_reads(open_table(write_parquet(tmp_path / "nan.pq", frame(x, "nan"))), x)
    silent = write_parquet(tmp_path / "silent.pq", frame(x, "uint8"), write_statistics=False)
    assert_reads(open_table(silent), x)
    assert isinstance(open_table(silent).source.read(0, 1)[1], Dense)
    assert_reads(open_table(write_parquet(tmp_path / "t.pq", frame(x * 9 - 4, "int32")), threshold=-1), x)
    pa = pytest.importorskip("pyarrow")
    blank = write_parquet(tmp_path / "none.pq", {"a": pa.nulls(5), "b": [1, 0, 1, 0, 1]})
    assert_reads(open_table(blank), np.column_stack([[np.nan] * 5, [1, 0, 1, 0, 1]]))


def test_parquet_names_with_dots(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", {"a": [0, 1], "a.b": [1, 1], "b": [0, 0]})
    assert_reads(open_table(path, columns=["b", "a"]), [[0, 0], [0, 1]])
    assert_reads(open_table(path, columns=["a.b"]), [[1], [1]])


def test_parquet_batches_smaller_than_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.named.parquet.files.BATCH_ROWS", (13, 13))
    x = holes(bits(200))
    for i in range(2):
        write_parquet(tmp_path / f"{i}.parquet", frame(x[100 * i : 100 * i + 100], "uint8"), group=70)
    assert_reads(open_table(tmp_path / "*.parquet"), x, 100)


def test_parquet_is_read_by_threads_and_other_processes(tmp_path):
    x = holes(bits(500))
    table = open_table(write_parquet(tmp_path / "x.parquet", frame(x, "uint8"), group=64))
    source = pickle.loads(pickle.dumps(table.source))
    assert source.read(480, 530)[0].shape == (20, 7)  # as a slice would
    with ThreadPoolExecutor(8) as pool:
        starts = range(0, 500, 3)
        for start, part in zip(starts, pool.map(lambda i: source.read(i, i + 50), starts), strict=True):
            np.testing.assert_array_equal(part[0].to_dense(), np.nan_to_num(x[start : start + 50]))
    grid = open_table(tmp_path / "x.parquet", part_bytes=1000).grid(32)
    assert grid.n_parts > 3
    np.testing.assert_array_equal(
        np.concatenate([block.to_float() for i in range(grid.n_parts) for block in grid.load(i).blocks()]), x
    )


def test_parquet_errors(tmp_path):
    path = tmp_path / "x.parquet"

    def fails(data, message, **options):
        write_parquet(path, data)
        with pytest.raises(TableError, match=message):
            open_table(path, **options).to_float()

    party = {"a": [0, 1], "party": ["D", "R"]}
    fails(party, r"x\.parquet: row 0, column 1 \('party'\): 'D' is not a bit", code=PLAIN)
    fails({"a": [0, 1], "l": [[0], [1]]}, r"column 'l' holds list<.*column='l'")
    five = {"a": [0, 1] * 20, "b": [0, 1] * 19 + [5, 1]}
    fails(five, r"x\.parquet: row 38, column 1 \('b'\): 5 is not a bit", code=PLAIN)
    fails(five, r"x\.parquet: One column needs a decision(.|\n)*'b': ordered values 0, 1, 5(.|\n)*drop=\['b'\]")
    fails({"a": [0.0, 1.0], "b": [0, np.inf]}, r"row 1, column 1 \('b'\): infinity")
    fails({"a": [0, -1]}, r"row 1, column 0 \('a'\): -1 is not a bit", code=PLAIN)
    fails({"a": [0, 1]}, "columns= names 'z', but the columns are 'a'", columns=["z"])
    fails({"a": [0, 1]}, "column= names 'z', but the columns are 'a'", column="z")
    fails({"a": [0, 1]}, "column 'a' holds int64, not lists", column="a")
    fails({"a": [0, 1]}, r"items= names the items of a column of lists", items=["a"])
    fails({"a": []}, r"x\.parquet: (The table has 0 rows|column 'a' holds null)")
    fails({}, r"x\.parquet: The table has 0 rows and 0 columns")
    write_parquet(path, {"a": [0, 1]})
    write_parquet(tmp_path / "y.parquet", {"b": [0, 1]})
    with pytest.raises(TableError, match=r"y\.parquet: the columns differ from those of x\.parquet \('a', 'b'\)"):
        open_table([path, tmp_path / "y.parquet"])
    table = open_table(path)
    write_parquet(path, {"a": [0, 1, 0, 0, 1], "b": [1, 1, 1, 1, 1]})
    with pytest.raises(TableError, match=r"x\.parquet: the file has changed"):
        table.source.read(0, 1)
    path.write_bytes(b"PAR1 this is not Parquet")
    with pytest.raises(TableError, match=r"x\.parquet: the file is not a complete Parquet file"):
        open_table(path)


def test_parquet_that_lies_about_nulls(tmp_path):
    """A table opened as complete refuses nulls that turn up later: parts must not change their storage."""
    path = write_parquet(tmp_path / "x.parquet", frame(holes(bits(30)), "uint8"), compression="none")
    lying = replace(open_table(path).source, mask="none", share=0.0)
    with pytest.raises(TableError, match="has missing values, but had none when the table was opened, or by the meta"):
        lying.read(0, 30)


@core
def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "x.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[files\]'"):
        open_table(tmp_path / "x.parquet")


def as_lists(x, names=None):
    return [[int(j) if names is None else names[j] for j in np.flatnonzero(row)] for row in x]


# Damaged files ---------------------------------------------------------------------------------------------------


WORDS = (b"2", b"-1", b"inf", b"nan", b"abc", b"1e300", b"0.5", b"99999999999", b'"', b"\0", b"\xc3", b"\n", b",", b" ")


def damage(data: bytes, rng: np.random.Generator, words: bool) -> bytes:
    """Flip bits, cut the end, cut a piece from the middle, or put another word somewhere."""
    raw = bytearray(data)
    kind = rng.integers(0, 5 if words else 3)
    if kind == 0:
        for _ in range(rng.integers(1, 5)):
            raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del raw[rng.integers(len(raw)) :]
    elif kind == 2:
        start = rng.integers(len(raw))
        del raw[start : start + rng.integers(1, 30)]
    else:
        at = int(rng.integers(len(raw)))
        raw[at : at + int(rng.integers(0, 2))] = WORDS[rng.integers(len(WORDS))]
    return bytes(raw)


def assert_lawful(bits, of=None):
    """Every cell is 0 or 1, and indices are ascending and in range."""
    if isinstance(bits, Complement):
        bits = bits.of
    if isinstance(bits, Pattern):
        assert bits.indptr[0] == 0
        assert bits.indptr[-1] == len(bits.indices)
        assert (np.diff(bits.indptr) >= 0).all()
        row = np.repeat(np.arange(bits.shape[0]), np.diff(bits.indptr))
        assert (np.diff(row * bits.n_columns + bits.indices.astype(np.int64)) > 0).all()
        assert ((bits.indices >= 0) & (bits.indices < bits.n_columns)).all()
    elif isinstance(bits, Dense):
        assert bits.values.max(initial=0) <= 1


def fuzz(path: Path, seed: int, words: bool, times: int, **options) -> int:
    """Damage the file many times: each time it is refused with its name, or is a valid table."""
    good, refused, valid = path.read_bytes(), 0, 0
    for i in range(times):
        rng = np.random.default_rng([seed, i])
        unpacked = gzip.decompress(good) if path.suffix == ".gz" and i % 2 else good
        raw = damage(unpacked, rng, words)
        path.write_bytes(gzip.compress(raw) if unpacked is not good else raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DuplicateItemsWarning)
            try:
                table = open_table(path, **options)
                grid = table.grid(16)
                for part in range(min(grid.n_parts, 4)):
                    loaded = grid.load(part)
                    assert loaded.x.shape == loaded.observed.shape
                    assert_lawful(loaded.x)
                    assert_lawful(loaded.observed)
            except TableError as error:
                refused += path.name in str(error)
            else:
                valid += 1
    assert refused + valid == times
    return refused


@core
@pytest.mark.parametrize("kind", ["u8.npy", "f8.npy", "bool.npy", "packed.npy", "dense.npz", "csr.npz"])
def test_damaged_numpy_files(tmp_path, kind):
    path, options = tmp_path / kind, {}
    if kind == "csr.npz":
        sparse.save_npz(path, sparse.csr_array(bits()))
    elif kind == "dense.npz":
        np.savez_compressed(path, x=bits())
    elif kind == "packed.npy":
        np.save(path, np.packbits(bits(), axis=1))
        options = {"packed": True, "n_columns": 7}
    else:
        np.save(path, {"u8": bits(), "f8": holes(bits()), "bool": bits() == 1}[path.stem])
    assert fuzz(path, 1, False, 100, **options) > 20


@core
@pytest.mark.parametrize("kind", ["x.dat", "x.dat.gz"])
def test_damaged_text_files(tmp_path, kind):
    path = tmp_path / kind
    data = write_baskets(tmp_path / "plain", bits()).read_bytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    assert fuzz(path, 2, True, 100) > 20


@pytest.mark.thin(2)
@pytest.mark.parametrize("kind", ["uint8", "bool", "nulls", "double"])
def test_damaged_parquet_files(tmp_path, kind, short):
    path = tmp_path / f"{kind}.parquet"
    values = holes(bits()) if kind in ("nulls", "double") else bits()
    write_parquet(path, frame(values, "uint8" if kind == "nulls" else kind))
    times = 75 if short else 150
    assert fuzz(path, 3, False, times) > times // 3


# Real files ------------------------------------------------------------------------------------------------------
