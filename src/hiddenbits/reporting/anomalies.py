"""Rows and cells under the chosen model: odd rows, and cells that may be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section, Text
from hiddenbits.reporting.svg import WIDE, Drawing, ticks
from hiddenbits.reporting.text import count, name, percent, sentence, times

ODD, CELLS = 10, 12  # rows and cells that are listed
STANDS_OUT = 3.0  # a row is odd when it is e^3, about 20 times, less likely than the middle one
IMPROBABLE = 0.05  # a recorded cell with a smaller probability is listed
HIDDEN = Markup("This report was written without individual rows.")


def odd_rows(context: Context) -> Section:
    """List the least likely rows."""
    fit, sample = context.fits.best, context.sample
    scores = np.asarray(fit.model.score_samples(sample.cells), np.float64)
    order = np.argsort(scores, kind="stable")
    middle = float(np.median(scores))
    ratio = times(middle - float(scores[order[0]]))
    opening = sentence(
        "No row of this table stands out as odd: even the least likely is only {} less likely than a typical one.",
        ratio,
    )
    if middle - scores[order[0]] > STANDS_OUT:
        opening = sentence(
            "The oddest row of this table is {} less likely than a typical one, under the model “{}”. Odd rows are "
            "worth a look: they may be mistakes, or the most interesting rows.",
            ratio,
            label(fit.name),
        )
    parts: list[Part] = []
    if context.rows:
        lines = [
            [*context.labels(i), times(middle - float(scores[i])), _surprises(context, int(i))] for i in order[:ODD]
        ]
        heads = [*context.label_heads, "less likely than a typical row", "what is odd about it"]
        parts.append(Grid("The oddest rows", heads, lines, wordy=len(heads) - 1))
    else:
        parts.append(Text(HIDDEN))
    parts.append(_histogram(scores))
    return Section("odd", "Odd rows", opening, parts, [("likelihood of rows", f"{fit.line}.score_samples(table)")])


def _surprises(context: Context, i: int) -> Markup:
    """Return the least probable cells of a row, in words."""
    bits, expected = context.sample.cells[i], context.fits.probabilities[i]
    given = np.where(np.isnan(bits), 1.0, np.where(bits == 1.0, expected, 1.0 - expected))
    found = [j for j in np.argsort(given, kind="stable")[:3] if given[j] < 0.5]
    said = [
        sentence(
            "{} {} (probability {})", "has" if bits[j] else "lacks", name(context.sample.names[j]), percent(given[j])
        )
        for j in found
    ]
    return Markup("; ").join(said) if said else Markup("no single cell, but their combination")


def _histogram(scores: Floats) -> Figure:
    """Draw how likely rows are."""
    low, high = float(scores.min()), float(scores.max())
    high = high if high > low else low + 1.0
    counts, edges = np.histogram(scores, bins=32, range=(low, high))
    height, top, bottom, left = 220.0, 34.0, 176.0, 52.0
    drawn = Drawing(
        WIDE, height, f"Histogram of the scores of {len(scores):,} rows, {low:.1f} to {high:.1f}.", "wide"
    )

    def x(score: float) -> float:
        return left + (score - low) / (high - low) * (WIDE - left - 24.0)

    def y(number: float) -> float:
        return bottom - number / max(1, counts.max()) * (bottom - top)

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


def _improbable(context: Context) -> tuple[Any, Floats, float]:
    """Return which recorded cells are improbable, the probability of each cell, and how many chance would give."""
    cells, expected = context.sample.cells, context.fits.probabilities
    seen = ~np.isnan(cells)
    given = np.where(cells == 1.0, expected, 1.0 - expected)
    rarer = np.minimum(expected, 1.0 - expected)
    return seen & (given < IMPROBABLE), given, float(rarer[seen & (rarer < IMPROBABLE)].sum())


def points_to_mistakes(context: Context) -> bool:
    """Whether there are clearly more improbable cells than chance would give."""
    against, _, by_chance = _improbable(context)
    return bool(against.sum() > by_chance + 2.0 * np.sqrt(by_chance))


def doubtful_cells(context: Context) -> Section:
    """List the recorded cells that the model finds improbable."""
    fit, sample = context.fits.best, context.sample
    seen = ~np.isnan(sample.cells)
    against, given, by_chance = _improbable(context)
    opening = sentence(
        "Given the rest of the row, the model gives {} of the {} recorded cells a probability below 5%; if every cell "
        "were right, about {} such cells would be expected by chance.",
        f"{int(against.sum()):,}",
        f"{int(seen.sum()):,}",
        f"{by_chance:,.0f}",
    )
    parts: list[Part] = []
    if not context.rows:
        parts.append(Text(HIDDEN))
    elif against.any():
        places = np.argwhere(against)
        order = np.argsort(given[against], kind="stable")[:CELLS]
        lines: list[list[object]] = []
        for i, j in places[order]:
            bit = int(sample.cells[i, j])
            lines.append([*context.labels(i), name(sample.names[j]), str(bit), percent(float(given[i, j]))])
        heads = [*context.label_heads, "column", "recorded", "its probability"]
        parts.append(Grid("The least probable cells", heads, lines, frozenset({len(heads) - 1})))
    by_column = against.sum(axis=0)
    top = [j for j in np.argsort(-by_column, kind="stable")[:CELLS] if by_column[j]]
    if top:
        tallied = [[name(sample.names[j]), f"{by_column[j]:,}", percent(by_column[j] / seen[:, j].sum())] for j in top]
        heads = ["column", "improbable cells", "share of its cells"]
        parts.append(Grid("Improbable cells by column", heads, tallied, frozenset({1, 2}), folded=context.rows))
    parts.append(
        Text(
            Markup(
                "An improbable cell is not necessarily wrong. If there are many more of them than expected by chance, "
                "the model misses something, or some cells are wrong."
            )
        )
    )
    return Section(
        "cells",
        "Cells that may be wrong",
        opening,
        parts,
        [("probability of each cell given the rest of its row", f"{fit.line}.bit_probabilities(table)")],
    )
