"""Comma-separated tables, read into memory once: each column as its distinct cells."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS, check_distinct
from hiddenbits.data.coding.cells import ColumnCells
from hiddenbits.data.coding.coded_columns import MISSING, UNKNOWN
from hiddenbits.data.coding.vocabulary import PAIRS, is_na, key_of, plain_word
from hiddenbits.data.columns.open import open_cells, plain_column
from hiddenbits.data.file_request import FileRequest, naming, reading
from hiddenbits.data.items.arrow import Asked, open_arrow
from hiddenbits.data.items.baskets import open_if_baskets
from hiddenbits.data.items.cells import split_cells
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.blocks import TextBlock
from hiddenbits.data.named.csv.columns import Rows, TextColumns
from hiddenbits.data.named.csv.dialect import Dialect
from hiddenbits.data.named.csv.ends import (
    SAMPLE,
    Ends,
    full_rows,
    line_breaks,
    lines_below_names,
    refuse_title,
    say_empty,
)
from hiddenbits.data.named.csv.rows import RowsOf, Tell, TextRows, Written
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted, told

ANSWERS = {word for pair in PAIRS for word in pair}  # a line of nothing but these is a row
CHUNK_CELLS = 1 << 19
BATCH_ROWS = 1 << 16  # pairs that are numbered at a time
WHOLE = "^(0|-?[1-9][0-9]{0,17})$"  # as Python writes whole numbers: 007 is a name


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
    tell: Tell | None = None,
) -> Table:
    """Open ``.csv`` and ``.tsv`` files (also gzipped), with a header line or without.

    Cells are 0, 1, 0.0, 1.0, true or false. Blanks are empty cells, NA, N/A, NaN, null, None, ``?`` and ``.``. Upper
    and lower case are one, and spaces around a cell do not count. Where other cells turn up, or something was said
    about columns, each column is taken for what its values are (`columns.describe`). Lines of words without a header,
    each with another number of them, are baskets of names.

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
        by a name that Python knows. By default they are found in the first lines, and said (`CSVDialectWarning`)
        where they are not commas, points, double quotes and UTF-8.
    split : str or dict, optional
        What is between several codes in a cell, such as ";" in ``E11.9;I10``: such columns become a column for each
        code, 1 where a row has it. A blank cell has no code, or was not observed with ``empty="missing"``. A dict
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
        asked = Asked(None, row, item, value, items, max_columns, max_bytes)
        return _open_pairs(request, written.open, asked, ends, tell)
    if items is not None:
        raise TableError("items= names the items of pairs. Give row= and item=, too.")
    request = replace(request, offers=("skip_top", "skip_end", "split", "row", "decimal"))
    as_table = header is not None or request.choices or request.coding or request.threshold is not None
    return open_rows(
        request,
        written.open,
        header=header,
        ends=ends,
        tell=tell,
        split=split,
        max_columns=max_columns,
        otherwise=None if as_table else partial(open_if_baskets, request, max_columns, max_bytes),
    )


@dataclass(frozen=True)
class Layout:
    """The columns of a file: their names, or places, and how many lines these take."""

    names: tuple[str, ...]
    named: bool
    n_lines: int = field(compare=False)


def open_rows(
    request: FileRequest,
    rows_of: RowsOf,
    *,
    header: bool | None,
    ends: Ends,
    tell: Tell | None,
    split: str | Mapping[str, str] | None,
    max_columns: int,
    otherwise: Callable[[], Table | None] | None = None,
) -> Table:
    """Open files whose rows `rows_of` returns as lists of text, from whatever format; see `open_csv`.

    Where the rows do not go together, or have one column, `otherwise` may open the files. What is wrong with one of
    several columns it cannot mend.
    """
    if split is not None:
        if header is False:
            raise TableError("split= needs a first line with the names of the columns.")
        header = True
    n_columns = 0
    try:
        layout, columns, _ = _gathered(request, rows_of, header, ends, tell)
        n_columns = len(layout.names)
        if split is None and (source := columns.plain_rows(request)) is not None:
            return Table(source, request.names or (layout.names if layout.named else None))
        with naming(request.files[0]):
            cells = columns.cells(layout.names)
            if header is None and layout.named:
                _refuse_row_as_names(cells)
            if split is not None:
                cells = split_cells(cells, split, request.empty, max_columns)
            return open_cells(cells, request, named=layout.named)
    except TableError:
        table = otherwise() if otherwise is not None and n_columns < 2 else None
        if table is None:
            raise
        return table


def _gathered(
    request: FileRequest,
    rows_of: RowsOf,
    header: bool | None,
    ends: Ends,
    tell: Tell | None,
    wanted: Sequence[str] | None = None,
) -> tuple[Layout, TextColumns, list[int]]:
    """Return the columns of all files, one below the other, all of them or those wanted, and the rows of each file."""
    files, layout, columns = request.files, None, TextColumns(0)
    kept: list[tuple[int, int]] = []  # the rows of each file
    n_rows = 0
    for number, path in enumerate(files):
        with reading(path), closing(rows_of(path)) as rows:
            try:
                line = rows.number + 1
                first = next(rows, None)
                if first is None:
                    raise TableError("the file is empty. A table needs at least one row.")
                head = [first or [""], *islice(rows, min(SAMPLE, CHUNK_CELLS // (len(first) + 1)))]
                found = _layout(path, head, request, header, ends)
                if layout is None:
                    places = None if wanted is None else [found.names.index(name) for name in wanted]
                    layout, columns = found, TextColumns(len(found.names), places)
                if found != layout:
                    raise TableError(
                        f"the columns differ from those of {files[0].name}. All files of a table need the same."
                    )
                start, left = n_rows, ends.skip_end
                for some, below in _parts(rows, head, found, line, ends):
                    columns.take(some)
                    n_rows, left = n_rows + len(some), left - below
                    if tell is not None:
                        tell(n_rows, None if rows.share is None else (number + rows.share) / len(files))
            except csv.Error as error:
                raise TableError(f"line {rows.number}: {told(error)}. Fix the line, or its quotes.") from error
            kept.append((start, _end(path, columns, (start, n_rows), left, ends)))
    n_kept = sum(stop - start for start, stop in kept)
    if layout is None or not n_kept:
        raise TableError(f"{files[-1]}: the file has no rows. A table needs at least one.")
    if n_kept < n_rows:
        columns.keep(kept)
    return layout, columns, [stop - start for start, stop in kept]


def _open_pairs(request: FileRequest, rows_of: RowsOf, asked: Asked, ends: Ends, tell: Tell | None) -> Table:
    """Open files with a line for each pair of a row and an item; see `open_parquet` for what the options mean.

    Keys and items are whole numbers where all of them are written as such, without leading zeros; otherwise text.
    """
    with reading(request.files[0]), closing(rows_of(request.files[0])) as rows:
        names = [name.strip() for name in next(rows, [])]

    def batches(wanted: list[str]) -> Iterator[tuple[str, int, Any]]:
        import pyarrow as pa

        _, columns, heights = _gathered(request, rows_of, True, ends, tell, wanted)
        with naming(request.files[0]):
            arrays = [_array(column, numbers=column.name == asked.value) for column in columns.cells(wanted)]
        table, start = pa.table(arrays, wanted), 0
        for path, height in zip(request.files, heights, strict=True):
            first = 0
            for batch in table.slice(start, height).to_batches(BATCH_ROWS):
                yield str(path), first, batch
                first += batch.num_rows
            start += height

    return open_arrow(request, names, batches, asked)


def _array(column: ColumnCells, *, numbers: bool) -> Any:
    """Return a column as an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.array(column.rows)
    if numbers:
        words = [text for text, key in zip(column.values, column.keys, strict=True) if isinstance(key, str)]
        if words:
            raise TableError(f"column {column.name!r} holds {quoted(words[0])}. As value= it must hold numbers.")
        return pa.array(column.keys, "float64").take(rows)
    values = pa.array(column.values, "large_string")
    whole = pc.all(pc.match_substring_regex(values, WHOLE)).as_py() is not False
    return (values.cast("int64") if whole else values).take(rows)


def _layout(path: Place, head: Rows, request: FileRequest, header: bool | None, ends: Ends) -> Layout:
    """Return what the first lines of a file say."""
    below = 0 if header is False else lines_below_names(path, head)
    if header is None and not below:
        refuse_title(head, ends.skip_top)
    if not (header or below or (header is None and _is_header(head[0], request))):
        return Layout(tuple(str(j) for j in range(len(head[0]))), False, 0)
    names = tuple(name.strip() for name in head[0])
    if request.names is None:
        check_distinct(names)
    return Layout(names, True, 1 + below)


def _parts(rows: TextRows, head: Rows, layout: Layout, line: int, ends: Ends) -> Iterator[tuple[Rows | TextBlock, int]]:
    """Yield the rows below the names, some at a time, and how many lines at the end are not as long and left out."""
    width = len(layout.names)
    above, chunk = head[: layout.n_lines], head[layout.n_lines :]
    line += len(above) + line_breaks(above)
    while True:
        some, below = full_rows(chunk, rows, width, line, ends.skip_end)
        yield some, below
        if len(some) < len(chunk):
            return
        while (block := rows.block(width)) is not None:
            yield block, 0
        line = rows.number + 1
        chunk = list(islice(rows, max(1, CHUNK_CELLS // width)))
        if not chunk:
            return


def _end(path: Place, columns: TextColumns, rows: tuple[int, int], left: int, ends: Ends) -> int:
    """Return where the rows of a file end: those to skip, and several empty ones, are no rows."""
    start, stop = rows
    if left < ends.skip_end:  # the last of them were not as long as rows
        return max(start, stop - left)
    end = stop if ends.keep_empty else columns.filled(start, stop)
    if left:
        return max(start, end - left)
    if end == 0 or end == stop - 1:  # nothing else is there, or a single one, which may be a row
        return stop
    if end < stop:
        say_empty(path, stop - end)
    return end


def _is_header(first: list[str], request: FileRequest) -> bool:
    """Whether the first line holds names; see `open_csv`."""
    how = plain_column("", request)
    keys = [key_of(cell) for cell in first]
    codes = [how.code_of(None if is_na(key) else key) for key in keys]
    words = [cell.strip() for cell, code in zip(first, codes, strict=True) if code == UNKNOWN]
    bits = [cell.strip() for cell, code in zip(first, codes, strict=True) if code < MISSING]
    if words and not bits and all(plain_word(word) in ANSWERS for word in words):
        return False  # yes, no, no: a row
    if not words or not bits:
        return bool(words)
    numbers = [key for key in keys if isinstance(key, float)]
    if numbers[-1] > 1 and numbers == [numbers[0] + k for k in range(len(numbers))]:
        return True  # columns that count: 0, 1, 2, ...
    raise TableError(
        f"line 1 has both bits ({quoted(bits[0])}) and text ({quoted(words[0])}). Set header=True if it contains the "
        "column names, otherwise header=False."
    )


def _refuse_row_as_names(cells: Sequence[ColumnCells]) -> None:
    """Refuse names that look like a row: at least half of them occur as values of their own columns."""
    same = [column for column in cells if column.name and key_of(column.name) in column.keys]
    if 2 * len(same) >= len(cells) and len(same) > 0:
        raise TableError(
            f"line 1 looks like a row, not like names: {quoted(same[0].name)} also occurs below. Set header=False, or "
            "header=True if it contains the column names."
        )
