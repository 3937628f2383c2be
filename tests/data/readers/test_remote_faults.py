"""Remote files that change or are not there, secrets that stay secret, and servers that misbehave."""

from __future__ import annotations

import gzip
import io
import sys
import time
import traceback

import numpy as np
import pytest

from hiddenbits.addresses import safe_url
from hiddenbits.data import TableError, open_table
from hiddenbits.data.locations.places import find_place, is_url
from tests.data.readers.remote_tables import ROWS, S3_OPTIONS, quick
from tests.data.readers.servers import S3Server
from tests.data.readers.test_readers import assert_reads, bits, frame, write_parquet

core = pytest.mark.core
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


@pytest.mark.parametrize("name", ["u8.npy", "x.parquet", "lists.parquet"])
def test_a_file_that_was_replaced(server, cases, name):
    if name not in cases:
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
    refused(r"\*\.npz: (no file matches|there is no such file)", f"{server.url}/none/*.npz")
    refused(r"\*\.zip: no file matches this pattern", f"{server.url}/t/*.zip")
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
        refused("no file matches this pattern", "s3://bucket/t/none*.npy", good)
        refused("there is no such file", "s3://other/t/u8.npy", good)


# Secrets ---------------------------------------------------------------------------------------------------------


@core
def test_safe_url():
    for url, shown in [
        ("https://me:p@ss@host:80/a/b.csv?sig=1&x=/2#end", "https://host:80/a/b.csv?..."),
        ("https://token@host/b.csv", "https://host/b.csv"),
        ("s3://bucket/part?.parquet", "s3://bucket/part?.parquet"),
        ("s3://bucket/x.npy?versionId=12", "s3://bucket/x.npy?..."),
        ("simplecache::ftp://me:word@host/x.npy", "simplecache::ftp://host/x.npy"),
        ("zip://x.csv::https://me:word@host/x.zip?sig=1", "zip://x.csv::https://host/x.zip?..."),
        ("memory://x@y/z.npy", "memory://y/z.npy"),
    ]:
        assert safe_url(url) == shown
    assert not is_url("C://x.npy")
    assert not is_url("a::b.npy")


# Servers that misbehave ------------------------------------------------------------------------------------------

FAULTS = {
    403: "access was refused",
    404: "there is no such file",
    500: "answered with status 500",
    "slow": "no answer came in time",
    "drip": "no answer came in time",
    "drop": "the connection was lost",
    "larger": "(did not send the requested bytes|fewer bytes than the server announced|ends after)",
    "smaller": "(did not send the requested bytes|more than)",
    "more": "sent more than",
    "other range": "did not send the requested bytes",
}
SAMPLE = ["u8.npy", "float.npy", "csr.npz", "x.csv", "x.csv.gz", "x.dat", "x.dat.gz", "x.parquet", "lists.parquet"]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_at_opening(server, cases, fault):
    server.fault = fault
    waits = fault in ("slow", "drip")
    for name in SAMPLE[::3] if waits else set(SAMPLE) & set(cases):
        server.sent = 0
        refused(FAULTS[fault], f"{server.url}/t/{name}", quick(0.3 if waits else 2.0), within=5.0)
        assert server.sent < 16 << 20


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_while_reading(server, fault):
    """The table is open; then the server fails. Nothing but a TableError comes, and the table outlives it."""
    pytest.importorskip("pyarrow")
    raw = io.BytesIO()
    x = bits(20_000)
    write_parquet(raw, frame(x, "uint8"), group=1000, compression="none", use_dictionary=False)
    server.files["big.parquet"] = raw.getvalue()
    raw = io.BytesIO()
    np.save(raw, x)
    server.files["big.npy"] = raw.getvalue()
    patience = quick(1.0 if fault in ("slow", "drip") else 4.0)
    tables = [open_table(f"{server.url}/big.{suffix}", storage_options=patience) for suffix in ("npy", "parquet")]
    server.fault = fault
    for table in tables:
        begin, server.sent = time.monotonic(), 0
        message = "the file has changed" if fault in ("larger", "smaller") else FAULTS[fault]
        with pytest.raises(TableError, match=rf"^{server.url}/big\.\w+: .*{message}") as caught:
            table.source.read(5000, 15_000)
        assert_alone(caught.value)
        assert time.monotonic() - begin < 5
        assert server.sent < 16 << 20
    server.fault = None
    for table in tables:
        np.testing.assert_array_equal(table.source.read(5000, 15_000)[0].to_dense(), x[5000:15_000])


@pytest.mark.parametrize("fault", ["no ranges", "says none", "no size", "size 0"])
def test_servers_without_ranges_or_sizes(server, cases, fault):
    """Text is read from top to bottom; other formats say what helps, and it helps."""
    server.fault = fault
    big = io.BytesIO()
    x = bits(ROWS, 2000)
    np.savez(big, x=x)
    server.files["big.npz"] = big.getvalue()
    for name in ("x.csv", "x.dat", "x.dat.gz"):
        options, expected = cases[name]
        assert_reads(open_table(f"{server.url}/t/{name}", **options), expected)
    refused("(cannot send parts of a file|does not report the file's size).*Put simplecache::", f"{server.url}/big.npz")
    if fault != "size 0":  # a copy keeps to the size that was told
        assert_reads(open_table(f"simplecache::{server.url}/big.npz"), x)


@pytest.mark.slow
def test_size_caps(server):
    server.files["big.csv"] = b"1,0\n" * 1_000_000
    server.files["empty.dat.gz"] = gzip.compress(b"") * 1000
    refused("more than max_bytes=100000 bytes.*Parquet", f"{server.url}/big.csv", max_bytes=100_000)
    assert server.sent == 0  # its size was known
    server.fault = "endless"
    for name in ("big.csv", "empty.dat.gz"):  # empty archives, one after the other, never unpack to a byte
        server.sent = 0
        refused("more than max_bytes=100000 bytes", f"{server.url}/{name}", max_bytes=100_000)
        assert server.sent < 40 << 20
    server.fault = None
    refused("above max_bytes=100.*uint8 or bool", f"{server.url}/t/float.npy", max_bytes=100)
    refused("above max_bytes=100", f"{server.url}/t/csr.npz", max_bytes=100)


def test_a_copy_that_broke_off(server):
    """simplecache:: keeps what came before the connection broke; it must not pass for the file."""
    server.fault = "drop"
    table = f"simplecache::{server.url}/t/u8.npy"
    refused("the connection was lost", table)
    server.fault = None
    refused("ends after", table)


def test_damaged_cells_in_place(server):
    """Cells of a remote .npy file are checked as they are read."""
    for options, row, message in [
        ({}, [0, 1, 0, 7, 0, 0, 0], r"row 100, column 3: 7 is not a bit"),
        ({"packed": True, "n_columns": 7}, [1], "row 100: bits are set beyond column 6"),
    ]:
        x = np.zeros((ROWS, len(row)), np.uint8)
        x[100] = row
        raw = io.BytesIO()
        np.save(raw, x)
        server.files["bad.npy"] = raw.getvalue()
        table = open_table(f"{server.url}/bad.npy", **options)
        assert table.source.read(0, 100)[0].shape == (100, 7)
        with pytest.raises(TableError, match=rf"bad\.npy: {message}"):
            table.source.read(90, 110)


@pytest.mark.parametrize("fault", ["no ranges", "says none", "no size", "size 0"])
def test_pieces_in_order_from_servers_without_ranges(server, fault):
    """A long text is read from the top on, as one stream; what goes back in the file is refused."""
    data = server.files["t/long.csv"] = bits(3000, 7).tobytes()
    server.fault = fault
    with find_place(f"{server.url}/t/long.csv", {}).marked().open() as file:
        for at in range(0, len(data), 4096):
            assert file.read(4096) == data[at : at + 4096]
        assert file.read(1) == b""
        assert len(server.requests) < 6
        file.seek(4096)
        with pytest.raises(TableError, match=r"long\.csv: the server cannot send parts of a file.*simplecache::"):
            file.read(1)


def test_a_file_that_is_replaced_between_two_ranges(server):
    """Its size is the same and it was looked at when it was opened: only the tags of its ranges differ."""
    raw = io.BytesIO()
    x = bits(300_000, 7)
    np.save(raw, x)
    other = io.BytesIO()
    np.save(other, 1 - x)
    server.files["t/x.npy"] = raw.getvalue()
    place = find_place(f"{server.url}/t/x.npy", {}).marked()
    with place.open() as file:
        assert file.read(1000) == raw.getvalue()[:1000]
        server.files["t/x.npy"] = other.getvalue()
        file.seek(1 << 20)
        with pytest.raises(TableError, match=r"/t/x\.npy: the server did not send the requested bytes"):
            file.read(1000)
