"""What is above the names of a table of text, and below its rows: titles, empty rows, totals."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hiddenbits.data.errors import FoundDialectWarning, TableError
from hiddenbits.quoting import printable, quoted

SAMPLE = 30  # rows that are looked at for a title

Rows = list[list[str]]


@dataclass
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
    _said: set[Any] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in ("skip_top", "skip_end"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise TableError(f"{name}={number!r}: give a number of lines, such as 1.")

    def cut(self, rows: Rows, width: int) -> tuple[Rows, Rows]:
        """Return rows without those that are left out if no others follow, and these."""
        stop = len(rows)
        while stop and not self.keep_empty and width > 1 and not any(map(str.strip, rows[stop - 1])):
            stop -= 1
        stop = max(0, stop - self.skip_end)
        return rows[:stop], rows[stop:]

    def last(self, path: object, held: Rows) -> Rows:
        """Return which of the last rows are rows; say how many empty ones are not. A single one may be a row."""
        empty = [row for row in held if row and not any(map(str.strip, row))]
        if self.skip_end or len(empty) == 1:
            return empty if not self.skip_end else []
        if empty and path not in self._said:
            self._said.add(path)
            warnings.warn(
                f"{printable(path)}: {len(empty):,} empty rows at the end were left out. If they are rows, set "
                "keep_empty=True.",
                FoundDialectWarning,
                stacklevel=2,
            )
        return []


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
            f"{f'lines {skipped + 1} to {skipped + at}' if at > 1 else f'line {skipped + 1}'} "
            f"({quoted(', '.join(filled))}) {'are' if at > 1 else 'is'} not like the lines below, which have {width} "
            f"cells. If this is a title or a comment above the names, set skip_top={skipped + at}. If line "
            f"{skipped + 1} has the names, give it {width} cells in the file."
        )
