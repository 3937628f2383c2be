"""Hidden kinds of rows: one picture of what sets each kind apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from hiddenbits.array_types import Floats, Rows
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.elements import Figure, Grid, Section, cautions
from hiddenbits.reporting.svg import Drawing, room
from hiddenbits.reporting.text import count, name, percent, plain, sentence

COLUMNS, KINDS = 24, 10  # columns and kinds that are drawn
FEWEST = 20  # rows of a kind, below which its shares are not drawn
ERRORS = 2.0  # a difference within so many standard errors is drawn faint


@dataclass(frozen=True)
class Shares:
    """Shares of ones with hidden units on, those that are on most often first.

    `order` are the numbers of the units in the model, `common` how often each is on, `on` the share of ones in each
    column with it (units, columns), `error` the standard error of `on`, and `mean` the share in all rows.
    """

    order: Rows
    common: Floats
    on: Floats
    off: Floats
    error: Floats
    mean: Floats
    rows: Floats

    @property
    def sure(self) -> Any:
        """Whether a difference from the mean rests on enough rows and lies outside its error; (units, columns)."""
        return (np.abs(self.on - self.mean) > ERRORS * self.error) & (self.rows[:, None] >= FEWEST)


def shares(codes: Floats, cells: Floats) -> Shares:
    """Return the share of ones in each column where a hidden unit is on, and where it is off.

    Rows count by the probability that the unit is on in them: Sum_n r_nk x_nj / Sum_n r_nk over observed cells.
    """
    order = np.argsort(-codes.mean(axis=0), kind="stable")
    codes = codes[:, order]
    seen, ones = (~np.isnan(cells)).astype(np.float64), np.nan_to_num(cells)
    mean = ones.sum(axis=0) / np.maximum(seen.sum(axis=0), 1.0)

    def share(weights: Floats) -> tuple[Floats, Floats]:
        number = weights.T @ seen
        return np.where(number > 0.0, (weights.T @ ones) / np.maximum(number, 1e-12), mean), number

    (on, number), (off, _) = share(codes), share(1.0 - codes)
    error = np.sqrt(np.maximum(on * (1.0 - on), 0.25 / np.maximum(number, 1.0)) / np.maximum(number, 1.0))
    return Shares(order, codes.mean(axis=0), on, off, error, mean, codes.sum(axis=0))


def classes(context: Context) -> Section:
    """Describe the kinds of rows."""
    fit, sample = context.fits.classes, context.sample
    found = shares(np.asarray(fit.model.transform(sample.cells), np.float64), sample.cells)
    number = len(found.order)
    opening = sentence(
        "If every row is one of {} kinds, they hold {} of the rows. The picture shows what sets them apart: how much "
        "more or less often each column is 1 in a kind than in all rows.",
        number,
        _said(found.common),
    )
    telling = np.where(found.sure, np.abs(found.on - found.mean) * np.sqrt(found.common)[:, None], 0.0)
    columns = in_order(found.on - found.mean, telling, COLUMNS)
    kinds = np.arange(min(number, KINDS))
    drawing = _drawn(found, columns, kinds, sample.names)
    left = [
        f"the {len(kinds)} largest kinds" if len(kinds) < number else "",
        f"the {len(columns)} columns that differ most" if len(columns) < len(sample.names) else "",
    ]
    shown = " and ".join(one for one in left if one)
    caption = sentence(
        "Each bar is the share of ones in a kind minus the share in all rows, in percentage points; to the right: more "
        "often 1. Pale bars lie within two standard errors, or rest on fewer than {} rows.{}",
        FEWEST,
        f" Drawn are {shown}." if shown else "",
    )
    heads = ["column", "all rows", *(f"kind {k + 1}" for k in range(number))]
    lines = [
        [name(sample.names[j]), percent(float(found.mean[j])), *(percent(float(on)) for on in found.on[:, j])]
        for j in columns
    ]
    same = Grid("Shares of ones, as a table", heads, lines, frozenset(range(1, len(heads))))
    parts = [Figure(drawing, caption, same), *cautions(fit.note)]
    return Section("classes", "Kinds of rows", opening, parts, [("kinds of rows", f"{fit.line}.transform(table)")])


def _said(common: Floats) -> str:
    said = [percent(float(share)) for share in common[:6]]
    if len(common) > 6:
        return ", ".join([*said, f"and the {len(common) - 6} others {percent(float(common[6:].sum()))}"])
    return f"{', '.join(said[:-1])} and {said[-1]}"


def in_order(differences: Floats, telling: Floats, most: int) -> Rows:
    """Return the most telling columns, next to each other where they stand out in the same unit, the largest first."""
    chosen = np.argsort(-telling.max(axis=0), kind="stable")[:most]
    unit = np.where(differences > 0, telling, -1.0)[:, chosen].argmax(axis=0)
    size = differences[unit, chosen]
    return np.asarray(chosen[np.lexsort((-size, unit))])


def _drawn(found: Shares, columns: Rows, kinds: Rows, names: list[str]) -> Markup:
    """Draw bars of differences: a line for each column, a panel for each kind."""
    shown = [plain(names[j], 30) for j in columns]
    left, top, line = room(shown), 44.0, 21.0
    panel = 118.0 if len(kinds) <= 4 else 96.0 if len(kinds) <= 6 else 78.0
    gap = 14.0
    bottom = top + line * len(columns)
    drawn = Drawing(
        left + (panel + gap) * len(kinds) + 4,
        bottom + 44,
        f"Profiles of {count(len(kinds), 'kind')} on {count(len(columns), 'column')}: differences from all rows.",
        "natural",
    )
    differences = found.on - found.mean
    most = float(np.abs(differences[np.ix_(kinds, columns)]).max(initial=0.0))
    limit = next(step for step in (0.1, 0.2, 0.5, 1.0) if most <= step + 1e-9)
    for number, j in enumerate(columns):
        y = top + line * number
        drawn.text(left - 8, y + line - 6, shown[number], anchor="end")
        if number % 2 == 0:
            drawn.bar(left, y, (panel + gap) * len(kinds), line, "stripe")
        for k in kinds:
            middle = left + (panel + gap) * k + gap / 2 + panel / 2
            value = float(differences[k, j])
            style = ("more" if value > 0 else "less") + ("" if found.sure[k, j] else " faint")
            title = f"kind {k + 1}, {names[j]}: {percent(float(found.on[k, j]))}, all rows {percent(float(found.mean[j]))}"
            drawn.bar(middle, y + 3, value / limit * panel / 2, line - 6, style, title)
    for k in kinds:
        middle = left + (panel + gap) * k + gap / 2 + panel / 2
        drawn.text(middle, 16, f"kind {k + 1}", anchor="middle", style="strong")
        drawn.text(middle, 33, f"{percent(float(found.common[k]))} of rows", anchor="middle", style="small")
        drawn.line(middle, top, middle, bottom, "zero")
        for value in (-limit, 0.0, limit):
            x = middle + value / limit * panel / 2
            drawn.line(x, bottom, x, bottom + 5, "zero")
            anchor = "start" if value < 0 else "end" if value > 0 else "middle"
            shift = -4 if value < 0 else 4 if value > 0 else 0
            drawn.text(x + shift, bottom + 18, f"{100 * value:+.0f}" if value else "0", anchor=anchor, style="small")
    drawn.text(left - 8, bottom + 18, "percentage points", anchor="end", style="small")
    drawn.text(left + gap / 2, bottom + 38, "less often 1 ← compared with all rows → more often 1", style="small")
    return drawn.done()
