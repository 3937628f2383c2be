"""Rows of a logistic PCA whose truth is known, and an estimator that is told the truth."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hiddenbits import LogisticPCA


class Truth(NamedTuple):
    """X: bits, NaN where blank. places: where on the map each row is. loadings (columns, dimensions), intercepts."""

    X: np.ndarray
    places: np.ndarray
    loadings: np.ndarray
    intercepts: np.ndarray


def draw(n_rows: int, n_columns: int, n_dimensions: int, *, seed: int, size: float = 1.5, blank: float = 0.0) -> Truth:
    """Draw loadings from N(0, size^2), intercepts and places from N(0, 1), then the bits."""
    rng = np.random.default_rng(seed)
    loadings = size * rng.standard_normal((n_columns, n_dimensions))
    intercepts = rng.standard_normal(n_columns)
    places = rng.standard_normal((n_rows, n_dimensions))
    p = 1.0 / (1.0 + np.exp(-(places @ loadings.T + intercepts)))
    X = (rng.random(p.shape) < p).astype(float)
    X[rng.random(p.shape) < blank] = np.nan
    return Truth(X, places, loadings, intercepts)


def told(truth: Truth, **options: Any) -> LogisticPCA:
    """Return an estimator with the true parameters.

    There is no public way to make one: it is fitted for a moment, to be whole, and its parameters are replaced.
    """
    model = LogisticPCA(truth.loadings.shape[1], tol=1e3, random_state=0, **options).fit(truth.X[:100])
    model.params_ = replace(model.params_, loadings=truth.loadings.copy(), intercepts=truth.intercepts.copy())
    return model
