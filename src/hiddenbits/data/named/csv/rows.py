"""Rows of cells from comma-separated text; other formats can provide rows in the same form."""

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

MAX_LINE_BYTES = 1 << 27  # the csv module would read a line of any length into memory
BLOCK_BYTES = 1 << 20  # about the size of a processor's cache
ROW_BYTES = 1 << 10  # minimum size of a block per column: with fewer rows, operations on columns are slow


class TextRows(Iterator[list[str]]):
    """The rows of one file.

    Attributes
    ----------
    number : int
        Number of the last line that was read, from 1.
    """

    def __init__(self, rows: Iterable[list[str]], number: int = 0) -> None:
        self._rows, self.number = iter(rows), number

    def __next__(self) -> list[str]:
        row = next(self._rows)
        self.number += 1
        return row

    @property
    def share(self) -> float | None:
        """Share of the file that was read; None if unknown."""
        return None

    def block(self, width: int) -> TextBlock | None:
        """Return the next lines as a block; None if they must be read one by one, or there are none."""
        return None

    def close(self) -> None:
        """Close the file."""


RowsOf = Callable[[Place], TextRows]
OnProgress = Callable[[int, float | None], None]  # called with the rows read so far, and their share of the files


@dataclass
class CSVFiles:
    """Opens files in the dialect that was specified or is found in them; a dialect is reported once."""

    specified: Dialect
    max_bytes: int
    skip_top: int = 0
    _dialects: dict[Place, tuple[Dialect, bool]] = field(default_factory=dict)

    def open(self, path: Place) -> CSVRows:
        """Return the rows of a file."""
        file = open_text(path, self.max_bytes)
        try:
            if path not in self._dialects:
                self._find_dialect(path, file)
            dialect, has_sep_line = self._dialects[path]
            rows = CSVRows(*_with_byte_line_breaks(file, dialect))
            for _ in range(self.skip_top + has_sep_line):
                next(rows, None)
            return rows
        except BaseException:
            file.close()
            raise

    def _find_dialect(self, path: Place, file: io.BufferedReader) -> None:
        suffix = PurePath(path.name.lower().removesuffix(".gz")).suffix
        dialect, has_sep_line = find_dialect(file.peek(), self.specified, suffix, self.skip_top)
        if not any(dialect == earlier for earlier, _ in self._dialects.values()):
            warn_of_dialect(path, dialect, self.specified, suffix)
        self._dialects[path] = dialect, has_sep_line


def _with_byte_line_breaks(file: io.BufferedReader, dialect: Dialect) -> tuple[io.BufferedReader | io.BytesIO, Dialect]:
    """Return a file in which a line break is one byte, without a byte-order mark; UTF-16 and such become UTF-8."""
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
        text_before = data[: getattr(error, "start", 0)].decode(encoding, "replace")
        raise _decoding_error(1 + text_before.count("\n"), encoding, error) from error
    return io.BytesIO(text.removeprefix("\ufeff").encode()), replace(dialect, encoding="utf-8")


class CSVRows(TextRows):
    """The rows of comma-separated text in an encoding with one byte for a line break."""

    def __init__(self, file: io.BufferedReader | io.BytesIO, dialect: Dialect) -> None:
        self._file, self._dialect, self._can_cut = file, dialect, can_cut(dialect)
        self._uncut = io.BytesIO()  # lines that could not be cut as a block
        rows: Iterator[list[str]] = csv.reader(
            self._lines(), delimiter=dialect.delimiter or ",", quotechar=dialect.quote or '"', strict=True
        )
        super().__init__((point_decimals([row])[0] for row in rows) if dialect.decimal == "," else rows)

    @property
    def share(self) -> float | None:
        """Share of the file that was read; None if its size is unknown."""
        raw = getattr(self._file, "raw", None)
        return raw.share if isinstance(raw, CappedReader) else None

    def __iter__(self) -> Iterator[list[str]]:
        return self._rows  # not self: the csv module's own iterator is faster

    def __next__(self) -> list[str]:
        return next(self._rows)  # _lines counts lines

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def block(self, width: int) -> TextBlock | None:
        """Return the next lines as a block."""
        if not self._can_cut or self._uncut.tell() < self._uncut.getbuffer().nbytes:
            return None
        lines = self._file.read(max(BLOCK_BYTES, ROW_BYTES * width))
        if not lines.endswith(b"\n"):
            lines += self._file.readline(MAX_LINE_BYTES)
        block = cut_block(lines, width, self._dialect) if lines else None
        if block is None:
            self._uncut = io.BytesIO(lines)
        else:
            self.number += len(block)
        return block

    def _lines(self) -> Iterator[str]:
        encoding = self._dialect.encoding or "utf-8"
        while line := self._uncut.readline(MAX_LINE_BYTES) or self._file.readline(MAX_LINE_BYTES):
            self.number += 1
            if len(line) == MAX_LINE_BYTES:
                raise TableError(f"line {self.number} is longer than {MAX_LINE_BYTES} bytes.")
            try:
                text = line.decode(encoding)
            except UnicodeError as error:
                raise _decoding_error(self.number, encoding, error) from error
            yield text


def _decoding_error(line: int, encoding: str, error: UnicodeError) -> TableError:
    reason = getattr(error, "reason", redacted(error))
    return TableError(
        f"line {line}: the text is not {encoding.upper()} ({reason}). Save the file as UTF-8, or name its encoding, "
        "such as encoding='cp1252'."
    )
