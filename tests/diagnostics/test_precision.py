"""Information and reliability of tests, against derivatives, integrals and simulated abilities."""

import numpy as np
import pytest
from scipy.integrate import quad

from hiddenbits import LatentClassAnalysis, LogisticPCA, diagnostics

pytestmark = pytest.mark.core


def a_test(seed, n=4_000, q=1):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.5, 2.0, (12, q)), rng.uniform(-1.5, 1.5, 12)
    codes = rng.standard_normal((n, q))
    X = (rng.random((n, 12)) < 1 / (1 + np.exp(-(codes @ a.T + b)))).astype(int)
    return codes, X


def log_probabilities(model, place):
    p = model.inverse_transform(np.atleast_2d(place))[0]
    return p, np.log(p), np.log1p(-p)


@pytest.mark.parametrize("q", [1, 2])
def test_information_is_the_expected_curvature(q):
    """Minus the second derivative of ln P(bit), expected over the bit, by differences along each axis."""
    _, X = a_test(0, q=q)
    model = LogisticPCA(q, random_state=0).fit(X)
    place, h = np.full(q, 0.3), 1e-4
    found = diagnostics.test_information(model, [place])[0]
    for axis in np.eye(q):
        p, on, off = log_probabilities(model, place)
        _, on_up, off_up = log_probabilities(model, place + h * axis)
        _, on_down, off_down = log_probabilities(model, place - h * axis)
        curvature = p * (on_up - 2 * on + on_down) + (1 - p) * (off_up - 2 * off + off_down)
        np.testing.assert_allclose(axis @ found @ axis, -curvature.sum() / h**2, rtol=1e-5)
    a, (p, _, _) = model.components_.T, log_probabilities(model, place)
    np.testing.assert_allclose(found, (a.T * (p * (1 - p))) @ a, rtol=1e-6)
    items = diagnostics.item_information(model, [place])[0]
    np.testing.assert_allclose(items.sum(), np.trace(found), rtol=1e-12)


def test_marginal_reliability_is_an_integral():
    _, X = a_test(1)
    model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)

    def share(z):
        information = diagnostics.test_information(model, [[z]])[0, 0, 0]
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * information / (information + 1)

    truth = quad(share, -8, 8)[0]
    np.testing.assert_allclose(diagnostics.reliability(model, X).marginal, [truth], rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_reliability_is_the_squared_correlation_with_the_truth(seed):
    """Of 4,000 simulated people; the correlation has a standard error of about 0.005."""
    codes, X = a_test(seed)
    model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    truth = np.corrcoef(model.transform(X)[:, 0], codes[:, 0])[0, 1] ** 2
    found = diagnostics.reliability(model, X)
    assert abs(found.empirical[0] - truth) < 0.02
    assert abs(found.marginal[0] - truth) < 0.03
    doubled = diagnostics.reliability(model, X, sample_weight=np.where(np.arange(len(X)) < 100, 2.0, 0.0))
    np.testing.assert_allclose(doubled.empirical, diagnostics.reliability(model, X[:100]).empirical, rtol=1e-10)


def test_refused():
    _, X = a_test(0, n=200)
    with pytest.raises(ValueError, match=r"such as LogisticPCA\(1\), not LatentClassAnalysis"):
        diagnostics.item_information(LatentClassAnalysis(2, random_state=0).fit(X), [[0.0]])
    model = LogisticPCA(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"shape \(number, 2\), with a column for each dimension, got \(1, 1\)"):
        diagnostics.test_information(model, [[0.0]])
