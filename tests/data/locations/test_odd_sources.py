"""Tokens in addresses, gzip bombs, pipes."""

import gzip
import io
import os
import threading
import tracemalloc

import numpy as np
import pytest

from hiddenbits.addresses import safe_url, secrets_of
from hiddenbits.data import open_table
from hiddenbits.data import text_files as text
from hiddenbits.data.locations.paths import find_files
from hiddenbits.exceptions import TableError

core = pytest.mark.core
pytestmark = pytest.mark.timeout(120)

# Tokens in the path ----------------------------------------------------------------------------------------------

TOKEN = "9f3Ka81bQz77LmX2c4Td"
UUID = "9d2f6f0e-1c5b-4c1e-8f55-a7b2e4d8b0c1"


@core
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/key/abc/file.csv", "https://host/key/***/file.csv"),
        ("https://host/api-token/abc/x.csv?sig=1", "https://host/api-token/***/x.csv?..."),
        ("https://host/bearer/abc", "https://host/bearer/***"),
        ("s3://bucket/token=abc/part*.parquet", "s3://bucket/token=***/part*.parquet"),
        ("https://host/a;sig=abc;b/x.csv", "https://host/a;sig=***;b/x.csv"),
        (f"https://host/{TOKEN}/x.csv", "https://host/***/x.csv"),
        (f"https://host/{TOKEN}.csv.gz", "https://host/***.csv.gz"),
        (f"simplecache::https://me:word@host/{UUID}/x.csv", "simplecache::https://host/***/x.csv"),
        ("https://host/0123456789abcdef0123456789abcdef/x", "https://host/0123456789abcdef0123456789abcdef/x"),
        ("https://host/4f1d0c9a7b3e8d2c6a5f0e1b9c8d7a6e/x", "https://host/***/x"),
        ("https://me:p@ss@host:80/a/b.csv?sig=1&x=/2#end", "https://host:80/a/b.csv?..."),
        ("https://token@host/b.csv", "https://host/b.csv"),
        ("zip://x.csv::https://me:word@host/x.zip?sig=1", "zip://x.csv::https://host/x.zip?..."),
        ("memory://x@y/z.npy", "memory://y/z.npy"),
        # what is written and not drawn stays
        ("https://host/keys.csv", "https://host/keys.csv"),
        ("https://host/key/x.csv", "https://host/key/x.csv"),
        ("https://host/MyLongDatasetName2024/20newsgroups.csv", "https://host/MyLongDatasetName2024/20newsgroups.csv"),
        ("s3://bucket/date=2024-01-01/part-00001.parquet", "s3://bucket/date=2024-01-01/part-00001.parquet"),
        (f"s3://b/part-00000-{UUID}-c000.snappy.parquet", f"s3://b/part-00000-{UUID}-c000.snappy.parquet"),
        ("https://host/20240101T000000Z/yellow_tripdata.csv", "https://host/20240101T000000Z/yellow_tripdata.csv"),
    ],
)
def test_tokens_in_paths_are_not_shown(url, shown):
    assert safe_url(url) == shown
    assert safe_url(shown) == shown
    assert all(secret not in shown for secret in secrets_of(url))
    assert (shown != url) == any(secrets_of(url))


def test_tokens_do_not_change_the_order_of_files():
    store = pytest.importorskip("fsspec").filesystem("memory")
    names = [f"/t/{letter}{TOKEN}.csv" for letter in "cab"]
    store.pipe(dict.fromkeys(names, b"a,b\n0,1\n1,0\n"))
    assert [place.path for place in find_files("memory://t/*.csv")] == sorted(names)
    store.rm("/t", recursive=True)


# Bombs -----------------------------------------------------------------------------------------------------------


@core
@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("line.csv.gz", b"0," * (1 << 22)),
        ("lines.csv.gz", (b"0," * 2000 + b"0\n") * 2000),
        ("x.dat.gz", b"1 2 3 " * (1 << 20)),
    ],
)
def test_gzip_bombs_are_refused(tmp_path, monkeypatch, name, piece):
    monkeypatch.setattr(text, "FREE", 1 << 22)  # the same in a shorter time
    path = tmp_path / name
    path.write_bytes(gzip.compress(piece, 9) * 100)  # 600 MB and more, of members that follow each other
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="more than 400 times its size") as caught:
            open_table(path)
        assert str(path) in str(caught.value)
        assert tracemalloc.get_traced_memory()[1] < 1e8  # the rest would come to 3e8 and more
    finally:
        tracemalloc.stop()


@core
@pytest.mark.parametrize("share", [0.1, 0.01, 0.002])
def test_honest_tables_unfold(tmp_path, monkeypatch, share):
    """Sparse ones too, at the best level of gzip: 300 times their size at two ones in a thousand cells."""
    monkeypatch.setattr(text, "FREE", 1 << 16)  # or the table would have to be large
    X = (np.random.default_rng(0).random((400, 1000)) < share).astype(np.uint8)
    path = tmp_path / "x.csv.gz"
    lines = io.BytesIO()
    np.savetxt(lines, X, "%d", ",")
    path.write_bytes(gzip.compress(lines.getvalue(), 9))
    np.testing.assert_array_equal(open_table(path, header=False).to_float(), X)


# Pipes -----------------------------------------------------------------------------------------------------------


@core
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes in folders")
@pytest.mark.parametrize("name", ["x.csv.gz", "x.npy", "x.dat", "x.parquet", "x.zarr.zip"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    (tmp_path / "link.csv").symlink_to(tmp_path / name)
    (tmp_path / "b.dat").write_bytes(b"0 1\n")
    errors = []

    def ask(path, **options):
        try:
            open_table(path, **options)
        except Exception as error:
            errors.append(error)

    for path, options in ((name, {}), ("link.csv", {}), ("b.dat", {"items": tmp_path / name})):
        thread = threading.Thread(target=ask, args=(tmp_path / path,), kwargs=options, daemon=True)
        thread.start()
        thread.join(20)  # it must not keep us waiting
    assert [type(error) for error in errors] == 3 * [TableError]
    assert all("this is a pipe or a device" in str(error) for error in errors)
