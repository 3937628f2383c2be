"""The M-step of a curved map: a penalised logistic regression for each column, on one pseudo-row for each point.

    maximise over w   Sum_k [ S_k (w.x_k) - O_k ln(1 + exp(w.x_k)) ] - (lambda/2) |w - c|^2

x_k = [Phi(z_k), 1]; S_k and O_k are the expected ones and observed cells at point k. It is concave. Newton's equation
(X' diag(O p (1 - p)) X + lambda) v = gradient is solved by conjugate gradients, all columns together, so that no
column needs a matrix of its own. What they are preconditioned with has one eigendecomposition for all columns: that of
X' diag(n) X, n the rows at each point, which a column multiplies by its mean p (1 - p).
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.maths.numerics import softplus, softplus_and_sigmoid

NEWTON_STEPS = 2  # in an M-step: it starts where the last one ended
CG_STEPS = 8
HALVINGS = 12
ROUNDING = 1e-13  # a fall of this share is rounding: steps must not hang on it, or equal tables would fit differently
LEAST_RIDGE = 1e-6  # keeps the equations solvable where no ridge is wanted


def column_objective(
    eta: Floats, ones: Floats, observed: Floats, joint: Floats, centre: Floats, ridge: float
) -> Floats:
    """Return what is maximised, for each column."""
    fit = (ones * eta - observed * softplus(eta)).sum(axis=1)
    return np.asarray(fit + log_prior(joint, centre, ridge))


def log_prior(joint: Floats, centre: Floats, ridge: float) -> Floats:
    """Return -(lambda/2) (|W_j|^2 + (b_j - c_j)^2) of each column."""
    away = joint.copy()
    away[:, -1] -= centre
    return np.asarray(-0.5 * ridge * (away * away).sum(axis=1))


def regress(
    features: Floats, ones: Floats, observed: Floats, rows: Floats, start: Floats, centre: Floats, ridge: float
) -> Floats:
    """Return W and b, (d, m + 1), after some Newton steps, none of which makes a column worse.

    Parameters
    ----------
    features : ndarray of shape (K, m)
        Phi.
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
    X = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    lam = max(ridge, LEAST_RIDGE)
    spectrum, turn = np.linalg.eigh((X * rows[:, None]).T @ X)
    spectrum, weight = np.maximum(spectrum, 0.0), rows.sum()
    joint = start
    eta = joint @ X.T
    best = column_objective(eta, ones, observed, joint, centre, lam)
    for _ in range(NEWTON_STEPS):
        _, p = softplus_and_sigmoid(eta)
        gradient = (ones - observed * p) @ X - lam * joint
        gradient[:, -1] += lam * centre
        curvature = observed * (p * (1.0 - p))
        scale = (curvature.sum(axis=1) / weight)[:, None] * spectrum + lam
        step = _solve(X, curvature, lam, gradient, scale, turn)
        along, length = step @ X.T, np.ones((len(step), 1))
        for _ in range(HALVINGS):
            reached = column_objective(eta + length * along, ones, observed, joint + length * step, centre, lam)
            fell = ~(reached >= best - ROUNDING * np.abs(best))
            if not fell.any():
                break
            length[fell] *= 0.5
        length[fell] = 0.0
        joint, eta = joint + length * step, eta + length * along
        best = np.where(fell, best, reached)
    return joint


def _solve(X: Floats, curvature: Floats, ridge: float, gradient: Floats, scale: Floats, turn: Floats) -> Floats:
    """Return about (X' diag(curvature_j) X + ridge)^-1 gradient_j of each column j, by conjugate gradients."""
    step, left = np.zeros_like(gradient), gradient.copy()
    eased = ((left @ turn) / scale) @ turn.T
    way, size = eased.copy(), (left * eased).sum(axis=1, keepdims=True)
    for _ in range(CG_STEPS):
        bent = (curvature * (way @ X.T)) @ X + ridge * way
        bend = (way * bent).sum(axis=1, keepdims=True)
        length = np.divide(size, bend, out=np.zeros_like(size), where=bend > 0.0)
        step += length * way
        left -= length * bent
        eased = ((left @ turn) / scale) @ turn.T
        size, before = (left * eased).sum(axis=1, keepdims=True), size
        way = eased + np.divide(size, before, out=np.zeros_like(size), where=before > 0.0) * way
    return step
