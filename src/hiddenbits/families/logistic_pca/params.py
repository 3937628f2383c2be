"""Parameters and statistics of logistic PCA; letters and shapes are in `model.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Params, WeightedSums
from hiddenbits.maths.gauss_hermite import Growth, Rule, growth_of_bits, resolving_grid
from hiddenbits.maths.packed_symmetric import packed_size

COLLAPSED_NORM = 0.1  # a dimension whose loadings have a smaller norm collapsed because the bound is loose
REVIVED_LOADING = 2.0  # the largest loading of a dimension after it is rescaled
UNDIRECTED_LOADING = 1e-6  # loadings below this are rounding errors: they have no direction
LARGEST_PARAMETER = 1e6  # larger loadings are no useful model, and their squares lose precision


@dataclass(frozen=True, eq=False)
class LogisticParams(Params):
    """W, b, and the center of the prior of b."""

    loadings: Floats
    intercepts: Floats
    center: Floats

    def with_joint(self, joint: Floats) -> LogisticParams:
        """Return the parameters with (W, b) = `joint`."""
        return LogisticParams(np.ascontiguousarray(joint[:, :-1]), joint[:, -1].copy(), self.center)

    def revived(self) -> LogisticParams:
        """Return the parameters with collapsed dimensions rescaled, as the start of a refinement.

        Where 1s are rare the bound is so loose that its maximum has dimensions with loadings near 0, although better
        solutions use them; loadings of exactly 0 are a stationary point. Small loadings often still have a direction.
        If only rounding errors are left, a random direction is used, the same for every rotation of the loadings.
        """
        rotation = np.linalg.svd(np.linalg.qr(self.loadings, mode="r"))[2]  # W'W would square small loadings
        loadings = self.loadings @ rotation.T
        sizes, largest = np.sqrt((loadings**2).sum(axis=0)), np.abs(loadings).max(axis=0)
        collapsed = np.flatnonzero(sizes < COLLAPSED_NORM)
        if not collapsed.size or len(collapsed) >= len(loadings):
            return self
        undirected = collapsed[largest[collapsed] < UNDIRECTED_LOADING]
        loadings[:, undirected] = np.random.default_rng(0).standard_normal((len(loadings), len(undirected)))
        others = np.linalg.qr(np.delete(loadings, undirected, axis=1))[0]
        loadings[:, undirected] -= others @ (others.T @ loadings[:, undirected])
        peaks = np.abs(loadings[:, collapsed]).max(axis=0)
        peaks[peaks == 0.0] = 1.0  # with more dimensions than columns some have only zeros
        loadings[:, collapsed] *= REVIVED_LOADING / peaks
        return replace(self, loadings=loadings)

    @cached_property
    def joint(self) -> Floats:
        """Return w^, (d, q + 1)."""
        return np.column_stack([self.loadings, self.intercepts])

    @property
    def growth(self) -> Growth:
        """Return the function that the spacing of a grid depends on."""
        return partial(growth_of_bits, self.loadings, self.intercepts)

    @cached_property
    def grid(self) -> Rule | None:
        """Return a grid on which integrals over x are exact; None if it would need too many nodes."""
        return resolving_grid(self.loadings, self.growth, self.loadings)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.intercepts)

    @property
    def n_components(self) -> int:
        """Number of dimensions, q."""
        return int(self.loadings.shape[1])

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if self.loadings.ndim != 2 or self.loadings.shape[1] == 0:
            return "loadings must have shape (d, q)"
        d = len(self.loadings)
        if self.intercepts.shape != (d,) or self.center.shape != (d,):
            return "intercepts and center must have one number for each column"
        if not all(np.all(np.abs(a) <= LARGEST_PARAMETER) for a in (self.joint, self.center)):
            return f"loadings and intercepts must lie within {LARGEST_PARAMETER:g} of 0"
        return None


@dataclass(frozen=True, eq=False)
class LogisticStats(WeightedSums):
    """Weighted sums over rows: the bound, and the statistics for the update of each column.

    Attributes
    ----------
    bound, weight : 0-d arrays
        Weighted bound of the log-likelihood, and weight.
    moments : ndarray of shape (d, p)
        Sum kappa S in the variational stage, Sum E[sigma'] S in the refinement.
    linear : ndarray of shape (d, q + 1)
        Sum r x^, r = t - 1/2; in the refinement the gradient of w^.
    """

    bound: Floats
    weight: Floats
    moments: Floats
    linear: Floats


def canonical(params: LogisticParams) -> LogisticParams:
    """Return the same model in canonical orientation.

    W = U S V' -> U S: the columns of W are orthogonal and ordered by size, and the largest entry of each is
    positive. The prior of x does not change under rotation, so the distribution of the data does not change either.
    """
    U, S, _ = np.linalg.svd(params.loadings, full_matrices=False)
    W = np.zeros_like(params.loadings)
    W[:, : len(S)] = U * S
    largest = np.abs(W).argmax(axis=0)
    W *= np.where(W[largest, np.arange(W.shape[1])] < 0, -1.0, 1.0)
    return replace(params, loadings=W)


def params_mismatch(n_components: int, params: LogisticParams) -> str | None:
    """Return how valid parameters disagree with the number of dimensions, or None."""
    q = params.n_components
    return None if n_components == q else f"it has {q} dimensions where {n_components} are declared"


def stats_flaw(stats: LogisticStats, params: LogisticParams) -> str | None:
    """Return what makes statistics invalid for these parameters, or None."""
    d, q = params.loadings.shape
    if stats.moments.shape != (d, packed_size(q + 1)) or stats.linear.shape != (d, q + 1):
        return "the statistics have the wrong shapes"
    if stats.bound.shape != ():
        return "the statistics have the wrong shapes"
    if stats.weight.shape != () or stats.weight <= 0:
        return "the statistics have no weight"
    # The last number of a packed matrix is its last diagonal cell: Sum kappa, at most a quarter of the weight.
    total = stats.moments[:, -1]
    furthest = LARGEST_PARAMETER * max(1.0, float(stats.weight))
    if (total < 0).any() or (total > (0.25 + 1e-6) * stats.weight).any() or np.abs(stats.linear).max() > furthest:
        return "the statistics are not those of rows"
    return None
