"""Probability of each cell given the other cells of its row."""

from __future__ import annotations

from typing import Any


def cell_probabilities(model: Any, X: object) -> Any:
    """Return P(cell = 1 | the other observed cells of the row) for every cell, observed or not.

    For a nominal or ordinal column this is the probability of each level; a continuous column or count has its expected
    value. Columns of numbers come last.

    Parameters
    ----------
    model : fitted estimator
        The model.
    X : table of shape (rows, columns)
        As for its `fit`.

    Returns
    -------
    probabilities : ndarray of shape (rows, columns), or a data frame if X is one

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LatentClassAnalysis, diagnostics
    >>> X = np.repeat([[1, 1, 1, 1], [0, 0, 0, 0]], 50, axis=0)
    >>> X[0, 0] = 0  # a possible data error
    >>> model = LatentClassAnalysis(2, random_state=0).fit(X)
    >>> diagnostics.cell_probabilities(model, X)[0].round(2)
    array([0.97, 0.99, 0.99, 0.99])
    """
    return model._cell_probabilities(X)
