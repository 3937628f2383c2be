"""Loadings of a latent trait model in the metric of factor analysis, rotated to a simple structure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import keyed_rng

Method = Literal["varimax", "promax", "oblimin"]


@dataclass(frozen=True, eq=False)
class RotatedLoadings:
    """Loadings after a rotation; from the method `rotate` of a fitted model.

    Attributes
    ----------
    method : str
        "varimax", "promax" or "oblimin".
    kaiser : bool
        Whether rows of loadings were scaled to length 1 during the rotation (Kaiser's normalization).
    loadings : ndarray of shape (columns, factors)
        Standardized loadings (the pattern matrix): of the latent response variable of a column, with variance 1, on
        factors with variance 1. Factors are ordered by their sum of squares; each has a positive sum.
    correlations : ndarray of shape (factors, factors)
        Correlations of the factors; the identity after varimax.
    slopes : ndarray of shape (columns, factors)
        The slopes after the same rotation: discriminations, logistic or (`ClippedPCA`) probit.
    communalities : ndarray of shape (columns,)
        Share of the variance of each latent response variable that the factors explain; rotations do not change it.
    turn : ndarray of shape (dimensions, factors)
        T: the loadings are the unrotated ones times the inverse of T', and the scores are multiplied by T.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.standard_normal((400, 2))
    >>> X = (rng.random((400, 6)) < 1 / (1 + np.exp(-2 * codes[:, [0, 0, 0, 1, 1, 1]]))).astype(int)
    >>> rotated = LogisticPCA(2, random_state=0).fit(X).rotate("varimax")
    >>> bool((np.abs(rotated.loadings).max(axis=1) > 3 * np.abs(rotated.loadings).min(axis=1)).all())
    True
    """

    method: str
    kaiser: bool
    loadings: Floats
    correlations: Floats
    slopes: Floats
    communalities: Floats
    turn: Floats

    def transform(self, codes: ArrayLike) -> Floats:
        """Return the factor scores of rows.

        Parameters
        ----------
        codes : array of shape (rows, dimensions)
            From the model's `transform`.
        """
        return np.asarray(codes, np.float64) @ self.turn

    def aligned(self, target: ArrayLike) -> RotatedLoadings:
        """Return the same rotation with the order and the signs of factors that are closest to a target.

        Parameters
        ----------
        target : array of shape (columns, factors)
            Loadings to compare with: of another program, or of the complete table for a bootstrap replicate.
        """
        from scipy.optimize import linear_sum_assignment

        inner = np.asarray(target, np.float64).T @ self.loadings
        order = linear_sum_assignment(-np.abs(inner))[1]
        signs = np.where(inner[np.arange(len(order)), order] < 0.0, -1.0, 1.0)
        return self._arranged(order, signs)

    def _arranged(self, order: Any, signs: Floats) -> RotatedLoadings:
        """Return the same rotation with this order and these signs of factors."""
        return RotatedLoadings(
            self.method,
            self.kaiser,
            self.loadings[:, order] * signs,
            self.correlations[np.ix_(order, order)] * np.outer(signs, signs),
            self.slopes[:, order] * signs,
            self.communalities,
            self.turn[:, order] * signs,
        )


def rotated_loadings(
    loadings: Floats, scale: Floats, method: Method, kaiser: bool | None, power: float
) -> tuple[RotatedLoadings, bool]:
    """Return rotated loadings, and whether the rotation converged.

    Parameters
    ----------
    loadings : array of shape (columns, dimensions)
        Standardized loadings.
    scale : array of shape (columns,)
        Factors that turn loadings into slopes.
    method : {"varimax", "promax", "oblimin"}
        Uncorrelated factors or, with promax and oblimin, correlated ones.
    kaiser : bool or None
        Kaiser's normalization; None: for promax only.
    power : float
        Power of promax.
    """
    if method not in ("varimax", "promax", "oblimin"):
        raise ValueError(f'method={method!r}: give "varimax", "promax" or "oblimin".')
    if not power > 1.0:
        raise ValueError(f"power={power}: give a number above 1, such as 4.")
    normalize = method == "promax" if kaiser is None else kaiser
    best = rotate(loadings, method, kaiser=normalize, power=power)
    rotated = RotatedLoadings(
        method,
        normalize,
        best.loadings,
        best.turn.T @ best.turn,
        best.loadings * scale[:, None],
        (loadings**2).sum(axis=1),
        best.turn,
    )
    order = np.argsort(-(best.loadings**2).sum(axis=0), kind="stable")
    signs = np.where(best.loadings[:, order].sum(axis=0) < 0.0, -1.0, 1.0)
    return rotated._arranged(order, signs), best.converged


# Rotations of loadings to a simple structure: varimax, oblimin and promax.
#
# Varimax rotates pairs of factors, each by its best angle (Kaiser 1958), until none changes. Oblimin (with gamma 0,
# quartimin) minimizes its criterion by gradient projection on the matrices with columns of length 1 (Bernaards &
# Jennrich 2005). A rotation T turns loadings A into A (T')^-1, and the factors have the correlations T'T. Promax is
# varimax, followed by a regression on powers of its loadings.

MAX_STEPS, CONVERGED = 2000, 1e-9  # below it: norm of the projected gradient, or largest angle
N_STARTS = 8  # the criterion may have several minima: the first start is the identity, the others are random


@dataclass(frozen=True, eq=False)
class Rotated:
    """Rotated loadings (d, q), the matrix T, and whether the iteration converged."""

    loadings: Floats
    turn: Floats
    converged: bool


def rotate(loadings: Floats, method: Method, *, kaiser: bool, power: float = 4.0) -> Rotated:
    """Return loadings rotated to the lowest criterion over several starts.

    With `kaiser`, all columns have the same weight, however large their loadings: rows are scaled to length 1 first.
    """
    lengths = np.sqrt((loadings**2).sum(axis=1, keepdims=True)) if kaiser else np.ones((len(loadings), 1))
    A = loadings / np.maximum(lengths, 1e-300)
    q = A.shape[1]
    if q == 1:
        return Rotated(loadings.copy(), np.eye(1), True)
    minimize = _oblimin if method == "oblimin" else _varimax
    starts = [np.eye(q)]
    starts += [np.linalg.qr(keyed_rng(0, q, number).standard_normal((q, q)))[0] for number in range(1, N_STARTS)]
    _, T, converged = min((minimize(A, start) for start in starts), key=lambda result: result[0])
    if method != "promax":
        return Rotated(loadings @ np.linalg.inv(T).T, T, converged)
    varimax_loadings = loadings @ T
    U = np.linalg.lstsq(varimax_loadings, varimax_loadings * np.abs(varimax_loadings) ** (power - 1.0), rcond=None)[0]
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    return Rotated(varimax_loadings @ U, np.linalg.inv(T @ U).T, converged)


def _varimax(A: Floats, T: Floats) -> tuple[float, Floats, bool]:
    """Return minus the criterion at the end of the iteration, the rotation, and whether it converged."""
    rotated, n_columns = np.concatenate([A @ T, T]), len(A)  # loadings on top, the rotation below
    for _ in range(MAX_STEPS):
        largest = 0.0
        for i, j in combinations(range(len(T)), 2):
            x, y = rotated[:n_columns, i], rotated[:n_columns, j]
            u, v = x * x - y * y, 2.0 * x * y
            u, v = u - u.mean(), v - v.mean()
            angle = 0.25 * float(np.arctan2(2.0 * (u @ v), u @ u - v @ v))
            c, s = np.cos(angle), np.sin(angle)
            rotated[:, [i, j]] = rotated[:, [i, j]] @ np.array([[c, -s], [s, c]])
            largest = max(largest, abs(angle))
        if largest < CONVERGED:
            break
    criterion = float((rotated[:n_columns] ** 2).var(axis=0).sum())
    return -criterion, rotated[n_columns:], largest < CONVERGED


def _oblimin(A: Floats, T: Floats) -> tuple[float, Floats, bool]:
    """Return the criterion at the end of the iteration, the rotation, and whether it converged."""
    step = 1.0
    criterion, gradient = _quartimin(A, T)
    for _ in range(MAX_STEPS):
        projected = gradient - T * (T * gradient).sum(axis=0)
        length = float(np.linalg.norm(projected))
        if length < CONVERGED:
            return criterion, T, True
        step *= 2.0
        for _ in range(40):
            candidate = T - step * projected
            candidate = candidate / np.sqrt((candidate * candidate).sum(axis=0))
            new_criterion, new_gradient = _quartimin(A, candidate)
            if new_criterion < criterion - 0.5 * step * length**2:
                break
            step /= 2.0
        else:  # no step decreases the criterion: rounding
            return criterion, T, length < 1e-5
        T, criterion, gradient = candidate, new_criterion, new_gradient
    return criterion, T, False


def _quartimin(A: Floats, T: Floats) -> tuple[float, Floats]:
    """Return the criterion of an oblique rotation and its gradient."""
    inverse = np.linalg.inv(T)
    L = A @ inverse.T
    squares = L * L
    others = squares.sum(axis=1, keepdims=True) - squares
    return 0.25 * float((squares * others).sum()), -(L.T @ (L * others) @ inverse).T
