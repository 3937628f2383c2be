"""Principal components and the page of experiments/freund_haussler_1994, against regressions and by hand."""

import numpy as np
import pytest

pytestmark = pytest.mark.core
PAPER = "freund_haussler_1994"


def test_components_guess_a_bit_by_its_conditional_mean(module_of):
    """Against the regression on the other columns that the covariance implies."""
    peers = module_of(PAPER, "peers")
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < 0.5).astype(float)
    X[:, 1] = np.where(rng.random(200) < 0.8, X[:, 0], X[:, 1])
    mean, inverse = peers.precision(X, 2)
    C = np.linalg.inv(inverse)
    j, others = 1, [0, 2, 3, 4, 5]
    expected = mean[j] + (X[:, others] - mean[others]) @ np.linalg.solve(C[np.ix_(others, others)], C[others, j])
    guess = X - (X - mean) @ inverse / np.diag(inverse)
    np.testing.assert_allclose(guess[:, j], expected, atol=1e-10)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))
    np.testing.assert_allclose(np.linalg.eigvalsh(C)[-2:], values[-2:], atol=1e-10)


def test_a_machine_that_is_told_has_these_probabilities(module_of):
    """Equation 2.4 over all rows of 4 bits, three units."""
    data, rng = module_of(PAPER, "data"), np.random.default_rng(0)
    W, th = rng.standard_normal((3, 4)), rng.standard_normal(3)
    X = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(np.uint8)
    p = np.prod(1.0 + np.exp((2.0 * X - 1.0) @ W.T + th), axis=1)
    np.testing.assert_allclose(data.told(W, th).score_samples(X), np.log(p / p.sum()), atol=1e-10)
