"""Rows of text, cell by cell, from files of comma-separated text; other formats can hand over rows in the same form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from hiddenbits.data.readers.dialect import Dialect, find_dialect, point_decimals, warn_of_dialect
from hiddenbits.data.readers.locations import Place
from hiddenbits.data.readers.text import CappedReader, open_text
from hiddenbits.data.table import TableError

MAX_LINE = 1 << 27  # the csv module would take a line of any length into memory


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
        self.close = self._lines.close
        if skip:  # Excel's sep=;
            next(self._lines)
        rows = csv.reader(self._lines, delimiter=dialect.delimiter or ",", quotechar=dialect.quote, strict=True)
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


class _Lines(Iterator[str]):
    """The lines of a file, counted and of limited length."""

    def __init__(self, file: io.BufferedReader, encoding: str) -> None:
        self._bytes, self._encoding, self.number = file, encoding, 0
        # A line break is more than one byte there; elsewhere bytes are read, so that a bad one is known by its line.
        wide = encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32", "utf16", "utf32"))
        self._text = io.TextIOWrapper(file, encoding, newline="") if wide else None
        self.close = file.close if self._text is None else self._text.close

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where its size is not known."""
        raw = self._bytes.raw
        return raw.share if isinstance(raw, CappedReader) else None

    def __next__(self) -> str:
        try:
            line = self._bytes.readline(MAX_LINE) if self._text is None else self._text.readline(MAX_LINE)
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
            reason = getattr(error, "reason", str(error))
            raise TableError(
                f"line {at}: the text is not {self._encoding.upper()} ({reason}). Save the file as UTF-8, or name its "
                "encoding, such as encoding='cp1252'."
            ) from error
