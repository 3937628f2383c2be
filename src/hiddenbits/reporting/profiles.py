"""Latent classes: one drawing of how each class differs."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.units import UnitCounts, all_units, unit_order
from hiddenbits.reporting.sample import Values
from hiddenbits.reporting.svg import LETTER_WIDTH, TEXT_WIDTH, Drawing, text_width
from hiddenbits.reporting.text import Chart, Section, TextTable, cautions, count, name, names, percent, plain, sentence

MAX_COLUMNS, MAX_CLASSES = 24, 10  # number of columns and classes drawn


def classes(context: Context) -> Section:
    """Describe the latent classes."""
    fit, sample = context.fits.classes, context.sample
    units = all_units(context, fit.model)
    order = unit_order(context, fit.model)
    n_classes, shown_classes = len(order), order[:MAX_CLASSES]
    opening = sentence(
        "With {} classes, they hold {} of the rows. The drawing shows how much more or less often each column is {} in "
        "a class than in all rows.",
        n_classes,
        _listed(units.shares[order]),
        sample.values.one,
    )
    in_class, in_all, clear = shares(units, shown_classes)
    sizes = units.shares[shown_classes]
    columns = column_order(in_class - in_all, np.where(clear, np.abs(in_class - in_all), 0.0) * np.sqrt(sizes)[:, None])
    drawing = _class_bars(sizes, in_class, in_all, clear, columns, sample.values)
    restrictions = [
        f"the {len(shown_classes)} largest classes" if len(shown_classes) < n_classes else "",
        f"the {len(columns)} columns that differ most" if len(columns) < len(sample.names) else "",
    ]
    restriction = " and ".join(text for text in restrictions if text)
    caption = sentence(
        "Each bar is the {} in a class minus the share in all rows, in percentage points. Pale bars may be chance: the "
        "class differs from the other rows by less than two standard errors or 2 points, or in fewer than {} rows.{}",
        sample.values.share,
        least_rows(units.n),
        f" Shown are {restriction}." if restriction else "",
    )
    heads = ["column", "all rows", *(f"class {k + 1}" for k in range(len(shown_classes)))]
    lines = [
        [name(sample.names[j]), percent(float(in_all[j])), *(percent(float(share)) for share in in_class[:, j])]
        for j in columns
    ]
    same = TextTable(f"Shares of {sample.values.ones}, as a table", heads, lines, frozenset(range(1, len(heads))))
    parts = [Chart(drawing, caption, same), *cautions(fit.note)]
    how = [("class probabilities of rows", f"{fit.line}.transform(table)")]
    return Section("classes", "Latent classes", opening, parts, how, every_row=units.n == sample.summary.n_rows)


def shares(units: UnitCounts, chosen: list[int]) -> tuple[Floats, Floats, AnyArray]:
    """Return the share of 1s in each column with a unit and in all rows, and whether the two clearly differ."""
    mean = units.all_ones / np.maximum(units.all_observed, 1.0)
    observed = units.observed[chosen]
    with_unit = np.where(observed > 0.0, units.ones[chosen] / np.maximum(observed, 1e-12), mean)
    clear = np.zeros(with_unit.shape, bool)
    for number, k in enumerate(chosen):
        clear[number, units.contrast(k).named(least_rows(units.n))] = True
    return with_unit, mean, clear


def _listed(common: Floats) -> str:
    texts = [percent(float(share)) for share in common[:6]]
    if len(common) > 6:
        return ", ".join([*texts, f"and the {len(common) - 6} others {percent(float(common[6:].sum()))}"])
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def column_order(differences: Floats, importance: Floats) -> Rows:
    """Return the columns that differ most, sorted by the unit in which they differ most and by the difference."""
    columns = np.argsort(-importance.max(axis=0), kind="stable")[:MAX_COLUMNS]
    unit = np.where(differences > 0, importance, -1.0)[:, columns].argmax(axis=0)
    return np.asarray(columns[np.lexsort((-differences[unit, columns], unit))])


def _class_bars(sizes: Floats, share: Floats, mean: Floats, clear: AnyArray, columns: Rows, values: Values) -> Markup:
    """Draw bars of differences: a line for each column, a panel for each class."""
    names = values.names
    shown, classes = [plain(names[j], 30) for j in columns], range(len(share))
    left, top, height, space = text_width(shown), 44.0, 21.0, 18.0
    panel = min(180.0, max(78.0, 720.0 / len(classes) - space))
    bottom = top + height * len(columns)
    label = f"percentage points: left, less often {values.one} than in all rows; right, more often"
    svg = Drawing(
        left + max((panel + space) * len(classes), 7.0 * len(label)) + 4,
        bottom + 44,
        f"Profiles of {count(len(classes), 'class')} on {count(len(columns), 'column')}: differences from all rows.",
        "natural",
    )
    differences = share - mean
    largest = float(np.abs(differences[:, columns]).max(initial=0.0))
    limit = next(step for step in (0.1, 0.2, 0.5, 1.0) if largest <= step + 1e-9)
    middles = [left + (panel + space) * k + (space + panel) / 2 for k in classes]
    for number, j in enumerate(columns):
        y = top + height * number
        svg.text(left - 8, y + height - 6, shown[number], anchor="end")
        if number % 2 == 0:
            svg.bar(left, y, (panel + space) * len(classes), height, "stripe")
        for k in classes:
            value = float(differences[k, j])
            style = ("more" if value > 0 else "less") + ("" if clear[k, j] else " faint")
            title = f"class {k + 1}, {names[j]}: {percent(float(share[k, j]))}, all rows {percent(float(mean[j]))}"
            svg.bar(middles[k], y + 3, value / limit * panel / 2, height - 6, style, title)
    for k in classes:
        svg.text(middles[k], 16, f"class {k + 1}", anchor="middle", style="strong")
        svg.text(middles[k], 33, f"{percent(float(sizes[k]))} of rows", anchor="middle", style="small")
        svg.line(middles[k], top, middles[k], bottom, "zero")
        for value, anchor, shift in ((-limit, "start", -6.0), (0.0, "middle", 0.0), (limit, "end", 6.0)):
            x = middles[k] + value / limit * panel / 2
            svg.line(x, bottom, x, bottom + 5, "zero")
            text = f"{100 * value:+.0f}" if value else "0"
            svg.text(x + shift, bottom + 18, text, anchor=anchor, style="small")
    svg.text(left + space / 2, bottom + 38, label, style="small")
    return svg.done()


# Item characteristic curves of a model of one dimension: the probability of a 1 by the latent position.

MAX_CURVES, LIMIT = 7, 3.0  # number of columns drawn; range of positions, in standard deviations to each side
MAX_TABLE_ROWS = 60  # columns listed in the table


def items(context: Context) -> Section:
    """Draw the item characteristic curves of the most informative columns."""
    fit, sample = context.fits.of("LogisticPCA", "1"), context.sample
    slopes = np.asarray(fit.model.components_, np.float64)[0]
    intercepts = np.asarray(fit.model.intercepts_, np.float64)
    positions = np.asarray(fit.model.transform(sample.cells), np.float64)[:, 0]
    if slopes.sum() < 0.0:  # the positive direction is where most columns are 1
        slopes, positions = -slopes, -positions
    order = np.argsort(-_information(slopes, intercepts), kind="stable")
    opening = sentence(
        "One dimension orders the rows. {} are the most informative columns; {} of the columns are more often {} at "
        "higher positions.",
        names([sample.names[j] for j in order[:3]], 3),
        f"{int((slopes > 0).sum()):,} of {len(slopes):,}",
        sample.values.one,
    )
    chosen = order[:MAX_CURVES]
    caption = sentence(
        "Each curve is the probability that a column is {}, by the latent position of the row{}. A steep curve "
        "discriminates between rows around the position where it rises. The names are in the order in which the curves "
        "rise. The bars below count {}.",
        sample.values.one,
        f", for the {len(chosen)} most informative of {len(slopes):,} columns" if len(chosen) < len(slopes) else "",
        count(len(positions), "row"),
    )
    with np.errstate(divide="ignore"):
        middles = -intercepts / slopes
    lines = [
        [name(sample.names[j]), f"{slopes[j]:.2f}", _difficulty(float(middles[j])), percent(float(sample.shares[j]))]
        for j in order[:MAX_TABLE_ROWS]
    ]
    heads = ["column", "discrimination (slope)", "difficulty (reaches 50% at)", sample.values.share]
    same = TextTable("The curves as a table", heads, lines, frozenset({1, 2, 3}))
    drawing = _curves_drawing(slopes, intercepts, chosen, sample.values, positions)
    parts = [Chart(drawing, caption, same), *cautions(fit.note)]
    how = [("discrimination", f"{fit.line}.components_"), ("latent positions of rows", f"{fit.line}.transform(table)")]
    return Section("items", "Item characteristic curves", opening, parts, how)


def _difficulty(value: float) -> str:
    return f"{value:+.2f}" if abs(value) <= 2 * LIMIT else "beyond the rows"


def _information(slopes: Floats, intercepts: Floats) -> Floats:
    """Return the Fisher information of each column about the latent position, averaged over N(0, 1)."""
    z = np.linspace(-4.0, 4.0, 81)
    density = np.exp(-0.5 * z**2)
    p = _curve(slopes[:, None] * z + intercepts[:, None])
    return np.asarray(slopes**2 * ((p * (1.0 - p)) @ density) / density.sum())


def _curve(values: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0))))


def _curves_drawing(slopes: Floats, intercepts: Floats, chosen: Rows, values: Values, places: Floats) -> Markup:
    columns = values.names
    shown = [plain(columns[j], 22) for j in chosen]
    left, top, bottom, histogram_height = 54.0, 34.0, 290.0, 60.0
    right = TEXT_WIDTH - 44.0 - LETTER_WIDTH * max(map(len, shown))
    svg = Drawing(
        TEXT_WIDTH,
        bottom + histogram_height + 46,
        f"{values.probability.capitalize()} by position, for {count(len(chosen), 'column')}: {', '.join(shown)}.",
        "wide",
    )

    def x(value: float) -> float:
        return left + (value + LIMIT) / (2 * LIMIT) * (right - left)

    def y(share: float) -> float:
        return bottom - share * (bottom - top)

    svg.left_axis([0.0, 0.25, 0.5, 0.75, 1.0], y, left, values.probability, form="{:.0%}".format, right=right)
    z = np.linspace(-LIMIT, LIMIT, 61)
    with np.errstate(divide="ignore"):
        order = np.argsort(-intercepts[chosen] / slopes[chosen], kind="stable")
    for number, j in enumerate(chosen):
        p = _curve(slopes[j] * z + intercepts[j])
        points = " ".join(f"{x(float(a)):.1f},{y(float(b)):.1f}" for a, b in zip(z, p, strict=True))
        svg.add('<polyline class="curve c{}" points="{}"><title>{}</title></polyline>', number, points, columns[j])
        level = top + 8.0 + 22.0 * int(np.flatnonzero(order == number)[0])  # names in the order in which curves rise
        svg.line(right + 10, level, right + 30, level, f"curve c{number}")
        svg.text(right + 36, level + 5, shown[number])
    counts, edges = np.histogram(np.clip(places, -LIMIT, LIMIT), bins=24, range=(-LIMIT, LIMIT))
    for n, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        height = (histogram_height - 14) * n / max(1, counts.max())
        title = f"{low:+.2f} to {high:+.2f}: {count(int(n), 'row')}"
        svg.bar(x(low) + 1, bottom + histogram_height - height, x(high) - x(low) - 2, height, "bin", title)
    label = "latent position, in standard deviations of the rows"
    svg.bottom_axis([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], x, bottom + histogram_height, label, form="{:g}".format)
    return svg.done()
