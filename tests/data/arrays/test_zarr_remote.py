"""Zarr stores on servers: a fit over HTTP, S3 and memory; what servers refuse, in words without secrets."""

from __future__ import annotations

import numpy as np
import pytest

from hiddenbits.data import open_table
from hiddenbits.exceptions import TableError
from tests.data.locations.remote_tables import S3_OPTIONS
from tests.data.locations.servers import FileServer, S3Server
from tests.data.tables import assert_reads, bits, holes

zarr = pytest.importorskip("zarr", reason="the files extra is not installed")
fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
from tests.data.arrays.test_zarr import write, zipped  # noqa: E402  (it skips itself without zarr)


def files_of(folder):
    """Return {path from the folder's parent: bytes}."""
    return {
        file.relative_to(folder.parent).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


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
        with pytest.raises(TableError, match=r"y\.zarr: there is no array or group '', or no metadata"):
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
