"""Generative topographic mapping of binary data (Bishop, Svensen & Williams 1998): a mixture over fixed latent points.

    z ~ N(0, I_q),   P(x_j = 1 | z) = sigma(eta_j(z)),   eta(z) = b + Phi(z) W
    Phi(z) = [z, 3 sqrt(2/M) cos(z Omega + phi)]

If points z_1 ... z_K of equal weight replace the prior, it is a latent class model whose classes are tied by W:

    ln P(x, z_k) = -ln K + Sum_j [ x_j eta_j(z_k) - ln(1 + exp eta_j(z_k)) ],   over the observed j

| letter | meaning | shape |
|---|---|---|
| x, o | binary data; observed | (rows, d) |
| r | posterior P(z_k given x) | (rows, K) |
| z | points | (K, q) |
| Omega, phi | frequencies, drawn from N(0, 1/l^2), and phases; fixed | (q, M), (M,) |
| Phi | features, m = q + M | (K, m) |
| W, b | coefficients and intercepts; side by side `joint`, (d, m + 1) | (d, m), (d,) |
| S, O | expected 1s and observed cells at each point | (d, K) |
| lambda | ridge of the whole table: -(lambda/2) (|W|^2 + |b - c|^2), c the logits of the columns | number |

S and O are the statistics of the E-step, which is that of every mixture (`nodes/posterior.py`). Given them the
objective is concave in W and b; the M-step is in `params.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from hiddenbits.array_types import Floats
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.logistic_pca.start import start_logistic
from hiddenbits.families.nodes.model import NodeModel
from hiddenbits.families.nodes.params import NodeCounts
from hiddenbits.families.nodes.posterior import footprint
from hiddenbits.families.topographic_map.params import TopographicParams, regress
from hiddenbits.maths.numerics import sigmoid
from hiddenbits.maths.ridge import log_prior
from hiddenbits.model_api import AsOnSubsample, Declared, Footprint, Key, Linked, Passes, Stage

MAX_FIRST_POINTS = 256  # points in the first stage of a fit on a grid, which has most of the iterations
FEATURES_KEY_BLOCK = 2  # number in the random key of the features


@dataclass(frozen=True)
class Topographic(AsOnSubsample, NodeModel[TopographicParams], Linked, Declared[TopographicParams]):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        q.
    n_points : int
        K; approximate for a grid.
    n_features : int
        M.
    length_scale : float
        l: distance of two points whose probabilities are hardly related.
    ridge : float
        lambda.
    """

    n_components: int = 2
    n_points: int = 1024
    n_features: int = 256
    length_scale: float = 1.0
    ridge: float = 1.0

    params_type = TopographicParams
    letters: ClassVar = {"q": ("n_components", "dimensions"), "K": ("size", "points")}

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block: that of a mixture with K classes."""
        return footprint(self.size, n_columns, row_cells)

    @property
    def size(self) -> int:
        """Number of points of the fitted mixture; for a grid, its side to the power of q."""
        if self.n_components > MAX_GRID_DIMENSIONS:
            return self.n_points
        return int(grid_side(self.n_components, self.n_points) ** self.n_components)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> TopographicParams:
        """Return the start of logistic PCA, with coefficients of 0 for the cosines."""
        linear = start_logistic(self.n_components, "pca", summary, key, passes)
        q, M, d = self.n_components, self.n_features, len(linear.intercepts)
        rng = key.derive(block=FEATURES_KEY_BLOCK).rng()
        return TopographicParams(
            points=self.first_points(key),
            frequencies=rng.standard_normal((q, M)) / self.length_scale,
            phases=rng.uniform(0.0, 2.0 * np.pi, M),
            joint=np.concatenate([linear.loadings, np.zeros((d, M)), linear.intercepts[:, None]], axis=1),
            center=linear.center.copy(),
        )

    def first_points(self, key: Key) -> Floats:
        """Return the points of the first stage."""
        return grid_points(self.n_components, min(MAX_FIRST_POINTS, self.n_points))

    @property
    def has_prior(self) -> bool:
        """Whether the prior keeps parameters finite where a column does not vary."""
        return self.ridge > 0.0

    def stages(self) -> Sequence[Stage[TopographicParams, NodeCounts]]:
        """Return two stages: with fewer points, and with all points."""
        return Stage(self), Stage(self, self._on_all_points)

    def _on_all_points(self, params: TopographicParams, key: Key) -> TopographicParams | None:
        """Return the same coefficients with all grid points; None if the first stage already has all points."""
        if self.n_components > MAX_GRID_DIMENSIONS or len(params.points) == self.size:
            return None
        return replace(params, points=grid_points(self.n_components, self.n_points))

    def objective(self, params: TopographicParams, stats: NodeCounts) -> float:
        """Return log-likelihood plus log prior."""
        return float(stats.bound) + float(log_prior(params.joint, params.center, self.ridge).sum())

    def update(self, params: TopographicParams, stats: NodeCounts) -> TopographicParams:
        """M-step: a logistic regression for each column."""
        joint = regress(
            params.basis, stats.ones, stats.observed, stats.classes, params.joint, params.center, self.ridge
        )
        return params.with_joint(joint)

    def gradient(self, params: TopographicParams, stats: NodeCounts) -> Floats:
        """Return the gradient of the log-likelihood by W and b, (d, m + 1): (S - O sigma(eta)) [Phi, 1]."""
        residuals = sigmoid(params.activations)
        residuals *= stats.observed
        np.subtract(stats.ones, residuals, out=residuals)
        return np.asarray(residuals.astype(params.features.dtype) @ params.features, np.float64)

    def reconstruct(self, params: TopographicParams, codes: Floats) -> Floats:
        """Return P(x = 1) at any latent positions, (n, d)."""
        return np.ascontiguousarray(sigmoid(params.activations_at(params.features_at(codes))).T)

    def hidden_states(self, params: TopographicParams) -> Floats:
        """Return the points."""
        return params.points

    def log_joint(self, params: TopographicParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, z_k) of one complete row: the definition."""
        p = self.reconstruct(params, h[None, :])[0]
        return float(-np.log(len(params.points)) + np.sum(np.log(np.where(x == 1, p, 1.0 - p))))


# Points of equal weight that approximate z ~ N(0, I_q).

MAX_GRID_DIMENSIONS = 2  # with more dimensions, points are scrambled Sobol points


def grid_side(n_components: int, n_points: int) -> int:
    """Return the number of points along each axis of a grid of about `n_points`."""
    return int(max(2, round(float(n_points) ** (1.0 / n_components))))


def grid_points(n_components: int, n_points: int) -> Floats:
    """Return a grid at the normal quantiles (i + 1/2) / side of each axis, so that all weights are equal."""
    side = grid_side(n_components, n_points)
    axis = ndtri((np.arange(side) + 0.5) / side)
    return np.stack(np.meshgrid(*[axis] * n_components, indexing="ij"), axis=-1).reshape(-1, n_components)


def sobol_points(n_components: int, n_points: int, rng: np.random.Generator) -> Floats:
    """Return normal quantiles of scrambled Sobol points."""
    from scipy.stats import qmc  # takes a second to import

    power = max(0, int(np.ceil(np.log2(n_points))))  # Sobol points are balanced in powers of two
    uniform = qmc.Sobol(n_components, scramble=True, seed=rng).random_base2(power)[:n_points]
    return np.asarray(ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12)))
