"""Sheets of spreadsheets (Excel, LibreOffice), decoded by calamine; cells are read like those of CSV files."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from itertools import compress
from typing import Any
from warnings import warn

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.file_request import FileRequest
from hiddenbits.data.locations.places import Place, for_library
from hiddenbits.data.named.csv.ends import Ends
from hiddenbits.data.named.csv.read import open_rows
from hiddenbits.data.named.csv.rows import OnProgress, TextRows
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import too_large
from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable, redacted

CELL_BYTES = 100  # approximate memory of a cell while it is read
LAST_CELL = re.compile(rb"""<dimension\s+ref=["'][^"':]*:([A-Z]{1,3})([0-9]{1,7})["']""")  # the last cell of a sheet


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
    on_progress: OnProgress | None = None,
) -> Table:
    """Open a sheet of Excel's (``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls``) or OpenDocument's (``.ods``) files.

    Cells are read as in a CSV file: numbers, words, true and false; dates become text such as 2026-01-31. Empty
    rows at both ends and empty columns are dropped.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    sheet : str or int, optional
        Name of the sheet, or its number, from 0. By default the first non-empty sheet, with a warning if there are
        several.
    header, skip_top, skip_end, split, max_columns, on_progress
        As for CSV files; rows are counted from the first non-empty one.
    max_bytes : int, default=4 GiB
        Maximum size of the file, decompressed, and of its cells in memory.
    """

    def rows_of(path: Place) -> TextRows:
        rows, first = _cells(path, sheet, max_bytes)
        return TextRows(rows[skip_top:], first + skip_top)  # numbered as in the spreadsheet program

    ends = Ends(skip_top, skip_end)
    request = replace(request, offers=("skip_top", "skip_end", "split"))
    return open_rows(
        request, rows_of, header=header, ends=ends, on_progress=on_progress, split=split, max_columns=max_columns
    )


def _cells(path: Place, sheet: str | int | None, max_bytes: int) -> tuple[list[list[str]], int]:
    """Return the rows of a file without empty ones at both ends, and the number of empty rows at the top."""
    calamine = _calamine()
    with for_library(path) as source:
        _check_size(path, source, max_bytes)
        try:
            with calamine.CalamineWorkbook.from_object(source) as book:
                sheet_cells = book.get_sheet_by_name(_sheet_name(path, book, sheet))
                if sheet_cells.height * sheet_cells.width * CELL_BYTES > max_bytes:
                    raise too_large(path, max_bytes)
                rows = [[_cell_text(cell) for cell in row] for row in sheet_cells.iter_rows()]
        except calamine.PasswordError as error:
            raise TableError("the file is protected by a password. Save it without one.") from error
        except calamine.CalamineError as error:
            raise TableError(
                f"the file is damaged, or not a spreadsheet ({redacted(error)}). Save it again, or name its format "
                "with format=."
            ) from error
    filled_rows = [i for i, row in enumerate(rows) if any(map(str.strip, row))] or [0]
    rows = rows[filled_rows[0] : filled_rows[-1] + 1]
    is_filled = [any(map(str.strip, column)) for column in zip(*rows, strict=True)]
    return rows if all(is_filled) else [list(compress(row, is_filled)) for row in rows], filled_rows[0]


def _sheet_name(path: Place, book: Any, sheet: str | int | None) -> str:
    """Return the name of the specified sheet, or of the first one that is not empty."""
    names: list[str] = list(book.sheet_names)
    listed = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    if sheet is None:
        non_empty = [name for name in names if book.get_sheet_by_name(name).height]
        if not non_empty:
            raise TableError("the file is empty. A table needs at least one row.")
        if len(non_empty) > 1:
            warn(
                f"{printable(path)}: read from sheet {non_empty[0]!r}, the first of {listed}. If that is wrong, set "
                "sheet=.",
                CSVDialectWarning,
                stacklevel=2,
            )
        return non_empty[0]
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return names[sheet]
    if sheet not in names:
        raise TableError(f"there is no sheet {sheet!r}. The sheets are {listed}.")
    return str(sheet)


def _calamine() -> Any:
    try:
        import python_calamine
    except ImportError as error:
        raise ImportError("Spreadsheets need python-calamine: pip install 'hiddenbits[tables]'.") from error
    return python_calamine


def _check_size(path: Place, source: Any, max_bytes: int) -> None:
    """Refuse a file if its declared size, or the size of its cells, exceeds the limit.

    One distant cell suffices: calamine allocates all cells up to it, and running out of memory ends the process.
    """
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(source) as archive:  # .xls is not an archive
        n_bytes = sum(entry.file_size for entry in archive.infolist())
        for entry in archive.infolist():
            if n_bytes <= max_bytes and re.match(r"/?xl/worksheets/[^/]*\.xml$", entry.filename, re.IGNORECASE):
                with archive.open(entry) as file:
                    last_cell = LAST_CELL.search(file.read(1 << 12))
                columns = reduce(lambda number, letter: 26 * number + letter - 64, last_cell[1], 0) if last_cell else 0
                n_bytes = max(n_bytes, columns * int(last_cell[2]) * CELL_BYTES if last_cell else 0)
        if n_bytes > max_bytes:
            raise too_large(path, max_bytes)
    if hasattr(source, "seek"):
        source.seek(0)


def _cell_text(cell: Any) -> str:
    """Return a cell as text of a CSV file; spreadsheets store whole numbers as 1.0."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(cell.isoformat() if hasattr(cell, "isoformat") else cell)
