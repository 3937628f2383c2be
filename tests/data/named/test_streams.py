"""Queries, datasets and streams of Arrow batches: the same table as the frame, in memory, on disk, or where it is."""

import gc
import warnings

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.data.named import streams
from hiddenbits.data.named.parquet import open as open_parquet
from hiddenbits.exceptions import SpilledTableWarning, TableError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
RNG = np.random.default_rng(0)
CELLS = RNG.integers(0, 2, (500, 4))
FRAME = pa.table({name: pa.array(CELLS[:, j], mask=RNG.random(500) < 0.05) for j, name in enumerate("abcd")})


class Once:
    """What any library may hand over."""

    def __init__(self, reader):
        self._reader = reader

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


def reader(batch=37):
    return pa.RecordBatchReader.from_batches(FRAME.schema, FRAME.to_batches(max_chunksize=batch))


def lazy():
    return pytest.importorskip("polars").from_arrow(FRAME).lazy().filter(True)


def relation():
    return pytest.importorskip("duckdb").from_arrow(FRAME)


def csv_dataset(folder):
    csv = pytest.importorskip("pyarrow.csv")
    for i in range(3):
        csv.write_csv(FRAME.slice(200 * i, 200), folder / f"{i}.csv")
    return ds.dataset(folder, format="csv")


STREAMS = {
    "reader": lambda _: reader(),
    "any": lambda _: Once(reader()),
    "lazy": lambda _: lazy(),
    "duckdb": lambda _: relation(),
    "dataset of CSV": csv_dataset,
    "dataset in memory": lambda _: ds.dataset(FRAME),
    "scanner": lambda _: ds.dataset(FRAME).scanner(),
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("spilled", [False, True])
def test_the_bits_are_those_of_the_frame(tmp_path, monkeypatch, kind, spilled):
    stream = STREAMS[kind](tmp_path)
    if spilled:
        monkeypatch.setattr(streams, "KEEP_BYTES", 100)
        monkeypatch.setattr(streams, "GROUP_ROWS", 120)
    with warnings.catch_warnings(record=True, action="always") as caught:
        table = open_table(stream)
    assert [warning.category for warning in caught] == [SpilledTableWarning] * spilled
    assert table.source.resident is not spilled
    np.testing.assert_array_equal(table.to_float(), open_table(FRAME).to_float())
    if spilled:
        assert "can be read only once, so its 500 rows were written" in str(caught[0].message)
        (starts,) = table.source.columns.files.groups
        assert len(starts) > 2
        folder = table.source.columns.files.places[0].parent
        assert folder.is_dir()
        del table
        gc.collect()
        assert not folder.exists()


def test_parquet_datasets_stay_where_they_are(tmp_path):
    for i in (2, 1, 3):
        pq.write_table(FRAME.slice(100 * i, 100), tmp_path / f"{i}.parquet")
    table = open_table(ds.dataset(tmp_path))
    assert [place.name for place in table.source.columns.files.places] == ["1.parquet", "2.parquet", "3.parquet"]
    np.testing.assert_array_equal(table.to_float(), open_table(FRAME.slice(100, 300)).to_float())
    few = open_table(ds.dataset(tmp_path), columns=["c", "a"])
    np.testing.assert_array_equal(few.to_float(), table.to_float()[:, [2, 0]])
    filtered = open_table(ds.dataset(tmp_path).filter(ds.field("a") == 1))
    assert set(filtered.to_float()[:, 0]) == {1.0}


def test_pairs_from_a_query():
    pairs = pa.table({"order": [1, 1, 2, 3], "product": ["tea", "jam", "tea", "rye"]})
    stream = pa.RecordBatchReader.from_batches(pairs.schema, pairs.to_batches())
    table = open_table(stream, row="order", item="product")  # few rows: no word
    assert table.names == ("jam", "rye", "tea")
    np.testing.assert_array_equal(table.to_float(), [[1, 0, 1], [0, 0, 1], [0, 1, 0]])


def test_streams_that_fail_half_way(monkeypatch):
    def batches():
        yield FRAME.to_batches()[0]
        raise OSError("the server has gone away")

    for keep in (10**9, 100):
        monkeypatch.setattr(streams, "KEEP_BYTES", keep)
        broken = pa.RecordBatchReader.from_batches(FRAME.schema, batches())
        with pytest.raises(TableError, match=r"failed after 500 rows \(OSError: .*the server has gone away"):
            open_table(broken)


def test_streams_that_are_no_tables():
    with pytest.raises(TableError, match=r"gives no rows|Expected"):
        open_table(Once(pa.chunked_array([[1, 0]])))
    empty = pa.RecordBatchReader.from_batches(FRAME.schema, [])
    with pytest.raises(TableError, match="The table has 0 rows and 4 columns"):
        open_table(empty)
    twice = pa.schema([("a", pa.int8()), ("a", pa.int8())])
    with pytest.raises(TableError, match="Two columns are called 'a'"):
        open_table(pa.RecordBatchReader.from_batches(twice, []))


def hive(folder):
    """A table in folders such as year=2/kind=no, and its rows in the order of the folders."""
    rng = np.random.default_rng(1)
    years, kinds = np.sort(rng.integers(1, 13, 400)), rng.choice(["no", "yes"], 400)
    frame = pa.table({"a": CELLS[:400, 0], "b": CELLS[:400, 1], "year": years, "kind": kinds})
    ds.write_dataset(frame, folder, format="parquet", partitioning=["year", "kind"], partitioning_flavor="hive")
    return frame.sort_by([("year", "ascending"), ("kind", "ascending")])


CODE = {"year": "> 6", "kind": {"yes": 1, "no": 0}}


@pytest.mark.parametrize("small", [True, False])
def test_folders_with_partitions_are_read_where_they_are(tmp_path, monkeypatch, small):
    """Year 2 comes before year 10, as in other lists of files."""
    frame = hive(tmp_path / "table")
    if not small:
        monkeypatch.setattr(open_parquet, "SMALL_BYTES", 100)
    table = open_table(tmp_path / "table", recode=CODE)
    assert table.names == ("a", "b", "year", "kind")
    np.testing.assert_array_equal(table.to_float(), open_table(frame, recode=CODE).to_float())
    assert table.source.resident == small
    bits = open_table(tmp_path / "table", drop=["a", "b", "year"], recode={"kind": {"yes": 1}})
    assert bits.beside["year"] == frame["year"].to_pylist()
    with pytest.raises(TableError, match=r"this is a folder\. Name its files"):
        open_table(tmp_path / "table" / "year=2" / "kind=no")


@pytest.mark.parametrize("far", [False, True])
def test_datasets_with_partitions_are_not_spilled(tmp_path, monkeypatch, far):
    """Nothing is gathered: the files are read again in every pass, on this machine or at an address."""
    monkeypatch.setattr("hiddenbits.data.named.streams.open_batches", None)
    monkeypatch.setattr(open_parquet, "SMALL_BYTES", 100)
    frame = hive(tmp_path / "table")
    folder, fs = str(tmp_path / "table"), None
    if far:
        fs = pytest.importorskip("fsspec").filesystem("memory")
        fs.put(folder, "/hive/table", recursive=True)
        folder = "/hive/table"
    dataset = ds.dataset(folder, format="parquet", partitioning="hive", filesystem=fs)
    table = open_table(dataset, recode=CODE)
    assert not table.source.resident
    np.testing.assert_array_equal(table.to_float(), open_table(dataset.to_table(), recode=CODE).to_float())
    np.testing.assert_array_equal(table.source.read(100, 200)[0].to_dense(), table.to_float()[100:200])
    if far:
        again = open_table("memory://hive/table", recode=CODE)
        np.testing.assert_array_equal(again.to_float(), open_table(frame, recode=CODE).to_float())


def test_partitions_of_bits_are_plain_columns(tmp_path):
    frame = FRAME.set_column(3, "d", pa.array(CELLS[:, 3]))
    ds.write_dataset(frame, tmp_path, format="parquet", partitioning=["d"], partitioning_flavor="hive")
    table = open_table(tmp_path)
    assert not table.source.resident
    assert table.coding is None
    np.testing.assert_array_equal(table.to_float(), open_table(frame.sort_by("d")).to_float())
