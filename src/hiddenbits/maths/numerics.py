"""Small numerical functions that several models share, and the ranges and links that parameters declare."""

from __future__ import annotations

from functools import partial

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Link, Range
from hiddenbits.data.operands import run_of_ones, scratch

# The least distance of a probability from 0 and 1: far below what tables can estimate, far above rounding errors.
TINY = 1e-12
CHUNK_NUMBERS = 1 << 15  # of a tall array, processed together
LONG_ROW = 32  # length from which argmax is faster than the maximum of a transposed copy
LEAST_SCORE = -700.0  # its exponential still has full precision
LARGEST_LOGIT = float(np.log1p(-TINY) - np.log(TINY))


def are_probabilities(p: AnyArray, least: float = TINY / 10.0, most: float = 1.0 - TINY / 10.0) -> bool:
    """Whether all numbers are probabilities that a fit may end with, whose logs and quotients are accurate."""
    return bool(np.all((p >= least) & (p <= most)))


def are_shares(p: AnyArray) -> bool:
    """Whether numbers are positive probabilities that add up to 1 along the last axis."""
    return are_probabilities(p, most=1.0) and bool(np.all(np.abs(p.sum(axis=-1) - 1.0) <= 1e-9))


def are_counts(numbers: AnyArray) -> bool:
    """Whether numbers are whole, not negative, and exact as floats."""
    return bool(np.all((numbers >= 0.0) & (numbers <= 2.0**53) & (numbers == np.floor(numbers))))


def within(furthest: float) -> Range:
    """Return the range of numbers with an absolute value of at most `furthest`."""
    return Range(lambda a: bool(np.all(np.abs(a) <= furthest)), f"must lie within {furthest:g} of 0")


PROBABILITIES = Range(are_probabilities, "must lie between 0 and 1")
SHARES = Range(are_shares, "must be positive and add up to 1")
COUNTS = Range(are_counts, "must be counts")
FLAGS = Range(lambda a: bool(np.isin(a, (0.0, 1.0)).all()), "must be 0 or 1")


def clip_probability(p: AnyArray) -> Floats:
    """Return p clipped to [TINY, 1 - TINY], in place."""
    return np.minimum(np.maximum(p, TINY, out=p), 1.0 - TINY, out=p)  # a quarter of the time of np.clip on few numbers


def log_one_minus(p: Floats) -> Floats:
    """Return ln(1 - p), with one new array."""
    out = np.negative(p)
    return np.log1p(out, out=out)


def share_or(ones: AnyArray, observed: AnyArray, otherwise: AnyArray, weight: float) -> Floats:
    """Return ones / observed, and `otherwise` where nothing was observed; the result may reuse the memory of `ones`.

    Counts of observed cells may be differences of sums: a count below TINY times the total weight counts as zero.
    """
    has_data = observed > TINY * weight
    if has_data.all():
        np.divide(ones, observed, out=ones)
        return ones
    return np.where(has_data, ones / np.where(has_data, observed, 1.0), otherwise)


def class_shares(counts: Floats, weight: float) -> Floats:
    """Return the share of each class in the weight of all rows, at least TINY."""
    shares = np.maximum(counts / weight, TINY)
    return np.asarray(shares / shares.sum())


def shares_at(logs: Floats) -> Floats:
    """Return the shares with these logs, normalized along the last axis, at least TINY."""
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
    shares = np.maximum(shares / shares.sum(axis=-1, keepdims=True), TINY)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def sigmoid(logits: Floats) -> Floats:
    """Return 1 / (1 + exp(-z)); for |z| up to 700. Three times as fast as scipy's expit on long arrays."""
    p = np.negative(logits)
    np.exp(p, out=p)
    p += 1.0
    return np.reciprocal(p, out=p)


def probabilities_at(logits: Floats) -> Floats:
    """Return the probabilities with these logits, of any size."""
    return clip_probability(sigmoid(np.clip(logits, -LARGEST_LOGIT, LARGEST_LOGIT)))


def reals(furthest: float) -> Link:
    """Return the identity link for numbers that are clipped to an absolute value of at most `furthest`."""
    return Link(np.array, partial(np.clip, a_min=-furthest, a_max=furthest))


LOGITS = Link(lambda p: np.log(p) - log_one_minus(p), probabilities_at)
LOGS = Link(np.log, shares_at)  # of shares
LOG_RATIOS = Link(lambda p: np.log(p[1:] / p[0]), lambda z: shares_at(np.append(0.0, z)))  # to the first share


def softplus(a: Floats) -> Floats:
    """Return ln(1 + exp a), for any a."""
    return np.asarray(np.maximum(a, 0.0) + np.log1p(np.exp(-np.abs(a))))


def softplus_and_sigmoid(a: Floats) -> tuple[Floats, Floats]:
    """Return ln(1 + exp a) and its slope, for any a, with one exponential for both.

    The absolute error of the logarithm is about 1e-16; its relative error may be larger. log1p takes 5 times as long.
    """
    small = np.abs(a)
    np.negative(small, out=small)
    np.exp(small, out=small)
    slope = np.where(a >= 0.0, 1.0, small)
    small += 1.0
    slope /= small
    np.log(small, out=small)
    small += np.maximum(a, 0.0)
    return small, slope


def scores_may_vanish(at_one: Floats, of_zeros: Floats) -> bool:
    """Whether a row may have a score below `LEAST_SCORE`, whose exponential loses precision.

    Scores are logs of probabilities, x.a + c for a binary row x: `at_one` is a (d, K), the contribution of a 1, and
    `of_zeros` is c (K), the score of a row of 0s. Missing values only increase scores. True beyond a thousand columns.
    """
    if len(at_one) * np.log(2.0) > -LEAST_SCORE:
        return True
    return bool((np.minimum(at_one, 0.0).sum(axis=0) + of_zeros).min() < LEAST_SCORE)


def softmax_rows(
    scores: Floats,
    offset: Floats | None = None,
    weights: Floats | None = None,
    *,
    shift: bool = True,
) -> Floats:
    """Turn each row of scores into probabilities, in place; return the log of each row's sum.

    r_nk = w_n exp(s_nk + c_nk) / Sum_k exp(s_nk + c_nk), with weights w and an offset c that may be a single row. Uses
    ln Sum_k exp(s_k) = m + ln Sum_k exp(s_k - m), m the row's largest score. Some rows are processed at a time, in the
    cache. Without `shift`, m = 0, which is accurate if no score is above 0 or below -700 (`scores_may_vanish`).
    """
    n_rows, width = scores.shape
    ones, log_sum = run_of_ones(width, scores.dtype), np.empty(n_rows)
    step = max(1, CHUNK_NUMBERS // max(width, 1))
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        s, log_total = scores[rows], log_sum[rows]
        if offset is not None:
            s += offset if len(offset) == 1 else offset[rows]
        largest = _row_max(s) if shift else None
        if largest is not None:
            s -= largest[:, None]
        np.exp(s, out=s)
        total = s @ ones
        np.log(total, out=log_total)
        if largest is not None:
            log_total += largest
        np.divide(1.0 if weights is None else weights[rows], total, out=total)
        s *= total[:, None]
    return log_sum


def _row_max(scores: Floats) -> Floats:
    """Return the maximum of each row.

    NumPy's reduction over a short last axis is 4 times slower than one over the first axis of a transposed copy; for
    long rows argmax is faster.
    """
    n_rows, width = scores.shape
    if width >= LONG_ROW:
        positions = scores.argmax(axis=1)
        positions += np.arange(0, scores.size, width)
        return np.asarray(scores.ravel().take(positions))
    transposed = scratch("row max", (width, n_rows), scores.dtype)
    np.copyto(transposed, scores.T)
    return np.asarray(transposed.max(axis=0))


def bic(log_likelihood: float, n_parameters: int, weight: float) -> float:
    """Return the Bayesian information criterion, -2 ln L + p ln N: lower is better."""
    return float(-2.0 * log_likelihood + n_parameters * np.log(weight))
