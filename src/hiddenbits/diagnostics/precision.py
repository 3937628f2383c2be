"""How precisely a test measures: item and test information, reliability, and positions given sum scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import Floats
from hiddenbits.diagnostics.maps import bits_at_nodes, on_grid, score_distribution
from hiddenbits.diagnostics.tables import open_for
from hiddenbits.display import as_frame

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
    """Return the information of each item at some latent positions: of a binary item a^2 p (1 - p), a its slope.

    In several dimensions it is the information in the direction in which the item discriminates most.

    Parameters
    ----------
    model : fitted estimator
        `ItemResponseModel` with columns of any type (not a bifactor model), `LogisticPCA` or `ClippedPCA`.
    positions : array of shape (n_positions, n_components)
        Latent positions (abilities), whose prior has mean 0 and standard deviation 1.

    Returns
    -------
    information : ndarray of shape (n_positions, columns)
        Columns of numbers come last.

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> X, counts = datasets.load_lsat()
    >>> model = ItemResponseModel().fit(X, sample_weight=counts)
    >>> diagnostics.item_information(model, [[-2.0], [0.0], [2.0]]).round(2)
    array([[0.13, 0.12, 0.12, 0.12, 0.09],
           [0.04, 0.1 , 0.2 , 0.08, 0.04],
           [0.01, 0.04, 0.08, 0.03, 0.01]])
    """
    return np.asarray(np.linalg.eigvalsh(_information(model, positions))[..., -1])


def test_information(model: Any, positions: ArrayLike) -> Floats:
    """Return the information of the whole test at some latent positions, the sum over its items.

    The standard error of an ability is about the root of the inverse information; with the prior 1 is added to it.

    Parameters
    ----------
    model : fitted estimator
        As for `item_information`.
    positions : array of shape (n_positions, n_components)
        Latent positions (abilities), whose prior has mean 0 and standard deviation 1.

    Returns
    -------
    information : ndarray of shape (n_positions, n_components, n_components)

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> X, counts = datasets.load_lsat()
    >>> model = ItemResponseModel().fit(X, sample_weight=counts)
    >>> diagnostics.test_information(model, [[-2.0], [0.0], [2.0]])[:, 0, 0].round(2)
    array([0.58, 0.46, 0.17])
    """
    return np.asarray(_information(model, positions).sum(axis=1))


test_information.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def reliability(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Reliability:
    """Return the empirical and the marginal reliability of each dimension of a test.

    They are defined as in mirt (`empirical_rxx` of posterior means, `marginal_rxx`). They agree if the model is true
    and the rows are a sample of the population; the empirical reliability depends on the rows of X.

    Parameters
    ----------
    model : fitted estimator
        `ItemResponseModel` with columns of any type (not a bifactor model), or `LogisticPCA` or `ClippedPCA` of 1 to 3
        dimensions.
    X : table of shape (rows, columns)
        As for its `fit`.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    reliability : Reliability

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> X, counts = datasets.load_lsat()
    >>> model = ItemResponseModel().fit(X, sample_weight=counts)
    >>> reliability = diagnostics.reliability(model, X, counts)
    >>> reliability.empirical.round(2), reliability.marginal.round(2)
    (array([0.3]), array([0.3]))
    """
    table = open_for(model, X, sample_weight)
    points, prior, _ = bits_at_nodes(model)
    prior_precision = np.linalg.inv(getattr(model, "correlations_", np.eye(points.shape[1])))
    posterior_covariance = np.linalg.inv(test_information(model, points) + prior_precision)
    marginal = 1.0 - prior @ np.diagonal(posterior_covariance, axis1=1, axis2=2)
    mean, covariance = model.transform(table, return_cov=True)
    weights = np.ones(len(mean)) if table.weights is None else np.asarray(table.weights)
    variance = np.average((mean - np.average(mean, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    error = np.average(np.diagonal(covariance, axis1=1, axis2=2), axis=0, weights=weights)
    return Reliability(variance / (variance + error), np.asarray(marginal))


def sum_score_table(model: Any) -> Any:
    """Return the latent position and its standard error given the sum score only, and the share of each sum score.

    The sum score adds up the answers, which are counted 0, 1, ... in the order of the levels of an item; columns of
    numbers are left out. Positions are posterior means given the score (EAP; `fscores(method = "EAPsum")` in mirt), by
    the recursion of Lord and Wingersky (1984). They are a table to score a test by hand, without the model.

    Parameters
    ----------
    model : fitted estimator
        `ItemResponseModel` (not a bifactor model), or `LogisticPCA` or `ClippedPCA` of 1 to 3 dimensions.

    Returns
    -------
    scores : frame
        Columns "score", "share" (which the model expects), and for each dimension "dimension_1" and "se_1", ..., or the
        names of the loadings pattern. A frame of the first installed library: pandas, polars or pyarrow.

    References
    ----------
    Thissen, Pommerich, Billeaud and Williams (1995), "Item response theory for scores on tests including polytomous
    items with ordered responses".

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> X, counts = datasets.load_lsat()
    >>> diagnostics.sum_score_table(ItemResponseModel().fit(X, sample_weight=counts)).round(2)
       score  share  dimension_1  se_1
    0      0   0.00        -1.90  0.80
    1      1   0.02        -1.41  0.80
    2      2   0.09        -0.94  0.81
    3      3   0.23        -0.45  0.82
    4      4   0.36         0.07  0.84
    5      5   0.30         0.65  0.86
    """
    check_is_fitted(model)
    points, weights, p, levels = on_grid(model)
    joint = score_distribution(levels.by_item(p)) * weights[:, None]
    share = joint.sum(axis=0)
    posterior = (joint / share).T
    mean = posterior @ points
    se = np.sqrt(np.maximum(posterior @ points**2 - mean**2, 0.0))
    columns: dict[str, Any] = {"score": list(range(len(share))), "share": share.tolist()}
    for axis, name in enumerate(map(str, model.get_feature_names_out())):
        suffix = name.removeprefix("dimension_")
        columns |= {name: mean[:, axis].tolist(), f"se_{suffix}": se[:, axis].tolist()}
    return as_frame(columns, otherwise="use model.latent_scores(X)")


def _information(model: Any, positions: ArrayLike) -> Floats:
    """Return Fisher's information of each column, (positions, columns, q, q)."""
    q, x = len(getattr(model, "components_", ())), np.asarray(positions, np.float64)
    if not q:
        kind = type(model).__name__
        raise ValueError(f"Use a model of latent dimensions, such as ItemResponseModel(1), not {kind}.")
    if x.ndim != 2 or x.shape[1] != q:
        raise ValueError(f"positions must have shape (number, {q}), with a column for each dimension, got {x.shape}.")
    if hasattr(model, "item_information"):
        bits_at_nodes(model)  # refuses a bifactor model, whose items have axes of their own
        return np.asarray(model.item_information(x))
    p = np.asarray(model.inverse_transform(x))
    p_of_steps = [
        [np.asarray(model.inverse_transform(x + sign * STEP * axis)) for sign in (1, -1)] for axis in np.eye(q)
    ]
    slopes = np.stack([(above - below) / (2.0 * STEP) for above, below in p_of_steps], axis=2)
    slopes /= np.sqrt(np.maximum(p * (1.0 - p), MIN_VARIANCE))[:, :, None]
    return np.asarray(slopes[..., :, None] * slopes[..., None, :])
