"""Causes or hidden units, several of which may be on in a row: their network, and what they switch on."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats
from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.units import UNIT_NAMES, UnitCounts, unit_order, units_of
from hiddenbits.reporting.svg import WIDE, Drawing, room
from hiddenbits.reporting.text import Chart, Section, TextTable, cautions, count, name, percent, plain, sentence

MOST, EACH = 10, 6  # units that are drawn, and columns of each
DOES = {"cause": "switch on", "hidden unit": "change"}

Links = dict[tuple[int, int], tuple[float, float]]  # by unit, from 0, and column: shares of 1s with and without it


def causes(context: Context) -> Section:
    """Describe the causes."""
    fit, sample = context.fits.causes, context.sample
    word = UNIT_NAMES[fit.name]
    units = units_of(fit.model, sample.cells)
    order = unit_order(context, fit.model)
    links, common = _links(units, order), units.shares[order]
    opening = sentence(
        "If several {} can be active in one row, {} of them explain the associations of the columns. The most common "
        "one is active in {} of the rows. The lines lead to the columns that each {}.",
        label(fit.name).removeprefix("several "),
        len(common),
        percent(float(common[0])),
        "switches on" if word == "cause" else "changes",
    )
    drawn = len({k for k, _ in links})
    left = f" Of {len(common)} {word}s, the {drawn} that clearly change a column are shown."
    caption = sentence(
        "On the left the {}s, larger where they are active in more rows; on the right the columns. A thicker line: a "
        "larger difference in the {} with and without it. Dashed: less often {}. Differences that may be chance "
        "(within two standard errors, or in fewer than {} rows) are excluded.{}",
        word,
        sample.values.share,
        sample.values.one,
        least_rows(units.n),
        left if drawn < len(common) else "",
    )
    heads = [word, "active in", "column", f"{sample.values.ones} with it", f"{sample.values.ones} without it"]
    lines = [
        [f"{word} {k + 1}", percent(float(common[k])), name(sample.names[j]), percent(on), percent(off)]
        for (k, j), (on, off) in links.items()
    ]
    same = TextTable("The network as a table", heads, lines, frozenset({1, 3, 4}))
    parts = [Chart(_drawn(common, links, sample.names, word), caption, same), *cautions(fit.note)]
    how = [(f"{word}s of each row", f"{fit.line}.transform(table)")]
    title = f"Hidden {word.removeprefix('hidden ')}s and what they {DOES[word]}"
    return Section("causes", title, opening, parts, how)


def _links(units: UnitCounts, order: list[int]) -> Links:
    """Return what to draw: for each unit the columns that it changes most."""
    links: Links = {}
    for number, k in enumerate(order[:MOST]):
        between = units.contrast(k)
        for j in between.named(least_rows(units.n))[:EACH]:
            links[number, j] = (float(between.shares[0, j]), float(between.shares[1, j]))
    return links


def _drawn(common: Floats, links: Links, columns: list[str], word: str) -> Markup:
    """Draw units on the left, columns on the right, and lines between them."""
    units = sorted({k for k, _ in links})
    strength = {link: on - off for link, (on, off) in links.items()}
    order = _columns(strength)
    shown = {j: plain(columns[j], 30) for j in order}
    x, right, top = 170.0, WIDE - room(list(shown.values())), 14.0
    height = max(23.0 * len(order), 50.0 * len(units))
    alt = f"Network of {count(len(units), word)} and {count(len(order), 'column')}."
    drawn = Drawing(WIDE, top + height + 10.0, alt, "wide")
    where = {j: top + height * (n + 0.5) / len(order) for n, j in enumerate(order)}
    wanted = {k: np.mean([where[j] for q, j in links if q == k]) for k in units}
    level = {k: top + height * (n + 0.5) / len(units) for n, k in enumerate(sorted(units, key=lambda k: wanted[k]))}
    for (k, j), (on, off) in links.items():
        middle, a, b = (x + right) / 2, level[k], where[j]
        drawn.add(
            '<path class="link c{}{}" stroke-width="{:.1f}" d="{}"><title>{}</title></path>',
            units.index(k) % 7,
            "" if on > off else " lower",
            1.0 + 7.0 * abs(on - off),
            f"M{x:.0f} {a:.1f}C{middle:.0f} {a:.1f} {middle:.0f} {b:.1f} {right - 6:.0f} {b:.1f}",
            f"{word} {k + 1}, {columns[j]}: {percent(on)} with it, {percent(off)} without",
        )
    for k in units:
        title = f"{word} {k + 1}: active in {percent(float(common[k]))} of the rows"
        drawn.dot(x, level[k], 5.0 + 12.0 * float(np.sqrt(common[k])), f"k{units.index(k) % 7}", title)
        drawn.text(x - 24, level[k], f"{word} {k + 1}", anchor="end", style="strong")
        drawn.text(x - 24, level[k] + 16, f"{percent(float(common[k]))} of rows", anchor="end", style="small")
    for j in order:
        drawn.text(right, where[j] + 5, shown[j])
    return drawn.done()


def _columns(strength: dict[tuple[int, int], float]) -> list[int]:
    """Return the columns, each next to others of the unit that changes it most."""
    best: dict[int, tuple[int, int]] = {}
    for k, j in strength:
        if j not in best or abs(strength[k, j]) > abs(strength[best[j]]):
            best[j] = (k, j)
    return sorted(best, key=lambda j: (best[j][0], -abs(strength[best[j]])))
