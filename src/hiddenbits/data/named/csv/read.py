"""Comma-separated tables, read into memory: bits in one byte a cell, or columns of any values."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct
from hiddenbits.data.coding.vocabulary import PAIRS, plain_word
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.baskets import open_if_baskets
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.blocks import TextBlock
from hiddenbits.data.named.csv.columns import (
    BAD,
    BLANK,
    BitCodes,
    BitColumns,
    Layout,
    OtherCellsError,
    Rows,
    Take,
    TextColumns,
    line_of,
)
from hiddenbits.data.named.csv.dialect import Dialect
from hiddenbits.data.named.csv.ends import SAMPLE, Ends, refuse_title
from hiddenbits.data.named.csv.rows import CsvRows, RowsOf, TextRows, Written
from hiddenbits.data.table import Table
from hiddenbits.quoting import quoted, told

ANSWERS = {word for pair in PAIRS for word in pair}  # a line of nothing but these is a row
CHUNK_CELLS = 1 << 19


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
    was said about columns. Lines of words without a header, each with another number of them, are baskets of names.

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
        from hiddenbits.data.named.csv.long_lines import open_long_lines

        return open_long_lines(request, written, row=row, item=item, value=value, items=items, max_columns=max_columns)
    if items is not None:
        raise TableError("items= names the items of pairs. Give row= and item=, too.")
    rows_of: RowsOf = written.open
    if split is not None:
        rows_of, header = split_rows(request, rows_of, split, header, max_columns), True
    request = replace(request, offers=("skip_top", "skip_end", "split", "row", "decimal"))
    try:
        return open_rows(request, rows_of, header=header, ends=ends, tell=tell)
    except TableError:
        said = header is not None or request.choices or request.coding or request.threshold is not None
        baskets = None if said else open_if_baskets(request, max_columns, max_bytes)
        if baskets is None:
            raise
        return baskets


def split_rows(request: FileRequest, rows_of: RowsOf, split: Any, header: bool | None, max_columns: int) -> RowsOf:
    """Return a function that returns the rows of a file with cells cut into codes."""
    if header is False:
        raise TableError("split= needs a first line with the names of the columns.")
    from hiddenbits.data.named.csv.split_cells import SplitRows

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
    cells = BitCodes(request.threshold)

    def lay_out(first: list[str]) -> Layout:
        first = first or [""]  # an empty line is one empty cell
        named = _is_header(first, cells) if header is None else header
        if named:
            fields = tuple(field.strip() for field in first)
            if request.names is None:
                check_distinct(fields)
            elif len(request.names) == len(fields):
                fields = request.names
        else:
            fields = tuple(str(j) for j in range(len(first)))
        return Layout(fields, named)

    def read(take: Take, tell: Callable[[int, float | None], None] | None = None) -> None:
        _read(request.files, rows_of, lay_out, take, tell, ends, look_above=header is None)

    looks = request.choices or request.coding or (request.threshold is not None and not request.plain_only)
    if not looks:
        bits = BitColumns(cells, request)
        try:
            read(bits.take, tell)
            return bits.table()
        except OtherCellsError:
            del bits  # what was gathered of it
    columns = TextColumns(inferred=header is None)
    read(columns.take, tell)
    return columns.table(request)


def _read(
    files: Sequence[Place],
    rows_of: RowsOf,
    lay_out: Callable[[list[str]], Layout],
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
                held = head if layout.named else [first, *head]  # rows that may be the end of the file
                for some in _sure_rows(rows, held, width, ends):
                    take(layout, some if isinstance(some, TextBlock) else _full_rows(some, width, line), line)
                    line = line_of(some, len(some), line)
                    n_rows += len(some)
                    if tell is not None:
                        tell(n_rows, None if rows.share is None else (number + rows.share) / len(files))
                if last := held if held and not n_rows and not ends.skip_end else ends.last(path, held):
                    take(layout, _full_rows(last, width, line), line)
                    n_rows += len(last)
            except csv.Error as error:
                raise TableError(f"line {rows.number}: {told(error)}. Fix the line, or its quotes.") from error
    if not n_rows:
        raise TableError(f"{files[0]}: the file has no rows. A table needs at least one.")


def _sure_rows(rows: TextRows, held: Rows, width: int, ends: Ends) -> Iterator[Rows | TextBlock]:
    """Yield rows that are not at the end of the file, some at a time; `held` has the first, and in the end the last."""
    at_once = max(1, CHUNK_CELLS // width)
    more = True
    while more:
        block = rows.block(width, ends) if isinstance(rows, CsvRows) else None
        if block is not None:
            if held:
                yield held.copy()
                held.clear()
            yield block
            continue
        chunk = list(islice(rows, at_once))
        more = bool(chunk)
        sure, held[:] = ends.cut(held + chunk, width)
        if sure:
            yield sure


def _full_rows(chunk: Rows, width: int, line: int) -> Rows:
    """Return rows that start at a line, after a check that each has as many cells as the first line."""
    if width == 1:
        chunk = [row or [""] for row in chunk]  # an empty line is one empty cell
    if set(map(len, chunk)) != {width}:
        at = next(i for i, row in enumerate(chunk) if len(row) != width)
        raise TableError(
            f"line {line_of(chunk, at, line)}: {len(chunk[at])} cells, but the first line has {width}. Fix the line."
        )
    return chunk


def _is_header(first: list[str], cells: BitCodes) -> bool:
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
