"""Rows of text, cell by cell, from files of comma-separated text; other formats can hand over rows in the same form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from hiddenbits.data.errors import TableError
from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.blocks import TextBlock, can_cut, cut_block
from hiddenbits.data.named.csv.dialect import Dialect, find_dialect, point_decimals, warn_of_dialect
from hiddenbits.data.named.csv.ends import Ends
from hiddenbits.data.text_files import CappedReader, open_text
from hiddenbits.quoting import told

MAX_LINE = 1 << 27  # the csv module would take a line of any length into memory
BLOCK_BYTES = 1 << 20  # about as much as a processor's cache holds
MOST_HELD = 1 << 10  # lines at the end of a block that may be the end of the file


class TextRows(Protocol):
    """The rows of one file."""

    @property
    def number(self) -> int:
        """Number of the line that was read last, from 1."""
        ...

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where that is not known."""
        ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...

    def close(self) -> None:
        """Close the file."""
        ...


RowsOf = Callable[[Place], TextRows]


@dataclass
class Written:
    """How files are asked to be read, and which of them have been looked at; what was found is said once."""

    asked: Dialect
    max_bytes: int
    skip_top: int = 0
    _known: dict[Place, tuple[Dialect, bool]] = field(default_factory=dict)

    def look(self, path: Place) -> tuple[Dialect, bool]:
        """Return how a file is written, and whether its first line is Excel's ``sep=;``."""
        if path not in self._known:
            with open_text(path, self.max_bytes) as file:
                self._find(path, file)
        return self._known[path]

    def open(self, path: Place) -> CsvRows:
        """Return the rows of a file."""
        file = open_text(path, self.max_bytes)
        try:
            if path not in self._known:
                self._find(path, file)
            rows = CsvRows(file, *self._known[path])
            for _ in range(self.skip_top):
                next(rows, None)
            return rows
        except BaseException:
            file.close()
            raise

    def _find(self, path: Place, file: io.BufferedReader) -> None:
        suffix = (path.suffix if path.suffix.lower() != ".gz" else f".{path.stem.rpartition('.')[2]}").lower()
        found = find_dialect(file.peek(), self.asked, suffix, self.skip_top)
        if not any(found[0] == before for before, _ in self._known.values()):
            warn_of_dialect(path, found[0], self.asked, suffix)
        self._known[path] = found


class CsvRows(Iterator[list[str]]):
    """The rows of a file of comma-separated text."""

    def __init__(self, file: io.BufferedReader, dialect: Dialect, skip: bool) -> None:
        self._lines = _Lines(file, dialect.encoding or "utf-8")
        self._dialect, self._can_cut = dialect, can_cut(dialect)
        self.close = self._lines.close
        if skip:  # Excel's sep=;
            next(self._lines)
        rows = self._parsed(self._lines)
        self._rows: Iterator[list[str]] = rows
        if dialect.decimal == ",":
            self._rows = (point_decimals([row])[0] for row in rows)

    @property
    def number(self) -> int:
        """Number of the line that was read last, from 1."""
        return self._lines.number

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where its size is not known."""
        return self._lines.share

    def __iter__(self) -> Iterator[list[str]]:
        return self._rows  # not self: the csv module's own iterator is quicker

    def __next__(self) -> list[str]:
        return next(self._rows)

    def block(self, width: int, ends: Ends) -> TextBlock | None:
        """Return the next lines as a block, but for those that may be left out at the end of the file.

        None where the next lines must be read one by one, or there are none.
        """
        if not self._can_cut or self._lines.refused:
            return None
        lines = self._lines.take(BLOCK_BYTES)
        stop = self._stop(lines, width, ends)
        block = cut_block(lines[:stop], width, self._dialect) if stop else None
        if block is None:
            self._lines.give_back(lines, refused=True)
            return None
        self._lines.give_back(lines[stop:], refused=False)
        self._lines.number += len(block)
        return block

    def _stop(self, lines: bytes, width: int, ends: Ends) -> int:
        """Return where lines end that are rows whatever follows; 0 where that is not known."""
        many = ends.skip_end + 1
        while lines and many <= MOST_HELD:
            starts = [len(lines)]
            while len(starts) <= many and starts[-1]:
                starts.append(lines.rfind(b"\n", 0, starts[-1] - 1) + 1)
            last = [lines[start:stop] for stop, start in pairwise(starts)][::-1]
            try:
                rows = list(self._parsed(line.decode(self._dialect.encoding or "utf-8") for line in last))
            except (csv.Error, UnicodeError):
                return 0
            kept, _ = ends.cut(rows, width)
            if kept:
                return starts[-1 - len(kept)]
            many = 2 * many if starts[-1] else MOST_HELD + 1
        return 0

    def _parsed(self, lines: Iterable[str]) -> Iterator[list[str]]:
        dialect = self._dialect
        return csv.reader(lines, delimiter=dialect.delimiter or ",", quotechar=dialect.quote, strict=True)


class _Lines(Iterator[str]):
    """The lines of a file, counted and of limited length."""

    def __init__(self, file: io.BufferedReader, encoding: str) -> None:
        self._bytes, self._encoding, self.number = file, encoding, 0
        self._ahead, self._refused = io.BytesIO(), False  # lines that were given back, and whether none was cut
        # A line break is more than one byte there; elsewhere bytes are read, so that a bad one is known by its line.
        wide = encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32", "utf16", "utf32"))
        self._text = io.TextIOWrapper(file, encoding, newline="") if wide else None
        self.close = file.close if self._text is None else self._text.close

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where its size is not known."""
        raw = self._bytes.raw
        return raw.share if isinstance(raw, CappedReader) else None

    @property
    def refused(self) -> bool:
        """Whether the next lines were given back to be read one by one."""
        return self._refused and self._ahead.tell() < self._ahead.getbuffer().nbytes

    def take(self, n_bytes: int) -> bytes:
        """Return about as many bytes of whole lines, and those that were given back."""
        lines = self._ahead.read() + self._bytes.read(n_bytes)
        return lines if lines.endswith(b"\n") else lines + self._bytes.readline(MAX_LINE)

    def give_back(self, lines: bytes, *, refused: bool) -> None:
        """Take lines back that are to be read next."""
        self._ahead, self._refused = io.BytesIO(lines), refused

    def __next__(self) -> str:
        try:
            line: bytes | str
            if self._text is None:
                line = self._ahead.readline(MAX_LINE) or self._bytes.readline(MAX_LINE)
            else:
                line = self._text.readline(MAX_LINE)
            if not line:
                raise StopIteration
            self.number += 1
            if len(line) == MAX_LINE:
                raise TableError(f"line {self.number} is longer than {MAX_LINE} bytes.")
            if isinstance(line, str):
                return line.removeprefix("\ufeff") if self.number == 1 else line
            encoding = self._encoding
            if encoding.lower() in ("utf-8", "utf8", "utf-8-sig"):
                encoding = "utf-8-sig" if self.number == 1 else "utf-8"
            text = line.decode(encoding)
            if not text:  # a mark and nothing else
                raise StopIteration
            return text
        except UnicodeError as error:
            at = self.number + (self._text is not None)
            reason = getattr(error, "reason", told(error))
            raise TableError(
                f"line {at}: the text is not {self._encoding.upper()} ({reason}). Save the file as UTF-8, or name its "
                "encoding, such as encoding='cp1252'."
            ) from error
