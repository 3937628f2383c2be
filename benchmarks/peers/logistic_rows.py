"""One judge for all programs that fit x ~ N(0, I), P(bit = 1 | x) = sigma(w.x + b): held-out likelihood, along their paths.

The integral over x is on a grid that is fine enough (2 dimensions), or importance sampled with the same draws for everybody.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hiddenbits
from hiddenbits.families.logistic_pca.params import LogisticParams

Floats = NDArray[np.float64]
SEED, DRAWS = 0, 500
REFIT_ROWS, REFIT_STEPS = 3_000, 60


class Judge:
    """Scores held-out rows under any loadings and intercepts."""

    def __init__(self, train: Any, test: Any, q: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one pass is no fit; it makes a model that any parameters can be put into
            shell = hiddenbits.LogisticPCA(q, refine=False, max_iter=1, n_draws=DRAWS, random_state=SEED)
            self.shell = shell.fit(train)
        self.train, self.test = train, test

    def model(self, W: Floats, b: Floats) -> hiddenbits.LogisticPCA:
        self.shell._params = LogisticParams(W, b, np.zeros(len(b)))
        return self.shell

    def rows(self, W: Floats, b: Floats) -> tuple[Floats, Floats, str]:
        """Return ln P of each held-out row, its standard error, and what kind of figure it is."""
        model = self.model(W, b)
        with hiddenbits.run_on(n_jobs=2):
            found, error = model.score_samples(self.test, return_std=True)
        return found, error, model._likelihood_kind

    def best_gaussian(
        self, basis: Floats, effects: Floats, center: Floats, covariance: Floats
    ) -> tuple[Floats, Floats]:
        """Return W and b for activations effects + basis y, y ~ N(c, S), with c and S refitted to the training rows by EM.

        With y = c + L x and x ~ N(0, I), the posteriors of x say how to move c and S = LL'; basis and effects stay.
        """
        rows = self.train[:REFIT_ROWS]
        for _ in range(REFIT_STEPS):
            L = np.linalg.cholesky(covariance)
            with hiddenbits.run_on(n_jobs=2):
                means, spreads = self.model(basis @ L, effects + basis @ center).transform(rows, return_cov=True)
            middle = means.mean(axis=0)
            second = spreads.mean(axis=0) + means.T @ means / len(rows) - np.outer(middle, middle)
            center, covariance = center + L @ middle, L @ second @ L.T
        return basis @ np.linalg.cholesky(covariance), effects + basis @ center
