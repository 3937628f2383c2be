"""Rows and cells under the chosen model: odd rows, and cells that may be wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings import Findings
from hiddenbits.reporting.findings.misfit import suspects
from hiddenbits.reporting.svg import WIDE, Drawing, room, ticks
from hiddenbits.reporting.text import (
    Figure,
    Grid,
    Part,
    Section,
    Text,
    count,
    name,
    percent,
    plain,
    sentence,
    times,
    told_apart,
)

ODD, CELLS = 10, 12  # rows and cells that are listed
HIDDEN = Markup("This report was written without individual rows.")


def odd_rows(context: Context, found: Findings) -> Section:
    """List the least likely rows; how many of them chance would not make is taken from the findings."""
    fit, scores = context.fits.best, context.fits.scores
    order = np.argsort(scores, kind="stable")
    odd = next((int(one.numbers["rows"]) for one in found.found if one.kind == "odd_rows"), 0)
    middle = float(np.median(scores))
    opening = sentence(
        "The least likely row is {} less likely than a typical one, under the model “{}”. {}",
        times(middle - float(scores[order[0]])),
        label(fit.name),
        "In a table of this size chance alone makes such rows, so none stands out."
        if not odd
        else f"{count(odd, 'row is', 'rows are')} less likely than chance alone would make in a table of this size. "
        "Look at them: they may be mistakes, or the most interesting rows.",
    )
    parts: list[Part] = []
    if context.rows:
        lines = [
            [*context.labels(i), times(middle - float(scores[i])), _surprises(context, int(i))] for i in order[:ODD]
        ]
        heads = [*context.label_heads, "less likely than a typical row", "what is odd about it"]
        title = "The least likely rows" if odd == 0 else f"The oddest rows, the first {min(odd, ODD)} beyond chance"
        parts.append(Grid(title, heads, lines, wordy=len(heads) - 1))
    else:
        parts.append(Text(HIDDEN))
    parts.append(_histogram(scores))
    left = ", under the kinds that hold at least 5 rows" if fit.name == "LatentClassAnalysis" else ""
    return Section(
        "odd", "Odd rows", opening, parts, [(f"likelihood of rows{left}", f"{fit.line}.score_samples(table)")]
    )


def _surprises(context: Context, i: int) -> Markup:
    """Return the least probable cells of a row, in words."""
    bits, expected = context.sample.cells[i], context.fits.probabilities[i]
    given = np.where(np.isnan(bits), 1.0, np.where(bits == 1.0, expected, 1.0 - expected))
    found = [j for j in np.argsort(given, kind="stable")[:3] if given[j] < 0.5]
    said = []
    for j in found:
        verb, column = context.sample.values.has(j, bits[j])
        said.append(sentence("{} {} (probability {})", verb, name(column), percent(given[j])))
    return Markup("; ").join(said) if said else Markup("no single cell, but their combination")


def _histogram(scores: Floats) -> Figure:
    """Draw how likely rows are."""
    low, high = float(scores.min()), float(scores.max())
    high = high if high > low else low + 1.0
    counts, edges = np.histogram(scores, bins=32, range=(low, high))
    height, top, bottom, left = 220.0, 34.0, 176.0, 52.0
    drawn = Drawing(WIDE, height, f"Histogram of the scores of {len(scores):,} rows, {low:.1f} to {high:.1f}.", "wide")

    def x(score: float) -> float:
        return left + (score - low) / (high - low) * (WIDE - left - 24.0)

    def y(number: float) -> float:
        return bottom - number / max(1.0, float(counts.max())) * (bottom - top)

    marks = [mark for mark in ticks(0.0, float(counts.max()), 4) if mark == int(mark)]
    drawn.left_axis(marks, y, left, "rows", form="{:,.0f}".format, right=WIDE - 24.0)
    for k, n in enumerate(counts):
        title = f"{edges[k]:.1f} to {edges[k + 1]:.1f}: {count(int(n), 'row')}"
        drawn.bar(x(edges[k]) + 1, y(n), x(edges[k + 1]) - x(edges[k]) - 2, bottom - y(n), "k0", title)
    words = "score of the row (natural logarithm of its probability): odd rows left, typical rows right"
    drawn.bottom_axis(ticks(low, high, 8), x, bottom, words)
    lines = [[f"{edges[k]:.1f} to {edges[k + 1]:.1f}", f"{n:,}"] for k, n in enumerate(counts)]
    same = Grid("The histogram as a table", ["score", "rows"], lines, frozenset({1}))
    caption = sentence("How likely each of {} is. Rows with blanks score higher.", count(len(scores), "row"))
    return Figure(drawn.done(), caption, same)


def doubtful_cells(context: Context) -> Section:
    """List the recorded cells against which the rest of their row speaks strongly."""
    fit, sample, values = context.fits.best, context.sample, context.sample.values
    given, places, certain = suspects(context)
    opening = sentence(
        "{} of {} columns follow a nearly strict rule: given the rest of the row, the model is certain of their cells. "
        "{} against it. They may be mistakes: check them at their source.",
        len({j for _, j in places}),
        len(sample.names),
        count(len(places), "cell is", "cells are"),
    )
    parts: list[Part] = []
    if context.rows:
        lines: list[list[object]] = [
            [
                *context.labels(i),
                name(values.bare[j]),
                values.cell(j, float(sample.cells[i, j])),
                percent(float(given[i, j])),
            ]
            for i, j in places[:CELLS]
        ]
        heads = [*context.label_heads, "column", "recorded", "its probability"]
        parts.append(Grid("The least probable cells", heads, lines, frozenset({len(heads) - 1})))
    else:
        parts.append(Text(HIDDEN))
    tally = Counter(j for _, j in places).most_common(CELLS)
    lines = [[name(values.bare[j]), f"{n:,}", f"{certain[j]:,}"] for j, n in tally]
    heads = ["column", "suspect cells", "of which the model is certain"]
    parts.append(Grid("Suspect cells by column", heads, lines, frozenset({1, 2}), folded=context.rows))
    line = f"diagnostics.cell_probabilities({fit.line}, table)"
    how = [("probability of each cell given the rest of its row", line)]
    return Section("cells", "Cells that may be wrong", opening, parts, how)


# Blanks: where they are, and what the model would fill in.

COLUMNS, BLANK_CELLS = 24, 12  # columns that are drawn, and blanks that are listed


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
        first = np.argsort(-np.abs(expected[blank] - 0.5), kind="stable")[:BLANK_CELLS]
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
