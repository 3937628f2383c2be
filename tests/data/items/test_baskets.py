"""Baskets: lines of numbers or names, ragged CSV files, lists in Parquet files and JSON lines, transactions."""

import csv
import gzip
import pickle

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.data import AllOnes, Pattern
from hiddenbits.data.items import gather
from hiddenbits.exceptions import (
    AmbiguousColumnsError,
    CSVDialectWarning,
    DuplicateItemsWarning,
    SpilledTableWarning,
    TableError,
)
from tests.data.tables import as_lists, assert_reads, bits, write_baskets, write_parquet

core = pytest.mark.core
BASKETS = [["whole milk", "butter"], ["eggs"], [], ["butter", "eggs", "müsli, crunchy"]]
NAMES = ("butter", "eggs", "müsli, crunchy", "whole milk")
CELLS = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]


@core
@pytest.mark.parametrize("chunk", [1 << 23, 50])
def test_numbers(tmp_path, chunk, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.text_files.CHUNK_BYTES", chunk)
    x = bits(80, 120, density=0.05)
    x[3] = 0
    x[-1] = 0
    x[0, 119] = 1
    path = write_baskets(tmp_path / "x.dat", x)
    table = open_table(path)
    assert_reads(table, x)
    assert isinstance(table.source.x, Pattern)
    assert isinstance(table.source.observed, AllOnes)
    assert_reads(open_table(path, n_columns=130), np.pad(x, ((0, 0), (0, 10))))
    assert_reads(open_table(path, empty="missing"), np.where(x, 1, np.nan))
    (tmp_path / "y.txt.gz").write_bytes(gzip.compress(path.read_bytes().replace(b"\n", b"\r\n").rstrip()))
    y = open_table(tmp_path / "y.txt.gz")  # the last basket was empty, and its line is gone
    assert_reads(y, x[:-1])
    (tmp_path / "items").write_text("\n".join(f"item {j}" for j in range(121)) + "\n")
    both = open_table([path, tmp_path / "y.txt.gz"], items=tmp_path / "items")
    assert_reads(both, np.pad(np.concatenate([x, x[:-1]]), ((0, 0), (0, 1))))
    assert both.names[:2] == ("item 0", "item 1")
    monkeypatch.setattr(gather, "HELD_BYTES", 0)
    with pytest.warns(SpilledTableWarning, match="80 rows"):
        assert_reads(open_table(path), x)


@core
def test_any_order_and_repeats(tmp_path):
    (tmp_path / "x.basket").write_text("3 1\n\n 2\t0 \n")
    assert_reads(open_table(tmp_path / "x.basket"), [[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 0]])
    (tmp_path / "y.basket").write_text("3 1\n2 1 2 2\n1 1\n")
    with pytest.warns(DuplicateItemsWarning, match=r"y\.basket: line 2: item 2 occurs twice\. There are 3 repeated"):
        table = open_table([tmp_path / "x.basket", tmp_path / "y.basket"])
    assert_reads(table, [*open_table(tmp_path / "x.basket").to_float(), [0, 1, 0, 1], [0, 1, 1, 0], [0, 1, 0, 0]])


@core
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("zipped", [False, True])
def test_names(tmp_path, mark, encoding, zipped):
    path = tmp_path / ("x.txt.gz" if zipped else "x.basket")
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=mark).writerows(BASKETS)
    if zipped:
        path.write_bytes(gzip.compress(path.read_bytes()))
    shown = "a tab" if mark == "\t" else repr(mark).replace("|", r"\|")
    with pytest.warns(CSVDialectWarning, match=f"baskets of item names with {shown} between them") as caught:
        table = open_table(path)
    assert len(caught) == 1
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
        pytest.warns(CSVDialectWarning, match="a space between them"),
        pytest.warns(DuplicateItemsWarning, match="line 2: item 'bread' occurs twice"),
    ):
        table = open_table(path)
    assert table.names == ("bread", "eggs", "milk")
    path.write_text("1,7\n7\n")
    table = open_table(path, separator=",")
    assert table.names == ("1", "7")
    np.testing.assert_array_equal(table.to_float(), [[1, 1], [0, 1]])
    path.write_text("item 1,item 2\nitem 2\n")
    with pytest.warns(CSVDialectWarning, match="',' between them"):
        assert open_table(path).names == ("item 1", "item 2")


@core
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_ragged_csv_files(tmp_path, mark):
    """Lines of words, each with another number of them, are baskets; not where something is said of a header."""
    path = tmp_path / "groceries.csv"
    rows = [["citrus fruit", "ready soups"], ["whole milk"], ["yogurt", "coffee", "whole milk"], ["coffee"]] * 5
    path.write_text("\n".join(mark.join(row) for row in rows) + "\n")
    with pytest.warns(CSVDialectWarning, match=r"baskets of item names with .* set header="):
        table = open_table(path)
    assert table.names == ("citrus fruit", "coffee", "ready soups", "whole milk", "yogurt")
    np.testing.assert_array_equal(
        table.to_float()[:4], [[1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 1, 0, 1, 1], [0, 1, 0, 0, 0]]
    )
    with pytest.raises(TableError):
        open_table(path, header=True)


@core
@pytest.mark.parametrize(
    "text",
    ["a,b\n" + "1,0\n" * 9 + "1,0,1\n1\n", "a,b,c\n" + "x,y,x\n" * 30 + "x\nx,y\n", "to be or not\nthat is\nthe\n" * 9],
)
def test_other_ragged_csv_files_stay_what_they_are(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(TableError):
        open_table(tmp_path / "x.csv")


@core
def test_a_table_with_commas_in_its_words_is_not_baskets(tmp_path):
    """What is wrong with a column is asked; the lines, which have different numbers of commas, have two cells each."""
    rows = ["size,comment", 'small,"nice, warm, and dry"', "large,plain", 'medium,"good, but dear"']
    (tmp_path / "x.csv").write_text("\n".join(rows + rows[1:] * 6) + "\n")
    with pytest.raises(AmbiguousColumnsError, match="comment"):
        open_table(tmp_path / "x.csv")


@core
@pytest.mark.parametrize(
    ("text", "message", "options"),
    [
        ("1 2\n3 -4 5\n", r"x\.dat: line 2: '-4' is not an item number", {}),
        ("1 2\nmilk bread\n", r"line 2: 'milk' is not an item number.*separator=", {}),
        (b"1 2\n\xff\xfe 3\n", "line 2: .* is not an item number", {}),
        ("1 2\r3\n", "line 1: ", {}),
        ("1 2\n\n99999999999999 1\n", "line 3: item 99999999999999 is not between", {}),
        ("1 2\n10000000\n", r"x\.dat: line 2: item 10000000 is not between 0 and 9999999.*max_columns=", {}),
        ("1 2\n5\n", "line 2: item 5 is not between 0 and 4, the last column.*n_columns=", {"n_columns": 5}),
        ("1 2\n5\n", "items= names 2 items, but n_columns=3", {"items": ["a", "b"], "n_columns": 3}),
        ("1 2\n5\n", "Two columns are called 'a'", {"items": ["a", "a"]}),
        ("1 2\n5\n", "items= is empty", {"items": []}),
        ("1 2\n5\n", "threshold= does not apply", {"threshold": 1}),
        ("1\n", "n_columns=0 is not between", {"n_columns": 0}),
        ("", r"x\.dat: the file is empty", {}),
        ("\n\n", r"x\.dat: All baskets are empty.*n_columns=", {}),
        ("1\n" * 1000, "more than max_bytes=1500 bytes", {"max_bytes": 1500}),
        ("1 2\nmilk,bread\n", r"x\.dat: line 2: item 'milk' is not in items=", {"separator": ",", "items": ["1 2"]}),
        ('milk,"bread\n', "line 1: unexpected end of data", {"separator": ","}),
        (b"milk,bread\n\xff,a\n", "line 2: the text is not UTF-8", {"separator": ",", "encoding": "utf-8"}),
        ("a,b\nc\n", "more than max_columns=2 items", {"separator": ",", "max_columns": 2}),
        ("a,b\nc\n", "3 items found, not n_columns=2", {"separator": ",", "n_columns": 2}),
        ("a", "separator='::': give a single character", {"separator": "::"}),
    ],
)
def test_lines_that_are_refused(tmp_path, text, message, options):
    path = tmp_path / "x.dat"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TableError, match=message):
        open_table(path, **options)


# Lists -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["int32", "uint16", "uint64"])
@pytest.mark.parametrize("large", [False, True])
def test_parquet_lists_of_numbers(tmp_path, kind, large):
    pa = pytest.importorskip("pyarrow")
    x = bits(90, 40, density=0.1)
    x[5] = 0
    x[0, 39] = 1
    list_type = (pa.large_list if large else pa.list_)(pa.type_for_alias(kind))
    for i in range(2):
        lists = pa.array(as_lists(x[45 * i : 45 * i + 45]), list_type)
        write_parquet(tmp_path / f"{i}.parquet", {"n": list(range(45)), "basket": lists})
    path = tmp_path / "*.parquet"
    assert_reads(open_table(path, column="basket"), x, 60)
    assert_reads(open_table(path, column="basket", n_columns=50), np.pad(x, ((0, 0), (0, 10))))
    assert_reads(open_table(path, column="basket", empty="missing"), np.where(x, 1, np.nan))


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_parquet_lists_of_names(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    x = bits(90, 12, density=0.3)
    names = [f"item {j:02}" for j in range(12)]
    item = pa.dictionary(pa.int32(), pa.string()) if kind == "dictionary" else pa.type_for_alias(kind)
    path = tmp_path / "x.parquet"
    write_parquet(path, {"basket": pa.array(as_lists(x, names), pa.list_(item))})
    table = open_table(path)
    assert_reads(table, x)
    assert table.names == tuple(names)
    assert_reads(pickle.loads(pickle.dumps(table)), x)
    turned = open_table(path, column="basket", items=[*reversed(names), "more"])
    assert_reads(turned, np.pad(x[:, ::-1], ((0, 0), (0, 1))))


def test_lists_that_are_null_and_repeats(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", {"l": [[0], None, [1]]})
    assert_reads(open_table(path, empty="zero"), [[1, 0], [0, 0], [0, 1]])
    write_parquet(path, {"l": [[0], [2, 1, 2], [1, 1]]})
    with pytest.warns(DuplicateItemsWarning, match=r"x\.parquet: row 1: item 2 occurs twice\. There are 2 repeated"):
        assert_reads(open_table(path), [[1, 0, 0], [0, 1, 1], [0, 1, 0]])


# Transactions ----------------------------------------------------------------------------------------------------


@core
@pytest.mark.parametrize(
    "data",
    [
        [{"tea", "jam"}, {"tea"}, set(), {"rye", "jam"}],
        [["tea", "jam"], ["tea"], [], ["rye", "jam"]],
        (("jam", "tea"), ("tea",), (), ("jam", "rye")),
        [frozenset({"tea", "jam"}), {"tea"}, set(), {"rye", "jam"}],
    ],
)
def test_transactions(data):
    table = open_table(data)
    assert table.names == ("jam", "rye", "tea")
    np.testing.assert_array_equal(table.to_float(), [[1, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(open_table(data, empty="missing").to_float()[1], [np.nan, np.nan, 1])


@core
def test_numbers_of_items_are_in_their_order():
    table = open_table([{10, 2}, {3}])
    assert table.names == ("2", "3", "10")
    np.testing.assert_array_equal(table.to_float(), [[1, 0, 1], [0, 1, 0]])


@core
def test_transactions_that_are_refused():
    with pytest.raises(TableError, match=r"may be transactions or a table.*as sets"):
        open_table([["tea", "jam"], ["jam", "rye"]])
    with pytest.raises(TableError, match=r"row 1: '?1\.5'? is not the name or number"):
        open_table([{"a"}, {1.5}])
    with pytest.raises(TableError, match="All baskets are empty"):
        open_table([set(), set()])
    with pytest.raises(TableError, match="threshold= does not apply"):
        open_table([{"a"}, {"b"}], threshold=1)
    with pytest.warns(DuplicateItemsWarning, match="row 0: item 'a' occurs twice. There are 1 repeated"):
        open_table([["a", "a"], ["b"], []])


# Several codes in a cell -----------------------------------------------------------------------------------------


@core
def test_several_codes_in_a_cell(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,codes,dead\n1,E11.9;I10,0\n2,,1\n3, I10 ; J45;I10,0\n")
    table = open_table(path, split=";", drop=["id"])
    assert table.names == ("E11.9", "I10", "J45", "dead")
    np.testing.assert_array_equal(table.to_float(), [[1, 1, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0]])
    for split in ({"codes": ";"}, ";"):
        table = open_table(path, split=split, drop=["id"], empty="missing")
        np.testing.assert_array_equal(table.to_float()[1], [np.nan, np.nan, np.nan, 1])
    path.write_text("a,b\nx;y,y;z\nx,z\n")
    assert open_table(path, split=";").names == ("a=x", "a=y", "b=y", "b=z")
    for options, message in [
        ({"split": "|"}, r"x\.csv: split='\|': no cell contains it"),
        ({"split": ""}, "give the separator of codes"),
        ({"split": {"c": ";"}}, "split= names 'c', but the columns are 'a', 'b'"),
        ({"split": ";", "header": False}, "split= needs a first line"),
        ({"split": ";", "max_columns": 1}, r"more than max_columns=1 codes"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(path, **options)
