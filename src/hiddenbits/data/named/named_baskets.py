"""Baskets of item names: one transaction a line, such as ``whole milk,butter``; a column for each name."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator
from typing import Any
from warnings import warn

import numpy as np

from hiddenbits.data.errors import FoundDialectWarning, TableError
from hiddenbits.data.file_request import FileRequest, reading
from hiddenbits.data.items.items import Repeats, basket_bits, sort_baskets
from hiddenbits.data.locations.places import Place
from hiddenbits.data.table import MemorySource, Table
from hiddenbits.data.text_files import NAMES, found_encoding, line_chunks, open_text, too_large
from hiddenbits.quoting import printable, quoted, told

SEPARATORS = (",", ";", "\t", "|")
SAMPLE_LINES = 200
OFTEN = 0.3  # the share of lines in which a separator must be: baskets of one item have none


def has_names(path: Place, max_bytes: int) -> bool:
    """Whether the first basket of a file holds words and no number: then items are given by name."""
    for line in _sample(path, max_bytes, None)[0]:
        words = [word.strip() for word in re.split(r"[,;|\t ]", line) if word.strip()]
        if words:
            return not any(re.fullmatch(r"[-+0-9.]+", word) for word in words)
    return False


def open_named_baskets(
    request: FileRequest,
    names: tuple[str, ...] | None,
    separator: str | None,
    encoding: str | None,
    max_columns: int,
    max_bytes: int,
) -> Table:
    """Open baskets of names; see `open_baskets`."""
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    lengths, items, repeats = array("q"), array("i"), Repeats()
    for path in request.files:
        with reading(path):
            mark, code = _found(path, max_bytes, separator, encoding)
            for line, words in _baskets(path, max_bytes, mark, code):
                for word in words:
                    number = known.get(word)
                    if number is None:
                        if names is not None:
                            raise TableError(f"line {line}: {quoted(word)} is not among the names of items=.")
                        if len(known) >= max_columns:
                            raise TableError(f"line {line}: more than max_columns={max_columns} items.")
                        number = known[word] = len(known)
                    items.append(number)
                lengths.append(len(words))
                if 8 * len(lengths) + 4 * len(items) > max_bytes:
                    raise too_large(path, max_bytes)
    if not lengths:
        raise TableError(f"{request.files[0]}: the file is empty. A table needs at least one row.")
    if not known:
        raise TableError(f"{request.files[0]}: all baskets are empty. A table needs at least one item.")
    listed = tuple(known) if names is not None else tuple(sorted(known))
    if request.n_columns is not None and request.n_columns != len(listed):
        raise TableError(f"{request.files[0]}: {len(listed)} items found, not n_columns={request.n_columns}.")
    place = np.empty(len(listed), np.int32)
    for j, name in enumerate(listed):
        place[known[name]] = j
    found = place[np.frombuffer(items, np.int32)] if items else np.zeros(0, np.int32)
    counts, found = sort_baskets(np.array(lengths, np.int64), found, repeats, f"{request.files[0]}, line", 1)
    repeats.warn()
    bits = basket_bits(counts, found, len(listed), request.blank)
    return Table(MemorySource(*bits), listed if request.names is None else request.names)


def _sample(path: Place, max_bytes: int, encoding: str | None) -> tuple[list[str], str]:
    """Return the first lines of a file, and its encoding."""
    with open_text(path, max_bytes) as file:
        head = file.peek()
    code = encoding or found_encoding(head)
    return head[: 1 << 18].decode(code, "replace").splitlines()[:SAMPLE_LINES], code


def _found(path: Place, max_bytes: int, separator: str | None, encoding: str | None) -> tuple[str, str]:
    """Return what is between names and the encoding, as asked or found; what was found is said."""
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'):
        raise TableError(f"separator={separator!r}: give a single character, not a quote or a line break.")
    lines, code = _sample(path, max_bytes, encoding)
    if code.startswith("utf-16"):
        raise TableError("baskets in UTF-16 are not supported. Save the file as UTF-8.")
    filled = [line for line in lines if line.strip()]
    counts = {mark: sum(mark in line for line in filled) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: counts[mark])
    found = best if counts[best] and counts[best] >= OFTEN * len(filled) else " "
    if separator is None:
        odd = "" if code.startswith("utf-8") or encoding else f" in the encoding {code}"
        warn(
            f"{printable(path)}: read as baskets of item names with {NAMES.get(found, repr(found))} between them{odd}, "
            "as its first lines suggest. If that is wrong, set separator=" + (" or encoding=." if odd else "."),
            FoundDialectWarning,
            stacklevel=2,
        )
    return separator or found, code


def _baskets(path: Place, max_bytes: int, mark: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, names) of each basket; quotes are those of CSV files."""
    number = 0
    for text in line_chunks(path, max_bytes):
        try:
            lines = text.decode("utf-8-sig" if number == 0 and encoding == "utf-8" else encoding).split("\n")[:-1]
        except UnicodeDecodeError as error:
            at = number + 1 + text.count(b"\n", 0, error.start)
            raise TableError(
                f"line {at}: the text is not {encoding.upper()} ({error.reason}). Save the file as UTF-8, or name its "
                "encoding, such as encoding='cp1252'."
            ) from error
        for line in lines:
            number += 1
            yield number, _words(line, mark, number)


def _words(line: str, mark: str, number: int) -> list[str]:
    if "\x00" in line:
        raise TableError(f"line {number}: the line has a NUL character, so this is not a file of text.")
    if mark == " ":
        return line.split()
    if '"' not in line:
        return [word for word in map(str.strip, line.split(mark)) if word]
    try:
        cells: list[Any] = next(csv.reader([line.strip("\r")], delimiter=mark, strict=True), [])
    except csv.Error as error:
        raise TableError(f"line {number}: {told(error)}. Fix the line, or its quotes.") from error
    return [word for word in map(str.strip, cells) if word]
