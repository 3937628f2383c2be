"""Rotations of loadings towards a simple structure: varimax, oblimin and promax.

Varimax and oblimin (its gamma 0, quartimin) go down the gradient of their criterion on the orthogonal matrices, or on
those with columns of length 1 (gradient projection, Bernaards & Jennrich 2005). From loadings A a rotation T makes
A (T')^-1, and the factors have the correlations T'T. Promax is varimax, then a regression on its powers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import keyed_rng

Method = Literal["varimax", "promax", "oblimin"]
MAX_STEPS, CLOSE = 2000, 1e-9  # of a descent; it is over when the projected gradient is this short
STARTS = 8  # the criterion may have several minima: the first start is no rotation, the others are random


@dataclass(frozen=True, eq=False)
class Rotated:
    """Rotated loadings (d, q), the matrix T, and whether the descent came to an end."""

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
    oblique = method == "oblimin"
    starts = [np.eye(q)]
    starts += [np.linalg.qr(keyed_rng(0, q, number).standard_normal((q, q)))[0] for number in range(1, STARTS)]
    _, T, converged = min((_descend(A, start, oblique) for start in starts), key=lambda found: found[0])
    if method != "promax":
        return Rotated(loadings @ np.linalg.inv(T).T, T, converged)
    simple = loadings @ T
    U = np.linalg.lstsq(simple, simple * np.abs(simple) ** (power - 1.0), rcond=None)[0]
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    return Rotated(simple @ U, np.linalg.inv(T @ U).T, converged)


def _varimax(L: Floats) -> tuple[float, Floats]:
    away = L * L - (L * L).mean(axis=0)
    return -0.25 * float((away * away).sum()), -L * away


def _quartimin(L: Floats) -> tuple[float, Floats]:
    squares = L * L
    others = squares.sum(axis=1, keepdims=True) - squares
    return 0.25 * float((squares * others).sum()), L * others


def _descend(A: Floats, T: Floats, oblique: bool) -> tuple[float, Floats, bool]:
    """Return the criterion where the descent ends, the rotation there, and whether it came to an end."""
    step = 1.0
    height, gradient = _criterion(A, T, oblique)
    for _ in range(MAX_STEPS):
        if oblique:
            along = gradient - T * (T * gradient).sum(axis=0)
        else:
            inner = T.T @ gradient
            along = gradient - T @ (inner + inner.T) / 2.0
        length = float(np.linalg.norm(along))
        if length < CLOSE:
            return height, T, True
        step *= 2.0
        for _ in range(40):
            there = T - step * along
            if oblique:
                there = there / np.sqrt((there * there).sum(axis=0))
            else:
                U, _, V = np.linalg.svd(there)
                there = U @ V
            new, slope = _criterion(A, there, oblique)
            if new < height - 0.5 * step * length**2:
                break
            step /= 2.0
        else:  # no step leads down: rounding
            return height, T, length < 1e-5
        T, height, gradient = there, new, slope
    return height, T, False


def _criterion(A: Floats, T: Floats, oblique: bool) -> tuple[float, Floats]:
    """Return the criterion of a rotation and its gradient."""
    if not oblique:
        height, slope = _varimax(A @ T)
        return height, A.T @ slope
    back = np.linalg.inv(T)
    L = A @ back.T
    height, slope = _quartimin(L)
    return height, -(L.T @ slope @ back).T
