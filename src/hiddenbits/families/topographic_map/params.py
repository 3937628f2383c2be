"""The parameters of a generative topographic mapping, and its M-step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, NamedTuple, Self

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params
from hiddenbits.data.layout import Layout, binary_columns
from hiddenbits.families.nodes.params import NodeScores
from hiddenbits.maths.numerics import LARGEST_LOGIT, clip_probability, reals, sigmoid, softplus_and_sigmoid, within

LARGEST_COEF = 1e3  # with a ridge, coefficients are far smaller
FINITE, REALS = within(LARGEST_COEF), reals(LARGEST_COEF)
COSINE_SCALE = 3.0  # scale of the cosines relative to z


@dataclass(frozen=True, eq=False)
class TopographicParams(Params):
    """Points z_k, the features Phi, W and b of each column side by side, and the center of b's prior.

    Features have the precision of the points: float32 in stochastic steps, which use new points each time.
    """

    points: Annotated[Floats, "K q", FINITE]
    frequencies: Annotated[Floats, "q M", FINITE]
    phases: Annotated[Floats, "M", FINITE]
    joint: Annotated[Floats, "d q+M+1", FINITE, REALS]
    center: Annotated[Floats, "d", FINITE]

    def features_at(self, points: Floats) -> Floats:
        """Return [Phi(z), 1], Phi(z) = [z, 3 sqrt(2/M) cos(z Omega + phi)], at some points, (points, m + 1)."""
        dtype = points.dtype.type
        q, M = self.frequencies.shape
        extended = np.concatenate([points, np.ones((len(points), 1))], axis=1, dtype=dtype, casting="same_kind")
        angles = extended @ np.concatenate([self.frequencies, self.phases[None, :]], dtype=dtype, casting="same_kind")
        features = np.ones((len(points), q + M + 1), dtype)
        features[:, :q] = points
        cosines = np.cos(angles, out=features[:, q:-1])
        cosines *= dtype(COSINE_SCALE * np.sqrt(2.0 / M))
        return features

    def activations_at(self, features: Floats) -> Floats:
        """Return eta = b + Phi W, (d, points), clipped to the range of logits."""
        eta = np.asarray(self.joint.astype(features.dtype) @ features.T, np.float64)
        return np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT, out=eta)

    @cached_property
    def features(self) -> Floats:
        """[Phi, 1] at the points."""
        return self.features_at(self.points)

    @cached_property
    def basis(self) -> Basis:
        """The directions of W that change eta at the points."""
        return smooth_basis(self.features)

    @cached_property
    def activations(self) -> Floats:
        """Eta at the points, (d, K)."""
        return self.activations_at(self.features)

    # The mixture: a node at each point, all with the same weight.

    @property
    def weights(self) -> Floats:
        """1 / K of each point."""
        return np.full(len(self.points), 1.0 / len(self.points))

    @property
    def layout(self) -> Layout:
        """All columns are binary."""
        return binary_columns(len(self.center))

    @cached_property
    def probabilities(self) -> Floats:
        """P(x = 1) at the points, (d, K)."""
        return clip_probability(sigmoid(self.activations))

    @cached_property
    def scores(self) -> NodeScores:
        """The coefficients of ln P(x, point): a = eta, and the sums of c = -ln(1 + exp eta), in batches of columns."""
        eta, observed_sums = self.activations, np.zeros((1, len(self.points)))
        for start in range(0, len(eta), BATCH_COLUMNS):
            observed_sums -= softplus_and_sigmoid(eta[start : start + BATCH_COLUMNS])[0].sum(axis=0)
        return NodeScores.of(eta, observed_sums, np.log(self.weights))

    def with_joint(self, joint: Floats) -> Self:
        """Return the parameters with other W and b."""
        return self._with_cached_features(replace(self, joint=REALS.back(joint)))

    def with_vector(self, vector: Floats) -> Self:
        """Return the parameters at other coordinates."""
        return self._with_cached_features(super().with_vector(vector))

    def _with_cached_features(self, other: Self) -> Self:
        """Return other parameters at the same points, with the features that depend on points only."""
        other.__dict__.update({name: self.__dict__[name] for name in ("features", "basis") if name in self.__dict__})
        return other

    def __getstate__(self) -> dict[str, AnyArray]:
        return self.to_arrays()  # without cached properties


# The M-step: a penalized logistic regression of each column, on one pseudo-row for each point.
#
#     maximize over w   Sum_k [ S_k (w.x_k) - O_k ln(1 + exp(w.x_k)) ] - (lambda/2) |w - c|^2
#
# x_k = [Phi(z_k), 1], a row of X; S_k and O_k are the expected 1s and observed cells at point k. The objective is
# concave. Features are smooth, so that X w is nearly 0 for most directions of w: `smooth_basis` excludes these, once
# for a grid, and w does not change along them. Newton's equation (X' diag(O p (1 - p)) X + lambda) v = gradient is
# solved by conjugate gradients, for all columns together, so that no column needs its own matrix. Coordinates are the
# eigenvectors of X' diag(n) X, with n the expected rows at each point; the preconditioner of a column is the
# eigenvalues times the column's mean of p (1 - p).

NEWTON_STEPS = 1  # per M-step, which starts from the last solution: a second saves no iteration
CG_STEPS = 8
MAX_HALVINGS = 12
RELATIVE_ROUNDING = 1e-13  # a smaller relative decrease is rounding: equal tables must have equal steps
NEGLIGIBLE_EIGENVALUE = 1e-12  # of X'X, relative to the largest; on the default grid 100 of 259 are larger
BATCH_COLUMNS = 256  # columns per batch: their arrays of (columns, K) stay small on wide tables
MIN_RIDGE = 1e-6  # keeps the equations solvable with ridge=0


class Basis(NamedTuple):
    """Features X, (K, m + 1); orthonormal directions of w along which X is not 0, (m + 1, r); X along them, (K, r)."""

    X: Floats
    directions: Floats
    values: Floats


def smooth_basis(features: Floats) -> Basis:
    """Return the directions of w along which the features, (K, m + 1), are not negligible."""
    spectrum, vectors = np.linalg.eigh(features.T @ features)
    directions = vectors[:, spectrum > NEGLIGIBLE_EIGENVALUE * spectrum[-1]]
    return Basis(features, directions, features @ directions)


def _log_likelihood(eta: Floats, ones: Floats, observed: Floats) -> Floats:
    """Return the expected log-likelihood of each column, without the prior."""
    cost, _ = softplus_and_sigmoid(eta)
    cost *= observed
    np.subtract(ones * eta, cost, out=cost)
    return np.asarray(cost.sum(axis=1))


def regress(
    basis: Basis, ones: Floats, observed: Floats, rows: Floats, start: Floats, center: Floats, ridge: float
) -> Floats:
    """Return W and b, (d, m + 1), after Newton steps, which never decrease the objective of a column.

    Parameters
    ----------
    basis : Basis
        Basis of the features.
    ones, observed : ndarray of shape (d, K); O may be (1, K) if no cell is missing
        S and O.
    rows : ndarray of shape (K,)
        Expected rows at each point.
    start : ndarray of shape (d, m + 1)
        Initial W and b.
    center : ndarray of shape (d,)
        Prior mean of b.
    ridge : float
        lambda.
    """
    spectrum, vectors = np.linalg.eigh((basis.values * rows[:, None]).T @ basis.values)
    spectrum = np.maximum(spectrum, 0.0) / max(float(rows.sum()), MIN_RIDGE)
    eigenbasis = Basis(basis.X, basis.directions @ vectors, basis.values @ vectors)
    joint, ridge = np.empty_like(start), max(ridge, MIN_RIDGE)
    for first in range(0, len(start), BATCH_COLUMNS):
        batch = slice(first, first + BATCH_COLUMNS)
        cells = observed if len(observed) == 1 else observed[batch]
        joint[batch] = _newton(eigenbasis, spectrum, ones[batch], cells, start[batch], center[batch], ridge)
    return joint


def _newton(
    basis: Basis, spectrum: Floats, ones: Floats, observed: Floats, start: Floats, center: Floats, ridge: float
) -> Floats:
    """Return W and b of some columns; `spectrum` are the eigenvalues of X' diag(n) X / Sum n along the basis."""
    offset = start @ basis.directions - center[:, None] * basis.directions[-1]  # w - c along the basis
    total_step, eta = np.zeros_like(offset), start @ basis.X.T
    best = _log_likelihood(eta, ones, observed) - 0.5 * ridge * (offset * offset).sum(axis=1)
    for _ in range(NEWTON_STEPS):
        _, p = softplus_and_sigmoid(eta)
        gradient = (ones - observed * p) @ basis.values - ridge * offset
        curvature = observed * (p * (1.0 - p))
        scale = curvature.sum(axis=1)[:, None] * spectrum + ridge
        step = _solve(basis.values, curvature, ridge, gradient, scale)
        change, length = step @ basis.values.T, np.ones((len(step), 1))
        for _ in range(MAX_HALVINGS):
            prior = -0.5 * ridge * ((offset + length * step) ** 2).sum(axis=1)
            objective = _log_likelihood(eta + length * change, ones, observed) + prior
            decreased = ~(objective >= best - RELATIVE_ROUNDING * np.abs(best))
            if not decreased.any():
                break
            length[decreased] *= 0.5
        length[decreased] = 0.0
        step *= length
        total_step, offset, eta = total_step + step, offset + step, eta + length * change
        best = np.where(decreased, best, objective)
    return np.asarray(start + total_step @ basis.directions.T)


def _solve(X: Floats, curvature: Floats, ridge: float, gradient: Floats, scale: Floats) -> Floats:
    """Return about (X' diag(curvature_j) X + ridge)^-1 gradient_j of each column j, by conjugate gradients."""
    step, residual = np.zeros_like(gradient), gradient.copy()
    z = residual / scale  # preconditioned
    direction, rz = z.copy(), (residual * z).sum(axis=1, keepdims=True)
    for _ in range(CG_STEPS):
        product = (curvature * (direction @ X.T)) @ X + ridge * direction
        curvature_along = (direction * product).sum(axis=1, keepdims=True)
        length = np.divide(rz, curvature_along, out=np.zeros_like(rz), where=curvature_along > 0.0)
        step += length * direction
        residual -= length * product
        z = residual / scale
        rz, last_rz = (residual * z).sum(axis=1, keepdims=True), rz
        direction = z + np.divide(rz, last_rz, out=np.zeros_like(rz), where=last_rz > 0.0) * direction
    return step
