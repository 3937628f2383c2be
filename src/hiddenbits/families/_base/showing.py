"""What `summary()` returns: how a fit went, and named tables that print themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.quoting import name_of
from hiddenbits.shown import as_frame, as_html, html, plain

DOWN, ACROSS = 20, 9  # lines of a table that are printed, and its columns
LISTED, NAME = 4, 24  # names in a list of the strongest, and their letters


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """A table of a summary.

    Attributes
    ----------
    title : str
        What its numbers are.
    columns : mapping
        Its columns by name, text or numbers; the first one names the lines.
    of : str
        What a line is, in the plural: "columns", "classes".
    weight : ndarray, optional
        Which lines matter most: where there are too many to print, those with the largest are. By default the first.
    """

    title: str
    columns: Mapping[str, Any]
    of: str
    weight: Floats | None = None

    def values(self) -> dict[str, list[Any]]:
        """Return its columns as lists."""
        return {name: np.asarray(cells).tolist() for name, cells in self.columns.items()}

    def shown(self) -> tuple[list[str], list[str], list[list[str]], list[str]]:
        """Return title, head, lines and a note of what was left out, for `shown.plain` and `shown.html`."""
        columns = self.values()
        n, head = len(next(iter(columns.values()))), list(columns)[: ACROSS + 1]
        lines, below = list(range(n)), []
        if n > DOWN + 1:  # a note in place of a single line would save nothing
            first = np.arange(n) if self.weight is None else np.argsort(-np.asarray(self.weight), kind="stable")
            kept, shown = first[:DOWN], ""
            if self.weight is not None:
                shown = "; shown are those that matter most"
                whole = kept[self.weight[kept] > self.weight[first[DOWN]]]  # levels of one column have one weight
                kept = whole if len(whole) else kept
            lines = sorted(kept.tolist())
            below.append(f"... {n - len(lines):,} more {self.of}{shown}")
        if len(columns) > len(head):
            below.append(f"... and {len(columns) - len(head)} more across: {', '.join(list(columns)[len(head) :][:3])}")
        cells = [[_cell(columns[name][i]) for name in head] for i in lines]
        return [self.title], [name_of(name) for name in head], cells, below

    def __str__(self) -> str:
        text = [i for i, cells in enumerate(self.values().values()) if not all(isinstance(one, float) for one in cells)]
        return plain(*self.shown(), left=text)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else name_of(value)


class Summary:
    """What `model.summary()` returns: how the fit went and what was found, as named tables.

    Printing it shows all of them, long ones cut, and so does a notebook.

    Attributes
    ----------
    title : str
        The model.
    story : dict of str
        How the fit went: rows, passes, why it stopped, score, warnings; and under "coding", where the fit was to other
        values than 0 and 1, which of them are 1.
    tables : dict of frames
        The tables by name, whole; of pandas, polars or pyarrow, whichever is installed first.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> found = LatentClassAnalysis(2, prior_strength=0, random_state=0).fit(X).summary()
    >>> list(found.tables)
    ['classes', 'profiles']
    >>> found.tables["profiles"].columns.tolist()
    ['column', 'class_1', 'class_2']
    """

    def __init__(self, title: str, story: dict[str, str], tables: dict[str, SummaryTable]) -> None:
        self.title, self.story, self._tables = title, story, tables

    @property
    def tables(self) -> dict[str, Any]:
        """The tables as frames, by name."""
        return {name: as_frame(one.values(), otherwise="print the summary") for name, one in self._tables.items()}

    def __repr__(self) -> str:
        told = "\n".join(f"{name}: {said}" for name, said in self.story.items())
        return "\n\n".join([self.title, told, *map(str, self._tables.values())])

    def _repr_html_(self) -> str:
        tables = "".join(html(*one.shown()) for one in self._tables.values())
        return f"<p><b>{as_html(self.title)}</b></p>{story_html(self.story)}{tables}"


def story_html(story: Mapping[str, str]) -> str:
    """Return how a fit went as a small table; its colours are those of the page."""
    rows = "".join(
        f'<tr><th style="text-align:left">{as_html(name)}</th><td style="text-align:left">{as_html(said)}</td></tr>'
        for name, said in story.items()
    )
    return f'<table class="hiddenbits-fit" style="margin-top:0.5em"><tbody>{rows}</tbody></table>'


def spectrum_table(eigenvalues: Floats, by_chance: Floats | None = None) -> SummaryTable:
    """Return the table of the eigenvalues of correlations of hidden variables, largest first."""
    columns: dict[str, Any] = {"number": [str(k + 1) for k in range(len(eigenvalues))], "eigenvalue": eigenvalues}
    columns["share"] = eigenvalues / max(len(eigenvalues), 1)
    if by_chance is not None:
        columns["by chance"] = by_chance
    return SummaryTable("Spectrum of the correlations of the hidden variables", columns, "eigenvalues")


def strongest(values: Floats, names: Sequence[str]) -> str:
    """Return the largest of some numbers that are above 0.05, as a list of names: "bread 0.61, milk 0.43"."""
    order = [j for j in np.argsort(-values, kind="stable")[:LISTED] if values[j] >= 0.05]
    return ", ".join(f"{_short(names[j])} {values[j]:.2f}" for j in order) or "-"


def _short(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME - 3]}..."


def strongest_each_way(W: Floats, names: Sequence[str], up: str, down: str) -> dict[str, list[str]]:
    """Return for each line of numbers its largest, and the largest of those below 0, by these words."""
    return {up: [strongest(row, names) for row in W], down: [strongest(-row, names) for row in W]}
