"""The context that all sections receive."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup

from hiddenbits.reporting.fits import Fits
from hiddenbits.reporting.origin import Origin, of_python
from hiddenbits.reporting.sample import Sample
from hiddenbits.reporting.text import name, plain
from hiddenbits.tables import Table

MAX_LABELS = 3  # number of metadata columns that identify a row in a list


@dataclass(frozen=True)
class Context:
    """The sampled rows, the models, whether rows may be shown, and the column that colors the map first.

    `table` is the whole table, for values that are based on all rows; `by` is the name of the column whose groups are
    compared, a metadata column or a column of the table; `origin` is where the table came from.
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
        """The origin of a table for refitting the models, and whether it has only the columns that the models use.

        It excludes constant columns and answers to one question if the table can be opened without them. If the models
        use a sample, it does not: a model of the whole table differs from that of the report anyway.
        """
        sample, table = self.sample, self.table
        unused = set(range(sample.summary.n_columns)) - set(sample.columns.tolist())
        if table is None or not unused:
            return self.origin, True
        if not sample.every_row or sample.limited:
            return self.origin, False
        names = table.names or tuple(map(str, range(table.shape[1])))
        dropped: list[str] = []
        kept: list[str] = []
        start = 0
        for column, n_bits in _sources(table, names):
            (dropped if unused.issuperset(range(start, start + n_bits)) else kept).append(column)
            start += n_bits
        used = None if table.names is None else tuple(names[j] for j in sample.columns)
        narrower = self.origin.without(dropped, kept, used, len(sample.columns)) if dropped else None
        return (self.origin, False) if narrower is None else (narrower, True)

    @property
    def label_heads(self) -> list[str]:
        """Headings of the columns that identify a row."""
        return ["row", *(plain(key) for key in list(self.sample.beside)[:MAX_LABELS])]

    def labels(self, place: int) -> list[object]:
        """Return the labels of a sampled row: its number in the table, from 1, and the first metadata columns."""
        beside: list[Markup] = [name(values[place]) for values in list(self.sample.beside.values())[:MAX_LABELS]]
        return [f"{self.sample.rows[place] + 1:,}", *beside]


def _sources(table: Table, names: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the source columns of a table, and the number of bits of each."""
    if table.coding is None:
        return [(name, 1) for name in names]
    return [(column.name, len(column.labels)) for column in table.coding.columns]
