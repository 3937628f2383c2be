"""How a file of comma-separated text is written: encoding, delimiter, quotes, decimal sign; found in its first bytes.

What is found and not what everybody expects (commas, UTF-8) is said once; every part of it can be set.
"""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hiddenbits.data.text_files import NAMES, SAMPLE_BYTES, detect_encoding
from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable

DELIMITERS = (",", ";", "\t", "|")
QUOTES = ('"', "'")
DECIMALS = (".", ",")
TABS = (".tsv", ".tab")  # files whose usual delimiter is a tab
SAMPLE_LINES = 200
TITLE_LINES = 10  # at most
ENOUGH = 0.9  # the share of lines that a delimiter must cut into as many cells as the first
COMMA_NUMBER = re.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
POINT_NUMBER = re.compile(r"\s*[-+]?[0-9]*\.[0-9]+\s*")
PLAIN_NUMBER = re.compile(r"\s*[-+]?[0-9]*[.,]?[0-9]*\s*")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written, or is asked to be read; None is for what is to be found.

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


def find_dialect(head: bytes, asked: Dialect, suffix: str, skip_top: int = 0) -> tuple[Dialect, bool]:
    """Return how a file is written, from its first bytes, and whether its first line is Excel's ``sep=;``.

    Some lines at the top (`skip_top`) may be no part of the table.
    """
    encoding = asked.encoding or detect_encoding(head)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head[:SAMPLE_BYTES])
    lines = text.splitlines(keepends=True)
    if len(lines) > 1 and len(head) >= SAMPLE_BYTES:
        lines.pop()  # may be cut
    first = re.fullmatch(r"\ufeff?sep=(.)\r?\n", lines[0]) if lines else None
    said = first[1] if first is not None and first[1] not in "\"'\r\n" else None
    lines = lines[skip_top + (1 if said else 0) :][:SAMPLE_LINES]
    quote = asked.quote or _found_quote(lines)
    delimiter = asked.delimiter or said or _found_delimiter(lines, quote, "\t" if suffix in TABS else ",")
    decimal = asked.decimal or ("." if delimiter == "," else _found_decimal(_rows(lines, delimiter, quote)))
    return Dialect(encoding, delimiter, quote, decimal), said is not None


def warn_of_dialect(path: Any, found: Dialect, asked: Dialect, suffix: str) -> None:
    """Say what was found, where it is not what everybody expects and was not asked for."""
    usual = "\t" if suffix in TABS else ","
    encoding, delimiter = str(found.encoding), str(found.delimiter)
    about = {
        "encoding": not encoding.startswith("utf-8") and f"the encoding {encoding}",
        "delimiter": delimiter != usual and f"{NAMES.get(delimiter, repr(delimiter))} between cells",
        "quote": found.quote != '"' and f"{found.quote!r} around cells",
        "decimal": found.decimal != "." and f"{found.decimal!r} as the decimal sign",
    }
    odd = {option: words for option, words in about.items() if words and getattr(asked, option) is None}
    if odd:
        warnings.warn(
            f"{printable(path)}: read with {' and '.join(odd.values())}, as its first lines suggest. If that is wrong, "
            f"set {', '.join(f'{option}=' for option in odd)}.",
            CSVDialectWarning,
            stacklevel=2,
        )


def point_decimals(rows: list[list[str]]) -> list[list[str]]:
    """Return rows with a point in numbers that have a decimal comma."""
    match = COMMA_NUMBER.fullmatch
    return [[cell.replace(",", ".") if "," in cell and match(cell) else cell for cell in row] for row in rows]


def _found_quote(lines: list[str]) -> str:
    """Return the quotes: single ones where most cells of some delimiter have them, and no double quote is there."""
    if any('"' in line for line in lines):
        return '"'
    text = "".join(lines)
    quoted = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)", text, flags=re.MULTILINE))
    cells = len(re.findall(r"[,;\t|\n]", text))
    return "'" if quoted and 2 * quoted >= cells else '"'


def _found_delimiter(lines: list[str], quote: str, usual: str) -> str:
    """Return what cuts (nearly) all lines into as many cells, at least two; but for a few lines at the top.

    Where several do, the one with fewer lines above, as names have no decimal commas; and then the one that leaves
    fewer of the others within cells that are no numbers: ``ja;0,5;1`` is three cells if cut at the semicolon.
    """
    best, chosen = (0.0, 0, 0.0), usual
    for delimiter in sorted(DELIMITERS, key=lambda one: one != usual):
        rows = [row for row in _rows(lines, delimiter, quote) if row]
        width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
        if width < 2:
            continue
        top = next(at for at, row in enumerate(rows) if len(row) == width)  # below a title, if there is one
        top = top if top <= TITLE_LINES else 0
        rows = rows[top:]
        same = sum(len(row) == width for row in rows) / len(rows)
        others = set(DELIMITERS) - {delimiter}
        cells = [cell for row in rows for cell in row]
        whole = sum(others.isdisjoint(cell) or PLAIN_NUMBER.fullmatch(cell) is not None for cell in cells) / len(cells)
        if same >= ENOUGH and (same, -top, whole) > best:
            best, chosen = (same, -top, whole), delimiter
    return chosen


def _found_decimal(rows: list[list[str]]) -> str:
    """Return the decimal sign: a comma where some cells are such numbers, and none has a point."""
    cells = [cell for row in rows for cell in row]
    commas = any(COMMA_NUMBER.fullmatch(cell) for cell in cells)
    return "," if commas and not any(POINT_NUMBER.fullmatch(cell) for cell in cells) else "."


def _rows(lines: list[str], delimiter: str, quote: str) -> list[list[str]]:
    """Return the cells of some lines; what the csv module does not take ends them."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter, quotechar=quote):
            rows.append(row)  # what came before an error counts
    except csv.Error:
        pass
    return rows
