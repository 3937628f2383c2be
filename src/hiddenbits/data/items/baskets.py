"""Baskets, one row a line: the numbers of its items separated by blanks (FIMI format), or their names."""

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
from hiddenbits.data.items.gather import Batch, open_items
from hiddenbits.data.locations.places import Place
from hiddenbits.data.table import Table
from hiddenbits.data.text_files import NAMES, SAMPLE_BYTES, detect_encoding, line_chunks, open_text
from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable, quoted, told

SEPARATORS = (",", ";", "\t", "|")
SAMPLE_LINES = 200
OFTEN = 0.3  # the share of lines in which a separator must be: baskets of one item have none
SAME = 0.8  # the share of lines with as many words from which on a file is a table
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
    """Open baskets: text files (``.dat``, ``.txt``, ``.basket``, also gzipped) with one basket a line.

    A line holds item numbers, from 0 on, separated by blanks; an empty line is an empty basket. Item i is
    column i; without `n_columns` or `items` the table ends at the largest item found.

    If the first line holds words and no number, lines hold the names of items, such as ``whole milk,butter``, and the
    table has a column for each name, sorted, or in the order of `items`.

    Parameters
    ----------
    request : FileRequest
        What every reader is asked.
    items : sequence of str or path, optional
        The items' names, or a text file with one name a line.
    separator : str, optional
        The character between names; given, lines hold names in any case. By default that of comma, semicolon, tab
        and ``|`` which most lines have, otherwise a space; said (`CSVDialectWarning`).
    encoding : str, optional
        The encoding of names; by default UTF-8, or that of Windows where the text is not UTF-8.
    max_bytes : int, default=4 GiB
        The most that the text may come to, unpacked.
    max_columns : int, default=10,000,000
        Item numbers from here on are taken for damage.
    """
    if request.threshold is not None:
        raise TableError("threshold= does not apply to baskets, which contain items, not numbers.")
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'):
        raise TableError(f"separator={separator!r}: give a single character, not a quote or a line break.")
    with reading(request.files[0]):
        rows, _, _ = _look(request.files[0], max_bytes, encoding)
    named = separator is not None or not any(map(NUMBERS.fullmatch, rows[0] if rows else ["0"]))
    batches = _named(request, separator, encoding, max_bytes) if named else _numbered(request, max_bytes)
    return open_items(request, batches, items, max_columns, max_bytes)


def open_if_baskets(request: FileRequest, max_columns: int, max_bytes: int) -> Table | None:
    """Open a file that turned out to be no table, if it looks like baskets of names; otherwise return None.

    It does where its first lines hold words and no number, and each another number of them. The reader of CSV files
    calls this before it gives up, unless something was said that only tables have; `header=` is how to say so.
    """
    with reading(request.files[0]):
        rows, mark, _ = _look(request.files[0], max_bytes, None)
    widths = Counter(map(len, rows))
    ragged = len(widths) > 2 and max(widths.values()) < SAME * len(rows)
    if not ragged or mark == " " or any(map(NUMBERS.fullmatch, chain.from_iterable(rows))):
        return None
    remedy = "header=True or False if it is a table, or format='baskets' and separator="
    return open_items(request, _named(request, None, None, max_bytes, remedy), None, max_columns, max_bytes)


def _numbered(request: FileRequest, max_bytes: int) -> Iterator[Batch]:
    """Yield the items of lines of numbers."""
    for path in request.files:
        line = 1
        with reading(path):
            for text in line_chunks(path, max_bytes):
                starts, numbers = parse_lines(text, line)
                yield Batch(str(path), "line", line, starts, numbers)
                line += len(starts)


def parse_lines(text: bytes, first_line: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (where lines start among the numbers, numbers) of text that ends in a newline."""
    text = text.replace(b"\r\n", b"\n")
    odd = text.translate(None, b"0123456789 \t\n")
    if odd:
        at = text.index(odd[:1])
        line, start = first_line + text.count(b"\n", 0, at), 1 + max(text.rfind(mark, 0, at) for mark in (b" ", b"\n"))
        word = text[start : at + 40].split()[0].decode("utf-8", "replace")
        raise TableError(
            f"line {line}: {quoted(word)} is not an item number. A line has column numbers (0, 1, 2, ...) separated by "
            "spaces. If the items have names, set separator= to what is between them."
        )
    codes = np.frombuffer(text, np.uint8)
    digits = codes >= ord("0")
    begins = np.flatnonzero(digits[1:] > digits[:-1]) + 1
    n_before = np.searchsorted(begins, np.flatnonzero(codes == ord("\n"))) + int(digits[0])
    numbers = np.fromstring(text, np.int64, sep=" ") if n_before[-1] else np.zeros(0, np.int64)
    return np.concatenate([[0], n_before[:-1]]), numbers


def _look(path: Place, max_bytes: int, encoding: str | None) -> tuple[list[list[str]], str, str]:
    """Return the words of the first lines that have any, what is between them, and the encoding."""
    with open_text(path, max_bytes) as file:
        head = file.peek()
    code = encoding or detect_encoding(head)
    lines = head[:SAMPLE_BYTES].decode(code, "replace").splitlines()[:SAMPLE_LINES]
    lines = [line for line in lines if line.strip()]
    counts = {mark: sum(mark in line for line in lines) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: counts[mark])
    mark = best if counts[best] and counts[best] >= OFTEN * len(lines) else " "
    return [_words(line, mark) for line in lines], mark, code


def _words(line: str, mark: str, *, strict: bool = False) -> list[str]:
    """Return the names of a line; within quotes, as CSV files have them, a mark is part of a name."""
    words = line.split(None if mark == " " else mark)
    if '"' in line and mark != " ":
        words = next(csv.reader([line.strip("\r")], delimiter=mark, strict=strict), [])
    return list(map(str.strip, words))


def _named(
    request: FileRequest, separator: str | None, encoding: str | None, max_bytes: int, remedy: str = "separator="
) -> Iterator[Batch]:
    """Yield the items of lines of names; quotes are those of CSV files."""
    for path in request.files:
        with reading(path):
            _, found, code = _look(path, max_bytes, encoding)
            if code.startswith("utf-16"):
                raise TableError("baskets in UTF-16 are not supported. Save the file as UTF-8.")
            mark = separator or found
            if separator is None:
                odd = "" if code.startswith("utf-8") or encoding else f" in the encoding {code}"
                warnings.warn(
                    f"{printable(path)}: read as baskets of item names with {NAMES.get(mark, repr(mark))} between "
                    f"them{odd}, as its first lines suggest. If that is wrong, set {remedy}"
                    + (" or encoding=." if odd else "."),
                    CSVDialectWarning,
                    stacklevel=2,
                )
            line = 1
            for text in line_chunks(path, max_bytes):
                known: defaultdict[str, int] = defaultdict(count().__next__)
                codes, starts = array("i"), array("q")
                for words in _baskets(text, line, mark, "utf-8-sig" if line == 1 and code == "utf-8" else code):
                    starts.append(len(codes))
                    codes.extend(map(known.__getitem__, words))
                items = np.frombuffer(codes, np.int32), list(known)
                yield Batch(str(path), "line", line, np.frombuffer(starts, np.int64), items)
                line += len(starts)


def _baskets(text: bytes, first_line: int, mark: str, encoding: str) -> Iterator[Iterable[str]]:
    """Yield the names on each line."""
    try:
        lines = text.decode(encoding).split("\n")[:-1]
    except UnicodeDecodeError as error:
        at = first_line + text.count(b"\n", 0, error.start)
        raise TableError(
            f"line {at}: the text is not {encoding.upper()} ({error.reason}). Save the file as UTF-8, or name its "
            "encoding, such as encoding='cp1252'."
        ) from error
    for number, line in enumerate(lines, first_line):
        try:
            words = _words(line, mark, strict=True)
        except csv.Error as error:
            raise TableError(f"line {number}: {told(error)}. Fix the line, or its quotes.") from error
        yield filter(None, words)
