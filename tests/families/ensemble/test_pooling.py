"""Weights of a mixture of fitted densities: the closed forms, and the conditions of the maximum."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from hiddenbits.families.ensemble.pooling import fit_weights, pool

pytestmark = pytest.mark.core


def test_members_that_share_no_row_get_their_share_of_the_rows():
    """P_m(x) = 1 for the rows of member m and nearly 0 for the others: w is each member's share."""
    mine = np.repeat([0, 1, 2], [50, 30, 20])
    l = np.where(np.arange(3) == mine[:, None], -1.0, -80.0)  # noqa: E741
    w, reached = fit_weights(l, np.ones(100))
    assert reached
    np.testing.assert_allclose(w, [0.5, 0.3, 0.2], rtol=0, atol=1e-12)
    w, _ = fit_weights(l, np.ones(100), s=60.0)  # 20 pseudo-rows each
    np.testing.assert_allclose(w, [70 / 160, 50 / 160, 40 / 160], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("s", [0.0, 5.0])
def test_weights_are_the_maximum_that_a_general_optimiser_finds(seed, s):
    rng = np.random.default_rng(seed)
    l, v = 2.0 * rng.standard_normal((80, 4)), rng.uniform(0.5, 2.0, 80)  # noqa: E741

    def loss(u):
        log_w = u - logsumexp(u)
        return -(v @ logsumexp(l + log_w, axis=1) + s / 4 * log_w.sum())

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    w, reached = fit_weights(l, v, s, tol=1e-9)
    assert reached
    np.testing.assert_allclose(w, softmax(best.x), rtol=0, atol=1e-5)
    assert loss(np.log(w)) <= best.fun + 1e-6


def test_pool_is_logsumexp():
    l = np.random.default_rng(0).standard_normal((20, 3)) - 900.0  # noqa: E741  exp of it is 0
    w = np.array([0.2, 0.5, 0.3])
    log_p, r = pool(l, w)
    np.testing.assert_allclose(log_p, logsumexp(l, b=w, axis=1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(r, softmax(l + np.log(w), axis=1), rtol=0, atol=1e-13)
