"""One table of yes and no, with an id and blanks, through every door: the same bits, names, coding and fitted model."""

import datetime
import json
import warnings

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.data.named import streams
from hiddenbits.data.named.parquet import open as open_parquet

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")
ROWS, COLUMNS = 120, 12  # nearly all rows differ, so that they are not collapsed where they are in memory


def columns():
    """The table as lists of Python objects; None is a blank."""
    rng = np.random.default_rng(0)
    cells = rng.choice(["yes", "no", None], (ROWS, COLUMNS), p=[0.45, 0.45, 0.1])
    return {"who": [f"p{k:03}" for k in range(ROWS)]} | {f"q{j}": cells[:, j].tolist() for j in range(COLUMNS)}


TABLE = columns()
FRAME = pd.DataFrame(TABLE)
ARROW = pa.table(TABLE)


def with_duckdb():
    relation = pytest.importorskip("duckdb").from_arrow(ARROW)
    return relation.order("who")


def dataset(folder):
    for k in range(3):
        pq.write_table(ARROW.slice(50 * k, 50), folder / f"{k}.parquet")
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def sheet(path, engine, package):
    pytest.importorskip("python_calamine")
    pytest.importorskip(package)
    FRAME.to_excel(path, index=False, engine=engine)
    return path


def labeled(path, writer):
    getattr(pytest.importorskip("pyreadstat"), writer)(FRAME, path)
    return path


def text(path, separator):
    FRAME.to_csv(path, index=False, sep=separator)
    return path


def lines(path):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ARROW.to_pylist()))
    return path


def feather(path):
    pytest.importorskip("pyarrow.feather").write_feather(ARROW, path)
    return path


def parquet(path):
    pq.write_table(ARROW, path, row_group_size=50)
    return path


def delta(folder):
    write = pytest.importorskip("deltalake").write_deltalake
    for k in range(3):
        write(folder, ARROW.slice(50 * k, 50), mode="append")
    return folder


DOORS = {
    "csv": lambda folder: text(folder / "t.csv", ","),
    "semicolons": lambda folder: text(folder / "t.csv", ";"),
    "tsv": lambda folder: text(folder / "t.tsv", "\t"),
    "xlsx": lambda folder: sheet(folder / "t.xlsx", "openpyxl", "openpyxl"),
    "ods": lambda folder: sheet(folder / "t.ods", "odf", "odf"),
    "sav": lambda folder: labeled(folder / "t.sav", "write_sav"),
    "dta": lambda folder: labeled(folder / "t.dta", "write_dta"),
    "jsonl": lambda folder: lines(folder / "t.jsonl"),
    "feather": lambda folder: feather(folder / "t.feather"),
    "parquet": lambda folder: parquet(folder / "t.parquet"),
    "parquet on disk": lambda folder: parquet(folder / "t.parquet"),
    "pandas": lambda _: FRAME,
    "polars": lambda _: pytest.importorskip("polars").from_arrow(ARROW),
    "LazyFrame": lambda _: pytest.importorskip("polars").from_arrow(ARROW).lazy(),
    "LazyFrame on disk": lambda _: pytest.importorskip("polars").from_arrow(ARROW).lazy(),
    "DuckDB": lambda _: with_duckdb(),
    "DuckDB on disk": lambda _: with_duckdb(),
    "Arrow": lambda _: ARROW,
    "Arrow dataset": dataset,
    "Arrow dataset on disk": dataset,
    "Delta": delta,
    "Delta on disk": delta,
    "RecordBatchReader": lambda _: pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches(7)),
    "RecordBatchReader on disk": lambda _: pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches(7)),
    "dict": lambda _: TABLE,
    "records": lambda _: ARROW.to_pylist(),
}


def fitted(table):
    return LatentClassAnalysis(2, max_iter=5, n_init=1, tol=0, random_state=0).fit(table)


@pytest.fixture(scope="module")
def expected():
    """What numpy says."""
    cells = np.array([TABLE[f"q{j}"] for j in range(COLUMNS)], object).T
    bits = np.where(cells == "yes", 1.0, np.where(cells == "no", 0.0, np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five passes are not enough
        return bits, fitted(bits)


@pytest.mark.parametrize("door", DOORS)
def test_the_same_table_through_every_door(tmp_path, monkeypatch, expected, door):
    if door.endswith("on disk"):
        monkeypatch.setattr(streams, "KEEP_BYTES", 100)
        monkeypatch.setattr(open_parquet, "SMALL_BYTES", 100)
    bits, model = expected
    with warnings.catch_warnings(record=True, action="always") as said:
        table = open_table(DOORS[door](tmp_path))
        found = fitted(table)
    assert {"RecodedColumnsWarning", "ExcludedColumnsWarning"} <= {one.category.__name__ for one in said}
    assert table.source.resident != door.endswith("on disk")
    np.testing.assert_array_equal(table.to_float(), bits)
    assert table.names == tuple(f"q{j}" for j in range(COLUMNS))
    assert table.beside == {"who": TABLE["who"]}
    assert [(c.name, c.how, c.ones, c.zeros, c.missing, c.if_missing) for c in table.coding.columns] == [
        (name, "values", ("yes",), ("no",), (), None) for name in table.names
    ]
    assert table.coding.excluded == ("who",)
    assert found.coding_ == table.coding
    for name, value in vars(model._params).items():
        assert np.array_equal(vars(found._params)[name], value), name


ONE_TO_FIVE = ["never", "rarely", None, "often", "always"]
DAYS = [datetime.date(2024, 1, 1 + k % 28) for k in range(60)]
# By what a table has: its columns, and options.
TABLES = {
    "0 and 1 and missing values": ({"a": [1, 0, None] * 20, "b": [True, False, True] * 20}, {}),
    "labels": ({"a": ONE_TO_FIVE * 12, "b": ["red", "green", "blue"] * 20}, {"column_types": "auto"}),
    "numbers for yes and no": ({"a": [1, 2, 2] * 20, "b": [1, None, 2] * 20}, {}),
    "dates": ({"day": DAYS, "a": ["yes", "no", None] * 20}, {}),
    "ids": ({"who": [f"p{k}" for k in range(60)], "nr": list(range(60)), "a": ["x", "y", "y"] * 20}, {}),
    "mixed types": ({"a": [1, 2, "other"] * 20, "b": [0, "no", 1.5] * 20}, {"column_types": "nominal"}),
    "codes for missing": (
        {"a": [0, 1, -99] * 20, "b": ["yes", "no", "don't know"] * 20},
        {"missing": [-99, "don't know"]},
    ),
    "a threshold": ({"a": np.float32([0.1, 0.2, 0.3] * 20), "b": [0.1, None, 2.5] * 20}, {"threshold": 0.1}),
}


def arrow_of(columns):
    """Return an Arrow table, columns of mixed types as text."""
    mixed = {name for name, cells in columns.items() if len({type(cell) for cell in cells if cell is not None}) > 1}
    text = {name: [None if cell is None else str(cell) for cell in columns[name]] for name in mixed}
    return pa.table({**columns, **text})


def with_csv(columns, folder):
    frame = pd.DataFrame(
        {name: pd.Series(cells, dtype=getattr(cells, "dtype", object)) for name, cells in columns.items()}
    )
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def with_parquet(columns, folder):
    pq.write_table(arrow_of(columns), folder / "t.parquet", row_group_size=25)
    return folder / "t.parquet"


CONTAINERS = {
    "CSV": with_csv,
    "Arrow": lambda columns, _: arrow_of(columns),
    "polars": lambda columns, _: pytest.importorskip("polars").from_arrow(arrow_of(columns)),
    "Parquet": with_parquet,
    "Parquet on disk": with_parquet,
    "a stream": lambda columns, _: arrow_of(columns).to_reader(25),
    "a stream on disk": lambda columns, _: arrow_of(columns).to_reader(25),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("table", TABLES)
def test_a_frame_its_csv_its_parquet_and_its_stream_give_the_same_bits(tmp_path, monkeypatch, table, container):
    columns, options = TABLES[table]
    if container.endswith("on disk"):
        monkeypatch.setattr(streams, "KEEP_BYTES", 100)
        monkeypatch.setattr(open_parquet, "SMALL_BYTES", 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = open_table(pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()}), **options)
        found = open_table(CONTAINERS[container](columns, tmp_path), **options)
    np.testing.assert_array_equal(found.to_float(), expected.to_float())
    assert type(found.source.read(0, 60)[1]) is type(expected.source.read(0, 60)[1])
    assert (found.names, list(found.beside)) == (expected.names, list(expected.beside))
    assert (found.coding is None) == (expected.coding is None)
    if found.coding is not None:
        assert found.coding.conflict(expected.coding) is None
