"""Comma-separated tables, read into memory: bits in one byte a cell, or columns of several kinds.

A file of text has no types: `_value` says what a cell is, for tables of bits and of several kinds. A column whose cells
are all true or false, or all numbers, is one of these, and any other is one of words.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, ByteArray, Dense
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct, observed_from_missing
from hiddenbits.data.columns import open_cells, open_raw_columns
from hiddenbits.data.columns.cells import ColumnCells, small
from hiddenbits.data.columns.kinds import with_own_cells
from hiddenbits.data.columns.vocabulary import BLANKS, PAIRS, key_of, none_is_blank, plain_word
from hiddenbits.data.mixed.encode import RawColumn, raw_of_distinct
from hiddenbits.data.readers.dialect import Dialect
from hiddenbits.data.readers.ends import SAMPLE, Ends, refuse_title
from hiddenbits.data.readers.locations import Place
from hiddenbits.data.readers.request import FileRequest, reading
from hiddenbits.data.readers.text_rows import RowsOf, Written
from hiddenbits.data.table import MemorySource, Table, TableError
from hiddenbits.quoting import quoted

TRUTHS = {"true": True, "false": False}
BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}
ANSWERS = {word for pair in PAIRS for word in pair}  # a line of nothing but these is a row
BLANK, BAD = 2, 3  # codes of a cell besides 0 and 1
CHUNK_CELLS = 1 << 19
CACHED = 1 << 16

Rows = list[list[str]]


def open_csv(
    request: FileRequest,
    *,
    header: bool | None = None,
    skip_top: int = 0,
    skip_end: int = 0,
    keep_empty: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    split: str | Mapping[str, str] | None = None,
    row: str | None = None,
    item: str | None = None,
    value: str | None = None,
    items: Any = None,
    max_columns: int = MAX_COLUMNS,
    max_bytes: int = MAX_BYTES,
    tell: Callable[[int, float | None], None] | None = None,
) -> Table:
    """Open ``.csv`` and ``.tsv`` files (also gzipped), with a header line or without.

    Cells are 0, 1, 0.0, 1.0, true or false. Blanks are empty cells, NA, N/A, NaN, null, None, ``?`` and ``.``. Upper
    and lower case are one, and spaces around a cell do not count. Where other cells turn up, the file is read again,
    and each column is taken for what its values are (`columns.describe`); so it is with `threshold`, or where something
    was said about columns.

    With ``kinds=`` columns of numbers, and of true and false, are told from columns of words by their cells, and the
    first line holds names, unless ``header=False``.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    header : bool, optional
        Whether the first line holds names. By default it does when it has words and no bits, or when its
        numbers count columns (0, 1, 2, ...). One that mixes words and bits is refused until `header` decides.
    skip_top, skip_end : int, default=0
        Lines to leave out: above the names, such as a title, and at the end, such as totals.
    keep_empty : bool, default=False
        Whether rows at the end that have nothing but empty cells are rows. By default two or more are left out, which
        is said.
    delimiter, decimal, quote, encoding : str, optional
        The character between cells, the decimal sign ("." or ","), the quotes around cells (" or '), and the encoding,
        by a name that Python knows. By default they are found in the first lines, and said (`FoundDialectWarning`)
        where they are not commas, points, double quotes and UTF-8.
    split : str or dict, optional
        What is between several codes in a cell, such as ";" in ``E11.9;I10``: such columns become a column for each
        code, 1 where a row has it. A blank cell has no code, or was not observed with ``blank="missing"``. A dict
        gives it by column. The first line must hold names.
    row, item, value, items : optional
        The columns of files with a line for each pair of a row and an item, as for Parquet files; needs pyarrow.
    max_columns : int, default=10,000,000
        The most columns that codes or items may make.
    max_bytes : int, default=4 GiB
        The most that the text may come to, unpacked; it is read into memory.
    tell : function, optional
        Called now and then with the number of rows read so far, and the share of the files that they are; None where
        that is not known.
    """
    ends = Ends(skip_top, skip_end, keep_empty)
    written = Written(Dialect(encoding, delimiter, quote, decimal), max_bytes, skip_top)
    if not row is item is value is None:
        if request.choices or split is not None:
            raise TableError(
                "row=, item= and value= read pairs. Remove split= and what was said about columns, which do not apply."
            )
        if request.kinds is not None:
            raise TableError("kinds= is for files with one column per variable, not for lists or pairs of items.")
        from hiddenbits.data.readers.long_lines import open_long_lines

        return open_long_lines(request, written, row=row, item=item, value=value, items=items, max_columns=max_columns)
    if items is not None:
        raise TableError("items= names the items of pairs. Give row= and item=, too.")
    rows_of: RowsOf = written.open
    if split is not None:
        rows_of, header = split_rows(request, rows_of, split, header, max_columns), True
    request = replace(request, offers=("skip_top", "skip_end", "split", "row", "decimal"))
    return open_rows(request, rows_of, header=header, ends=ends, tell=tell)


def split_rows(request: FileRequest, rows_of: RowsOf, split: Any, header: bool | None, max_columns: int) -> RowsOf:
    """Return a function that returns the rows of a file with cells cut into codes."""
    if header is False:
        raise TableError("split= needs a first line with the names of the columns.")
    from hiddenbits.data.readers.split_cells import SplitRows

    with reading(request.files[0]):
        return SplitRows(request.files, rows_of, split, request.blank == "missing", max_columns).open


def open_rows(
    request: FileRequest,
    rows_of: RowsOf,
    *,
    header: bool | None,
    ends: Ends,
    tell: Callable[[int, float | None], None] | None,
) -> Table:
    """Open files whose rows `rows_of` returns as lists of text, from whatever format; see `open_csv`."""
    cells = _Cells(request.threshold)

    def lay_out(first: list[str]) -> _Layout:
        of_kinds = request.kinds is not None
        first = first or ([] if of_kinds else [""])  # an empty line is one empty cell, but no name
        named = header
        if named is None:
            named = _holds_names(first) if of_kinds else _is_header(first, cells)
        if named:
            fields = tuple(field.strip() for field in first)
            if request.names is None:
                check_distinct(fields)
            elif len(request.names) == len(fields):
                fields = request.names
        else:
            fields = tuple(f"x{j}" if of_kinds else str(j) for j in range(len(first)))
        return _Layout(fields, named)

    def read(take: Take, tell: Callable[[int, float | None], None] | None = None) -> None:
        _read(request.files, rows_of, lay_out, take, tell, ends, look_above=header is None)

    looks = request.choices or request.coding or (request.threshold is not None and not request.plain_only)
    if request.kinds is None and not looks:
        bits = _BitColumns(cells, request)
        try:
            read(bits.take, tell)
            return bits.table()
        except _OtherCellsError:
            del bits  # what was gathered of it
    columns = _Columns(inferred=header is None)
    read(columns.take, tell)
    return columns.table(request)


class _OtherCellsError(Exception):
    """A table of bits holds other cells. No kind of error that a damaged file causes."""


@dataclass(frozen=True)
class _Layout:
    """The fields of a line."""

    fields: tuple[str, ...]
    named: bool


Take = Callable[[_Layout, Rows, int], None]  # is given some rows, and the line at which they start


def _read(
    files: Sequence[Place],
    rows_of: RowsOf,
    lay_out: Callable[[list[str]], _Layout],
    take: Take,
    tell: Callable[[int, float | None], None] | None,
    ends: Ends,
    *,
    look_above: bool,
) -> None:
    """Hand over the rows of all files, some at a time. Errors, also those of `take`, name the file."""
    layout, n_rows = None, 0
    for number, path in enumerate(files):
        with reading(path), closing(rows_of(path)) as rows:
            try:
                first = next(rows, None)
                if first is None:
                    raise TableError("the file is empty. A table needs at least one row.")
                after_first = rows.number + 1
                head = list(islice(rows, min(SAMPLE, CHUNK_CELLS // (len(first) + 1))))
                if look_above:
                    refuse_title([first, *head], ends.skip_top)
                found = lay_out(first)
                layout = layout or found
                if found != layout:
                    raise TableError(
                        f"the columns differ from those of {files[0].name}. All files of a table need the same."
                    )
                width = len(layout.fields)
                line = after_first if layout.named else 1  # where the next rows start
                every = chain(head if layout.named else [first, *head], rows)
                held: Rows = []  # rows that may be the end of the file
                while chunk := list(islice(every, max(1, CHUNK_CELLS // width))):
                    chunk, held = ends.cut(held + chunk, width)
                    if not chunk:
                        continue
                    take(layout, _full_rows(chunk, width, line), line)
                    line = _line_of(chunk, len(chunk), line)
                    n_rows += len(chunk)
                    if tell is not None:
                        tell(n_rows, None if rows.share is None else (number + rows.share) / len(files))
                if last := held if held and not n_rows and not ends.skip_end else ends.last(path, held):
                    take(layout, _full_rows(last, width, line), line)
                    n_rows += len(last)
            except csv.Error as error:
                raise TableError(f"line {rows.number}: {error}. Fix the line, or its quotes.") from error
    if not n_rows:
        raise TableError(f"{files[0]}: the file has no rows. A table needs at least one.")


def _full_rows(chunk: Rows, width: int, line: int) -> Rows:
    """Return rows that start at a line, after a check that each has as many cells as the first line."""
    if width == 1:
        chunk = [row or [""] for row in chunk]  # an empty line is one empty cell
    if set(map(len, chunk)) != {width}:
        at = next(i for i, row in enumerate(chunk) if len(row) != width)
        raise TableError(
            f"line {_line_of(chunk, at, line)}: {len(chunk[at])} cells, but the first line has {width}. Fix the line."
        )
    return chunk


def _line_of(chunk: Rows, at: int, first: int) -> int:
    """Return the line on which row `at` of a chunk starts: quoted cells may hold line breaks."""
    return first + at + sum(cell.count("\n") for row in chunk[:at] for cell in row)


def _value(text: str) -> bool | int | float | str | None:
    """Return what a cell holds: true or false, a number, a word; None where it is blank."""
    word = text.strip()
    lower = word.lower()
    if lower in BLANKS:
        return None
    if lower in TRUTHS:
        return TRUTHS[lower]
    number = _number(word)
    return word if number is None else number


def _number(word: str) -> int | float | None:
    """Return the number that a word is; None where it is none."""
    try:
        number = float(word)
    except ValueError:
        return None
    if "_" in word:
        return None
    return int(number) if math.isfinite(number) and word.lstrip("+-").isdigit() else number


class _Cells(dict[str, int]):
    """Code of a cell by its text in a table of bits; unusual spellings are worked out once and remembered."""

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold

    def __missing__(self, text: str) -> int:
        value = _value(text)
        if value is None:
            code = BLANK
        elif self.threshold is None:
            code = BITS.get(text.strip().lower(), BAD)
        else:
            code = BAD if isinstance(value, str) or not math.isfinite(value) else int(value > self.threshold)
        if len(self) < CACHED:
            self[text] = code
        return code


def _is_header(first: list[str], cells: _Cells) -> bool:
    """Whether the first line of a table of bits holds names; see `open_csv`."""
    words = [cell.strip() for cell in first if cells[cell] == BAD]
    bits = [cell.strip() for cell in first if cells[cell] < BLANK]
    if words and not bits and all(plain_word(word) in ANSWERS for word in words):
        return False  # yes, no, no: a row
    if not words or not bits:
        return bool(words)
    numbers = [int(cell) for cell in first if re.fullmatch(r"\s*[0-9]{1,9}\s*", cell)]
    if numbers[-1:] > [1] and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return True  # columns that count: 0, 1, 2, ...
    raise TableError(
        f"line 1 has both bits ({quoted(bits[0])}) and text ({quoted(words[0])}). Set header=True if it contains the "
        "column names, otherwise header=False."
    )


def _holds_names(first: list[str]) -> bool:
    """Return True: the first line of a table of several kinds holds names. One with a number or no word is refused."""
    words = [cell.strip() for cell in first]
    numbers = [word for word in words if _number(word) is not None]
    if numbers or (words and not any(isinstance(_value(word), str) for word in words)):
        raise TableError(
            f"line 1 has {'a number' if numbers else 'only bits or blanks'} ({quoted((numbers or words)[0])}). Set "
            "header=True if it contains the column names, otherwise header=False."
        )
    return True


class _BitColumns:
    """A table of bits, gathered chunk by chunk."""

    def __init__(self, cells: _Cells, request: FileRequest) -> None:
        self._cells, self._request = cells, request
        self._layout = _Layout((), False)
        self._codes: list[ByteArray] = []

    def take(self, layout: _Layout, rows: Rows, line: int) -> None:
        """Take the codes of some rows."""
        flat = chain.from_iterable(rows)
        codes = np.frombuffer(bytearray(map(self._cells.__getitem__, flat)), np.uint8).reshape(len(rows), -1)
        if codes.max() == BAD:
            if not self._request.plain_only:
                raise _OtherCellsError
            at, j = (int(i) for i in np.argwhere(codes == BAD)[0])
            raise self._bad_cell(rows[at][j], _line_of(rows, at, line), j, layout)
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

    def _bad_cell(self, text: str, line: int, column: int, layout: _Layout) -> TableError:
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


class _Columns:
    """Columns of several kinds, gathered chunk by chunk: the distinct cells of each, and which of them a row has."""

    def __init__(self, *, inferred: bool) -> None:
        self._inferred = inferred  # whether it was inferred that the first line holds names, or does not
        self._layout = _Layout((), False)
        self._distinct: list[_Numbered] = []
        self._rows: list[list[Any]] = []

    def take(self, layout: _Layout, rows: Rows, _line: int) -> None:
        """Take some rows."""
        if not self._distinct:
            self._layout = layout
            self._distinct, self._rows = [_Numbered() for _ in layout.fields], [[] for _ in layout.fields]
        for j, (distinct, codes) in enumerate(zip(self._distinct, self._rows, strict=True)):
            numbers = map(distinct.__getitem__, map(itemgetter(j), rows))
            codes.append(np.fromiter(numbers, np.int32, len(rows)))

    def table(self, request: FileRequest) -> Table:
        """Return the table: of bits, where all columns turn out to be binary."""
        columns = [
            (field, list(distinct), np.concatenate(codes))
            for field, distinct, codes in zip(self._layout.fields, self._distinct, self._rows, strict=True)
        ]
        self._distinct, self._rows = [], []
        try:
            if request.kinds is not None:
                raw = [_raw_column(number, *column) for number, column in enumerate(columns)]
                table = open_raw_columns(raw, request, named=self._layout.named)
                return with_own_cells(table, [_text_column(*column) for column in columns], request)
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


def _raw_column(number: int, name: str, texts: list[str], rows: Any) -> RawColumn:
    """Return a column from its distinct cells and which of them each row has."""
    values = [_value(text) for text in texts]
    if none_is_blank(map(key_of, filter(None, values))):
        values = [None if isinstance(value, str) else value for value in values]
    seen = {isinstance(value, bool) + 2 * isinstance(value, str) for value in values if value is not None}
    if len(seen) > 1:  # a number among words is a word
        values = [None if value is None else text.strip() for value, text in zip(values, texts, strict=True)]
    return raw_of_distinct(number, name, values, rows)
