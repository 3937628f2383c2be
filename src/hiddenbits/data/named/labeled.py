"""Files of SPSS and Stata, decoded by pyreadstat: value labels are the cells, and declared missing codes are blanks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import MAX_BYTES, check_distinct
from hiddenbits.data.coding.cells import ColumnCells, small
from hiddenbits.data.coding.vocabulary import key_of, positive_value
from hiddenbits.data.columns.gather import cells_of_objects
from hiddenbits.data.columns.open import open_cells
from hiddenbits.data.file_request import FileRequest, check_shape, reading
from hiddenbits.data.locations.places import Place, for_library
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import too_large
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import told

READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}
CELL_BYTES = 16  # what a cell takes in memory while it is read, at least


def open_labeled(
    request: FileRequest,
    *,
    labels: bool = True,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Open a file of SPSS (``.sav``, ``.zsav``, ``.por``) or Stata (``.dta``).

    Codes that the file declares as missing, and Stata's .a to .z, are blanks. A column whose values all have labels
    is read as these labels, in the order of the codes; but 0 and 1 stay as they are, because they are bits, unless
    their labels say that 0 means yes. A column with labels for some of its values only keeps its numbers.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    labels : bool, default=True
        Whether labels are used; otherwise all columns keep their codes.
    encoding : str, optional
        The encoding of the text, where the file does not say it or is wrong about it.
    max_bytes : int, default=4 GiB
        The most that the cells may take in memory.
    """
    tables = [_columns(path, labels, encoding, max_bytes) for path in request.files]
    names = [column.name for column in tables[0]]
    for path, table in zip(request.files[1:], tables[1:], strict=True):
        if [column.name for column in table] != names:
            raise TableError(
                f"{path}: the columns differ from those of {request.files[0].name}. All files of a table need the same."
            )
    columns = tables[0]
    if len(tables) > 1:  # a value may have another number in each file
        below = zip(names, *tables, strict=True)
        columns = [cells_of_objects(name, [cell for one in parts for cell in one.listed()]) for name, *parts in below]
    with reading(request.files[0]):
        return open_cells(columns, request)


def _columns(path: Place, labels: bool, encoding: Any, max_bytes: int) -> list[ColumnCells]:
    """Return the columns of one file."""
    statistics = _pyreadstat()
    with reading(path), for_library(path) as source:
        read = getattr(statistics, READERS.get(path.suffix.lower(), "read_sav"))
        given = {} if encoding is None else {"encoding": encoding}
        where = source if hasattr(source, "read") else str(source)
        try:
            about = read(where, metadataonly=True, **given)[1]
            check_distinct(about.column_names)
            if (about.number_rows or 0) * len(about.column_names) * CELL_BYTES > max_bytes:  # unknown of some: -1
                raise too_large(path, max_bytes)
            if hasattr(where, "seek"):
                where.seek(0)
            cells, about = read(where, output_format="dict", **given)
        except (statistics.ReadstatError, statistics.PyreadstatError) as error:
            raise TableError(f"the file is damaged, or not of SPSS or Stata ({told(error)}). Save it again.") from error
        check_shape(len(next(iter(cells.values()), ())), len(cells))
        named = about.variable_value_labels if labels else {}
        return [_labeled(name, column, named.get(name, {})) for name, column in cells.items()]


def _labeled(name: str, cells: Sequence[Any], labels: Mapping[Any, str]) -> ColumnCells:
    """Return a column with its labels for values."""
    numbers: dict[Any, int] = {}
    rows = np.fromiter((numbers.setdefault(cell, len(numbers)) for cell in cells), np.int32, len(cells))
    values = [_plain(value) for value in numbers]
    known = {_plain(code): str(label).strip() for code, label in labels.items()}
    found = set(values) - {None}
    told_apart = found <= set(known) and len({known[code] for code in found}) == len(found)
    if told_apart and (not found <= {0, 1} or _zero_is_yes(known)):
        values = [None if value is None else known[value] for value in values]
    return ColumnCells(name, values, small(rows, len(values)))


def _zero_is_yes(labels: Mapping[Any, str]) -> bool:
    """Whether the labels of 0 and 1 say that 0 means yes and 1 no."""
    return {0, 1} <= set(labels) and positive_value(key_of(labels[0]), key_of(labels[1])) == (key_of(labels[0]), True)


def _plain(value: Any) -> Any:
    """Return a value as a column holds it: a whole number as an int, a date as text, empty text as None."""
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return value.strip() or None if isinstance(value, str) else value


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError as error:
        raise ImportError("Files of SPSS and Stata need pyreadstat: pip install 'hiddenbits[tables]'.") from error
    return pyreadstat
