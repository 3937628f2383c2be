"""How precisely a test measures: item and test information, and reliability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.maps import on_grid
from hiddenbits.diagnostics.tables import open_for

STEP = 1e-4  # of the finite differences, whose error is below 1e-7
MIN_VARIANCE = 1e-12


class Reliability(NamedTuple):
    """Reliability of each dimension, between 0 and 1; returned by `reliability`.

    Attributes
    ----------
    empirical : ndarray of shape (n_components,)
        Variance of the posterior means of the rows, divided by the sum of itself and the mean posterior variance.
    marginal : ndarray of shape (n_components,)
        1 minus the mean of (information + 1)^-1 over the prior, which does not depend on the rows.

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
    """Return the information of each item at some latent positions: |a|^2 p (1 - p) for discriminations a.

    In several dimensions it is the information in the direction in which the item discriminates most.

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA`.
    positions : array of shape (n_positions, n_components)
        Latent positions (abilities), whose prior has mean 0 and standard deviation 1.

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
    """Return the information of the whole test at some latent positions: Sum a a' p (1 - p) for discriminations a.

    The standard error of an ability is about the root of the inverse information; with the prior 1 is added to it.

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA`.
    positions : array of shape (n_positions, n_components)
        Latent positions (abilities), whose prior has mean 0 and standard deviation 1.

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


test_information.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def reliability(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Reliability:
    """Return the empirical and the marginal reliability of each dimension of a test.

    They are defined as in mirt (`empirical_rxx` of posterior means, `marginal_rxx`). They agree if the model is true
    and the rows are a sample of the population; the empirical reliability depends on the rows of X.

    Parameters
    ----------
    model : fitted LogisticPCA
        A model of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    reliability : Reliability

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> reliability = diagnostics.reliability(model, X)
    >>> bool(abs(reliability.empirical[0] - reliability.marginal[0]) < 0.05)
    True
    """
    nodes, prior, _ = on_grid(model)
    information = test_information(model, nodes)
    posterior_covariance = np.linalg.inv(information + np.eye(nodes.shape[1]))
    marginal = 1.0 - prior @ np.diagonal(posterior_covariance, axis1=1, axis2=2)
    table = open_for(model, X, sample_weight)
    mean, covariance = model.transform(table, return_cov=True)
    weights = np.ones(len(mean)) if table.weights is None else np.asarray(table.weights)
    variance = np.average((mean - np.average(mean, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    error = np.average(np.diagonal(covariance, axis1=1, axis2=2), axis=0, weights=weights)
    return Reliability(variance / (variance + error), np.asarray(marginal))


def _slopes(model: Any, positions: ArrayLike) -> Floats:
    """Return the slopes of P(1), divided by the standard deviation of the item, (positions, columns, q)."""
    if not hasattr(model, "components_"):
        raise ValueError(f"Use a model of latent dimensions, such as LogisticPCA(1), not {type(model).__name__}.")
    q, x = len(model.components_), np.asarray(positions, np.float64)
    if x.ndim != 2 or x.shape[1] != q:
        raise ValueError(f"positions must have shape (number, {q}), with a column for each dimension, got {x.shape}.")
    p = np.asarray(model.inverse_transform(x))
    p_of_steps = [
        [np.asarray(model.inverse_transform(x + sign * STEP * axis)) for sign in (1, -1)] for axis in np.eye(q)
    ]
    slopes = np.stack([(above - below) / (2.0 * STEP) for above, below in p_of_steps], axis=2)
    return np.asarray(slopes / np.sqrt(np.maximum(p * (1.0 - p), MIN_VARIANCE))[:, :, None])
