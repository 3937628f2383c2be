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
from hiddenbits.reporting.findings.words import among_rows, in_words, join
from hiddenbits.reporting.sample import blanks_follow
from hiddenbits.reporting.text import count, percent, quoted, times, told_apart

BY_CHANCE = 0.05  # expected number of pairs or rows that pass the test by chance
MAX_PAIRS, MAX_ROWS, MAX_CELLS = 2, 3, 3  # named in a sentence
MIN_DIFFERENCE = 0.02  # of the observed and the expected share of rows in which both columns are 1
N_SAMPLED, N_SAMPLED_SLOW = 2000, 1000  # rows sampled from the model; the second if likelihoods are estimates
TAIL_SHARE = 0.05  # share of the sampled rows in the tail
MAX_PROBABILITY = 0.01  # of the rarer value of a cell that the model predicts with certainty
MAX_ERROR_SHARE, MAX_ERROR_RATIO = 0.005, 0.1  # of a rule: errors / rows, and errors / errors without it


def pairs(context: Context) -> list[Finding]:
    """Name the pairs of columns that are both 1 more or less often than the model expects.

    A pair is named if its residual is so large that 0.05 such pairs are expected by chance; if both columns are 1, or
    are expected to be, in at least `least_rows` rows; and if these numbers differ by at least 2% of the rows. Pairs in
    which missing values of one column depend on the other are excluded: the model assumes values missing at random.
    """
    sample, model = context.sample, context.fits.best.model
    residuals = diagnostics.residual_pairs(model, sample.cells)
    limit = float(norm.isf(BY_CHANCE / 2.0 / max(1, len(residuals))))
    enough = np.maximum(residuals["observed"], residuals["expected"]) >= least_rows(len(sample.cells))
    column_of = {f"x{j}": j for j in range(len(sample.names))}
    first, second = ([column_of[name] for name in residuals[key]] for key in ("first", "second"))
    fair = ~blanks_follow(sample.cells)[first, second]
    enough &= np.abs(residuals["observed"] - residuals["expected"]) >= MIN_DIFFERENCE * residuals["rows"]
    named = residuals[(np.abs(residuals["residual"]) > limit) & enough & fair]
    if not len(named):
        return []
    phrases, lines, shares = [], [], []
    numbers: dict[str, Number] = {"pairs": len(named), "edge": limit}
    for number, pair in enumerate(named[:MAX_PAIRS], 1):
        a, b = (column_of[pair[key]] for key in ("first", "second"))
        n = float(pair["rows"])
        observed, expected = float(pair["observed"]) / n, float(pair["expected"]) / n
        phrases.append(
            f"{sample.values.both_one(a, b)} in {percent(observed)} of the rows"
            f"{' in which both are observed' if n < len(sample.cells) else ''}"
            f"{' where the model expects' if number == 1 else ' instead of'} {percent(expected)}"
        )
        lines += [(f"pair {number}", observed, 0.0), ("expected", expected, 0.0)]
        shares += [percent(observed), percent(expected)]
        numbers |= {f"first {number}": sample.names[a], f"second {number}": sample.names[b]}
        numbers |= {f"observed {number}": observed, f"expected {number}": expected}
        numbers[f"residual {number}"] = float(pair["residual"])
    many = f"{in_words(len(named)).capitalize()} pairs of columns are" if len(named) > 1 else "One pair of columns is"
    which = f". The {in_words(MAX_PAIRS)} with the largest residuals" if len(named) > MAX_PAIRS else ""
    sentence = (
        f"{many} associated in a way that this model does not explain"
        f"{among_rows(context, len(sample.cells))}{which}: {join(phrases)}."
    )
    title = "Pairs left unexplained" if len(named) > 1 else "A pair left unexplained"
    drawing = bars(lines, f"{title}: observed and expected shares of rows.", shares)
    return [_finding(context, "pairs", sentence, numbers, drawing, "pairs", title)]


def expected_as_low(context: Context) -> tuple[Floats, Floats]:
    """Return the log-likelihood of each row, and how many rows the model expects with one as low.

    Reference rows are sampled from the model, and get the missing values of real rows. The expected number is the share
    of reference rows below, times the number of rows; in the lowest 5% the share is extrapolated by an exponential.
    """
    sample, judge = context.sample, context.fits.outlier_model
    n, size = len(sample.cells), N_SAMPLED if context.fits.best.model._likelihood_kind == "exact" else N_SAMPLED_SLOW
    sampled = np.asarray(judge.sample(size, random_state=sample.seed), np.float64)
    blank = np.isnan(sample.cells)
    if blank.any():
        sampled[blank[np.random.default_rng([sample.seed, 5]).integers(0, n, size)]] = np.nan
    reference = np.sort(np.asarray(judge.score_samples(sampled), np.float64))
    scores = context.fits.scores
    start = reference[int(TAIL_SHARE * size)]
    slope = float(np.mean(start - reference[reference < start])) if (reference < start).any() else 1e-9
    below = np.searchsorted(reference, scores, side="right") / size
    tail = TAIL_SHARE * np.exp(-(start - np.minimum(scores, start)) / max(slope, 1e-9))
    return scores, np.asarray(n * np.where(scores < start, tail, np.maximum(below, TAIL_SHARE)))


def odd_rows(context: Context) -> list[Finding]:
    """Name the rows that are less likely than any row that the model would generate in a table of this size."""
    sample = context.sample
    scores, expected = expected_as_low(context)
    odd = np.flatnonzero(expected < BY_CHANCE)
    if not len(odd):
        return []
    odd = odd[np.argsort(scores[odd], kind="stable")]
    median = float(np.median(scores))
    ratio = median - float(scores[odd[0]])
    numbers: dict[str, Number] = {"rows": len(odd), "times less likely, ln": ratio}
    opening = f"{in_words(len(odd)).capitalize()} {'row does' if len(odd) == 1 else 'rows do'} not fit the model"
    listed = ""
    if context.rows:
        named = [_row_and_cells(context, int(i)) for i in odd[:MAX_ROWS]]
        numbers |= {f"row {n}": int(sample.rows[i]) + 1 for n, i in enumerate(odd[:MAX_ROWS], 1)}
        listed = f": {join([label + cells for label, cells in named])}"
        if len(odd) > MAX_ROWS:
            listed = f", among them {join([label + cells for label, cells in named])}"
    sentence = (
        f"{opening}{among_rows(context, len(sample.cells))}{listed}. "
        f"{'It' if len(odd) == 1 else 'The least likely'} is {times(ratio)} less likely than a typical row."
    )
    title = "An outlier" if len(odd) == 1 else "Outliers"
    drawing = histogram(scores, float(scores[odd].max()) + 1e-9, f"{title}: log-likelihood of the rows.")
    return [_finding(context, "odd_rows", sentence, numbers, drawing, "odd", title, rows=context.rows)]


def _row_and_cells(context: Context, i: int) -> tuple[str, str]:
    """Return the label of a row, and its two least probable cells, in parentheses."""
    label = row_label(context, i)
    bits, expected = context.sample.cells[i], context.fits.probabilities[i]
    given = np.where(np.isnan(bits), 1.0, np.where(bits == 1.0, expected, 1.0 - expected))
    columns = [int(j) for j in np.argsort(given, kind="stable")[:2] if given[j] < 0.2]
    if not columns:
        return label, ""
    values = [context.sample.values.has(j, bits[j]) for j in columns]
    cells = [f"{verb} {quoted(name)}" for verb, name in values]
    return label, f" ({join(cells)})"


def row_label(context: Context, i: int) -> str:
    """Return the label of a sampled row: its number in the table, from 1, and the first metadata column."""
    number = f"row {context.sample.rows[i] + 1:,}"
    labels = [values[i] for values in context.sample.beside.values()]
    return f"{number}, {quoted(labels[0])}" if labels and labels[0] else number


def possible_errors(context: Context) -> tuple[Floats, list[tuple[int, int]], list[int]]:
    """Return P(cell | rest of its row) of each cell, the possible errors, and the number of certain cells by column.

    An improbable cell is not evidence of an error: natural exceptions look the same. But if a column follows a nearly
    strict rule, the few cells that violate it are worth a check. A column follows such a rule if the model, given the
    rest of the row, predicts at least half of its cells with certainty (99%), and at most 0.5% of these wrongly. Always
    predicting the more common value must be wrong at least ten times as often, and in at least `least_rows` cells. The
    possible errors are the cells that are predicted with certainty, but wrongly; the least probable come first.
    """
    cells, expected = context.sample.cells, context.fits.probabilities
    observed = ~np.isnan(cells)
    probability = np.where(observed, np.where(cells == 1.0, expected, 1.0 - expected), 1.0)
    certain = observed & (np.minimum(expected, 1.0 - expected) < MAX_PROBABILITY)
    wrong = certain & (probability < 0.5)
    n, errors, ones = certain.sum(axis=0), wrong.sum(axis=0), ((cells == 1.0) & certain).sum(axis=0)
    rarer = np.minimum(ones, n - ones)
    strict = (2 * n >= observed.sum(axis=0)) & (errors <= MAX_ERROR_SHARE * n) & (errors <= MAX_ERROR_RATIO * rarer)
    strict &= (rarer >= least_rows(len(cells))) & (errors > 0)
    found = [(int(i), int(j)) for i, j in np.argwhere(wrong & strict)]
    found.sort(key=lambda place: (float(probability[place]), place))
    return probability, found, n.tolist()


def cells(context: Context) -> list[Finding]:
    """Name the cells that violate a nearly strict rule."""
    sample = context.sample
    given, errors, certain = possible_errors(context)
    if not errors:
        return []
    column = errors[0][1]
    broken = sum(j == column for _, j in errors)
    numbers: dict[str, Number] = {"cells": len(errors), "certain": certain[column], "broken": broken}
    listed = ""
    if context.rows:
        named = [
            f"{quoted(sample.values.bare[j])} of {row_label(context, i)} (observed "
            f"{sample.values.cell(j, sample.cells[i, j])}; by the rest of the row it is "
            f"{sample.values.cell(j, 1.0 - sample.cells[i, j])} with a probability of "
            f"{percent(1.0 - float(given[i, j]))})"
            for i, j in errors[:MAX_CELLS]
        ]
        numbers |= {f"probability {n}": float(given[i, j]) for n, (i, j) in enumerate(errors[:MAX_CELLS], 1)}
        numbers |= {f"row {n}": int(sample.rows[i]) + 1 for n, (i, _) in enumerate(errors[:MAX_CELLS], 1)}
        numbers |= {f"column {n}": sample.names[j] for n, (_, j) in enumerate(errors[:MAX_CELLS], 1)}
        listed = f"{':' if len(errors) <= MAX_CELLS else ', first of all'} {join(named)}"
    many = len(errors) > 1
    correct = f"{certain[column] - broken:,} of {count(certain[column], 'row')}"
    sentence = (
        f"{count(len(errors), 'cell')} {'violate' if many else 'violates'} a rule that holds in nearly all rows, and "
        f"may be {'errors' if many else 'an error'}{among_rows(context, len(sample.cells))}{listed}. "
        f"{quoted(sample.values.bare[column])} is predicted correctly from the rest of the row in {correct}."
    )
    title = "Possible data errors" if many else "A possible data error"
    shown = [f"{certain[column] - broken:,}", f"{broken:,}"]
    lines = [("rule holds", float(certain[column] - broken), 0.0), ("violated", float(broken), 0.0)]
    return [_finding(context, "cells", sentence, numbers, bars(lines, title, shown), "cells", title, rows=context.rows)]


def _finding(
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
    n, total = len(context.sample.cells), context.sample.summary.n_rows
    return Finding(kind, sentence, numbers, drawing, evidence, n, total, title, rows)  # type: ignore[arg-type]


# The finding about missing values.

MIN_MISSING_SHARE = 0.005  # of all cells; fewer missing values are not reported
MIN_CERTAINTY = 0.9  # probability with which a missing value is predicted


def missing(context: Context) -> list[Finding]:
    """Describe the missing values of all rows, and how many the chosen model predicts with certainty."""
    summary = context.sample.summary
    share = summary.n_blank / (summary.n_rows * summary.n_columns)
    blank = np.isnan(context.sample.cells)
    if share < MIN_MISSING_SHARE or not blank.any():
        return []
    shares = 1.0 - summary.observed / summary.n_rows
    names = told_apart(summary.names)
    top = [int(j) for j in np.argsort(-shares, kind="stable")[:3] if shares[j] > 0.0]
    expected = context.fits.probabilities
    sure = float((np.maximum(expected, 1.0 - expected)[blank] > MIN_CERTAINTY).mean())
    numbers: dict[str, Number] = {"share": share, "sure": sure, "missing in the sample": int(blank.sum())}
    numbers |= {f"share of {names[j]}": float(shares[j]) for j in top}
    spread_evenly = shares[top[0]] < 2.0 * share
    where = f"at most {percent(float(shares[top[0]]))} of a column ({quoted(names[top[0]])})"
    if not spread_evenly:
        where = f"most in {join([f'{quoted(names[j])} ({percent(float(shares[j]))})' for j in top])}"
    sentence = (
        f"{percent(share)} of the cells are missing, {where}. {percent(sure)} of the missing values can be predicted "
        f"from the rest of the row with a probability above 90%{among_rows(context, len(blank))}."
    )
    lines = [(names[j], float(shares[j]), 0.0) for j in top]
    drawing = bars(lines, "Columns with the most missing values.", [percent(value) for _, value, _ in lines])
    return [Finding("missing", sentence, numbers, drawing, "blanks", len(blank), summary.n_rows, "Missing values")]
