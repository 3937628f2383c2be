"""`columns="bits"`: of a CSV file with words and numbers only the columns of bits are taken."""

import csv

import numpy as np
import pytest

from hiddenbits import TableError, open_table

pytestmark = pytest.mark.core


def test_columns_of_bits_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.readers.csv.CHUNK_CELLS", 10)  # a word may come late
    path = tmp_path / "zoo.csv"
    path.write_text("name,hair,legs,milk,note\nbear,1,4,1,\nfly,0,1,0,\neel,,0,0,long\n")
    table = open_table(path, columns="bits")
    assert table.names == ("hair", "milk")
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, 0], [np.nan, 0]])
    assert open_table(path, columns="bits", drop=["milk"]).names == ("hair",)
    assert open_table(path, columns="bits", threshold=0.5).names == ("hair", "legs", "milk")
    np.testing.assert_array_equal(open_table(path, columns="bits", blank="zero").to_float()[2], [0, 0])


def test_without_names_and_without_bits(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,1,0\nb,0,1\n")
    table = open_table(path, columns="bits")
    np.testing.assert_array_equal(table.to_float(), [[1, 0], [0, 1]])
    assert table.names is None
    path.write_text("p,q\na,7\nb,8\n")
    with pytest.raises(TableError, match="no column contains only bits"):
        open_table(path, columns="bits")


@pytest.mark.parametrize("cells", [5, 10, 1000])
def test_other_columns_come_along(tmp_path, monkeypatch, cells):
    """In one reading where a column shows what it is at once; what had passed before is read again."""
    monkeypatch.setattr("hiddenbits.data.readers.csv.CHUNK_CELLS", cells)
    rows = [["bear", "1", "4", "1", ""], ["fly", "0", " 1", "0", "NA"], ["eel", "", "0.0", "0", "long, thin"]]
    for name, few in (("a.csv", rows[:2]), ("b.csv", rows[2:])):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([["name", "hair", "legs", "milk", "note"], *few])
    others, told = {}, []
    table = open_table(tmp_path / "*.csv", columns="bits", others=others, tell=lambda *now: told.append(now))
    assert table.names == ("hair", "milk")
    assert others == {
        "name": ["bear", "fly", "eel"],
        "legs": ["4", "1", "0.0"],
        "note": ["", "NA", "long, thin"],
    }
    assert told[-1] == (3, 1.0)
    assert [rows for rows, _ in told] == sorted(rows for rows, _ in told)


def test_names_that_count_are_names(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who,1,2,3\na,1,0,1\nb,0,1,1\n")
    others = {}
    assert open_table(path, columns="bits", others=others).names == ("1", "2", "3")
    assert others == {"who": ["a", "b"]}
