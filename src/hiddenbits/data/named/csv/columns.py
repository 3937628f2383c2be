"""Rows of text gathered into columns: of bits in one byte a cell, or of any values.

A file of text has no types: `cell_value` says what a cell is in a table of bits. Rows come as lists of cells, or as
blocks that are cut already, which gives the same table and is quicker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, ByteArray, Dense
from hiddenbits.data.cell_checks import observed_from_missing
from hiddenbits.data.coding.cells import ColumnCells, small
from hiddenbits.data.coding.vocabulary import BLANKS, key_of
from hiddenbits.data.columns import open_cells
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest
from hiddenbits.data.named.csv.blocks import FEW, TextBlock
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.quoting import quoted

TRUTHS = {"true": True, "false": False}
BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}
BLANK, BAD = 2, 3  # codes of a cell besides 0 and 1
CACHED = 1 << 16
FEWEST_ROWS = 256  # of a block, for which operations on each of its columns are worth it

Rows = list[list[str]]


@dataclass(frozen=True)
class Layout:
    """The fields of a line."""

    fields: tuple[str, ...]
    named: bool


Take = Callable[[Layout, "Rows | TextBlock", int], None]  # is given some rows, and the line at which they start


class OtherCellsError(Exception):
    """A table of bits holds other cells. No kind of error that a damaged file causes."""


def line_of(rows: Rows | TextBlock, at: int, first: int) -> int:
    """Return the line on which row `at` starts: quoted cells may hold line breaks, but not those of a block."""
    if isinstance(rows, TextBlock):
        return first + at
    return first + at + "".join(chain.from_iterable(rows[:at])).count("\n")


def cell_value(text: str) -> bool | int | float | str | None:
    """Return what a cell holds: true or false, a number, a word; None where it is blank."""
    word = text.strip()
    lower = word.lower()
    if lower in BLANKS:
        return None
    if lower in TRUTHS:
        return TRUTHS[lower]
    number = cell_number(word)
    return word if number is None else number


def cell_number(word: str) -> int | float | None:
    """Return the number that a word is; None where it is none."""
    try:
        number = float(word)
    except ValueError:
        return None
    if "_" in word:
        return None
    return int(number) if math.isfinite(number) and word.lstrip("+-").isdigit() else number


class BitCodes(dict[str, int]):
    """Code of a cell by its text in a table of bits; unusual spellings are worked out once and remembered."""

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold

    def __missing__(self, text: str) -> int:
        value = cell_value(text)
        if value is None:
            code = BLANK
        elif self.threshold is None:
            code = BITS.get(text.strip().lower(), BAD)
        else:
            code = BAD if isinstance(value, str) or not math.isfinite(value) else int(value > self.threshold)
        if len(self) < CACHED:
            self[text] = code
        return code


class BitColumns:
    """A table of bits, gathered chunk by chunk."""

    def __init__(self, cells: BitCodes, request: FileRequest) -> None:
        self._cells, self._request = cells, request
        self._layout = Layout((), False)
        self._codes: list[ByteArray] = []

    def take(self, layout: Layout, rows: Rows | TextBlock, line: int) -> None:
        """Take the codes of some rows."""
        code_of = self._cells.__getitem__
        if isinstance(rows, TextBlock):
            codes = rows.codes(code_of).astype(np.uint8, copy=False)
        else:
            codes = np.frombuffer(bytearray(map(code_of, chain.from_iterable(rows))), np.uint8).reshape(len(rows), -1)
        if codes.max() == BAD:
            if not self._request.plain_only:
                raise OtherCellsError
            at, j = (int(i) for i in np.argwhere(codes == BAD)[0])
            text = rows.text(at, j) if isinstance(rows, TextBlock) else rows[at][j]
            raise self._bad_cell(text, line_of(rows, at, line), j, layout)
        self._layout = layout
        self._codes.append(codes)

    def table(self) -> Table:
        """Return the table."""
        codes, request = np.concatenate(self._codes), self._request
        self._codes = []
        blank = codes == BLANK
        codes[blank] = 0
        observed: Bits = AllOnes((codes.shape[0], codes.shape[1]))
        if request.blank != "zero" and blank.any():
            observed = observed_from_missing(blank.view(np.uint8))
        names = self._layout.fields if self._layout.named else None
        return Table(MemorySource(Dense(codes), observed), names if request.names is None else request.names)

    def _bad_cell(self, text: str, line: int, column: int, layout: Layout) -> TableError:
        """Return the error for a cell that is not a bit, in a table for a model that was fitted to bits."""
        where = f"line {line}, column {column}" + (f" ({layout.fields[column]!r})" if layout.named else "")
        if self._cells.threshold is not None:
            return TableError(f"{where}: {quoted(text)} is not a finite number. Fix the cell.")
        return TableError(
            f"{where}: {quoted(text)} is not a bit, and the model was fitted to bits. Cells must be 0, 1, true, false "
            "or blank. Recode the column."
        )


class _Numbered(dict[str, int]):
    """The number of each distinct text, in the order in which they came."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class TextColumns:
    """Columns of any values, gathered chunk by chunk: the distinct cells of each, and which of them a row has."""

    def __init__(self, *, inferred: bool) -> None:
        self._inferred = inferred  # whether it was inferred that the first line holds names, or does not
        self._layout = Layout((), False)
        self._distinct: list[_Numbered] = []
        self._rows: list[list[Any]] = []

    def take(self, layout: Layout, rows: Rows | TextBlock, _line: int) -> None:
        """Take some rows."""
        if not self._distinct:
            self._layout = layout
            self._distinct, self._rows = [_Numbered() for _ in layout.fields], [[] for _ in layout.fields]
        if isinstance(rows, TextBlock) and len(rows) < FEWEST_ROWS:
            rows = rows.rows()
        for j, (distinct, codes) in enumerate(zip(self._distinct, self._rows, strict=True)):
            number_of = distinct.__getitem__
            if isinstance(rows, TextBlock):
                numbers = rows.codes(number_of, j, few=len(distinct) <= FEW)
            else:
                numbers = np.fromiter(map(number_of, map(itemgetter(j), rows)), np.int32, len(rows))
            codes.append(small(numbers, len(distinct)))

    def table(self, request: FileRequest) -> Table:
        """Return the table."""
        columns = []
        for j, field in enumerate(self._layout.fields):
            columns.append((field, list(self._distinct[j]), np.concatenate(self._rows[j])))
            self._rows[j] = []
        self._distinct, self._rows = [], []
        try:
            cells = [_text_column(*column) for column in columns]
            if self._inferred and self._layout.named:
                _refuse_row_as_names(cells)
            return open_cells(cells, request, named=self._layout.named)
        except TableError as error:
            raise error.at(request.files[0]) from error


def _text_column(name: str, texts: list[str], rows: Any) -> ColumnCells:
    """Return a column from its distinct cells and which of them each row has; cells stay as they are written."""
    return ColumnCells(name, [text.strip() or None for text in texts], small(rows, len(texts)))


def _refuse_row_as_names(cells: Sequence[ColumnCells]) -> None:
    """Refuse names that look like a row: at least half of them occur as values of their own columns."""
    same = [column for column in cells if column.name and key_of(column.name) in column.keys]
    if 2 * len(same) >= len(cells) and len(same) > 0:
        raise TableError(
            f"line 1 looks like a row, not like names: {quoted(same[0].name)} also occurs below. Set header=False, or "
            "header=True if it contains the column names."
        )
