"""Zarr stores that lie are refused by what they declare."""

from __future__ import annotations

import json
import os
import pickle
import resource
import shutil
import sys

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import open_table
from hiddenbits.exceptions import TableError
from tests.data.tables import assert_reads, bits

zarr = pytest.importorskip("zarr", reason="the files extra is not installed")
numcodecs = pytest.importorskip("numcodecs")
from tests.data.arrays.test_zarr import write, write_sparse  # noqa: E402  (it skips itself without zarr)

codecs = zarr.codecs
# zarr's threads can wait for each other for ever when memory is short: the limit of time ends that.


def edit(path, document="zarr.json", **changes):
    metadata = json.loads((path / document).read_text())
    (path / document).write_text(json.dumps(metadata | changes))


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
        fails(path, "cannot be read .*damaged")
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


def test_chunks_that_are_not_there(tmp_path):
    path = write(tmp_path / "x.zarr", bits(), chunks=(10, 7), zarr_format=2, fill_value=1)
    (path / "2.0").unlink()
    expected = bits()
    expected[20:30] = 1
    assert_reads(open_table(path), expected)
    edit(path, ".zarray", fill_value=5)
    fails(path, r"row 20, column 0: 5 is not a bit")


def test_stores_without_metadata(tmp_path):
    path = tmp_path / "x.zarr"
    path.mkdir()
    fails(path, "there is no array or group '', or no metadata of it")
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
    fails(path, "cannot be read")
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


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("indptr", lambda a: np.r_[1, a[1:]], "its index pointers go from 1 to"),
        ("indptr", lambda a: np.r_[a[:30], -5, a[31:]], "indptr must be a non-decreasing sequence"),
        ("indptr", lambda a: np.r_[a[:-1], 10**6], "rows 0 to 59: .* go from 0 to 1000000 of"),
        ("indptr", lambda a: np.r_[a[:30], np.full(31, a[-1])], "row 29, column 0: the sparse table holds two values"),
        ("indptr", lambda a: a[:-1], r"need 61 index pointers .* there are \(60,\)"),
        ("indptr", lambda a: a * 1.0, r"there are \(61,\) <f8"),
        ("indptr", lambda a: a[None], r"there are \(1, 61\)"),
        ("indices", lambda a: np.r_[a[:50], 7, a[51:]], "indices must be < 7"),
        ("indices", lambda a: np.r_[a[:50], -1, a[51:]], "indices must be >= 0"),
        ("indices", lambda a: np.r_[a[0], a[0], a[2:]], "row 0, column .*: the sparse table holds two values"),
        ("indices", lambda a: a.astype("f4"), r"150,\) <f4"),
        ("data", lambda a: a[:-1], "as many indices as values"),
        ("data", lambda a: a * 1j, "'X/data' holds <c16, not numbers"),
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
    fails(path, r"its shape is|rows and 7 columns|need -59 index pointers")


def test_without_zarr(tmp_path, monkeypatch):
    (tmp_path / "x.zarr").mkdir()
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[files\]'"):
        open_table(tmp_path / "x.zarr")


# Damaged stores --------------------------------------------------------------------------------------------------
