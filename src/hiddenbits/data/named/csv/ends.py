"""What is above the names of a table of text, and below its rows: titles, lines about the names, empty rows, totals."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable, quoted

SAMPLE = 30  # rows that are looked at for a title
IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')  # what Qualtrics writes below the names and texts of questions

Rows = list[list[str]]


@dataclass(frozen=True)
class Ends:
    """Which rows at both ends of a file are left out.

    Attributes
    ----------
    skip_top, skip_end : int
        How many lines, whatever they hold.
    keep_empty : bool
        Whether several empty rows at the end are rows.
    """

    skip_top: int = 0
    skip_end: int = 0
    keep_empty: bool = False

    def __post_init__(self) -> None:
        for name in ("skip_top", "skip_end"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise TableError(f"{name}={number!r}: give a number of lines, such as 1.")


def full_rows(chunk: Rows, more: Iterator[list[str]], width: int, line: int, skip_end: int) -> tuple[Rows, int]:
    """Return rows that start at a line, but for shorter or longer ones that are the end of the file, and how many.

    Empty lines at the end do not count; elsewhere each row must have as many cells as the first line.
    """
    if width == 1:
        chunk = [row or [""] for row in chunk]  # an empty line is one empty cell
    if set(map(len, chunk)) <= {width}:
        return chunk, 0
    at = next(at for at, row in enumerate(chunk) if len(row) != width)
    n_cells, below = len(chunk[at]), 0
    for number, row in enumerate(chain(chunk[at:], more), 1):
        below = number if any(map(str.strip, row)) else below
        if below > skip_end:
            line += at + line_breaks(chunk[:at])
            raise TableError(f"line {line}: {n_cells} cells, but the first line has {width}. Fix the line.")
    return chunk[:at], below


def line_breaks(rows: Rows) -> int:
    """Return how many line breaks cells have, which stand in quotes."""
    return "".join(chain.from_iterable(rows)).count("\n")


def say_empty(path: object, many: int) -> None:
    """Say how many empty rows at the end are left out."""
    warnings.warn(
        f"{printable(path)}: {many:,} empty rows at the end were left out. If they are rows, set keep_empty=True.",
        CSVDialectWarning,
        stacklevel=2,
    )


def lines_below_names(path: object, head: Rows) -> int:
    """Return how many lines below the names are about them, as Qualtrics writes: texts of questions, and ImportIds."""
    for many, row in enumerate(head[1:3], 1):
        filled = [cell for cell in row if cell.strip()]
        if filled and all(IMPORT_ID.match(cell) for cell in filled):
            texts = "the texts of the questions and " if many > 1 else ""
            warnings.warn(
                f"{printable(path)}: read as Qualtrics writes tables: below the names, {texts}the line of ImportIds "
                "were left out.",
                CSVDialectWarning,
                stacklevel=2,
            )
            return many
    return 0


def refuse_title(rows: Sequence[list[str]], skipped: int) -> None:
    """Refuse a first line that is a title: it has fewer cells than all others, or one cell that is not empty."""
    widths = Counter(map(len, rows[1:]))
    widths.pop(0, None)
    if not widths:
        return
    width = widths.most_common(1)[0][0]
    first = rows[0]
    filled = [cell for cell in first if cell.strip()]
    alone = len(first) == width > 1 and len(filled) == 1 and first[0].strip()
    if not alone and (len(first) == width or widths[width] < 2 or widths[width] < 0.9 * widths.total()):
        return
    names = (at for at, row in enumerate(rows) if len(row) == width and sum(bool(cell.strip()) for cell in row) > 1)
    at = next(names, 0) if width > 1 else next((at for at, row in enumerate(rows) if len(row) == width), 0)
    if at:
        raise TableError(
            f"line {skipped + 1} ({quoted(', '.join(filled))}) is not like the lines below, which have {width} cells. "
            f"If there is a title or a comment above the names, set skip_top={skipped + at}. If line {skipped + 1} has "
            f"the names, give it {width} cells in the file."
        )
