"""Lines around the rows of a text table: titles, descriptions of the names, empty rows, totals."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from hiddenbits.exceptions import CSVDialectWarning, TableError
from hiddenbits.quoting import printable, quoted

SAMPLE_ROWS = 30  # rows that are searched for a title
IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')  # what Qualtrics writes below the names and texts of questions

Rows = list[list[str]]


@dataclass(frozen=True)
class Ends:
    """Which lines at both ends of a file are excluded.

    Attributes
    ----------
    skip_top, skip_end : int
        Number of lines to skip, whatever their content.
    keep_empty : bool
        Whether several empty rows at the end are kept.
    """

    skip_top: int = 0
    skip_end: int = 0
    keep_empty: bool = False

    def __post_init__(self) -> None:
        for name in ("skip_top", "skip_end"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise TableError(f"{name}={number!r}: give a number of lines, such as 1.")


def full_rows(chunk: Rows, later_rows: Iterator[list[str]], width: int, line: int, skip_end: int) -> tuple[Rows, int]:
    """Return the rows of full width, and the number of shorter or longer ones at the end of the file.

    Empty lines at the end do not count; all other rows must have as many cells as the first line.
    """
    if width == 1:
        chunk = [row or [""] for row in chunk]  # an empty line is one empty cell
    if set(map(len, chunk)) <= {width}:
        return chunk, 0
    n_full = next(i for i, row in enumerate(chunk) if len(row) != width)
    n_cells, n_below = len(chunk[n_full]), 0
    for n_rows, row in enumerate(chain(chunk[n_full:], later_rows), 1):
        n_below = n_rows if any(map(str.strip, row)) else n_below
        if n_below > skip_end:
            line += n_full + line_breaks(chunk[:n_full])
            raise TableError(f"line {line}: {n_cells} cells, but the first line has {width}. Fix the line.")
    return chunk[:n_full], n_below


def line_breaks(rows: Rows) -> int:
    """Return the number of line breaks within (quoted) cells."""
    return "".join(chain.from_iterable(rows)).count("\n")


def warn_of_empty_rows(path: object, n_rows: int) -> None:
    """Warn that empty rows at the end are excluded."""
    warnings.warn(
        f"{printable(path)}: {n_rows:,} empty rows at the end were excluded. To keep them, set keep_empty=True.",
        CSVDialectWarning,
        stacklevel=2,
    )


def lines_below_names(path: object, head: Rows) -> int:
    """Return the number of lines below the names that Qualtrics adds: texts of questions, and ImportIds."""
    for n_lines, row in enumerate(head[1:3], 1):
        filled_cells = [cell for cell in row if cell.strip()]
        if filled_cells and all(IMPORT_ID.match(cell) for cell in filled_cells):
            texts = "the texts of the questions and " if n_lines > 1 else ""
            warnings.warn(
                f"{printable(path)}: read as a Qualtrics export, without {texts}the line of ImportIds below the names.",
                CSVDialectWarning,
                stacklevel=2,
            )
            return n_lines
    return 0


def refuse_title(rows: Sequence[list[str]], skipped: int) -> None:
    """Refuse a first line that is a title: it has fewer cells than the others, or only its first cell is filled."""
    widths = Counter(map(len, rows[1:]))
    widths.pop(0, None)
    if not widths:
        return
    width = widths.most_common(1)[0][0]
    first_row = rows[0]
    cells = [cell for cell in first_row if cell.strip()]
    has_one_cell = len(first_row) == width > 1 and len(cells) == 1 and first_row[0].strip()
    if not has_one_cell and (len(first_row) == width or widths[width] < 2 or widths[width] < 0.9 * widths.total()):
        return
    name_rows = (i for i, row in enumerate(rows) if len(row) == width and sum(bool(cell.strip()) for cell in row) > 1)
    n_above = next(name_rows, 0) if width > 1 else next((i for i, row in enumerate(rows) if len(row) == width), 0)
    if n_above:
        raise TableError(
            f"line {skipped + 1} ({quoted(', '.join(cells))}) is not like the lines below, which have {width} cells. "
            f"If there is a title or a comment above the names, set skip_top={skipped + n_above}. If line "
            f"{skipped + 1} has the names, give it {width} cells in the file."
        )
