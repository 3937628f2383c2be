"""What every section receives."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from markupsafe import Markup

from hiddenbits import Table
from hiddenbits.reporting.fits import Fits
from hiddenbits.reporting.sample import Sample
from hiddenbits.reporting.text import name, plain

LABELS = 3  # other columns that identify a row in a list


@dataclass(frozen=True)
class Context:
    """The sampled rows, the models, whether rows may be shown, and the column that colours the map first.

    `table` is the whole table, from which findings take figures for all rows; `by` names the column whose groups are
    compared, one of the other columns or of the table's own; `file` is what a command calls the table.
    """

    sample: Sample
    fits: Fits
    rows: bool
    colour: str | None
    table: Table | None = None
    by: str | None = None
    file: str = "TABLE"

    @property
    def argument(self) -> str:
        """The table as the argument of a command, without the column whose groups are compared."""
        apart = self.by is not None and self.by not in self.sample.look.names
        return shlex.quote(self.file) + (f" --drop {shlex.quote(str(self.by))}" if apart else "")

    @property
    def label_heads(self) -> list[str]:
        """Headings of the columns that identify a row."""
        return ["row", *(plain(key) for key in list(self.sample.beside)[:LABELS])]

    def labels(self, place: int) -> list[object]:
        """Return what identifies a sampled row: its number in the table, from 1, and the first other columns."""
        beside: list[Markup] = [name(values[place]) for values in list(self.sample.beside.values())[:LABELS]]
        return [f"{self.sample.rows[place] + 1:,}", *beside]
