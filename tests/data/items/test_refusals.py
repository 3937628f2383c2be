"""Lists and pairs of items that are no table: refused with the line and the remedy; caps; damaged files."""

from __future__ import annotations

import numpy as np
import pytest

from hiddenbits.data import open_table
from hiddenbits.exceptions import DuplicateItemsWarning, TableError
from tests.data.tables import as_lists, assert_reads, bits, fuzz

pa = pytest.importorskip("pyarrow", reason="the files extra is not installed")
pq = pytest.importorskip("pyarrow.parquet")
from tests.data.items.test_pairs import ASK, PAIRS, lines_of, meaning, write  # noqa: E402  (which needs pyarrow, too)

FIVE = {"who": [1, 1, 2, 2, 3], "what": [5, 6, 5, 6, 5], "saw": [0, 1, 0, 1, 1]}


def refused(path, message, columns=None, /, **options):
    if columns is not None:
        pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, row_group_size=2)
    with pytest.raises(TableError, match=message):
        open_table(path, **{**PAIRS, **options})


def test_keys_and_values(tmp_path):
    path = tmp_path / "x.parquet"
    refused(path, r"x\.parquet: line 3: 'who' is null. Remove the line", {**FIVE, "who": [1, 1, 2, None, 3]})
    refused(path, r"x\.parquet: line 4: 'what' is null", {**FIVE, "what": [5, 6, 5, 6, None]})
    refused(path, r"line 1: 'who' is null", {**FIVE, "who": pa.array(["a", None, "b", "b", "c"]).dictionary_encode()})
    odd = {"double": [1.0, 1.0, 2.0, 2.0, 3.0], "list": [[1]] * 5, "bool": [True] * 5, "binary": [b"a"] * 5}
    for kind, held in odd.items():
        refused(path, rf"'who' holds {kind}.*whole numbers or text, as row= takes. Cast", {**FIVE, "who": held})
        refused(path, rf"'what' holds {kind}.*whole numbers or text, as item= takes", {**FIVE, "what": held})
    for saw, message in (
        ([0, 1, 0, 2, 1], r"x\.parquet: row 3, column 0 \('saw'\): 2.0 is not a bit"),
        ([0.0, 1.0, float("inf"), 1.0, 0.0], r"row 2, column 0 \('saw'\): infinity"),
        (["0", "1", "0", "x", "1"], r"x\.parquet: .*'x'"),
    ):
        refused(path, message, {**FIVE, "saw": saw}, value="saw")
    for saw, message in (([1, 1, 0], "0 and 1"), ([1, 1, None], "1 and null")):
        columns = {"who": [4] * 3, "what": [5, 6, 6], "saw": pa.array(saw, "int8")}
        refused(path, f"row 0: item '6' has the values {message}. Keep one line per pair", columns, value="saw")
    pq.write_table(pa.table(FIVE), tmp_path / "a.parquet")
    pq.write_table(pa.table({**FIVE, "what": list("abcde")}), tmp_path / "b.parquet")
    message = r"b\.parquet: column 'what' holds string, but int64 before. Use one type"
    refused([tmp_path / "a.parquet", tmp_path / "b.parquet"], message)


@pytest.mark.parametrize("column", ["who", "what"])
def test_text_that_is_not_utf8(tmp_path, column):
    columns = {"who": ["key a", "key a", "key b", "key c"], "what": ["word x", "word y", "word x", "word z"]}
    path, last = tmp_path / "x.parquet", b"key c" if column == "who" else b"word z"
    pq.write_table(pa.table(columns), path, use_dictionary=False, compression="none", write_statistics=False)
    raw = path.read_bytes()
    assert raw.count(last) == 1
    path.write_bytes(raw.replace(last, last[:-1] + b"\xff"))
    refused(path, r"x\.parquet: the file is damaged \(Invalid UTF8")


def test_options_that_do_not_go_together(tmp_path):
    path = tmp_path / "x.parquet"
    refused(path, "row= and item=", FIVE, item=None)
    refused(path, "row= and item=", row=None, item=None, value="saw")
    refused(path, "must name different columns", item="who")
    refused(path, r"row= names 'whom', but the columns are 'who', 'what', 'saw'", row="whom")
    refused(path, "value= names 'seen'", value="seen")
    refused(path, "Remove the options about columns", drop=["saw"])
    refused(path, "and column= for pairs", column="saw")
    refused(path, "threshold= does not apply", threshold=1)
    refused(path, r"x\.parquet: line 1: item 6 is not between 0 and 5, the last column", n_columns=6)
    refused(path, "n_columns=0 is not between 1 and", n_columns=0)
    refused(path, "items= names 2 items, but n_columns=3", n_columns=3, items=["a", "b"])
    refused(path, "more than max_columns=1 items. Raise it", max_columns=1)
    refused(path, "1 names were given for 2 columns", names=["a"])
    refused(path, "line 0: item -5 is not between", {**FIVE, "what": [-5, 6, 5, 6, 5]}, n_columns=9)
    words = {**FIVE, "what": list("stsxy")}
    refused(path, r"x\.parquet: line 3: item 'x' is not in items=. List all", words, items=["s", "t", "y"])
    refused(path, r"x\.parquet: 4 items found, not n_columns=3. Name them with items=", n_columns=3)
    refused(path, r"x\.parquet: The table has 0 rows", pa.table(FIVE).slice(0, 0))


def test_lists(tmp_path):
    path = tmp_path / "x.parquet"

    def fails(lists, message, **options):
        refused(path, message, {"l": lists}, row=None, item=None, **options)

    fails([[0], [1], [], [2, -3]], r"x\.parquet: row 3: item -3 is not between")
    fails([[0], [1], [], [2, 3]], "row 3: item 3 is not between 0 and 2", n_columns=3)
    fails([[0], [2**40]], "row 1: item 1099511627776 is not between 0 and 9999999.*max_columns=")
    fails(pa.array([[2**63 + 1]], pa.list_(pa.uint64())), "row 0: item 9223372036854775809 is not between")
    fails([[0], [1], None], "row 2: the list is null.*empty='zero'")
    fails([[0], [1, None]], "row 1: the list contains a null")
    fails([[0.5]], "column 'l' holds double, not lists of item")
    fails(pa.array([[], []], pa.list_(pa.int32())), r"x\.parquet: All baskets are empty.*n_columns=")
    fails([["a"], ["b"]], "more than max_columns=1 items", max_columns=1)
    fails([["a"], ["b"]], "2 items found, not n_columns=3.*items=", n_columns=3)
    fails([["a"], ["b"]], r"row 1: item 'b' is not in items=", items=["a"])
    fails([[1]], "threshold= does not apply", threshold=1)
    fails([[1]], "Remove the options about columns", columns=["l"])
    fails([[1]], "column= names 'm', but the columns are 'l'", column="m")


def test_lines_in_csv_files(tmp_path):
    path = tmp_path / "x.csv"

    def fails(text, message, **options):
        path.write_text(text)
        with pytest.raises(TableError, match=message):
            open_table(path, **{"row": "id", "item": "code", **options})

    fails("id,code\n1,a\n", r"x\.csv: .*'nil'", row="nil")
    fails("id,code\n1,a\n", "row= and item=", item=None)
    fails("id,code\n1,a\n,b\n", r"x\.csv: line 1: 'id' is null")
    fails("id,code\n1,a\n2\n3,b\n", r"x\.csv: line 3: 1 cells, but the first line has 2")
    fails("id,code,v\n1,a,x\n", r"x\.csv: column 'v' holds 'x'.*numbers", value="v")
    fails("id,code,v\n1,a,3\n", r"x\.csv: .*3.* is not a bit", value="v")
    fails("", r"x\.csv: ")
    fails('"id,code\n1,a\n', r"x\.csv: cannot be read.*damaged")
    fails("id,code\n", r"x\.csv: ")
    fails("id,code\n1,a\n", "Remove split= and the options about columns", columns=["id"])
    fails("id,code\n1,a\n", "items= names the items of pairs", row=None, item=None, items=["a"])


def test_caps(tmp_path):
    """Lines that must be put in order may take max_bytes; sorted ones need none."""
    lines = lines_of(bits(40, 9, density=0.3), "shuffled")
    path = write(tmp_path, lines, group=16)
    message = r"0\.parquet: the lines are not sorted by 'who'.*above max_bytes=6000. Sort the lines by 'who'"
    refused(path, message, max_bytes=6000)
    lines.sort()
    assert_reads(open_table(write(tmp_path, lines), **PAIRS, max_bytes=0), meaning(lines)[0])
    table = pa.table({"who": np.zeros(2_000_000, np.int64), "what": np.zeros(2_000_000, np.int64)})
    pq.write_table(table, tmp_path / "0.parquet")
    with pytest.warns(DuplicateItemsWarning, match=r"row 0: item '0' occurs twice. There are 1999999 repeated"):
        np.testing.assert_array_equal(open_table(path, **PAIRS).to_float(), [[1]])


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", ["int64", "string", "names", "lists"])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
@pytest.mark.parametrize("valued", [False, True])
def test_damaged_files(tmp_path, kind, order, valued):
    """Flipped bits, cut ends, cut middles: refused with the file's name, or a valid table. 1,600 files in all."""
    rng = np.random.default_rng(0)
    if kind == "lists":
        lists = pa.table({"l": as_lists(bits(40, 7, density=0.3), None if valued else "abcdefg")})
        pq.write_table(lists, tmp_path / "0.parquet", row_group_size=30)
    else:
        lines = [(*line, int(rng.integers(0, 2)))[: 2 + valued] for line in lines_of(bits(40, 7, density=0.3), order)]
        write(tmp_path, lines, (kind, kind), group=30)
    # a damaged row key can turn a sorted file into one that is gathered, and a length into billions
    ask = {} if kind == "lists" else {**(ASK if valued else PAIRS), "max_bytes": 10**6}
    assert fuzz(tmp_path / "0.parquet", 4, False, 100, **ask) > 30
