"""The M-step of a curved map: a penalised logistic regression for each column, on one pseudo-row for each point.

    maximise over w   Sum_k [ S_k (w.x_k) - O_k ln(1 + exp(w.x_k)) ] - (lambda/2) |w - c|^2

x_k = [Phi(z_k), 1]; S_k and O_k are the expected ones and observed cells at point k. It is concave. Curves are smooth,
so that most directions of w are all but 0 at every point: `smooth_basis` leaves them out, once for a grid, and w keeps
what it has there. Newton's equation (X' diag(O p (1 - p)) X + lambda) v = gradient is solved by conjugate gradients,
all columns together, so that no column needs a matrix of its own. Coordinates are the eigenvectors of X' diag(n) X, n
the rows at each point: a column is preconditioned with the eigenvalues times its mean p (1 - p).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.maths.numerics import softplus_and_sigmoid

NEWTON_STEPS = 1  # in an M-step, which starts where the last one ended: a second saves no pass
CG_STEPS = 8
HALVINGS = 12
ROUNDING = 1e-13  # a fall of this share is rounding: steps must not hang on it, or equal tables would fit differently
NEGLIGIBLE = 1e-12  # of the largest eigenvalue of X'X: 100 of 259 directions are above it on the default grid
COLUMNS = 256  # at a time: their arrays of (columns, K) stay small on wide tables
LEAST_RIDGE = 1e-6  # keeps the equations solvable where no ridge is wanted


class Basis(NamedTuple):
    """X, (K, m + 1); orthonormal directions of w in which it is not 0, (m + 1, r); and X along them, (K, r)."""

    X: Floats
    directions: Floats
    values: Floats


def smooth_basis(features: Floats) -> Basis:
    """Return the directions in which curves with these features, (K, m), differ at their points."""
    X = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    spectrum, turn = np.linalg.eigh(X.T @ X)
    directions = turn[:, spectrum > NEGLIGIBLE * spectrum[-1]]
    return Basis(X, directions, X @ directions)


def _fit(eta: Floats, ones: Floats, observed: Floats) -> Floats:
    """Return what is maximised, without the prior, for each column."""
    cost, _ = softplus_and_sigmoid(eta)
    cost *= observed
    np.subtract(ones * eta, cost, out=cost)
    return np.asarray(cost.sum(axis=1))


def log_prior(joint: Floats, centre: Floats, ridge: float) -> Floats:
    """Return -(lambda/2) (|W_j|^2 + (b_j - c_j)^2) of each column."""
    away = joint.copy()
    away[:, -1] -= centre
    return np.asarray(-0.5 * ridge * (away * away).sum(axis=1))


def regress(
    basis: Basis, ones: Floats, observed: Floats, rows: Floats, start: Floats, centre: Floats, ridge: float
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
    centre : ndarray of shape (d,)
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
        found[some] = _newton(turned, spectrum, ones[some], seen, start[some], centre[some], max(ridge, LEAST_RIDGE))
    return found


def _newton(
    basis: Basis, spectrum: Floats, ones: Floats, observed: Floats, start: Floats, centre: Floats, ridge: float
) -> Floats:
    """Return W and b of some columns; `spectrum` are the eigenvalues of X' diag(n) X / Sum n along the basis."""
    away = start @ basis.directions - centre[:, None] * basis.directions[-1]
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
