"""Bifactor models: dimension reduction equals sums over all combinations of nodes, and a grid of all dimensions."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import ItemResponseModel
from hiddenbits.families.item_response.model import ItemResponse

PATTERN = {"general": "all", "A": [0, 1, 2], "B": [3, 4], "C": [5, 6]}


def some_rows(n, seed, columns=8):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 4))
    groups = [0, 0, 0, 1, 1, 2, 2, None]
    eta = np.stack([z[:, 0] + (0 if g is None else 1.2 * z[:, 1 + g]) for g in groups[:columns]], axis=1)
    X = (rng.random(eta.shape) < expit(eta)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("seed", range(3))
def test_sums_over_two_dimensions_equal_sums_over_all(seed):
    X = some_rows(100, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ItemResponseModel(loadings_pattern=PATTERN, max_iter=4, random_state=0).fit(X)
    family = model._model()
    model._params = params = replace(model._params, points=family.grid_points(1.5))  # 9 nodes to the power of 4
    states = family.hidden_states(params)
    p = np.clip(family.reconstruct(params, states), 1e-12, 1 - 1e-12)
    prior = -0.5 * (states**2).sum(axis=1)
    prior -= logsumexp(prior)
    rows = X[:8]
    logs = prior + np.nan_to_num(rows) @ np.log(p).T + np.nan_to_num(1 - rows) @ np.log1p(-p).T
    weights = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(model.score_samples(rows), logsumexp(logs, axis=1), rtol=1e-12)
    means, covariances = model.transform(rows, return_cov=True)
    np.testing.assert_allclose(means, weights @ states, atol=1e-12)
    for n in range(len(rows)):
        expected = (states * weights[n][:, None]).T @ states - np.outer(means[n], means[n])
        np.testing.assert_allclose(covariances[n], expected, atol=1e-12)
    completed = model.complete(rows)
    np.testing.assert_allclose(completed[np.isnan(rows)], (weights @ p)[np.isnan(rows)], atol=1e-12)
    assert family.log_joint(params, np.nan_to_num(rows[0]), states[5]) == pytest.approx(
        prior[5] + np.where(np.nan_to_num(rows[0]) == 1, np.log(p[5]), np.log1p(-p[5])).sum(), rel=1e-12
    )


def test_two_groups_equal_a_pattern_of_three_dimensions():
    """A general factor and two groups are also three dimensions on a grid: the same maximum."""
    X = some_rows(600, 0, columns=5)
    two_groups = {"general": "all", "A": [0, 1, 2], "B": [3, 4]}
    reduced = ItemResponseModel(loadings_pattern=two_groups, tol=1e-6).fit(X)
    model, params = reduced._model(), reduced._params
    whole = ItemResponse(3, loads=tuple(map(tuple, reduced._loads().tolist())))
    wide = replace(
        params,
        points=whole.grid_points(0.4),
        correlations=np.eye(3),
        slopes=model.by_dimension(params.slopes, params, numbers=False),
        number_slopes=np.zeros((0, 3)),
    )
    copy = ItemResponseModel(3).set_params()
    copy.__dict__.update({**reduced.__dict__, "loadings_pattern": None, "n_components": 3, "_params": wide})
    np.testing.assert_allclose(copy.score_samples(X), reduced.score_samples(X), atol=1e-5)


def test_slopes_of_groups_are_named():
    X = some_rows(300, 1)
    model = ItemResponseModel(loadings_pattern=PATTERN, max_iter=20, tol=1e-3).fit(X)
    assert list(model.get_feature_names_out()) == ["general", "A", "B", "C"]
    loads = model.components_.T != 0
    np.testing.assert_array_equal(loads[:, 0], True)
    np.testing.assert_array_equal(loads[:, 1:].sum(axis=1), [1, 1, 1, 1, 1, 1, 1, 0])
    assert model.n_parameters_ == 8 * 2 + 7
    assert (model.components_.sum(axis=1) > 0).all()
    with pytest.raises(ValueError, match="undo the pattern"):
        model.rotate()
