"""Zarr stores on servers: a fit over HTTP, S3 and memory; what servers refuse, in words without secrets."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import BernoulliMixture
from hiddenbits.data import Table, TableError, open_table
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same
from tests.data.readers.remote_tables import S3_OPTIONS
from tests.data.readers.servers import FileServer, S3Server
from tests.data.readers.test_readers import assert_reads, bits, holes

zarr = pytest.importorskip("zarr", reason="the files extra is not installed")
fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
from tests.data.readers.arrays.test_zarr import write, write_sparse, zipped  # noqa: E402  (it skips itself without zarr)


def files_of(folder):
    """Return {path from the folder's parent: bytes}."""
    return {
        file.relative_to(folder.parent).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("storage", ["dense v2", "shards", "csr"])
def test_a_fit_over_http(tmp_path, storage):
    x = bits(200, 9, density=0.3)
    if storage == "csr":
        path, memory = write_sparse(tmp_path / "x.zarr", sparse.csr_array(x), chunk=300), sparse.csr_array(x)
    else:
        options = {"zarr_format": 2} if storage == "dense v2" else {"shards": (100, 9)}
        memory = holes(x, 0.05)
        path = write(tmp_path / "x.zarr", memory, chunks=(50, 9), **options)
    model = BernoulliMixture(2, n_init=1, max_iter=3, random_state=0)
    alone = model.fit(Table(NotResident(open_table(memory).source))).params_
    with FileServer(files_of(path)) as server:
        table = open_table(f"{server.url}/x.zarr", part_bytes=2000)
        assert not table.source.resident
        assert same(alone, model.fit(table).params_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)).to_float(), open_table(memory).to_float())


@pytest.mark.slow
def test_s3_and_memory(tmp_path):
    pytest.importorskip("s3fs")
    values = holes(bits())
    files = files_of(write(tmp_path / "x.zarr", values, chunks=(20, 7)))
    with S3Server(files) as server:
        options = S3_OPTIONS | {"endpoint_url": server.url}
        assert_reads(open_table("s3://bucket/x.zarr", storage_options=options), values, 5)
    memory = fsspec.filesystem("memory")
    for name, raw in files.items():
        memory.pipe_file(f"/stores/{name}", raw)
    assert_reads(open_table("memory://stores/x.zarr"), values, 5)
    both = open_table(["memory://stores/x.zarr", tmp_path / "x.zarr"])
    assert_reads(both, np.concatenate([values, values]), 5)


def test_what_servers_refuse(tmp_path):
    files = files_of(write(tmp_path / "x.zarr", bits(), chunks=(20, 7)))
    with FileServer(files) as server:
        with pytest.raises(TableError, match=r"y\.zarr: there is no metadata of an array or group"):
            open_table(f"{server.url}/y.zarr")
        with pytest.raises(TableError, match=r"many files.*storage_options=") as caught:
            open_table(f"{server.url}/x.zarr?token=very-secret", format="zarr")
        assert "very-secret" not in str(caught.value)
        server.token = "very-secret"
        with pytest.raises(TableError, match="access was refused"):
            open_table(f"{server.url}/x.zarr")
        given = {"headers": {"Authorization": "very-secret"}}
        table = open_table(f"{server.url}/x.zarr", storage_options=given)
        assert_reads(table, bits(), 2)
        assert "very-secret" not in repr(table)
        server.token = "another"
        with pytest.raises(TableError, match="access was refused") as caught:
            table.source.read(0, 5)
        assert "very-secret" not in str(caught.value)
    zipped(tmp_path / "x.zarr", tmp_path / "x.zarr.zip")
    with FileServer(files_of(tmp_path / "x.zarr")) as server, pytest.raises(TableError, match="zip archive"):
        open_table(f"{server.url}/x.zarr.zip")


def test_a_store_that_has_changed(tmp_path):
    with FileServer(files_of(write(tmp_path / "x.zarr", bits(), chunks=(20, 7)))) as server:
        table = open_table(f"{server.url}/x.zarr")
        server.files = files_of(write(tmp_path / "x.zarr", bits(50), chunks=(20, 7)))
        with pytest.raises(TableError, match=r"x\.zarr: the file has changed since the table was opened"):
            table.source.read(0, 5)
