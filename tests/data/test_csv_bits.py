"""`columns="bits"`: of a CSV file with words and numbers only the columns of bits are taken."""

import numpy as np
import pytest

from hiddenbits import TableError, open_table

pytestmark = pytest.mark.core


def test_columns_of_bits_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.readers.csv_files.CHUNK_CELLS", 10)  # a word may come late
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
    with pytest.raises(TableError, match="no column holds bits alone"):
        open_table(path, columns="bits")
