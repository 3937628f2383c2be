"""A mixture without its smallest classes, under which odd rows are odd.

A mixture may spend a class on one or two odd rows, which are then likely: the class vouches for its own rows. So rows
are scored under the classes that hold at least 5 rows: P(x) = Sum_k w_k Prod_j p_kj^x_j (1 - p_kj)^(1 - x_j) over the
observed bits, with weights w that add up to 1 again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from hiddenbits.array_types import Floats

LEAST = 5  # rows of a class


class CommonKinds:
    """The classes of a fitted mixture that hold at least 5 of the rows it was fitted to."""

    def __init__(self, model: Any, n_rows: int) -> None:
        weights = np.asarray(model.weights_, np.float64)
        kept = weights * n_rows >= min(LEAST, weights.max() * n_rows)
        self.weights = weights[kept] / weights[kept].sum()
        self.shares = np.clip(np.asarray(model.probabilities_, np.float64)[kept], 1e-12, 1.0 - 1e-12)

    def score_samples(self, cells: Floats) -> Floats:
        """Return the log-likelihood of the observed cells of each row."""
        zeros = np.where(np.isnan(cells), 0.0, 1.0 - np.nan_to_num(cells))
        logs = np.nan_to_num(cells) @ np.log(self.shares).T + zeros @ np.log1p(-self.shares).T
        return np.asarray(logsumexp(logs + np.log(self.weights), axis=1))

    def sample(self, n_samples: int, *, random_state: int) -> Floats:
        """Return rows drawn from these classes."""
        rng = np.random.default_rng([random_state, 6])
        kinds = rng.choice(len(self.weights), n_samples, p=self.weights)
        return np.asarray(rng.random((n_samples, self.shares.shape[1])) < self.shares[kinds], np.float64)
