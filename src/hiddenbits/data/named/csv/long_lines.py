"""CSV files with a line for each pair of a row and an item: written to Parquet once, and read as such pairs are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.dialect import Dialect
from hiddenbits.data.named.csv.rows import Written
from hiddenbits.data.named.parquet.files import pyarrow
from hiddenbits.data.named.streams import open_batches
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import open_text
from hiddenbits.quoting import told

BLANKS = ["", "NA", "N/A", "NaN", "nan", "null", "?"]


def open_long_lines(
    request: FileRequest,
    written: Written,
    *,
    row: str | None,
    item: str | None,
    value: str | None,
    items: Any,
    max_columns: int,
) -> Table:
    """Open pairs of rows and items; see `open_parquet` for what the options mean.

    Keys and items are whole numbers where all of them are written as such, without leading zeros; otherwise text.
    """
    if row is None or item is None:
        raise TableError("Give both row=, the column of row keys, and item=, the column of items.")
    pa = pyarrow()
    wanted = [row, item, *([] if value is None else [value])]
    whole = dict.fromkeys((row, item), True)
    for path in request.files:
        for batch in _batches(path, written, wanted, dict.fromkeys((row, item), pa.string()), value):
            for name in whole:
                whole[name] = whole[name] and _are_whole(batch.column(name))
    types = {name: pa.int64() if whole[name] else pa.large_string() for name in whole}
    if value is not None:
        types[value] = pa.float64()

    def batches() -> Iterator[Any]:
        for path in request.files:
            yield from _batches(path, written, wanted, types, value)

    schema = pa.schema([(name, types[name]) for name in wanted])
    options = {"row": row, "item": item, "value": value, "items": items}
    options |= {"max_columns": max_columns, "max_bytes": written.max_bytes}
    with reading(request.files[0]):
        return open_batches(batches(), schema, f"{request.files[0].name}, a file of lines,", request, options)


def _batches(path: Place, written: Written, wanted: list[str], types: Any, value: str | None) -> Iterator[Any]:
    """Yield record batches of some columns of a file, in constant memory."""
    import pyarrow.csv as pc

    pa = pyarrow()
    dialect: Dialect
    with reading(path):
        dialect, skip = written.look(path)
        with open_text(path, written.max_bytes) as file:
            try:
                reader = pc.open_csv(
                    pa.PythonFile(file, mode="r"),
                    pc.ReadOptions(encoding=_plain(dialect.encoding), skip_rows=int(skip), use_threads=False),
                    pc.ParseOptions(delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True),
                    pc.ConvertOptions(
                        include_columns=wanted,
                        column_types=types,
                        decimal_point=dialect.decimal,
                        strings_can_be_null=True,
                        null_values=[""] if value is None else BLANKS,
                    ),
                )
                yield from reader
            except KeyError as error:
                raise TableError(f"the columns {', '.join(map(repr, wanted))} are not all there.") from error
            except pa.ArrowException as error:
                raise TableError(f"the lines cannot be read ({told(error)}).") from error


def _are_whole(column: Any) -> bool:
    """Whether all cells of text are whole numbers as Python writes them."""
    import pyarrow.compute as pc

    plain = pc.match_substring_regex(column, r"^(0|-?[1-9][0-9]{0,17})$")
    return bool(pc.all(plain, skip_nulls=True).as_py() is not False)


def _plain(encoding: str | None) -> str:
    """Return the encoding; Arrow knows marks of UTF-8 itself."""
    return "utf8" if encoding is None or encoding.lower() in ("utf-8", "utf8", "utf-8-sig") else encoding
