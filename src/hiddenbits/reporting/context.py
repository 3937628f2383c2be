"""What every section receives."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup

from hiddenbits.reporting.fits import Fits
from hiddenbits.reporting.origin import Origin, of_python
from hiddenbits.reporting.sample import Sample
from hiddenbits.reporting.text import name, plain
from hiddenbits.tables import Table

LABELS = 3  # other columns that identify a row in a list


@dataclass(frozen=True)
class Context:
    """The sampled rows, the models, whether rows may be shown, and the column that colors the map first.

    `table` is the whole table, from which findings take values of all rows; `by` names the column whose groups are
    compared, one of the other columns or of the table's own; `origin` is where the table came from.
    """

    sample: Sample
    fits: Fits
    rows: bool
    color: str | None
    table: Table | None = None
    by: str | None = None
    origin: Origin = field(default_factory=lambda: of_python(None, {}, {}))

    @cached_property
    def origin_of_models(self) -> tuple[Origin, bool]:
        """Where the columns come from that the models use, and whether these are all that it opens.

        Constant columns and answers to one question are excluded if the table can be opened without them, unless the
        models use a sample: then a model of the whole table is another one in any case.
        """
        sample, table = self.sample, self.table
        unused = set(range(sample.look.n_columns)) - set(sample.columns.tolist())
        if table is None or not unused:
            return self.origin, True
        if not sample.every_row or sample.limited:
            return self.origin, False
        names = table.names or tuple(map(str, range(table.shape[1])))
        left: list[str] = []
        kept: list[str] = []
        start = 0
        for column, width in _sources(table, names):
            (left if unused.issuperset(range(start, start + width)) else kept).append(column)
            start += width
        used = None if table.names is None else tuple(names[j] for j in sample.columns)
        narrower = self.origin.without(left, kept, used, len(sample.columns)) if left else None
        return (self.origin, False) if narrower is None else (narrower, True)

    @property
    def label_heads(self) -> list[str]:
        """Headings of the columns that identify a row."""
        return ["row", *(plain(key) for key in list(self.sample.beside)[:LABELS])]

    def labels(self, place: int) -> list[object]:
        """Return what identifies a sampled row: its number in the table, from 1, and the first other columns."""
        beside: list[Markup] = [name(values[place]) for values in list(self.sample.beside.values())[:LABELS]]
        return [f"{self.sample.rows[place] + 1:,}", *beside]


def _sources(table: Table, names: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the columns that a table was made of, and the number of bits of each."""
    if table.coding is None:
        return [(name, 1) for name in names]
    return [(column.name, len(column.labels)) for column in table.coding.columns]
