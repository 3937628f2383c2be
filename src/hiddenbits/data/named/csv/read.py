"""Comma-separated tables, read into memory once: each column as its distinct cells and a code per row."""

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
from hiddenbits.data.items.arrow import ItemOptions, open_arrow
from hiddenbits.data.items.baskets import open_if_baskets
from hiddenbits.data.items.cells import split_cells
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.blocks import TextBlock
from hiddenbits.data.named.csv.columns import Rows, TextColumns
from hiddenbits.data.named.csv.dialect import Dialect
from hiddenbits.data.named.csv.ends import (
    SAMPLE_ROWS,
    Ends,
    full_rows,
    line_breaks,
    lines_below_names,
    refuse_title,
    warn_of_empty_rows,
)
from hiddenbits.data.named.csv.rows import CSVFiles, OnProgress, RowsOf, TextRows
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import quoted, redacted

ANSWER_WORDS = {word for pair in PAIRS for word in pair}  # a line with no other words is a row, not names
CHUNK_CELLS = 1 << 19
BATCH_ROWS = 1 << 16  # pairs that are coded at a time
INTEGER = "^(0|-?[1-9][0-9]{0,17})$"  # as Python writes integers: 007 is a name


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
    on_progress: OnProgress | None = None,
) -> Table:
    """Open ``.csv`` and ``.tsv`` files (also gzipped), with a header line or without.

    Cells are 0, 1, 0.0, 1.0, true or false. Missing values are empty cells, NA, N/A, NaN, null, None, ``?`` and ``.``.
    Upper and lower case are not distinguished, and spaces around a cell are ignored. If there are other cells, or
    options specify columns, the type of each column is inferred from its values (`columns.describe`). Lines of words
    without a header that differ in their number of words are baskets of item names.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    header : bool, optional
        Whether the first line contains names. By default it does if it has words and neither 0 nor 1, or if its
        numbers count columns (0, 1, 2, ...). If it has both words and 0 or 1, `header` must be specified.
    skip_top, skip_end : int, default=0
        Lines to skip: above the names, such as a title, and at the end, such as totals.
    keep_empty : bool, default=False
        Whether to keep empty rows at the end. By default two or more of them are dropped with a warning.
    delimiter, decimal, quote, encoding : str, optional
        The character between cells, the decimal sign ("." or ","), the quotes around cells (" or '), and the encoding,
        by a name that Python knows. By default they are found in the first lines; a `CSVDialectWarning` reports those
        that are not commas, points, double quotes and UTF-8.
    split : str or dict, optional
        The separator of several codes in a cell, such as ";" in ``E11.9;I10``: such a column becomes a column for each
        code, 1 in rows that have it. An empty cell has no code, or is missing with ``empty="missing"``. A dict
        gives the separator by column. The first line must contain names.
    row, item, value, items : optional
        The columns of files with a line for each pair of a row and an item, as for Parquet files; needs pyarrow.
    max_columns : int, default=10,000,000
        Maximum number of columns that codes or items may become.
    max_bytes : int, default=4 GiB
        Maximum size of the text, decompressed; it is read into memory.
    on_progress : function, optional
        Called repeatedly with the number of rows read so far, and their share of the files (None if unknown).
    """
    ends = Ends(skip_top, skip_end, keep_empty)
    csv_files = CSVFiles(Dialect(encoding, delimiter, quote, decimal), max_bytes, skip_top)
    if not row is item is value is None:
        if request.choices or split is not None:
            raise TableError(
                "row=, item= and value= read pairs. Remove split= and the options about columns, which do not apply."
            )
        options = ItemOptions(None, row, item, value, items, max_columns, max_bytes)
        return _open_pairs(request, csv_files.open, options, ends, on_progress)
    if items is not None:
        raise TableError("items= names the items of pairs. Give row= and item=, too.")
    request = replace(request, offers=("skip_top", "skip_end", "split", "row", "decimal"))
    as_table = header is not None or request.choices or request.coding or request.threshold is not None
    return open_rows(
        request,
        csv_files.open,
        header=header,
        ends=ends,
        on_progress=on_progress,
        split=split,
        max_columns=max_columns,
        fallback=None if as_table else partial(open_if_baskets, request, max_columns, max_bytes),
    )


@dataclass(frozen=True)
class CSVLayout:
    """The columns of a file: their names or positions, and the number of lines that the names take."""

    names: tuple[str, ...]
    named: bool
    n_lines: int = field(compare=False)


def open_rows(
    request: FileRequest,
    rows_of: RowsOf,
    *,
    header: bool | None,
    ends: Ends,
    on_progress: OnProgress | None,
    split: str | Mapping[str, str] | None,
    max_columns: int,
    fallback: Callable[[], Table | None] | None = None,
) -> Table:
    """Open files of any format whose rows `rows_of` returns as lists of text; see `open_csv`.

    If rows differ in width or have one column, `fallback` may open the files. It is not tried if an error is about one
    of several columns.
    """
    if split is not None:
        if header is False:
            raise TableError("split= needs a first line with the names of the columns.")
        header = True
    n_columns = 0
    try:
        layout, columns, _ = _gather_columns(request, rows_of, header, ends, on_progress)
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
        table = fallback() if fallback is not None and n_columns < 2 else None
        if table is None:
            raise
        return table


def _gather_columns(
    request: FileRequest,
    rows_of: RowsOf,
    header: bool | None,
    ends: Ends,
    on_progress: OnProgress | None,
    selected: Sequence[str] | None = None,
) -> tuple[CSVLayout, TextColumns, list[int]]:
    """Return the layout, all columns of the stacked files, or those selected, and the number of rows of each file."""
    files, layout, columns = request.files, None, TextColumns(0)
    row_ranges: list[tuple[int, int]] = []  # of each file
    n_rows = 0
    for number, path in enumerate(files):
        with reading(path), closing(rows_of(path)) as rows:
            try:
                line = rows.number + 1
                first = next(rows, None)
                if first is None:
                    raise TableError("the file is empty. A table needs at least one row.")
                head = [first or [""], *islice(rows, min(SAMPLE_ROWS, CHUNK_CELLS // (len(first) + 1)))]
                file_layout = _find_layout(path, head, request, header, ends)
                if layout is None:
                    positions = None if selected is None else [file_layout.names.index(name) for name in selected]
                    layout, columns = file_layout, TextColumns(len(file_layout.names), positions)
                if file_layout != layout:
                    raise TableError(
                        f"the columns differ from those of {files[0].name}. All files of a table need the same."
                    )
                start, n_to_skip = n_rows, ends.skip_end
                for chunk, n_below in _row_chunks(rows, head, file_layout, line, ends):
                    columns.add(chunk)
                    n_rows, n_to_skip = n_rows + len(chunk), n_to_skip - n_below
                    if on_progress is not None:
                        on_progress(n_rows, None if rows.share is None else (number + rows.share) / len(files))
            except csv.Error as error:
                raise TableError(f"line {rows.number}: {redacted(error)}. Fix the line, or its quotes.") from error
            row_ranges.append((start, _rows_end(path, columns, (start, n_rows), n_to_skip, ends)))
    n_kept = sum(stop - start for start, stop in row_ranges)
    if layout is None or not n_kept:
        raise TableError(f"{files[-1]}: the file has no rows. A table needs at least one.")
    if n_kept < n_rows:
        columns.keep_rows(row_ranges)
    return layout, columns, [stop - start for start, stop in row_ranges]


def _open_pairs(
    request: FileRequest, rows_of: RowsOf, options: ItemOptions, ends: Ends, on_progress: OnProgress | None
) -> Table:
    """Open files with a line for each pair of a row and an item; see `open_parquet` for the options.

    Keys and items are integers if all of them are written as such, without leading zeros; otherwise text.
    """
    with reading(request.files[0]), closing(rows_of(request.files[0])) as rows:
        names = [name.strip() for name in next(rows, [])]

    def batches(selected: list[str]) -> Iterator[tuple[str, int, Any]]:
        import pyarrow as pa

        _, columns, heights = _gather_columns(request, rows_of, True, ends, on_progress, selected)
        with naming(request.files[0]):
            arrays = [_arrow_array(column, numbers=column.name == options.value) for column in columns.cells(selected)]
        table, start = pa.table(arrays, selected), 0
        for path, height in zip(request.files, heights, strict=True):
            first_row = 0
            for batch in table.slice(start, height).to_batches(BATCH_ROWS):
                yield str(path), first_row, batch
                first_row += batch.num_rows
            start += height

    return open_arrow(request, names, batches, options)


def _arrow_array(column: ColumnCells, *, numbers: bool) -> Any:
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
    all_integers = pc.all(pc.match_substring_regex(values, INTEGER)).as_py() is not False
    return (values.cast("int64") if all_integers else values).take(rows)


def _find_layout(path: Place, head: Rows, request: FileRequest, header: bool | None, ends: Ends) -> CSVLayout:
    """Return the layout that the first lines of a file imply."""
    n_below = 0 if header is False else lines_below_names(path, head)
    if header is None and not n_below:
        refuse_title(head, ends.skip_top)
    if not (header or n_below or (header is None and _is_header(head[0], request))):
        return CSVLayout(tuple(str(j) for j in range(len(head[0]))), False, 0)
    names = tuple(name.strip() for name in head[0])
    if request.names is None:
        check_distinct(names)
    return CSVLayout(names, True, 1 + n_below)


def _row_chunks(
    rows: TextRows, head: Rows, layout: CSVLayout, line: int, ends: Ends
) -> Iterator[tuple[Rows | TextBlock, int]]:
    """Yield the rows below the names in chunks, each with the number of lines of other widths excluded at the end."""
    width = len(layout.names)
    names_lines, chunk = head[: layout.n_lines], head[layout.n_lines :]
    line += len(names_lines) + line_breaks(names_lines)
    while True:
        full, n_below = full_rows(chunk, rows, width, line, ends.skip_end)
        yield full, n_below
        if len(full) < len(chunk):
            return
        while (block := rows.block(width)) is not None:
            yield block, 0
        line = rows.number + 1
        chunk = list(islice(rows, max(1, CHUNK_CELLS // width)))
        if not chunk:
            return


def _rows_end(path: Place, columns: TextColumns, rows: tuple[int, int], n_to_skip: int, ends: Ends) -> int:
    """Return where the rows of a file end, without those to skip and without several empty ones."""
    start, stop = rows
    if n_to_skip < ends.skip_end:  # the last of them had other widths
        return max(start, stop - n_to_skip)
    end = stop if ends.keep_empty else columns.end_of_filled_rows(start, stop)
    if n_to_skip:
        return max(start, end - n_to_skip)
    if end == 0 or end == stop - 1:  # all rows are empty, or only the last, which may be a row
        return stop
    if end < stop:
        warn_of_empty_rows(path, stop - end)
    return end


def _is_header(first: list[str], request: FileRequest) -> bool:
    """Whether the first line contains names; see `open_csv`."""
    coded_column = plain_column("", request)
    keys = [key_of(cell) for cell in first]
    codes = [coded_column.code_of(None if is_na(key) else key) for key in keys]
    words = [cell.strip() for cell, code in zip(first, codes, strict=True) if code == UNKNOWN]
    bits = [cell.strip() for cell, code in zip(first, codes, strict=True) if code < MISSING]
    if words and not bits and all(plain_word(word) in ANSWER_WORDS for word in words):
        return False  # yes, no, no: a row
    if not words or not bits:
        return bool(words)
    numbers = [key for key in keys if isinstance(key, float)]
    if numbers[-1] > 1 and numbers == [numbers[0] + k for k in range(len(numbers))]:
        return True  # column numbers: 0, 1, 2, ...
    raise TableError(
        f"line 1 has both binary values ({quoted(bits[0])}) and text ({quoted(words[0])}). Set header=True if it "
        "contains the column names, otherwise header=False."
    )


def _refuse_row_as_names(cells: Sequence[ColumnCells]) -> None:
    """Refuse names that look like a row: at least half of them also occur in their columns."""
    same = [column for column in cells if column.name and key_of(column.name) in column.keys]
    if 2 * len(same) >= len(cells) and len(same) > 0:
        raise TableError(
            f"line 1 looks like a row, not like names: {quoted(same[0].name)} also occurs below. Set header=False, or "
            "header=True if it contains the column names."
        )
