"""Blocks of lines of comma-separated text, cut into cells by operations on whole arrays of bytes.

`cut_block` cuts lines exactly as the csv module does, or not at all: lines that are not all of one width, or have
quotes, line breaks or zero bytes within cells, are refused, and are then read one by one.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import AnyArray
from hiddenbits.data.named.csv.dialect import Dialect, point_decimals

FEW = 32  # distinct cells that are found by comparing; where there are more, cells are looked up one by one
SIZES = (1, 2, 4, 8)  # bytes that are compared at once
LONGEST = 32  # bytes of a cell that is compared
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")  # every byte below 128 is a character of ASCII
LINE_BREAK, RETURN = b"\n\r"


def can_cut(dialect: Dialect) -> bool:
    """Whether blocks of text that is written in this way can be cut; its encoding is one of `ENCODINGS`."""
    return str(dialect.delimiter).isascii() and dialect.delimiter not in ("\0", dialect.quote)


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Some lines, cut into cells.

    Attributes
    ----------
    raw : bytes
        The lines, followed by zeros.
    starts, lengths : ndarray of shape (rows, columns)
        The first byte of each cell, and how many it has.
    encoding : str
        A name that Python knows.
    decimal_comma : bool
        Whether numbers have a decimal comma, which becomes a point.
    """

    raw: bytes
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    encoding: str
    decimal_comma: bool

    @cached_property
    def _longest(self) -> AnyArray:
        """How many bytes the longest cell of each column has; of short ones, the longest of all."""
        longest = self.lengths.max()
        found: AnyArray = self.lengths.max(axis=0) if longest > SIZES[-1] else np.full(self.starts.shape[1], longest)
        return found

    @cached_property
    def _first(self) -> AnyArray:
        """The first bytes of all cells as whole numbers; all bytes, where no cell is longer than eight."""
        longest = self._longest.max()
        size = next((size for size in SIZES if size >= longest), SIZES[-1])
        return self._words(self.starts, self.lengths, size)

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, row: int, column: int) -> str:
        """Return a cell."""
        start = int(self.starts[row, column])
        return self._as_cells([self.raw[start : start + int(self.lengths[row, column])].decode(self.encoding)])[0]

    def codes(self, code_of: Callable[[str], int], column: int | None = None, most: int = FEW) -> AnyArray | None:
        """Return the code of each cell of a column, or of all cells; None where many differ, or some are long.

        Parameters
        ----------
        code_of : function
            Returns the code of a text, below 256; distinct texts are asked for in the order in which they come.
        column : int, optional
            The column; all cells, row by row, by default.
        most : int
            How many distinct cells there may be.
        """
        words = self._words_of(column)
        if words is None:
            return None
        n_columns = self.starts.shape[1]
        rest = np.ones(len(words[0]), bool)
        codes = np.zeros(len(rest), np.uint8)
        left = len(rest)
        for _ in range(most):
            at = int(rest.argmax())  # the first that is not known yet
            hit = words[0] == words[0][at]
            for more in words[1:]:
                hit &= more == more[at]
            code = code_of(self.text(at, column) if column is not None else self.text(*divmod(at, n_columns)))
            if code:
                codes |= hit.view(np.uint8) * np.uint8(code)
            left -= int(np.count_nonzero(hit))
            if not left:
                return codes if column is not None else codes.reshape(self.starts.shape)
            rest ^= hit
        return None

    def many_codes(self, code_of: Callable[[str], int], column: int) -> AnyArray | None:
        """Return the code of each cell of a column in which many differ; None where some are long."""
        words = self._words_of(column)
        if words is None:
            return None
        key = words[0]
        for more in words[1:]:
            codes, of_more = (np.unique(one, return_inverse=True)[1] for one in (key, more))
            key = codes * len(key) + of_more
        distinct, rows = np.unique(key, return_inverse=True)
        first = np.empty(len(distinct), np.int64)
        first[rows[::-1]] = np.arange(len(rows))[::-1]  # the last that is written stays; NumPy's index takes longer
        order = np.argsort(first)
        codes = np.empty(len(distinct), np.int32)
        codes[order] = [code_of(text) for text in self.texts(column, first[order])]
        return codes[rows]

    def texts(self, column: int, rows: Any = slice(None)) -> list[str]:
        """Return the cells of a column, or some of them."""
        starts = self.starts[rows, column]
        places = zip(starts.tolist(), (starts + self.lengths[rows, column]).tolist(), strict=True)
        if self._whole is not None:
            return self._as_cells(self._whole[start:stop] for start, stop in places)
        return self._as_cells(self.raw[start:stop].decode(self.encoding) for start, stop in places)

    def _words_of(self, column: int | None) -> list[AnyArray] | None:
        """Return the bytes of cells as whole numbers, up to eight in each; None where cells are longer than that."""
        pick: Any = ... if column is None else (slice(None), column)
        most, size = int(self._longest[slice(None) if column is None else column].max()), self._first.itemsize
        if most > LONGEST:
            return None
        words = [np.ascontiguousarray(self._first[pick])]
        for at in range(size, most, size):
            words.append(self._words(self.starts[pick] + at, self.lengths[pick] - at, size))
        return [one.reshape(-1) for one in words]

    def _words(self, starts: AnyArray, lengths: AnyArray, size: int) -> AnyArray:
        """Return the first bytes of cells as whole numbers."""
        masks = np.array([(1 << 8 * many) - 1 for many in range(size + 1)], f"<u{size}")
        every: AnyArray = np.ndarray((len(self.raw) - size + 1,), masks.dtype, self.raw, 0, (1,))  # from each byte
        words: AnyArray = every[starts]
        words &= masks.take(lengths, mode="clip")
        return words

    @cached_property
    def _whole(self) -> str | None:
        """The lines as text, where each character is a byte."""
        return self.raw.decode("ascii") if self.raw.isascii() else None

    def _as_cells(self, texts: Iterable[str]) -> list[str]:
        return point_decimals([list(texts)])[0] if self.decimal_comma else list(texts)


def cut_block(lines: bytes, width: int, dialect: Dialect) -> TextBlock | None:
    """Return whole lines cut into cells; None where that would not be exactly what the csv module does.

    Parameters
    ----------
    lines : bytes
        Some lines; the first starts outside of quotes.
    width : int
        How many cells each of them has.
    dialect : Dialect
        How they are written; see `can_cut`.
    """
    encoding, delimiter, quote = dialect.encoding or "utf-8", ord(dialect.delimiter or ","), ord(dialect.quote or '"')
    returns = b"\r" in lines
    if b"\0" in lines or (returns and lines.count(b"\r") != lines.count(b"\r\n")) or not _is_text(lines, encoding):
        return None
    raw = b"".join([b"\n", lines, b"" if lines.endswith(b"\n") else b"\n", bytes(LONGEST + SIZES[-1])])
    cells = np.frombuffer(raw, np.uint8, len(raw) - LONGEST - SIZES[-1])
    breaks = cells == LINE_BREAK
    n_rows = int(np.count_nonzero(breaks)) - 1
    breaks |= cells == delimiter
    has_quotes = quote in lines
    if has_quotes:
        if not _quotes_surround_cells(cells, delimiter, quote):
            return None
        breaks &= ~np.bitwise_xor.accumulate(cells == quote)
    ends = np.flatnonzero(breaks)
    if len(ends) != n_rows * width + 1 or not (cells[ends[::width]] == LINE_BREAK).all():
        return None
    starts, stops = ends[:-1] + 1, ends[1:]
    if returns:
        stops[width - 1 :: width] -= cells[stops[width - 1 :: width] - 1] == RETURN
    if has_quotes:
        quoted = cells[starts] == quote
        starts += quoted
        stops -= quoted
    lengths = stops - starts
    if lengths.max() > csv.field_size_limit():
        return None
    return TextBlock(raw, starts.reshape(-1, width), lengths.reshape(-1, width), encoding, dialect.decimal == ",")


def _is_text(lines: bytes, encoding: str) -> bool:
    if lines.isascii():
        return True
    try:
        lines.decode(encoding)
    except UnicodeError:
        return False
    return True


def _quotes_surround_cells(cells: AnyArray, delimiter: int, quote: int) -> bool:
    """Whether every quote is the first or the last character of a cell that has two."""
    quotes = np.flatnonzero(cells == quote)
    if len(quotes) % 2:
        return False
    before, after = cells[quotes[::2] - 1], cells[quotes[1::2] + 1]
    opens = (before == delimiter) | (before == LINE_BREAK)
    closes = (after == delimiter) | (after == LINE_BREAK) | (after == RETURN)
    return bool(opens.all() and closes.all())
