"""Findings about what does not fit: pairs of columns, rows and cells that the chosen model does not explain."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from hiddenbits import diagnostics
from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import bars, histogram
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import joined, of_rows, quoted, word
from hiddenbits.reporting.text import count, percent, times

BY_CHANCE = 0.05  # number of pairs or rows that chance alone would name
PAIRS, ROWS, CELLS = 2, 3, 3  # that are named
APART = 0.02  # smallest difference of the observed and the expected share of a pair
DRAWN, DRAWN_ESTIMATE = 4000, 1000  # rows drawn from the model, to know how odd its own are; where a score is slow
TAIL = 0.05  # share of the drawn rows that is taken for the tail
WRONG = 0.1  # of the suspect cells, the share that chance would explain
IMPROBABLE = 0.001  # of suspect cells, the largest probability
FEW = 0.01  # share of all cells beyond which improbable cells speak against the model


def pairs(context: Context) -> list[Finding]:
    """Name the pairs of columns that occur together more or less often than the model expects.

    A pair is named if chance would make 0.05 pairs of the table stand out as much, if at least as many rows as for
    every effect have, or were expected to have, both bits, and if these are 2% of the rows more or less than expected.
    """
    sample, model = context.sample, context.fits.best.model
    found = diagnostics.residual_pairs(model, sample.cells)
    edge = float(norm.isf(BY_CHANCE / 2.0 / max(1, len(found))))
    apart = np.abs(found["observed"] - found["expected"])
    enough = np.maximum(found["observed"], found["expected"]) >= least_rows(len(sample.cells))
    named = found[(np.abs(found["residual"]) > edge) & enough & (apart >= APART * found["rows"])]
    if not len(named):
        return []
    place = {f"x{j}": j for j in range(len(sample.names))}
    said, lines, shown = [], [], []
    numbers: dict[str, Number] = {"pairs": len(named), "edge": edge}
    for at, one in enumerate(named[:PAIRS]):
        a, b = (sample.names[place[one[key]]] for key in ("first", "second"))
        n, seen, expected = float(one["rows"]), float(one["observed"]), float(one["expected"])
        said.append(
            f"{quoted(a)} and {quoted(b)} are both 1 in {percent(seen / n)} of the rows"
            f"{' where the model expects' if at == 0 else ' instead of'} {percent(expected / n)}"
        )
        lines += [(f"both {at + 1}", seen / n, 0.0), ("expected", expected / n, 0.0)]
        shown += [percent(seen / n), percent(expected / n)]
        for key in ("first", "second"):
            numbers[f"{key} {at + 1}"] = sample.names[place[one[key]]]
        numbers |= {
            f"observed {at + 1}": seen / n,
            f"expected {at + 1}": expected / n,
            f"residual {at + 1}": float(one["residual"]),
        }
    many = (
        f"{word(len(named)).capitalize()} pairs of columns belong" if len(named) > 1 else "One pair of columns belongs"
    )
    sentence = (
        f"{many} together, or exclude each other, in a way that this picture does not explain"
        f"{of_rows(context, len(sample.cells))}: {joined(said)}."
    )
    title = "Pairs left unexplained" if len(named) > 1 else "A pair left unexplained"
    drawing = bars(lines, f"{title}: observed and expected shares of rows.", shown)
    return [_made(context, "pairs", sentence, numbers, drawing, "pairs", title)]


def odd_scores(context: Context) -> tuple[Floats, Floats]:
    """Return the score of each sampled row, and how many rows of the model's own are expected to score as low.

    Rows are drawn from the model, with the blanks of real rows; the share below a score is counted, or in the lowest
    5% follows an exponential tail.
    """
    sample, model = context.sample, context.fits.best.model
    n, size = len(sample.cells), DRAWN if model.likelihood_ == "exact" else DRAWN_ESTIMATE
    drawn = np.asarray(model.sample(size, random_state=sample.seed), np.float64)
    blank = np.isnan(sample.cells)
    if blank.any():
        drawn[blank[np.random.default_rng([sample.seed, 5]).integers(0, n, size)]] = np.nan
    own = np.sort(np.asarray(model.score_samples(drawn), np.float64))
    scores = np.asarray(model.score_samples(sample.cells), np.float64)
    start = own[int(TAIL * size)]
    slope = float(np.mean(start - own[own < start])) if (own < start).any() else 1e-9
    below = np.searchsorted(own, scores, side="right") / size
    tail = TAIL * np.exp(-(start - np.minimum(scores, start)) / max(slope, 1e-9))
    return scores, np.asarray(n * np.where(scores < start, tail, np.maximum(below, TAIL)))


def odd_rows(context: Context) -> list[Finding]:
    """Name the rows that are less likely than any that the model would make in a table of this size."""
    sample = context.sample
    scores, expected = odd_scores(context)
    odd = np.flatnonzero(expected < BY_CHANCE)
    if not len(odd):
        return []
    odd = odd[np.argsort(scores[odd], kind="stable")]
    middle = float(np.median(scores))
    ratio = middle - float(scores[odd[0]])
    numbers: dict[str, Number] = {"rows": len(odd), "times less likely, ln": ratio}
    opening = f"{word(len(odd)).capitalize()} {'row does' if len(odd) == 1 else 'rows do'} not fit the picture"
    said = ""
    if context.rows:
        named = [_named(context, int(i)) for i in odd[:ROWS]]
        numbers |= {f"row {at + 1}": int(sample.rows[i]) + 1 for at, i in enumerate(odd[:ROWS])}
        said = f": {joined([who + why for who, why in named])}"
        if len(odd) > ROWS:
            said = f", among them {joined([who + why for who, why in named])}"
    sentence = (
        f"{opening}{of_rows(context, len(sample.cells))}{said}. "
        f"{'It' if len(odd) == 1 else 'The oddest'} is {times(ratio)} less likely than a typical row."
    )
    title = "A row that does not fit" if len(odd) == 1 else "Rows that do not fit"
    drawing = histogram(scores, float(scores[odd].max()) + 1e-9, f"{title}: how likely rows are.")
    return [_made(context, "odd_rows", sentence, numbers, drawing, "odd", title, rows=context.rows)]


def _named(context: Context, i: int) -> tuple[str, str]:
    """Return what identifies a row, and its least probable cell."""
    label = who(context, i)
    bits, expected = context.sample.cells[i], context.fits.probabilities[i]
    given = np.where(np.isnan(bits), 1.0, np.where(bits == 1.0, expected, 1.0 - expected))
    found = [int(j) for j in np.argsort(given, kind="stable")[:2] if given[j] < 0.2]
    if not found:
        return label, ""
    cells = [f"{'has' if bits[j] else 'lacks'} {quoted(context.sample.names[j])}" for j in found]
    return label, f" ({joined(cells)})"


def who(context: Context, i: int) -> str:
    """Return what identifies a sampled row: its number in the table, from 1, and its first label."""
    number = f"row {context.sample.rows[i] + 1:,}"
    labels = [values[i] for values in context.sample.beside.values()]
    return f"{number}, {quoted(labels[0])}" if labels and labels[0] else number


def suspects(context: Context) -> tuple[Floats, list[tuple[int, int]], float]:
    """Return the probability of each observed cell given the rest of its row, the suspect cells, and chance's share.

    Cells with a probability below 0.1% are taken from the least probable on, as long as chance would explain at most a
    tenth of them: under the model, Sum min(p, 1 - p) of the cells with min(p, 1 - p) below a threshold are expected to
    be as improbable. None is suspect if they are more than 1% of all cells, which speaks against the model rather than
    the cells.
    """
    cells, expected = context.sample.cells, context.fits.probabilities
    seen = ~np.isnan(cells)
    given = np.where(seen, np.where(cells == 1.0, expected, 1.0 - expected), 1.0)
    rarer = np.sort(np.minimum(expected, 1.0 - expected)[seen])
    chance = np.cumsum(rarer)
    order = np.argsort(given, axis=None, kind="stable")[: int(FEW * seen.sum()) + 2]
    low = given.ravel()[order]
    by_chance = np.concatenate([[0.0], chance])[np.searchsorted(rarer, low, side="right")]
    allowed = np.maximum(WRONG * np.arange(1, len(low) + 1) * (np.arange(1, len(low) + 1) > 1), BY_CHANCE)
    good = np.flatnonzero((by_chance <= allowed) & (low < IMPROBABLE))
    if not len(good) or good[-1] + 1 > FEW * seen.sum():
        return given, [], 0.0
    chosen = order[: good[-1] + 1]
    places = [(int(at // cells.shape[1]), int(at % cells.shape[1])) for at in chosen]
    return given, places, float(by_chance[good[-1]])


def cells(context: Context) -> list[Finding]:
    """Name the recorded cells that may be mistakes, if there are more improbable ones than chance explains."""
    sample = context.sample
    given, places, by_chance = suspects(context)
    if not places:
        return []
    numbers: dict[str, Number] = {"cells": len(places), "by chance": by_chance}
    expected = f"{by_chance:.0f}" if by_chance >= 1.0 else "none"
    listed = ""
    if context.rows:
        named = [
            f"{quoted(sample.names[j])} of {who(context, i)} (recorded {int(sample.cells[i, j])}, probability "
            f"{percent(float(given[i, j]))})"
            for i, j in places[:CELLS]
        ]
        numbers |= {f"probability {at + 1}": float(given[i, j]) for at, (i, j) in enumerate(places[:CELLS])}
        numbers |= {f"row {at + 1}": int(sample.rows[i]) + 1 for at, (i, _) in enumerate(places[:CELLS])}
        listed = f": {joined(named)}" if len(places) <= CELLS else f", first of all {joined(named)}"
    sentence = (
        f"{count(len(places), 'cell')} may be recorded wrongly{of_rows(context, len(sample.cells))}: the rest of the "
        f"row speaks strongly against {'it' if len(places) == 1 else 'them'}, and chance would explain {expected}"
        f"{listed}."
    )
    title = "A cell to check" if len(places) == 1 else "Cells to check"
    lines = [("found", float(len(places)), 0.0), ("by chance", by_chance, 0.0)]
    drawing = bars(lines, f"{title}: found and expected.", [f"{len(places):,}", f"{by_chance:.1f}"])
    return [_made(context, "cells", sentence, numbers, drawing, "cells", title, rows=context.rows)]


def _made(
    context: Context,
    kind: str,
    sentence: str,
    numbers: dict[str, Number],
    drawing: str,
    evidence: str,
    title: str,
    *,
    rows: bool = False,
) -> Finding:
    n, total = len(context.sample.cells), context.sample.look.n_rows
    return Finding(kind, sentence, numbers, drawing, evidence, n, total, title, rows)  # type: ignore[arg-type]
