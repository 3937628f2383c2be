"""Zarr stores that lie are refused by what they declare; damaged ones do no harm in a guarded process."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import resource
import shutil
import sys
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import ReadLimits
from hiddenbits.data import TableError, open_table
from tests.data.readers import forked
from tests.data.readers.test_readers import assert_lawful, assert_reads, bits, damage, holes

zarr = pytest.importorskip("zarr", reason="the files extra is not installed")
numcodecs = pytest.importorskip("numcodecs")
from tests.data.readers.arrays.test_zarr import pick, write, write_sparse, zipped  # noqa: E402  (it skips itself without zarr)

codecs = zarr.codecs
# zarr's threads can wait for each other for ever when memory is short: the limit of time ends that.
LIMITED = "reading it took more than (600000000 bytes of memory|60 seconds)"


def edit(path, document="zarr.json", **changes):
    found = json.loads((path / document).read_text())
    (path / document).write_text(json.dumps(found | changes))


def fails(path, message, **options):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TableError, match=message) as caught:
        open_table(path, **options).to_float()
    assert str(path.name) in str(caught.value)
    assert len(str(caught.value)) < 600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize("version", [2, 3])
def test_declared_shapes(tmp_path, version):
    path, document = tmp_path / "x.zarr", "zarr.json" if version == 3 else ".zarray"

    def declare(**changes):
        write(path, bits(), chunks=(10, 7), zarr_format=version)
        if version == 3 and "chunks" in changes:
            changes["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": changes.pop("chunks")}}
        edit(path, document, **changes)

    declare(shape=[10**15, 7])
    fails(path, r"declares the shape \(10+, 7\), but hardly anything of it is there")
    declare(shape=[10**30, 7])
    fails(path, "x.zarr")
    declare(shape=[60, 10**9], chunks=[1, 10**8])
    fails(path, "declares 1000000000 columns, above max_columns=10000000")
    declare(shape=[60, 10**7], chunks=[60000, 10**7])
    fails(path, "a chunk of the array '' declares 600000000000 bytes, above max_bytes=4294967296")
    declare(shape=[2**62, 7], chunks=[2**40, 7])
    fails(path, "a chunk of the array '' declares")
    declare(shape=[0, 7])
    fails(path, "The table has 0 rows and 7 columns")
    declare(shape=[60, 7, 1], chunks=[10, 7, 1])
    fails(path, r"has 3 dimension\(s\)")
    declare(shape=[420], chunks=[70])
    fails(path, r"has 1 dimension\(s\)")
    for chunks in ([0, 7], [-1, 7], [10], [10, 7, 1], ["a", 7], [10.5, 7], None):
        declare(chunks=chunks)
        fails(path, r"x\.zarr: ")
    for shape in ([-1, 7], [60.5, 7], "ab", None, {}, 5):
        declare(shape=shape)
        fails(path, r"x\.zarr: ")
    if version == 2:
        declare(dtype="<f8")
        fails(path, r"the array '', rows 0 to 59: cannot be read .*damaged")
        for dtype, message in [("|O", "x.zarr"), ("<c16", "holds <c16, not numbers"), ("<M8[s]", "holds <M8")]:
            declare(dtype=dtype, fill_value=None)
            fails(path, message)
        declare(filters=[{"id": "pickle"}])
        fails(path, r"x\.zarr: ")
        declare(compressor={"id": "bz2", "level": 1})
        fails(path, r"x\.zarr: ")
    else:
        declare(data_type="float64", fill_value=0.0)
        fails(path, r"x\.zarr: ")
        declare(data_type="complex128", fill_value=[0.0, 0.0])
        fails(path, r"x\.zarr: ")
        declare(codecs=[{"name": "bytes"}, {"name": "zstd"}, {"name": "gzip", "configuration": {"level": 1}}])
        fails(path, "x.zarr")
        declare(node_type="other")
        fails(path, r"x\.zarr: ")
        declare(codecs=[])
        fails(path, r"x\.zarr: ")


class Leaves:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("where", ["", "var/gene"])
def test_pickles_are_not_run(tmp_path, where):
    path, trace = tmp_path / "x.zarr", tmp_path / "trace"
    if where:
        write_sparse(path, sparse.csr_array(bits()), version=2)
        array, chunk = path / where, path / where / "0"
    else:
        array, chunk = write(path, bits(), chunks=(60, 7), zarr_format=2), path / "0.0"
    chunk.write_bytes(pickle.dumps(Leaves(trace)))
    codec = {"id": "pickle", "protocol": 5}
    edit(array, ".zarray", compressor=codec)
    fails(path, "'var/gene' is stored as pickles, which are programs and never run" if where else r"x\.zarr: ")
    edit(array, ".zarray", compressor=None, filters=[codec], dtype="|O", fill_value=None)
    fails(path, r"x\.zarr: ")
    assert not trace.exists()


def bomb(name, size):
    """Return a small chunk that unfolds to `size` zeros."""
    zeros = bytes(size)
    if name == "gzip":
        return gzip.compress(zeros, 1)
    return {"zlib": numcodecs.Zlib(), "zstd": numcodecs.Zstd(), "blosc": numcodecs.Blosc(), "lz4": numcodecs.LZ4()}[
        name
    ].encode(zeros)


@pytest.mark.parametrize("name", ["gzip", "zlib", "zstd", "blosc", "lz4"])
def test_bombs(tmp_path, name, monkeypatch):
    """Chunks that decompress to too little or too much are refused; in a guarded process a bomb meets a limit."""
    path = tmp_path / "x.zarr"
    compressor = {"gzip": numcodecs.GZip(), "zlib": numcodecs.Zlib(), "zstd": numcodecs.Zstd()}.get(name)
    compressor = compressor or (numcodecs.Blosc() if name == "blosc" else numcodecs.LZ4())
    write(path, bits(60, 70), chunks=(60, 70), zarr_format=2, compressors=compressor)
    chunk, good = path / "0.0", (path / "0.0").read_bytes()
    for raw in (bomb(name, 4199), bomb(name, 4201), bomb(name, 10**6), b"", b"\0", good[:10], good[: len(good) // 2]):
        chunk.write_bytes(raw)
        fails(path, r"the array '', rows 0 to 59: ")
    if name in ("zstd", "blosc", "gzip"):  # much in little
        monkeypatch.setattr("hiddenbits.data.readers.guarded._run", forked.run)
        chunk.write_bytes(bomb(name, 300_000_000))
        fails(path, LIMITED, guarded=ReadLimits(memory=600_000_000, seconds=60))


def test_names_that_are_bombs(tmp_path, monkeypatch):
    path = write_sparse(tmp_path / "x.zarr", sparse.csr_array(bits()))
    chunk = path / "var/gene/c/0"
    for said in (0, 4):
        chunk.write_bytes(numcodecs.Zstd().encode(said.to_bytes(4, "little") + b"\1\0\0\0a" * 5))
        fails(path, r"x\.zarr: ")
    monkeypatch.setattr("hiddenbits.data.readers.guarded._run", forked.run)
    chunk.write_bytes(numcodecs.Zstd().encode((2**31 - 1).to_bytes(4, "little") + b"\1\0\0\0a" * 5))  # 16 GiB
    fails(path, LIMITED, guarded=ReadLimits(memory=600_000_000, seconds=60))
    chunk.write_bytes(numcodecs.Zstd().encode(b"\5\0\0\0" + b"\xff\xff\xff\x7fa" * 5))
    fails(path, r"x\.zarr: ")
    chunk.write_bytes(numcodecs.Zstd().encode(b"\5\0\0\0" + b"\1\0\0\0\xff" * 5))
    fails(path, r"x\.zarr: .*utf-8")
    chunk.unlink()
    fails(path, "5 columns are called ''")


def test_chunks_that_are_not_there(tmp_path):
    path = write(tmp_path / "x.zarr", bits(), chunks=(10, 7), zarr_format=2, fill_value=1)
    (path / "2.0").unlink()
    expected = bits()
    expected[20:30] = 1
    assert_reads(open_table(path), expected)
    edit(path, ".zarray", fill_value=5)
    fails(path, r"row 20, column 0: 5 is not a bit")


def test_a_pipe_in_a_store(tmp_path, monkeypatch):
    """Whoever reads it waits for ever: in a guarded process no longer than the limit."""
    monkeypatch.setattr("hiddenbits.data.readers.guarded._run", forked.run)
    path = write(tmp_path / "x.zarr", bits(), chunks=(10, 7), zarr_format=2)
    (path / "2.0").unlink()
    os.mkfifo(path / "2.0")
    fails(path, "reading it took more than 1 seconds", guarded=ReadLimits(seconds=1))


def test_stores_without_metadata(tmp_path):
    path = tmp_path / "x.zarr"
    path.mkdir()
    fails(path, "there is no metadata of an array or group")
    (path / "zarr.json").write_bytes(b"[" * 10**5)
    fails(path, r"x\.zarr: ")
    for text in (
        b"",
        b"[]",
        b"null",
        b'{"node_type": "array"}',
        b'{"zarr_format": 3}',
        b"\xff",
        b'{"node_type": "group"}',
    ):
        (path / "zarr.json").write_bytes(text)
        fails(path, r"x\.zarr: ")
    shutil.rmtree(path)
    path.write_bytes(b"no zip at all")
    fails(path, r"cannot be read \(BadZipFile")
    (tmp_path / "plain").mkdir()
    with pytest.raises(TableError, match=r"this is a folder.*\*\.parquet"):
        open_table(tmp_path / "plain")


def test_a_store_that_has_changed(tmp_path):
    path = write(tmp_path / "x.zarr", bits(), chunks=(10, 7))
    table = open_table(path)
    write(path, bits(50), chunks=(10, 7))
    with pytest.raises(TableError, match=r"x\.zarr: the file has changed since the table was opened"):
        table.source.read(0, 5)
    shutil.rmtree(path)
    with pytest.raises(TableError, match=r"x\.zarr: "):
        table.source.read(0, 5)


@pytest.mark.slow
def test_zip_bombs(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.readers.guarded._run", forked.run)
    folder = write(tmp_path / "x.zarr", bits(), chunks=(10, 7))
    path = zipped(folder, tmp_path / "y.zarr.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two entries of one name: the later one counts
        with archive.open("c/0/0", "w", force_zip64=True) as entry:
            for _ in range(300):
                entry.write(bytes(1 << 20))
    fails(path, LIMITED, guarded=ReadLimits(memory=600_000_000, seconds=60))


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("indptr", lambda a: np.r_[1, a[1:]], "its index pointers start with 1, not 0"),
        ("indptr", lambda a: np.r_[a[:30], -5, a[31:]], "row 29: .* index pointers go from .* to -5 of"),
        ("indptr", lambda a: np.r_[a[:30], a[30] - 50, a[31:]], "row 29: .* index pointers go from"),
        ("indptr", lambda a: np.r_[a[:-1], 10**6], "row 59: .* go from .* to 1000000 of"),
        ("indptr", lambda a: np.r_[a[:30], np.full(31, a[-1])], "row 29: .* cells are stored for 7 columns"),
        ("indptr", lambda a: a[:-1], r"need 61 index pointers .* shapes are \(60,\)"),
        ("indptr", lambda a: a * 1.0, "'X/indptr' holds <f8, not whole numbers"),
        ("indptr", lambda a: a[None], r"shapes are \(1, 61\)"),
        ("indices", lambda a: np.r_[a[:50], 7, a[51:]], r"row \d+: .* column index 7 is outside 0 to 6"),
        ("indices", lambda a: np.r_[a[:50], -1, a[51:]], r"row \d+: .* column index -1 is outside"),
        ("indices", lambda a: np.r_[a[:50], 2**40, a[51:]], r"row \d+: .* column index 1099511627776"),
        ("indices", lambda a: a[:-1], "as many indices as values"),
        ("indices", lambda a: np.r_[a[0], a[0], a[2:]], "row 0, column .*: the sparse table holds two values"),
        ("indices", lambda a: a.astype("f4"), "'X/indices' holds <f4, not whole numbers"),
        ("data", lambda a: a[:-1], "as many indices as values"),
        ("data", lambda a: a * 1j, "'X/data' holds <c16, not numbers"),
        ("data", lambda a: a * np.inf, r"row 0, column \d.*: infinity"),
    ],
)
def test_sparse_that_lies(tmp_path, name, wrong, message):
    matrix = sparse.csr_array(bits())
    path = tmp_path / "x.zarr"
    array = wrong(getattr(matrix, name).astype(np.int64))
    if array.ndim == 2:
        write_sparse(path, matrix)
        zarr.open_group(path, mode="r+")["X"].create_array(name, data=array, overwrite=True)
    else:
        write_sparse(path, matrix, **{name: array})
    fails(path, message)


@pytest.mark.parametrize("shape", [[60], [60, 7, 1], [60.0, 7], [-60, 7], "60", None, [60, "7"], [True, 7], {}])
def test_sparse_shapes_that_lie(tmp_path, shape):
    path = write_sparse(tmp_path / "x.zarr", sparse.csr_array(bits()))
    zarr.open_group(path, mode="r+")["X"].attrs["shape"] = shape
    fails(path, r"its shape is|rows and 7 columns")


def test_sparse_shapes_beyond_reason(tmp_path):
    path = write_sparse(tmp_path / "x.zarr", sparse.csr_array(bits()))
    for shape, message in (([60, 10**9], "above max_columns"), ([10**12, 7], "need 1000000000001 index pointers")):
        zarr.open_group(path, mode="r+")["X"].attrs["shape"] = shape
        fails(path, message)
    edit(path / "X/indptr", shape=[10**12 + 1])
    fails(path, "hardly anything of it is there")
    path = write_sparse(path, sparse.csr_array(bits()), "csc")
    zarr.open_group(path, mode="r+")["X"].attrs["shape"] = [10**12, 7]
    fails(path, "must be loaded whole, and comes to 8000000")


def test_without_zarr(tmp_path, monkeypatch):
    (tmp_path / "x.zarr").mkdir()
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[files\]'"):
        open_table(tmp_path / "x.zarr")


# Damaged stores --------------------------------------------------------------------------------------------------


def damaged(kind, path):
    """Write a store to be damaged; return the table that it holds."""
    if kind in ("csr", "csc"):
        write_sparse(path, sparse.csr_array(bits().astype("f4")), kind, 2 if kind == "csc" else 3)
        return bits().astype(float)
    values = holes(bits()) if kind == "blosc" else bits().astype("i4")
    options = {
        "v2": {"zarr_format": 2, "compressors": numcodecs.LZ4()},
        "blosc": {"compressors": [codecs.BloscCodec(cname="lz4", shuffle="bitshuffle")]},
        "shards": {"shards": (20, 8), "compressors": [codecs.ZstdCodec()]},
        "crc": {"compressors": [codecs.GzipCodec(), codecs.Crc32cCodec()]},
    }[kind]
    write(path, values, chunks=(10, 4), **options)
    return values.astype(float)


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", ["v2", "blosc", "shards", "crc", "csr", "csc"])
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_damaged_stores(tmp_path, kind, packed, monkeypatch, short):
    """One file of the store is damaged or lost: refused with the store's name, or a valid table.

    Where chunks have a checksum, a damaged one is always noticed.
    """
    monkeypatch.setattr("hiddenbits.data.readers.guarded._run", forked.run)
    good = tmp_path / "good.zarr"
    values = damaged(kind, good)
    assert_reads(open_table(good), values)
    path = zipped(good, tmp_path / "x.zarr.zip") if packed else tmp_path / "x.zarr"
    whole = path.read_bytes() if packed else b""
    files = [file.relative_to(good) for file in sorted(good.rglob("*")) if file.is_file()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused, times = 0, 12 if short else 120
    for i in range(times):
        rng = np.random.default_rng([9, i])
        must_notice = False
        if packed:
            path.write_bytes(damage(whole, rng, False))
        else:
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(good, path)
            file = path / pick(rng, files)
            raw = file.read_bytes()
            file.write_bytes(damage(raw, rng, words=file.name.startswith(("zarr", "."))) if raw else b"?")
            must_notice = kind == "crc" and not file.name.startswith("zarr") and file.read_bytes() != raw
            if rng.random() < 0.1:
                file.unlink()
                must_notice = False
        try:
            table = open_table(path, max_bytes=10**7, guarded=ReadLimits(seconds=20, memory=2 << 30))
            x, observed = table.source.read(0, min(table.shape[0], 100))
            assert x.shape == observed.shape
            assert_lawful(x)
            assert_lawful(observed)
            assert not must_notice
        except TableError as error:
            assert path.name in str(error)  # noqa: PT017
            refused += 1
    assert refused > times // 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
