"""Pairs of columns of a table with blanks: correlations of their bits, and which of their tables have an empty cell."""

import numpy as np


def correlations(X: np.ndarray) -> np.ndarray:
    """Return correlations of the bits of all pairs, over the rows in which both were observed; NaN for constants."""
    seen = (~np.isnan(X)).astype(float)
    x = np.where(np.isnan(X), 0.0, X)
    n = seen.T @ seen
    first, both = x.T @ seen / n, x.T @ x / n
    spread = np.sqrt(first * (1.0 - first))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((both - first * first.T) / (spread * spread.T))


def empty_cells(X: np.ndarray) -> np.ndarray:
    """Return for which pairs one of the four kinds of rows never occurs."""
    one, zero = (X == 1).astype(float), (X == 0).astype(float)
    return np.asarray(np.minimum.reduce([one.T @ one, one.T @ zero, zero.T @ one, zero.T @ zero]) == 0.0)
