"""Files of SPSS and Stata, written by pyreadstat: labels, declared missing codes, and the bits of the same CSV file."""

import sys

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.data.named.labeled import _columns
from hiddenbits.exceptions import RecodedColumnsWarning, TableError

statistics = pytest.importorskip("pyreadstat")
pandas = pytest.importorskip("pandas")
FRAME = pandas.DataFrame(
    {
        "q1": [1.0, 2.0, 9.0, 1.0],
        "q2": [0.0, 1.0, 1.0, None],
        "q3": [3.0, 1.0, 2.0, -99.0],
        "age": [30.5, 41.0, 89.0, 18.0],
        "town": ["Bern", "Rom", "", "Bern"],
    }
)
LABELS = {
    "q1": {1: "yes", 2: "no", 9: "refused"},
    "q2": {0: "no", 1: "yes"},
    "q3": {1: "never", 2: "at times", 3: "always"},
    "age": {89: "89 or older"},
}


def write(path, frame=FRAME, **options):
    kind = statistics.write_dta if path.suffix == ".dta" else statistics.write_sav
    kind(frame, path, variable_value_labels={k: v for k, v in LABELS.items() if k in frame}, **options)
    return path


def columns(path, **options):
    given = {"labels": True, "encoding": None, "max_bytes": 1 << 30} | options
    return {column.name: column for column in _columns(path, **given)}


@pytest.mark.parametrize("name", ["x.sav", "x.zsav"])
def test_labels_and_declared_missing_codes(tmp_path, name):
    path = write(
        tmp_path / name,
        missing_ranges={"q1": [9], "q3": [{"lo": -99, "hi": -1}]},
        variable_measure={"q3": "ordinal"},
        **({"compress": True} if name == "x.zsav" else {}),
    )
    by_name = columns(path)
    assert by_name["q1"].listed() == ["yes", "no", None, "yes"]
    np.testing.assert_array_equal(by_name["q2"].numbers(), [0, 1, 1, np.nan])  # bits stay bits
    np.testing.assert_array_equal(by_name["age"].numbers(), [30.5, 41, 89, 18])  # labeled in part
    assert by_name["town"].listed() == ["Bern", "Rom", None, "Bern"]
    np.testing.assert_array_equal(columns(path, labels=False)["q1"].numbers(), [1, 2, np.nan, 1])


def test_codes_that_are_not_declared_stay(tmp_path):
    by_name = columns(write(tmp_path / "x.sav"))
    assert by_name["q1"].listed() == ["yes", "no", "refused", "yes"]
    np.testing.assert_array_equal(by_name["q3"].numbers(), [3, 1, 2, -99])


def test_labels_say_which_value_is_yes(tmp_path):
    """Also where two declared missing codes share a label, and where 0 is yes."""
    frame = pandas.DataFrame(
        {"q1": [1.0, 2.0, 9.0, 8.0, 1.0], "q2": [0.0, 1.0, 1.0, 0.0, 0.0], "q3": [0.0, 1.0] * 2 + [0.0]}
    )
    labels = {"q1": {1: "Yes", 2: "No", 8: "DK", 9: "DK"}, "q2": {0: "Yes", 1: "No"}, "q3": {0: "No", 1: "Yes"}}
    path = tmp_path / "x.sav"
    statistics.write_sav(frame, path, variable_value_labels=labels, missing_ranges={"q1": [8, 9]})
    with pytest.warns(RecodedColumnsWarning, match="Yes = 1, No = 0 in 'q1', 'q2'"):
        table = open_table(path)
    nan = np.nan
    expected = [[1, 1, 0], [0, 0, 1], [nan, 0, 0], [nan, 1, 1], [1, 1, 0]]
    np.testing.assert_array_equal(table.to_float(), expected)
    assert [one.form for one in table.coding.meanings] == ["yes", "yes", "bit"]


def test_missing_codes_of_stata(tmp_path):
    frame = pandas.DataFrame({"q1": [1, 2, "a", 1], "q2": [0, 1, 1, 0]})
    path = tmp_path / "x.dta"
    statistics.write_dta(frame, path, missing_user_values={"q1": ["a"]}, variable_value_labels={"q1": LABELS["q1"]})
    assert columns(path)["q1"].listed() == ["yes", "no", None, "yes"]


@pytest.mark.parametrize("name", ["x.sav", "x.dta"])
def test_bits_are_those_of_a_csv_file(tmp_path, name):
    path = write(tmp_path / name, FRAME[["q2", "age"]])
    (tmp_path / "x.csv").write_text("q2,age\n0,30.5\n1,41\n1,89\n,18\n")
    plain = [{"columns": ["q2"]}, {"drop": ["age"]}, {"columns": ["q2"], "empty": "zero"}]
    for options in (*plain, {"threshold": 35}, {"threshold": -1}):
        mine, other = open_table(path, **options), open_table(tmp_path / "x.csv", **options)
        assert mine.names == other.names
        np.testing.assert_array_equal(mine.to_float(), other.to_float())
    twice = open_table([path, write(tmp_path / f"2{name}", FRAME[["q2", "age"]])], columns=["q2"])
    np.testing.assert_array_equal(twice.to_float()[:, 0], [0, 1, 1, np.nan] * 2)
    with pytest.raises(TableError, match=rf"3{name}: the columns differ from those of {name}"):
        open_table([path, write(tmp_path / f"3{name}", FRAME[["q1", "age"]])])


@pytest.mark.parametrize("name", ["x.sav", "x.dta", "x.por"])
def test_damaged_files_are_refused(tmp_path, name):
    whole = write(tmp_path / name.replace("por", "sav")).read_bytes()
    for data in (b"", b"a,b\n1,0\n", whole[:100], whole[: len(whole) // 2]):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError, match=rf"{name}: the file is damaged, or not of SPSS or Stata"):
            open_table(tmp_path / name)


def test_empty_and_large_files_are_refused(tmp_path):
    path = write(tmp_path / "x.sav", FRAME[:0])
    with pytest.raises(TableError, match=r"x\.sav: The table has 0 rows"):
        open_table(path)
    with pytest.raises(TableError, match=r"x\.sav: the text takes more than max_bytes=100"):
        open_table(write(path), max_bytes=100)


def test_without_pyreadstat(tmp_path, monkeypatch):
    path = write(tmp_path / "x.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[tables\]'"):
        open_table(path)
