"""Sheets of spreadsheet programs (Excel, LibreOffice), decoded by calamine; cells are read as those of CSV files."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import IO, Any
from warnings import warn

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.errors import FoundDialectWarning, TableError
from hiddenbits.data.file_request import FileRequest
from hiddenbits.data.locations.places import Place, for_library
from hiddenbits.data.named.csv.ends import Ends
from hiddenbits.data.named.csv.read import open_rows, split_rows
from hiddenbits.data.named.csv.rows import RowsOf
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import too_large
from hiddenbits.quoting import printable, told

CELL_BYTES = 100  # what a cell takes in memory while it is read, roughly

REFERENCE = re.compile(rb"""\sr=["']([A-Z]{1,3})([0-9]{1,7})["']""")  # such as r="B12"


def open_sheets(
    request: FileRequest,
    *,
    sheet: str | int | None = None,
    header: bool | None = None,
    skip_top: int = 0,
    skip_end: int = 0,
    split: str | Mapping[str, str] | None = None,
    max_columns: int = MAX_COLUMNS,
    max_bytes: int = MAX_BYTES,
    tell: Callable[[int, float | None], None] | None = None,
) -> Table:
    """Open a sheet of Excel's (``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls``) or OpenDocument's (``.ods``) files.

    Cells are read as in a CSV file: numbers, words, true and false; dates become text such as 2026-01-31. Rows and
    columns at the edges that are all empty are left out.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    sheet : str or int, optional
        Name of the sheet, or its number, from 0. By default the first one that holds cells; said, if there are more.
    header, skip_top, skip_end, split, max_columns, tell
        As for CSV files; rows are counted from the first that is not empty.
    max_bytes : int, default=4 GiB
        The most that the file may come to, unpacked, and its cells in memory.
    """
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, (str, int))):
        raise TableError(f"sheet={sheet!r}: give the name of a sheet, or its number, from 0.")
    ends = Ends(skip_top, skip_end)
    rows_of: RowsOf = _Books(sheet, max_bytes, skip_top).open
    if split is not None:
        rows_of, header = split_rows(request, rows_of, split, header, max_columns), True
    request = replace(request, offers=("skip_top", "skip_end", "split"))
    return open_rows(request, rows_of, header=header, ends=ends, tell=tell)


@dataclass
class _Books:
    """Which sheet is asked for, and what was said."""

    sheet: str | int | None
    max_bytes: int
    skip_top: int = 0
    _rows: dict[Place, tuple[list[list[str]], int]] = field(default_factory=dict)

    def open(self, path: Place) -> SheetRows:
        """Return the rows of a file; they are decoded once."""
        if path not in self._rows:
            self._rows[path] = self._read(path)
        rows, first = self._rows[path]
        return SheetRows(rows[self.skip_top :], first + self.skip_top)

    def _read(self, path: Place) -> tuple[list[list[str]], int]:
        calamine = _calamine()
        with for_library(path) as source:
            _check_size(path, source, self.max_bytes)
            try:
                with calamine.CalamineWorkbook.from_object(source) as book:
                    return self._chosen(path, book)
            except calamine.PasswordError as error:
                raise TableError("the file is protected by a password. Save it without one.") from error
            except calamine.CalamineError as error:
                raise TableError(
                    f"the file is damaged, or no spreadsheet ({told(error)}). Save it again, or name its format with "
                    "format=."
                ) from error

    def _chosen(self, path: Place, book: Any) -> tuple[list[list[str]], int]:
        """Return the rows of the sheet that was asked for, or of the first one that has any, and where they start."""
        names = list(book.sheet_names)
        listed = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        if self.sheet is None:
            filled = [name for name in names if _area(book, name)]
            if not filled:
                raise TableError("the file is empty. A table needs at least one row.")
            name = filled[0]
            if len(filled) > 1:
                warn(
                    f"{printable(path)}: read from sheet {name!r}, the first of {listed}. If that is wrong, set "
                    "sheet=.",
                    FoundDialectWarning,
                    stacklevel=2,
                )
        elif self.sheet in names or (isinstance(self.sheet, int) and 0 <= self.sheet < len(names)):
            name = names[self.sheet] if isinstance(self.sheet, int) else self.sheet
        else:
            raise TableError(f"there is no sheet {self.sheet!r}. The sheets are {listed}.")
        if _area(book, name) * CELL_BYTES > self.max_bytes:
            raise too_large(path, self.max_bytes)
        sheet = book.get_sheet_by_name(name)
        return _trimmed([[_text(cell) for cell in row] for row in sheet.iter_rows()])


class SheetRows(Iterator[list[str]]):
    """The rows of a sheet, in memory; `number` counts as the program that wrote it shows rows."""

    share = None

    def __init__(self, rows: list[list[str]], first: int) -> None:
        self._rows, self.number = iter(rows), first

    def __next__(self) -> list[str]:
        row = next(self._rows)
        self.number += 1
        return row

    def close(self) -> None:
        """Nothing is open."""


def _calamine() -> Any:
    try:
        import python_calamine
    except ImportError as error:
        raise ImportError("Spreadsheets need python-calamine: pip install 'hiddenbits[tables]'.") from error
    return python_calamine


def _check_size(path: Place, source: Any, max_bytes: int) -> None:
    """Refuse a file that says itself that it unpacks, or that its cells come, to more than is allowed.

    One cell far out is enough: calamine lays out all cells before it, and ends the process where memory does.
    """
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(source) as packed:  # .xls is none
        entries = packed.infolist()
        if sum(entry.file_size for entry in entries) > max_bytes:
            raise too_large(path, max_bytes)
        for entry in entries:
            if re.fullmatch(r"/?xl/worksheets/[^/]*\.xml", entry.filename, re.IGNORECASE):
                with packed.open(entry) as sheet:
                    rows, columns = _corner(sheet)
                if rows * columns * CELL_BYTES > max_bytes:
                    raise too_large(path, max_bytes)
    if hasattr(source, "seek"):
        source.seek(0)


def _corner(sheet: IO[bytes]) -> tuple[int, int]:
    """Return the largest row and column that cells of an Excel sheet name."""
    rows, columns, rest = 0, 0, b""
    while piece := sheet.read(1 << 20):
        text = rest + piece
        for column, row in set(REFERENCE.findall(text)):
            rows = max(rows, int(row))
            columns = max(columns, reduce(lambda number, letter: 26 * number + letter - 64, column, 0))
        rest = text[-40:]  # a reference may be cut
    return rows, columns


def _area(book: Any, name: str) -> int:
    """Return the number of cells of the smallest rectangle that holds all cells of a sheet."""
    sheet = book.get_sheet_by_name(name)
    return int(sheet.height) * int(sheet.width)


def _text(cell: Any) -> str:
    """Return a cell as it would stand in a CSV file; spreadsheets hold whole numbers as 1.0."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, datetime.timedelta):
        return repr(cell.total_seconds())
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return "" if cell is None else str(cell)


def _trimmed(rows: list[list[str]]) -> tuple[list[list[str]], int]:
    """Return rows without columns that are all empty and such rows at both ends; and how many were before them."""
    filled = [i for i, row in enumerate(rows) if any(cell.strip() for cell in row)]
    first, last = (filled[0], filled[-1]) if filled else (0, -1)
    rows = rows[first : last + 1]
    width = max(map(len, rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    keep = [j for j in range(width) if any(row[j].strip() for row in rows)]
    return rows if len(keep) == width else [[row[j] for j in keep] for row in rows], first
