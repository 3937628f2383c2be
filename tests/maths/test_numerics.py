"""The helpers that several models share, against scipy and against their definitions."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax

import hiddenbits
from hiddenbits.data.layout import binary_columns
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.maths.numerics import LONG_ROW, scores_may_vanish, softmax_rows, softplus_and_sigmoid

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [1, 2, 3, 8, LONG_ROW - 1, LONG_ROW, LONG_ROW + 1, 300])
def test_softmax_of_rows(width, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(-2000.0, 300.0, (257, width))  # far below what has an exponential
    offset, weights = rng.standard_normal((1, width)), rng.random(257)
    found = scores.copy()
    logs = softmax_rows(found, offset, weights)
    np.testing.assert_allclose(logs, logsumexp(scores + offset, axis=1), rtol=1e-14)
    np.testing.assert_allclose(found, weights[:, None] * softmax(scores + offset, axis=1), rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3000, 7)])
def test_softmax_takes_all_kinds_of_offsets(shape):
    rng = np.random.default_rng(0)
    scores, every, single = rng.normal(-5.0, 3.0, shape), rng.standard_normal(shape), rng.standard_normal((1, shape[1]))
    for offset in (None, single, every):
        whole = scores + (0.0 if offset is None else offset)
        for shift in (False, True):
            found = scores.copy()
            logs = softmax_rows(found, offset, shift=shift)
            np.testing.assert_allclose(logs, logsumexp(whole, axis=1), rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(found, softmax(whole, axis=1), rtol=1e-13)


def test_softmax_sees_what_is_no_number():
    for width in (3, LONG_ROW):
        scores = np.zeros((2, width))
        scores[1, 1] = np.nan
        logs = softmax_rows(scores)
        assert np.isfinite(logs[0])
        assert np.isnan(logs[1])


def test_softplus_and_its_slope():
    a = np.array([[-800.0, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 800.0]])
    above, slope = softplus_and_sigmoid(a)
    np.testing.assert_allclose(above, np.logaddexp(0.0, a), rtol=1e-15, atol=3e-16)
    np.testing.assert_allclose(slope, expit(a), rtol=1e-15, atol=0.0)


@pytest.mark.parametrize("depth", [650.0, 699.0, 701.0, 1500.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_least_probable_row_of_a_mixture(depth, seed):
    """Rows that are least probable in one class, at scores down to `depth`, against scipy's logsumexp.

    Without a shift the exponentials of the last would be 0.
    """
    rng = np.random.default_rng(seed)
    d, K = 90, 3
    lowest = rng.uniform(0.5, 1.0, (d, K))
    lowest *= (depth - np.log(K)) / lowest.sum(axis=0)  # -ln of the less probable value of each cell
    rare = np.exp(-lowest)
    theta = np.where(rng.random((d, K)) < 0.5, rare, 1.0 - rare)
    model, params = Classes(K), NodeParams.of(np.full(K, 1.0 / K), theta, np.full(d, 0.5), binary_columns(d))
    X = (theta < 0.5).T.astype(np.uint8)  # row k is the least probable one of class k
    assert params.scores.may_vanish == (depth > 700.0)
    shared = model.prepare(params)
    log_p = model.log_likelihood(params, shared, hiddenbits.open_table(X).grid(8).blocks[0])
    scores = X @ np.log(theta) + (1 - X) @ np.log1p(-theta) - np.log(K)
    np.testing.assert_allclose(np.diag(scores), -depth, rtol=1e-8)  # 1 - theta has lost digits
    np.testing.assert_allclose(log_p, logsumexp(scores, axis=1), rtol=1e-12)


def test_wide_tables_may_have_any_score():
    assert scores_may_vanish(np.zeros((1010, 1)), np.full(1, -1010 * np.log(2.0)))
    assert not scores_may_vanish(np.zeros((1000, 1)), np.full(1, -1000 * np.log(2.0)))
