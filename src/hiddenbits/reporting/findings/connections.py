"""The finding about pairs of columns, where little is hidden: then two columns say more than any model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import dumbbells
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import of_rows
from hiddenbits.reporting.links import blanks_follow
from hiddenbits.reporting.sample import Sample
from hiddenbits.reporting.text import percent, quoted

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
