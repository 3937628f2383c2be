"""Findings about misfit: pairs of columns, rows and cells that the chosen model does not explain; missing values."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from hiddenbits import diagnostics
from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import bars, histogram
from hiddenbits.reporting.findings.effects import least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import joined, of_rows, word
from hiddenbits.reporting.sample import blanks_follow
from hiddenbits.reporting.text import count, percent, quoted, times, told_apart

BY_CHANCE = 0.05  # expected number of pairs or rows that are named by chance
PAIRS, ROWS, CELLS = 2, 3, 3  # that are named
APART = 0.02  # smallest difference of the observed and the expected share of a pair
DRAWN, DRAWN_ESTIMATE = 2000, 1000  # rows sampled from the model, for reference; fewer if likelihoods are estimates
TAIL = 0.05  # share of the sampled rows in the tail
IMPROBABLE = 0.01  # a cell with a smaller probability goes against the rest of its row
FEW, TENTH = 0.005, 0.1  # share of the rows that may break a strict rule; share of the errors without the rule


def pairs(context: Context) -> list[Finding]:
    """Name the pairs of columns that occur together more or less often than the model expects.

    A pair is named if 0.05 such pairs are expected by chance, if both columns are 1, or were expected to be, in as many
    rows as every effect needs, and if this differs by 2% of the rows. Pairs in which missing values of one column
    depend on the other are not named: the model assumes that values are missing at random.
    """
    sample, model = context.sample, context.fits.best.model
    residuals = diagnostics.residual_pairs(model, sample.cells)
    edge = float(norm.isf(BY_CHANCE / 2.0 / max(1, len(residuals))))
    apart = np.abs(residuals["observed"] - residuals["expected"])
    enough = np.maximum(residuals["observed"], residuals["expected"]) >= least_rows(len(sample.cells))
    place = {f"x{j}": j for j in range(len(sample.names))}
    first, second = ([place[name] for name in residuals[key]] for key in ("first", "second"))
    fair = ~blanks_follow(sample.cells)[first, second]
    named = residuals[(np.abs(residuals["residual"]) > edge) & enough & (apart >= APART * residuals["rows"]) & fair]
    if not len(named):
        return []
    phrases, lines, shown = [], [], []
    numbers: dict[str, Number] = {"pairs": len(named), "edge": edge}
    for number, pair in enumerate(named[:PAIRS], 1):
        a, b = (place[pair[key]] for key in ("first", "second"))
        n = float(pair["rows"])
        observed, expected = float(pair["observed"]) / n, float(pair["expected"]) / n
        phrases.append(
            f"{sample.values.both_one(a, b)} in {percent(observed)} of the rows"
            f"{' in which both are observed' if n < len(sample.cells) else ''}"
            f"{' where the model expects' if number == 1 else ' instead of'} {percent(expected)}"
        )
        lines += [(f"pair {number}", observed, 0.0), ("expected", expected, 0.0)]
        shown += [percent(observed), percent(expected)]
        numbers |= {f"first {number}": sample.names[a], f"second {number}": sample.names[b]}
        numbers |= {f"observed {number}": observed, f"expected {number}": expected}
        numbers[f"residual {number}"] = float(pair["residual"])
    many = f"{word(len(named)).capitalize()} pairs of columns are" if len(named) > 1 else "One pair of columns is"
    which = f". The {word(PAIRS)} with the largest residuals" if len(named) > PAIRS else ""
    sentence = (
        f"{many} associated in a way that this model does not explain"
        f"{of_rows(context, len(sample.cells))}{which}: {joined(phrases)}."
    )
    title = "Pairs left unexplained" if len(named) > 1 else "A pair left unexplained"
    drawing = bars(lines, f"{title}: observed and expected shares of rows.", shown)
    return [_made(context, "pairs", sentence, numbers, drawing, "pairs", title)]


def odd_scores(context: Context) -> tuple[Floats, Floats]:
    """Return the log-likelihood of each sampled row, and the number of rows that the model expects to be as low.

    Rows are sampled from the model, with the missing values of real rows; the share below a value is counted, or in the
    lowest 5% follows an exponential tail.
    """
    sample, judge = context.sample, context.fits.judge
    n, size = len(sample.cells), DRAWN if context.fits.best.model._likelihood_kind == "exact" else DRAWN_ESTIMATE
    drawn = np.asarray(judge.sample(size, random_state=sample.seed), np.float64)
    blank = np.isnan(sample.cells)
    if blank.any():
        drawn[blank[np.random.default_rng([sample.seed, 5]).integers(0, n, size)]] = np.nan
    own = np.sort(np.asarray(judge.score_samples(drawn), np.float64))
    scores = context.fits.scores
    start = own[int(TAIL * size)]
    slope = float(np.mean(start - own[own < start])) if (own < start).any() else 1e-9
    below = np.searchsorted(own, scores, side="right") / size
    tail = TAIL * np.exp(-(start - np.minimum(scores, start)) / max(slope, 1e-9))
    return scores, np.asarray(n * np.where(scores < start, tail, np.maximum(below, TAIL)))


def odd_rows(context: Context) -> list[Finding]:
    """Name the rows that are less likely than any that the model would generate in a table of this size."""
    sample = context.sample
    scores, expected = odd_scores(context)
    odd = np.flatnonzero(expected < BY_CHANCE)
    if not len(odd):
        return []
    odd = odd[np.argsort(scores[odd], kind="stable")]
    middle = float(np.median(scores))
    ratio = middle - float(scores[odd[0]])
    numbers: dict[str, Number] = {"rows": len(odd), "times less likely, ln": ratio}
    opening = f"{word(len(odd)).capitalize()} {'row does' if len(odd) == 1 else 'rows do'} not fit the model"
    listed = ""
    if context.rows:
        named = [_named(context, int(i)) for i in odd[:ROWS]]
        numbers |= {f"row {n}": int(sample.rows[i]) + 1 for n, i in enumerate(odd[:ROWS], 1)}
        listed = f": {joined([who + why for who, why in named])}"
        if len(odd) > ROWS:
            listed = f", among them {joined([who + why for who, why in named])}"
    sentence = (
        f"{opening}{of_rows(context, len(sample.cells))}{listed}. "
        f"{'It' if len(odd) == 1 else 'The least likely'} is {times(ratio)} less likely than a typical row."
    )
    title = "An outlier" if len(odd) == 1 else "Outliers"
    drawing = histogram(scores, float(scores[odd].max()) + 1e-9, f"{title}: log-likelihood of the rows.")
    return [_made(context, "odd_rows", sentence, numbers, drawing, "odd", title, rows=context.rows)]


def _named(context: Context, i: int) -> tuple[str, str]:
    """Return what identifies a row, and its least probable cell."""
    label = who(context, i)
    bits, expected = context.sample.cells[i], context.fits.probabilities[i]
    given = np.where(np.isnan(bits), 1.0, np.where(bits == 1.0, expected, 1.0 - expected))
    columns = [int(j) for j in np.argsort(given, kind="stable")[:2] if given[j] < 0.2]
    if not columns:
        return label, ""
    values = [context.sample.values.has(j, bits[j]) for j in columns]
    cells = [f"{verb} {quoted(name)}" for verb, name in values]
    return label, f" ({joined(cells)})"


def who(context: Context, i: int) -> str:
    """Return what identifies a sampled row: its number in the table, from 1, and its first label."""
    number = f"row {context.sample.rows[i] + 1:,}"
    labels = [values[i] for values in context.sample.beside.values()]
    return f"{number}, {quoted(labels[0])}" if labels and labels[0] else number


def suspects(context: Context) -> tuple[Floats, list[tuple[int, int]], list[int]]:
    """Return the probability of each observed cell given the rest of its row, the possible errors, and their columns.

    An improbable cell is not evidence of an error: natural exceptions look the same. But if a column follows a nearly
    strict rule, the few cells that violate it are worth a check. So a column counts if the model is certain (99%)
    of it, given the rest of the row, in at least half of the rows, is wrong in at most 0.5% of these, and in at most a
    tenth of as many as if it always took the more common value, which has to be wrong often enough to be named. Its
    possible errors are the cells of which the model was certain and wrong; the least probable come first.
    """
    cells, expected = context.sample.cells, context.fits.probabilities
    observed = ~np.isnan(cells)
    given = np.where(observed, np.where(cells == 1.0, expected, 1.0 - expected), 1.0)
    certain = observed & (np.minimum(expected, 1.0 - expected) < IMPROBABLE)
    wrong = certain & (given < 0.5)
    n, errors, ones = certain.sum(axis=0), wrong.sum(axis=0), ((cells == 1.0) & certain).sum(axis=0)
    rarer = np.minimum(ones, n - ones)
    strict = (2 * n >= observed.sum(axis=0)) & (errors <= FEW * n) & (errors <= TENTH * rarer)
    strict &= (rarer >= least_rows(len(cells))) & (errors > 0)
    places = [(int(i), int(j)) for i, j in np.argwhere(wrong & strict)]
    places.sort(key=lambda place: (float(given[place]), place))
    return given, places, n.tolist()


def cells(context: Context) -> list[Finding]:
    """Name the cells that violate an otherwise strict rule."""
    sample = context.sample
    given, places, certain = suspects(context)
    if not places:
        return []
    column = places[0][1]
    broken = sum(j == column for _, j in places)
    numbers: dict[str, Number] = {"cells": len(places), "certain": certain[column], "broken": broken}
    listed = ""
    if context.rows:
        named = [
            f"{quoted(sample.values.bare[j])} of {who(context, i)} (observed "
            f"{sample.values.cell(j, sample.cells[i, j])}; by the rest of the row it is "
            f"{sample.values.cell(j, 1.0 - sample.cells[i, j])} with a probability of "
            f"{percent(1.0 - float(given[i, j]))})"
            for i, j in places[:CELLS]
        ]
        numbers |= {f"probability {n}": float(given[i, j]) for n, (i, j) in enumerate(places[:CELLS], 1)}
        numbers |= {f"row {n}": int(sample.rows[i]) + 1 for n, (i, _) in enumerate(places[:CELLS], 1)}
        numbers |= {f"column {n}": sample.names[j] for n, (_, j) in enumerate(places[:CELLS], 1)}
        listed = f"{':' if len(places) <= CELLS else ', first of all'} {joined(named)}"
    many = len(places) > 1
    kept = f"{certain[column] - broken:,} of {count(certain[column], 'row')}"
    sentence = (
        f"{count(len(places), 'cell')} {'violate' if many else 'violates'} a rule that holds in nearly all rows, and "
        f"may be {'errors' if many else 'an error'}{of_rows(context, len(sample.cells))}{listed}. "
        f"{quoted(sample.values.bare[column])} is predicted correctly from the rest of the row in {kept}."
    )
    title = "Possible data errors" if many else "A possible data error"
    shown = [f"{certain[column] - broken:,}", f"{broken:,}"]
    lines = [("rule holds", float(certain[column] - broken), 0.0), ("violated", float(broken), 0.0)]
    return [_made(context, "cells", sentence, numbers, bars(lines, title, shown), "cells", title, rows=context.rows)]


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


# The finding about missing values.

LEAST_SHARE = 0.005  # of all cells; fewer missing values are not reported
SURE = 0.9


def missing(context: Context) -> list[Finding]:
    """Describe the missing values of all rows, and how many of them the chosen model predicts with certainty."""
    summary = context.sample.look
    share = summary.n_blank / (summary.n_rows * summary.n_columns)
    blank = np.isnan(context.sample.cells)
    if share < LEAST_SHARE or not blank.any():
        return []
    shares = 1.0 - summary.observed / summary.n_rows
    names = told_apart(summary.names)
    top = [int(j) for j in np.argsort(-shares, kind="stable")[:3] if shares[j] > 0.0]
    expected = context.fits.probabilities
    sure = float((np.maximum(expected, 1.0 - expected)[blank] > SURE).mean())
    numbers: dict[str, Number] = {"share": share, "sure": sure, "missing in the sample": int(blank.sum())}
    numbers |= {f"share of {names[j]}": float(shares[j]) for j in top}
    even = shares[top[0]] < 2.0 * share
    where = f"at most {percent(float(shares[top[0]]))} of a column ({quoted(names[top[0]])})"
    if not even:
        where = f"most in {joined([f'{quoted(names[j])} ({percent(float(shares[j]))})' for j in top])}"
    sentence = (
        f"{percent(share)} of the cells are missing, {where}. {percent(sure)} of the missing values can be predicted "
        f"from the rest of the row with a probability above 90%{of_rows(context, len(blank))}."
    )
    lines = [(names[j], float(shares[j]), 0.0) for j in top]
    drawing = bars(lines, "Columns with the most missing values.", [percent(value) for _, value, _ in lines])
    return [Finding("missing", sentence, numbers, drawing, "blanks", len(blank), summary.n_rows, "Missing values")]
