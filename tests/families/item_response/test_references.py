"""Item response models of real tests as R's ltm and mirt estimate them: log-likelihood, estimates, standard errors."""

import numpy as np
import pytest

from hiddenbits import ItemResponseModel, inference

pd = pytest.importorskip("pandas")

SCIENCE = ["Comfort", "Work", "Future", "Benefit"]


def fitted(real_data, name, columns=None, q=1, **settings):
    """A table and its model at the maximum of the likelihood."""
    X = pd.read_csv(real_data / "survey" / f"{name}.csv", usecols=columns)
    return X, ItemResponseModel(q, **{"tol": 1e-10, "random_state": 0, **settings}).fit(X)


def reference(real_data, name):
    return pd.read_csv(real_data / "reference" / f"{name}.csv")


@pytest.mark.parametrize(
    ("name", "columns", "settings", "expected"),
    [
        ("lsat", None, {}, -2466.653),
        ("lsat", None, {"slopes": "equal"}, -2466.938),
        ("lsat", None, {"slopes": 1}, -2473.054),
        ("wirs", None, {}, -3420.064),
        ("sat12_binary", None, {}, -9488.955),
        ("science_items", SCIENCE, {"column_types": "ordinal"}, -1608.871),
        ("science_items", SCIENCE, {"column_types": "ordinal", "slopes": "equal"}, -1613.899),
    ],
    ids=["2PL", "1PL", "Rasch", "WIRS", "SAT12", "graded", "graded, equal slopes"],
)
def test_log_likelihoods(real_data, name, columns, settings, expected):
    """At least theirs, to the digits they print; and not much higher, which would be another model."""
    X, model = fitted(real_data, name, columns, **settings)
    total = model.score_samples(X).sum()
    assert total >= expected - 1e-3
    assert total == pytest.approx(expected, abs=3e-3)


def test_equal_and_fixed_slopes(real_data):
    for file, slopes in (("lsat_1pl_ltm", "equal"), ("lsat_rasch_ltm", 1)):
        X, model = fitted(real_data, "lsat", slopes=slopes)
        ltm = reference(real_data, file)
        found = inference.standard_errors(model, X, robust=False)
        np.testing.assert_allclose(model.slopes_[:, 0], ltm["estimate"][5], atol=1e-3)
        np.testing.assert_allclose(found.estimate["difficulties"], ltm["estimate"][:5], atol=1e-3)
        np.testing.assert_allclose(found.se["difficulties"], ltm["se"][:5], rtol=1e-3)
        if slopes == "equal":
            np.testing.assert_allclose(found.se["slopes"], ltm["se"][5], rtol=1e-3)


def test_lsat(real_data):
    X, model = fitted(real_data, "lsat", tol=1e-12)
    found = inference.standard_errors(model, X, robust=False)
    ltm, mirt = reference(real_data, "lsat_2pl_ltm"), reference(real_data, "lsat_2pl_mirt_louis")
    for name, lines in (("difficulties", slice(0, 5)), ("slopes", slice(5, 10))):
        np.testing.assert_allclose(found.estimate[name].ravel(), ltm["value"][lines], rtol=1e-4)
        np.testing.assert_allclose(found.se[name].ravel(), ltm["std.err"][lines], rtol=1e-4)
    np.testing.assert_allclose(found.estimate["intercepts"], mirt["d"][mirt.what == "par"], rtol=1e-4)
    np.testing.assert_allclose(found.se["intercepts"], mirt["d"][mirt.what == "SE"], rtol=1e-4)


def test_wirs(real_data):
    X, model = fitted(real_data, "wirs")
    found, ltm = inference.standard_errors(model, X, robust=False), reference(real_data, "wirs_2pl_ltm")
    np.testing.assert_allclose(model.slopes_[:, 0], ltm["value"][6:], atol=0.005)
    np.testing.assert_allclose(found.se["slopes"][:, 0], ltm["std.err"][6:], rtol=0.02)


def test_sat12(real_data):
    X, model = fitted(real_data, "sat12_binary")
    found, mirt = inference.standard_errors(model, X, robust=False), reference(real_data, "sat12_2pl_mirt_louis")
    estimates, errors = mirt[mirt.what == "par"], mirt[mirt.what == "SE"]
    np.testing.assert_allclose(model.slopes_[:, 0], estimates["a1"], atol=0.005)
    np.testing.assert_allclose(model.intercepts_, estimates["d"], atol=0.005)
    np.testing.assert_allclose(found.se["slopes"][:, 0], errors["a1"], rtol=0.02)
    np.testing.assert_allclose(found.se["intercepts"], errors["d"], rtol=0.02)


def test_science(real_data):
    """Slopes and first thresholds; ltm's errors of later thresholds are about twice those of a bootstrap."""
    X, model = fitted(real_data, "science_items", SCIENCE, column_types="ordinal")
    found, ltm = inference.standard_errors(model, X, robust=False), reference(real_data, "science_grm_ltm")
    first, slopes = ltm[ltm.what == "Extrmt1"], ltm[ltm.what == "Dscrmn"]
    np.testing.assert_allclose(model.components_[0], slopes["value"], atol=0.005)
    np.testing.assert_allclose(found.estimate["difficulties"], ltm[ltm.what != "Dscrmn"]["value"], atol=0.005)
    np.testing.assert_allclose(found.se["slopes"][::3, 0], slopes["std.err"], rtol=0.02)
    np.testing.assert_allclose(found.se["difficulties"][::3], first["std.err"], rtol=0.02)


def test_sat12_two_dimensions(real_data):
    """Mirt fixes the last item's second slope at 0, so that all others would have to turn: it stopped before that.

    Its log-likelihood is .04 lower than with our slopes of that item, whose loading is .037 away.
    """
    X, model = fitted(real_data, "sat12_binary", q=2, tol=1e-9)
    assert model.score_samples(X).sum() >= -9441.98 - 0.05
    assert model.score_samples(X).sum() == pytest.approx(-9441.95, abs=0.03)
    expected = reference(real_data, "sat12_2d_oblimin").iloc[:, 1:].to_numpy()
    found = model.rotate("oblimin").aligned(expected).loadings
    np.testing.assert_allclose(found[:-1], expected[:-1], atol=0.02)
    np.testing.assert_allclose(found[-1], expected[-1], atol=0.04)
