"""Parquet files with columns of several kinds, against the same rows as a frame in memory."""

import datetime
from itertools import pairwise

import numpy as np
import pytest

import hiddenbits
from hiddenbits import TableError, open_table
from hiddenbits.data.mixed.encode import encode, open_mixed, raw_columns

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def arrow_frame(seed, n=700, missing=0.15):
    """Columns of every type that may be of some kind; the first rows show little of what comes later."""
    rng = np.random.default_rng(seed)
    late = np.arange(n) >= n // 2
    sizes = pa.array(["small", "medium", "large", "never"])
    columns = {
        "flag": pa.array(rng.integers(0, 2, n).astype(bool)),
        "bit": pa.array(rng.integers(0, 2, n).astype(np.int8)),
        "one": pa.array(rng.integers(0, 2, n).astype(np.float32)),
        "mass": pa.array(np.where(late, rng.normal(size=n), rng.integers(0, 2, n))),  # 0 and 1 in the first half
        "legs": pa.array(2 * rng.integers(0, 4, n)),
        "word": pa.array(np.where(late, "late", np.array(["a", "b", "c"])[rng.integers(0, 3, n)])),
        "coded": pa.array(np.array(["x", "y", "z"])[rng.integers(0, 3, n)]).dictionary_encode(),
        "size": pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 3, n)), sizes, ordered=True),
    }
    holed = {}
    for name, column in columns.items():
        gone = rng.random(n) < missing
        if name == "word":
            gone[: n // 4] = True  # whole row groups without a cell
        if pa.types.is_dictionary(column.type):
            indices = pa.array(np.asarray(column.indices), mask=gone)
            holed[name] = pa.DictionaryArray.from_arrays(indices, column.dictionary, ordered=column.type.ordered)
        else:
            holed[name] = pa.array(np.asarray(column), column.type, mask=gone)
    return pa.table(holed)


KINDS = {"legs": "ordered"}
FOUND = ["binary", "binary", "binary", "real", "ordered", "nominal", "nominal", "ordered"]


def written(frame, folder, n_files=3, group=90):
    """The rows in several files of several row groups."""
    cuts = np.linspace(0, len(frame), n_files + 1).astype(int)
    for k, (start, stop) in enumerate(pairwise(cuts)):
        pq.write_table(frame.slice(start, stop - start), folder / f"part{k}.parquet", row_group_size=group)
    return f"{folder}/*.parquet"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_cells_are_those_of_the_frame(tmp_path, seed, missing):
    frame = arrow_frame(seed, missing=missing)
    held = open_mixed(frame, kinds=KINDS)
    table = open_table(written(frame, tmp_path), kinds=KINDS, part_bytes=3000)
    assert [column.kind for column in table.layout.columns] == FOUND
    assert table.layout == held.layout
    assert table.layout.columns[-1].categories == ("small", "medium", "large", "never")
    assert (table.shape, table.names) == (held.shape, held.names)
    assert not table.source.resident
    assert table.n_missing == held.n_missing
    np.testing.assert_array_equal(table.to_float(), held.to_float())
    rng = np.random.default_rng(seed)
    for start, stop in [(50, 50), *np.sort(rng.integers(0, 701, (8, 2)), axis=1)]:
        x, observed = table.source.read(int(start), int(stop))
        mine, theirs = held.source.read(int(start), int(stop))
        np.testing.assert_array_equal(x.operand(), mine.operand())
        np.testing.assert_array_equal(observed.to_dense(), theirs.to_dense())
    grid = table.grid(16)
    assert grid.n_parts > 3
    parts = [grid.load(i) for i in range(grid.n_parts)]
    assert len({type(part.observed) for part in parts}) == 1
    np.testing.assert_array_equal(np.concatenate([part.x.operand() for part in parts]), held.source.x.operand())


def test_frames_of_pandas_and_polars_come_back_as_they_were(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    size = ["l", "s", None, "m", "s"]
    pandas = pd.DataFrame(
        {"size": pd.Categorical(size, categories=["s", "m", "l"], ordered=True), "mass": [0.5, 1, 2, 3, np.nan]}
    )
    pandas.to_parquet(tmp_path / "pandas.parquet", row_group_size=2)
    polars = pl.DataFrame({"size": pl.Series(size, dtype=pl.Enum(["s", "m", "l"])), "mass": [0.5, 1, 2, 3, None]})
    polars.write_parquet(tmp_path / "polars.parquet", row_group_size=2)
    for frame, kinds in ((pandas, "auto"), (polars, "auto"), (polars, {"size": "ordered"})):
        name = "pandas" if frame is pandas else "polars"
        table, held = open_table(tmp_path / f"{name}.parquet", kinds=kinds), open_mixed(frame, kinds=kinds)
        assert [(c.kind, c.categories) for c in table.layout.columns] == [
            (c.kind, c.categories) for c in held.layout.columns
        ]
        np.testing.assert_array_equal(table.to_float(), held.to_float())


def test_a_model_gives_kinds_and_categories(tmp_path):
    frame = arrow_frame(0)
    model = hiddenbits.LogisticPCA(1, kinds=KINDS, max_iter=30, tol=1e-2, random_state=0).fit(frame)
    few = frame.slice(0, 40)  # without most of the categories
    pq.write_table(few, tmp_path / "few.parquet")
    table = open_table(tmp_path / "few.parquet", kinds=model)
    assert table.layout == model.layout_
    np.testing.assert_array_equal(table.to_float(), encode(raw_columns(few)[0], model.layout_).to_float())
    other = frame.set_column(5, "word", pa.array(["mauve"] * 700))
    pq.write_table(other.slice(0, 300), tmp_path / "other.parquet", row_group_size=100)
    strange = open_table(tmp_path / "other.parquet", kinds=model)
    with pytest.raises(
        TableError, match=r"other.parquet: row 200, column 5 \('word'\): 'mauve' is not among the categories"
    ):
        strange.source.read(200, 300)
    with pytest.raises(TableError, match="select them with columns="):
        open_table(tmp_path / "few.parquet", kinds=model, drop=["flag"])
    with pytest.raises(TypeError, match="fitted to columns of several kinds"):
        open_table(tmp_path / "few.parquet", kinds=hiddenbits.LogisticPCA(1))


def test_tables_of_bits_stay_tables_of_bits(tmp_path):
    frame = arrow_frame(0).select(["flag", "bit", "one"])
    table = open_table(written(frame, tmp_path), kinds="auto")
    assert table.only_bits
    np.testing.assert_array_equal(table.to_float(), open_table(frame).to_float())


def test_columns_and_names_are_chosen(tmp_path):
    paths = written(arrow_frame(0), tmp_path)
    table = open_table(paths, kinds=KINDS, columns=["legs", "mass"])
    assert table.layout.labels() == ["legs>0", "legs>2", "legs>4", "mass"]
    names = ["flag", "bit", "one", "masse", "beine", "word", "coded", "size"]
    table = open_table(paths, kinds={"beine": "nominal"}, columns=["beine", "masse"], names=names)
    assert table.names == ("beine", "masse")
    assert table.layout.labels() == ["masse", "beine=0", "beine=2", "beine=4", "beine=6"]
    np.testing.assert_array_equal(np.nanmax(table.to_float(), axis=0)[1:], [1, 1, 1, 1])


def test_an_order_may_be_listed(tmp_path):
    frame = arrow_frame(0).select(["word", "mass"])
    table = open_table(written(frame, tmp_path), kinds={"word": ["late", "c", "b", "a"]})
    held = open_mixed(frame, kinds={"word": ["late", "c", "b", "a"]})
    assert table.layout.columns[0].kind == "ordered"
    np.testing.assert_array_equal(table.to_float(), held.to_float())
    with pytest.raises(TableError, match=r"'a' is not among the categories of the fit: 'late', 'c', 'b'"):
        open_table(f"{tmp_path}/*.parquet", kinds={"word": ["late", "c", "b"]}).to_float()
    with pytest.raises(TableError, match=r"order of its categories is not known. List them.*kinds=\{'word': \[...\]\}"):
        open_table(f"{tmp_path}/*.parquet", kinds={"word": "ordered"})


def test_an_order_that_changes_is_refused_until_it_is_listed(tmp_path):
    for k, order in enumerate((["s", "m", "l"], ["l", "m", "s"])):
        size = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(order), ordered=True)
        pq.write_table(pa.table({"size": size}), tmp_path / f"{k}.parquet")
    with pytest.raises(TableError, match=r"1.parquet: column 'size': the order .* differs between parts"):
        open_table(f"{tmp_path}/*.parquet", kinds="auto")
    table = open_table(f"{tmp_path}/*.parquet", kinds={"size": ["s", "m", "l"]})
    nan = np.nan
    np.testing.assert_array_equal(table.to_float(), [[0, nan], [1, 0], [1, 1], [1, 1], [1, 0], [0, nan]])


def test_what_cannot_be_told_is_refused_with_its_place(tmp_path):
    late = pa.table({"n": [0, 1] * 100 + [7] + [1] * 99})
    pq.write_table(late, tmp_path / "late.parquet", row_group_size=50)
    with pytest.raises(TableError, match=r"late.parquet: row 200, column 0 \('n'\): 7 is not a bit.*'real'.*leave"):
        open_table(tmp_path / "late.parquet", kinds="auto")
    dates = pa.table({"day": [datetime.date(2020, 1, 1)], "x": [0.5]})
    pq.write_table(dates, tmp_path / "dates.parquet")
    with pytest.raises(TableError, match=r"dates.parquet: column 0 \('day'\) is of type Date.*drop the column"):
        open_table(tmp_path / "dates.parquet", kinds="auto")
    pq.write_table(pa.table({"id": [str(k) for k in range(1001)]}), tmp_path / "ids.parquet")
    with pytest.raises(TableError, match=r"ids\.parquet: column 'id' has more than 1000 categories"):
        open_table(tmp_path / "ids.parquet", kinds="auto")
    pq.write_table(pa.table({"x": [0.5]}), tmp_path / "typed0.parquet")
    pq.write_table(pa.table({"x": ["a"]}), tmp_path / "typed1.parquet")
    with pytest.raises(TableError, match=r"typed1.parquet: column 'x' has type string, but double in typed0.parquet"):
        open_table(f"{tmp_path}/typed*.parquet", kinds="auto")
    pq.write_table(pa.table({"x": [0.5, np.inf]}), tmp_path / "inf.parquet")
    with pytest.raises(TableError, match=r"inf.parquet: column 0 \('x'\): inf in row 1"):
        open_table(tmp_path / "inf.parquet", kinds="auto").to_float()


def test_what_does_not_go_together(tmp_path):
    path = written(arrow_frame(0), tmp_path)
    for options in ({"threshold": 0.5}, {"blank": "zero"}):
        with pytest.raises(TypeError, match="kinds= uses cells as they are"):
            open_table(path, kinds="auto", **options)
    with pytest.raises(TableError, match="not for lists or pairs"):
        open_table(path, kinds="auto", row="legs", item="word")
    with pytest.raises(TypeError, match="already open"):
        open_table(open_table(np.eye(3)), kinds="auto")
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(TypeError, match="kinds= is not an option of the npy reader"):
        open_table(tmp_path / "x.npy", kinds="real")
    with pytest.raises(TableError, match=r"3 columns need a decision(.|\n)*'word': categories(.|\n)*LogisticPCA"):
        open_table(path, drop=["mass", "legs"])


def test_a_file_that_was_replaced_is_noticed(tmp_path):
    """A blank in a table that had none would need a mask that the other parts do not have."""
    words = ["aa", "bb", "cc"] * 40
    pq.write_table(pa.table({"w": words, "x": np.arange(120) / 7}), tmp_path / "t.parquet", compression="none")
    table = open_table(tmp_path / "t.parquet", kinds="auto")
    assert table.n_missing == 0
    size = (tmp_path / "t.parquet").stat().st_size
    blank = np.where(np.arange(120) == 5, np.nan, np.arange(120) / 7)
    pq.write_table(pa.table({"w": words, "x": blank}), tmp_path / "t.parquet", compression="none")
    told = "cell is blank" if (tmp_path / "t.parquet").stat().st_size == size else "has changed"
    with pytest.raises(TableError, match=told):
        table.source.read(0, 120)


def test_files_of_arrow_itself_are_read_as_frames(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    frame = arrow_frame(0)
    feather.write_feather(frame, tmp_path / "t.feather")
    table = open_table(tmp_path / "t.feather", kinds=KINDS)
    np.testing.assert_array_equal(table.to_float(), open_mixed(frame, kinds=KINDS).to_float())


def test_addresses_are_read_where_they_are():
    fsspec = pytest.importorskip("fsspec")
    frame = arrow_frame(0)
    with fsspec.open("memory://mixed/t.parquet", "wb") as file:
        pq.write_table(frame, file, row_group_size=100)
    table = open_table("memory://mixed/t.parquet", kinds=KINDS)
    assert not table.source.resident
    np.testing.assert_array_equal(table.to_float(), open_mixed(frame, kinds=KINDS).to_float())


def test_odd_types(tmp_path):
    """Nulls without a type, decimals, half floats, long strings, unsigned numbers."""
    from decimal import Decimal

    frame = pa.table(
        {
            "null": pa.nulls(4),
            "decimal": pa.array([Decimal("1.5"), None, Decimal(2), Decimal(0)]),
            "unsigned": pa.array([1, 0, 1, None], pa.uint64()),
            "long": pa.array(["a", "b", None, "a"], pa.large_string()),
            "half": pa.array([0.5, 1, None, 2], pa.float16()),
        }
    )
    pq.write_table(frame, tmp_path / "odd.parquet", row_group_size=2)
    table = open_table(tmp_path / "odd.parquet", kinds="auto")
    assert table.layout == open_mixed(frame).layout
    assert [column.kind for column in table.layout.columns] == ["binary", "real", "binary", "nominal", "real"]
    nan = np.nan
    expected = [[nan, 1, 0, 1.5, 0.5], [nan, 0, 1, nan, 1], [nan, 1, nan, 2, nan], [nan, nan, 0, 0, 2]]
    np.testing.assert_array_equal(table.to_float(), expected)
