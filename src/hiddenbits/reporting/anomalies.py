"""Rows and cells under the chosen model: outliers, and possible data errors."""

from __future__ import annotations

from collections import Counter

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings import Findings
from hiddenbits.reporting.findings.misfit import possible_errors
from hiddenbits.reporting.svg import TEXT_WIDTH, Drawing, text_width, ticks
from hiddenbits.reporting.text import (
    Chart,
    Paragraph,
    Part,
    Section,
    TextTable,
    count,
    name,
    percent,
    plain,
    sentence,
    times,
    told_apart,
)

MAX_ODD, MAX_CELLS = 10, 12  # number of rows and cells listed
WITHOUT_ROWS = Markup("This report was written without individual rows.")


def odd_rows(context: Context, findings: Findings) -> Section:
    """List the least likely rows; the findings hold the number of outliers."""
    fit, scores = context.fits.best, context.fits.scores
    order = np.argsort(scores, kind="stable")
    n_odd = next((int(finding.numbers["rows"]) for finding in findings.findings if finding.kind == "odd_rows"), 0)
    median = float(np.median(scores))
    opening = sentence(
        "The least likely row is {} less likely than a typical one, under the model “{}”. {}",
        times(median - float(scores[order[0]])),
        label(fit.name),
        "In a table of this size such rows occur by chance, so there are no outliers."
        if not n_odd
        else f"{count(n_odd, 'row is', 'rows are')} less likely than expected by chance in a table of this size. "
        "Check them: they may be errors, or the most interesting rows.",
    )
    parts: list[Part] = []
    if context.rows:
        lines = [
            [*context.labels(i), times(median - float(scores[i])), _odd_cells(context, int(i))] for i in order[:MAX_ODD]
        ]
        heads = [*context.label_heads, "less likely than a typical row", "its least probable cells"]
        title = f"The least likely rows{f'; the first {min(n_odd, MAX_ODD)} are outliers' if n_odd else ''}"
        parts.append(TextTable(title, heads, lines, wordy=len(heads) - 1))
    else:
        parts.append(Paragraph(WITHOUT_ROWS))
    parts.append(_histogram(scores))
    classes = ", under the classes with at least 5 rows" if fit.name == "LatentClassAnalysis" else ""
    return Section(
        "odd", "Outliers", opening, parts, [(f"log-likelihood of rows{classes}", f"{fit.line}.score_samples(table)")]
    )


def _odd_cells(context: Context, i: int) -> Markup:
    """Describe the least probable cells of a row."""
    bits, expected = context.sample.cells[i], context.fits.probabilities[i]
    probability = np.where(np.isnan(bits), 1.0, np.where(bits == 1.0, expected, 1.0 - expected))
    phrases = []
    for j in np.argsort(probability, kind="stable")[:3]:
        if probability[j] < 0.5:
            verb, column = context.sample.values.has(j, bits[j])
            phrases.append(sentence("{} {} (probability {})", verb, name(column), percent(probability[j])))
    return Markup("; ").join(phrases) if phrases else Markup("no single cell, but their combination")


def _histogram(scores: Floats) -> Chart:
    """Draw a histogram of the log-likelihood of the rows."""
    low, high = float(scores.min()), float(scores.max())
    high = high if high > low else low + 1.0
    counts, edges = np.histogram(scores, bins=32, range=(low, high))
    height, top, bottom, left = 220.0, 34.0, 176.0, 52.0
    svg = Drawing(TEXT_WIDTH, height, f"Log-likelihood of {len(scores):,} rows, {low:.1f} to {high:.1f}.", "wide")

    def x(score: float) -> float:
        return left + (score - low) / (high - low) * (TEXT_WIDTH - left - 24.0)

    def y(number: float) -> float:
        return bottom - number / max(1.0, float(counts.max())) * (bottom - top)

    whole_ticks = [mark for mark in ticks(0.0, float(counts.max()), 4) if mark == int(mark)]
    svg.left_axis(whole_ticks, y, left, "rows", form="{:,.0f}".format, right=TEXT_WIDTH - 24.0)
    for k, n in enumerate(counts):
        title = f"{edges[k]:.1f} to {edges[k + 1]:.1f}: {count(int(n), 'row')}"
        svg.bar(x(edges[k]) + 1, y(n), x(edges[k + 1]) - x(edges[k]) - 2, bottom - y(n), "k0", title)
    label = "log-likelihood of the row: outliers left, typical rows right"
    svg.bottom_axis(ticks(low, high, 8), x, bottom, label)
    lines = [[f"{edges[k]:.1f} to {edges[k + 1]:.1f}", f"{n:,}"] for k, n in enumerate(counts)]
    same = TextTable("The histogram as a table", ["log-likelihood", "rows"], lines, frozenset({1}))
    caption = sentence("Log-likelihood of {}. It is higher with missing values.", count(len(scores), "row"))
    return Chart(svg.done(), caption, same)


def doubtful_cells(context: Context) -> Section:
    """List the observed cells that are improbable given the rest of their row."""
    fit, sample, values = context.fits.best, context.sample, context.sample.values
    probability, cells, certain = possible_errors(context)
    opening = sentence(
        "{} of {} columns follow a nearly strict rule: the model predicts their cells from the rest of the row with "
        "near certainty. {} an exception. These may be data errors: check them at their source.",
        len({j for _, j in cells}),
        len(sample.names),
        count(len(cells), "cell is", "cells are"),
    )
    parts: list[Part] = []
    if context.rows:
        lines: list[list[object]] = [
            [
                *context.labels(i),
                name(values.bare[j]),
                values.cell(j, float(sample.cells[i, j])),
                percent(float(probability[i, j])),
            ]
            for i, j in cells[:MAX_CELLS]
        ]
        heads = [*context.label_heads, "column", "observed", "its probability"]
        parts.append(TextTable("The least probable cells", heads, lines, frozenset({len(heads) - 1})))
    else:
        parts.append(Paragraph(WITHOUT_ROWS))
    by_column = Counter(j for _, j in cells).most_common(MAX_CELLS)
    lines = [[name(values.bare[j]), f"{n:,}", f"{certain[j]:,}"] for j, n in by_column]
    heads = ["column", "possible errors", "cells predicted with near certainty"]
    parts.append(TextTable("Possible errors by column", heads, lines, frozenset({1, 2}), folded=context.rows))
    line = f"diagnostics.cell_probabilities({fit.line}, table)"
    how = [("probability of each cell given the rest of its row", line)]
    return Section("cells", "Possible data errors", opening, parts, how)


# Missing values: their number in each column, and what the model would impute.

MAX_COLUMNS, MAX_MISSING = 24, 12  # number of columns drawn, and of missing values listed


def blanks(context: Context) -> Section:
    """Draw the share of missing values in each column; list those that the model predicts with most certainty."""
    fit, sample, expected = context.fits.best, context.sample, context.fits.probabilities
    missing, summary = np.isnan(sample.cells), sample.summary
    certain = np.abs(expected - 0.5) > 0.4
    opening = sentence(
        "{} of the table's cells are missing. Of {}, the model predicts {} with a probability above 90% from the rest "
        "of the row.",
        percent(summary.n_blank / (summary.n_rows * summary.n_columns)),
        f"{'all' if int(missing.sum()) == summary.n_blank else 'the sampled'} {int(missing.sum()):,}",
        f"{int((missing & certain).sum()):,}",
    )
    number = summary.n_rows - summary.observed
    all_names = told_apart(summary.names)
    named, values = sample.all_values.names, sample.values
    order = np.argsort(-number, kind="stable")[: int((number > 0).sum())]
    shown = order[:MAX_COLUMNS]
    in_sample = {column: j for j, column in enumerate(sample.columns.tolist())}
    lines = []
    for j in shown:
        k = in_sample.get(int(j))
        imputed = "-" if k is None or not missing[:, k].any() else percent(float(expected[missing[:, k], k].mean()))
        ones = percent(float(summary.means[j]))
        lines.append([name(named[j]), f"{number[j]:,}", percent(float(number[j] / summary.n_rows)), imputed, ones])
    heads = [
        "column",
        "missing values",
        "of its cells",
        f"expected {values.share} in them",
        f"{values.share} in observed cells" if values.one == "1" else f"{values.share} of those observed",
    ]
    same = TextTable("Missing values by column, as a table", heads, lines, frozenset({1, 2, 3, 4}))
    most = f" The {len(shown)} columns with the most are drawn." if len(shown) < len(order) else ""
    caption = sentence("Share of missing values in each column, of all {}.{}", count(summary.n_rows, "row"), most)
    shares = number[shown] / summary.n_rows
    parts: list[Part] = [Chart(_missing_bars([all_names[j] for j in shown], shares), caption, same)]
    if context.rows:
        missing_cells = np.argwhere(missing)
        first = np.argsort(-np.abs(expected[missing] - 0.5), kind="stable")[:MAX_MISSING]
        listed: list[list[object]] = [
            [*context.labels(i), name(sample.names[j]), percent(float(expected[i, j]))] for i, j in missing_cells[first]
        ]
        heads = [*context.label_heads, "column", values.probability]
        title = "The missing values of which the model is most certain"
        parts.append(TextTable(title, heads, listed, frozenset({len(heads) - 1}), folded=True))
    best, origin = context.fits.compared.entry(context.fits.compared.best), context.origin_of_models[0]
    to_run = origin.fit(best.model, best.size, sample.seed), origin.completed()
    to_fill = sentence("To impute all missing values: <code>{}</code>, then <code>{}</code>.", *to_run)
    how = [("probability of each missing value", f"{fit.line}.complete(table)")]
    return Section("blanks", "Missing values", opening, [*parts, Paragraph(to_fill)], how)


def _missing_bars(columns: list[str], shares: Floats) -> Markup:
    """Draw a bar for each column."""
    shown = [plain(column, 30) for column in columns]
    left, line, top = text_width(shown), 20.0, 6.0
    bottom = top + line * len(shown)
    svg = Drawing(TEXT_WIDTH, bottom + 44, f"Share of missing values in {count(len(shown), 'column')}.", "wide")
    high = max(0.001, float(shares.max()))

    def x(share: float) -> float:
        return left + share / high * (TEXT_WIDTH - left - 40.0)

    axis_label = "share of the column's cells that are missing"
    svg.bottom_axis(ticks(0.0, high, 5), x, bottom, axis_label, form=lambda share: f"{100 * share:g}%", up_to=top)
    for number, (column, share) in enumerate(zip(columns, shares, strict=True)):
        y = top + line * number
        svg.text(left - 8, y + line - 5, shown[number], anchor="end")
        svg.bar(left, y + 3, x(share) - left, line - 6, "k0", f"{column}: {percent(float(share))} missing")
    return svg.done()
