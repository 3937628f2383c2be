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
class RowLogLikelihoods:
    """The log-likelihood of each row under a model.

    Attributes
    ----------
    values : ndarray of shape (rows,)
        Log-likelihoods in nats, or minus the log-losses of held-out cells.
    errors : ndarray of shape (rows,)
        Monte-Carlo standard errors if the values are estimates; otherwise 0.
    common : float
        Standard error that all rows share, such as that of ln Z.
    kind : str
        "exact", "bound" or "estimate".
    """

    values: Floats
    errors: Floats
    common: float = 0.0
    kind: str = "exact"


def log_likelihoods(model: BaseEstimator, table: Table) -> RowLogLikelihoods:
    """Return the log-likelihood of each row, with its error if the estimator returns one."""
    if not hasattr(model, "_likelihood_kind"):  # an estimator of scikit-learn: closed-form densities of complete rows
        values = np.asarray(model.score_samples(table.to_float()), np.float64)
        return RowLogLikelihoods(values, np.zeros(len(values)))
    kind = str(model._likelihood_kind)
    if "return_std" in inspect.signature(model.score_samples).parameters:
        values, errors = model.score_samples(table, return_std=True)
    elif hasattr(model, "score_with_error"):
        values, errors = model.score_with_error(table)
    else:
        values = model.score_samples(table)
        errors = np.zeros(len(values))
        kind = str(model._likelihood_kind)  # only now: a combination machine computes ln Z when it scores the first row
    return RowLogLikelihoods(values, errors, float(getattr(model, "log_partition_error_", 0.0)), kind)


def concat_rows(parts: list[RowLogLikelihoods]) -> RowLogLikelihoods:
    """Concatenate the rows of several splits; the kind is the least exact one."""
    kinds = [part.kind for part in parts]
    least_exact = next(kind for kind in ("estimate", "bound", "exact") if kind in kinds)
    n = sum(len(part.values) for part in parts)
    common = sum(part.common * len(part.values) for part in parts) / n
    values, errors = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "errors"))
    return RowLogLikelihoods(values, errors, common, least_exact)


def mean_of(scores: RowLogLikelihoods, weights: Floats, cells: Floats | None = None) -> Estimate:
    """Return the mean over rows, or over cells if the number of cells in each row is given."""
    ratio = Ratio()
    ratio.add(scores.values, np.ones(len(weights)) if cells is None else cells, weights)
    return ratio.estimate(scores.kind)


def error_and_bias(scores: RowLogLikelihoods, weights: Floats) -> tuple[float, float]:
    """Return the Monte-Carlo standard error of the mean, and how much too low the mean is on average.

    The log of an unbiased estimate is too low by half of its variance, to first order.
    """
    share = weights / weights.sum()
    return float(np.hypot(np.sqrt(share**2 @ scores.errors**2), scores.common)), float(share @ scores.errors**2 / 2.0)


def difference(
    a: RowLogLikelihoods, b: RowLogLikelihoods, weights: Floats, cells: Floats | None = None
) -> tuple[float, float]:
    """Return the mean of a - b over the same rows, and its standard error.

    Rows are paired, so rows that are hard for every model do not add to the error. The variance over rows already
    includes the Monte-Carlo error of each row; the errors that all rows share are added.
    """
    paired = RowLogLikelihoods(a.values - b.values, a.errors, 0.0, "exact")
    mean = mean_of(paired, weights, cells)
    return mean.value, float(np.hypot(mean.standard_error, np.hypot(a.common, b.common)))


def gaps_to_best(
    scores: Sequence[RowLogLikelihoods | None], weights: Floats, cells: Floats | None = None
) -> list[tuple[float, float] | None]:
    """Return the difference of each model from the best and its standard error; None if its fit failed."""
    means = [-np.inf if rows is None else mean_of(rows, weights, cells).value for rows in scores]
    best = scores[int(np.argmax(means))]
    if best is None:
        return [None for _ in scores]
    return [
        None if rows is None else (0.0, 0.0) if rows is best else difference(rows, best, weights, cells)
        for rows in scores
    ]


def simplest(gaps: Sequence[tuple[float, float] | None], n_parameters: Sequence[float], n_errors: float) -> int | None:
    """Return the index of the simplest model that cannot be distinguished from the best; None if all failed.

    The same rule chooses sizes and families. Models within `n_errors` standard errors of the paired difference are tied
    with the best; the simplest has the fewest free parameters, and is the first if several have as few.
    """
    tied = [i for i, gap in enumerate(gaps) if gap is not None and -gap[0] <= n_errors * gap[1]]
    return min(tied, key=lambda i: n_parameters[i], default=None)
