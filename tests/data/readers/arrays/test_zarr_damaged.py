"""Zarr stores that lie, and stores that are damaged: refused before they do harm."""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import sys
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import TableError, open_table
from hiddenbits.data.readers.arrays.chunks import _crc32c
from tests.data.readers.test_readers import assert_lawful, assert_reads, bits, damage, holes

zarr = pytest.importorskip("zarr", reason="the files extra is not installed")
numcodecs = pytest.importorskip("numcodecs")
from tests.data.readers.arrays.test_zarr import pick, write, write_sparse, zipped  # noqa: E402  (it skips itself without zarr)

codecs = zarr.codecs


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
    fails(path, r"declares the shape \(10+, 7\), 10+ chunks, but hardly any of them are there")
    declare(shape=[10**30, 7])
    fails(path, "x.zarr")
    declare(shape=[60, 10**9])
    fails(path, "is cut into more than 65536 chunks across")
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
        fails(path, r"chunk \(0, 0\): it unfolds to 70 bytes, but its metadata declares 560")
        for dtype, message in [("|O", "x.zarr"), ("<c16", "holds <c16, not numbers"), ("<M8[s]", "holds <M8")]:
            declare(dtype=dtype, fill_value=None)
            fails(path, message)
        declare(filters=[{"id": "delta", "dtype": "|u1"}])
        fails(path, "stored with 'delta', which is not read here")
        declare(filters=[{"id": "pickle"}])
        fails(path, r"x\.zarr: ")
        declare(compressor={"id": "bz2", "level": 1})
        fails(path, "stored with 'bz2', which is not read here")
    else:
        declare(data_type="float64", fill_value=0.0)
        fails(path, r"x\.zarr: ")
        declare(data_type="complex128", fill_value=[0.0, 0.0])
        fails(path, r"x\.zarr: ")
        declare(codecs=[{"name": "bytes"}, {"name": "zstd"}, {"name": "gzip", "configuration": {"level": 1}}])
        fails(path, "x.zarr")
        declare(node_type="other")
        fails(path, "neither array nor group")
        declare(codecs=[])
        fails(path, r"x\.zarr: ")


def test_shards_that_lie(tmp_path):
    path = tmp_path / "x.zarr"
    for index in ("start", "end"):
        write(
            path,
            bits(),
            chunks=(5, 7),
            shards={"shape": (20, 7), "index_location": index},
            compressors=[codecs.ZstdCodec()],
        )
        assert_reads(open_table(path), bits())
        file = path / "c/0/0"
        raw = bytearray(file.read_bytes())
        at = 0 if index == "start" else len(raw) - 68
        raw[at] ^= 1
        file.write_bytes(raw)
        fails(path, r"chunk \(0, 0\): its checksum is wrong")
        file.write_bytes(raw[:60])
        fails(path, r"c/0/0 is too short for the index of a shard|checksum")
        for start, length in ((10**6, 10), (0, 2**63), (2**64 - 2, 5), (0, 10**6), (0, 0)):
            places = np.frombuffer(bytes(raw[at : at + 64]), "<u8").copy()
            places[:2] = start, length
            raw[at : at + 64] = places.tobytes()
            raw[at + 64 : at + 68] = _crc32c(places.tobytes()).to_bytes(4, "little")
            file.write_bytes(raw)
            fails(path, r"chunk \(0, 0\): ")


def bomb(name, size):
    """Return a small chunk that unfolds to `size` zeros."""
    zeros = bytes(size)
    if name == "gzip":
        return gzip.compress(zeros)
    return {"zlib": numcodecs.Zlib(), "zstd": numcodecs.Zstd(), "blosc": numcodecs.Blosc(), "lz4": numcodecs.LZ4()}[
        name
    ].encode(zeros)


@pytest.mark.parametrize("name", ["gzip", "zlib", "zstd", "blosc", "lz4"])
def test_bombs(tmp_path, name):
    path = tmp_path / "x.zarr"
    compressor = {"gzip": numcodecs.GZip(), "zlib": numcodecs.Zlib(), "zstd": numcodecs.Zstd()}.get(name)
    compressor = compressor or (numcodecs.Blosc() if name == "blosc" else numcodecs.LZ4())
    write(path, bits(60, 70), chunks=(60, 70), zarr_format=2, compressors=compressor)
    chunk, good = path / "0.0", (path / "0.0").read_bytes()
    most = 4200 + 4200 // 8 + (1 << 16)
    for size in (4199, 4201, 10**6, 10**9 if name in ("zstd", "blosc") else 2 * 10**7):
        raw = bomb(name, size)
        chunk.write_bytes(raw)
        told = "it unfolds to" if len(raw) <= most else "are too many for 4200 bytes of cells"
        fails(path, rf"chunk \(0, 0\): .*{told}")
    chunk.write_bytes(bytes(most + 1))
    fails(path, "are too many for 4200 bytes of cells")
    for raw in (b"", b"\0", good[:10], good[:-1], good[: len(good) // 2]):
        chunk.write_bytes(raw)
        fails(path, r"chunk \(0, 0\): ")
    if name == "zstd":  # a frame that keeps its size to itself
        hidden = bytearray(bomb(name, 10**6))
        assert hidden[4] & 0xE0
        chunk.write_bytes(bytes([*hidden[:4], 0, 0x50, *hidden[4 + 1 + (4 if hidden[4] >> 6 == 2 else 2) :]]))
        fails(path, r"chunk \(0, 0\): ")


def test_names_that_are_bombs(tmp_path):
    path = write_sparse(tmp_path / "x.zarr", sparse.csr_array(bits()))
    chunk = path / "var/gene/c/0"
    for told in (0, 4, 6, 2**31 - 1, 2**32 - 1):
        chunk.write_bytes(numcodecs.Zstd().encode(told.to_bytes(4, "little") + b"\1\0\0\0a" * 5))
        fails(path, "a chunk of names does not hold 5 of them")
    chunk.write_bytes(numcodecs.Zstd().encode(b"\5\0\0\0" + b"\xff\xff\xff\x7fa" * 5))
    fails(path, "a chunk of names is cut short")
    chunk.write_bytes(numcodecs.Zstd().encode(bytes(3 * 10**8)))
    fails(path, "a chunk of names unfolds to 300000000 bytes")
    chunk.write_bytes(numcodecs.Zstd().encode(b"\5\0\0\0" + b"\1\0\0\0\xff" * 5))
    fails(path, r"x\.zarr: .*utf-8")
    chunk.unlink()
    fails(path, "Two columns are called ''")


def test_chunks_that_are_not_there(tmp_path):
    path = write(tmp_path / "x.zarr", bits(), chunks=(10, 7), zarr_format=2, fill_value=1)
    (path / "2.0").unlink()
    expected = bits()
    expected[20:30] = 1
    assert_reads(open_table(path), expected)
    edit(path, ".zarray", fill_value=5)
    fails(path, r"row 20, column 0: 5 is not a bit")
    edit(path, ".zarray", fill_value=None)
    fails(path, r"chunk \(2, 0\): it is not there, and no fill value is given")
    (path / "2.0").mkdir()
    fails(path, r"chunk \(2, 0\): it is not there")
    (path / "2.0").rmdir()
    os.mkfifo(path / "2.0")
    fails(path, r"chunk \(2, 0\): 2.0 is not a regular file")


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
    with (path / "zarr.json").open("wb") as file:
        file.truncate(10**8)
    fails(path, "zarr.json has 100000000 bytes, too many for metadata")
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
    with pytest.raises(TableError, match=r"x\.zarr: the store has changed since the table was opened"):
        table.source.read(0, 5)
    shutil.rmtree(path)
    with pytest.raises(TableError, match=r"x\.zarr: "):
        table.source.read(0, 5)


def test_zip_bombs(tmp_path):
    folder = write(tmp_path / "x.zarr", bits(), chunks=(10, 7))
    path = zipped(folder, tmp_path / "y.zarr.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two entries of one name: the later one counts
        archive.writestr("c/0/0", bytes(10**8))
    fails(path, r"chunk \(0, 0\): 100000000 bytes are too many")
    path = zipped(folder, tmp_path / "z.zarr.zip", zipfile.ZIP_BZIP2)
    fails(path, "is packed in a way that is not read here")


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


def test_stores_with_many_chunks(tmp_path, monkeypatch):
    """Where very many chunks are declared, some must be there: files, or shards of several chunks each."""
    monkeypatch.setattr("hiddenbits.data.readers.arrays.stored.MANY_CHUNKS", 40)
    values = bits(400)
    for options in ({}, {"shards": (100, 14)}):
        path = write(tmp_path / "x.zarr", values, chunks=(5, 7), **options)
        assert_reads(open_table(path), values)
        assert_reads(open_table(zipped(path, tmp_path / "x.zarr.zip")), values)
        edit(path, shape=[400 * 100, 7])
        fails(path, r"declares the shape \(40000, 7\), 8000 chunks, but hardly any of them are there")
        fails(zipped(path, tmp_path / "x.zarr.zip"), "hardly any of them are there")


def test_sparse_shapes_beyond_reason(tmp_path):
    path = write_sparse(tmp_path / "x.zarr", sparse.csr_array(bits()))
    for shape, message in (([60, 10**9], "above max_columns"), ([10**12, 7], "need 1000000000001 index pointers")):
        zarr.open_group(path, mode="r+")["X"].attrs["shape"] = shape
        fails(path, message)
    edit(path / "X/indptr", shape=[10**12 + 1])
    fails(path, "hardly any of them are there")
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
def test_damaged_stores(tmp_path, kind, packed):
    """One file of the store is damaged or lost: refused with the store's name, or a valid table.

    Where chunks have a checksum, a damaged one is always noticed.
    """
    good = tmp_path / "good.zarr"
    values = damaged(kind, good)
    assert_reads(open_table(good), values)
    path = zipped(good, tmp_path / "x.zarr.zip") if packed else tmp_path / "x.zarr"
    whole = path.read_bytes() if packed else b""
    files = [file.relative_to(good) for file in sorted(good.rglob("*")) if file.is_file()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for i in range(120):
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
            table = open_table(path, max_bytes=10**7)
            for start in range(0, min(table.shape[0], 100), 16):
                x, observed = table.source.read(start, start + 16)
                assert x.shape == observed.shape
                assert_lawful(x)
                assert_lawful(observed)
            assert not must_notice
        except TableError as error:
            assert path.name in str(error)  # noqa: PT017
            refused += 1
    assert refused > 40
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
