"""Item curves: how the probability of a 1 grows along the scale, where a single scale fits."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats, Rows
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Section, cautions
from hiddenbits.reporting.svg import LETTER, WIDE, Drawing
from hiddenbits.reporting.text import count, name, names, percent, plain, sentence
from hiddenbits.reporting.values import Values

CURVES, REACH = 7, 3.0  # columns that are drawn; standard deviations of the scale on either side
SHOWN = 60  # columns in the table


def items(context: Context) -> Section:
    """Draw the item characteristic curves of the columns that tell most about a row's place on the scale."""
    fit, sample = context.fits.of("LogisticPCA", "1"), context.sample
    slopes = np.asarray(fit.model.components_, np.float64)[0]
    intercepts = np.asarray(fit.model.intercepts_, np.float64)
    places = np.asarray(fit.model.transform(sample.cells), np.float64)[:, 0]
    if slopes.sum() < 0.0:  # the scale points to where most columns are 1
        slopes, places = -slopes, -places
    told = _information(slopes, intercepts)
    order = np.argsort(-told, kind="stable")
    opening = sentence(
        "One scale orders the rows. {} tell most about where a row lies on it; {} of the columns are more often {} the "
        "higher a row lies.",
        names([sample.names[j] for j in order[:3]], 3),
        f"{int((slopes > 0).sum()):,} of {len(slopes):,}",
        sample.values.one,
    )
    chosen = order[:CURVES]
    caption = sentence(
        "Each curve is the probability that a column is {}, by the row's place on the scale{}. A steep curve separates "
        "the rows around the place where it rises. The names are in the order in which the curves rise. The "
        "bars below count {}.",
        sample.values.one,
        f", for the {len(chosen)} of {len(slopes):,} columns that tell most" if len(chosen) < len(slopes) else "",
        count(len(places), "row"),
    )
    with np.errstate(divide="ignore"):
        middles = -intercepts / slopes
    lines = [
        [name(sample.names[j]), f"{slopes[j]:.2f}", _place(float(middles[j])), percent(float(sample.shares[j]))]
        for j in order[:SHOWN]
    ]
    heads = ["column", "steepness (discrimination)", "reaches 50% at (difficulty)", sample.values.share]
    same = Grid("The curves as a table", heads, lines, frozenset({1, 2, 3}))
    drawing = _drawn(slopes, intercepts, chosen, sample.values, places)
    parts = [Figure(drawing, caption, same), *cautions(fit.note)]
    how = [("steepness", f"{fit.line}.components_"), ("places of rows", f"{fit.line}.transform(table)")]
    return Section("items", "The scale and its columns", opening, parts, how)


def _place(value: float) -> str:
    return f"{value:+.2f}" if abs(value) <= 2 * REACH else "beyond the rows"


def _information(slopes: Floats, intercepts: Floats) -> Floats:
    """Return the Fisher information of each column about the place of a row, averaged over N(0, 1)."""
    z = np.linspace(-4.0, 4.0, 81)
    density = np.exp(-0.5 * z**2)
    p = _curve(slopes[:, None] * z + intercepts[:, None])
    return np.asarray(slopes**2 * ((p * (1.0 - p)) @ density) / density.sum())


def _curve(values: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0))))


def _drawn(slopes: Floats, intercepts: Floats, chosen: Rows, values: Values, places: Floats) -> Markup:
    columns = values.names
    shown = [plain(columns[j], 22) for j in chosen]
    left, top, bottom, below = 54.0, 34.0, 290.0, 60.0
    right = WIDE - 44.0 - LETTER * max(map(len, shown))
    drawn = Drawing(
        WIDE,
        bottom + below + 46,
        f"{values.probability.capitalize()} along the scale, for {count(len(chosen), 'column')}: {', '.join(shown)}.",
        "wide",
    )

    def x(value: float) -> float:
        return left + (value + REACH) / (2 * REACH) * (right - left)

    def y(share: float) -> float:
        return bottom - share * (bottom - top)

    drawn.left_axis([0.0, 0.25, 0.5, 0.75, 1.0], y, left, values.probability, form="{:.0%}".format, right=right)
    z = np.linspace(-REACH, REACH, 61)
    with np.errstate(divide="ignore"):
        rises = np.argsort(-intercepts[chosen] / slopes[chosen], kind="stable")
    for number, j in enumerate(chosen):
        p = _curve(slopes[j] * z + intercepts[j])
        points = " ".join(f"{x(float(a)):.1f},{y(float(b)):.1f}" for a, b in zip(z, p, strict=True))
        drawn.add('<polyline class="curve c{}" points="{}"><title>{}</title></polyline>', number, points, columns[j])
        level = top + 8.0 + 22.0 * int(np.flatnonzero(rises == number)[0])  # names in the order in which curves rise
        drawn.line(right + 10, level, right + 30, level, f"curve c{number}")
        drawn.text(right + 36, level + 5, shown[number])
    counts, edges = np.histogram(np.clip(places, -REACH, REACH), bins=24, range=(-REACH, REACH))
    for n, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        tall = (below - 14) * n / max(1, counts.max())
        title = f"{low:+.2f} to {high:+.2f}: {count(int(n), 'row')}"
        drawn.bar(x(low) + 1, bottom + below - tall, x(high) - x(low) - 2, tall, "bin", title)
    words = "place on the scale, in standard deviations of the rows"
    drawn.bottom_axis([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], x, bottom + below, words, form="{:g}".format)
    return drawn.done()
