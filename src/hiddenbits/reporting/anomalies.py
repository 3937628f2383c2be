"""Rows and cells under the chosen model: odd rows, doubtful cells, filled blanks."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Part, Section, Text
from hiddenbits.reporting.svg import WIDE, Drawing
from hiddenbits.reporting.text import count, name, percent, sentence, times

ODD, CELLS = 10, 20  # rows and cells that are listed
STANDS_OUT = 3.0  # a row is odd when it is e^3, about 20 times, less likely than the middle one
IMPROBABLE = 0.05  # a recorded cell with a smaller probability is listed
HIDDEN = Markup("This report was written without individual rows.")


def odd_rows(context: Context) -> Section:
    """List the least likely rows."""
    fit, scores = context.fits.best, context.fits.scores
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
    left = ", under the kinds that hold at least 5 rows" if fit.name == "BernoulliMixture" else ""
    return Section(
        "odd", "Odd rows", opening, parts, [(f"likelihood of rows{left}", f"{fit.line}.score_samples(table)")]
    )


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
    counts, edges = np.histogram(scores, bins=24, range=(low, high if high > low else low + 1.0))
    width, height, bottom = WIDE, 160.0, 126.0
    drawn = Drawing(width, height, f"Histogram of the scores of {len(scores):,} rows, {low:.1f} to {high:.1f}.", "wide")
    side = (width - 20.0) / len(counts)
    for k, n in enumerate(counts):
        tall = (bottom - 10.0) * n / counts.max()
        drawn.add(
            '<rect class="k0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>',
            10.0 + side * k + 1.0,
            bottom - tall,
            side - 2.0,
            tall,
            f"{edges[k]:.1f} to {edges[k + 1]:.1f}: {count(int(n), 'row')}",
        )
    drawn.add('<line class="zero" x1="10" y1="{0}" x2="{1}" y2="{0}"/>', bottom, width - 10)
    drawn.text(10, bottom + 16, f"{low:.1f}", style="small")
    drawn.text(width - 10, bottom + 16, f"{edges[-1]:.1f}", anchor="end", style="small")
    drawn.text(width / 2, bottom + 30, "odd rows left, typical rows right", anchor="middle", style="small")
    lines = [[f"{edges[k]:.1f} to {edges[k + 1]:.1f}", f"{n:,}"] for k, n in enumerate(counts)]
    same = Grid("The histogram as a table", ["score", "rows"], lines, frozenset({1}))
    caption = Markup(
        "The score of a row is the natural logarithm of the probability of its recorded cells, so rows with blanks "
        "score higher."
    )
    return Figure(drawn.done(), caption, same)


def doubtful_cells(context: Context) -> Section:
    """List the recorded cells that the model finds improbable."""
    fit, sample, expected = context.fits.best, context.sample, context.fits.probabilities
    seen = ~np.isnan(sample.cells)
    given = np.where(sample.cells == 1.0, expected, 1.0 - expected)
    rarer = np.minimum(expected, 1.0 - expected)
    against = seen & (given < IMPROBABLE)
    by_chance = float(rarer[seen & (rarer < IMPROBABLE)].sum())
    number = int(against.sum())
    opening = sentence(
        "Given the rest of the row, the model gives {} of the {} recorded cells a probability below 5%; if every cell "
        "were right, about {} such cells would be expected by chance{}.",
        f"{number:,}" if number else "none",
        f"{int(seen.sum()):,}",
        f"{by_chance:,.0f}",
        ", so nothing points to mistakes" if number <= by_chance + 2.0 * np.sqrt(by_chance) else "",
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
        "Cells that may have been recorded wrongly",
        opening,
        parts,
        [("probability of each cell given the rest of its row", f"{fit.line}.bit_probabilities(table)")],
    )


def filled_blanks(context: Context) -> Section:
    """List the most probable values of blanks."""
    fit, sample, expected = context.fits.best, context.sample, context.fits.probabilities
    blank = np.isnan(sample.cells)
    how = [("probability of each blank", f"{fit.line}.complete(table)")]
    title = "Blanks, filled in"
    if not blank.any():
        said = sentence("There is nothing to fill in: the cells that the models use have no blanks.")
        return Section("blanks", title, said, (), how)
    sure = np.abs(expected - 0.5) > 0.4
    opening = sentence(
        "Of {}, the model is sure of {} (probability above 90%), given the rest of the row.",
        count(int(blank.sum()), "blank"),
        f"{int((blank & sure).sum()):,}",
    )
    parts: list[Part] = []
    if context.rows:
        places = np.argwhere(blank)
        order = np.argsort(-np.abs(expected[blank] - 0.5), kind="stable")[:CELLS]
        lines: list[list[object]] = [
            [*context.labels(i), name(sample.names[j]), percent(float(expected[i, j]))] for i, j in places[order]
        ]
        heads = [*context.label_heads, "column", "probability of 1"]
        parts.append(Grid("The blanks that the model is most sure of", heads, lines, frozenset({len(heads) - 1})))
    else:
        parts.append(Text(HIDDEN))
    number = blank.sum(axis=0)
    top = [j for j in np.argsort(-number, kind="stable")[:CELLS] if number[j]]
    tallied = [
        [
            name(sample.names[j]),
            f"{number[j]:,}",
            percent(float(expected[blank[:, j], j].mean())),
            percent(float(sample.shares[j])),
        ]
        for j in top
    ]
    heads = ["column", "blanks", "expected share of ones", "share of ones in recorded cells"]
    parts.append(Grid("Blanks by column", heads, tallied, frozenset({1, 2, 3})))
    command = Markup("To fill in all blanks: <code>hiddenbits fit</code>, then <code>hiddenbits complete</code>.")
    return Section("blanks", title, opening, [*parts, Text(command)], how)
