"""Information criteria, for the estimators whose likelihood is exact and whose parameters can be counted."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from hiddenbits.families._base.inputs import as_table
from hiddenbits.maths.numerics import bic


class CriteriaMixin:
    """Adds `aic` and `bic` to an estimator that has `score_samples` and `n_parameters_`."""

    n_parameters_: Any
    _prior_settings: ClassVar[tuple[str, ...]] = ("prior_strength",)  # a fit is of maximum likelihood where these are 0

    def without_prior(self) -> Self:
        """Return a copy, not fitted, whose fit is one of maximum likelihood, as `aic` and `bic` need it."""
        copy: Self = clone(self).set_params(**dict.fromkeys(self._prior_settings, 0.0))
        return copy

    def aic(self, X: object) -> float:
        """Return Akaike's information criterion on X, -2 ln L + 2 p: lower is better.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        log_likelihood, _ = self._at_maximum_likelihood(X, "AIC")
        return -2.0 * log_likelihood + 2.0 * float(self.n_parameters_)

    def bic(self, X: object) -> float:
        """Return the Bayesian information criterion on X, -2 ln L + p ln N: lower is better.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        log_likelihood, weight = self._at_maximum_likelihood(X, "BIC")
        return bic(log_likelihood, self.n_parameters_, weight)

    def _at_maximum_likelihood(self, X: object, criterion: str) -> tuple[float, float]:
        """Return the log-likelihood of X and the rows it has; refuse a fit that has a prior, or no exact likelihood."""
        check_is_fitted(self, "params_")
        if given := [name for name in self._prior_settings if getattr(self, name) != 0.0]:
            wanted = ", ".join(f"{name}=0" for name in given)
            raise ValueError(
                f"{criterion} is defined for maximum likelihood, but this model was fitted with a prior. Fit with "
                f"{wanted}: model.without_prior().fit(X)."
            )
        table = as_table(self, X, reset=False)
        weights = np.ones(table.shape[0]) if table.weights is None else table.weights
        scores = self.score_samples(table)  # type: ignore[attr-defined]
        if (kind := self.likelihood_) != "exact":  # type: ignore[attr-defined]
            raise ValueError(f"{criterion} needs an exact likelihood, but that of {self} is not exact ({kind}).")
        return float(weights @ scores), float(weights.sum())
