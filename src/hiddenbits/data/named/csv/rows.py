"""Rows of text, cell by cell, from files of comma-separated text; other formats can hand over rows in the same form."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from hiddenbits.data.locations.places import Place
from hiddenbits.data.named.csv.blocks import ENCODINGS, TextBlock, can_cut, cut_block
from hiddenbits.data.named.csv.dialect import Dialect, find_dialect, point_decimals, warn_of_dialect
from hiddenbits.data.text_files import CappedReader, open_text
from hiddenbits.exceptions import TableError
from hiddenbits.quoting import redacted

MAX_LINE = 1 << 27  # the csv module would take a line of any length into memory
BLOCK_BYTES = 1 << 20  # about as much as a processor's cache holds
ROW_BYTES = 1 << 10  # at least so many for each column, or a block has too few rows for operations on whole columns


class TextRows(Iterator[list[str]]):
    """The rows of one file.

    Attributes
    ----------
    number : int
        Number of the line that was read last, from 1.
    """

    def __init__(self, rows: Iterable[list[str]], number: int = 0) -> None:
        self._rows, self.number = iter(rows), number

    def __next__(self) -> list[str]:
        row = next(self._rows)
        self.number += 1
        return row

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where that is not known."""
        return None

    def block(self, width: int) -> TextBlock | None:
        """Return the next lines as a block; None where they must be read one by one, or there are none."""
        return None

    def close(self) -> None:
        """Close the file."""


RowsOf = Callable[[Place], TextRows]
Tell = Callable[[int, float | None], None]  # of progress: the rows read so far, and the share of the files


@dataclass
class Written:
    """How files are asked to be read, and which of them have been looked at; what was found is said once."""

    asked: Dialect
    max_bytes: int
    skip_top: int = 0
    _known: dict[Place, tuple[Dialect, bool]] = field(default_factory=dict)

    def open(self, path: Place) -> CsvRows:
        """Return the rows of a file."""
        file = open_text(path, self.max_bytes)
        try:
            if path not in self._known:
                self._find(path, file)
            dialect, has_mark = self._known[path]
            rows = CsvRows(*_in_bytes(file, dialect))
            for _ in range(self.skip_top + has_mark):
                next(rows, None)
            return rows
        except BaseException:
            file.close()
            raise

    def _find(self, path: Place, file: io.BufferedReader) -> None:
        suffix = PurePath(path.name.lower().removesuffix(".gz")).suffix
        found = find_dialect(file.peek(), self.asked, suffix, self.skip_top)
        if not any(found[0] == before for before, _ in self._known.values()):
            warn_of_dialect(path, found[0], self.asked, suffix)
        self._known[path] = found


def _in_bytes(file: io.BufferedReader, dialect: Dialect) -> tuple[io.BufferedReader | io.BytesIO, Dialect]:
    """Return a file in which a line break is a byte, without a mark; text in other encodings becomes UTF-8."""
    encoding = codecs.lookup(dialect.encoding or "utf-8").name
    if encoding in ("utf-8", "utf-8-sig"):
        file.read(len(codecs.BOM_UTF8) * file.peek().startswith(codecs.BOM_UTF8))
        return file, replace(dialect, encoding="utf-8")
    if encoding in ENCODINGS:
        return file, dialect
    with file:
        data = file.read()
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        whole = data[: getattr(error, "start", 0)].decode(encoding, "replace")
        raise _no_text(1 + whole.count("\n"), encoding, error) from error
    return io.BytesIO(text.removeprefix("\ufeff").encode()), replace(dialect, encoding="utf-8")


class CsvRows(TextRows):
    """The rows of a file of comma-separated text, in an encoding with one byte for a line break."""

    def __init__(self, file: io.BufferedReader | io.BytesIO, dialect: Dialect) -> None:
        self._file, self._dialect, self._can_cut = file, dialect, can_cut(dialect)
        self._ahead = io.BytesIO()  # lines of which no block could be made
        rows: Iterator[list[str]] = csv.reader(
            self._lines(), delimiter=dialect.delimiter or ",", quotechar=dialect.quote or '"', strict=True
        )
        super().__init__((point_decimals([row])[0] for row in rows) if dialect.decimal == "," else rows)

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where its size is not known."""
        raw = getattr(self._file, "raw", None)
        return raw.share if isinstance(raw, CappedReader) else None

    def __iter__(self) -> Iterator[list[str]]:
        return self._rows  # not self: the csv module's own iterator is quicker

    def __next__(self) -> list[str]:
        return next(self._rows)  # which counts lines

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def block(self, width: int) -> TextBlock | None:
        """Return the next lines as a block."""
        if not self._can_cut or self._ahead.tell() < self._ahead.getbuffer().nbytes:
            return None
        lines = self._file.read(max(BLOCK_BYTES, ROW_BYTES * width))
        if not lines.endswith(b"\n"):
            lines += self._file.readline(MAX_LINE)
        block = cut_block(lines, width, self._dialect) if lines else None
        if block is None:
            self._ahead = io.BytesIO(lines)
        else:
            self.number += len(block)
        return block

    def _lines(self) -> Iterator[str]:
        encoding = self._dialect.encoding or "utf-8"
        while line := self._ahead.readline(MAX_LINE) or self._file.readline(MAX_LINE):
            self.number += 1
            if len(line) == MAX_LINE:
                raise TableError(f"line {self.number} is longer than {MAX_LINE} bytes.")
            try:
                text = line.decode(encoding)
            except UnicodeError as error:
                raise _no_text(self.number, encoding, error) from error
            yield text


def _no_text(line: int, encoding: str, error: UnicodeError) -> TableError:
    reason = getattr(error, "reason", redacted(error))
    return TableError(
        f"line {line}: the text is not {encoding.upper()} ({reason}). Save the file as UTF-8, or name its encoding, "
        "such as encoding='cp1252'."
    )
