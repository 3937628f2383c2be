"""Columns of counts: a Poisson distribution at each node, ln p(x | k) = x ln rate_k - rate_k - ln x!.

The prior of strength s counts as s rows with the mean of the table: s Sum_k [ mean ln rate_k - rate_k ].
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from hiddenbits.array_types import Floats

RATE_FLOOR = 1e-9  # smallest rate, as a share of the mean of the table: a node without events has a finite ln rate
MAX_LOG_RATE = 40.0  # as a coordinate of the extrapolation
_LOG_FACTORIALS = gammaln(np.arange(1024) + 1.0)


def log_factorials(counts: Floats) -> Floats:
    """Return ln x! of each cell; from a table if counts are small, which is ten times faster."""
    if counts.max(initial=0.0) < len(_LOG_FACTORIALS):
        return np.asarray(_LOG_FACTORIALS[counts.astype(np.intp)])
    return np.asarray(gammaln(counts + 1.0))


def updated_rates(
    events: Floats, cells: Floats, prior_means: Floats, prior_strength: float, previous: Floats
) -> Floats:
    """Return (events + s mean) / (cells + s); rates stay where there is neither a row nor a prior."""
    total = np.broadcast_to(cells + prior_strength, events.shape)
    rates = (events + prior_strength * prior_means[:, None]) / np.where(total > 0.0, total, 1.0)
    return with_floor(np.where(total > 0.0, rates, previous), prior_means)


def with_floor(rates: Floats, prior_means: Floats) -> Floats:
    """Return rates of at least the floor."""
    return np.maximum(rates, RATE_FLOOR * prior_means[:, None])


def log_prior(rates: Floats, prior_means: Floats) -> float:
    """Return the log prior of strength 1, up to a constant."""
    return float((prior_means[:, None] * np.log(rates) - rates).sum())


def from_vector(vector: Floats, prior_means: Floats, n_nodes: int) -> Floats:
    """Return the rates at any logs of rates."""
    logs = np.minimum(vector, MAX_LOG_RATE).reshape(len(prior_means), n_nodes)
    return with_floor(np.exp(logs), prior_means)
