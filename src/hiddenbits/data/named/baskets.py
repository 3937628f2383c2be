"""Baskets, one row a line: the numbers of its items separated by blanks (FIMI format), or their names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data.cell_checks import MAX_BYTES, MAX_COLUMNS
from hiddenbits.data.errors import TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.items import Repeats, basket_bits, check_items, item_names, sort_baskets
from hiddenbits.data.named.named_baskets import has_names, open_named_baskets
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.data.text_files import line_chunks, too_large
from hiddenbits.quoting import quoted

# What a byte is; anything else does not belong into the file.
DIGIT, BLANK, NEWLINE = 1, 2, 3
KINDS = np.zeros(256, np.uint8)
KINDS[ord("0") : ord("9") + 1] = DIGIT
KINDS[[ord(" "), ord("\t")]] = BLANK
KINDS[ord("\n")] = NEWLINE
MAX_DIGITS = 10  # 2**31 has ten: more cannot be a column number


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
        and ``|`` which most lines have, otherwise a space; said (`FoundDialectWarning`).
    encoding : str, optional
        The encoding of names; by default UTF-8, or that of Windows where the text is not UTF-8.
    max_bytes : int, default=4 GiB
        The most that the text, unpacked, and the table may take.
    max_columns : int, default=10,000,000
        Item numbers from here on are taken for damage.
    """
    names = item_names(items, request)
    given = check_items(request, names, max_columns)
    with reading(request.files[0]):
        named = separator is not None or has_names(request.files[0], max_bytes)
    if named:
        return open_named_baskets(request, names, separator, encoding, max_columns, max_bytes)
    limit = given if given is not None else min(max_columns, 2**31 - 1)
    all_lengths: list[NDArray[np.int64]] = []
    all_items: list[NDArray[np.int32]] = []
    repeats, held, rows = Repeats(), 0, 0
    for path in request.files:
        line = 1
        with reading(path):
            for text in line_chunks(path, max_bytes):
                lengths, found = parse_lines(text, line, limit, given is not None)
                lengths, found = sort_baskets(lengths, found, repeats, f"{path}, line", line)
                line += len(lengths)
                held += lengths.nbytes + found.nbytes
                if held > max_bytes:  # a megabyte of newlines makes eight of index pointers
                    raise too_large(path, max_bytes)
                all_lengths.append(lengths)
                all_items.append(found)
                rows += len(lengths)
    if not rows:
        raise TableError(f"{request.files[0]}: the file is empty. A table needs at least one row.")
    repeats.warn()
    found = np.concatenate(all_items)
    n_columns = given if given is not None else int(found.max(initial=-1)) + 1
    if not n_columns:
        raise TableError(f"{request.files[0]}: all baskets are empty. Give the number of columns with n_columns=.")
    bits = basket_bits(np.concatenate(all_lengths), found, n_columns, request.blank)
    return Table(MemorySource(*bits), request.names if request.names is not None else names)


def parse_lines(text: bytes, first_line: int, limit: int, given: bool) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (items in each line, item numbers) of text that ends in a newline.

    All numbers of the text are built together, one decimal place at a time.
    """
    text = text.replace(b"\r\n", b"\n")
    codes = np.frombuffer(text, np.uint8)
    kinds = KINDS[codes]
    if not kinds.all():
        raise _bad_token(text, int(np.argmin(kinds)), first_line, "is not an item number")
    digit = (kinds == DIGIT).view(np.int8)
    edges = np.diff(digit, prepend=np.int8(0))  # the text ends in a newline, so every number has an end
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    widths = ends - starts
    widest = int(widths.max(initial=0))
    if widest > MAX_DIGITS:
        raise _bad_token(text, int(starts[np.argmax(widths)]), first_line, "is too large for an item number")
    numbers = np.zeros(len(starts), np.int64)
    for place in range(widest):
        wide = slice(None) if place == 0 else np.flatnonzero(widths > place)
        numbers[wide] = numbers[wide] * 10 + (codes[starts[wide] + place] - ord("0"))
    beyond = numbers >= limit
    if beyond.any():
        why = f"is beyond the table's {limit} columns" if given else f"is not below max_columns={limit}"
        raise _bad_token(text, int(starts[np.argmax(beyond)]), first_line, why)
    line_ends = np.flatnonzero(kinds == NEWLINE)
    lengths = np.diff(np.searchsorted(starts, line_ends), prepend=0)
    return lengths.astype(np.int64), numbers.astype(np.int32)


def _bad_token(text: bytes, at: int, first_line: int, why: str) -> TableError:
    """Return the error for the word at byte `at`."""
    line = first_line + text.count(b"\n", 0, at)
    start = max(text.rfind(mark, 0, at) for mark in (b" ", b"\t", b"\n")) + 1
    word = re.split(rb"[ \t\n]", text[start : at + 40], maxsplit=1)[0].decode("utf-8", "replace")
    return TableError(
        f"line {line}: {quoted(word)} {why}. A line has column numbers (0, 1, 2, ...) separated by spaces. If "
        "the items have names, set separator= to what is between them."
    )
