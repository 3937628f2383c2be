"""Information criteria, for the estimators whose likelihood is exact and whose parameters can be counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.estimators.tables import as_table
from hiddenbits.models.base import bic


class BicMixin:
    """Adds `bic` to an estimator that has `score_samples` and `n_parameters_`."""

    n_parameters_: Any

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion on X: lower is better.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.
        """
        check_is_fitted(self, "params_")
        table = as_table(self, X, reset=False)
        weights = np.ones(table.shape[0]) if table.weights is None else table.weights
        scores = self.score_samples(table)  # type: ignore[attr-defined]
        return bic(float(weights @ scores), self.n_parameters_, float(weights.sum()))
