"""The dialect of comma-separated text, found in its first bytes: encoding, delimiter, quotes, decimal sign.

One warning reports all differences from the usual dialect (commas, UTF-8). Each part of a dialect can be specified.
"""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hiddenbits.data.text_files import SAMPLE_BYTES, SEPARATOR_NAMES, detect_encoding
from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable

DELIMITERS = (",", ";", "\t", "|")
QUOTES = ('"', "'")
DECIMALS = (".", ",")
TSV = (".tsv", ".tab")  # files whose usual delimiter is a tab
SAMPLE_LINES = 200
MAX_TITLE_LINES = 10  # the largest number of lines above the names
MIN_SAME_WIDTH_SHARE = 0.9  # share of lines that a delimiter must cut into the same number of cells
COMMA_NUMBER = re.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
POINT_NUMBER = re.compile(r"\s*[-+]?[0-9]*\.[0-9]+\s*")
PLAIN_NUMBER = re.compile(r"\s*[-+]?[0-9]*[.,]?[0-9]*\s*")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; parts that are None are found in the file.

    Attributes
    ----------
    encoding : str
        A name that Python knows.
    delimiter, quote, decimal : str
        The characters between cells, around cells, and before the decimal places of a number.
    """

    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
            raise TableError(f"delimiter={delimiter!r}: give a single character, not a quote or a line break.")
        for option, value, known in (("quote", self.quote, QUOTES), ("decimal", self.decimal, DECIMALS)):
            if value is not None and value not in known:
                raise TableError(f"{option}={value!r} is not one of {known[0]!r} and {known[1]!r}.")
        if delimiter is not None and delimiter in (self.quote, self.decimal if self.decimal == "," else None):
            raise TableError(f"delimiter={delimiter!r} is the same as the quote or the decimal sign.")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)  # not codecs.lookup: that knows codecs of bytes, too
            except (LookupError, TypeError, ValueError) as error:
                raise TableError(
                    f"encoding={self.encoding!r} is not known. Give a name such as 'utf-8', 'utf-16' or 'cp1252'."
                ) from error


def find_dialect(head: bytes, specified: Dialect, suffix: str, skip_top: int = 0) -> tuple[Dialect, bool]:
    """Return the dialect of a file, from its first bytes, and whether its first line is Excel's ``sep=;``.

    `skip_top` lines at the top are not part of the table.
    """
    encoding = specified.encoding or detect_encoding(head)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head[:SAMPLE_BYTES])
    lines = text.splitlines(keepends=True)
    if len(lines) > 1 and len(head) >= SAMPLE_BYTES:
        lines.pop()  # may be incomplete
    sep_line = re.fullmatch(r"\ufeff?sep=(.)\r?\n", lines[0]) if lines else None
    sep_delimiter = sep_line[1] if sep_line is not None and sep_line[1] not in "\"'\r\n" else None
    lines = lines[skip_top + (1 if sep_delimiter else 0) :][:SAMPLE_LINES]
    quote = specified.quote or _find_quote(lines)
    delimiter = specified.delimiter or sep_delimiter or _find_delimiter(lines, quote, "\t" if suffix in TSV else ",")
    decimal = specified.decimal or ("." if delimiter == "," else _find_decimal(_rows(lines, delimiter, quote)))
    return Dialect(encoding, delimiter, quote, decimal), sep_delimiter is not None


def warn_of_dialect(path: Any, dialect: Dialect, specified: Dialect, suffix: str) -> None:
    """Warn of what is unusual about a dialect and was not specified."""
    usual = "\t" if suffix in TSV else ","
    encoding, delimiter = str(dialect.encoding), str(dialect.delimiter)
    descriptions = {
        "encoding": not encoding.startswith("utf-8") and f"the encoding {encoding}",
        "delimiter": delimiter != usual and f"{SEPARATOR_NAMES.get(delimiter, repr(delimiter))} between cells",
        "quote": dialect.quote != '"' and f"{dialect.quote!r} around cells",
        "decimal": dialect.decimal != "." and f"{dialect.decimal!r} as the decimal sign",
    }
    unusual = {option: text for option, text in descriptions.items() if text and getattr(specified, option) is None}
    if unusual:
        warnings.warn(
            f"{printable(path)}: read with {' and '.join(unusual.values())}, as its first lines suggest. If that is "
            f"wrong, set {', '.join(f'{option}=' for option in unusual)}.",
            CSVDialectWarning,
            stacklevel=2,
        )


def point_decimals(rows: list[list[str]]) -> list[list[str]]:
    """Return rows with decimal points in place of decimal commas."""
    match = COMMA_NUMBER.fullmatch
    return [[cell.replace(",", ".") if "," in cell and match(cell) else cell for cell in row] for row in rows]


def _find_quote(lines: list[str]) -> str:
    """Return the quote: a single one if most cells have them, for some delimiter, and there is no double quote."""
    if any('"' in line for line in lines):
        return '"'
    text = "".join(lines)
    quoted = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)", text, flags=re.MULTILINE))
    cells = len(re.findall(r"[,;\t|\n]", text))
    return "'" if quoted and 2 * quoted >= cells else '"'


def _find_delimiter(lines: list[str], quote: str, usual: str) -> str:
    """Return the delimiter that cuts (nearly) all lines into the same number of cells, at least two.

    A few lines at the top may differ. Of several such delimiters, the one with the fewest differing lines at the top is
    chosen, as names have no decimal commas; then the one with the fewest other delimiters within cells that are not
    numbers: ``ja;0,5;1`` has three cells if cut at the semicolon.
    """
    best_rank, best = (0.0, 0, 0.0), usual
    for delimiter in sorted(DELIMITERS, key=lambda delimiter: delimiter != usual):
        rows = [row for row in _rows(lines, delimiter, quote) if row]
        width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
        if width < 2:
            continue
        n_above = next(i for i, row in enumerate(rows) if len(row) == width)  # below a title, if there is one
        n_above = n_above if n_above <= MAX_TITLE_LINES else 0
        rows = rows[n_above:]
        same_width_share = sum(len(row) == width for row in rows) / len(rows)
        others = set(DELIMITERS) - {delimiter}
        cells = [cell for row in rows for cell in row]
        intact = sum(others.isdisjoint(cell) or PLAIN_NUMBER.fullmatch(cell) is not None for cell in cells) / len(cells)
        if same_width_share >= MIN_SAME_WIDTH_SHARE and (same_width_share, -n_above, intact) > best_rank:
            best_rank, best = (same_width_share, -n_above, intact), delimiter
    return best


def _find_decimal(rows: list[list[str]]) -> str:
    """Return the decimal sign: a comma if some cells are numbers with one, and no cell is a number with a point."""
    cells = [cell for row in rows for cell in row]
    commas = any(COMMA_NUMBER.fullmatch(cell) for cell in cells)
    return "," if commas and not any(POINT_NUMBER.fullmatch(cell) for cell in cells) else "."


def _rows(lines: list[str], delimiter: str, quote: str) -> list[list[str]]:
    """Return the cells of some lines, up to the first that the csv module refuses."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter, quotechar=quote):
            rows.append(row)  # rows before an error are kept
    except csv.Error:
        pass
    return rows
