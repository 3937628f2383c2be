"""Lines cut into cells block by block: exactly as the csv module cuts them, or not at all; tables are the same."""

import csv
import io
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenbits import open_table
from hiddenbits.data.named.csv import rows as text_rows
from hiddenbits.data.named.csv.blocks import MAX_CELL_BYTES, MAX_COMPARED, can_cut, cut_block
from hiddenbits.data.named.csv.dialect import Dialect

pytestmark = pytest.mark.core
PLAIN = SimpleNamespace(coding_=None)  # stands for a model that was fitted to bits
COMMAS = Dialect("utf-8", ",", '"', ".")


def cells_of(block):
    """All cells of a block, by each of the ways in which they are found."""
    n_rows, width = block.starts.shape
    one_by_one = [[block.text(row, column) for column in range(width)] for row in range(n_rows)]
    for column in (None, *range(width)):
        numbers: dict[str, int] = {}
        expected = one_by_one if column is None else [[row[column]] for row in one_by_one]
        distinct = list(dict.fromkeys(cell for row in expected for cell in row))
        codes = block.codes(lambda text, codes_so_far=numbers: codes_so_far.setdefault(text, len(codes_so_far)), column)
        if codes is None:
            assert len(distinct) > MAX_COMPARED or max(len(text.encode()) for text in distinct) > MAX_CELL_BYTES
        else:
            texts = list(numbers)
            assert texts == distinct  # in order
            assert [[texts[code] for code in row] for row in codes.reshape(n_rows, -1).tolist()] == expected
        if column is not None:
            assert block.texts(column) == [cell for (cell,) in expected]
    return one_by_one


def rows_of_csv_module(text, quote='"', delimiter=","):
    """The rows that the csv module reads; None where it complains."""
    try:
        lines = io.StringIO(text, newline="\n")
        return list(csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True))
    except csv.Error:
        return None


LONG = "x" * (MAX_CELL_BYTES + 1)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("yes,no\nno,yes\n", COMMAS),
        ("yes,no\r\nno,yes\r\n", COMMAS),
        ("yes,no\r\n,\nno,yes", COMMAS),
        ('"yes","no, never"\n"",no\n', COMMAS),
        ("'yes';'n\"o'\n'';no\n", Dialect("utf-8", ";", "'", ".")),
        ("strongly agree,1\nstrongly disagree,12345678\nstrongly agreed,123456789\n", COMMAS),
        (f"{LONG}a,1\n{LONG}b,0\n{LONG}a,1\n", COMMAS),
        ("é,→\nß,é\n", COMMAS),
        ("é|ß\nß|é\n", Dialect("cp1252", "|", '"', ".")),
        ("".join(f"{k},{k % 7}\n" for k in range(5 * MAX_COMPARED)), COMMAS),
        ("a\n\n \nb\n", COMMAS),
    ],
)
def test_tables_as_programs_write_them_are_cut(text, dialect):
    assert can_cut(dialect)
    rows = rows_of_csv_module(text, dialect.quote, dialect.delimiter)
    block = cut_block(text.encode(dialect.encoding), max(map(len, rows)), dialect)
    assert block is not None
    assert cells_of(block) == [row or [""] for row in rows]


@pytest.mark.parametrize(
    "lines",
    [
        b"a,b\nc\n",  # ragged
        b"a,b\nc,d,e\n",
        b"a,b,c\nd\n",  # as many cells as two rows of two
        b"a,b\n\nc,d\n",
        b'a,"b\nc"\n',  # a line break in a cell
        b'a,b"\n',  # a quote in a cell
        b'a, "b"\n',
        b'a,"b"c\n',
        b'a,"b""c"\n',
        b'a,"b\n',
        b"a,b\rc,d\n",
        b"a,b\0\n",
        b"a,\xff\n",
        b"a," + b"x" * (csv.field_size_limit() + 1) + b"\n",
    ],
)
def test_what_the_csv_module_may_see_differently_is_refused(lines):
    assert cut_block(b"yes,no\n", 2, COMMAS) is not None
    assert cut_block(b"yes,no\n" + lines, 2, COMMAS) is None


def test_which_ways_of_writing_can_be_cut():
    assert can_cut(COMMAS)
    assert not can_cut(Dialect("utf-8", "¦", '"', "."))


def opened(path, options):
    """Everything that can be seen of an opened table: names, bits, coding, cells, warnings; or the error."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            table = open_table(path, **options)
        except (TypeError, ValueError) as error:
            return type(error), str(error)
    contents = [table.names, table.shape, np.nan_to_num(table.to_float(), nan=-1.0).tolist()]
    if table.read_as is not None:
        read = table.read_as
        cells = {name: (column.values, column.rows.tolist()) for name, column in read.cells.items()}
        contents += [read.coding.to_plain(), read.order, cells, read.descriptions]
    return contents, [(warning.category, str(warning.message)) for warning in caught]


def assert_same_table(path, monkeypatch, block_bytes, **options):
    """Open a file by blocks, from its second row on, and line by line."""
    with monkeypatch.context() as patch:
        patch.setattr("hiddenbits.data.named.csv.read.SAMPLE_ROWS", 1)
        patch.setattr(text_rows, "BLOCK_BYTES", block_bytes)
        patch.setattr(text_rows, "ROW_BYTES", 1)
        quick = opened(path, options)
        patch.setattr(text_rows.CSVRows, "block", lambda *_: None)
        assert quick == opened(path, options)


ANSWERS = "id,a,b\n" + "".join(f"{k:03},{'yes' if k % 3 else 'no'},{'no' if k % 2 else 'yes'}\n" for k in range(40))
AWKWARD = {
    "plain": (ANSWERS, {}),
    "bits": ("a,b\n" + "0,1\n1,1\n" * 20, {}),
    "a mark": ("\ufeff" + ANSWERS, {}),
    "returns": (ANSWERS.replace("\n", "\r\n"), {}),
    "returns in some lines": (ANSWERS.replace("no\n", "no\r\n"), {}),
    "no last line break": (ANSWERS.rstrip(), {}),
    "all quoted": (ANSWERS.replace(",", '","').replace("\n", '"\n"')[:-1].join(['"', ""]), {}),
    "some quoted": (ANSWERS.replace("yes,", '"yes",'), {}),
    "quoted line breaks": (ANSWERS.replace("020,", '"0\n20",').replace("035,yes", "035,maybe"), {}),
    "a line break after cells of bits": ('a,b\n"0\n",1\n' + "0,1\n1,1\n" * 20 + "x,1\n", {"recode": PLAIN}),
    "doubled quotes": (ANSWERS.replace("010,", '"0""10",'), {}),
    "inches": (ANSWERS.replace("010,", '10",'), {}),
    "single quotes": (ANSWERS.replace("yes", "'yes'").replace("no", "'no'"), {}),
    "spaces": (ANSWERS.replace("yes,", " yes ,").replace("no,", "\tno,"), {}),
    "blanks": (ANSWERS.replace("015,yes", "015,").replace("016,yes", "016,NA").replace("017,yes", "017,?"), {}),
    "blanks are zeros": (ANSWERS.replace("016,yes", "016,NA"), {"empty": "zero"}),
    "empty rows at the end": (ANSWERS + ",,\n , ,\n,,\n", {}),
    "one empty row at the end": (ANSWERS + ",,\n", {}),
    "empty rows are kept": (ANSWERS + ",,\n,,\n", {"keep_empty": True}),
    "empty rows in the middle": (ANSWERS + ",,\n" * 50 + "x,yes,no\n", {}),
    "empty lines at the end": (ANSWERS + "\n\n\n", {}),
    "an empty line in the middle": (ANSWERS.replace("020,", "\n020,"), {}),
    "totals": (ANSWERS + "x,9,9\ntotal,1,2\n", {"skip_end": 2}),
    "more is skipped than there is": (ANSWERS, {"skip_end": 50}),
    "a title": ("Answers\n\n" + ANSWERS, {"skip_top": 2}),
    "trailing delimiters": (ANSWERS.replace("\n", ",\n"), {}),
    "trailing delimiters below": (ANSWERS.replace("no\n", "no,\n"), {}),
    "a short row": (ANSWERS.replace("030,yes,", "030,"), {}),
    "a long row": (ANSWERS.replace("031,", "031,,"), {}),
    "a bad quote": (ANSWERS.replace("031,", '"031"x,'), {}),
    "an open quote": (ANSWERS.replace("031,", '"031,'), {}),
    "a lone return": (ANSWERS.replace("031,", "03\r1,"), {}),
    "a zero byte": (ANSWERS.replace("031,", "03\0001,"), {}),
    "one column": ("q\n" + "yes\nno\n\n" * 12, {}),
    "one column of bits": ("q\n" + "1\n0\n\n" * 12, {}),
    "no head": (ANSWERS.partition("\n")[2], {"header": False}),
    "a row as head": ("yes,no\n" + "yes,no\nno,yes\n" * 20, {}),
    "names that occur twice": (ANSWERS.replace("id,a,b", "id,a,a"), {}),
    "an empty file": ("", {}),
    "names alone": ("id,a,b\n", {}),
    "one row": ("id,a,b\n1,yes,no\n", {}),
    "numbers as written": ("a,b,c\n" + "1e5,007,1\n100000,7,0\n" * 10 + "1e5,07,1\n", {}),
    "numbers that are cut": ("a,b\n" + "".join(f"{k / 4},{k % 2}\n" for k in range(60)), {"threshold": 3.0}),
    "decimal commas": ("a;b\n" + "".join(f"0,{k % 9};{k % 2}\n" for k in range(50)), {"threshold": 0.5}),
    "long cells": ("a,b\n" + ("strongly agree,1\nstrongly disagree," + "x" * 300 + "\n") * 20, {}),
    "a cell beyond the limit": ("a,b\n" + "yes,no\n" * 9 + "x" * 140_000 + ",no\n", {}),
    "another encoding": ("a;b\n" + "ja;Öl\nnein;Fett\n" * 20, {"encoding": "cp1252"}),
    "a bad byte": ("a,b\n" + "ja,Öl\nnein,Fett\n" * 20, {"encoding": "ascii"}),
    "another encoding of letters": ("a,b\n" + "はい,いいえ\nいいえ,はい\n" * 20, {"encoding": "shift_jis"}),
    "two bytes a character": ("a,b\n" + "yes,no\nno,yes\n" * 20, {"encoding": "utf-16"}),
    "other spaces": (ANSWERS + "\xa0,\xa0,\xa0\n\xa0,,\n", {}),
    "a mark below": (ANSWERS.replace("\n020", "\n\ufeff020"), {}),
    "a cell that is no bit": ("a,b\n" + "0,1\n1,1\n" * 20 + "0,x\n", {"recode": PLAIN}),
    "a number that is none": ("a,b\n" + "0,1.5\n1,0.2\n" * 20 + "0,inf\n", {"recode": PLAIN, "threshold": 1.0}),
    "a late word": ("a,b\n" + "0,1\n1,1\n" * 40 + "maybe,1\n", {}),
    "codes for missing": (ANSWERS.replace("017,yes", "017,-99"), {"missing": ["-99"]}),
}


@pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
@pytest.mark.parametrize("name", AWKWARD)
def test_tables_and_messages_are_those_of_reading_line_by_line(tmp_path, monkeypatch, name, block_bytes):
    text, options = AWKWARD[name]
    encoding = options.get("encoding", "utf-8")
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("utf-8" if encoding == "ascii" else encoding))
    assert_same_table(path, monkeypatch, block_bytes, **options)


CELLS = ["yes", "no", "yes", "no", "", " no", "NA", "1", "0", "x" * 9, '"yes"', '"a,b"', '"c\nd"', "é", "12"]


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 4),
    cells=st.lists(st.sampled_from(CELLS), min_size=1, max_size=4),
    picks=st.lists(st.integers(0, 3), min_size=1, max_size=120),
    line_break=st.sampled_from(["\n", "\r\n"]),
    odd=st.sampled_from(["", "", "", "\n", ",\n", "z\n", ",,,\n"]),
    block_bytes=st.sampled_from([1, 7, 40, 1000]),
    options=st.sampled_from([{}, {"skip_end": 1}, {"empty": "missing"}]),
)
def test_any_table_is_the_same(tmp_path_factory, width, cells, picks, line_break, odd, block_bytes, options):
    drawn = [cells[k % len(cells)] for k in picks]
    rows = [drawn[start : start + width] for start in range(0, len(drawn) - width + 1, width)]
    lines = [",".join(row) + line_break for row in [[f"q{j}" for j in range(width)], *rows]]
    lines.insert(2 + len(lines) // 2, odd)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes("".join(lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        assert_same_table(path, patch, block_bytes, **options)


def test_only_the_first_rows_are_read_one_by_one(tmp_path, monkeypatch):
    """What makes large files of text quick."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "yes,no\nno,yes\n" * 5000)
    parsed = []
    reader = csv.reader
    monkeypatch.setattr(csv, "reader", lambda lines, **form: reader((parsed.append(1) or one for one in lines), **form))
    with warnings.catch_warnings(action="ignore"):
        table = open_table(path)
    assert table.shape == (10_000, 2)
    assert len(parsed) < 2000  # the lines from which the delimiter is found, for each delimiter, among them
