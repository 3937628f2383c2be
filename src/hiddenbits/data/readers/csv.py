"""Comma-separated tables, read into memory: bits in one byte a cell, or columns of several kinds.

A file of text has no types: `_value` says what a cell is, for tables of bits and of several kinds. A column whose cells
are all true or false, or all numbers, is one of these, and any other is one of words.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from hiddenbits.data.bits import AllOnes, Bits, ByteArray, Dense
from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct, observed_from_missing
from hiddenbits.data.mixed.encode import RawColumn, open_raw, raw_of_distinct
from hiddenbits.data.readers.dialect import Dialect
from hiddenbits.data.readers.locations import Place
from hiddenbits.data.readers.request import FileRequest, choose, reading
from hiddenbits.data.readers.text_rows import RowsOf, Written
from hiddenbits.data.table import MemorySource, Table, TableError
from hiddenbits.quoting import quoted

BLANKS = ("", "na", "n/a", "nan", "null", "none", "?")
TRUTHS = {"true": True, "false": False}
BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}
BLANK, BAD = 2, 3  # codes of a cell besides 0 and 1
CHUNK_CELLS = 1 << 19
CACHED = 1 << 16

Rows = list[list[str]]


def open_csv(
    request: FileRequest,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    columns: Sequence[str | int] | Literal["bits"] | None = None,
    drop: Sequence[str | int] | None = None,
    others: dict[str, list[str]] | None = None,
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

    Cells are 0, 1, 0.0, 1.0, true or false. Blanks are empty cells, NA, N/A, NaN, null, None and ``?``. Upper
    and lower case are one, and spaces around a cell do not count. Numbers are accepted with `threshold`.

    With ``kinds=`` columns of numbers, and of true and false, are told from columns of words by their cells, and the
    first line holds names, unless ``header=False``.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    header : bool, optional
        Whether the first line holds names. By default it does when it has words and no bits, or when its
        numbers count columns (0, 1, 2, ...). One that mixes words and bits is refused until `header` decides.
    delimiter, decimal, quote, encoding : str, optional
        The character between cells, the decimal sign ("." or ","), the quotes around cells (" or '), and the encoding,
        by a name that Python knows. By default they are found in the first lines, and said (`FoundDialectWarning`)
        where they are not commas, points, double quotes and UTF-8.
    columns, drop : sequence of str or int, optional
        The columns to keep, or to leave out, by name or number. ``columns="bits"`` keeps those that hold nothing but
        bits and blanks; the names of the table say which they are.
    others : dict, optional
        With ``columns="bits"``: is given the cells of the columns that were left out for what they hold, as text, by
        name.
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
    written = Written(Dialect(encoding, delimiter, quote, decimal), max_bytes)
    if not row is item is value is None:
        if not columns is drop is split is None:
            raise TableError(
                "row=, item= and value= read pairs. Remove columns=, drop= and split=, which do not apply."
            )
        if request.kinds is not None:
            raise TableError("kinds= is for files with one column per variable, not for lists or pairs of items.")
        from hiddenbits.data.readers.long_lines import open_long_lines

        return open_long_lines(request, written, row=row, item=item, value=value, items=items, max_columns=max_columns)
    if items is not None:
        raise TableError("items= names the items of pairs. Give row= and item=, too.")
    rows_of: RowsOf = written.open
    if split is not None:
        if header is False:
            raise TableError("split= needs a first line with the names of the columns.")
        from hiddenbits.data.readers.split_cells import SplitRows

        with reading(request.files[0]):
            rows_of = SplitRows(request.files, written.open, split, request.blank == "missing", max_columns).open
        header = True
    return open_rows(request, rows_of, header=header, columns=columns, drop=drop, others=others, tell=tell)


def open_rows(
    request: FileRequest,
    rows_of: RowsOf,
    *,
    header: bool | None,
    columns: Sequence[str | int] | Literal["bits"] | None,
    drop: Sequence[str | int] | None,
    others: dict[str, list[str]] | None,
    tell: Callable[[int, float | None], None] | None,
) -> Table:
    """Open files whose rows `rows_of` returns as lists of text, from whatever format; see `open_csv`."""
    only_bits = isinstance(columns, str) and columns == "bits"
    cells = _Cells(request.threshold)

    def lay_out(first: list[str]) -> _Layout:
        of_kinds = request.kinds is not None
        first = first or ([] if of_kinds else [""])  # an empty line is one empty cell, but no name
        named = header
        if named is None:
            named = _holds_names(first) if of_kinds else _is_header(first, cells, only_bits)
        if named:
            fields = tuple(field.strip() for field in first)
            check_distinct(fields)
        else:
            fields = tuple(f"x{j}" if of_kinds else str(j) for j in range(len(first)))
        return _Layout(fields, named, choose(fields, None if only_bits else columns, drop))

    def read(take: Take, tell: Callable[[int, float | None], None] | None = None) -> None:
        _read(request.files, rows_of, lay_out, take, tell)

    if request.kinds is not None:
        kinds = _Columns()
        read(kinds.take, tell)
        return kinds.table(request)
    bits = _BitColumns(cells, only_bits, with_texts=others is not None)
    read(bits.take, tell)
    if others is not None:
        others |= bits.texts(read)
    return bits.table(request)


@dataclass(frozen=True)
class _Layout:
    """The fields of a line, and which of them are columns of the table."""

    fields: tuple[str, ...]
    named: bool
    keep: tuple[int, ...]


Take = Callable[[_Layout, Rows, int], None]  # is given some rows, and the line at which they start


def _read(
    files: Sequence[Place],
    rows_of: RowsOf,
    lay_out: Callable[[list[str]], _Layout],
    take: Take,
    tell: Callable[[int, float | None], None] | None,
) -> None:
    """Hand over the rows of all files, some at a time. Errors, also those of `take`, name the file."""
    layout, n_rows = None, 0
    for number, path in enumerate(files):
        with reading(path), closing(rows_of(path)) as rows:
            try:
                first = next(rows, None)
                if first is None:
                    raise TableError("the file is empty. A table needs at least one row.")
                found = lay_out(first)
                layout = layout or found
                if found != layout:
                    raise TableError(
                        f"the columns differ from those of {files[0].name}. All files of a table need the same."
                    )
                width = len(layout.fields)
                line = rows.number + 1 if layout.named else 1  # where the next rows start
                every = rows if layout.named else chain([first], rows)
                while chunk := list(islice(every, max(1, CHUNK_CELLS // width))):
                    take(layout, _full_rows(chunk, width, line), line)
                    line = rows.number + 1
                    n_rows += len(chunk)
                    if tell is not None:
                        tell(n_rows, None if rows.share is None else (number + rows.share) / len(files))
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
        if code != BAD and len(self) < CACHED:
            self[text] = code
        return code


def _is_header(first: list[str], cells: _Cells, mixed: bool) -> bool:
    """Whether the first line of a table of bits holds names; see `open_csv`.

    In a `mixed` file of bits and words a line of both is a row, unless its numbers count columns.
    """
    words = [cell.strip() for cell in first if cells[cell] == BAD]
    bits = [cell.strip() for cell in first if cells[cell] < BLANK]
    if not words or not bits:
        return bool(words)
    numbers = [int(cell) for cell in first if re.fullmatch(r"\s*[0-9]{1,9}\s*", cell)]
    if numbers[-1:] > [1] and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return True  # columns that count: 0, 1, 2, ...
    if mixed:
        return False
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
    """A table of bits, gathered chunk by chunk; `only_bits` leaves out the columns that hold something else."""

    def __init__(self, cells: _Cells, only_bits: bool, *, with_texts: bool) -> None:
        self._cells, self._only_bits, self._with_texts = cells, only_bits, with_texts
        self._layout = _Layout((), False, ())
        self._codes: list[ByteArray] = []
        self._others: dict[int, list[str]] = {}  # the cells of columns that hold something else, by place in `keep`
        self._late: list[int] = []  # of these, those of which some rows had passed before it showed

    def take(self, layout: _Layout, rows: Rows, line: int) -> None:
        """Take the codes of some rows."""
        keep = layout.keep
        if keep == tuple(range(len(layout.fields))):
            flat: Iterator[str] = chain.from_iterable(rows)
        elif len(keep) > 1:
            flat = chain.from_iterable(map(itemgetter(*keep), rows))
        else:
            flat = (row[keep[0]] for row in rows)
        codes = np.frombuffer(bytearray(map(self._cells.__getitem__, flat)), np.uint8).reshape(len(rows), len(keep))
        if codes.max() == BAD and not self._only_bits:
            at, j = (int(i) for i in np.argwhere(codes == BAD)[0])
            raise self._bad_cell(rows[at][keep[j]], _line_of(rows, at, line), keep[j], layout)
        for j in np.flatnonzero((codes == BAD).any(axis=0)).tolist():
            if j not in self._others:
                self._others[j] = []
                self._late += [j] if self._codes else []
        self._layout = layout
        self._codes.append(codes)
        if self._with_texts:
            self._add_texts([j for j in self._others if j not in self._late], rows)

    def _add_texts(self, columns: Sequence[int], rows: Rows) -> None:
        for j in columns:
            field = self._layout.keep[j]
            self._others[j].extend(row[field].strip() for row in rows)

    def texts(self, read: Callable[[Take], None]) -> dict[str, list[str]]:
        """Return the cells of the columns that hold more than bits, by name.

        Hardly any table is read again for it: a column of words shows in its first thousands of rows.
        """
        if self._late:
            read(lambda _layout, rows, _line: self._add_texts(self._late, rows))
        return {self._layout.fields[self._layout.keep[j]]: self._others[j] for j in sorted(self._others)}

    def table(self, request: FileRequest) -> Table:
        """Return the columns of bits."""
        keep = [j for j in range(len(self._layout.keep)) if j not in self._others]
        if not keep:
            raise TableError(
                f"{request.files[0]}: no column contains only bits. Recode the columns, or set threshold=."
            )
        codes = np.concatenate([part[:, keep] if self._others else part for part in self._codes])
        self._codes = []
        blank = codes == BLANK
        codes[blank] = 0
        observed: Bits = AllOnes((codes.shape[0], codes.shape[1]))
        if request.blank != "zero" and blank.any():
            observed = observed_from_missing(blank.view(np.uint8))
        names = tuple(self._layout.fields[self._layout.keep[j]] for j in keep) if self._layout.named else None
        return Table(MemorySource(Dense(codes), observed), names if request.names is None else request.names)

    def _bad_cell(self, text: str, line: int, column: int, layout: _Layout) -> TableError:
        """Return the error for a cell that is not a bit: what, where, and what to do."""
        shown = quoted(text)
        name = layout.fields[column] if layout.named else column
        where = f"line {line}, column {column}" + (f" ({name!r})" if layout.named else "")
        if self._cells.threshold is not None:
            return TableError(
                f"{where}: {shown} is not a finite number. Fix it, or leave the column out with drop=[{name!r}]."
            )
        number = re.fullmatch(r"\s*[-+0-9.eE]+\s*", text) is not None
        return TableError(
            f"{where}: {shown} is not a bit. Cells must be 0, 1, true, false or blank. Recode the column, or "
            f"leave it out with drop=[{name!r}]"
            + ("; threshold= turns numbers into bits" if number else "")
            + ". LogisticPCA also takes other columns: open the table with kinds='auto'."
        )


class _Columns:
    """Columns of several kinds, gathered chunk by chunk: the distinct cells of each, and which of them a row has."""

    def __init__(self) -> None:
        self._layout = _Layout((), False, ())
        self._distinct: list[dict[str, int]] = []
        self._rows: list[list[Any]] = []

    def take(self, layout: _Layout, rows: Rows, _line: int) -> None:
        """Take some rows."""
        if not self._distinct:
            self._layout = layout
            self._distinct, self._rows = [{} for _ in layout.keep], [[] for _ in layout.keep]
        for distinct, codes, j in zip(self._distinct, self._rows, layout.keep, strict=True):
            number = distinct.setdefault
            codes.append(np.fromiter((number(row[j], len(distinct)) for row in rows), np.int32, len(rows)))

    def table(self, request: FileRequest) -> Table:
        """Return the table: of bits, where all columns turn out to be binary."""
        columns = zip(self._layout.keep, self._distinct, self._rows, strict=True)
        raw = [
            _raw_column(number, self._layout.fields[j], list(distinct), np.concatenate(codes))
            for number, (j, distinct, codes) in enumerate(columns)
        ]
        with reading(request.files[0]):
            table = open_raw(raw, None, request.kinds, request.names, named=self._layout.named)
        if not table.layout.only_bits:
            return table
        x, observed = table.source.read(0, table.shape[0])
        return Table(MemorySource(Dense(x.bits), observed), table.names)


def _raw_column(number: int, name: str, texts: list[str], rows: Any) -> RawColumn:
    """Return a column from its distinct cells and which of them each row has."""
    values = [_value(text) for text in texts]
    seen = {isinstance(value, bool) + 2 * isinstance(value, str) for value in values if value is not None}
    if len(seen) > 1:  # a number among words is a word
        values = [None if value is None else text.strip() for value, text in zip(values, texts, strict=True)]
    return raw_of_distinct(number, name, values, rows)
