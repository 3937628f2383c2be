"""The log-likelihood of each row, its error, and differences between models on the same rows."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from hiddenbits.array_types import Floats
from hiddenbits.evaluate.measures import Estimate, Ratio
from hiddenbits.tables import Table


@dataclass(frozen=True, eq=False)
class RowScores:
    """The score of each row under a model.

    Attributes
    ----------
    values : ndarray of shape (rows,)
        Log-likelihoods in nats, or losses of hidden cells.
    errors : ndarray of shape (rows,)
        Monte-Carlo standard error of each if it is an estimate; otherwise 0.
    common : float
        Standard error that all rows share, such as that of ln Z.
    kind : str
        "exact", "bound" or "estimate".
    """

    values: Floats
    errors: Floats
    common: float = 0.0
    kind: str = "exact"


def row_scores(model: BaseEstimator, table: Table) -> RowScores:
    """Return the log-likelihood of each row, with its error if the estimator knows it."""
    if not hasattr(model, "_likelihood_kind"):  # scikit-learn's own: closed-form densities of rows without blanks
        values = np.asarray(model.score_samples(table.to_float()), np.float64)
        return RowScores(values, np.zeros(len(values)))
    kind = str(model._likelihood_kind)
    if "return_std" in inspect.signature(model.score_samples).parameters:
        values, errors = model.score_samples(table, return_std=True)
    elif hasattr(model, "score_with_error"):
        values, errors = model.score_with_error(table)
    else:
        values = model.score_samples(table)
        errors = np.zeros(len(values))
        kind = str(model._likelihood_kind)  # read after scoring: a combination machine computes ln Z with the first row
    return RowScores(values, errors, float(getattr(model, "log_partition_error_", 0.0)), kind)


def joined(parts: list[RowScores]) -> RowScores:
    """Concatenate the rows of several splits; the kind is that of the least exact."""
    kinds = [part.kind for part in parts]
    worst = next(kind for kind in ("estimate", "bound", "exact") if kind in kinds)
    n = sum(len(part.values) for part in parts)
    common = sum(part.common * len(part.values) for part in parts) / n
    values, errors = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "errors"))
    return RowScores(values, errors, common, worst)


def mean_of(scores: RowScores, weights: Floats, per: Floats | None = None) -> Estimate:
    """Return the mean over rows, or with `per` (the cells of each row) over cells."""
    ratio = Ratio()
    ratio.add(scores.values, np.ones(len(weights)) if per is None else per, weights)
    return ratio.figure(scores.kind)


def chance(scores: RowScores, weights: Floats) -> tuple[float, float]:
    """Return the Monte-Carlo standard error of the mean, and by how much estimates are too low on average.

    The log of an unbiased estimate is low by half of its variance, to first order.
    """
    share = weights / weights.sum()
    return float(np.hypot(np.sqrt(share**2 @ scores.errors**2), scores.common)), float(share @ scores.errors**2 / 2.0)


def difference(a: RowScores, b: RowScores, weights: Floats, per: Floats | None = None) -> tuple[float, float]:
    """Return the mean of a - b over the same rows, and its standard error.

    Rows are paired, so what makes a row hard for every model does not count as error. The scatter of the rows already
    includes their own Monte-Carlo errors; the errors that all rows share are added.
    """
    apart = RowScores(a.values - b.values, a.errors, 0.0, "exact")
    found = mean_of(apart, weights, per)
    return found.value, float(np.hypot(found.standard_error, np.hypot(a.common, b.common)))


def apart_from_best(
    scores: Sequence[RowScores | None], weights: Floats, per: Floats | None = None
) -> list[tuple[float, float] | None]:
    """Return the difference of each from the one with the highest mean, and its standard error; None if it failed."""
    means = [-np.inf if one is None else mean_of(one, weights, per).value for one in scores]
    at = int(np.argmax(means))
    best = scores[at]
    if best is None:
        return [None for _ in scores]
    return [
        None if one is None else (0.0, 0.0) if place == at else difference(one, best, weights, per)
        for place, one in enumerate(scores)
    ]


def simplest(apart: Sequence[tuple[float, float] | None], parameters: Sequence[float], n_errors: float) -> int | None:
    """Return the index of the simplest of those that cannot be distinguished from the best; None if all failed.

    This is the one rule that chooses sizes and families. Those within `n_errors` standard errors of the paired
    difference are tied with the best; the simplest has the fewest free parameters. If these are equal, the first wins.
    """
    even = [place for place, found in enumerate(apart) if found is not None and -found[0] <= n_errors * found[1]]
    return min(even, key=lambda place: parameters[place], default=None)
