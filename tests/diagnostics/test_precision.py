"""Information, reliability and sum scores, against derivatives, integrals, enumeration, simulation and mirt."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad

from hiddenbits import ItemResponseModel, LatentClassAnalysis, LogisticPCA, diagnostics

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


MODELS = {"item response": ItemResponseModel, "logistic": LogisticPCA}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("q", [1, 2])
def test_information_is_the_expected_curvature(name, q):
    """Minus the second derivative of ln P(bit), expected over the bit, by differences along each axis."""
    _, X = a_test(0, q=q)
    model = MODELS[name](q, random_state=0).fit(X)
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
    np.testing.assert_allclose(items.sum(), np.trace(found), rtol=1e-6)  # each item has one direction


@pytest.mark.parametrize("ordinal", ["graded", "partial_credit"])
def test_information_of_levels_is_the_expected_square(ordinal):
    """The slopes of ln P(level) by differences, squared and expected over the levels."""
    X = np.digitize(a_test(0)[1] @ np.eye(12)[:, :8] + np.random.default_rng(0).normal(size=(4_000, 8)), [0.3, 1.0])
    model = ItemResponseModel(column_types="ordinal", ordinal=ordinal).fit(X)
    z, h = np.array([[-1.0], [0.5]]), 1e-5
    p, slopes = model.inverse_transform(z), model.inverse_transform(z + h) - model.inverse_transform(z - h)
    expected = ((slopes / (2 * h)) ** 2 / p).reshape(2, 8, 3).sum(axis=2)
    np.testing.assert_allclose(diagnostics.item_information(model, z), expected, rtol=1e-6)
    np.testing.assert_allclose(diagnostics.test_information(model, z)[:, 0, 0], expected.sum(axis=1), rtol=1e-6)


def test_marginal_reliability_is_an_integral():
    _, X = a_test(1)
    model = ItemResponseModel().fit(X)

    def share(z):
        information = diagnostics.test_information(model, [[z]])[0, 0, 0]
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * information / (information + 1)

    truth = quad(share, -8, 8)[0]
    np.testing.assert_allclose(diagnostics.reliability(model, X).marginal, [truth], rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_reliability_is_the_squared_correlation_with_the_truth(seed):
    """Of 4,000 simulated people; the correlation has a standard error of about 0.005."""
    codes, X = a_test(seed)
    model = ItemResponseModel().fit(X)
    truth = np.corrcoef(model.transform(X)[:, 0], codes[:, 0])[0, 1] ** 2
    found = diagnostics.reliability(model, X)
    assert abs(found.empirical[0] - truth) < 0.02
    assert abs(found.marginal[0] - truth) < 0.03
    doubled = diagnostics.reliability(model, X, sample_weight=np.where(np.arange(len(X)) < 100, 2.0, 0.0))
    np.testing.assert_allclose(doubled.empirical, diagnostics.reliability(model, X[:100]).empirical, rtol=1e-10)


def test_marginal_reliability_of_correlated_dimensions():
    """1 minus the mean variance of a posterior with this information and the covariance of the prior."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1_500, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    X = (1.5 * z[:, [0] * 6 + [1] * 6] + rng.logistic(size=(1_500, 12)) > np.tile([-1, 0, 1], 4)).astype(int)
    model = ItemResponseModel(loadings_pattern={"a": list(range(6)), "b": list(range(6, 12))}, correlated=True).fit(X)
    assert model.correlations_[0, 1] == pytest.approx(0.6, abs=0.1)
    points, weights, _ = model._at_nodes()
    precision = diagnostics.test_information(model, points) + np.linalg.inv(model.correlations_)
    expected = 1.0 - np.einsum("k,kii->i", weights, np.linalg.inv(precision))
    found = diagnostics.reliability(model, X)
    np.testing.assert_allclose(found.marginal, expected, rtol=1e-12)
    np.testing.assert_allclose(found.marginal, found.empirical, atol=0.03)
    half = diagnostics.reliability(ItemResponseModel().fit(X[:, :6]), X[:, :6])
    assert found.marginal[0] > half.marginal[0] + 0.02  # the other items say something of the first dimension, too


def answers(q, n=1_500):
    """Return a table of two binary and four ordinal columns, and the types of columns."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(q)
    z = rng.standard_normal((n, 2))[:, [0, 1, 0, 1, 0, 1] if q == 2 else [0] * 6]
    latent = (1.3 * z + rng.logistic(size=(n, 6))).T
    cuts = [[0], [0.5], [-1, 1], [-1, 1], [-0.5, 1], [-1, 0, 1]]
    columns = [np.digitize(x, thresholds) for x, thresholds in zip(latent, cuts, strict=True)]
    return pd.DataFrame(dict(zip("abcdef", columns, strict=True))), dict.fromkeys("cdef", "ordinal")


@pytest.mark.parametrize("q", [1, 2])
def test_sum_scores_are_those_of_enumeration(q):
    """All 432 patterns, each with its probability and its posterior."""
    X, types = answers(q)
    model = ItemResponseModel(q, column_types=types).fit(X)
    patterns = type(X)(list(product(*(range(n) for n in (2, 2, 3, 3, 3, 4)))), columns=list("abcdef"))
    p, scores = np.exp(model.score_samples(patterns)), patterns.sum(axis=1).to_numpy()
    mean, covariance = model.transform(patterns, return_cov=True)
    second = mean**2 + np.diagonal(covariance, axis1=1, axis2=2)
    found = diagnostics.sum_score_table(model)
    assert found["score"].tolist() == list(range(12))
    for s in range(12):
        own, weights = scores == s, p[scores == s]
        assert found["share"][s] == pytest.approx(weights.sum(), rel=1e-10)
        for axis in range(q):
            expected = np.average(mean[own, axis], weights=weights)
            variance = np.average(second[own, axis], weights=weights) - expected**2
            assert found[f"dimension_{axis + 1}"][s] == pytest.approx(expected, rel=1e-10, abs=1e-10)
            assert found[f"se_{axis + 1}"][s] == pytest.approx(np.sqrt(variance), rel=1e-10)


def test_sum_scores_leave_numbers_out_and_name_dimensions():
    X, types = answers(2)
    model = ItemResponseModel(
        column_types=types | {"height": "continuous"},
        ordinal="partial_credit",
        loadings_pattern={"one": ["a", "c", "e"], "two": ["b", "d", "f", "height"]},
    ).fit(X.assign(height=0.5 * X["d"] + np.random.default_rng(0).normal(size=len(X))))
    found = diagnostics.sum_score_table(model)
    assert list(found.columns) == ["score", "share", "one", "se_one", "two", "se_two"]
    assert found["score"].max() == 11
    assert found["share"].sum() == pytest.approx(1.0)


# R's mirt 1.47 (commit 2fc2b236), graded model of four items of its Science table, quadpts = 121: fscores(method =
# "EAPsum"), whose sums begin at 4, and expected counts of 392 rows; empirical_rxx (its variance has the divisor n - 1)
# and marginal_rxx; iteminfo at -3, 0 and 3.
EAP_SUM = {
    0: (-2.74879715515, 0.629128229756, 0.124041202994),
    6: (-0.649340399199, 0.610081883258, 48.3581478276),
    9: (0.487047309616, 0.613347038607, 65.6681523977),
    12: (1.85321019331, 0.654385533271, 7.46874654622),
}
INFORMATION = [
    (0.303983391439, 0.33439545101, 0.713301018552, 0.322953600915),
    (0.20883255501, 0.375879442904, 0.924754144692, 0.316850023057),
    (0.145806223673, 0.237412914522, 0.0375421186658, 0.168325508905),
]
RELIABILITY = (0.667037613385, 0.669216008902)


def test_science_as_mirt(real_data):
    pd = pytest.importorskip("pandas")
    X = pd.read_csv(real_data / "survey" / "science_items.csv")[["Comfort", "Work", "Future", "Benefit"]]
    model = ItemResponseModel(column_types="ordinal", tol=1e-11).fit(X)
    found = diagnostics.sum_score_table(model)
    for score, (mean, se, count) in EAP_SUM.items():
        row = found.iloc[score]
        np.testing.assert_allclose(row[["dimension_1", "se_1"]].to_numpy(), [mean, se], rtol=1e-4)
        assert row["share"] * 392 == pytest.approx(count, rel=1e-4)
    empirical, marginal = (values[0] for values in diagnostics.reliability(model, X))
    assert marginal == pytest.approx(RELIABILITY[1], rel=1e-4)
    assert empirical == pytest.approx(RELIABILITY[0], rel=1e-3)
    odds = empirical / (1 - empirical) * 392 / 391
    assert odds / (1 + odds) == pytest.approx(RELIABILITY[0], rel=1e-4)
    np.testing.assert_allclose(diagnostics.item_information(model, [[-3.0], [0.0], [3.0]]), INFORMATION, rtol=1e-3)


def test_refused():
    _, X = a_test(0, n=200)
    with pytest.raises(ValueError, match=r"such as ItemResponseModel\(1\), not LatentClassAnalysis"):
        diagnostics.item_information(LatentClassAnalysis(2, random_state=0).fit(X), [[0.0]])
    model = LogisticPCA(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"shape \(number, 2\), with a column for each dimension, got \(1, 1\)"):
        diagnostics.test_information(model, [[0.0]])
