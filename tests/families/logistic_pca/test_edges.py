"""Nearly certain bits: loadings of 85 make posteriors with sharp edges, which grids and draws must resolve."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from hiddenbits.families.logistic_pca.params import LogisticParams
from tests.families.logistic_pca.logistic_data import Logistic, rows_of
from tests.oracle.integration import sharp_log_likelihood

pytestmark = pytest.mark.core

LARGEST = 85.0


def sharp(seed, q, d=10):
    """A map whose largest loading is 85, with rows drawn from it and rows that contradict it."""
    rng = np.random.default_rng([seed, q])
    W = rng.standard_normal((d, q))
    W *= LARGEST / np.abs(W).max()
    b = -(W * rng.normal(0, 0.7, (d, q))).sum(axis=1)
    drawn = rng.standard_normal((8, q)) @ W.T + b > 0
    rows = np.concatenate([drawn, rng.integers(0, 2, (8, d))]).astype(float)
    rows[5, :3] = np.nan
    return LogisticParams(W, b, np.zeros(d)), rows


def by_quad(params, row):
    """ln P of a row in one dimension, by adaptive integration that is told where the edges are."""
    w, b = params.loadings[:, 0], params.intercepts
    sign = np.where(np.isnan(row), 0.0, 2.0 * row - 1.0)

    def height(x):
        return -0.5 * x * x - np.logaddexp(0, -sign * (w * x + b))[sign != 0].sum()

    axis = np.linspace(-12, 12, 24_001)
    heights = -0.5 * axis**2
    for j in np.flatnonzero(sign):
        heights -= np.logaddexp(0, -sign[j] * (w[j] * axis + b[j]))
    top = heights.max()
    near = axis[heights > top - 45]
    edges = -b / w
    cuts = np.unique(np.concatenate([[near[0] - 1e-3, near[-1] + 1e-3, axis[heights.argmax()]], edges]))
    cuts = cuts[(cuts >= near[0] - 1e-3) & (cuts <= near[-1] + 1e-3)]
    parts = [
        quad(lambda x: np.exp(height(x) - top), *ends, limit=500, epsabs=1e-12, epsrel=1e-11)[0]
        for ends in pairwise(cuts)
    ]
    return top + np.log(sum(parts)) - 0.5 * np.log(2 * np.pi)


@pytest.mark.parametrize("seed", range(3))
def test_one_dimension_equals_adaptive_integration(seed):
    """The grid is as fine as the edges ask for: right to 1e-7, for rows of probability exp(-400) too."""
    params, rows = sharp(seed, 1)
    rows = rows[::2]
    truth = [by_quad(params, row) for row in rows]
    assert min(truth) < -30
    np.testing.assert_allclose(rows_of(Logistic(1), "log_likelihood", params, rows), truth, rtol=1e-9, atol=1e-7)


def test_the_oracle_equals_adaptive_integration():
    params, rows = sharp(0, 1)
    found = [sharp_log_likelihood(params.loadings, params.intercepts, row) for row in rows[::3]]
    np.testing.assert_allclose(found, [by_quad(params, row) for row in rows[::3]], rtol=0, atol=1e-5)


def test_a_bit_that_contradicts_a_certain_one_costs_all_of_it():
    """Bits at 0 and beyond 5.9 standard deviations, 500 nats apart: nothing stops at 300."""
    params = LogisticParams(np.array([[85.0], [85.0]]), np.array([0.0, -500.0]), np.zeros(2))
    row = np.array([0.0, 1.0])
    truth = by_quad(params, row)
    assert -501 < truth < -490
    assert rows_of(Logistic(1), "log_likelihood", params, row[None]) == pytest.approx([truth], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_two_dimensions_estimate_with_an_honest_error(seed):
    """A grid would need millions of nodes, so rows are sampled: within .2 nats and four standard errors.

    With 500 draws of weights that vary by about as much as they are, a standard error is .045.
    """
    params, rows = sharp(seed, 2)
    truth = np.array([sharp_log_likelihood(params.loadings, params.intercepts, row) for row in rows])
    assert Logistic(2).rule(params) is None
    found, error = rows_of(Logistic(2), "likelihood_and_error", params, rows).T
    away = found - truth
    assert np.abs(away).max() < 0.2
    assert (error > 0).all()
    assert np.abs(away / error).max() < 4.0
    assert np.sqrt(np.mean((away / error) ** 2)) < 1.5


def test_certain_bits_have_probability_one_at_most():
    """An activation of 400: its bit is certain, in importance sampling as elsewhere."""
    rng = np.random.default_rng(0)
    params = LogisticParams(rng.standard_normal((6, 4)), np.array([400.0, -400.0, 0, 0, 0, 0]), np.zeros(6))
    rows = np.array([[1.0, 0.0, np.nan, np.nan, np.nan, np.nan]])
    found, _ = rows_of(Logistic(4), "likelihood_and_error", params, rows)[0]
    assert found == pytest.approx(0.0, abs=0.2)
    assert found <= 0.2
