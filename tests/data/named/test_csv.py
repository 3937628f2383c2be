"""CSV tables: cells, names, errors that name line and remedy, and damage at every byte."""

import csv
import gzip
import io
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.exceptions import RecodedColumnsWarning, TableError
from tests.data.tables import assert_reads, bits, holes

pytestmark = pytest.mark.core
PLAIN = SimpleNamespace(coding_=None)  # stands for a model that was fitted to bits: nothing is guessed


def write_csv(path, values, names=None, **options):
    text = io.StringIO()
    writer = csv.writer(text, **options)
    if names is not None:
        writer.writerow(names)
    writer.writerows(["" if cell != cell else cell for cell in row] for row in values)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("names", [None, tuple("abcdefg")])
def test_csv(tmp_path, suffix, names, monkeypatch):
    monkeypatch.setattr("hiddenbits.data.named.csv.read.CHUNK_CELLS", 77)
    x = holes(bits())
    path = write_csv(tmp_path / f"x{suffix}", x, names)
    table = open_table(path)
    assert_reads(table, x)
    assert table.names == names
    assert_reads(open_table(path, empty="zero"), np.nan_to_num(x))
    assert_reads(open_table(path, columns=[5, 2]), x[:, [5, 2]])
    assert_reads(open_table(path, columns=[3]), x[:, [3]])
    assert_reads(open_table(path, drop=[0]), x[:, 1:])
    assert open_table(path, names="qwertyu").names == tuple("qwertyu")
    quoted = write_csv(tmp_path / "q.csv", x, names, quoting=csv.QUOTE_ALL, delimiter=";")
    assert_reads(open_table(quoted, delimiter=";"), x)
    second = write_csv(tmp_path / f"y{suffix}", bits(), names)
    assert_reads(open_table([path, second]), np.concatenate([x, bits()]))


def test_csv_spellings(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b, c\r\n1,TRUE, 1.0 \r\n0,False,0.0\r\nNA,?,None\r\nnan,NULL,n/a\r\n,,\r\n")
    nan = np.nan
    table = open_table(path)
    assert_reads(table, [[1, 1, 1], [0, 0, 0]] + [[nan, nan, nan]] * 3)
    assert table.names == ("a", "b", "c")
    path.write_text('"a\nb",c\n1,2.5\n0,-3e2\n')
    table = open_table(path, threshold=0.5)
    assert_reads(table, [[1, 1], [0, 0]])
    assert table.names == ("a\nb", "c")
    path.write_text("1\n\n0\n")
    assert_reads(open_table(path), [[1], [nan], [0]])


def test_csv_headers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("0,1,2,3\n1,0,1,0\n")
    assert open_table(path).names == ("0", "1", "2", "3")
    path.write_text("0,1\n1,0\n")
    assert open_table(path).shape == (2, 2)
    assert open_table(path, header=True).names == ("0", "1")
    path.write_text("D,1,0\nR,0,1\n")  # data, or a header? Either guess could lose a row without a word
    with pytest.raises(TableError, match=r"line 1 has both binary values \('1'\) and text \('D'\).*header="):
        open_table(path)
    assert_reads(open_table(path, header=False, drop=[0]), [[1, 0], [0, 1]])
    path.write_text("2,1,0\n0,1,1\n")
    with pytest.raises(TableError, match="both binary values"):
        open_table(path)
    with pytest.warns(RecodedColumnsWarning, match="2 = 1, 0 = 0 in '0'"):
        assert_reads(open_table(path, header=False), [[1, 1, 0], [0, 1, 1]])


def test_csv_errors(tmp_path):
    path = tmp_path / "x.csv"

    def fails(text, message, **options):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(TableError, match=message):
            open_table(path, **options)

    fails(
        "party,a\nD,1\n,0\n",
        r"x\.csv: One column needs a decision(.|\n)*'party': 'D' or missing(.|\n)*drop=\['party'\]\.",
    )
    fails("a,b\n1,0\n1,7\n", r"'b': 7 \(1 cell\) looks like a code for missing")
    fails(
        "a,b\n1,0\n1,x\n",
        r"x\.csv: row 1, column 1 \('b'\): 'x' is not a bit",
        recode=PLAIN,
    )
    fails('a,b\n"1\n",0\n1\n', r"line 4: 1 cells")
    fails("a,b\n1,0\n1\n", "line 3: 1 cells, but the first line has 2")
    fails("a,b\n1,0\n\n0,1\n", "line 3: 0 cells, but the first line has 2")
    fails("a,b\n1,0,1\n", "line 2: 3 cells")
    fails("a,a\n1,0\n", "Two columns are called 'a'")
    fails("a,b\n1,1_0\n", "'1_0' is not a finite number", threshold=0, recode=PLAIN)
    fails("a,b\n1,inf\n", r"row 0, column 1 \('b'\): 'inf' is not a finite number", threshold=0)
    fails("a,b\n1,0\n", "drop= names 'c', but the columns are 'a', 'b'", drop=["c"])
    fails("a,b\n1,0\n", "columns= names column 'a' twice", columns=["a", "a"])
    fails("a,b\n1,0\n", "Both columns= and drop= were given", columns=["a"], drop=["b"])
    fails("a,b\n1,0\n", "All columns are excluded", drop=["a", "b"])
    fails("a,b\n1,0\n", "delimiter='::': give a single character", delimiter="::")
    fails("", r"x\.csv: the file is empty")
    fails("a,b\n", r"x\.csv: the file has no rows")
    fails(b"a,b\n1,0\n1,\x01\xff\n", r"line 3: the text is not UTF-8.*Save the file as UTF-8")
    fails('a,b\n1,"0\n', r"line 2: unexpected end of data")
    fails("a,b\n" + "1,0\n" * 1000, r"more than max_bytes=100 bytes.*Parquet", max_bytes=100)
    path.write_text("a,b\n1,0\n")
    (tmp_path / "y.csv").write_text("a,c\n1,0\n")
    with pytest.raises(TableError, match=r"y\.csv: the columns differ from those of x\.csv"):
        open_table([path, tmp_path / "y.csv"])
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(b"1,0\n" * 1_000_000))
    with pytest.raises(TableError, match=r"more than max_bytes=1000000 bytes"):
        open_table(tmp_path / "z.csv.gz", max_bytes=1_000_000)


def as_the_csv_module_reads(data):
    """The cells of a table of bits with a line of names; None where it is anything else."""
    try:
        _, *rows = csv.reader(io.StringIO(data.decode(), newline="\n"), strict=True)
    except (UnicodeError, csv.Error, ValueError):
        return None
    cells = {"0": 0.0, "1": 1.0, "": np.nan}
    if not rows or {len(row) for row in rows} != {3} or not {cell for row in rows for cell in row} <= set(cells):
        return None
    return [[cells[cell] for cell in row] for row in rows]


@pytest.mark.parametrize("byte", [b"", b"1", b",", b"\n", b'"', b"\xc3", b"\0", b"x"])
def test_damage_at_every_byte(tmp_path, byte):
    """What is still a table is that of the csv module; all else is refused with the name of the file, or asked for."""
    path = tmp_path / "x.csv"
    whole = b"a,b,c\n" + b"0,1,\n1,1,0\n,0,1\n1,0,0\n" * 2
    n_read = 0
    for start in range(6, len(whole)):
        for stop in (start, start + 1):  # put in, and in place of another
            data = whole[:start] + byte + whole[stop:]
            path.write_bytes(data)
            expected = as_the_csv_module_reads(data)
            message, cells = opened(path)
            if expected is None:
                assert message is None or message.startswith(str(path))
            else:
                np.testing.assert_array_equal(cells, expected)
                n_read += 1
    assert n_read >= 8 or byte in (b'"', b"\xc3", b"\0", b"x")


def opened(path):
    with warnings.catch_warnings(action="ignore"):
        try:
            return None, open_table(path).to_float()
        except TableError as error:
            return str(error), None
