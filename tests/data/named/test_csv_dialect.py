"""CSV files as programs write them: delimiters, decimal signs, quotes and encodings are found, said, and can be set."""

import codecs
import csv
import gzip
import warnings

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.data.named.csv.dialect import Dialect, find_dialect
from hiddenbits.exceptions import CSVDialectWarning, TableError

pytestmark = pytest.mark.core
NAMES = ("Größe", "b", "c")
ROWS = [["1", "0", ""], ["0", "1", "1"], ["1", "1", "0"]]
CELLS = [[1, 0, np.nan], [0, 1, 1], [1, 1, 0]]


def write(path, *, encoding="utf-8", rows=ROWS, mark=b"", zipped=False, **form):
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, **form).writerows([NAMES, *rows])
    data = mark + path.read_bytes()
    path.write_bytes(gzip.compress(data) if zipped else data)
    return path


def assert_table(table, cells=CELLS):
    assert table.names == NAMES
    np.testing.assert_array_equal(table.to_float(), cells)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_the_way_of_writing_is_found_and_said_once(tmp_path, delimiter, encoding, quoting):
    path = write(tmp_path / "x.csv", delimiter=delimiter, encoding=encoding, quoting=quoting)
    with pytest.warns(CSVDialectWarning) as caught:
        assert_table(open_table(path))
    assert len(caught) == 1
    text = str(caught[0].message)
    shown = "a tab" if delimiter == "\t" else repr(delimiter)
    assert f"{shown} between cells" in text
    assert text.endswith("delimiter=.")
    assert ("the encoding" in text) == ("encoding=" in text) == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_commas_and_utf_8_need_no_word(tmp_path, encoding):
    assert_table(open_table(write(tmp_path / "x.csv", encoding=encoding)))


@pytest.mark.parametrize("suffix", [".tsv", ".tab", ".tsv.gz"])
def test_tabs_in_tsv_files_need_no_word(tmp_path, suffix):
    path = write(tmp_path / f"x{suffix}", delimiter="\t", zipped=suffix.endswith("gz"))
    assert_table(open_table(path))
    with pytest.warns(CSVDialectWarning, match="',' between cells"):
        assert_table(open_table(write(path, zipped=suffix.endswith("gz"))))


def test_what_is_set_is_not_looked_for(tmp_path):
    path = write(tmp_path / "x.csv", delimiter=";", encoding="utf-16-le")
    assert_table(open_table(path, delimiter=";", encoding="utf-16-le"))
    with pytest.warns(CSVDialectWarning, match=r"read with ';' between cells, as.*set delimiter=\.$"):
        assert_table(open_table(path, encoding="utf-16-le"))
    for options, message in [
        ({"delimiter": "::"}, "give a single character"),
        ({"decimal": ":"}, "decimal=':' is not one of"),
        ({"quote": "x"}, "quote='x' is not one of"),
        ({"encoding": "klingon"}, "encoding='klingon' is not known"),
        ({"encoding": "rot13"}, "encoding='rot13' is not known"),
        ({"delimiter": ",", "decimal": ","}, "same as the quote or the decimal sign"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(path, **options)


@pytest.mark.parametrize("n_rows", [2, 30])
@pytest.mark.parametrize("n_words", [0, 1, 4])
@pytest.mark.parametrize("above", [(), ("names",), ("Messung 2026, Bern", "names")])
def test_decimal_commas_are_not_taken_for_delimiters(above, n_words, n_rows):
    """Each row may have as many decimal commas as semicolons, or more: words, and lines above, tell them apart."""
    rng = np.random.default_rng(n_rows)
    rows = [["ja", "nein", "Bern", "Rom"][:n_words] + [f"{k},5" for k in rng.integers(0, 99, 2)] for _ in range(n_rows)]
    names = ";".join(f"q{j}" for j in range(n_words + 2))
    lines = [names if line == "names" else line for line in above] + [";".join(row) for row in rows]
    dialect, _ = find_dialect("\n".join(lines).encode(), Dialect(), ".csv")
    assert (dialect.delimiter, dialect.decimal) == (";", ",")


QUALTRICS = """\
StartDate,Q1,Q2,Q3
Start Date,"Do you smoke?
(one answer)","Which drinks, if any?",How often?
"{""ImportId"":""startDate"",""timeZone"":""America/Denver""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}",\
"{""ImportId"":""QID3""}"
"""


@pytest.mark.parametrize("options", [{}, {"header": True}])
def test_lines_below_the_names_of_qualtrics_are_left_out(tmp_path, options):
    path = tmp_path / "x.csv"
    rows = "".join(f"2026-01-0{k},{'yes' if k % 3 else 'no'},{k % 2},{k}\n" for k in range(1, 9))
    path.write_text(QUALTRICS + rows)
    with pytest.warns(CSVDialectWarning, match="read as a Qualtrics export, without the texts of the quest"):
        table = open_table(path, drop=["StartDate", "Q3"], recode={"Q1": {"yes": 1}}, **options)
    assert table.names == ("Q1", "Q2")
    np.testing.assert_array_equal(table.to_float(), [[k % 3 > 0, k % 2] for k in range(1, 9)])
    path.write_text(QUALTRICS + rows + "2026-01-09,yes\n")
    with pytest.warns(CSVDialectWarning), pytest.raises(TableError, match="line 13: 2 cells"):
        open_table(path)
    lines = QUALTRICS.splitlines(keepends=True)
    path.write_text(lines[0] + "".join(lines[3:]) + rows)  # without the texts
    with pytest.warns(CSVDialectWarning, match="export, without the line of ImportIds"):
        assert open_table(path, columns=["Q2"]).shape == (8, 1)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_and_without_a_mark(tmp_path, encoding):
    mark = codecs.BOM_UTF16_LE if encoding.endswith("le") else codecs.BOM_UTF16_BE
    for first in (b"", mark):
        with pytest.warns(CSVDialectWarning, match="the encoding utf-16"):
            assert_table(open_table(write(tmp_path / "x.csv", encoding=encoding, mark=first)))


def test_decimal_commas(tmp_path):
    path = write(tmp_path / "x.csv", rows=[["1,5", "0", "1"], ["0,25", "1", "0"]], delimiter=";")
    with pytest.warns(CSVDialectWarning, match="';' between cells and ',' as the decimal sign"):
        table = open_table(path, recode={NAMES[0]: "> 1"})
    np.testing.assert_array_equal(table.to_float()[:, 0], [1, 0])
    with pytest.warns(CSVDialectWarning):
        np.testing.assert_array_equal(open_table(path, threshold=1).to_float()[:, 0], [1, 0])
    path.write_text("0,5;1\n1,0;0\n")  # both signs cut all lines into two cells
    with pytest.warns(CSVDialectWarning, match="decimal"):
        np.testing.assert_array_equal(open_table(path, threshold=0.6, header=False).to_float(), [[0, 1], [1, 0]])


def test_single_quotes_and_excels_first_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("'a','b,c'\n'1','0'\n'0','1'\n")
    with pytest.warns(CSVDialectWarning, match="around cells"):
        assert open_table(path).names == ("a", "b,c")
    path.write_text("it's,b\n1,0\n0,1\n")
    assert open_table(path).names == ("it's", "b")
    path.write_text("sep=;\r\na;b\r\n1;0\r\n0\r\n")
    with pytest.warns(CSVDialectWarning), pytest.raises(TableError, match="line 4: 1 cells"):
        open_table(path)


def test_semicolons_within_cells_are_no_delimiters(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,codes,b\n1,E11;I10,0\n2,I10,1\n3,E11;I10;J4,1\n")
    assert open_table(path, columns=["b"]).shape == (3, 1)
    path.write_text('text,b\n"one; two; three",0\n"four; five; six",1\n')
    assert open_table(path, columns=["b"]).shape == (2, 1)


def test_a_late_letter_is_refused_with_the_option_that_helps(tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.text_files.CHUNK_BYTES", 64)
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b,note\n" + b"1,0,x\n" * 100 + b"1,1,gr\xfcn\n")
    with pytest.raises(TableError, match=r"x\.csv: line 102: the text is not UTF-8.*encoding='cp1252'"):
        open_table(path, columns=["a", "b"])
    assert open_table(path, columns=["a", "b"], encoding="cp1252").shape == (101, 2)


@pytest.mark.parametrize("seed", range(3))
def test_bytes_of_other_files_are_refused(tmp_path, seed):
    """Pictures, zip files, cut UTF-16: one sentence that names the file, whatever is found in it."""
    rng = np.random.default_rng(seed)
    path = tmp_path / "x.csv"
    whole = write(tmp_path / "y.csv", encoding="utf-16").read_bytes()
    for data in [
        b"",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"PK\x03\x04" + rng.bytes(4000),
        rng.bytes(4000),
        b"\x89PNG\r\n\x1a\n" + rng.bytes(500),
        *(whole[: int(cut)] for cut in rng.integers(3, len(whole) - 2, 10) if cut % 2),
    ]:
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CSVDialectWarning)
            with pytest.raises(TableError, match=r"x\.csv: "):
                open_table(path)
