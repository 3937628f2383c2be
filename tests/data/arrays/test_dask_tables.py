"""dask arrays and frames against the same table in memory: what is read, what is computed for it, the same fits."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import LatentClassAnalysis
from hiddenbits.data import AllOnes, Complement, Dense, Pattern, Table, open_table
from hiddenbits.data.arrays.source import ArraySource
from hiddenbits.exceptions import RecodedColumnsWarning, TableError
from tests.data.tables import assert_reads, bits, holes

dask = pytest.importorskip("dask", reason="the cluster extra is not installed")
da = pytest.importorskip("dask.array")

CHUNKS = [(60, 7), (13, 7), (13, 3), (60, 1), ((0, 25, 0, 0, 30, 5, 0), (2, 0, 5))]
X, nan = bits(), np.nan


def frame(values, npartitions=4, dtype=None, names=None):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    names = names or [f"c {j}" for j in range(np.shape(values)[1])]
    held = pd.DataFrame(values, columns=names)
    return dd.from_pandas(held if dtype is None else held.astype(dtype), npartitions=npartitions, sort=False)


# What is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "bool", "int64", "float32", "float64", "object", ">i4"])
def test_arrays(chunks, dtype):
    table = open_table(da.from_array(X.astype(dtype), chunks=chunks), names="abcdefg")
    assert_reads(table, X)
    assert isinstance(table.source, ArraySource)
    assert not table.source.resident
    assert table.names == tuple("abcdefg")
    blanks = np.dtype(dtype).kind in "fO"
    assert isinstance(table.source.read(3, 9)[1], Complement if blanks else AllOnes)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.97])
@pytest.mark.parametrize("chunks", [(60, 7), (13, 3)])
@pytest.mark.parametrize("kind", ["float", "object", "masked", "unknown"])
def test_blanks(share, chunks, kind):
    x = holes(X, share)
    array = da.from_array(x, chunks=chunks)
    if kind == "object":
        array = da.from_array(np.where(np.isnan(x), None, x.astype(object)), chunks=chunks)
    if kind == "masked":
        array = da.from_array(np.ma.array(np.nan_to_num(x).astype(int), mask=np.isnan(x)), chunks=chunks)
    if kind == "unknown":
        array = array[da.from_array(np.ones(60, bool), chunks=chunks[0])]
        assert np.isnan(array.shape[0])
    table = open_table(array)
    assert_reads(table, x)
    wanted = {0.0: Complement, 0.03: Complement, 0.5: Dense, 0.97: Pattern}
    assert isinstance(table.source.read(0, 1)[1], wanted[share])
    assert_reads(open_table(array, empty="zero"), np.nan_to_num(x))
    assert isinstance(open_table(array, empty="zero").source.read(0, 1)[1], AllOnes)


def test_threshold():
    gray = np.random.default_rng(0).random((60, 7))
    gray[3, 4] = nan
    for dtype in ("float64", "float32", "float16"):
        held = gray.astype(dtype)
        for array in (da.from_array(held, chunks=(13, 3)), frame(held)):
            assert_reads(open_table(array, threshold=0.3), open_table(held, threshold=0.3).to_float())


@pytest.mark.thin(7)
@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "coo_array", "lil_array"])
@pytest.mark.parametrize("chunks", CHUNKS[:-1], ids=str)
@pytest.mark.parametrize("blank", ["auto", "zero", "missing"])
def test_sparse_chunks(kind, chunks, blank):
    make = getattr(sparse, kind)
    x = X.astype(float) * np.where(np.random.default_rng(3).random(X.shape) < 0.2, 2, 1)  # 2 will be a stored 0
    x[::7, 3] = nan

    def chunk(block):
        made = sparse.csr_array(block)
        made.data[made.data == 2] = 0
        return make(made)

    array = da.from_array(x, chunks=chunks).map_blocks(chunk, meta=make((0, 0), dtype=float))
    memory = open_table(chunk(x), empty=blank)
    table = open_table(array, empty=blank)
    assert_reads(table, memory.to_float())
    assert {type(one) for one in table.source.read(0, 9)} == {type(memory.source.x), type(memory.source.observed)}
    whole = make(sparse.csr_array(X.astype(float)))
    full = open_table(da.from_array(X, chunks=chunks).map_blocks(make, meta=make((0, 0), dtype=np.uint8)), empty=blank)
    assert_reads(full, open_table(whole, empty=blank).to_float())
    assert isinstance(full.source.read(0, 9)[1], Pattern if blank == "missing" else AllOnes)


NULLABLE = ["float64", "float32", "Int8", "UInt64", "boolean", "Float32", "int8[pyarrow]", "bool[pyarrow]", "category"]


@pytest.mark.thin(5)
@pytest.mark.parametrize("dtype", NULLABLE)
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.97])
def test_frames(dtype, share):
    x = holes(X, share)
    data = frame(x, 5, dtype)
    table = open_table(data)
    memory = open_table(data.compute())
    assert_reads(table, x)
    assert table.names == tuple(f"c {j}" for j in range(7))
    assert {type(one) for one in table.source.read(0, 9)} == {type(memory.source.x), type(memory.source.observed)}
    assert_reads(open_table(data, empty="zero"), np.nan_to_num(x))
    assert open_table(data, names="abcdefg").names == tuple("abcdefg")
    assert not table.source.resident


def test_frames_with_empty_partitions_and_plain_types():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    whole = pd.DataFrame({"a": X[:, 0] == 1, "b": X[:, 1], "c": holes(X)[:, 2], "d": pd.array(X[:, 3], "Int8")})
    want = np.column_stack([X[:, :2], holes(X)[:, 2], X[:, 3]])
    cuts = [whole[:0], whole[:20], whole[20:20], whole[20:59], whole[59:60], whole[60:]]
    data = dd.from_delayed([dask.delayed(lambda cut=cut: cut)() for cut in cuts], meta=whole[:0], verify_meta=False)
    table = open_table(data)
    assert_reads(table, want)
    assert table.source.columns.chunks.heights == (0, 20, 0, 39, 1, 0)
    some = open_table(data[data.b == 1][["d", "a"]])
    assert_reads(some, want[X[:, 1] == 1][:, [3, 0]])
    assert some.names == ("d", "a")
    data = dd.from_pandas(whole, npartitions=3)
    data["c"] = data.c.fillna(0.0)
    assert_reads(open_table(data), np.nan_to_num(want))
    assert isinstance(open_table(data).source.read(0, 3)[1], AllOnes)


def test_frames_of_words_and_numbers():
    """Columns are read as those of the same frame in memory, by whatever partitions."""
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    held = pd.DataFrame(
        {"id": range(60), "q": np.where(X[:, 0], "yes", "no"), "age": 20 + np.arange(60) % 37, "b": X[:, 1]}
    )
    held.loc[7, "q"] = None
    options = {"id": "id", "recode": {"age": "> 40"}}
    with pytest.warns(RecodedColumnsWarning, match="yes = 1"):
        memory = open_table(held, **options)
    for npartitions in (1, 7):
        with pytest.warns(RecodedColumnsWarning, match="yes = 1"):
            table = open_table(dd.from_pandas(held, npartitions=npartitions, sort=False), **options)
        assert_reads(table, memory.to_float())
        assert table.names == memory.names
        assert table.beside == memory.beside
    model = LatentClassAnalysis(2, n_init=1, random_state=0, column_types={"q": "nominal", "age": "ordinal"})
    data = held[["q", "b"]].assign(age=held.age // 20)
    lazy = dd.from_pandas(data, npartitions=3, sort=False)
    np.testing.assert_allclose(model.fit(data).score(lazy), model.fit(lazy).score(data), rtol=1e-6)


# How it is read --------------------------------------------------------------------------------------------------


def counting(shape=(60, 7), chunks=(10, 7), dtype=np.uint8):
    """Return an array that takes note of the chunks that are computed, and the notes."""
    made = []

    def chunk(block, block_info=None):
        made.append(block_info[0]["chunk-location"][0])
        return block

    array = da.from_array(X.astype(dtype), chunks=chunks).map_blocks(chunk, dtype=dtype, meta=np.empty((0, 0), dtype))
    made.clear()  # dask tries the function
    return array, made


def test_only_the_chunks_needed():
    array, made = counting()
    table = open_table(array)
    assert made == []  # whole numbers: nothing is computed
    for start, stop, wanted in ((0, 10, [0]), (9, 11, [0, 1]), (35, 60, [3, 4, 5]), (20, 20, []), (59, 99, [5])):
        made.clear()
        assert table.source.read(start, stop)[0].shape == (min(stop, 60) - start, 7)
        assert sorted(made) == wanted
    array, made = counting(dtype=float)
    open_table(array)
    assert made  # missing values are possible: how many there are is seen from the first million cells
    array, made = counting(dtype=float)
    open_table(array, empty="zero")
    assert made == []
    array, made = counting()
    known = open_table(array[array[:, 0] >= 0])
    assert sorted(made) == [0, 1, 2, 3, 4, 5]  # the lengths, once
    assert known.shape == (60, 7)
    array, made = counting()
    frame_table = open_table(array.to_dask_dataframe())
    assert sorted(made) == sorted([0, 1, 2, 3, 4, 5] * 2)  # their lengths, and what they hold
    made.clear()
    assert frame_table.source.read(25, 45)[0].shape == (20, 7)
    assert sorted(made) == [2, 3, 4]


def test_shared_work_is_done_once_for_a_part():
    array, made = counting()
    centerd = array - array.min(axis=0).compute() * 0  # a plain array inside the graph
    table = open_table((centerd + array.sum(axis=0) * 0).astype(np.uint8))
    made.clear()
    table.source.read(0, 40)
    assert sorted(made) == [0, 1, 2, 3, 4, 5]  # the sum needs all chunks, and each of them is made once


def test_read_uses_neither_dasks_threads_nor_a_client():
    table = open_table(counting()[0])

    def forbidden(*args, **options):
        raise AssertionError("reading a part waits for no scheduler")

    with dask.config.set(scheduler=forbidden):
        assert_reads(table, X)


@pytest.mark.slow
def test_threads_pickles_and_parts():
    x = holes(bits(500, 9), 0.05)
    array = da.from_array(x, chunks=(64, 4)).map_blocks(lambda block: block + 0)
    table = open_table(array)
    source = pickle.loads(pickle.dumps(table.source))
    assert source.read(480, 530)[0].shape == (20, 9)
    with ThreadPoolExecutor(8) as pool:
        for start, part in enumerate(pool.map(lambda i: source.read(i, i + 70), range(300))):
            np.testing.assert_array_equal(part[0].to_dense(), np.nan_to_num(x[start : start + 70]))
            np.testing.assert_array_equal(part[1].to_dense(), ~np.isnan(x[start : start + 70]))
    for part_bytes in (1, 1000, 10**9):
        for walked in (Table(table.source, None, None, part_bytes), open_table(array, part_bytes=part_bytes)):
            grid = walked.grid(32)
            blocks = [block.to_float() for i in range(grid.n_parts) for block in grid.load(i).blocks()]
            np.testing.assert_array_equal(np.concatenate(blocks), x)


def test_only_what_some_rows_need_travels():
    x = bits(100_000, 16)
    source = open_table(da.from_array(x, chunks=(5000, 16))).source
    some = source.only(12_000, 14_000)
    assert some.n_rows == 100_000
    assert len(pickle.dumps(some)) < 100_000 < 1_000_000 < len(pickle.dumps(source))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(some)).read(12_500, 13_900)[0].to_dense(), x[12_500:13_900])


def test_dask_is_imported_only_for_dask():
    code = (
        "import sys, numpy, hiddenbits; hiddenbits.open_table(numpy.eye(3)); "
        "print(*{name.split('.')[0] for name in sys.modules} & {'dask', 'distributed'})"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_names_travel_with_frames():
    model = LatentClassAnalysis(2, n_init=1, random_state=0).fit(open_table(frame(X)))
    assert list(model.feature_names_in_) == [f"c {j}" for j in range(7)]
    with pytest.raises(TableError, match=r"Column 0 is 'a', but it was 'c 0' when LatentClassAnalysis was fitted"):
        model.transform(open_table(frame(X), names="abcdefg"))


def test_nothing_is_looked_up_in_columns_that_partitions_share(monkeypatch):
    """pandas builds the table of an index at the first lookup, and threads that look up together race (KeyError)."""
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    shared, looked = pd.Index(np.arange(7)[::-1].copy()), []
    parts = [pd.DataFrame(X[:5], columns=shared), pd.DataFrame(X[5:], columns=shared)]
    made = [dask.delayed(lambda part=part: part)() for part in parts]
    data = dd.from_delayed(made, meta=pd.DataFrame(X[:0], columns=range(6, -1, -1)), verify_meta=False)
    honest = pd.Index.get_loc
    monkeypatch.setattr(pd.Index, "get_loc", lambda self, key: looked.append(self) or honest(self, key))
    assert_reads(open_table(data), X)
    assert not any(one._engine is shared._engine for one in looked)
