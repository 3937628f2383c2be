"""Comma-separated tables whose columns are of several kinds, read into memory.

A file of text has no types: a column whose cells are all true or false, or all numbers, is one of these, and any other
is one of words. What is blank is the same as in tables of bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from hiddenbits.data.cell_checks import check_distinct
from hiddenbits.data.mixed.cells import MixedTable
from hiddenbits.data.mixed.encode import RawColumn, open_raw, raw_of_distinct
from hiddenbits.data.readers.csv_lines import BLANKS, full_rows, reading_csv
from hiddenbits.data.readers.request import FileRequest, choose, reading
from hiddenbits.data.table import TableError
from hiddenbits.quoting import quoted

CHUNK_ROWS = 1 << 14
TRUTHS = {"true": True, "false": False}


class _Words(dict[str, int]):
    """A number for every distinct cell of a column, in the order in which they appear."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def open_mixed_csv(
    request: FileRequest,
    header: bool | None,
    delimiter: str,
    columns: Sequence[str | int] | None,
    drop: Sequence[str | int] | None,
    max_bytes: int,
) -> MixedTable | None:
    """Return the table; None where all columns turn out to be binary."""
    fields: tuple[str, ...] | None = None
    keep: tuple[int, ...] = ()
    words: list[_Words] = []
    codes: list[list[np.ndarray[Any, Any]]] = []
    for path in request.files:
        with reading_csv(path, delimiter, max_bytes) as (lines, rows):
            mine, first = _fields(next(rows, None), header)
            if fields is None:
                fields, keep = mine, choose(mine, columns, drop)
                words, codes = [_Words() for _ in keep], [[] for _ in keep]
            if mine != fields:
                raise TableError(f"the columns are not those of {request.files[0].name}. Give every file the same.")
            line = 1 if first else lines.number + 1
            while chunk := [*first, *islice(rows, CHUNK_ROWS)]:
                chunk = full_rows(chunk, len(fields), line)
                for at, j in enumerate(keep):
                    codes[at].append(np.fromiter((words[at][row[j]] for row in chunk), np.int64, len(chunk)))
                first, line = [], lines.number + 1
    if fields is None or not codes or not codes[0]:
        raise TableError(f"{request.files[0]}: the file holds no rows. A table needs at least one.")
    raw = [_column(at, fields[j], list(words[at]), np.concatenate(codes[at])) for at, j in enumerate(keep)]
    with reading(request.files[0]):
        table = open_raw(raw, None, request.kinds, request.names, named=header is not False)
    return None if table.layout.only_bits else table


def _fields(first: list[str] | None, header: bool | None) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the names of the columns, and the first line where it holds cells."""
    if first is None:
        raise TableError("the file is empty. A table needs at least one row.")
    if header is False:
        return tuple(f"x{j}" for j in range(len(first))), [first]
    names = tuple(cell.strip() for cell in first)
    numbers = [name for name in names if _number(name) is not None]
    if header is None and numbers:
        raise TableError(
            f"line 1 holds a number ({quoted(numbers[0])}). Say whether it is a line of names with header=True or "
            "header=False."
        )
    check_distinct(names)
    return names, []


def _column(number: int, name: str, words: list[str], codes: np.ndarray[Any, Any]) -> RawColumn:
    """Return a column from its distinct cells and which of them each row has."""
    plain = [None if word.strip().lower() in BLANKS else word.strip() for word in words]
    seen = [word for word in plain if word is not None]
    cells: list[Any] = plain
    if seen and all(word.lower() in TRUTHS for word in seen):
        cells = [None if word is None else TRUTHS[word.lower()] for word in plain]
    elif seen and all(_number(word) is not None for word in seen):
        cells = [None if word is None else _number(word) for word in plain]
    return raw_of_distinct(number, name, cells, codes)


def _number(word: str) -> int | float | None:
    """Return the number that a word is; None where it is none."""
    try:
        found = float(word)
    except ValueError:
        return None
    if "_" in word:
        return None
    return int(found) if math.isfinite(found) and word.lstrip("+-").isdigit() else found  # infinity is refused later
