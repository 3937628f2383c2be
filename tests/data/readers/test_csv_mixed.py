"""CSV files with columns of several kinds, against the same rows as an array or frame."""

import gzip

import numpy as np
import pytest

from hiddenbits import ColumnsCodedWarning, Table, TableError, open_table
from hiddenbits.data.mixed.encode import open_mixed
from hiddenbits.data.readers.text import rows as text_rows
from hiddenbits.data.readers.text.files import open_text

pytestmark = pytest.mark.core

nan = np.nan
TEXT = """flag,bit,mass,legs,word,size
TRUE, 0 ,1.5,4,red,small
false,1,,2,"b, l",large
NA,?,-2e3,8,null,medium
True,0,.25,4,red,
"""
CELLS = np.array(
    [
        [True, 0, 1.5, 4, "red", "small"],
        [False, 1, None, 2, "b, l", "large"],
        [None, None, -2e3, 8, None, "medium"],
        [True, 0, 0.25, 4, "red", None],
    ],
    dtype=object,
)
KINDS = {"legs": "ordered", "size": ["small", "medium", "large"]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text(TEXT)
    return path


def test_cells_are_those_of_the_array(file):
    table = open_table(file, kinds=KINDS)
    held = open_mixed(CELLS, kinds=KINDS, names=["flag", "bit", "mass", "legs", "word", "size"])
    assert table.names == ("flag", "bit", "mass", "legs", "word", "size")
    assert table.layout == held.layout
    assert [column.kind for column in table.layout.columns] == [
        "binary",
        "binary",
        "real",
        "ordered",
        "nominal",
        "ordered",
    ]
    assert table.layout.columns[3].categories == (2, 4, 8)
    np.testing.assert_array_equal(table.to_float(), held.to_float())
    labels = table.layout.labels()
    assert labels == ["flag", "bit", "legs>2", "legs>4", "word>b, l", "size>small", "size>medium", "mass"]
    expected = [
        [1, 0, 1, 0, 1, 0, nan, 1.5],
        [0, 1, 0, nan, 0, 1, 1, nan],
        [nan, nan, 1, 1, nan, 1, 0, -2e3],
        [1, 0, 1, 0, 1, nan, nan, 0.25],
    ]
    np.testing.assert_array_equal(table.to_float(), expected)


def test_several_files_gzipped_and_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.readers.csv.CHUNK_CELLS", 18)  # 3 rows
    head, *rows = TEXT.splitlines()
    (tmp_path / "a1.csv").write_text("\n".join([head, *rows, *rows[:1]]))
    with gzip.open(tmp_path / "a2.csv.gz", "wt") as file:
        file.write("\n".join([head, *rows[1:]]))
    table = open_table([tmp_path / "a1.csv", tmp_path / "a2.csv.gz"], kinds=KINDS)
    order = [0, 1, 2, 3, 0, 1, 2, 3]
    held = open_mixed(CELLS[order], kinds=KINDS, names=head.split(","))
    np.testing.assert_array_equal(table.to_float(), held.to_float())


def test_numbers_among_words_are_words(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code,x\n07,1.5\nA1,2.5\n7,0.5\n")
    assert open_table(path, kinds="auto").layout.columns[0].categories == ("07", "7", "A1")
    path.write_text("code,x\n07,1.5\n1,2.5\n7,0.5\n")
    assert open_table(path, kinds={"code": "nominal"}).layout.columns[0].categories == (1, 7)


def test_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1.5,a\n2.5,b\n")
    with pytest.raises(TableError, match=r"line 1 has a number \('1.5'\). Set header=True .* header=False"):
        open_table(path, kinds="auto")
    table = open_table(path, kinds="auto", header=False)
    assert (table.shape, table.names) == ((2, 2), None)
    assert open_table(path, kinds="auto", header=False, names=["x", "y"]).names == ("x", "y")
    path.write_text("1,2\n2.5,b\n3.5,a\n")
    assert open_table(path, kinds="auto", header=True).names == ("1", "2")
    assert open_table(path, kinds="real", header=True, columns=["1"]).to_float().tolist() == [[2.5], [3.5]]


def test_tables_of_bits_stay_tables_of_bits(tmp_path, monkeypatch):
    """They are those that the reader of bits gives, from one reading of the file."""
    (tmp_path / "t.csv").write_text("a,b,c\n0,1,true\n1,,False\n")
    bits = open_table(tmp_path / "t.csv")
    opened = []
    monkeypatch.setattr(text_rows, "open_text", lambda *args: opened.append(args) or open_text(*args))
    table = open_table(tmp_path / "t.csv", kinds="auto")
    assert type(table) is type(bits) is Table
    assert table.names == bits.names == ("a", "b", "c")
    np.testing.assert_array_equal(table.to_float(), bits.to_float())
    np.testing.assert_array_equal(table.to_float(), [[0, 1, 1], [1, nan, 0]])
    assert len(opened) == 1


def test_bits_in_the_first_line_are_no_names(tmp_path):
    """A row would be lost without a word."""
    (tmp_path / "t.csv").write_text("true\nfalse\n")
    with pytest.raises(TableError, match=r"line 1 has only bits or blanks \('true'\). Set .* header="):
        open_table(tmp_path / "t.csv", kinds="auto")
    np.testing.assert_array_equal(open_table(tmp_path / "t.csv", kinds="auto", header=False).to_float(), [[1], [0]])
    (tmp_path / "t.csv").write_text("true,found\n0.5,a\n1.5,b\n")
    assert open_table(tmp_path / "t.csv", kinds="auto").names == ("true", "found")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "the file is empty"),
        ("a,b\n", {}, "has no rows"),
        ("a,a\n1.5,2\n", {}, "Two columns are called 'a'"),
        ("a,b\n1.5,x\n1.5\n", {}, "line 3: 1 cells, but the first line has 2"),
        ('a,b\n1.5,"x\n', {}, "line 2: .*Fix the line"),
        ("a\n7\n1\n", {}, r"t.csv: One column needs a decision(.|\n)*'a': 7 \(1 cell\) looks like a code for missing"),
        ("a\n1.5\n1.5\ninf\n", {}, r"row 2, column 0 \('a'\): 'inf' is neither a finite number nor"),
        ("a\nx\ny\n", {"kinds": {"a": "ordered"}}, r"kinds=\{'a': \[...\]\}"),
        ("a\nx\ny\n", {"kinds": {"a": ["x", "z"]}}, r"row 1, column 0 \('a'\): 'y' is not among the categories"),
        ("a\nx\ny\n", {"kinds": {"b": "real"}}, "'b', but there is no such column"),
        ("a\nx\ny\n", {"kinds": {"a": []}}, "text or finite numbers"),
        ("a,b\nx,1.5\n", {"drop": ["c"]}, "drop= names 'c'"),
    ],
)
def test_refusals(tmp_path, text, options, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TableError, match=message):
        open_table(tmp_path / "t.csv", **{"kinds": "auto", **options})


def test_other_columns_in_a_table_of_bits(file):
    with pytest.raises(
        TableError, match=r"need a decision(.|\n)*LogisticPCA takes ordered values and categories as they are"
    ):
        open_table(file, drop=["mass"], header=True)


def test_frames_and_arrays_through_the_same_door():
    table = open_table(CELLS[:, 2:3].astype(float), kinds="real", names=["mass"])
    assert table.names == ("mass",)
    assert open_table(np.eye(3), kinds="auto").only_bits  # as LogisticPCA takes arrays
    with pytest.raises(TableError, match=r"0\.5 is not a bit"):
        open_table(np.array([[0.5]]), kinds="auto")
    with pytest.raises(TableError, match="2 names were given for 1 columns"):
        open_table(np.array([[0.5]]), kinds="real", names=["a", "b"])
    with pytest.raises(TypeError, match="several kinds"):
        open_table(CELLS, kinds=3)
    from scipy import sparse

    with pytest.raises(TableError, match="write them to Parquet"):
        open_table(sparse.eye_array(3), kinds="real")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [0.5, 1.5], "b": ["x", "y"]})
    np.testing.assert_array_equal(open_table(frame, kinds="auto").to_float(), open_mixed(frame).to_float())
    with pytest.warns(ColumnsCodedWarning, match="y = 1, x = 0 in 'b'"):
        np.testing.assert_array_equal(open_table(frame[["b"]]).to_float(), [[0], [1]])


def test_hidden_cells_are_hidden_whole():
    """All the numbers of a hidden cell, and none of another; the same wherever the rows are read."""
    from hiddenbits import hide_cells
    from tests.contracts.conftest import NotResident
    from tests.families.logistic_pca.mixed.mixed_data import KINDS as ALL
    from tests.families.logistic_pca.mixed.mixed_data import mixed_rows

    rows = mixed_rows(0, n=500)
    table = open_table(rows, kinds=ALL)
    hidden = hide_cells(table, 0.3, seed=1)
    gone = table.seen() & ~hidden.seen()
    assert 0.25 < gone.sum() / table.seen().sum() < 0.35
    assert hidden.n_missing == table.n_missing + gone.sum()
    blank = np.where(gone, nan, rows)
    from hiddenbits.data.mixed.encode import encode, raw_columns

    np.testing.assert_array_equal(hidden.to_float(), encode(raw_columns(blank)[0], table.layout).to_float())
    from dataclasses import replace

    parts = hide_cells(replace(table, source=NotResident(table.source)), 0.3, seed=1)
    assert parts.layout == table.layout
    np.testing.assert_array_equal(parts.to_float(), hidden.to_float())
    later = hide_cells(table.of_rows(*table.source.read(300, 500), None), 0.3, seed=1, first_row=300)
    np.testing.assert_array_equal(later.to_float(), hidden.to_float()[300:])
    # A bit of the same table is hidden where the same cell of a table of bits is.
    bits = hide_cells(open_table(np.ones(rows.shape)), 0.3, seed=1)
    assert np.array_equal(np.isnan(bits.to_float()) & table.seen(), gone)
