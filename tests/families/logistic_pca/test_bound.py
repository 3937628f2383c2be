"""The variational bound: equal to its definition by integration, below the likelihood, never falling."""

import numpy as np
import pytest

from hiddenbits import open_table
from hiddenbits.engine import Key
from hiddenbits.families.logistic_pca.params import LogisticParams, canonical
from tests.families.logistic_pca.logistic_data import Logistic, RefinedLogistic, fit, rows_of, small_start, synth
from tests.oracle.integration import Plane

pytestmark = pytest.mark.core


def random_params(rng, d, q):
    b = rng.standard_normal(d)
    return LogisticParams(rng.standard_normal((d, q)), b, np.zeros(d))


def holed(rng, n, d):
    rows = rng.integers(0, 2, (n, d)).astype(float)
    rows[rng.random((n, d)) < 0.2] = np.nan
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_bound_equals_two_dimensional_integration(seed):
    """ln of the integral of Prod P~(t_i | x, xi_i) p(x), eqs 4 and 5 as printed, at the xi of the last inner step."""
    rng = np.random.default_rng(seed)
    params, rows = random_params(rng, 7, 2), holed(rng, 8, 7)
    model = Logistic(2, cold_steps=4)
    block = open_table(rows).grid(256).blocks[0]
    stats, posterior = model.expect(params, model.prepare(params), block, None, Key(0))
    before = Logistic(2, cold_steps=3).expect(params, model.prepare(params), block, None, Key(0))[1]
    plane = Plane(params.loadings, params.intercepts)
    total = 0.0
    for n, row in enumerate(rows):
        C = np.linalg.inv(np.linalg.inv(unpacked(before.covariance[n])))
        x = before.mean[n]
        S = C + np.outer(x, x)
        W, b = params.loadings, params.intercepts
        xi = np.sqrt(np.einsum("ia,ab,ib->i", W, S, W) + 2 * b * (W @ x) + b**2)  # eq 8
        lam = (0.5 - 1 / (1 + np.exp(-xi))) / (2 * xi)
        seen = ~np.isnan(row)
        A = (2 * row[seen] - 1) * plane.A[:, seen]
        log_p = -np.logaddexp(0, -xi[seen]) + (A - xi[seen]) / 2 + lam[seen] * (A**2 - xi[seen] ** 2)  # eq 5
        scores = plane.log_prior + log_p.sum(axis=1)
        value = np.log(np.exp(scores - scores.max()).sum()) + scores.max()
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        mean = weights @ plane.nodes
        np.testing.assert_allclose(posterior.mean[n], mean, rtol=0, atol=1e-10)
        covariance = (plane.nodes - mean).T @ ((plane.nodes - mean) * weights[:, None])
        np.testing.assert_allclose(unpacked(posterior.covariance[n]), covariance, rtol=0, atol=1e-10)
        total += value
    assert float(stats.bound) == pytest.approx(total, abs=1e-10 * len(rows))


def unpacked(c):
    return np.array([[c[0], c[1] / np.sqrt(2)], [c[1] / np.sqrt(2), c[2]]])


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_bound_is_below_the_likelihood_on_every_row(seed, q):
    rng = np.random.default_rng(seed)
    params, rows = random_params(rng, 9, q), holed(rng, 60, 9)
    plane = Plane(params.loadings, params.intercepts, step=0.05)
    truth = np.array([plane.log_likelihood(row) for row in rows])
    bound = rows_of(Logistic(q), "bound_rows", params, rows)
    assert (bound < truth + 1e-12).all()
    assert (truth - bound).max() < 3.0
    np.testing.assert_allclose(rows_of(Logistic(q), "log_likelihood", params, rows), truth, rtol=0, atol=1e-8)


def test_reference_figures():
    """Measured with an independent prototype; see the mathematics of this model."""
    X = synth(0, 0.05)
    outcome = fit(Logistic(2, ridge=0.0), X, small_start(0, X), tol=1e-9)
    assert outcome.trace[-1] / 600 == pytest.approx(-5.55006, abs=1e-4)
    assert -rows_of(Logistic(2), "log_likelihood", outcome.params, X).mean() == pytest.approx(4.876, abs=0.005)
    X = synth(3, 0.05)
    outcome = fit(Logistic(2, ridge=0.0), X, small_start(3, X), tol=1e-9)
    assert -rows_of(Logistic(2), "log_likelihood", outcome.params, X).mean() == pytest.approx(5.148, abs=0.01)


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.UnobservedColumnsWarning")
def test_masked_columns_equal_dropped_ones():
    """A fit to a table with columns that nobody answered is that to the table without them."""
    X = synth(1, 0.1).astype(float)
    padded = np.full((600, 19), np.nan)
    kept = np.array([j for j in range(19) if j not in (2, 7, 18)])
    padded[:, kept] = X
    given = small_start(1, X)
    wide = LogisticParams(np.full((19, 2), 0.3), np.full(19, 0.2), np.zeros(19))
    wide.loadings[kept], wide.intercepts[kept], wide.center[kept] = given.loadings, given.intercepts, given.center
    for model in (Logistic(2, ridge=0.1), RefinedLogistic(2, ridge=0.1)):
        narrow = fit(model, X, given, max_iter=12, tol=0.0, accelerate=False)
        masked = fit(model, padded, wide, max_iter=12, tol=0.0, accelerate=False)
        np.testing.assert_allclose(masked.params.loadings[kept], narrow.params.loadings, rtol=0, atol=1e-10)
        np.testing.assert_allclose(masked.params.intercepts[kept], narrow.params.intercepts, rtol=0, atol=1e-10)
        np.testing.assert_allclose(masked.params.loadings[[2, 7, 18]], 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [Logistic, RefinedLogistic])
def test_canonical_loadings_do_not_depend_on_the_start_s_rotation(kind):
    X = synth(2, 0.1)
    given = small_start(2, X, q=3)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turned = LogisticParams(given.loadings @ turn, given.intercepts, given.center)
    fits = [canonical(fit(kind(3, ridge=0.1), X, start, max_iter=40, tol=0.0).params) for start in (given, turned)]
    np.testing.assert_allclose(fits[0].loadings, fits[1].loadings, rtol=0, atol=1e-8)
    np.testing.assert_allclose(fits[0].intercepts, fits[1].intercepts, rtol=0, atol=1e-8)
    products = fits[0].loadings.T @ fits[0].loadings
    np.testing.assert_allclose(products, np.diag(np.diag(products)), rtol=0, atol=1e-9)
    assert (np.diff(np.diag(products)) <= 0).all()
    assert (fits[0].loadings.max(axis=0) == np.abs(fits[0].loadings).max(axis=0)).all()
