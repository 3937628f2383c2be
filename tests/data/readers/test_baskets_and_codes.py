"""Baskets of item names, lines of pairs in CSV files, and several codes in a cell."""

import csv
import gzip

import numpy as np
import pytest

from hiddenbits import DuplicateItemsWarning, FoundDialectWarning, TableError, open_table

core = pytest.mark.core
BASKETS = [["whole milk", "butter"], ["eggs"], [], ["butter", "eggs", "müsli, crunchy"]]
NAMES = ("butter", "eggs", "müsli, crunchy", "whole milk")
CELLS = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]


def write_baskets(path, mark, encoding="utf-8", zipped=False):
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=mark).writerows(BASKETS)
    if zipped:
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


@core
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("zipped", [False, True])
def test_baskets_of_names(tmp_path, mark, encoding, zipped):
    path = write_baskets(tmp_path / ("x.txt.gz" if zipped else "x.basket"), mark, encoding, zipped)
    shown = "a tab" if mark == "\t" else repr(mark).replace("|", r"\|")
    with pytest.warns(FoundDialectWarning, match=f"baskets of item names with {shown} between them") as said:
        table = open_table(path)
    assert len(said) == 1
    assert table.names == NAMES
    np.testing.assert_array_equal(table.to_float(), CELLS)
    if encoding != "cp1252":
        table = open_table(path, separator=mark, items=[*NAMES[::-1], "tea"])  # nothing is guessed
        np.testing.assert_array_equal(table.to_float()[:, 3::-1], CELLS)


@core
def test_names_between_spaces_and_numbers_by_name(tmp_path):
    path = tmp_path / "x.dat"
    path.write_text("milk bread\r\nbread eggs bread\r\n")
    with (
        pytest.warns(FoundDialectWarning, match="a space between them"),
        pytest.warns(DuplicateItemsWarning, match="line 2: item 0 occurs twice"),
    ):
        table = open_table(path)
    assert table.names == ("bread", "eggs", "milk")
    path.write_text("1,7\n7\n")
    table = open_table(path, separator=",")
    assert table.names == ("1", "7")
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, 1]])


@core
def test_baskets_of_names_that_are_refused(tmp_path):
    path = tmp_path / "x.dat"

    def fails(data, message, **options):
        path.write_bytes(data)
        with pytest.raises(TableError, match=rf"x\.dat: {message}|{message}"):
            open_table(path, separator=",", **options)

    fails(b"1 2\nmilk,bread\n", "line 2: 'milk' is not", items=["1 2"])
    fails(b'milk,"bread\n', "line 1: unexpected end of data")
    fails(b"milk,bread\n\xff,a\n", "line 2: the text is not UTF-8", encoding="utf-8")
    fails(b"a,b\nc\n", "more than max_columns=2 items", max_columns=2)
    fails(b"a,b\nc\n", "3 items found, not n_columns=2", n_columns=2)
    fails(b"", "the file is empty")
    fails(b"\n\n", "all baskets are empty")
    fails(b"tea\x00,bread\n", "NUL character")
    fails(b"a\n" * 1000, "more than max_bytes=1500", max_bytes=1500)
    with pytest.raises(TableError, match="separator='::': give a single character"):
        open_table(path, separator="::")
    path.write_text("1 2\nmilk bread\n")  # begins with numbers
    with pytest.raises(TableError, match=r"line 2: 'milk' is not an item number.*separator="):
        open_table(path)


def test_lines_of_pairs(tmp_path):
    """The same table as from Parquet, whatever the way of writing."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    lines = {
        "order": np.sort(rng.integers(1, 40, 200)),
        "product": rng.integers(5, 25, 200),
        "seen": rng.integers(0, 2, 200),
    }
    table = pa.table(lines).group_by(["order", "product"], use_threads=False).aggregate([("seen", "max")])
    table = table.rename_columns(["order", "product", "seen"])
    words = table.set_column(1, "product", pa.array([f"item {p}" for p in table["product"].to_pylist()]))
    for content in (table, words):
        pq.write_table(content, tmp_path / "x.parquet")
        with (tmp_path / "x.csv").open("w", newline="", encoding="cp1252") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["größe", *content.column_names])
            writer.writerows(zip(["ä"] * len(content), *content.to_pydict().values(), strict=True))
        for value in (None, "seen"):
            expected = open_table(tmp_path / "x.parquet", row="order", item="product", value=value)
            with pytest.warns(FoundDialectWarning) as said:
                found = open_table(tmp_path / "x.csv", row="order", item="product", value=value)
            assert len(said) == 1
            assert found.names == expected.names
            np.testing.assert_array_equal(found.to_float(), expected.to_float())
            np.testing.assert_array_equal(found.source.row_keys(0, 9), expected.source.row_keys(0, 9))


def test_codes_with_zeros_before_them_are_text(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.csv"
    path.write_text("id,code\n1,007\n2,7\n10,07\n")
    table = open_table(path, row="id", item="code")
    assert table.names == ("007", "07", "7")
    assert table.source.row_keys(0, 3).tolist() == [1, 2, 10]


def test_lines_of_pairs_that_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.csv"

    def fails(text, message, **options):
        path.write_text(text)
        with pytest.raises(TableError, match=message):
            open_table(path, **{"row": "id", "item": "code", **options})

    fails("id,code\n1,a\n", r"x\.csv: .*'nil'", row="nil")
    fails("id,code\n1,a\n", "Give both row=", item=None)
    fails("id,code\n1,a\n,b\n", r"x\.csv: line 1: 'id' is null")
    fails("id,code\n1,a\n2\n", r"x\.csv: the lines cannot be read")
    fails("id,code,v\n1,a,x\n", r"x\.csv: the lines cannot be read", value="v")
    fails("id,code,v\n1,a,3\n", r"x\.csv: .*3.* is not a bit", value="v")
    fails("", r"x\.csv: ")
    fails("id,code\n", r"x\.csv: ")
    fails("id,code\n1,a\n", "Remove split= and what was said about columns", columns=["id"])
    fails("id,code\n1,a\n", "items= names the items of pairs", row=None, item=None, items=["a"])


@core
def test_several_codes_in_a_cell(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,codes,dead\n1,E11.9;I10,0\n2,,1\n3, I10 ; J45;I10,0\n")
    table = open_table(path, split=";", drop=["id"])
    assert table.names == ("E11.9", "I10", "J45", "dead")
    np.testing.assert_array_equal(table.to_float(), [[1, 1, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0]])
    for split in ({"codes": ";"}, ";"):
        table = open_table(path, split=split, drop=["id"], blank="missing")
        np.testing.assert_array_equal(table.to_float()[1], [np.nan, np.nan, np.nan, 1])
    path.write_text("a,b\nx;y,y;z\nx,z\n")
    assert open_table(path, split=";").names == ("a=x", "a=y", "b=y", "b=z")
    for options, message in [
        ({"split": "|"}, r"x\.csv: split='\|': no cell has it"),
        ({"split": ""}, "give what is between codes"),
        ({"split": {"c": ";"}}, "split= names 'c', but the columns are 'a', 'b'"),
        ({"split": ";", "header": False}, "split= needs a first line"),
        ({"split": ";", "max_columns": 1}, r"more than max_columns=1 codes"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(path, **options)
