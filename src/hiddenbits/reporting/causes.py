"""Hidden causes, several of which may be on in a row: the network of causes and what they switch on."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.reporting.comparison import label
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Section, cautions
from hiddenbits.reporting.profiles import FEWEST, Shares, shares
from hiddenbits.reporting.svg import WIDE, Drawing, room
from hiddenbits.reporting.text import count, name, percent, plain, sentence

UNITS, EACH = 10, 6  # units that are drawn, and columns of each
UNIT = {"CombinationMachine": "influence", "NoisyOrNetwork": "cause"}


def causes(context: Context) -> Section:
    """Describe the causes."""
    fit, sample = context.fits.causes, context.sample
    word = UNIT[fit.name]
    found = shares(np.asarray(fit.model.transform(sample.cells), np.float64), sample.cells)
    links = _links(found)
    number = len(found.order)
    opening = sentence(
        "If several {} can be active in one row, {} of them explain how the columns go together. The most common is "
        "active in {} of the rows. The lines lead to the columns that each switches on.",
        label(fit.name).removeprefix("several "),
        number,
        percent(float(found.common[0])),
    )
    drawn = sorted({k for k, _ in links})
    left = f" Of {number} {word}s, the {len(drawn)} that change a column clearly are drawn." if len(drawn) < number else ""
    caption = sentence(
        "On the left the {}s, larger where they are active in more rows; on the right the columns. A thicker line: a "
        "larger difference in the share of ones with and without it. Dashed: less often 1. Left out is what lies within "
        "two standard errors or rests on fewer than {} rows.{}",
        word,
        FEWEST,
        left,
    )
    heads = [word, "active in", "column", "ones with it", "ones without it"]
    lines = [
        [
            f"{word} {k + 1}",
            percent(float(found.common[k])),
            name(sample.names[j]),
            percent(float(found.on[k, j])),
            percent(float(found.off[k, j])),
        ]
        for k, j in links
    ]
    same = Grid("The network as a table", heads, lines, frozenset({1, 3, 4}))
    parts = [Figure(_drawn(found, links, sample.names, word), caption, same), *cautions(fit.note)]
    how = [(f"{word}s of each row", f"{fit.line}.transform(table)")]
    return Section("causes", f"Hidden {word}s and what they switch on", opening, parts, how)


def _links(found: Shares) -> list[tuple[int, int]]:
    """Return the pairs of unit and column to draw: for each unit the columns that it changes most."""
    change = np.where(found.sure, found.on - found.off, 0.0)
    made = []
    for k in range(min(UNITS, len(found.order))):
        strength = np.abs(change[k])
        made += [(k, int(j)) for j in np.argsort(-strength, kind="stable")[:EACH] if strength[j] > 0.05]
    return made


def _drawn(found: Shares, links: list[tuple[int, int]], columns: list[str], word: str) -> Markup:
    """Draw units on the left, columns on the right, and lines between them."""
    units = sorted({k for k, _ in links})
    strength = {(k, j): float(found.on[k, j] - found.off[k, j]) for k, j in links}
    order = _columns(links, strength)
    shown = {j: plain(columns[j], 30) for j in order}
    line, top = 23.0, 14.0
    height = top + max(line * len(order), 50.0 * len(units)) + 10.0
    right = WIDE - room(list(shown.values()))
    drawn = Drawing(
        WIDE,
        height,
        f"Network of {count(len(units), word)} and the {count(len(order), 'column')} that they switch on.",
        "wide",
    )
    step = (height - top - 10.0) / max(1, len(order))
    where = {j: top + step * (n + 0.5) for n, j in enumerate(order)}
    gap = (height - top - 10.0) / max(1, len(units))
    wanted = {k: np.mean([where[j] for q, j in links if q == k]) for k in units}
    level = {k: top + gap * (n + 0.5) for n, k in enumerate(sorted(units, key=lambda k: wanted[k]))}
    x = 150.0
    for (k, j), value in strength.items():
        a, b = level[k], where[j]
        middle = (x + right) / 2
        drawn.add(
            '<path class="link c{}{}" stroke-width="{:.1f}" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}">'
            "<title>{}</title></path>",
            units.index(k) % 7,
            "" if value > 0 else " lower",
            1.0 + 7.0 * abs(value),
            x,
            a,
            middle,
            a,
            middle,
            b,
            right - 6,
            b,
            f"{word} {k + 1}, {columns[j]}: {percent(found.on[k, j])} with it, {percent(found.off[k, j])} without",
        )
    for k in units:
        radius = 5.0 + 12.0 * float(np.sqrt(found.common[k]))
        title = f"{word} {k + 1}: active in {percent(float(found.common[k]))} of the rows"
        drawn.dot(x, level[k], radius, f"k{units.index(k) % 7}", title)
        drawn.text(x - 24, level[k], f"{word} {k + 1}", anchor="end", style="strong")
        drawn.text(x - 24, level[k] + 16, f"{percent(float(found.common[k]))} of rows", anchor="end", style="small")
    for j in order:
        drawn.text(right, where[j] + 5, shown[j])
    return drawn.done()


def _columns(links: list[tuple[int, int]], strength: dict[tuple[int, int], float]) -> list[int]:
    """Return the columns, each next to others of the unit that moves it most."""
    best: dict[int, tuple[int, int]] = {}
    for k, j in links:
        if j not in best or abs(strength[k, j]) > abs(strength[best[j]]):
            best[j] = (k, j)
    return sorted(best, key=lambda j: (best[j][0], -abs(strength[best[j]])))


