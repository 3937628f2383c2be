"""Latent classes: one drawing of how each class differs."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.units import UnitCounts, all_units, unit_order
from hiddenbits.reporting.sample import Values
from hiddenbits.reporting.svg import LETTER, WIDE, Drawing, room
from hiddenbits.reporting.text import Chart, Section, TextTable, cautions, count, name, names, percent, plain, sentence

COLUMNS, CLASSES = 24, 10  # columns and classes that are drawn


def classes(context: Context) -> Section:
    """Describe the latent classes."""
    fit, sample = context.fits.classes, context.sample
    units = all_units(context, fit.model)
    order = unit_order(context, fit.model)
    number, shown_classes = len(order), order[:CLASSES]
    opening = sentence(
        "With {} classes, they hold {} of the rows. The drawing shows how much more or less often each column is {} in "
        "a class than in all rows.",
        number,
        _listed(units.shares[order]),
        sample.values.one,
    )
    on, mean, sure = shares(units, shown_classes)
    sizes = units.shares[shown_classes]
    columns = in_order(on - mean, np.where(sure, np.abs(on - mean), 0.0) * np.sqrt(sizes)[:, None])
    drawing = _drawn(sizes, on, mean, sure, columns, sample.values)
    restrictions = [
        f"the {len(shown_classes)} largest classes" if len(shown_classes) < number else "",
        f"the {len(columns)} columns that differ most" if len(columns) < len(sample.names) else "",
    ]
    shown = " and ".join(text for text in restrictions if text)
    caption = sentence(
        "Each bar is the {} in a class minus the share in all rows, in percentage points. Pale bars may be chance: the "
        "class differs from the other rows by less than two standard errors or 2 points, or in fewer than {} rows.{}",
        sample.values.share,
        least_rows(units.n),
        f" Shown are {shown}." if shown else "",
    )
    heads = ["column", "all rows", *(f"class {k + 1}" for k in range(len(shown_classes)))]
    lines = [
        [name(sample.names[j]), percent(float(mean[j])), *(percent(float(share)) for share in on[:, j])]
        for j in columns
    ]
    same = TextTable(f"Shares of {sample.values.ones}, as a table", heads, lines, frozenset(range(1, len(heads))))
    parts = [Chart(drawing, caption, same), *cautions(fit.note)]
    how = [("class probabilities of rows", f"{fit.line}.transform(table)")]
    return Section("classes", "Latent classes", opening, parts, how, every_row=units.n == sample.look.n_rows)


def shares(units: UnitCounts, chosen: list[int]) -> tuple[Floats, Floats, AnyArray]:
    """Return the share of 1s in each column with a unit and in all rows, and whether the unit clearly changes it."""
    mean = units.all_ones / np.maximum(units.all_observed, 1.0)
    observed = units.observed[chosen]
    on = np.where(observed > 0.0, units.ones[chosen] / np.maximum(observed, 1e-12), mean)
    sure = np.zeros(on.shape, bool)
    for number, k in enumerate(chosen):
        sure[number, units.contrast(k).named(least_rows(units.n))] = True
    return on, mean, sure


def _listed(common: Floats) -> str:
    texts = [percent(float(share)) for share in common[:6]]
    if len(common) > 6:
        return ", ".join([*texts, f"and the {len(common) - 6} others {percent(float(common[6:].sum()))}"])
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def in_order(differences: Floats, telling: Floats) -> Rows:
    """Return the columns that differ most, those of the same unit next to each other, the largest first."""
    chosen = np.argsort(-telling.max(axis=0), kind="stable")[:COLUMNS]
    unit = np.where(differences > 0, telling, -1.0)[:, chosen].argmax(axis=0)
    return np.asarray(chosen[np.lexsort((-differences[unit, chosen], unit))])


def _drawn(common: Floats, on: Floats, mean: Floats, sure: AnyArray, columns: Rows, values: Values) -> Markup:
    """Draw bars of differences: a line for each column, a panel for each class."""
    names = values.names
    shown, classes = [plain(names[j], 30) for j in columns], range(len(on))
    left, top, line, gap = room(shown), 44.0, 21.0, 18.0
    panel = min(180.0, max(78.0, 720.0 / len(classes) - gap))
    bottom = top + line * len(columns)
    words = f"percentage points: left, less often {values.one} than in all rows; right, more often"
    drawn = Drawing(
        left + max((panel + gap) * len(classes), 7.0 * len(words)) + 4,
        bottom + 44,
        f"Profiles of {count(len(classes), 'class')} on {count(len(columns), 'column')}: differences from all rows.",
        "natural",
    )
    differences = on - mean
    most = float(np.abs(differences[:, columns]).max(initial=0.0))
    limit = next(step for step in (0.1, 0.2, 0.5, 1.0) if most <= step + 1e-9)
    middles = [left + (panel + gap) * k + (gap + panel) / 2 for k in classes]
    for number, j in enumerate(columns):
        y = top + line * number
        drawn.text(left - 8, y + line - 6, shown[number], anchor="end")
        if number % 2 == 0:
            drawn.bar(left, y, (panel + gap) * len(classes), line, "stripe")
        for k in classes:
            value = float(differences[k, j])
            style = ("more" if value > 0 else "less") + ("" if sure[k, j] else " faint")
            title = f"class {k + 1}, {names[j]}: {percent(float(on[k, j]))}, all rows {percent(float(mean[j]))}"
            drawn.bar(middles[k], y + 3, value / limit * panel / 2, line - 6, style, title)
    for k in classes:
        drawn.text(middles[k], 16, f"class {k + 1}", anchor="middle", style="strong")
        drawn.text(middles[k], 33, f"{percent(float(common[k]))} of rows", anchor="middle", style="small")
        drawn.line(middles[k], top, middles[k], bottom, "zero")
        for value, anchor, shift in ((-limit, "start", -6.0), (0.0, "middle", 0.0), (limit, "end", 6.0)):
            x = middles[k] + value / limit * panel / 2
            drawn.line(x, bottom, x, bottom + 5, "zero")
            text = f"{100 * value:+.0f}" if value else "0"
            drawn.text(x + shift, bottom + 18, text, anchor=anchor, style="small")
    drawn.text(left + gap / 2, bottom + 38, words, style="small")
    return drawn.done()


# Item characteristic curves: how the probability of a 1 grows along the dimension, where a single one fits.

CURVES, REACH = 7, 3.0  # columns that are drawn; standard deviations of the dimension on either side
SHOWN = 60  # columns in the table


def items(context: Context) -> Section:
    """Draw the item characteristic curves of the most informative columns."""
    fit, sample = context.fits.of("LogisticPCA", "1"), context.sample
    slopes = np.asarray(fit.model.components_, np.float64)[0]
    intercepts = np.asarray(fit.model.intercepts_, np.float64)
    places = np.asarray(fit.model.transform(sample.cells), np.float64)[:, 0]
    if slopes.sum() < 0.0:  # the positive direction is where most columns are 1
        slopes, places = -slopes, -places
    order = np.argsort(-_information(slopes, intercepts), kind="stable")
    opening = sentence(
        "One dimension orders the rows. {} are the most informative columns; {} of the columns are more often {} at "
        "higher positions.",
        names([sample.names[j] for j in order[:3]], 3),
        f"{int((slopes > 0).sum()):,} of {len(slopes):,}",
        sample.values.one,
    )
    chosen = order[:CURVES]
    caption = sentence(
        "Each curve is the probability that a column is {}, by the latent position of the row{}. A steep curve "
        "discriminates between rows around the position where it rises. The names are in the order in which the curves "
        "rise. The bars below count {}.",
        sample.values.one,
        f", for the {len(chosen)} most informative of {len(slopes):,} columns" if len(chosen) < len(slopes) else "",
        count(len(places), "row"),
    )
    with np.errstate(divide="ignore"):
        middles = -intercepts / slopes
    lines = [
        [name(sample.names[j]), f"{slopes[j]:.2f}", _place(float(middles[j])), percent(float(sample.shares[j]))]
        for j in order[:SHOWN]
    ]
    heads = ["column", "discrimination (slope)", "difficulty (reaches 50% at)", sample.values.share]
    same = TextTable("The curves as a table", heads, lines, frozenset({1, 2, 3}))
    drawing = _items_drawn(slopes, intercepts, chosen, sample.values, places)
    parts = [Chart(drawing, caption, same), *cautions(fit.note)]
    how = [("discrimination", f"{fit.line}.components_"), ("latent positions of rows", f"{fit.line}.transform(table)")]
    return Section("items", "Item characteristic curves", opening, parts, how)


def _place(value: float) -> str:
    return f"{value:+.2f}" if abs(value) <= 2 * REACH else "beyond the rows"


def _information(slopes: Floats, intercepts: Floats) -> Floats:
    """Return the Fisher information of each column about the latent position, averaged over N(0, 1)."""
    z = np.linspace(-4.0, 4.0, 81)
    density = np.exp(-0.5 * z**2)
    p = _curve(slopes[:, None] * z + intercepts[:, None])
    return np.asarray(slopes**2 * ((p * (1.0 - p)) @ density) / density.sum())


def _curve(values: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0))))


def _items_drawn(slopes: Floats, intercepts: Floats, chosen: Rows, values: Values, places: Floats) -> Markup:
    columns = values.names
    shown = [plain(columns[j], 22) for j in chosen]
    left, top, bottom, below = 54.0, 34.0, 290.0, 60.0
    right = WIDE - 44.0 - LETTER * max(map(len, shown))
    drawn = Drawing(
        WIDE,
        bottom + below + 46,
        f"{values.probability.capitalize()} by position, for {count(len(chosen), 'column')}: {', '.join(shown)}.",
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
    words = "latent position, in standard deviations of the rows"
    drawn.bottom_axis([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], x, bottom + below, words, form="{:g}".format)
    return drawn.done()
