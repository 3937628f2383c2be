"""Loadings of a map in the metric of factor analysis, turned towards a simple structure."""

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
    """Loadings after a rotation; from the method `rotate` of a fitted map.

    Attributes
    ----------
    method : str
        "varimax", "promax" or "oblimin".
    kaiser : bool
        Whether rows of loadings had length 1 while the rotation was found.
    loadings : ndarray of shape (columns, factors)
        Standardized loadings (the pattern): of the hidden variable behind a column, scaled to variance 1, on factors
        of variance 1. Factors are ordered by their sum of squares; each has a positive sum.
    correlations : ndarray of shape (factors, factors)
        Correlations of the factors; the identity after varimax.
    slopes : ndarray of shape (columns, factors)
        The same rotation of the slopes: discriminations, logistic or (`ClippedPCA`) probit ones.
    communalities : ndarray of shape (columns,)
        Share of the variance of each hidden variable that the factors explain; no rotation changes it.
    turn : ndarray of shape (dimensions, factors)
        T: loadings are the unrotated ones times the inverse of T', and codes are rotated by T.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.standard_normal((400, 2))
    >>> X = (rng.random((400, 6)) < 1 / (1 + np.exp(-2 * codes[:, [0, 0, 0, 1, 1, 1]]))).astype(int)
    >>> found = LogisticPCA(2, random_state=0).fit(X).rotate("varimax")
    >>> bool((np.abs(found.loadings).max(axis=1) > 3 * np.abs(found.loadings).min(axis=1)).all())
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
        """Return the same rotation with factors in the order, and with the signs, that are closest to others' loadings.

        Parameters
        ----------
        target : array of shape (columns, factors)
            Loadings to compare with: another program's, or those of the whole table for a bootstrap replicate.
        """
        from scipy.optimize import linear_sum_assignment

        inner = np.asarray(target, np.float64).T @ self.loadings
        order = linear_sum_assignment(-np.abs(inner))[1]
        signs = np.where(inner[np.arange(len(order)), order] < 0.0, -1.0, 1.0)
        return self._arranged(order, signs)

    def _arranged(self, order: Any, signs: Floats) -> RotatedLoadings:
        """Return the same rotation with factors in this order, and with these signs."""
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
        What makes slopes of them.
    method : {"varimax", "promax", "oblimin"}
        Factors without correlations, or (promax, oblimin) with them.
    kaiser : bool or None
        Kaiser's normalization; None: for promax.
    power : float
        Of promax.
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


# Rotations of loadings towards a simple structure: varimax, oblimin and promax.
#
# Varimax turns pairs of factors, each by its best angle (Kaiser 1958), until none turns. Oblimin (its gamma 0,
# quartimin) goes down the gradient of its criterion on the matrices with columns of length 1 (gradient projection,
# Bernaards & Jennrich 2005). From loadings A a rotation T makes A (T')^-1, and the factors have the correlations T'T.
# Promax is varimax, then a regression on its powers.

MAX_STEPS, CLOSE = 2000, 1e-9  # it is over when the projected gradient is this short, or no angle is larger
STARTS = 8  # the criterion may have several minima: the first start is no rotation, the others are random


@dataclass(frozen=True, eq=False)
class Rotated:
    """Rotated loadings (d, q), the matrix T, and whether the steps came to an end."""

    loadings: Floats
    turn: Floats
    converged: bool


def rotate(loadings: Floats, method: Method, *, kaiser: bool, power: float = 4.0) -> Rotated:
    """Return loadings rotated to the lowest criterion that some starts lead to.

    With `kaiser`, columns of bits count the same, however large their loadings are: rows are scaled to length 1 first.
    """
    lengths = np.sqrt((loadings**2).sum(axis=1, keepdims=True)) if kaiser else np.ones((len(loadings), 1))
    A = loadings / np.maximum(lengths, 1e-300)
    q = A.shape[1]
    if q == 1:
        return Rotated(loadings.copy(), np.eye(1), True)
    find = _oblimin if method == "oblimin" else _varimax
    starts = [np.eye(q)]
    starts += [np.linalg.qr(keyed_rng(0, q, number).standard_normal((q, q)))[0] for number in range(1, STARTS)]
    _, T, converged = min((find(A, start) for start in starts), key=lambda found: found[0])
    if method != "promax":
        return Rotated(loadings @ np.linalg.inv(T).T, T, converged)
    simple = loadings @ T
    U = np.linalg.lstsq(simple, simple * np.abs(simple) ** (power - 1.0), rcond=None)[0]
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    return Rotated(simple @ U, np.linalg.inv(T @ U).T, converged)


def _varimax(A: Floats, T: Floats) -> tuple[float, Floats, bool]:
    """Return minus the criterion where the turns of pairs end, the rotation there, and whether they came to an end."""
    turned, end = np.concatenate([A @ T, T]), len(A)  # the loadings, and below them the rotation
    for _ in range(MAX_STEPS):
        largest = 0.0
        for i, j in combinations(range(len(T)), 2):
            x, y = turned[:end, i], turned[:end, j]
            u, v = x * x - y * y, 2.0 * x * y
            u, v = u - u.mean(), v - v.mean()
            angle = 0.25 * float(np.arctan2(2.0 * (u @ v), u @ u - v @ v))
            c, s = np.cos(angle), np.sin(angle)
            turned[:, [i, j]] = turned[:, [i, j]] @ np.array([[c, -s], [s, c]])
            largest = max(largest, abs(angle))
        if largest < CLOSE:
            break
    spread = float((turned[:end] ** 2).var(axis=0).sum())
    return -spread, turned[end:], largest < CLOSE


def _oblimin(A: Floats, T: Floats) -> tuple[float, Floats, bool]:
    """Return the criterion where the descent ends, the rotation there, and whether it came to an end."""
    step = 1.0
    height, gradient = _quartimin(A, T)
    for _ in range(MAX_STEPS):
        along = gradient - T * (T * gradient).sum(axis=0)
        length = float(np.linalg.norm(along))
        if length < CLOSE:
            return height, T, True
        step *= 2.0
        for _ in range(40):
            there = T - step * along
            there = there / np.sqrt((there * there).sum(axis=0))
            new, slope = _quartimin(A, there)
            if new < height - 0.5 * step * length**2:
                break
            step /= 2.0
        else:  # no step leads down: rounding
            return height, T, length < 1e-5
        T, height, gradient = there, new, slope
    return height, T, False


def _quartimin(A: Floats, T: Floats) -> tuple[float, Floats]:
    """Return the criterion of an oblique rotation and its gradient."""
    back = np.linalg.inv(T)
    L = A @ back.T
    squares = L * L
    others = squares.sum(axis=1, keepdims=True) - squares
    return 0.25 * float((squares * others).sum()), -(L.T @ (L * others) @ back).T
