"""Blanks: where they are, and what the model would fill in."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Rows
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section, Text
from hiddenbits.reporting.svg import WIDE, Drawing, room, ticks
from hiddenbits.reporting.text import count, name, percent, plain, sentence

COLUMNS, CELLS = 24, 12  # columns that are drawn, and blanks that are listed


def blanks(context: Context) -> Section:
    """Draw the share of blanks in each column; list the blanks that the model is most sure of."""
    fit, sample, expected = context.fits.best, context.sample, context.fits.probabilities
    blank, seen = np.isnan(sample.cells), sample.look
    sure = np.abs(expected - 0.5) > 0.4
    opening = sentence(
        "{} of the table's cells are blank. Of {}, the model is sure of {} (probability above 90%), given the rest of "
        "the row.",
        percent(seen.n_blank / (seen.n_rows * seen.n_columns)),
        f"all {int(blank.sum()):,}" if int(blank.sum()) == seen.n_blank else f"{count(int(blank.sum()), 'blank')} here",
        f"{int((blank & sure).sum()):,}",
    )
    number = blank.sum(axis=0)
    order = np.array([j for j in np.argsort(-number, kind="stable") if number[j]], np.int64)
    drawn = order[:COLUMNS]
    most = f" The {len(drawn)} columns with the most are drawn." if len(drawn) < len(order) else ""
    heads = ["column", "blanks", "expected share of ones in them", "share of ones in recorded cells"]
    lines = [
        [
            name(sample.names[j]),
            f"{number[j]:,}",
            percent(float(expected[blank[:, j], j].mean())),
            percent(float(sample.shares[j])),
        ]
        for j in drawn
    ]
    same = Grid("Blanks by column, as a table", heads, lines, frozenset({1, 2, 3}))
    caption = sentence("Share of blank cells in each column, of {}.{}", count(len(blank), "row"), most)
    parts: list[Part] = [Figure(_drawn(context, drawn), caption, same)]
    if context.rows:
        places = np.argwhere(blank)
        first = np.argsort(-np.abs(expected[blank] - 0.5), kind="stable")[:CELLS]
        listed: list[list[object]] = [
            [*context.labels(i), name(sample.names[j]), percent(float(expected[i, j]))] for i, j in places[first]
        ]
        heads = [*context.label_heads, "column", "probability of 1"]
        title = "The blanks that the model is most sure of"
        parts.append(Grid(title, heads, listed, frozenset({len(heads) - 1}), folded=True))
    command = "To fill in all blanks: <code>hiddenbits fit</code>, then <code>hiddenbits complete</code>."
    how = [("probability of each blank", f"{fit.line}.complete(table)")]
    return Section("blanks", "What is missing", opening, [*parts, Text(Markup(command))], how)  # noqa: S704 (ours)


def _drawn(context: Context, columns: Rows) -> Markup:
    """Draw a bar for each column."""
    missing = np.isnan(context.sample.cells).mean(axis=0)
    shown = [plain(context.sample.names[j], 30) for j in columns]
    left, line, top = room(shown), 20.0, 6.0
    bottom = top + line * len(shown)
    drawn = Drawing(WIDE, bottom + 44, f"Share of blanks in {count(len(shown), 'column')}.", "wide")
    marks = ticks(0.0, max(0.01, float(missing[columns].max())) * 1.02, 5)
    scale = (WIDE - left - 40.0) / max(marks[-1], float(missing[columns].max()))

    def x(share: float) -> float:
        return left + share * scale

    words = "share of the column's cells that are blank"
    drawn.bottom_axis(marks, x, bottom, words, form=lambda share: f"{100 * share:g}%", up_to=top)
    for number, j in enumerate(columns):
        y = top + line * number
        drawn.text(left - 8, y + line - 5, shown[number], anchor="end")
        title = f"{context.sample.names[j]}: {percent(float(missing[j]))} blank"
        drawn.bar(left, y + 3, missing[j] * scale, line - 6, "k0", title)
    return drawn.done()
