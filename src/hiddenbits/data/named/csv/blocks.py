"""Blocks of lines of comma-separated text, cut into cells by array operations on bytes.

`cut_block` cuts lines exactly as the csv module does, or returns None if lines differ in their number of cells, or
have quotes, line breaks or zero bytes within cells. Such lines are read one by one.
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

MAX_COMPARED = 32  # up to this number of distinct cells are coded by comparison; more are coded by sorting
SIZES = (1, 2, 4, 8)  # possible sizes, in bytes, of the integers by which cells are compared
MAX_CELL_BYTES = 32  # longer cells are not compared
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")  # in which every byte below 128 is an ASCII character
LINE_BREAK, CARRIAGE_RETURN = b"\n\r"

CodeOf = Callable[[str], int]


def can_cut(dialect: Dialect) -> bool:
    """Whether blocks of text in this dialect can be cut, if its encoding is one of `ENCODINGS`."""
    return str(dialect.delimiter).isascii() and dialect.delimiter not in ("\0", dialect.quote)


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Lines that are cut into cells.

    Attributes
    ----------
    raw : bytes
        The lines, followed by zeros.
    starts, lengths : ndarray of shape (rows, columns)
        The position of each cell's first byte, and its number of bytes.
    encoding : str
        A name that Python knows.
    decimal_comma : bool
        Whether numbers have a decimal comma, which is replaced by a point.
    """

    raw: bytes
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    encoding: str
    decimal_comma: bool

    @cached_property
    def _max_lengths(self) -> AnyArray:
        """Bytes of the longest cell of each column, or of the whole block if all cells are short."""
        longest = self.lengths.max()
        lengths: AnyArray = self.lengths.max(axis=0) if longest > SIZES[-1] else np.full(self.starts.shape[1], longest)
        return lengths

    @cached_property
    def _first_words(self) -> AnyArray:
        """The first bytes of all cells as integers; all their bytes if no cell is longer than eight."""
        longest = self._max_lengths.max()
        size = next((size for size in SIZES if size >= longest), SIZES[-1])
        return self._words(self.starts, self.lengths, size)

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, row: int, column: int) -> str:
        """Return a cell."""
        start = int(self.starts[row, column])
        return self._as_cells([self.raw[start : start + int(self.lengths[row, column])].decode(self.encoding)])[0]

    def codes(self, code_of: CodeOf, column: int | None = None, limit: int = MAX_COMPARED) -> AnyArray | None:
        """Return the code of each cell of a column, or of all cells; None if there are many distinct or long cells.

        Parameters
        ----------
        code_of : function
            Returns the code of a text, below 256; called once for each distinct text, in order of appearance.
        column : int, optional
            The column; all cells, row by row, by default.
        limit : int
            The largest number of distinct cells.
        """
        words = self._words_of(column)
        if words is None:
            return None
        n_columns = self.starts.shape[1]
        uncoded = np.ones(len(words[0]), bool)
        codes = np.zeros(len(uncoded), np.uint8)
        n_uncoded = len(uncoded)
        for _ in range(limit):
            cell = int(uncoded.argmax())  # the first cell without a code
            is_equal = words[0] == words[0][cell]
            for word in words[1:]:
                is_equal &= word == word[cell]
            code = code_of(self.text(cell, column) if column is not None else self.text(*divmod(cell, n_columns)))
            if code:
                codes |= is_equal.view(np.uint8) * np.uint8(code)
            n_uncoded -= int(np.count_nonzero(is_equal))
            if not n_uncoded:
                return codes if column is not None else codes.reshape(self.starts.shape)
            uncoded ^= is_equal
        return None

    def many_codes(self, code_of: CodeOf, column: int) -> AnyArray | None:
        """Return the code of each cell of a column with many distinct cells; None if some are long."""
        words = self._words_of(column)
        if words is None:
            return None
        keys = words[0]
        for word in words[1:]:
            codes, word_codes = (np.unique(array, return_inverse=True)[1] for array in (keys, word))
            keys = codes * len(keys) + word_codes
        distinct, rows = np.unique(keys, return_inverse=True)
        first_rows = np.empty(len(distinct), np.int64)
        first_rows[rows[::-1]] = np.arange(len(rows))[::-1]  # the last write stays; np.unique's return_index is slower
        order = np.argsort(first_rows)
        codes = np.empty(len(distinct), np.int32)
        codes[order] = [code_of(text) for text in self.texts(column, first_rows[order])]
        return codes[rows]

    def texts(self, column: int, rows: Any = slice(None)) -> list[str]:
        """Return the cells of a column, or some of them."""
        starts = self.starts[rows, column]
        ranges = zip(starts.tolist(), (starts + self.lengths[rows, column]).tolist(), strict=True)
        if self._ascii_text is not None:
            return self._as_cells(self._ascii_text[start:stop] for start, stop in ranges)
        return self._as_cells(self.raw[start:stop].decode(self.encoding) for start, stop in ranges)

    def _words_of(self, column: int | None) -> list[AnyArray] | None:
        """Return the bytes of cells as integers of up to eight bytes; None if cells exceed `MAX_CELL_BYTES`."""
        index: Any = ... if column is None else (slice(None), column)
        size, longest = self._first_words.itemsize, int(self._max_lengths[... if column is None else column].max())
        if longest > MAX_CELL_BYTES:
            return None
        words = [np.ascontiguousarray(self._first_words[index])]
        for offset in range(size, longest, size):
            words.append(self._words(self.starts[index] + offset, self.lengths[index] - offset, size))
        return [word.reshape(-1) for word in words]

    def _words(self, starts: AnyArray, lengths: AnyArray, size: int) -> AnyArray:
        """Return the first bytes of cells as integers."""
        masks = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(size + 1)], f"<u{size}")
        word_at_byte: AnyArray = np.ndarray((len(self.raw) - size + 1,), masks.dtype, self.raw, 0, (1,))  # of each byte
        words: AnyArray = word_at_byte[starts]
        words &= masks.take(lengths, mode="clip")
        return words

    @cached_property
    def _ascii_text(self) -> str | None:
        """The lines as text if they are ASCII, so that positions of bytes and characters agree."""
        return self.raw.decode("ascii") if self.raw.isascii() else None

    def _as_cells(self, texts: Iterable[str]) -> list[str]:
        return point_decimals([list(texts)])[0] if self.decimal_comma else list(texts)


def cut_block(lines: bytes, width: int, dialect: Dialect) -> TextBlock | None:
    """Return lines cut into cells; None if the csv module might cut them differently.

    Parameters
    ----------
    lines : bytes
        Complete lines; the first starts outside of quotes.
    width : int
        Number of cells of each line.
    dialect : Dialect
        Their dialect; see `can_cut`.
    """
    encoding, delimiter, quote = dialect.encoding or "utf-8", ord(dialect.delimiter or ","), ord(dialect.quote or '"')
    has_returns = b"\r" in lines
    if b"\0" in lines or (has_returns and lines.count(b"\r") != lines.count(b"\r\n")) or not _is_text(lines, encoding):
        return None
    raw = b"".join([b"\n", lines, b"" if lines.endswith(b"\n") else b"\n", bytes(MAX_CELL_BYTES + SIZES[-1])])
    cells = np.frombuffer(raw, np.uint8, len(raw) - MAX_CELL_BYTES - SIZES[-1])
    breaks = cells == LINE_BREAK
    n_rows = int(np.count_nonzero(breaks)) - 1
    breaks |= cells == delimiter
    has_quotes = quote in lines
    if has_quotes:
        if not _quotes_surround_cells(cells, delimiter, quote):
            return None
        breaks &= ~np.bitwise_xor.accumulate(cells == quote)
    break_positions = np.flatnonzero(breaks)
    if len(break_positions) != n_rows * width + 1 or not (cells[break_positions[::width]] == LINE_BREAK).all():
        return None
    starts, cell_ends = break_positions[:-1] + 1, break_positions[1:]
    if has_returns:
        cell_ends[width - 1 :: width] -= cells[cell_ends[width - 1 :: width] - 1] == CARRIAGE_RETURN
    if has_quotes:
        is_quoted = cells[starts] == quote
        starts += is_quoted
        cell_ends -= is_quoted
    lengths = cell_ends - starts
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
    closes = (after == delimiter) | (after == LINE_BREAK) | (after == CARRIAGE_RETURN)
    return bool(opens.all() and closes.all())
