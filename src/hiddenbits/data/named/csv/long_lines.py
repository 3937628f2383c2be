"""CSV files with a line for each pair of a row and an item, decoded by pyarrow batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.arrow import Asked, decoding, open_arrow
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.rows import Written
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import open_text

BLANKS = ["", "NA", "N/A", "NaN", "nan", "null", "?"]
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # as Python writes whole numbers: 007 is a name


class _WordsError(Exception):
    """A column that held whole numbers so far holds words, too."""


def open_long_lines(request: FileRequest, written: Written, asked: Asked) -> Table:
    """Open pairs of rows and items; see `open_parquet` for what the options mean.

    Keys and items are whole numbers where all of them are written as such, without leading zeros; otherwise text.
    """
    words: set[str] = set()  # columns that are text
    while True:
        try:
            return open_arrow(
                request,
                _names(request.files[0], written),
                lambda names: _batches(request, written, names, asked.value, words),
                asked,
            )
        except _WordsError as found:
            words.add(str(found))


def _names(path: Place, written: Written) -> list[str]:
    """Return the names on the first line."""
    with reading(path):
        rows = written.open(path)
        try:
            return next(rows, [])
        finally:
            rows.close()


def _batches(
    request: FileRequest, written: Written, names: list[str], value: str | None, words: set[str]
) -> Iterator[tuple[str, int, Any]]:
    """Yield record batches of some columns, in constant memory."""
    import pyarrow.csv as pc

    pa = pyarrow()
    for path in request.files:
        with reading(path):
            dialect, skip = written.look(path)
            with decoding(str(path)), open_text(path, written.max_bytes) as file:
                reader = pc.open_csv(
                    pa.PythonFile(file, mode="r"),
                    pc.ReadOptions(
                        encoding=_plain(dialect.encoding), skip_rows=int(skip) + written.skip_top, use_threads=False
                    ),
                    pc.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True),
                    pc.ConvertOptions(
                        include_columns=names,
                        column_types={name: pa.float64() if name == value else pa.large_string() for name in names},
                        decimal_point=dialect.decimal,
                        strings_can_be_null=True,
                        null_values=[""] if value is None else BLANKS,
                    ),
                )
                first = 0
                for batch in reader:
                    columns = [_typed(batch.column(name), name, words | {value}) for name in names]
                    yield str(path), first, pa.record_batch(columns, names)
                    first += batch.num_rows


def _typed(column: Any, name: str, words: set[Any]) -> Any:
    """Return a column of text as whole numbers, if it is not known to hold words."""
    import pyarrow.compute as pc

    if name in words:
        return column
    if pc.all(pc.match_substring_regex(column, WHOLE), skip_nulls=True).as_py() is False:
        raise _WordsError(name)
    return column.cast("int64")


def _plain(encoding: str | None) -> str:
    """Return the encoding; Arrow knows marks of UTF-8 itself."""
    return "utf8" if encoding is None or encoding.lower() in ("utf-8", "utf8", "utf-8-sig") else encoding
