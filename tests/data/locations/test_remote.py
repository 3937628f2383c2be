"""Addresses: the same tables as from the local files, over real servers on loopback."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hiddenbits.data import open_table
from hiddenbits.exceptions import TableError
from tests.data.locations.remote_tables import HOLES, NAMES, S3_OPTIONS, X
from tests.data.locations.servers import S3Server
from tests.data.tables import assert_reads, bits, frame, write_parquet

core = pytest.mark.core
pytestmark = pytest.mark.timeout(60)

# Round trips -----------------------------------------------------------------------------------------------------

CASES = [
    *("u8.npy", "float.npy", "part*.npy", "two.npz", "csr.npz", "x.csv", "x.csv.gz", "x.dat"),
    *("part*.parquet", "lists.parquet"),
]


def assert_same_table(far, near, expected):
    """The remote table is the local one: cells, names, storage, and any part of any size, after a journey too."""
    assert far.names == near.names
    assert_reads(far, expected, 8)
    assert_reads(pickle.loads(pickle.dumps(far)), expected, 2)
    for part_bytes in (7 * 40, 1 << 20):
        grids = [open_table(table, part_bytes=part_bytes).grid(1) for table in (far, near)]
        assert grids[0].n_parts == grids[1].n_parts
        mine, theirs = (grid.load(grid.n_parts - 1) for grid in grids)
        assert type(mine.x) is type(theirs.x)
        np.testing.assert_array_equal(mine.x.to_dense(), theirs.x.to_dense())
        np.testing.assert_array_equal(mine.observed.to_dense(), theirs.observed.to_dense())


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("start", ["http", "memory", "simplecache::", "filecache::", "zip://"])
def test_tables_are_those_of_local_files(server, contents, folder, cases, start, name):
    fsspec = pytest.importorskip("fsspec")
    if name not in cases:
        pytest.skip("pyarrow is not installed")
    options, expected = cases[name]
    url = f"{server.url}/t/{name}" if start == "http" else f"{start}{server.url}/t/{name}"
    store = fsspec.filesystem("memory")
    if start == "memory":
        store.pipe({f"/{path}": data for path, data in contents.items()})
        url = f"memory://t/{name}"
    if start == "zip://":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in contents.items():
                archive.writestr(path, data)
        server.files["all.zip"] = packed.getvalue()
        url = f"zip://t/{name}::{server.url}/all.zip"
    try:
        assert_same_table(open_table(url, **options), open_table(f"{folder}/{name}", **options), expected)
    finally:
        store.store.clear()


@pytest.mark.slow
@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["part*.npy", "float.npy", "csr.npz", "x.csv.gz", "part*.parquet", "lists.parquet"])
def test_s3(contents, folder, cases, name):
    pytest.importorskip("s3fs")
    if name not in cases:
        pytest.skip("pyarrow is not installed")
    options, expected = cases[name]
    with S3Server(contents) as server:
        far = open_table(f"s3://bucket/t/{name}", storage_options=S3_OPTIONS | {"endpoint_url": server.url}, **options)
        assert_same_table(far, open_table(f"{folder}/{name}", **options), expected)


@core
def test_file_addresses_are_paths(folder, cases):
    table = open_table(f"file://{folder}/u8.npy")
    assert table.source.mapped
    assert_reads(table, X)
    assert_reads(open_table(f"file://{folder}/part*.npy"), X)


def test_order_and_lists(server, folder):
    def part(i):
        return X[10 * i : 10 * i + 10]

    wanted = [f"{server.url}/t/part{i}.npy" for i in (10, 2)]
    assert_reads(open_table(wanted), np.concatenate([part(10), part(2)]))
    mixed = [f"{server.url}/t/part1*.npy", folder / "part0.npy", f"{server.url}/t/float.npy"]
    assert_reads(open_table(mixed), np.concatenate([part(1), part(10), part(11), part(0), HOLES]))
    server.files["t/x[1].npy"] = server.files["t/u8.npy"]
    assert_reads(open_table(f"{server.url}/t/x[1].npy"), X)
    with pytest.raises(TableError, match=r"part2\.npy: the file is given twice"):
        open_table([f"{server.url}/t/part2.npy", f"{server.url}/t/part*.npy"])


def test_item_names_from_an_address(server):
    server.files["t/items.txt"] = "\n".join(NAMES).encode()
    assert open_table(f"{server.url}/t/x.dat", items=f"{server.url}/t/items.txt").names == tuple(NAMES)
    with pytest.raises(TableError, match=r"none\.txt: there is no such file"):
        open_table(f"{server.url}/t/x.dat", items=f"{server.url}/t/none.txt")


# In place --------------------------------------------------------------------------------------------------------


def test_npy_fetches_the_rows_asked_for(server):
    x = bits(40_000, 50)
    raw = io.BytesIO()
    np.save(raw, x)
    server.files["big.npy"] = raw.getvalue()
    table = open_table(f"{server.url}/big.npy")
    assert server.sent < 10_000  # the header
    server.sent = 0
    np.testing.assert_array_equal(table.source.read(30_000, 30_100)[0].to_dense(), x[30_000:30_100])
    assert server.sent < 100 * 50 + 20_000


@pytest.mark.slow
def test_parquet_fetches_footer_and_row_groups(server):
    pytest.importorskip("pyarrow")
    x = bits(40_000, 50)
    raw = io.BytesIO()
    write_parquet(raw, frame(x, "uint8"), group=2000, compression="none", use_dictionary=False)
    server.files["big.parquet"] = raw.getvalue()
    table = open_table(f"{server.url}/big.parquet")
    assert len(raw.getvalue()) > 8_000_000
    assert server.sent < 300_000  # the footer, which has counts of 1,000 column chunks
    server.requests.clear()
    footer, server.sent = server.sent, 0
    np.testing.assert_array_equal(table.source.read(30_000, 30_100)[0].to_dense(), x[30_000:30_100])
    assert server.sent < footer + 2000 * 50 * 4.1 + 3 * 65_536  # Parquet keeps a uint8 in 4 bytes, if it is not packed
    assert len(server.requests) < 6  # not one for each column


@pytest.mark.slow
def test_threads(server):
    store = pytest.importorskip("fsspec").filesystem("memory")
    x, raw = bits(3000, 200), io.BytesIO()
    np.save(raw, x)
    server.files["big.npy"] = raw.getvalue()
    store.pipe("/threads/big.npy", raw.getvalue())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.npy", raw.getvalue())
    server.files["all.zip"] = packed.getvalue()
    zipped = f"zip://big.npy::{server.url}/all.zip"
    near = f"{server.url}/big.npy"
    for url in (near, "memory://threads/big.npy", f"simplecache::{near}", zipped):
        source = open_table(url).source
        with ThreadPoolExecutor(8) as pool:
            starts = range(0, 2900, 37)
            parts = pool.map(lambda i, source=source: source.read(i, i + 100)[0].to_dense(), starts)
            for i, part in zip(starts, parts, strict=True):
                np.testing.assert_array_equal(part, x[i : i + 100])
    store.rm("/threads", recursive=True)


def test_storage_options_are_for_addresses(folder, cases):
    for data in (f"{folder}/u8.npy", f"file://{folder}/u8.npy", X):
        with pytest.raises(TypeError, match="storage_options= is for addresses"):
            open_table(data, storage_options={"key": "secret"})
    with pytest.raises(TypeError, match="storage_options= must be a dict") as caught:
        open_table("memory://x.npy", storage_options="secret")
    assert "secret" not in str(caught.value)


@core
def test_fsspec_is_for_addresses_only(folder, cases, monkeypatch):
    code = "import sys, hiddenbits; hiddenbits.open_table(sys.argv[1]); sys.exit('fsspec' in sys.modules)"
    subprocess.run([sys.executable, "-c", code, f"{folder}/u8.npy"], check=True, timeout=60)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"need fsspec: pip install 'hiddenbits\[files\]'"):
        open_table("memory://x.npy")
