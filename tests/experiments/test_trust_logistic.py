"""The competitor and the standard errors of experiments/trust_logistic, against scikit-learn and against repetition."""

import numpy as np
import pytest
from experiments.trust_logistic.imputer import Probability, impute
from experiments.trust_logistic.reliability import Guesses, curve, expected_error, mean_and_error
from sklearn.linear_model import LogisticRegression

pytestmark = pytest.mark.core


@pytest.mark.parametrize(("n", "d"), [(200, 10), (60, 150)], ids=["tall", "wide"])
@pytest.mark.parametrize("C", [0.03, 1.0])
def test_the_regression_is_scikit_learns(n, d, C):
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(2.0 - 4.0 * X[:, 0]))).astype(float)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(Probability(C).fit(X, y).predict(X), theirs, rtol=0, atol=1e-5)


def test_constant_and_empty_columns_are_imputed():
    X = np.random.default_rng(0).integers(0, 2, (40, 5)).astype(float)
    X[:, 1], X[:, 2] = 1.0, X[:, 0]
    X[::4, 1] = X[1::4, 2] = np.nan
    filled = impute(X, 10.0, 3)
    assert ((filled >= 0.0) & (filled <= 1.0)).all()
    assert filled[0, 1] == pytest.approx(30.5 / 31)
    again = X[1::4, 0] == 1
    assert (filled[1::4, 2][again] > 0.7).all()
    assert (filled[1::4, 2][~again] < 0.3).all()


def test_standard_errors_by_rows_are_the_spread_over_repetitions():
    """Cells of a row go together: the error of independent cells would be less than half as large."""
    rng = np.random.default_rng(0)
    row = np.repeat(np.arange(100), rng.integers(1, 20, 100))
    found = [mean_and_error(rng.normal(size=100)[row] + 0.5 * rng.normal(size=len(row)), row) for _ in range(400)]
    means, errors = np.transpose(found)
    assert np.mean(errors) == pytest.approx(means.std(), rel=0.12)  # the spread of 400 is known to 3.5%
    assert np.mean(errors) > 2.0 * np.sqrt(1.25 / len(row))


def test_reliability_by_hand():
    guesses = Guesses(np.array([0, 1, 1, 1]), np.array([0.22, 0.28, 1.0, 0.95]), np.array([0, 1, 2, 3]))
    low, high = curve(guesses)
    assert (low["cells"], high["cells"]) == (2, 2)
    assert (low["predicted"], low["observed"]) == pytest.approx((0.25, 0.5))
    assert expected_error([low, high]) == pytest.approx((0.25 + 0.025) / 2)
    assert guesses.losses == pytest.approx([-np.log(0.78), -np.log(0.28), 0.0, -np.log(0.95)])
