"""dask arrays and frames that are no table, or not what dask was told: refused in the words used for memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hiddenbits.data import open_table
from hiddenbits.exceptions import TableError
from tests.data.arrays.test_dask_tables import X, frame, nan
from tests.data.tables import assert_reads, holes

dask = pytest.importorskip("dask", reason="the cluster extra is not installed")
da = pytest.importorskip("dask.array")


def lazily(blocks, shapes=None, dtype=None, meta=None):
    """Return a dask array of the given blocks, in which dask believes the given shapes."""
    rows = []
    for i, block in enumerate(blocks):
        shape = np.shape(block) if shapes is None else shapes[i]
        made = dask.delayed(lambda block: block, pure=False)(dask.delayed(block, traverse=False))
        rows.append(da.from_delayed(made, shape, dtype=dtype or np.asarray(blocks[0]).dtype, meta=meta))
    return da.concatenate(rows)


def refused(data, message, **options):
    with pytest.raises(TableError, match=message):
        open_table(data, **options).to_float()


BAD = [2, -1, 0.5, np.inf, -np.inf, 1e300]


@pytest.mark.parametrize("bad", [2, 0.5, np.inf])
@pytest.mark.parametrize("place", [(0, 0), (41, 5), (59, 6)])
def test_the_same_words_as_in_memory(bad, place):
    """A cell that is no bit is refused in the words used for the table in memory, with its own row and column."""
    x = X.astype(float)
    x[place] = bad
    meta = sparse.csr_array((0, 0), dtype=float)
    for options in ({}, {"names": list("abcdefg")}):
        for chunks in ((60, 7), (13, 3)):
            array = da.from_array(x, chunks=chunks)
            shuffled = array[da.from_array(np.ones(60, bool), chunks=chunks[0])]
            of_objects = da.from_array(x.astype(object), chunks=chunks)
            made = [(array, x), (shuffled, x), (of_objects, x.astype(object))]
            made += [(array.map_blocks(sparse.csr_array, meta=meta), sparse.csr_array(x))]
            for data, memory in made:
                with pytest.raises(TableError) as expected:
                    open_table(memory, **options)
                with pytest.raises(TableError) as refusal:
                    open_table(data, **options).to_float()
                assert str(refusal.value) == str(expected.value)
                assert str(refusal.value).startswith(f"row {place[0]}, column {place[1]}")


def test_no_table_at_all():
    bag = pytest.importorskip("dask.bag")
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    refused(da.zeros(4), r"rows and columns, got an array with 1 dimension\(s\)")
    refused(da.zeros((2, 2, 2)), r"rows and columns, got an array with 3 dimension\(s\)")
    refused(
        dask.delayed(len)(X), "A dask Delayed is not a table. Give a two-dimensional dask array or a dask DataFrame"
    )
    refused(bag.from_sequence([0, 1]), "A dask Bag is not a table")
    refused(frame(X)["c 1"], "A dask Series is not a table")
    refused(frame(X).index, "A dask Index is not a table")
    for shape in ((0, 3), (3, 0), (0, 0)):
        message = f"The table has {shape[0]} rows and {shape[1]} columns. It needs at least one of each"
        for dtype in (np.uint8, float, object):
            refused(da.zeros(shape, chunks=3, dtype=dtype), message)
    refused(da.zeros((5, 3))[da.zeros(5) == 1], "The table has 0 rows and 3 columns")
    refused(frame(X[:0], 1), "The table has 0 rows and 7 columns")
    refused(dd.from_pandas(pd.DataFrame(index=range(3)), npartitions=1), "The frame has no columns")
    names = [1, "1", "b", "c", "d", "e", "f"]
    refused(frame(X, names=names), "Two columns are called '1'. Give each column a unique name")
    twice = pd.DataFrame(X[:, :2], columns=["a", "a"])
    refused(dd.from_delayed([dask.delayed(twice)], meta=twice[:0], verify_meta=False), "Two columns are called 'a'")
    unknown = da.from_array(X, chunks=5)[:, da.ones(7, dtype=bool)]
    assert np.isnan(unknown.shape[1])
    refused(unknown, r"does not know the number of columns. Call compute_chunk_sizes\(\)")


def test_options():
    array = da.from_array(X, chunks=20)
    refused(array, "n_columns=8 was given, but the table has 7 columns", n_columns=8)
    refused(frame(X), "n_columns=8 was given, but the table has 7 columns", n_columns=8)
    assert open_table(array, n_columns=7).shape == (60, 7)
    refused(array, "6 names were given for 7 columns", names="abcdef")
    refused(array, "empty='none' is not one of", empty="none")
    refused(array, "threshold=nan is not a finite number", threshold=nan)
    with pytest.raises(TypeError, match="packed=True is for arrays"):
        open_table(array, packed=True, n_columns=56)
    of_sparse = array.map_blocks(sparse.csr_array)
    refused(of_sparse, "threshold below 0 would turn every absent cell", threshold=-1)
    with pytest.raises(TypeError, match="column: option of a file reader"):
        open_table(array, column="a")


def test_shapes_that_were_told_wrongly():
    shapes = [(20, 7)] * 3
    for wrong in ((19, 7), (21, 7), (20, 6), (20, 8), (140,), (20, 7, 1), (7, 20)):
        for i in range(3):
            blocks = [X[:20].astype(np.uint8)] * 3
            blocks[i] = np.zeros(wrong, np.uint8)
            message = rf"chunk {i} \(row {20 * i} and after\): its shape is .*, but dask expects \(20, 7\)"
            refused(lazily(blocks, shapes), message)
            if len(wrong) == 2:
                meta = sparse.csr_array((0, 0), dtype=np.uint8)
                refused(lazily([sparse.csr_array(block) for block in blocks], shapes, np.uint8, meta), message)
    table = open_table(lazily([X[:20], X[:20], X[:19]], shapes))
    assert table.source.read(0, 40)[0].shape == (40, 7)  # what is not read is not known


def test_types_that_were_told_wrongly():
    meta = sparse.csr_array((0, 0), dtype=np.uint8)
    shapes = [(20, 7)] * 2
    with_sparse = lazily([X[:20], sparse.csr_array(X[:20])], shapes)
    refused(with_sparse, r"chunk 1 \(row 20 and after\): it is a csr_array, but dask expects a NumPy array.*meta=")
    refused(
        lazily([sparse.csr_array(X[:20]), X[:20]], shapes, np.uint8, meta), "chunk 1 .* is a ndarray, .* SciPy sparse"
    )
    refused(lazily([X[:20], "no array"], shapes), "chunk 1 .* it is a str, but dask expects a NumPy array")
    refused(lazily([X[:20], None], shapes), "chunk 1 .* it is a NoneType")
    blanks = holes(X[:20], 0.2)
    refused(lazily([X[:20], blanks], shapes, np.uint8), "a cell is missing, although the type of the cells allows no")
    assert_reads(open_table(lazily([X[:20], X[:20].astype(float)], shapes, np.uint8)), np.concatenate([X[:20]] * 2))
    masked = np.ma.array(X[:20], mask=False)
    assert_reads(open_table(lazily([X[:20], masked], shapes, np.uint8)), np.concatenate([X[:20]] * 2))
    masked[3, 3] = np.ma.masked
    refused(lazily([X[:20], masked], shapes, np.uint8), "a cell is missing")


def test_partitions_that_were_told_wrongly():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    good = pd.DataFrame(X, columns=list("abcdefg"))

    def made(second):
        parts = [dask.delayed(lambda part=part: part)() for part in (good, second)]
        return dd.from_delayed(parts, meta=good[:0], verify_meta=False)

    refused(made(good.iloc[:, :6]), r"chunk 1 \(row 60 and after\): it has 60 rows of the columns a, b, c, d, e, f")
    refused(made(good.rename(columns={"c": "x"})), "chunk 1 .* columns a, b, x, d, e, f, g, but dask expects")
    refused(made(good[list("bacdefg")]), "chunk 1 .* columns b, a, c, d, e, f, g, but dask expects")
    refused(made(X), r"chunk 1 .*it is a ndarray, but dask expects a frame")
    refused(made(good.assign(d=[None] * 59 + ["x"])), "- 'd': nominal values 0, 1, 'x'")
    for kind in (float, str):
        assert_reads(open_table(made(good.astype(kind))), np.concatenate([X, X]))
    without = np.where(np.arange(7) == 3, nan, X)
    assert_reads(open_table(made(good.assign(d=None))), np.concatenate([X, without]))


def test_damaged_sparse_chunks():
    def broken(block):
        made = sparse.csr_array(block)
        made.indices[-1] = 9
        return made

    meta = sparse.csr_array((0, 0), dtype=np.uint8)
    array = da.concatenate([da.from_array(X[:40], chunks=20).map_blocks(sparse.csr_array, meta=meta)] * 1)
    array = da.concatenate([array, da.from_array(X[:20], chunks=20).map_blocks(broken, meta=meta)])
    refused(array, r"chunk 2 \(row 40 and after\): The sparse table is damaged: indices must be < 7")
    twice = sparse.coo_array(([1, 1], ([3, 3], [2, 2])), shape=(20, 7))
    blocks = [sparse.coo_array(X[:20]), twice]
    refused(
        lazily(blocks, [(20, 7)] * 2, np.int64, sparse.coo_array((0, 0), dtype=np.int64)),
        "^row 23, column 2: the sparse table holds two values for this cell",
    )


class NotOursError(Exception):
    pass


def test_chunks_that_raise():
    def fails(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 2:
            raise NotOursError("no   more\nchunks")
        return block

    for error in (NotOursError, ZeroDivisionError, MemoryError, KeyError, StopIteration):

        def also_fails(block, error=error):
            raise error("no more chunks")

        array = da.from_array(X, chunks=(20, 7)).map_blocks(also_fails, meta=np.zeros((0, 0), np.uint8))
        refused(
            array,
            rf"rows 0 to 59 cannot be computed by dask \({error.__name__}: .*no more chunks.*Fix the code that creates",
        )
    array = da.from_array(X, chunks=(20, 7)).map_blocks(fails, meta=np.zeros((0, 0), np.uint8))
    table = open_table(array)
    assert table.source.read(0, 40)[0].shape == (40, 7)
    with pytest.raises(TableError, match=r"rows 30 to 49 cannot be computed by dask \(NotOursError: no more chunks\)"):
        table.source.read(30, 50)
    floats = da.from_array(X.astype(float), chunks=(20, 7)).map_blocks(also_fails, meta=np.zeros((0, 0)))
    refused(floats, "rows 0 to 59 cannot be computed by dask")
    refused(frame(X).map_partitions(also_fails, meta=frame(X)._meta), "chunks 0 to 3 cannot be computed by dask")


def test_chunks_that_are_not_the_same_each_time():
    calls = []

    def grows(block):
        calls.append(1)
        return np.repeat(block, 1 + len(calls) // 4, axis=0)

    array = da.from_array(X, chunks=(20, 7)).map_blocks(
        grows, meta=np.zeros((0, 0), np.uint8), chunks=((nan,) * 3, (7,))
    )
    table = open_table(array)
    assert table.shape == (60, 7)
    with pytest.raises(
        TableError, match=r"chunk 0 \(row 0 and after\): its shape is \(40, 7\), but dask expects \(20, 7\)"
    ):
        table.to_float()
