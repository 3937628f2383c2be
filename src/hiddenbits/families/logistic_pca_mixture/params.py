"""What a mixture of logistic-PCA maps learns, adds up and remembers: arrays of `logistic_pca/params.py`, one a map.

Letters and shapes are in `model.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.data.declared import Params, Sums
from hiddenbits.families.logistic_pca.params import (
    LogisticParams,
    LogisticStats,
    canonical,
    params_mismatch,
    stats_flaw,
)
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.numerics import are_shares


@dataclass(frozen=True, eq=False)
class MapsParams(Params):
    """Shares and (W, b) of the maps, the centre of b's prior, the stage of the fit, and the steps that a polish tries.

    `stage` and `steps` are those of `LogisticParams`; `steps` has shape (K, 0, q + 1) where no step is under way.
    """

    weights: Floats
    joints: Floats
    centre: Floats
    stage: Floats
    steps: Floats

    @classmethod
    def of(cls, weights: Floats, maps: Sequence[LogisticParams]) -> MapsParams:
        """Return maps with these shares; all have the same centre and stage."""
        joints, steps = np.stack([one.joint for one in maps]), np.stack([one.step for one in maps])
        return cls(weights, joints, maps[0].centre, maps[0].stage, steps)

    @cached_property
    def maps(self) -> tuple[LogisticParams, ...]:
        """Return each map by itself."""
        return tuple(
            LogisticParams(np.ascontiguousarray(joint[:, :-1]), joint[:, -1].copy(), self.centre, self.stage, step)
            for joint, step in zip(self.joints, self.steps, strict=True)
        )

    def at_stage(self, stage: float) -> MapsParams:
        """Return the same maps at another stage, with no step under way."""
        return MapsParams.of(self.weights, [one.at_stage(stage) for one in self.maps])

    @property
    def trying(self) -> bool:
        """Whether Newton steps are being measured."""
        return bool(self.steps.shape[1])

    @property
    def n_maps(self) -> int:
        """Number of maps, K."""
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.centre)

    @property
    def n_components(self) -> int:
        """Number of dimensions of each map, q."""
        return int(self.joints.shape[2]) - 1

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        pi, joints, steps = self.weights, self.joints, self.steps
        if pi.ndim != 1 or joints.ndim != 3 or steps.ndim != 3 or len(pi) == 0 or joints.shape[2] < 2:
            return "weights, joints and steps must have shapes (K,), (K, d, q + 1) and (K, 0 or d, q + 1)"
        if not len(pi) == len(joints) == len(steps):
            return "there must be as many joints and steps as weights"
        if not are_shares(pi):
            return "weights must be positive and add up to 1"
        return next((flaw for one in self.maps if (flaw := one.flaw())), None)


@dataclass(frozen=True, eq=False)
class MapsStats(Sums):
    """Sums over rows: the bound, the weight, the expected rows of each map, and each map's `LogisticStats`.

    While a step is measured the bound is only the part without the cells.
    """

    bound: Floats
    weight: Floats
    classes: Floats
    moments: Floats
    linear: Floats
    softplus: Floats

    @classmethod
    def of(cls, bound: float, weight: float, parts: Sequence[LogisticStats]) -> MapsStats:
        """Put the statistics of the maps together."""
        return cls(
            np.asarray(bound),
            np.asarray(weight),
            np.array([float(part.weight) for part in parts]),
            *(np.stack([getattr(part, name) for part in parts]) for name in ("moments", "linear", "softplus")),
        )

    @property
    def maps(self) -> list[LogisticStats]:
        """Return the statistics of each map by itself; the bound belongs to all of them, and is 0 here."""
        arrays = zip(self.classes, self.moments, self.linear, self.softplus, strict=True)
        return [LogisticStats(np.zeros(()), np.asarray(weight), *others) for weight, *others in arrays]


@dataclass(frozen=True, eq=False)
class MapsPosterior(Arrays):
    """The posterior of each row: R (rows, K), and the Gaussian of each map, means (K, rows, q) and covariances."""

    shares: Floats
    means: Floats
    covariances: Floats

    @classmethod
    def of(cls, shares: Floats, posteriors: Sequence[Posterior]) -> MapsPosterior:
        """Put the posteriors of the maps together."""
        means, covariances = ([getattr(one, name) for one in posteriors] for name in ("mean", "covariance"))
        return cls(shares, np.stack(means), np.stack(covariances))

    def extended(self, weights: Floats) -> Floats:
        """Return each map's x^ = (mean, 1) times a row's weight there, side by side (rows, K (q + 1))."""
        K, n, q = self.means.shape
        out = np.empty((n, K, q + 1))
        np.multiply(self.means.swapaxes(0, 1), weights[:, :, None], out=out[:, :, :q])
        out[:, :, q] = weights
        return out.reshape(n, -1)

    @property
    def maps(self) -> list[Posterior]:
        """Return the Gaussian posteriors of each map."""
        return [Posterior(mean, covariance) for mean, covariance in zip(self.means, self.covariances, strict=True)]


def canonical_maps(params: MapsParams) -> MapsParams:
    """Return the same model in the one form that everybody can agree on: the largest map first, each one canonical."""
    order = np.argsort(-params.weights, kind="stable")
    return MapsParams.of(params.weights[order], [canonical(params.maps[k]) for k in order])


def maps_mismatch(n_maps: int, n_components: int, params: MapsParams) -> str | None:
    """Return how valid parameters disagree with the hyperparameters, or None."""
    if params.n_maps != n_maps:
        return f"it has {params.n_maps} maps where {n_maps} are declared"
    return params_mismatch(n_components, params.maps[0])


def maps_stats_flaw(stats: MapsStats, params: MapsParams) -> str | None:
    """Return what makes statistics invalid for these parameters, or None."""
    K, arrays = params.n_maps, (stats.moments, stats.linear, stats.softplus)
    if stats.classes.shape != (K,) or any(array.ndim != 3 or len(array) != K for array in arrays):
        return "the statistics have the wrong shapes"
    if stats.bound.shape != () or stats.weight.shape != () or stats.weight <= 0:
        return "the statistics have no weight"
    slack = 1e-6 * float(stats.weight)
    if (stats.classes < 0.0).any() or abs(stats.classes.sum() - stats.weight) > slack:
        return "the statistics are not those of rows"
    # A map without rows is valid, with nothing in its sums; its weight counts as that of all.
    for part, one in zip(stats.maps, params.maps, strict=True):
        whole = LogisticStats(part.bound, stats.weight, part.moments, part.linear, part.softplus)
        if flaw := stats_flaw(whole, one):
            return flaw
        if (part.moments[:, -1] > 0.25 * part.weight + slack).any():
            return "the statistics are not those of rows"
    return None
