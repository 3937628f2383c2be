"""Causes or hidden units, several of which may be on in a row: their network, and what they switch on."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.units import UNIT_NAMES, UnitCounts, unit_order, units_of
from hiddenbits.reporting.svg import TEXT_WIDTH, Drawing, text_width
from hiddenbits.reporting.text import Chart, Section, TextTable, cautions, count, name, percent, plain, sentence

MAX_UNITS, MAX_COLUMNS = 10, 6  # number of units drawn, and of columns drawn for each
EFFECT_VERBS = {"cause": "switch on", "hidden unit": "change"}

Links = dict[tuple[int, int], tuple[float, float]]  # (unit, column) -> shares of 1s with the unit and without it


def causes(context: Context) -> Section:
    """Describe the causes."""
    fit, sample = context.fits.causes, context.sample
    unit = UNIT_NAMES[fit.name]
    units = units_of(fit.model, sample.cells)
    order = unit_order(context, fit.model)
    links, shares = _links(units, order), units.shares[order]
    opening = sentence(
        "If several {} can be active in one row, {} of them explain the associations of the columns. The most common "
        "one is active in {} of the rows. The lines lead to the columns that each {}.",
        label(fit.name).removeprefix("several "),
        len(shares),
        percent(float(shares[0])),
        "switches on" if unit == "cause" else "changes",
    )
    n_drawn = len({k for k, _ in links})
    omitted = f" Of {len(shares)} {unit}s, the {n_drawn} that clearly change a column are shown."
    caption = sentence(
        "On the left the {}s, larger where they are active in more rows; on the right the columns. A thicker line: a "
        "larger difference in the {} with and without it. Dashed: less often {}. Differences that may be chance "
        "(within two standard errors, or in fewer than {} rows) are excluded.{}",
        unit,
        sample.values.share,
        sample.values.one,
        least_rows(units.n),
        omitted if n_drawn < len(shares) else "",
    )
    heads = [unit, "active in", "column", f"{sample.values.ones} with it", f"{sample.values.ones} without it"]
    lines = [
        [f"{unit} {k + 1}", percent(float(shares[k])), name(sample.names[j]), percent(on), percent(off)]
        for (k, j), (on, off) in links.items()
    ]
    same = TextTable("The network as a table", heads, lines, frozenset({1, 3, 4}))
    parts = [Chart(_network(shares, links, sample.names, unit), caption, same), *cautions(fit.note)]
    how = [(f"{unit}s of each row", f"{fit.line}.transform(table)")]
    title = f"Hidden {unit.removeprefix('hidden ')}s and what they {EFFECT_VERBS[unit]}"
    return Section("causes", title, opening, parts, how)


def _links(units: UnitCounts, order: list[int]) -> Links:
    """Return the links to draw: for each unit, those to the columns that it changes most."""
    links: Links = {}
    for number, k in enumerate(order[:MAX_UNITS]):
        between = units.contrast(k)
        for j in between.named(least_rows(units.n))[:MAX_COLUMNS]:
            links[number, j] = (float(between.shares[0, j]), float(between.shares[1, j]))
    return links


def _network(shares: Floats, links: Links, columns: list[str], unit: str) -> Markup:
    """Draw units on the left, columns on the right, and lines between them."""
    units = sorted({k for k, _ in links})
    strength = {link: on - off for link, (on, off) in links.items()}
    order = _column_order(strength)
    shown = {j: plain(columns[j], 30) for j in order}
    x, right, top = 170.0, TEXT_WIDTH - text_width(list(shown.values())), 14.0
    height = max(23.0 * len(order), 50.0 * len(units))
    alt = f"Network of {count(len(units), unit)} and {count(len(order), 'column')}."
    svg = Drawing(TEXT_WIDTH, top + height + 10.0, alt, "wide")
    column_y = {j: top + height * (n + 0.5) / len(order) for n, j in enumerate(order)}
    mean_y = {k: np.mean([column_y[j] for q, j in links if q == k]) for k in units}
    unit_y = {k: top + height * (n + 0.5) / len(units) for n, k in enumerate(sorted(units, key=lambda k: mean_y[k]))}
    for (k, j), (on, off) in links.items():
        middle, a, b = (x + right) / 2, unit_y[k], column_y[j]
        svg.add(
            '<path class="link c{}{}" stroke-width="{:.1f}" d="{}"><title>{}</title></path>',
            units.index(k) % 7,
            "" if on > off else " lower",
            1.0 + 7.0 * abs(on - off),
            f"M{x:.0f} {a:.1f}C{middle:.0f} {a:.1f} {middle:.0f} {b:.1f} {right - 6:.0f} {b:.1f}",
            f"{unit} {k + 1}, {columns[j]}: {percent(on)} with it, {percent(off)} without",
        )
    for k in units:
        title = f"{unit} {k + 1}: active in {percent(float(shares[k]))} of the rows"
        svg.dot(x, unit_y[k], 5.0 + 12.0 * float(np.sqrt(shares[k])), f"k{units.index(k) % 7}", title)
        svg.text(x - 24, unit_y[k], f"{unit} {k + 1}", anchor="end", style="strong")
        svg.text(x - 24, unit_y[k] + 16, f"{percent(float(shares[k]))} of rows", anchor="end", style="small")
    for j in order:
        svg.text(right, column_y[j] + 5, shown[j])
    return svg.done()


def _column_order(strength: dict[tuple[int, int], float]) -> list[int]:
    """Return the columns in the order of the unit that changes each of them most."""
    strongest: dict[int, tuple[int, int]] = {}
    for k, j in strength:
        if j not in strongest or abs(strength[k, j]) > abs(strength[strongest[j]]):
            strongest[j] = (k, j)
    return sorted(strongest, key=lambda j: (strongest[j][0], -abs(strength[strongest[j]])))
