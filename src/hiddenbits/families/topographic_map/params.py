"""The parameters of a curved map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, NamedTuple, Self

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params
from hiddenbits.data.layout import Layout, binary_columns
from hiddenbits.families.nodes.params import Scores
from hiddenbits.maths.numerics import LARGEST_LOGIT, clip_probability, reals, sigmoid, softplus_and_sigmoid, within

FURTHEST = 1e3  # of a coefficient, which a ridge keeps far below
FINITE, REALS = within(FURTHEST), reals(FURTHEST)
SIZE = 3.0  # of the cosines next to z


@dataclass(frozen=True, eq=False)
class TopographicParams(Params):
    """Points z_k, the features Phi, W and b of each column side by side, and the center of b's prior.

    Features are as precise as the points: random steps, which draw other points each time, have theirs in float32.
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
        waves = np.cos(angles, out=features[:, q:-1])
        waves *= dtype(SIZE * np.sqrt(2.0 / M))
        return features

    def activations_at(self, features: Floats) -> Floats:
        """Return eta = b + Phi W, (d, points), as far from 0 as logits of probabilities may be."""
        eta = np.asarray(self.joint.astype(features.dtype) @ features.T, np.float64)
        return np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT, out=eta)

    @cached_property
    def features(self) -> Floats:
        """[Phi, 1] at the points."""
        return self.features_at(self.points)

    @cached_property
    def basis(self) -> Basis:
        """The directions in which curves differ at the points."""
        return smooth_basis(self.features)

    @cached_property
    def activations(self) -> Floats:
        """Return eta at the points."""
        return self.activations_at(self.features)

    # The nodes that the map is: one at each point, all of the same weight.

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
        """P(bit = 1) at the points, (d, K)."""
        return clip_probability(sigmoid(self.activations))

    @cached_property
    def scores(self) -> Scores:
        """The scores of the points: eta, and the column sums of -ln(1 + exp eta), some columns at a time."""
        eta, totals = self.activations, np.zeros((1, len(self.points)))
        for first in range(0, len(eta), COLUMNS):
            totals -= softplus_and_sigmoid(eta[first : first + COLUMNS])[0].sum(axis=0)
        return Scores.of(eta, totals, np.log(self.weights))

    def with_joint(self, joint: Floats) -> Self:
        """Return the same map with other W and b."""
        return self._of_same_points(replace(self, joint=REALS.back(joint)))

    def with_vector(self, vector: Floats) -> Self:
        """Return the same map at other coordinates."""
        return self._of_same_points(super().with_vector(vector))

    def _of_same_points(self, other: Self) -> Self:
        other.__dict__.update({name: self.__dict__[name] for name in ("features", "basis") if name in self.__dict__})
        return other

    def __getstate__(self) -> dict[str, AnyArray]:
        return self.to_arrays()  # what was computed from them is computed again


# The M-step of a curved map: a penalized logistic regression for each column, on one pseudo-row for each point.
#
#     maximize over w   Sum_k [ S_k (w.x_k) - O_k ln(1 + exp(w.x_k)) ] - (lambda/2) |w - c|^2
#
# x_k = [Phi(z_k), 1]; S_k and O_k are the expected ones and observed cells at point k. It is concave. Curves are
# smooth, so that most directions of w are all but 0 at every point: `smooth_basis` leaves them out, once for a grid,
# and w keeps what it has there. Newton's equation (X' diag(O p (1 - p)) X + lambda) v = gradient is solved by
# conjugate gradients, all columns together, so that no column needs a matrix of its own. Coordinates are the
# eigenvectors of X' diag(n) X, n the rows at each point: a column is preconditioned with the eigenvalues times its
# mean p (1 - p).

NEWTON_STEPS = 1  # in an M-step, which starts where the last one ended: a second saves no pass
CG_STEPS = 8
HALVINGS = 12
ROUNDING = 1e-13  # a fall of this share is rounding: steps must not hang on it, or equal tables would fit differently
NEGLIGIBLE = 1e-12  # of the largest eigenvalue of X'X: 100 of 259 directions are above it on the default grid
COLUMNS = 256  # at a time: their arrays of (columns, K) stay small on wide tables
LEAST_RIDGE = 1e-6  # keeps the equations solvable where no ridge is wanted


class Basis(NamedTuple):
    """Features X, (K, m + 1); orthonormal directions of w in which they are not 0, (m + 1, r); X along them, (K, r)."""

    X: Floats
    directions: Floats
    values: Floats


def smooth_basis(features: Floats) -> Basis:
    """Return the directions in which curves with these features, (K, m + 1), differ at their points."""
    spectrum, turn = np.linalg.eigh(features.T @ features)
    directions = turn[:, spectrum > NEGLIGIBLE * spectrum[-1]]
    return Basis(features, directions, features @ directions)


def _fit(eta: Floats, ones: Floats, observed: Floats) -> Floats:
    """Return what is maximized, without the prior, for each column."""
    cost, _ = softplus_and_sigmoid(eta)
    cost *= observed
    np.subtract(ones * eta, cost, out=cost)
    return np.asarray(cost.sum(axis=1))


def regress(
    basis: Basis, ones: Floats, observed: Floats, rows: Floats, start: Floats, center: Floats, ridge: float
) -> Floats:
    """Return W and b, (d, m + 1), after some Newton steps, none of which makes a column worse.

    Parameters
    ----------
    basis : Basis
        Of the features.
    ones, observed : ndarray of shape (d, K) or, where nothing is missing, (1, K)
        S and O.
    rows : ndarray of shape (K,)
        Expected rows at each point.
    start : ndarray of shape (d, m + 1)
        Where to begin.
    center : ndarray of shape (d,)
        Where the ridge draws b.
    ridge : float
        lambda.
    """
    spectrum, turn = np.linalg.eigh((basis.values * rows[:, None]).T @ basis.values)
    spectrum = np.maximum(spectrum, 0.0) / max(float(rows.sum()), LEAST_RIDGE)
    turned = Basis(basis.X, basis.directions @ turn, basis.values @ turn)
    found = np.empty_like(start)
    for first in range(0, len(start), COLUMNS):
        some = slice(first, first + COLUMNS)
        seen = observed if len(observed) == 1 else observed[some]
        found[some] = _newton(turned, spectrum, ones[some], seen, start[some], center[some], max(ridge, LEAST_RIDGE))
    return found


def _newton(
    basis: Basis, spectrum: Floats, ones: Floats, observed: Floats, start: Floats, center: Floats, ridge: float
) -> Floats:
    """Return W and b of some columns; `spectrum` are the eigenvalues of X' diag(n) X / Sum n along the basis."""
    away = start @ basis.directions - center[:, None] * basis.directions[-1]
    moved, eta = np.zeros_like(away), start @ basis.X.T
    best = _fit(eta, ones, observed) - 0.5 * ridge * (away * away).sum(axis=1)
    for _ in range(NEWTON_STEPS):
        _, p = softplus_and_sigmoid(eta)
        gradient = (ones - observed * p) @ basis.values - ridge * away
        curvature = observed * (p * (1.0 - p))
        scale = curvature.sum(axis=1)[:, None] * spectrum + ridge
        step = _solve(basis.values, curvature, ridge, gradient, scale)
        change, length = step @ basis.values.T, np.ones((len(step), 1))
        for _ in range(HALVINGS):
            prior = -0.5 * ridge * ((away + length * step) ** 2).sum(axis=1)
            reached = _fit(eta + length * change, ones, observed) + prior
            fell = ~(reached >= best - ROUNDING * np.abs(best))
            if not fell.any():
                break
            length[fell] *= 0.5
        length[fell] = 0.0
        step *= length
        moved, away, eta = moved + step, away + step, eta + length * change
        best = np.where(fell, best, reached)
    return np.asarray(start + moved @ basis.directions.T)


def _solve(X: Floats, curvature: Floats, ridge: float, gradient: Floats, scale: Floats) -> Floats:
    """Return about (X' diag(curvature_j) X + ridge)^-1 gradient_j of each column j, by conjugate gradients."""
    step, left = np.zeros_like(gradient), gradient.copy()
    eased = left / scale
    way, size = eased.copy(), (left * eased).sum(axis=1, keepdims=True)
    for _ in range(CG_STEPS):
        bent = (curvature * (way @ X.T)) @ X + ridge * way
        bend = (way * bent).sum(axis=1, keepdims=True)
        length = np.divide(size, bend, out=np.zeros_like(size), where=bend > 0.0)
        step += length * way
        left -= length * bent
        eased = left / scale
        size, before = (left * eased).sum(axis=1, keepdims=True), size
        way = eased + np.divide(size, before, out=np.zeros_like(size), where=before > 0.0) * way
    return step
