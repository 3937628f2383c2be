"""Files of SPSS and Stata, decoded by pyreadstat: cells become value labels; declared missing codes are missing."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import MAX_BYTES, check_distinct
from hiddenbits.data.coding.cells import ColumnCells, compact
from hiddenbits.data.coding.vocabulary import key_of, positive_value
from hiddenbits.data.columns.gather import cells_of_objects
from hiddenbits.data.columns.open import open_cells
from hiddenbits.data.file_request import FileRequest, check_shape, reading
from hiddenbits.data.locations.places import Place, for_library
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import too_large
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}
CELL_BYTES = 16  # minimum memory of a cell while it is read


def open_labeled(
    request: FileRequest,
    *,
    labels: bool = True,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Open a file of SPSS (``.sav``, ``.zsav``, ``.por``) or Stata (``.dta``).

    Codes that the file declares as missing, and Stata's .a to .z, are missing values. A column whose values all have
    labels is read as these labels, in the order of the codes. But 0 and 1 stay numbers, unless their labels say that 0
    means yes. A column with labels for only some of its values keeps its numbers.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    labels : bool, default=True
        Whether to use labels; otherwise all columns keep their codes.
    encoding : str, optional
        The encoding of the text, if the file does not declare it or declares a wrong one.
    max_bytes : int, default=4 GiB
        Maximum memory of the cells.
    """
    tables = [_columns(path, labels, encoding, max_bytes) for path in request.files]
    names = [column.name for column in tables[0]]
    for path, table in zip(request.files[1:], tables[1:], strict=True):
        if [column.name for column in table] != names:
            raise TableError(
                f"{path}: the columns differ from those of {request.files[0].name}. All files of a table need the same."
            )
    columns = tables[0]
    if len(tables) > 1:  # files may number values differently
        stack = zip(names, *tables, strict=True)
        columns = [cells_of_objects(name, [cell for part in parts for cell in part.listed()]) for name, *parts in stack]
    with reading(request.files[0]):
        return open_cells(columns, request)


def _columns(path: Place, labels: bool, encoding: Any, max_bytes: int) -> list[ColumnCells]:
    """Return the columns of one file."""
    pyreadstat = _pyreadstat()
    with reading(path), for_library(path) as source:
        read = getattr(pyreadstat, READERS.get(path.suffix.lower(), "read_sav"))
        options = {} if encoding is None else {"encoding": encoding}
        file = source if hasattr(source, "read") else str(source)
        try:
            metadata = read(file, metadataonly=True, **options)[1]
            check_distinct(metadata.column_names)
            if (metadata.number_rows or 0) * len(metadata.column_names) * CELL_BYTES > max_bytes:  # -1 if unknown
                raise too_large(path, max_bytes)
            if hasattr(file, "seek"):
                file.seek(0)
            cells, metadata = read(file, output_format="dict", **options)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
            raise TableError(
                f"the file is damaged, or not of SPSS or Stata ({redacted(error)}). Save it again."
            ) from error
        check_shape(len(next(iter(cells.values()), ())), len(cells))
        value_labels = metadata.variable_value_labels if labels else {}
        return [_labeled(name, column, value_labels.get(name, {})) for name, column in cells.items()]


def _labeled(name: str, cells: Sequence[Any], labels: Mapping[Any, str]) -> ColumnCells:
    """Return a column with labels in place of codes."""
    numbers: dict[Any, int] = {}
    rows = np.fromiter((numbers.setdefault(cell, len(numbers)) for cell in cells), np.int32, len(cells))
    values = [_plain(value) for value in numbers]
    label_of = {_plain(code): str(label).strip() for code, label in labels.items()}
    codes = set(values) - {None}
    has_all_labels = codes <= set(label_of) and len({label_of[code] for code in codes}) == len(codes)
    if has_all_labels and (not codes <= {0, 1} or _zero_is_yes(label_of)):
        values = [None if value is None else label_of[value] for value in values]
    return ColumnCells(name, values, compact(rows, len(values)))


def _zero_is_yes(labels: Mapping[Any, str]) -> bool:
    """Whether the labels of 0 and 1 say that 0 means yes and 1 no."""
    return {0, 1} <= set(labels) and positive_value(key_of(labels[0]), key_of(labels[1])) == (key_of(labels[0]), True)


def _plain(value: Any) -> Any:
    """Return a value as columns store it: a whole number as an int, a date as text, empty text as None."""
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
