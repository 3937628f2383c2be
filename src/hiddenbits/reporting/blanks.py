"""Blanks: where they are, and what the model would fill in."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section, Text
from hiddenbits.reporting.svg import WIDE, Drawing, room, ticks
from hiddenbits.reporting.text import count, name, percent, plain, sentence, told_apart

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
    number = seen.n_rows - seen.observed
    every = told_apart(seen.names)
    named, values = sample.every_value.names, sample.values
    order = np.argsort(-number, kind="stable")[: int((number > 0).sum())]
    drawn = order[:COLUMNS]
    place = {column: j for j, column in enumerate(sample.columns.tolist())}
    lines = []
    for j in drawn:
        at = place.get(int(j))
        filled = "-" if at is None or not blank[:, at].any() else percent(float(expected[blank[:, at], at].mean()))
        ones = percent(float(seen.means[j]))
        lines.append([name(named[j]), f"{number[j]:,}", percent(float(number[j] / seen.n_rows)), filled, ones])
    heads = [
        "column",
        "blanks",
        "of its cells",
        f"expected {values.share} in them",
        f"{values.share} in recorded cells" if values.one == "1" else f"{values.share} of those recorded",
    ]
    same = Grid("Blanks by column, as a table", heads, lines, frozenset({1, 2, 3, 4}))
    most = f" The {len(drawn)} columns with the most are drawn." if len(drawn) < len(order) else ""
    caption = sentence("Share of blank cells in each column, of all {}.{}", count(seen.n_rows, "row"), most)
    shares = number[drawn] / seen.n_rows
    parts: list[Part] = [Figure(_drawn([every[j] for j in drawn], shares), caption, same)]
    if context.rows:
        places = np.argwhere(blank)
        first = np.argsort(-np.abs(expected[blank] - 0.5), kind="stable")[:CELLS]
        listed: list[list[object]] = [
            [*context.labels(i), name(sample.names[j]), percent(float(expected[i, j]))] for i, j in places[first]
        ]
        heads = [*context.label_heads, "column", values.probability]
        title = "The blanks that the model is most sure of"
        parts.append(Grid(title, heads, listed, frozenset({len(heads) - 1}), folded=True))
    best, origin = context.fits.compared.entry(context.fits.compared.best), context.origin_of_models[0]
    to_run = origin.fit(best.model, best.size, sample.seed), origin.completed()
    to_fill = sentence("To fill in all blanks: <code>{}</code>, then <code>{}</code>.", *to_run)
    how = [("probability of each blank", f"{fit.line}.complete(table)")]
    return Section("blanks", "What is missing", opening, [*parts, Text(to_fill)], how)


def _drawn(columns: list[str], shares: Floats) -> Markup:
    """Draw a bar for each column."""
    shown = [plain(column, 30) for column in columns]
    left, line, top = room(shown), 20.0, 6.0
    bottom = top + line * len(shown)
    drawn = Drawing(WIDE, bottom + 44, f"Share of blanks in {count(len(shown), 'column')}.", "wide")
    high = max(0.001, float(shares.max()))

    def x(share: float) -> float:
        return left + share / high * (WIDE - left - 40.0)

    words = "share of the column's cells that are blank"
    drawn.bottom_axis(ticks(0.0, high, 5), x, bottom, words, form=lambda share: f"{100 * share:g}%", up_to=top)
    for number, (column, share) in enumerate(zip(columns, shares, strict=True)):
        y = top + line * number
        drawn.text(left - 8, y + line - 5, shown[number], anchor="end")
        drawn.bar(left, y + 3, x(share) - left, line - 6, "k0", f"{column}: {percent(float(share))} blank")
    return drawn.done()
