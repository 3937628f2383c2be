"""The lines of a CSV file, counted and of limited length; what counts as blank in them."""

from __future__ import annotations

from collections.abc import Iterator

from hiddenbits.data.readers.locations import Place
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


def line_of(chunk: list[list[str]], at: int, first: int) -> int:
    """Return the line on which row `at` of a chunk starts: quoted cells may hold line breaks."""
    return first + at + sum(cell.count("\n") for row in chunk[:at] for cell in row)
