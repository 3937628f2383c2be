"""Baskets, one per line: item numbers separated by spaces (FIMI format), or item names."""

from __future__ import annotations

import csv
import re
import warnings
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.gather import ItemBatch, open_items
from hiddenbits.data.locations.places import Place
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import SAMPLE_BYTES, SEPARATOR_NAMES, detect_encoding, line_chunks, open_text
from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable, quoted, redacted

SEPARATORS = (",", ";", "\t", "|")
SAMPLE_LINES = 200
MIN_SEPARATOR_SHARE = 0.3  # share of lines that must contain the separator: baskets of one item do not
TABLE_WIDTH_SHARE = 0.8  # share of lines with the same number of words that makes a file a table
NUMBERS = re.compile(r"[-+0-9.\s]+")


def open_baskets(
    request: FileRequest,
    *,
    items: Any = None,
    separator: str | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
    max_columns: int = MAX_COLUMNS,
) -> Table:
    """Open baskets: text files (``.dat``, ``.txt``, ``.basket``, also gzipped) with one basket per line.

    A line contains item numbers, starting at 0, separated by spaces; an empty line is an empty basket. Item i is
    column i; without `n_columns` or `items` the largest item number determines the number of columns.

    If the first line contains words and no number, lines contain item names, such as ``whole milk,butter``, and the
    table has a column for each name, sorted, or in the order of `items`.

    Parameters
    ----------
    request : FileRequest
        The files and the options that all readers share.
    items : sequence of str or path, optional
        Item names, or a text file with one name per line.
    separator : str, optional
        The character between names; if specified, lines always contain names. By default that of comma, semicolon,
        tab and ``|`` that occurs in most lines, otherwise a space; reported in a `CSVDialectWarning`.
    encoding : str, optional
        The encoding of names; by default UTF-8, or Windows-1252 if the text is not UTF-8.
    max_bytes : int, default=4 GiB
        Maximum size of the text, decompressed.
    max_columns : int, default=10,000,000
        Larger item numbers are refused as damage.
    """
    if request.threshold is not None:
        raise TableError("threshold= does not apply to baskets, which contain items, not numbers.")
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'):
        raise TableError(f"separator={separator!r}: give a single character, not a quote or a line break.")
    with reading(request.files[0]):
        rows, _, _ = _sample_words(request.files[0], max_bytes, encoding)
    named = separator is not None or not any(map(NUMBERS.fullmatch, rows[0] if rows else ["0"]))
    batches = _named(request, separator, encoding, max_bytes) if named else _numbered(request, max_bytes)
    return open_items(request, batches, items, max_columns, max_bytes)


def open_if_baskets(request: FileRequest, max_columns: int, max_bytes: int) -> Table | None:
    """Open a file that cannot be read as a table, if it looks like baskets of names; otherwise return None.

    First lines of baskets contain words and no number, and differ in their number of words. The CSV reader
    calls this before it raises an error, unless an option is set that only tables have, such as `header=`.
    """
    with reading(request.files[0]):
        rows, separator, _ = _sample_words(request.files[0], max_bytes, None)
    widths = Counter(map(len, rows))
    is_ragged = len(widths) > 2 and max(widths.values()) < TABLE_WIDTH_SHARE * len(rows)
    if not is_ragged or separator == " " or any(map(NUMBERS.fullmatch, chain.from_iterable(rows))):
        return None
    remedy = "header=True or False if it is a table, or format='baskets' and separator="
    return open_items(request, _named(request, None, None, max_bytes, remedy), None, max_columns, max_bytes)


def _numbered(request: FileRequest, max_bytes: int) -> Iterator[ItemBatch]:
    """Yield the items of lines of numbers."""
    for path in request.files:
        line = 1
        with reading(path):
            for text in line_chunks(path, max_bytes):
                starts, numbers = parse_lines(text, line)
                yield ItemBatch(str(path), "line", line, starts, numbers)
                line += len(starts)


def parse_lines(text: bytes, first_line: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (index of each line's first number, numbers) of text that ends in a newline."""
    text = text.replace(b"\r\n", b"\n")
    unexpected = text.translate(None, b"0123456789 \t\n")
    if unexpected:
        stop = text.index(unexpected[:1])
        line, text_before = first_line + text.count(b"\n", 0, stop), text[:stop]
        start = max(text_before.rfind(b" "), text_before.rfind(b"\n"))
        word = text[start + 1 : stop + 40].split()[0].decode("utf-8", "replace")
        raise TableError(
            f"line {line}: {quoted(word)} is not an item number. A line has column numbers (0, 1, 2, ...) separated by "
            "spaces. If lines contain item names, set separator= to the character between them."
        )
    codes = np.frombuffer(text, np.uint8)
    digits = codes >= ord("0")
    number_starts = np.flatnonzero(digits[1:] > digits[:-1]) + 1
    n_before = np.searchsorted(number_starts, np.flatnonzero(codes == ord("\n"))) + int(digits[0])
    numbers = np.fromstring(text, np.int64, sep=" ") if n_before[-1] else np.zeros(0, np.int64)
    return np.concatenate([[0], n_before[:-1]]), numbers


def _sample_words(path: Place, max_bytes: int, encoding: str | None) -> tuple[list[list[str]], str, str]:
    """Return the words of the first non-empty lines, their separator, and the encoding."""
    with open_text(path, max_bytes) as file:
        head = file.peek()
    code = encoding or detect_encoding(head)
    lines = head[:SAMPLE_BYTES].decode(code, "replace").splitlines()[:SAMPLE_LINES]
    lines = [line for line in lines if line.strip()]
    counts = {separator: sum(separator in line for line in lines) for separator in SEPARATORS}
    best = max(SEPARATORS, key=lambda separator: counts[separator])
    separator = best if counts[best] and counts[best] >= MIN_SEPARATOR_SHARE * len(lines) else " "
    return [_words(line, separator) for line in lines], separator, code


def _words(line: str, separator: str, *, strict: bool = False) -> list[str]:
    """Return the names of a line; within quotes, as in CSV files, a separator is part of a name."""
    words = line.split(None if separator == " " else separator)
    if '"' in line and separator != " ":
        words = next(csv.reader([line.strip("\r")], delimiter=separator, strict=strict), [])
    return list(map(str.strip, words))


def _named(
    request: FileRequest, separator: str | None, encoding: str | None, max_bytes: int, remedy: str = "separator="
) -> Iterator[ItemBatch]:
    """Yield the items of lines of names, quoted as in CSV files."""
    for path in request.files:
        with reading(path):
            _, likely_separator, code = _sample_words(path, max_bytes, encoding)
            if code.startswith("utf-16"):
                raise TableError("baskets in UTF-16 are not supported. Save the file as UTF-8.")
            delimiter = separator or likely_separator
            if separator is None:
                encoding_note = "" if code.startswith("utf-8") or encoding else f" in the encoding {code}"
                warnings.warn(
                    f"{printable(path)}: read as baskets of item names with "
                    f"{SEPARATOR_NAMES.get(delimiter, repr(delimiter))} between them{encoding_note}, as its first "
                    f"lines suggest. If that is wrong, set {remedy}{' or encoding=.' if encoding_note else '.'}",
                    CSVDialectWarning,
                    stacklevel=2,
                )
            line = 1
            for text in line_chunks(path, max_bytes):
                code_of: defaultdict[str, int] = defaultdict(count().__next__)
                codes, starts = array("i"), array("q")
                for words in _baskets(text, line, delimiter, "utf-8-sig" if line == 1 and code == "utf-8" else code):
                    starts.append(len(codes))
                    codes.extend(map(code_of.__getitem__, words))
                items = np.frombuffer(codes, np.int32), list(code_of)
                yield ItemBatch(str(path), "line", line, np.frombuffer(starts, np.int64), items)
                line += len(starts)


def _baskets(text: bytes, first_line: int, separator: str, encoding: str) -> Iterator[Iterable[str]]:
    """Yield the names on each line."""
    try:
        lines = text.decode(encoding).split("\n")[:-1]
    except UnicodeDecodeError as error:
        line_number = first_line + text.count(b"\n", 0, error.start)
        raise TableError(
            f"line {line_number}: the text is not {encoding.upper()} ({error.reason}). Save the file as UTF-8, or name "
            "its encoding, such as encoding='cp1252'."
        ) from error
    for number, line in enumerate(lines, first_line):
        try:
            words = _words(line, separator, strict=True)
        except csv.Error as error:
            raise TableError(f"line {number}: {redacted(error)}. Fix the line, or its quotes.") from error
        yield filter(None, words)
