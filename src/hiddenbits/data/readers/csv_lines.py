"""The lines of a CSV file, counted and of limited length; what counts as blank in them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hiddenbits.data.readers.locations import Place
from hiddenbits.data.readers.request import reading
from hiddenbits.data.readers.text import CappedReader, open_text
from hiddenbits.data.table import TableError

BLANKS = ("", "na", "n/a", "nan", "null", "none", "?")
MAX_LINE = 1 << 27


class Lines(Iterator[str]):
    """The lines of a file, counted. Lines have a limit: the csv module would take any length into memory."""

    def __init__(self, path: Place, max_bytes: int) -> None:
        self._file = open_text(path, max_bytes)
        self.number = 0

    @property
    def share(self) -> float | None:
        """How much of the file was read; None where its size is not known."""
        raw = self._file.raw
        return raw.share if isinstance(raw, CappedReader) else None

    def __next__(self) -> str:
        line = self._file.readline(MAX_LINE)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) == MAX_LINE:
            raise TableError(f"line {self.number} is longer than {MAX_LINE} bytes.")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise TableError(
                f"line {self.number}: the text is not UTF-8 ({error.reason}). Save the file as UTF-8."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextmanager
def reading_csv(path: Place, delimiter: str, max_bytes: int) -> Iterator[tuple[Lines, Any]]:
    """Open a file; yield its lines and the rows that they make up. Errors name the file and the line."""
    with reading(path):
        lines = Lines(path, max_bytes)
        try:
            yield lines, csv.reader(lines, delimiter=delimiter, strict=True)
        except csv.Error as error:
            raise TableError(f"line {lines.number}: {error}. Quote cells as CSV does, or mend the line.") from error
        finally:
            lines.close()


def full_rows(chunk: list[list[str]], width: int, line: int) -> list[list[str]]:
    """Return rows that start at a line, after a check that each has as many cells as the first line."""
    if width == 1:
        chunk = [row or [""] for row in chunk]  # an empty line is one empty cell
    if set(map(len, chunk)) != {width}:
        at = next(i for i, row in enumerate(chunk) if len(row) != width)
        raise TableError(
            f"line {line_of(chunk, at, line)}: {len(chunk[at])} cells, but the first line has {width}. Mend the line."
        )
    return chunk


def line_of(chunk: list[list[str]], at: int, first: int) -> int:
    """Return the line on which row `at` of a chunk starts: quoted cells may hold line breaks."""
    return first + at + sum(cell.count("\n") for row in chunk[:at] for cell in row)
