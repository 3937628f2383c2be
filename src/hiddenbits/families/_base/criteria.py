"""Information criteria, for the estimators whose likelihood is exact and whose parameters can be counted."""

from __future__ import annotations

import numpy as np

from hiddenbits.families._base.inputs import as_table
from hiddenbits.families._base.protocol import Estimator


def prior_of(estimator: Estimator) -> list[str]:
    """Return the settings of a prior that keep a fit from being one of maximum likelihood."""
    return [name for name in estimator._prior_settings or () if getattr(estimator, name) != 0.0]


def maximum_likelihood(estimator: Estimator, X: object, criterion: str) -> tuple[float, float]:
    """Return the log-likelihood of X and the rows it has; refuse a fit that has a prior, or no exact likelihood."""
    table = as_table(estimator, X, reset=False)
    if given := prior_of(estimator):
        wanted = ", ".join(f"{name}=0" for name in given)
        raise ValueError(
            f"{criterion} is defined for maximum likelihood, but this model was fitted with a prior. Fit with "
            f"{wanted}: model.without_prior().fit(X)."
        )
    weights = np.ones(table.shape[0]) if table.weights is None else table.weights
    scores = estimator.score_samples(table)
    if (kind := estimator.likelihood_) != "exact":
        raise ValueError(f"{criterion} needs an exact likelihood, but that of {estimator} is not exact ({kind}).")
    return float(weights @ scores), float(weights.sum())
