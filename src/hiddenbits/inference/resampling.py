"""Weights of bootstrap replicates: rows, or whole clusters within strata."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.hashing import keyed_rng

STREAM = 0xB007  # the address of these random numbers, next to others with the same seed


def replicate_weights(
    seed: int, number: int, base: Floats, clusters: Rows | None, strata: Rows | None, counts: bool
) -> Floats:
    """Return the weight of each row in one replicate; keyed by its number, so that replicates come in any order.

    Without clusters and strata rows are drawn with replacement, as many as there are (by their counts). Otherwise it is
    Rao and Wu's: of n clusters in a stratum, n - 1 are drawn with replacement, and weights grow by n / (n - 1).
    """
    rng = keyed_rng(seed, STREAM, number)
    if clusters is None and strata is None:
        if counts:
            return rng.multinomial(max(1, round(base.sum())), base / base.sum()).astype(np.float64)
        return base * rng.multinomial(len(base), np.full(len(base), 1.0 / len(base)))
    units = np.arange(len(base)) if clusters is None else clusters
    n_units = int(units.max()) + 1
    homes = np.zeros(n_units, np.int64)
    if strata is not None:
        homes[units] = strata
    factors = np.zeros(n_units)
    for stratum in np.unique(homes):
        inside = np.flatnonzero(homes == stratum)
        n = len(inside)
        factors[inside] = rng.multinomial(n - 1, np.full(n, 1.0 / n)) * n / (n - 1.0)
    return base * factors[units]


def check_design(clusters: Rows | None, strata: Rows | None) -> None:
    """Refuse clusters that lie in several strata, and strata with a single unit."""
    if clusters is not None and strata is not None:
        pairs = np.unique(np.stack([clusters, strata]), axis=1)
        if pairs.shape[1] > int(clusters.max()) + 1:
            raise ValueError("A cluster has rows in several strata. Clusters must lie within strata.")
        sizes = np.bincount(pairs[1])
    elif strata is not None:
        sizes = np.bincount(strata)
    elif clusters is not None:
        sizes = np.array([int(clusters.max()) + 1])
    else:
        return
    if sizes.min() < 2:
        unit = "row" if clusters is None else "cluster"
        raise ValueError(f"A stratum has a single {unit}, which says nothing about how they differ. Join strata.")
