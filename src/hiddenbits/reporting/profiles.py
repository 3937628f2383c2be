"""Hidden kinds of rows: one picture of what sets each kind apart."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Section, cautions
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.units import Units, all_units, unit_order
from hiddenbits.reporting.svg import Drawing, room
from hiddenbits.reporting.text import count, name, percent, plain, sentence
from hiddenbits.reporting.values import Values

COLUMNS, KINDS = 24, 10  # columns and kinds that are drawn


def classes(context: Context) -> Section:
    """Describe the kinds of rows."""
    fit, sample = context.fits.classes, context.sample
    units = all_units(context, fit.model)
    order = unit_order(context, fit.model)
    number, kinds = len(order), order[:KINDS]
    opening = sentence(
        "If every row is one of {} kinds, they hold {} of the rows. The picture shows what sets them apart: how much "
        "more or less often each column is {} in a kind than in all rows.",
        number,
        _said(units.shares[order]),
        sample.values.one,
    )
    on, mean, sure = shares(units, kinds)
    columns = in_order(on - mean, np.where(sure, np.abs(on - mean), 0.0) * np.sqrt(units.shares[kinds])[:, None])
    drawing = _drawn(units.shares[kinds], on, mean, sure, columns, sample.values)
    left = [
        f"the {len(kinds)} largest kinds" if len(kinds) < number else "",
        f"the {len(columns)} columns that differ most" if len(columns) < len(sample.names) else "",
    ]
    shown = " and ".join(one for one in left if one)
    caption = sentence(
        "Each bar is the {} in a kind minus the share in all rows, in percentage points. Pale bars may be "
        "chance: the kind differs from the other rows by less than two standard errors or 2 points, or fewer than {} "
        "rows show it.{}",
        sample.values.share,
        least_rows(units.n),
        f" Drawn are {shown}." if shown else "",
    )
    heads = ["column", "all rows", *(f"kind {k + 1}" for k in range(len(kinds)))]
    lines = [
        [name(sample.names[j]), percent(float(mean[j])), *(percent(float(share)) for share in on[:, j])]
        for j in columns
    ]
    same = Grid(f"Shares of {sample.values.ones}, as a table", heads, lines, frozenset(range(1, len(heads))))
    parts = [Figure(drawing, caption, same), *cautions(fit.note)]
    how = [("kinds of rows", f"{fit.line}.transform(table)")]
    return Section("classes", "Kinds of rows", opening, parts, how, every_row=units.n == sample.look.n_rows)


def shares(units: Units, chosen: list[int]) -> tuple[Floats, Floats, AnyArray]:
    """Return the share of ones in each column with a unit and in all rows, and whether the unit clearly changes it."""
    mean = units.all_ones / np.maximum(units.all_seen, 1.0)
    seen = units.seen[chosen]
    on = np.where(seen > 0.0, units.ones[chosen] / np.maximum(seen, 1e-12), mean)
    sure = np.zeros(on.shape, bool)
    for number, k in enumerate(chosen):
        sure[number, units.contrast(k).named(least_rows(units.n))] = True
    return on, mean, sure


def _said(common: Floats) -> str:
    said = [percent(float(share)) for share in common[:6]]
    if len(common) > 6:
        return ", ".join([*said, f"and the {len(common) - 6} others {percent(float(common[6:].sum()))}"])
    return f"{', '.join(said[:-1])} and {said[-1]}"


def in_order(differences: Floats, telling: Floats) -> Rows:
    """Return the most telling columns, next to each other where they stand out in the same unit, the largest first."""
    chosen = np.argsort(-telling.max(axis=0), kind="stable")[:COLUMNS]
    unit = np.where(differences > 0, telling, -1.0)[:, chosen].argmax(axis=0)
    return np.asarray(chosen[np.lexsort((-differences[unit, chosen], unit))])


def _drawn(common: Floats, on: Floats, mean: Floats, sure: AnyArray, columns: Rows, values: Values) -> Markup:
    """Draw bars of differences: a line for each column, a panel for each kind."""
    names = values.names
    shown, kinds = [plain(names[j], 30) for j in columns], range(len(on))
    left, top, line, gap = room(shown), 44.0, 21.0, 18.0
    panel = min(180.0, max(78.0, 720.0 / len(kinds) - gap))
    bottom = top + line * len(columns)
    words = f"percentage points: left, less often {values.one} than in all rows; right, more often"
    drawn = Drawing(
        left + max((panel + gap) * len(kinds), 7.0 * len(words)) + 4,
        bottom + 44,
        f"Profiles of {count(len(kinds), 'kind')} on {count(len(columns), 'column')}: differences from all rows.",
        "natural",
    )
    differences = on - mean
    most = float(np.abs(differences[:, columns]).max(initial=0.0))
    limit = next(step for step in (0.1, 0.2, 0.5, 1.0) if most <= step + 1e-9)
    middles = [left + (panel + gap) * k + (gap + panel) / 2 for k in kinds]
    for number, j in enumerate(columns):
        y = top + line * number
        drawn.text(left - 8, y + line - 6, shown[number], anchor="end")
        if number % 2 == 0:
            drawn.bar(left, y, (panel + gap) * len(kinds), line, "stripe")
        for k in kinds:
            value = float(differences[k, j])
            style = ("more" if value > 0 else "less") + ("" if sure[k, j] else " faint")
            title = f"kind {k + 1}, {names[j]}: {percent(float(on[k, j]))}, all rows {percent(float(mean[j]))}"
            drawn.bar(middles[k], y + 3, value / limit * panel / 2, line - 6, style, title)
    for k in kinds:
        drawn.text(middles[k], 16, f"kind {k + 1}", anchor="middle", style="strong")
        drawn.text(middles[k], 33, f"{percent(float(common[k]))} of rows", anchor="middle", style="small")
        drawn.line(middles[k], top, middles[k], bottom, "zero")
        for value, anchor, shift in ((-limit, "start", -6.0), (0.0, "middle", 0.0), (limit, "end", 6.0)):
            x = middles[k] + value / limit * panel / 2
            drawn.line(x, bottom, x, bottom + 5, "zero")
            text = f"{100 * value:+.0f}" if value else "0"
            drawn.text(x + shift, bottom + 18, text, anchor=anchor, style="small")
    drawn.text(left + gap / 2, bottom + 38, words, style="small")
    return drawn.done()
