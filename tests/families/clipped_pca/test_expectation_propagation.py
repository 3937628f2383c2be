"""Expectation propagation against closed forms, integration and long importance samples."""

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import norm

from hiddenbits.families.clipped_pca.rows import mills, propagate
from hiddenbits.maths.packed_symmetric import unpack
from tests.families.clipped_pca.clipped_data import probit_params, rows_from, with_blanks
from tests.oracle.integration import ProbitPlane

pytestmark = pytest.mark.core


def standing(rows):
    return np.ascontiguousarray(np.where(np.isnan(rows), 0.0, 2 * rows - 1).T)


def test_mills_ratio():
    z = np.array([-30.0, -5.0, -1.0, 0.0, 2.0, 8.0])
    np.testing.assert_allclose(mills(z), np.exp(norm.logpdf(z) - norm.logcdf(z)), rtol=1e-12)
    assert mills(np.array([60.0]))[0] == 0.0
    assert mills(np.array([-1e4]))[0] == pytest.approx(1e4, rel=1e-7)


@pytest.mark.parametrize(("a", "b", "s"), [(1.0, 0.0, 1), (4.0, -2.0, 1), (0.3, 1.5, -1), (-2.5, 3.0, -1)])
def test_one_bit_is_exact(a, b, s):
    """P(y | s) is skew normal: E[y] = s a r/k, Var[y] = 1 - (a/k)^2 r (z + r), with k^2 = 1 + a^2 and z = s b/k."""
    found = propagate(np.array([[a]]), np.array([b]), np.array([[float(s)]]))
    k = np.sqrt(1 + a * a)
    z = s * b / k
    r = norm.pdf(z) / norm.cdf(z)
    assert found.posterior.mean[0, 0] == pytest.approx(s * a * r / k, abs=1e-7)
    assert found.posterior.covariance[0, 0] == pytest.approx(1 - (a / k) ** 2 * r * (z + r), abs=1e-7)
    assert found.log_likelihood[0] == pytest.approx(np.log(ndtr(z)), abs=1e-7)
    assert found.leave_one_out(np.array([b]))[0, 0] == pytest.approx(ndtr(b / k), abs=1e-7)  # nothing else is known


@pytest.mark.parametrize("seed", range(3))
def test_close_to_integration(seed):
    """Means within .02 posterior standard deviations, ln P within .05: the figures to be shown, with few columns too.

    Left-out bits are harder: what is left of a row is less like a Gaussian than the whole.
    """
    params = probit_params(14, 2, seed)
    rows = with_blanks(rows_from(params, 25, seed), 0.2, seed)
    a, b = params.probit
    found = propagate(a, b, standing(rows))
    truth = ProbitPlane(params.loadings, params.biases, step=0.1)
    means, covariances = (np.array(m) for m in zip(*(truth.moments(row) for row in rows), strict=True))
    spread = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    assert (np.abs(found.posterior.mean - means) / spread).max() < 0.02
    np.testing.assert_allclose(unpack(found.posterior.covariance, 2), covariances, atol=0.04)
    likelihood = [truth.log_likelihood(row) for row in rows]
    assert np.abs(found.log_likelihood - likelihood).max() < 0.05
    missed = found.leave_one_out(b)[:5] - [truth.leave_one_out(row) for row in rows[:5]]
    assert np.abs(missed).max() < 0.05
    assert np.sqrt((missed**2).mean()) < 0.01


def test_many_dimensions_against_a_long_importance_sample():
    """100,000 draws, 8 dimensions, 64 columns; the standard error of ln P is then below .003."""
    params = probit_params(64, 8, 7)
    rows = rows_from(params, 1, 7)
    a, b = params.probit
    found = propagate(a, b, standing(rows))
    rng = np.random.default_rng(0)
    for row, mean, covariance, log_p in zip(
        rows, found.posterior.mean, unpack(found.posterior.covariance, 8), found.log_likelihood, strict=True
    ):
        # Wider than the posterior, so that no draw outweighs the others.
        root = 1.15 * np.linalg.cholesky(covariance)
        z = rng.standard_normal((100_000, 8))
        y = mean + z @ root.T
        scores = log_ndtr((2 * row - 1) * (y @ a.T + b)).sum(axis=1) + 0.5 * ((z**2).sum(axis=1) - (y**2).sum(axis=1))
        scores += np.log(np.diag(root)).sum()
        weights = np.exp(scores - logsumexp(scores))
        assert 1 / (weights**2).sum() > 10_000  # worth as many independent draws
        center = weights @ y
        spread = np.sqrt(weights @ (y - center) ** 2)
        assert (np.abs(mean - center) / spread).max() < 0.02
        assert log_p == pytest.approx(logsumexp(scores) - np.log(len(y)), abs=0.05)


def test_blanks_are_columns_left_out():
    params = probit_params(9, 3, 1)
    rows = rows_from(params, 5, 1)
    a, b = params.probit
    rows[:, [2, 5]] = np.nan
    kept = [0, 1, 3, 4, 6, 7, 8]
    whole, part = propagate(a, b, standing(rows)), propagate(a[kept], b[kept], standing(rows[:, kept]))
    np.testing.assert_allclose(whole.posterior.mean, part.posterior.mean, atol=1e-12)
    np.testing.assert_allclose(whole.log_likelihood, part.log_likelihood, atol=1e-12)
    # Of a blank nothing is to be left out: its cavity is the posterior.
    np.testing.assert_allclose(whole.mean[[2, 5]], a[[2, 5]] @ whole.posterior.mean.T, atol=1e-12)


@pytest.mark.parametrize(("d", "q", "steep"), [(200, 1, 4.4), (300, 2, 4.4), (60, 16, 30.0)])
@pytest.mark.parametrize("likely", [True, False])
def test_steep_slopes_and_impossible_rows(d, q, steep, likely):
    """It ends where factors should: each bit's own mean and variance of u = a.y are those of the whole posterior."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal((d, q))
    a *= steep / np.sqrt((a**2).sum(axis=1))[:, None]
    b = 3 * rng.standard_normal(d)
    y = rng.standard_normal((6, q))
    s = np.where(rng.random((6, d)) < ndtr(y @ a.T + b) if likely else rng.random((6, d)) < 0.5, 1.0, -1.0)
    found = propagate(a, b, np.ascontiguousarray(s.T))
    assert (found.variance > 0).all()
    assert np.isfinite(found.log_likelihood).all()
    m, v = found.mean.T, found.variance.T
    z = s * (m + b) / np.sqrt(1 + v)
    r = np.exp(norm.logpdf(z) - norm.logcdf(z))
    covariance = unpack(found.posterior.covariance, q)
    np.testing.assert_allclose(m + s * v * r / np.sqrt(1 + v), found.posterior.mean @ a.T, atol=1e-5)
    variances = np.einsum("ia,nab,ib->ni", a, covariance, a, optimize=True)
    np.testing.assert_allclose(v - v**2 * r * (z + r) / (1 + v), variances, atol=1e-5)
