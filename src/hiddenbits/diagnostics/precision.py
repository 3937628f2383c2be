"""How precisely a test measures: information of items and of the whole test, and reliability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.maps import on_grid
from hiddenbits.diagnostics.tables import opened

STEP = 1e-4  # of the differences that slopes are made of: their error is below 1e-7
LEAST_VARIANCE = 1e-12


class Reliability(NamedTuple):
    """Reliability of each dimension, between 0 and 1; from `reliability`.

    Attributes
    ----------
    empirical : ndarray of shape (n_components,)
        Variance of the posterior means of the rows, divided by itself plus the mean posterior variance.
    marginal : ndarray of shape (n_components,)
        1 less the mean of (information + 1)^-1 over the prior: that of the test, whoever takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.diagnostics import Reliability
    >>> Reliability(np.array([0.81]), np.array([0.8])).empirical
    array([0.81])
    """

    empirical: Floats
    marginal: Floats


def item_information(model: Any, positions: ArrayLike) -> Floats:
    """Return the information of each column at some positions; with discriminations a, |a|^2 p (1 - p).

    In more than one dimension it is that in the direction in which the column discriminates most.

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA`.
    positions : array of shape (n_positions, n_components)
        Where; abilities have mean 0 and standard deviation 1.

    Returns
    -------
    information : ndarray of shape (n_positions, columns)

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> diagnostics.item_information(model, [[-1.0], [0.0], [1.0]]).shape
    (3, 6)
    """
    return np.asarray((_slopes(model, positions) ** 2).sum(axis=2))


def test_information(model: Any, positions: ArrayLike) -> Floats:
    """Return the information of the whole test at some positions; with discriminations a, Sum a a' p (1 - p).

    The standard error of an ability is about the square root of its inverse; with the prior, of the inverse plus 1.

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA`.
    positions : array of shape (n_positions, n_components)
        Where; abilities have mean 0 and standard deviation 1.

    Returns
    -------
    information : ndarray of shape (n_positions, n_components, n_components)

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> information = diagnostics.test_information(model, [[0.0]])
    >>> bool(np.isclose(information[0, 0, 0], diagnostics.item_information(model, [[0.0]]).sum()))
    True
    """
    slopes = _slopes(model, positions)
    return np.asarray(slopes.transpose(0, 2, 1) @ slopes)


test_information.__test__ = False  # type: ignore[attr-defined]  # pytest takes the name for that of a test


def reliability(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Reliability:
    """Return how reliably a test tells people apart: empirical and marginal reliability of each dimension.

    Both as mirt has them (`empirical_rxx` of posterior means, `marginal_rxx`). They agree where the model is true and
    the rows are from the population; the empirical one is that of the rows given.

    Parameters
    ----------
    model : fitted LogisticPCA
        Of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    found : Reliability

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> found = diagnostics.reliability(model, X)
    >>> bool(abs(found.empirical[0] - found.marginal[0]) < 0.05)
    True
    """
    nodes, prior, _ = on_grid(model)
    information = test_information(model, nodes)
    left = np.linalg.inv(information + np.eye(nodes.shape[1]))
    marginal = 1.0 - prior @ np.diagonal(left, axis1=1, axis2=2)
    table = opened(model, X, sample_weight)
    mean, covariance = model.transform(table, return_cov=True)
    weights = np.ones(len(mean)) if table.weights is None else np.asarray(table.weights)
    spread = np.average((mean - np.average(mean, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    error = np.average(np.diagonal(covariance, axis1=1, axis2=2), axis=0, weights=weights)
    return Reliability(spread / (spread + error), np.asarray(marginal))


def _slopes(model: Any, positions: ArrayLike) -> Floats:
    """Return the slopes of P(bit = 1), over the standard deviation of the bit, (positions, columns, q)."""
    if not hasattr(model, "components_"):
        raise ValueError(f"This needs a map, such as LogisticPCA(1); {type(model).__name__} is none.")
    q, places = len(model.components_), np.asarray(positions, np.float64)
    if places.ndim != 2 or places.shape[1] != q:
        raise ValueError(
            f"positions must have the shape (number, {q}), a column for each dimension; theirs is {places.shape}."
        )
    p = np.asarray(model.inverse_transform(places))
    ends = [
        [np.asarray(model.inverse_transform(places + sign * STEP * axis)) for sign in (1, -1)] for axis in np.eye(q)
    ]
    slopes = np.stack([(up - down) / (2.0 * STEP) for up, down in ends], axis=2)
    return np.asarray(slopes / np.sqrt(np.maximum(p * (1.0 - p), LEAST_VARIANCE))[:, :, None])
