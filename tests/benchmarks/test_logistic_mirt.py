"""The judge of benchmarks/logistic/mirt.py, against quadrature by scipy."""

import numpy as np
import pytest
from benchmarks.logistic.mirt import chosen, drawn, log_likelihoods
from scipy.integrate import quad

pytestmark = pytest.mark.core


def by_quadrature(row, slopes, intercepts):
    """Return ln of the integral of P(row | x) N(x; 0, 1)."""

    def integrand(x):
        chance = 1.0 / (1.0 + np.exp(-(slopes * x + intercepts)))
        return np.where(row == 1, chance, 1.0 - chance).prod() * np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)

    return np.log(quad(integrand, -10.0, 10.0, epsabs=0.0, epsrel=1e-10, limit=200)[0])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_judge_integrates(seed):
    rng = np.random.default_rng(seed)
    slopes, intercepts = rng.lognormal(0.0, 0.5, 12), rng.normal(size=12)
    X = rng.integers(0, 2, (4, 12))
    want = [by_quadrature(row, slopes, intercepts) for row in X]
    np.testing.assert_allclose(log_likelihoods(X, slopes[:, None], intercepts), want, rtol=0, atol=1e-7)


def test_two_dimensions_with_columns_of_their_own_are_two_tables():
    rng = np.random.default_rng(0)
    slopes, intercepts = rng.lognormal(0.0, 0.5, 10), rng.normal(size=10)
    X, loadings = rng.integers(0, 2, (4, 10)), np.zeros((10, 2))
    loadings[:5, 0], loadings[5:, 1] = slopes[:5], slopes[5:]
    apart = sum(log_likelihoods(X[:, some], slopes[some, None], intercepts[some]) for some in (slice(5), slice(5, 10)))
    np.testing.assert_allclose(log_likelihoods(X, loadings, intercepts), apart, rtol=0, atol=1e-7)


def test_tables_are_chosen_by_a_part_of_their_names():
    assert chosen("nltcs") == ["nltcs", "nltcs, 2 dimensions"]
    assert len(chosen(None)) == 8
    with pytest.raises(SystemExit, match="there is no such table"):
        chosen("nothing")


def test_rows_to_fit_and_rows_held_out_are_of_one_model():
    train, test = drawn(2_000, 8)
    assert train.shape == (2_000, 8)
    # Shares of 2,000 and 3,000 rows differ by less than five standard errors, 5 * .5 * sqrt(1/2000 + 1/3000).
    assert np.abs(train.mean(axis=0) - test.mean(axis=0)).max() < 2.5 * np.sqrt(1 / 2_000 + 1 / 3_000)
