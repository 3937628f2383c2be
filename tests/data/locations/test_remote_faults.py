"""Remote files that change or are not there, and servers that misbehave."""

from __future__ import annotations

import io
import pickle
import sys
import time
import traceback

import numpy as np
import pytest

from hiddenbits.addresses import safe_url
from hiddenbits.data import open_table
from hiddenbits.data.file_request import reading
from hiddenbits.data.locations.places import find_place, open_file
from hiddenbits.exceptions import TableError
from tests.data.locations.remote_tables import ROWS, S3_OPTIONS, quick
from tests.data.locations.servers import S3Server
from tests.data.tables import assert_reads, bits

pytestmark = pytest.mark.timeout(60)


def refused(match, url, storage_options=None, within=20.0, **options):
    """The table is refused, in time, with one error that starts with the address."""
    begin = time.monotonic()
    with pytest.raises(TableError, match=match) as caught:
        open_table(url, storage_options=storage_options, **options).to_float()
    assert time.monotonic() - begin < within
    assert str(caught.value).startswith(safe_url(url).partition("*")[0])
    assert_alone(caught.value)
    return caught.value


def assert_alone(error):
    """No error of another library hangs on this one: a worker would send it along, with its secrets."""
    while error is not None:
        assert isinstance(error, TableError), repr(error)
        error = error.__cause__ or error.__context__


# Files that change, files that are not there ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["u8.npy", "part10.parquet"])
def test_a_file_that_was_replaced(server, cases, name):
    if f"t/{name}" not in server.files:
        pytest.skip("pyarrow is not installed")
    url, before = f"{server.url}/t/{name}", server.files[f"t/{name}"]
    table = open_table(url)
    flipped = bytearray(before)
    flipped[len(before) // 2] ^= 1
    for after in (bytes(flipped), before + b"\0", before[:-1]):
        server.files[f"t/{name}"] = after
        with pytest.raises(TableError, match="the file has changed since the table was opened"):
            table.source.read(0, 10)
    del server.files[f"t/{name}"]
    with pytest.raises(TableError, match="there is no such file"):
        table.source.read(0, 10)
    server.files[f"t/{name}"] = before
    assert table.source.read(0, 10)[0].shape[0] == 10


def test_a_file_that_was_replaced_in_memory_and_on_s3(contents):
    pytest.importorskip("s3fs")
    store = pytest.importorskip("fsspec").filesystem("memory")
    changed = contents["t/u8.npy"][:-1] + bytes([1 - contents["t/u8.npy"][-1]])
    store.pipe("/changes/x.npy", contents["t/u8.npy"])
    table = open_table("memory://changes/x.npy")
    store.pipe("/changes/x.npy", changed)
    with pytest.raises(TableError, match=r"^memory://changes/x\.npy: the file has changed"):
        table.source.read(0, 1)
    store.rm("/changes", recursive=True)
    with S3Server(contents) as server:
        # s3fs remembers the listing that the pattern made; the file must be looked at anew all the same.
        table = open_table("s3://bucket/t/*u8.npy", storage_options=S3_OPTIONS | {"endpoint_url": server.url})
        server.files["t/u8.npy"] = changed
        with pytest.raises(TableError, match=r"^s3://bucket/t/u8\.npy: the file has changed"):
            table.source.read(0, 1)


def test_missing(server, monkeypatch):
    refused(r"none\.npy: there is no such file\.$", f"{server.url}/t/none.npy")
    refused(r"\*\.npz: there is no such file", f"{server.url}/none/*.npz")
    refused(r"\*\.zip: there is no such file", f"{server.url}/t/*.zip")
    refused(r"this is a folder.*/t/\*\.parquet", f"{server.url}/t/")
    refused("there is no such file", "memory://nowhere/x.npy")
    refused("the server cannot be reached", "http://127.0.0.1:9/x.npy")
    refused("the server cannot be reached", "http://nowhere.invalid/x.npy")
    refused(r"Protocol not known: nonsense.*Check the address", "nonsense://bucket/x.npy")
    refused(r"the suffix '\.doc' is unknown", f"{server.url}/t/x.doc")
    refused("h5ad tables can only be read from a local disk", "memory://t/x.h5ad")
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    refused(r"is not installed .*gcsfs.* Install it", "gs://bucket/x.npy")


@pytest.mark.slow
def test_credentials_on_s3(contents, monkeypatch, tmp_path):
    pytest.importorskip("s3fs")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with S3Server(contents) as server:
        good = S3_OPTIONS | {"endpoint_url": server.url}
        for wrong in ({**good, "key": "other-key"}, {**good, "anon": True}, {**good, "key": None, "secret": None}):
            for url in ("s3://bucket/t/u8.npy", "s3://bucket/t/part*.npy"):
                error = refused("access was refused, or no credentials.*storage_options=", url, wrong)
                assert "very-secret" not in "".join(traceback.format_exception(error))
        refused("there is no such file", "s3://bucket/t/none.npy", good)
        refused("there is no such file", "s3://bucket/t/none*.npy", good)
        refused("there is no such file", "s3://other/t/u8.npy", good)


# Servers that misbehave ------------------------------------------------------------------------------------------

FAULTS = {
    403: "access was refused",
    404: "there is no such file",
    500: "answered with status 500",
    "slow": "no answer came in time",
    "drop": "the connection was lost",
    "larger": "(cut short|bytes follow)",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["u8.npy", "csr.npz", "x.csv", "x.csv.gz", "part*.parquet"])
def test_faults_at_opening(server, cases, fault, name):
    if name not in cases:
        pytest.skip("pyarrow is not installed")
    server.fault = fault
    name = name.replace("*", "10")
    refused(FAULTS[fault], f"{server.url}/t/{name}", quick(0.3 if fault == "slow" else 4.0), within=5.0)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["u8.npy", "part*.parquet"])
def test_faults_while_reading(server, cases, fault, name):
    """The table is open; then the server fails. Nothing but a TableError comes, and the table outlives it."""
    if name not in cases:
        pytest.skip("pyarrow is not installed")
    table = open_table(f"{server.url}/t/{name}", storage_options=quick(1.0 if fault == "slow" else 4.0))
    server.fault = fault
    message = "the file has changed" if fault == "larger" else FAULTS[fault]
    with pytest.raises(TableError, match=rf"^{server.url}/t/\w+\.\w+: .*{message}") as caught:
        table.source.read(50, 70)
    assert_alone(caught.value)
    server.fault = None
    assert_reads(table, cases[name][1], 2)


@pytest.mark.parametrize("fault", ["no ranges", "says none", "no size", "size 0"])
def test_servers_without_ranges_or_sizes(server, cases, fault):
    """Text is read from top to bottom; other formats say what helps, and it helps."""
    server.fault = fault
    big = io.BytesIO()
    x = bits(ROWS, 2000)
    np.savez(big, x=x)
    rows = 3_000_000 if fault == "no ranges" else 100_000
    server.files |= {"big.npz": big.getvalue(), "t/long.dat": b"0 2 4\n1\n" * (rows // 2)}
    for name in ("x.csv", "x.dat", "x.csv.gz"):
        options, expected = cases[name]
        assert_reads(open_table(f"{server.url}/t/{name}", **options), expected)
    refused("cannot send parts of a file.*Put simplecache::", f"{server.url}/big.npz")
    if fault != "size 0":  # a copy keeps to the size that was told
        assert_reads(open_table(f"simplecache::{server.url}/big.npz"), x)
    if fault == "no ranges":  # which such a server does not say
        refused("cannot send parts of a file.*Put simplecache::", f"{server.url}/t/long.dat")
    else:
        assert open_table(f"{server.url}/t/long.dat").shape == (rows, 5)


def test_size_caps(server):
    server.files["big.csv"] = b"1,0\n" * 1_000_000
    refused("more than max_bytes=100000 bytes.*Parquet", f"{server.url}/big.csv", max_bytes=100_000)
    assert server.sent == 0  # its size was known
    server.fault = "no size"
    refused("more than max_bytes=100000 bytes", f"{server.url}/big.csv", max_bytes=100_000)
    server.fault = None
    refused("above max_bytes=100", f"{server.url}/t/csr.npz", max_bytes=100)


def test_redirects_are_followed(server, cases):
    table = open_table(f"{server.url}/moved/t/u8.npy")
    assert_reads(pickle.loads(pickle.dumps(table)), cases["u8.npy"][1], 2)  # on a worker too


def test_a_copy_that_broke_off(server):
    """simplecache:: keeps what came before the connection broke; it must not pass for the file."""
    server.fault = "drop"
    table = f"simplecache::{server.url}/t/u8.npy"
    refused("the connection was lost", table)
    server.fault = None
    refused("cut short", table)


def test_a_file_that_is_replaced_between_two_pieces(server):
    """Its size is the same and it was looked at when it was opened: the server is told which one is meant."""
    before = bits(300_000, 7).tobytes()
    server.files["t/x.npy"] = before
    place = find_place(f"{server.url}/t/x.npy", {})
    with open_file(place) as file:
        assert file.read(1000) == before[:1000]
        server.files["t/x.npy"] = before[::-1]
        file.seek(1_500_000)
        with pytest.raises(TableError, match=r"/t/x\.npy: the file has changed"), reading(place):
            file.read(1000)
