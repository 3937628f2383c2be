"""Findings about scales: what sets the two ends of a direction of the map apart.

The ends are the upper and the lower quarter of a scale, and the shares of ones there are the model's: P(bit = 1 |
place), averaged over the quarter. The shares among the rows that seem to lie there would be too far apart, since their
places follow from the same bits. A row counts as much as its place is known, by the variance of the places of all rows
(1 if all are known exactly), so each end rests on a quarter of the rows times that variance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import dumbbells
from hiddenbits.reporting.findings.effects import Contrast, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import Sides, of_rows
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.sample import Sample, blanks_follow
from hiddenbits.reporting.text import percent, quoted

END = 0.25  # share of the rows at each end
ENDS = "; an end is a quarter of the rows"
DRAWN = 4000  # places at an end, over which the model's shares are averaged
ORDINAL = ("first", "second", "third", "fourth", "fifth", "sixth")


def end_shares(model: Any, axis: int) -> Floats:
    """Return the share of ones in each column at the upper and the lower end of a scale, by the model; (2, columns)."""
    places = np.random.default_rng(0).standard_normal((DRAWN, len(model.components_)))
    along = ndtri(1.0 - END * (np.arange(DRAWN) + 0.5) / DRAWN)  # evenly over the upper quarter
    found = []
    for sign in (1.0, -1.0):
        places[:, axis] = sign * along
        found.append(np.asarray(model.inverse_transform(places), np.float64).mean(axis=0))
    return np.stack(found)


def between_ends(context: Context, fit: Fit, axis: int) -> Sides:
    """Return what sets the two ends of a scale apart."""
    cells = context.sample.cells
    known = float(np.asarray(fit.model.transform(cells), np.float64)[:, axis].var())
    seen = END * min(1.0, known) * (~np.isnan(cells)).sum(axis=0) * np.ones((2, 1))
    return Sides(Contrast(end_shares(fit.model, axis) * seen, seen), context.sample, least_rows(len(cells)))


def directions(context: Context, fit: Fit) -> list[Finding]:
    """Describe the first scales of a model by the quarter of the rows at each end."""
    sample, scales = context.sample, len(fit.model.components_)
    found = []
    for axis in range(min(len(ORDINAL), scales)):
        sides = between_ends(context, fit, axis)
        if not sides.columns:
            continue
        said, numbers = _said(sides, len(sample.names))
        whole = "The scale" if scales == 1 else f"The {ORDINAL[axis]} of {scales} scales"
        sentence = f"{whole} {said}{of_rows(context, len(sample.cells))}."
        title = "One scale" if scales == 1 else f"{ORDINAL[axis].capitalize()} of {scales} scales"
        numbers |= {"scale": axis + 1, "scales": scales}
        flipped = sides.leaning < 0 or not sides.more  # as in the sentence
        said = f"{title}; filled dots: the end that is named first, rings: the other."
        ones = f" {sides.ones}" if sides.ones == "ones" else ""
        words = (f"many{ones}", f"few{ones}") if sides.leaning else ("one end", "the other")
        drawing = dumbbells(sides.lines(flipped=flipped), said, words)
        total = sample.look.n_rows
        found.append(Finding("directions", sentence, numbers, drawing, "map", len(sample.cells), total, title))
    return found


def _said(sides: Sides, n_columns: int) -> tuple[str, dict[str, Number]]:
    """Describe the two ends: many ones against few, or some columns against others."""
    if sides.leaning:
        upper, lower = sides.totals
        top = sides.more if sides.leaning > 0 else sides.less
        ends = sides.shown(top, "at the end with few", here="at the end with many", flipped=sides.leaning < 0)
        said = (
            f"runs from rows with few {sides.ones} to rows with many: on average {min(upper, lower):.1f} of "
            f"{n_columns} columns in the quarter of the rows at one end, {max(upper, lower):.1f} at the other; it "
            f"shows most in {ends}"
        )
        return said, {"ones, upper end": upper, "ones, lower end": lower, **sides.numbers(top)}
    if sides.more and sides.less:
        said = (
            f"sets rows with {_listed(sides, sides.more)} against rows with "
            f"{sides.shown(sides.less, 'at the first', here='at that end', flipped=True)}{ENDS}"
        )
        return said, sides.numbers(sides.more) | sides.numbers(sides.less)
    top = sides.more or sides.less
    said = f"separates rows with and without {_listed(sides, top, flipped=not sides.more)}{ENDS}"
    return said, sides.numbers(top)


def _listed(sides: Sides, columns: list[int], *, flipped: bool = False) -> str:
    """Return columns with their shares at this end and at the other."""
    return sides.shown(columns, "at the other", here="at one end", flipped=flipped)


# The finding about pairs of columns, where little is hidden: then two columns say more than any model.

BY_CHANCE = 0.05  # number of pairs that chance alone would name
NAMED = 3


class Pair(NamedTuple):
    """Two columns: how often the first is 1 where the second is 1 and where it is 0, and their association."""

    first: int
    second: int
    with_second: float
    without: float
    z: float


def strongest_pairs(sample: Sample) -> list[Pair]:
    """Return the pairs that are associated beyond chance, the strongest first.

    Of the two ways to read a pair, the one with the larger difference is taken. Each of its two sets counts as many
    rows as every effect must, and blanks of one column do not follow the other.
    """
    cells, links = sample.cells, np.triu(sample.links)
    d = cells.shape[1]
    edge = float(norm.isf(BY_CHANCE / max(1, d * (d - 1))))
    fair, least = ~blanks_follow(cells), least_rows(len(cells))
    found: list[Pair] = []
    for at in np.argsort(-np.abs(links), axis=None, kind="stable"):
        j, k = divmod(int(at), d)
        if abs(links[j, k]) <= edge or len(found) == NAMED:
            break
        ways = [_read(cells, *pair, float(links[j, k]), least) for pair in ((j, k), (k, j))]
        known = [pair for pair in ways if pair is not None]
        if known and fair[j, k]:
            found.append(max(known, key=lambda pair: abs(pair.with_second - pair.without)))
    return found


def _read(cells: Floats, first: int, second: int, z: float, least: int) -> Pair | None:
    """Return the pair read one way; None where one of the two sets of rows is too small."""
    seen = ~np.isnan(cells[:, first])
    on, off = (cells[seen & (cells[:, second] == value), first] for value in (1.0, 0.0))
    if min(len(on), len(off)) < least:
        return None
    return Pair(first, second, float(on.mean()), float(off.mean()), z)


def connections(context: Context) -> list[Finding]:
    """Name the strongest connections of two columns, by the sampled cells alone."""
    sample = context.sample
    pairs = strongest_pairs(sample)
    if not pairs:
        return []
    few = len(sample.cells) < 1000
    said: list[str] = []
    numbers: dict[str, Number] = {}
    for at, pair in enumerate(pairs, 1):
        a, b = sample.names[pair.first], sample.names[pair.second]
        p, q = percent(pair.with_second, few=few), percent(pair.without, few=few)
        said.append(
            f"{sample.values.is_one(pair.first)} in {p} of the rows with {quoted(b)} and in {q} of those without"
        )
        numbers |= {f"first {at}": a, f"second {at}": b, f"association {at}": pair.z}
        numbers |= {f"with {at}": pair.with_second, f"without {at}": pair.without}
    title = "The strongest connection" if len(pairs) == 1 else "The strongest connections"
    listed = said[0] if len(said) == 1 else f"{'; '.join(said[:-1])}; and {said[-1]}"
    sentence = f"{title} of two columns{of_rows(context, len(sample.cells))}: {listed}."
    lines = [(sample.names[pair.first], pair.with_second, pair.without) for pair in pairs]
    drawing = dumbbells(lines, f"{title} of two columns.", ("with", "without"))
    return [
        Finding("connections", sentence, numbers, drawing, "table", len(sample.cells), sample.look.n_rows, title),
    ]
