"""Correlation matrices near a matrix estimated pair by pair, which may have negative eigenvalues."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from hiddenbits.array_types import Floats


def clipped(matrix: Floats, floor: float) -> Floats:
    """Return the matrix with eigenvalues of at least `floor`, scaled back to a unit diagonal.

    Examples
    --------
    >>> clipped(np.array([[1.0, 0.2], [0.2, 1.0]]), 0.0)
    array([[1. , 0.2],
           [0.2, 1. ]])
    """
    return _unit_diagonal(_raise_eigenvalues(matrix, floor))


def nearest(matrix: Floats, floor: float, tol: float, max_iter: int) -> tuple[Floats, bool]:
    """Return the nearest correlation matrix in the sum of squares, and whether the iteration converged.

    Higham (2002): project alternately onto the matrices with eigenvalues of at least `floor` and onto those with a unit
    diagonal, with Dykstra's correction S for the first. The result has both properties.

    Examples
    --------
    >>> result, converged = nearest(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]), 0.0, 1e-9, 1000)
    >>> result.round(4)                                                       # Higham's example
    array([[1.    , 0.7607, 0.1573],
           [0.7607, 1.    , 0.7607],
           [0.1573, 0.7607, 1.    ]])
    """
    Y, S = matrix.copy(), np.zeros_like(matrix)
    for _ in range(max_iter):
        R = Y - S
        X = _raise_eigenvalues(R, floor)
        S = X - R
        previous, Y = Y, X.copy()
        np.fill_diagonal(Y, 1.0)
        norm = np.linalg.norm(Y)
        if np.linalg.norm(Y - previous) <= tol * norm and np.linalg.norm(Y - X) <= tol * norm:
            return _unit_diagonal(X), True
    return _unit_diagonal(X), False


def _raise_eigenvalues(matrix: Floats, floor: float) -> Floats:
    """Return the nearest symmetric matrix with eigenvalues of at least `floor`."""
    values, vectors = eigh(matrix, driver="evd")
    low = values < floor
    if not low.any():
        return matrix.copy()
    if 2 * np.count_nonzero(low) <= len(values):  # the cheaper one of two equivalent products
        part = vectors[:, low]
        return np.asarray(matrix + (part * (floor - values[low])) @ part.T)
    values = np.maximum(values, floor)
    return np.asarray((vectors * values) @ vectors.T)


def _unit_diagonal(matrix: Floats) -> Floats:
    """Return the matrix scaled to a unit diagonal, exactly symmetric."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    scaled = matrix * scale[:, None] * scale
    scaled = 0.5 * (scaled + scaled.T)
    np.fill_diagonal(scaled, 1.0)
    return np.asarray(scaled)
