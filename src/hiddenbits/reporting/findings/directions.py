"""Findings about latent dimensions: how the two ends of a dimension differ.

The ends are the upper and the lower quarter of a dimension. The shares of 1s at an end are expected by the model:
P(x = 1 | position), averaged over the quarter. The observed shares of the rows at an end would differ too much, because
their positions are estimated from the same cells. Imprecise positions reduce the effective number of rows: each end
counts as a quarter of the rows times the variance of all estimated positions, which is 1 if they are known exactly.
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
from hiddenbits.reporting.findings.words import Differences, among_rows
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.sample import Sample, blanks_follow
from hiddenbits.reporting.text import percent, quoted

END = 0.25  # share of the rows that form each end of a dimension
ENDS_NOTE = "; each end is a quarter of the rows"
N_POSITIONS = 4000  # number of positions at an end over which P(x = 1 | position) is averaged
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def end_shares(model: Any, axis: int) -> Floats:
    """Return the share of 1s that the model expects at the upper and the lower end, (2, columns)."""
    positions = np.random.default_rng(0).standard_normal((N_POSITIONS, len(model.components_)))
    quantiles = ndtri(1.0 - END * (np.arange(N_POSITIONS) + 0.5) / N_POSITIONS)  # evenly over the upper quarter
    shares = []
    for sign in (1.0, -1.0):
        positions[:, axis] = sign * quantiles
        shares.append(np.asarray(model.inverse_transform(positions), np.float64).mean(axis=0))
    return np.stack(shares)


def differences_of_ends(context: Context, fit: Fit, axis: int) -> Differences:
    """Return how the two ends of a dimension differ."""
    cells = context.sample.cells
    precision = float(np.asarray(fit.model.transform(cells), np.float64)[:, axis].var())
    n = END * min(1.0, precision) * (~np.isnan(cells)).sum(axis=0) * np.ones((2, 1))
    return Differences(Contrast(end_shares(fit.model, axis) * n, n), context.sample, least_rows(len(cells)))


def directions(context: Context, fit: Fit) -> list[Finding]:
    """Describe the first dimensions of a model by the quarter of the rows at each end."""
    sample, dimensions = context.sample, len(fit.model.components_)
    findings = []
    for axis in range(min(len(ORDINALS), dimensions)):
        diff = differences_of_ends(context, fit, axis)
        if not diff.columns:
            continue
        description, numbers = _description(diff, len(sample.names))
        subject = "The dimension" if dimensions == 1 else f"The {ORDINALS[axis]} of {dimensions} dimensions"
        sentence = f"{subject} {description}{among_rows(context, len(sample.cells))}."
        title = "One dimension" if dimensions == 1 else f"{ORDINALS[axis].capitalize()} of {dimensions} dimensions"
        numbers |= {"dimension": axis + 1, "dimensions": dimensions}
        flipped = diff.direction < 0 or not diff.more  # as in the sentence
        alt = f"{title}; filled dots: the end that is named first, rings: the other."
        ones = f" {diff.ones}" if diff.ones == "1s" else ""
        words = (f"many{ones}", f"few{ones}") if diff.direction else ("one end", "the other")
        drawing = dumbbells(diff.lines(flipped=flipped), alt, words)
        total = sample.summary.n_rows
        findings.append(Finding("directions", sentence, numbers, drawing, "map", len(sample.cells), total, title))
    return findings


def _description(diff: Differences, n_columns: int) -> tuple[str, dict[str, Number]]:
    """Describe the two ends: many 1s against few, or some columns against others."""
    if diff.direction:
        upper, lower = diff.mean_ones
        clearest = diff.more if diff.direction > 0 else diff.less
        ends = diff.phrase(clearest, "at the end with few", first="at the end with many", flipped=diff.direction < 0)
        description = (
            f"ranges from rows with few {diff.ones} to rows with many: on average {min(upper, lower):.1f} of "
            f"{n_columns} columns in the quarter of the rows at one end, {max(upper, lower):.1f} at the other; most "
            f"clearly in {ends}"
        )
        return description, {"1s, upper end": upper, "1s, lower end": lower, **diff.numbers(clearest)}
    if diff.more and diff.less:
        description = (
            f"contrasts rows with {_list_columns(diff, diff.more)} with rows with "
            f"{diff.phrase(diff.less, 'at the first', first='at that end', flipped=True)}{ENDS_NOTE}"
        )
        return description, diff.numbers(diff.more) | diff.numbers(diff.less)
    clearest = diff.more or diff.less
    description = f"separates rows with and without {_list_columns(diff, clearest, flipped=not diff.more)}{ENDS_NOTE}"
    return description, diff.numbers(clearest)


def _list_columns(diff: Differences, columns: list[int], *, flipped: bool = False) -> str:
    """Return columns with their shares at this end and at the other."""
    return diff.phrase(columns, "at the other", first="at one end", flipped=flipped)


# The finding about pairs of columns, for tables in which a model explains little.

BY_CHANCE = 0.05  # expected number of pairs that pass the test by chance
MAX_PAIRS = 3


class Pair(NamedTuple):
    """Two columns: the share of 1s in the first if the second is 1 and if it is 0, and z, their association."""

    first: int
    second: int
    with_second: float
    without: float
    z: float


def strongest_pairs(sample: Sample) -> list[Pair]:
    """Return the pairs that are associated beyond chance, the strongest first.

    Each pair is returned in the direction with the larger difference of shares. Both sets of rows, with and without the
    second column, must be large enough (`least_rows`), and missing values of one column must not depend on the other.
    """
    cells, deviates = sample.cells, np.triu(sample.links)
    n_columns = cells.shape[1]
    limit = float(norm.isf(BY_CHANCE / max(1, n_columns * (n_columns - 1))))
    at_random, min_rows = ~blanks_follow(cells), least_rows(len(cells))
    pairs: list[Pair] = []
    for index in np.argsort(-np.abs(deviates), axis=None, kind="stable"):
        j, k = divmod(int(index), n_columns)
        if abs(deviates[j, k]) <= limit or len(pairs) == MAX_PAIRS:
            break
        directed = [_directed_pair(cells, *pair, float(deviates[j, k]), min_rows) for pair in ((j, k), (k, j))]
        large_enough = [pair for pair in directed if pair is not None]
        if large_enough and at_random[j, k]:
            pairs.append(max(large_enough, key=lambda pair: abs(pair.with_second - pair.without)))
    return pairs


def _directed_pair(cells: Floats, first: int, second: int, z: float, min_rows: int) -> Pair | None:
    """Return the pair in this direction; None if one of the two sets of rows is too small."""
    observed = ~np.isnan(cells[:, first])
    with_second, without = (cells[observed & (cells[:, second] == value), first] for value in (1.0, 0.0))
    if min(len(with_second), len(without)) < min_rows:
        return None
    return Pair(first, second, float(with_second.mean()), float(without.mean()), z)


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
    sentence = f"{title} of two columns{among_rows(context, len(sample.cells))}: {listed}."
    lines = [(sample.names[pair.first], pair.with_second, pair.without) for pair in pairs]
    drawing = dumbbells(lines, f"{title} of two columns.", ("with", "without"))
    return [
        Finding("connections", sentence, numbers, drawing, "table", len(sample.cells), sample.summary.n_rows, title),
    ]
