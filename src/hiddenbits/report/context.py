"""What every section is handed."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from hiddenbits.report.fits import Fits
from hiddenbits.report.sample import Sample
from hiddenbits.report.text import name, plain

LABELS = 3  # columns beside the table that name a row in a list


@dataclass(frozen=True)
class Context:
    """The drawn rows, the models, whether row contents may be shown, and the column that colours the map first."""

    sample: Sample
    fits: Fits
    rows: bool
    colour: str | None

    @property
    def label_heads(self) -> list[str]:
        """Heads of the columns that name a row."""
        return ["row", *(plain(key) for key in list(self.sample.beside)[:LABELS])]

    def labels(self, place: int) -> list[object]:
        """Return what names a drawn row: its number in the table, from 1, and the first columns beside it."""
        beside: list[Markup] = [name(values[place]) for values in list(self.sample.beside.values())[:LABELS]]
        return [f"{self.sample.rows[place] + 1:,}", *beside]
