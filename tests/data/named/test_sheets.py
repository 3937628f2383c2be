"""Spreadsheets, written by openpyxl and odfpy: the same table as the same cells in a CSV file."""

import datetime
import sys
import zipfile

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.exceptions import CSVDialectWarning, TableError

pytest.importorskip("python_calamine")
openpyxl = pytest.importorskip("openpyxl")
ROWS = [
    ["name", "hair", "eggs", "legs", "seen"],
    ["bear", 1, False, 4, datetime.date(2026, 1, 31)],
    ["fly", 0, True, 6.5, None],
    ["eel", None, True, 0, datetime.datetime(2026, 2, 1, 12, 30)],
]


def write(path, rows=ROWS, **more):
    book = openpyxl.Workbook()
    for title, cells in {"data": rows, **more}.items():
        sheet = book.create_sheet(title)
        for row in cells:
            sheet.append(row)
    del book[book.sheetnames[0]]
    book.save(path)
    return path


def write_ods(path, rows=ROWS):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("odf")
    pandas.DataFrame(rows).to_excel(path, index=False, header=False, engine="odf")
    return path


@pytest.mark.parametrize("name", ["x.xlsx", "x.ods"])
def test_cells_are_those_of_a_csv_file(tmp_path, name):
    path = (write if name == "x.xlsx" else write_ods)(tmp_path / name)
    (tmp_path / "x.csv").write_text("name,hair,eggs,legs\nbear,1,false,4\nfly,0,true,6.5\neel,,true,0\n")
    for options in ({"columns": ["hair", "eggs"]}, {"columns": "binary"}, {"columns": ["legs"], "threshold": 3}):
        mine, other = open_table(path, **options), open_table(tmp_path / "x.csv", **options)
        assert mine.names == other.names
        np.testing.assert_array_equal(mine.to_float(), other.to_float())
    beside = open_table(path, columns="binary").beside
    assert list(beside["legs"]) == ["4", "6.5", "0"]
    assert list(beside["seen"])[:2] == ["2026-01-31", None]


def test_sheets_are_chosen_and_said(tmp_path):
    path = write(tmp_path / "x.xlsx", [], notes=[["a"], [1]], more=[["b"], [0], [1]])
    with pytest.warns(CSVDialectWarning, match="read from sheet 'notes', the first of 'data', 'notes', 'more'"):
        assert open_table(path).names == ("a",)
    for sheet in ("more", 2):
        assert open_table(path, sheet=sheet).names == ("b",)
    for sheet in ("none", 3, -1, 1.5):
        with pytest.raises(TableError, match=r"x\.xlsx: there is no sheet .*'data', 'notes', 'more'"):
            open_table(path, sheet=sheet)


def test_empty_edges_are_left_out_and_rows_are_counted_as_shown(tmp_path):
    rows = [[None, "a", None, "b"], [None, 1, None, 0], [None, 0, None, 7], [None, " ", None, None]]
    path = write(tmp_path / "x.xlsx", [[], [], *rows])
    with pytest.raises(TableError, match=r"x\.xlsx: (.|\n)*'b': 7"):
        open_table(path)
    rows[2][3] = 1
    table = open_table(write(path, rows))
    np.testing.assert_array_equal(table.to_float(), [[1, 0], [0, 1]])


@pytest.mark.parametrize("name", ["x.xlsx", "x.ods", "x.xls"])
def test_damaged_files_are_refused(tmp_path, name):
    path = tmp_path / name
    whole = (
        (write_ods if name == "x.ods" else write)(path).read_bytes() if name != "x.xls" else b"\xd0\xcf\x11\xe0" * 99
    )
    for data in (b"", b"a,b\n1,0\n", whole[:30], whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(data)
        with pytest.raises(TableError, match=rf"{name}: the file is damaged, or not a spreadsheet"):
            open_table(path)


def test_large_files_are_refused(tmp_path):
    path = write(tmp_path / "x.xlsx", [["a"], *[[i % 2] for i in range(1000)]])
    assert open_table(path).shape == (1000, 1)
    with pytest.raises(TableError, match=r"x\.xlsx: the text takes more than max_bytes=20000"):
        open_table(path, max_bytes=20_000)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bomb", bytes(10**7))
    with pytest.raises(TableError, match=r"x\.xlsx: the text takes more than max_bytes=1000000"):
        open_table(path, max_bytes=1_000_000)
    with pytest.raises(TableError, match=r"x\.xlsx: the file is empty"):
        open_table(write(path, []))


def test_a_cell_far_out_is_refused(tmp_path):
    """The library would take memory for all cells before it, and end the process."""
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A2"], book.active["XFD1048576"] = "a", 1, 1
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(TableError, match=r"x\.xlsx: the text takes more than max_bytes="):
        open_table(tmp_path / "x.xlsx")


def test_without_calamine(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"pip install 'hiddenbits\[tables\]'"):
        open_table(write(tmp_path / "x.xlsx"))
