"""Files of SPSS and Stata, decoded by pyreadstat: value labels are the cells, and declared missing codes are blanks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import MAX_BYTES, check_distinct
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.vocabulary import key_of, one_of_two
from hiddenbits.data.columns.gather import cells_of_objects
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, check_shape, reading
from hiddenbits.data.locations.places import Place, for_library
from hiddenbits.data.named.raw_table import open_decoded
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import too_large
from hiddenbits.quoting import told

READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}
CELL_BYTES = 16  # what a cell takes in memory while it is read, at least


def open_labelled(
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
    for path, table in zip(request.files[1:], tables[1:], strict=True):
        if [column.name for column in table] != [column.name for column in tables[0]]:
            raise TableError(
                f"{path}: the columns differ from those of {request.files[0].name}. All files of a table need the same."
            )
    columns = tables[0] if len(tables) == 1 else [_joined(parts) for parts in zip(*tables, strict=True)]
    with reading(request.files[0]):
        return open_decoded(columns, request)


def _columns(path: Place, labels: bool, encoding: Any, max_bytes: int) -> list[ColumnCells]:
    """Return the columns of one file."""
    statistics = _pyreadstat()
    suffix = path.suffix.lower()
    with reading(path), for_library(path) as source:
        if suffix not in READERS:
            raise TableError(f"the suffix {suffix!r} is not one of {', '.join(READERS)}. Rename the file.")
        read = getattr(statistics, READERS[suffix])
        given = {} if encoding is None else {"encoding": encoding}
        where = source if hasattr(source, "read") else str(source)
        try:
            about = read(where, metadataonly=True, **given)[1]
            n_rows, names = about.number_rows, list(about.column_names)
            check_distinct(names)
            if n_rows is not None and n_rows >= 0:
                check_shape(n_rows, len(names))
                if n_rows * len(names) * CELL_BYTES > max_bytes:
                    raise too_large(path, max_bytes)
            if hasattr(where, "seek"):
                where.seek(0)
            cells, about = read(where, output_format="dict", **given)
        except (statistics.ReadstatError, statistics.PyreadstatError) as error:
            raise TableError(f"the file is damaged, or not of SPSS or Stata ({told(error)}). Save it again.") from error
        check_shape(len(cells[names[0]]) if names else 0, len(names))
        named = about.variable_value_labels if labels else {}
        return [_labelled(name, cells[name], named.get(name, {})) for name in names]


def _labelled(name: str, values: Any, labels: Mapping[Any, str]) -> ColumnCells:
    """Return a column with its labels for values."""
    cells = [_plain(value) for value in values]
    known = {_plain(code): str(label).strip() for code, label in labels.items()}
    found = {cell for cell in cells if cell is not None}
    codes = sorted(found, key=lambda code: (isinstance(code, str), code))
    labelled = found <= set(known) and len({known[code] for code in codes}) == len(codes)
    bits = found <= {0, 1} and not _zero_is_yes(known)
    if not found or bits or not labelled:
        return cells_of_objects(name, cells)
    return cells_of_objects(name, [None if cell is None else known[cell] for cell in cells])


def _zero_is_yes(labels: Mapping[Any, str]) -> bool:
    """Whether the labels of 0 and 1 say that 0 means yes and 1 no."""
    return {0, 1} <= set(labels) and one_of_two(key_of(labels[0]), key_of(labels[1])) == (key_of(labels[0]), True)


def _plain(value: Any) -> Any:
    """Return a value as a Python object: a whole number as an int, a date as text, a blank as None."""
    if isinstance(value, (np.generic,)):
        value = value.item()
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, str):
        return value.strip() or None
    return value if value is None or isinstance(value, (bool, int)) else str(value)


def _joined(parts: Sequence[ColumnCells]) -> ColumnCells:
    """Return the columns of several files as one."""
    if len({part.is_numeric for part in parts if any(value is not None for value in part.values)}) > 1:
        raise TableError(f"column {parts[0].name!r} has numbers in one file and words in another. Use one form.")
    return cells_of_objects(parts[0].name, [cell for part in parts for cell in part.listed()])


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError as error:
        raise ImportError("Files of SPSS and Stata need pyreadstat: pip install 'hiddenbits[tables]'.") from error
    return pyreadstat
