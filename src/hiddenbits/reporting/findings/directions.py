"""Findings about latent dimensions: how the two ends of a dimension differ.

The ends are the upper and the lower quarter of a dimension, and the shares of 1s there are the model's: P(x = 1 |
position), averaged over the quarter. The shares among the rows with such positions would differ too much, because
positions are estimated from the same cells. Rows count by the precision of their positions: each end rests on a quarter
of the rows times the variance of all positions, which is 1 if they are known exactly.
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
ENDS = "; each end is a quarter of the rows"
DRAWN = 4000  # positions at an end, over which the model's shares are averaged
ORDINAL = ("first", "second", "third", "fourth", "fifth", "sixth")


def end_shares(model: Any, axis: int) -> Floats:
    """Return the share of 1s in each column at the upper and the lower end, by the model; (2, columns)."""
    places = np.random.default_rng(0).standard_normal((DRAWN, len(model.components_)))
    along = ndtri(1.0 - END * (np.arange(DRAWN) + 0.5) / DRAWN)  # evenly over the upper quarter
    shares = []
    for sign in (1.0, -1.0):
        places[:, axis] = sign * along
        shares.append(np.asarray(model.inverse_transform(places), np.float64).mean(axis=0))
    return np.stack(shares)


def between_ends(context: Context, fit: Fit, axis: int) -> Sides:
    """Return how the two ends of a dimension differ."""
    cells = context.sample.cells
    known = float(np.asarray(fit.model.transform(cells), np.float64)[:, axis].var())
    observed = END * min(1.0, known) * (~np.isnan(cells)).sum(axis=0) * np.ones((2, 1))
    return Sides(Contrast(end_shares(fit.model, axis) * observed, observed), context.sample, least_rows(len(cells)))


def directions(context: Context, fit: Fit) -> list[Finding]:
    """Describe the first dimensions of a model by the quarter of the rows at each end."""
    sample, dimensions = context.sample, len(fit.model.components_)
    findings = []
    for axis in range(min(len(ORDINAL), dimensions)):
        sides = between_ends(context, fit, axis)
        if not sides.columns:
            continue
        description, numbers = _description(sides, len(sample.names))
        subject = "The dimension" if dimensions == 1 else f"The {ORDINAL[axis]} of {dimensions} dimensions"
        sentence = f"{subject} {description}{of_rows(context, len(sample.cells))}."
        title = "One dimension" if dimensions == 1 else f"{ORDINAL[axis].capitalize()} of {dimensions} dimensions"
        numbers |= {"dimension": axis + 1, "dimensions": dimensions}
        flipped = sides.leaning < 0 or not sides.more  # as in the sentence
        alt = f"{title}; filled dots: the end that is named first, rings: the other."
        ones = f" {sides.ones}" if sides.ones == "1s" else ""
        words = (f"many{ones}", f"few{ones}") if sides.leaning else ("one end", "the other")
        drawing = dumbbells(sides.lines(flipped=flipped), alt, words)
        total = sample.look.n_rows
        findings.append(Finding("directions", sentence, numbers, drawing, "map", len(sample.cells), total, title))
    return findings


def _description(sides: Sides, n_columns: int) -> tuple[str, dict[str, Number]]:
    """Describe the two ends: many 1s against few, or some columns against others."""
    if sides.leaning:
        upper, lower = sides.totals
        top = sides.more if sides.leaning > 0 else sides.less
        ends = sides.shown(top, "at the end with few", first="at the end with many", flipped=sides.leaning < 0)
        description = (
            f"ranges from rows with few {sides.ones} to rows with many: on average {min(upper, lower):.1f} of "
            f"{n_columns} columns in the quarter of the rows at one end, {max(upper, lower):.1f} at the other; most "
            f"clearly in {ends}"
        )
        return description, {"1s, upper end": upper, "1s, lower end": lower, **sides.numbers(top)}
    if sides.more and sides.less:
        description = (
            f"contrasts rows with {_listed(sides, sides.more)} with rows with "
            f"{sides.shown(sides.less, 'at the first', first='at that end', flipped=True)}{ENDS}"
        )
        return description, sides.numbers(sides.more) | sides.numbers(sides.less)
    top = sides.more or sides.less
    description = f"separates rows with and without {_listed(sides, top, flipped=not sides.more)}{ENDS}"
    return description, sides.numbers(top)


def _listed(sides: Sides, columns: list[int], *, flipped: bool = False) -> str:
    """Return columns with their shares at this end and at the other."""
    return sides.shown(columns, "at the other", first="at one end", flipped=flipped)


# The finding about pairs of columns, for tables in which a model explains little.

BY_CHANCE = 0.05  # expected number of pairs that are named by chance
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

    Of the two directions of a pair, the one with the larger difference is taken. Each of its two sets counts as many
    rows as every effect must, and missing values of one column do not depend on the other.
    """
    cells, links = sample.cells, np.triu(sample.links)
    d = cells.shape[1]
    edge = float(norm.isf(BY_CHANCE / max(1, d * (d - 1))))
    fair, least = ~blanks_follow(cells), least_rows(len(cells))
    pairs: list[Pair] = []
    for index in np.argsort(-np.abs(links), axis=None, kind="stable"):
        j, k = divmod(int(index), d)
        if abs(links[j, k]) <= edge or len(pairs) == NAMED:
            break
        directed = [_directed_pair(cells, *pair, float(links[j, k]), least) for pair in ((j, k), (k, j))]
        known = [pair for pair in directed if pair is not None]
        if known and fair[j, k]:
            pairs.append(max(known, key=lambda pair: abs(pair.with_second - pair.without)))
    return pairs


def _directed_pair(cells: Floats, first: int, second: int, z: float, least: int) -> Pair | None:
    """Return the pair in this direction; None if one of the two sets of rows is too small."""
    observed = ~np.isnan(cells[:, first])
    on, off = (cells[observed & (cells[:, second] == value), first] for value in (1.0, 0.0))
    if min(len(on), len(off)) < least:
        return None
    return Pair(first, second, float(on.mean()), float(off.mean()), z)


def connections(context: Context) -> list[Finding]:
    """Name the strongest associations of two columns, by the sampled cells alone."""
    sample = context.sample
    pairs = strongest_pairs(sample)
    if not pairs:
        return []
    few = len(sample.cells) < 1000
    phrases: list[str] = []
    numbers: dict[str, Number] = {}
    for n, pair in enumerate(pairs, 1):
        a, b = sample.names[pair.first], sample.names[pair.second]
        p, q = percent(pair.with_second, few=few), percent(pair.without, few=few)
        phrases.append(
            f"{sample.values.is_one(pair.first)} in {p} of the rows with {quoted(b)} and in {q} of those without"
        )
        numbers |= {f"first {n}": a, f"second {n}": b, f"association {n}": pair.z}
        numbers |= {f"with {n}": pair.with_second, f"without {n}": pair.without}
    title = "The strongest association" if len(pairs) == 1 else "The strongest associations"
    listed = phrases[0] if len(phrases) == 1 else f"{'; '.join(phrases[:-1])}; and {phrases[-1]}"
    sentence = f"{title} of two columns{of_rows(context, len(sample.cells))}: {listed}."
    lines = [(sample.names[pair.first], pair.with_second, pair.without) for pair in pairs]
    drawing = dumbbells(lines, f"{title} of two columns.", ("with", "without"))
    return [
        Finding("connections", sentence, numbers, drawing, "table", len(sample.cells), sample.look.n_rows, title),
    ]
