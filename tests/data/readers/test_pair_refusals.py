"""Pair files that are no table: refused with the line and the remedy; caps; damaged files."""

from __future__ import annotations

import numpy as np
import pytest

from hiddenbits.data import TableError, open_table
from hiddenbits.data.items.items import DuplicateItemsWarning
from tests.data.readers.test_pairs import ASK, PAIRS, arrow, lines_of, meaning, write
from tests.data.readers.test_readers import assert_reads, bits, fuzz

pa = pytest.importorskip("pyarrow", reason="the files extra is not installed")
pq = pytest.importorskip("pyarrow.parquet")


def refused(path, message, columns=None, **options):
    if columns is not None:
        pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, row_group_size=2)
    with pytest.raises(TableError, match=message):
        open_table(path, **{**PAIRS, **options}).to_float()


def test_keys_that_are_none(tmp_path):
    path = tmp_path / "x.parquet"
    five = {"who": [1, 1, 2, 2, 3], "what": [5, 6, 5, 6, 5], "saw": [0, 1, 0, 1, 1]}
    refused(path, r"x\.parquet: line 3: 'who' is null. Remove the line", {**five, "who": [1, 1, 2, None, 3]})
    refused(path, r"x\.parquet: line 4: 'what' is null", {**five, "what": [5, 6, 5, 6, None]})
    refused(path, r"x\.parquet: line 4: 'what' is null", n_columns=9)
    refused(path, r"line 1: 'who' is null", {**five, "who": pa.array(["a", None, "b", "b", "c"]).dictionary_encode()})
    odd = {"double": [1.0, 1.0, 2.0, 2.0, 3.0], "list": [[1]] * 5, "bool": [True] * 5, "binary": [b"a"] * 5}
    for kind, held in odd.items():
        refused(path, rf"'who' holds {kind}.*row= takes whole numbers or text. Cast", {**five, "who": held})
        refused(path, rf"'what' holds {kind}.*item= takes whole numbers or text", {**five, "what": held})
    for saw, said in (
        ([0, 1, 0, 2, 1], r"line 3, column \('saw'\): 2 is not a bit"),
        ([0, 1, 0, 1, -1], r"line 4, column \('saw'\): -1 is not a bit"),
        ([0.0, 1.0, float("inf"), 1.0, 0.0], r"line 2, column \('saw'\): infinity"),
        (["0", "1", "0", "1", "1"], r"'saw' holds string, but value= takes 0, 1 and null"),
    ):
        refused(path, rf"x\.parquet: {said}" if "line" in said else said, {**five, "saw": saw}, value="saw")


@pytest.mark.parametrize("column", ["who", "what"])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_text_that_is_not_utf8(tmp_path, column, order):
    columns = {"who": ["key a", "key a", "key b", "key c"], "what": ["word x", "word y", "word x", "word z"]}
    if order == "shuffled":
        columns = {name: held[1:] + held[:1] for name, held in columns.items()}
    path, last = tmp_path / "x.parquet", b"key c" if column == "who" else b"word z"
    pq.write_table(pa.table(columns), path, use_dictionary=False, compression="none", write_statistics=False)
    raw = path.read_bytes()
    assert raw.count(last) == 1
    path.write_bytes(raw.replace(last, last[:-1] + b"\xff"))
    refused(path, r"x\.parquet: the file is damaged \(Invalid UTF8")
    refused(path, r"x\.parquet: the file is damaged \(Invalid UTF8", items=["word x", "word y", "word z"])


def test_options_that_do_not_go_together(tmp_path):
    path = tmp_path / "x.parquet"
    five = {"who": [1, 1, 2, 2, 3], "what": [5, 6, 5, 6, 5], "saw": [0, 1, 0, 1, 1]}
    refused(path, "Give both row=", five, item=None)
    refused(path, "Give both row=", row=None)
    refused(path, "Give both row=", row=None, item=None, value="saw")
    refused(path, "must name different columns", item="who")
    refused(path, "must name different columns", value="what")
    refused(path, r"row= names 'whom', but the columns are 'who', 'what', 'saw'", row="whom")
    refused(path, "item= names 'thing'", item="thing")
    refused(path, "value= names 'seen'", value="seen")
    refused(path, "columns= and drop=, which do not apply", drop=["saw"])
    refused(path, "which do not apply", column="saw")
    refused(path, "threshold= does not apply", threshold=1)
    refused(path, "line 1: item 6 is beyond the 6 columns. Without n_columns=", n_columns=6)
    refused(path, "n_columns=0 is not between 1 and", n_columns=0)
    refused(path, "items= names 2 items, but n_columns=3", n_columns=3, items=["a", "b"])
    refused(path, "more than max_columns=1 items. Raise max_columns=", max_columns=1)
    refused(path, "1 names were given for 2 columns", names=["a"])
    refused(path, "line 0: item -5 is negative", {**five, "what": [-5, 6, 5, 6, 5]}, n_columns=9)
    words = {**five, "what": list("stsxy")}
    refused(path, r"line 3: the item 'x' is not one of the table's items", words, items=["s", "t", "y"])
    refused(path, r"4 items found, not n_columns=3. Name them with items=", n_columns=3)
    refused(path, r"item names take more than max_bytes=30 bytes", max_bytes=30)
    refused(path, r"x\.parquet: The table has 0 rows", pa.table(five).slice(0, 0))
    refused(
        path, r"item 1 has the values 0 and 1", {"who": [4, 4, 4], "what": [5, 6, 6], "saw": [1, 1, 0]}, value="saw"
    )
    nothing = pa.array([1, None], "int8")
    refused(
        path, "row 0: item 0 has the values 1 and null", {"who": [4] * 2, "what": [5] * 2, "saw": nothing}, value="saw"
    )


@pytest.mark.slow
def test_files_of_different_types(tmp_path):
    kinds = {"int64": "int64", "int8": "int8", "uint64": "uint64", "string": "string", "names": "dictionary<.*"}
    for first, said_first in kinds.items():
        for second, said in kinds.items():
            for who, what in (((first, second), ("int64",) * 2), (("int64",) * 2, (first, second))):
                for i in range(2):
                    columns = {"who": arrow([3 * i, 3 * i + 1], who[i]), "what": arrow([0, 1], what[i])}
                    pq.write_table(pa.table(columns), tmp_path / f"{i}.parquet")
                alike = first == second or {first, second} in ({"int64", "int8"}, {"string", "names"})
                if alike:
                    assert_reads(open_table(tmp_path / "*.parquet", **PAIRS), [[1, 0], [0, 1]] * 2)
                    continue
                message = rf"1\.parquet: column 'wh.*' holds {said}.*, but {said_first}.* in 0\.parquet. Use one type"
                refused(tmp_path / "*.parquet", message)


def test_caps(tmp_path):
    x = bits(40, 9, density=0.3)
    lines = lines_of(x, "shuffled")
    before = [line[0] for line in lines]
    back = next(i for i, key in enumerate(before) if key in before[:i] and key != before[i - 1])
    steps = np.diff(before)
    runs = 1 + np.count_nonzero(steps)
    needed = 32 * len(lines) + 48 * runs + 8 * x.any(axis=1).sum()
    path = write(tmp_path, lines, group=16)
    want = meaning(lines)[0]
    assert_reads(open_table(path, **PAIRS, max_bytes=needed), want)
    message = (
        rf"0\.parquet: line {back}: 'who' is {before[back]} again, after other rows. Grouping the {len(lines)} lines "
    )
    message += (
        rf"in memory needs {needed} bytes, above max_bytes={needed - 1}. Sort the lines by 'who', so that they can "
    )
    message += "be read in parts, or raise max_bytes="
    refused(path, message, max_bytes=needed - 1)
    turn = 1 + max(int(np.argmax(steps < 0)), int(np.argmax(steps > 0)))  # the keys have risen and fallen
    message = (
        rf"0\.parquet: line {turn}: the lines are not sorted by 'who'.*needs at least {48 * runs} bytes, above max"
    )
    refused(path, message, max_bytes=48 * runs - 1)
    words = write(tmp_path, lines, ("string", "int64"))
    refused(
        words, r"the lines are not sorted by 'who'.*Sort the lines by 'who', or raise max_bytes=", max_bytes=48 * runs
    )
    sorted_lines = sorted(lines)
    path = write(tmp_path, sorted_lines)
    assert_reads(open_table(path, **PAIRS, max_bytes=32 * len(lines)), meaning(sorted_lines)[0])  # on disk: all at once
    message = r"rows 0 to 37 hold more lines than fit into max_bytes=1000. Open the table with a smaller part_bytes="
    refused(path, message, max_bytes=1000)
    assert open_table(path, **PAIRS, max_bytes=1000).source.read(3, 5)[0].shape == (2, 9)


def test_a_small_file_of_very_many_lines(tmp_path):
    """Two million equal lines take a few kilobytes: they are refused before they take memory, or counted once."""
    table = pa.table({"who": np.zeros(2_000_000, np.int64), "what": np.zeros(2_000_000, np.int64)})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    assert path.stat().st_size < 20_000
    refused(path, r"rows 0 to 0 hold more lines than fit into max_bytes=1000000", max_bytes=1_000_000)
    with pytest.warns(DuplicateItemsWarning, match="1999999 repeated"):
        np.testing.assert_array_equal(open_table(path, **PAIRS).to_float(), [[1]])


def test_a_file_that_has_changed(tmp_path):
    path = write(tmp_path, lines_of(bits(30, 9)), group=10)
    table = open_table(path, **PAIRS)
    file = tmp_path / "0.parquet"
    file.write_bytes(file.read_bytes() + b"PAR1")
    with pytest.raises(TableError, match=r"0\.parquet: the file has changed"):
        table.source.read(0, 5)
    lines = lines_of(bits(30, 9))
    sizes = set()
    for key in (29, 28):  # two files of one size; the rows of the second are one fewer
        pq.write_table(
            pa.table({"who": [min(line[0], key) for line in lines], "what": [line[1] for line in lines]}),
            file,
            row_group_size=10,
            compression="none",
            use_dictionary=False,
            write_statistics=False,
        )
        sizes.add(file.stat().st_size)
        if key == 29:
            table = open_table(file, **PAIRS)
    assert len(sizes) == 1
    with pytest.raises(TableError, match=r"0\.parquet: the files have changed. Open the table again"):
        table.source.read(25, 30)


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", ["int64", "string", "names"])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
@pytest.mark.parametrize("valued", [False, True])
def test_damaged_files(tmp_path, kind, order, valued):
    """Flipped bits, cut ends, cut middles: refused with the file's name, or a valid table. 1,200 files in all."""
    rng = np.random.default_rng(0)
    lines = [(*line, int(rng.integers(0, 2)))[: 2 + valued] for line in lines_of(bits(40, 7, density=0.3), order)]
    write(tmp_path, lines, (kind, kind), group=30)
    # a damaged row key can turn a sorted file into one that is gathered, and a length into billions
    ask = {**(ASK if valued else PAIRS), "max_bytes": 10**6, "part_bytes": 200}
    assert fuzz(tmp_path / "0.parquet", 4, False, 100, **ask) > 30
