"""The same models as R's mirt: log-likelihoods, coefficients and scores (`reference/README.md`)."""

import csv
from pathlib import Path

import numpy as np
import pytest

from hiddenbits import ItemResponseModel

pd = pytest.importorskip("pandas")

REFERENCE = Path(__file__).parent / "reference"
SCIENCE = ["Comfort", "Work", "Future", "Benefit"]


def coefficients(model):
    """mirt's coefficients of a model: {item: {parameter: value}}."""
    out = {}
    with (REFERENCE / "mirt_coefficients.csv").open() as file:
        for row in csv.DictReader(file):
            if row["model"] == model:
                out.setdefault(row["item"], {})[row["parameter"]] = float(row["value"])
    return out


def science(real_data):
    return pd.read_csv(real_data / "survey" / "science_items.csv")[SCIENCE]


def log_likelihood(model, X):
    return model.score(X) * len(X)


@pytest.mark.parametrize(
    ("options", "name", "expected"),
    [
        ({"column_types": "ordinal"}, "graded", -1608.86941417),
        ({"column_types": "ordinal", "ordinal": "partial_credit"}, "gpcm", -1612.68160014),
        ({"column_types": "nominal"}, "nominal", -1608.45200288),
    ],
)
def test_items_of_four_levels(options, name, expected, real_data):
    X = science(real_data)
    model = ItemResponseModel(tol=1e-10, **options).fit(X)
    assert log_likelihood(model, X) == pytest.approx(expected, abs=1e-4)
    of_mirt = coefficients(f"science_{name}")
    slopes, intercepts = model.slopes_[:, 0].reshape(4, 3), model.intercepts_.reshape(4, 3)
    levels = [label.split("=")[1] for label in model.answer_names_[:3]]
    if name == "nominal":  # levels come in the order of the table, and slopes are relative to the first
        assert sorted(levels) != ["1", "2", "3"]
        return
    for j, item in enumerate(SCIENCE):
        own = of_mirt[item]
        factors = np.arange(1, 4) if name == "gpcm" else 1.0
        np.testing.assert_allclose(slopes[j], own["a1"] * factors, atol=0.005)
        np.testing.assert_allclose(intercepts[j], [own["d1"], own["d2"], own["d3"]], atol=0.01)


def test_map_scores(real_data):
    X = science(real_data)
    model = ItemResponseModel(column_types="ordinal", tol=1e-10).fit(X)
    expected = pd.read_csv(REFERENCE / "science_map.csv")
    scores = model.latent_scores(X.iloc[:20], "MAP")
    np.testing.assert_allclose(scores["dimension_1"], expected["MAP"], atol=2e-4)


@pytest.mark.parametrize(
    ("table", "posterior", "marginal"),
    [("sat12", -9460.00209607, -9442.95635561), ("lsat", -2468.03877541, -2466.8967499)],
)
def test_guessing_with_the_same_prior(table, posterior, marginal, real_data):
    X = pd.read_csv(real_data / "survey" / {"sat12": "sat12_binary.csv", "lsat": "lsat.csv"}[table])
    model = ItemResponseModel(guessing=True, tol=1e-10).fit(X)
    constant = X.shape[1] * np.log(0.5 * np.sqrt(2 * np.pi))  # mirt's log prior is normalized
    assert model.trace_[-1] - constant == pytest.approx(posterior, abs=1e-3)
    assert log_likelihood(model, X) == pytest.approx(marginal, abs=1e-2)
    of_mirt = coefficients(f"{table}_3pl")
    np.testing.assert_allclose(model.guessing_, [item["g"] for item in of_mirt.values()], atol=0.005)
    np.testing.assert_allclose(model.slopes_[:, 0], [item["a1"] for item in of_mirt.values()], rtol=0.02)


def test_bifactor(real_data):
    X = pd.read_csv(real_data / "survey" / "sat12_binary.csv")
    groups = {f"group {g}": list(X.columns[8 * g : 8 * g + 8]) for g in range(4)}
    model = ItemResponseModel(loadings_pattern={"general": "all", **groups}, tol=1e-7).fit(X)
    assert log_likelihood(model, X) == pytest.approx(-9456.11144356, abs=0.1)
    assert log_likelihood(model, X) < -9456.11144356 + 1e-3
    of_mirt = coefficients("sat12_bifactor")
    general = np.array([of_mirt[item]["a1"] for item in X.columns])
    steep = general > 2.5  # of one item the slopes are hardly determined
    np.testing.assert_allclose(model.components_[0][~steep], general[~steep], atol=0.05)


def test_pattern_without_correlation(real_data):
    X = pd.read_csv(real_data / "survey" / "sat12_binary.csv")
    pattern = {"a": list(X.columns[:16]), "b": list(X.columns[16:])}
    model = ItemResponseModel(loadings_pattern=pattern, tol=1e-9).fit(X)
    assert log_likelihood(model, X) == pytest.approx(-9695.01629327, abs=2e-3)
    of_mirt = coefficients("sat12_uncorrelated")
    for axis, name in enumerate(("a1", "a2")):
        expected = [of_mirt[item][name] for item in X.columns]
        np.testing.assert_allclose(model.components_[axis], expected, atol=0.01)


def test_pattern_with_a_correlation_near_one(real_data):
    X = pd.read_csv(real_data / "survey" / "sat12_binary.csv")
    pattern = {"a": list(X.columns[:16]), "b": list(X.columns[16:])}
    # EM is slow here: where it stops at this tolerance depends on the seed, by thousandths.
    model = ItemResponseModel(loadings_pattern=pattern, correlated=True, tol=1e-9, random_state=0).fit(X)
    assert log_likelihood(model, X) == pytest.approx(-9488.58401264, abs=0.01)
    assert model.correlations_[0, 1] == pytest.approx(0.98093, abs=2e-3)


def test_a_table_of_several_types():
    frame = pd.read_csv(REFERENCE / "mixed.csv")
    types = {name: {"b": "binary", "o": "ordinal", "n": "nominal"}[name[0]] for name in frame}
    model = ItemResponseModel(column_types=types, tol=1e-10).fit(frame)
    assert log_likelihood(model, frame) == pytest.approx(-2781.01738904, abs=1e-3)
    of_mirt = coefficients("mixed")
    slope = dict(zip(model.answer_names_, model.slopes_[:, 0], strict=True))
    intercept = dict(zip(model.answer_names_, model.intercepts_, strict=True))
    for item in ("b1", "b2", "b3"):
        assert slope[item] == pytest.approx(of_mirt[item]["a1"], abs=0.005)
        assert intercept[item] == pytest.approx(of_mirt[item]["d"], abs=0.005)
    for item in ("o1", "o2"):
        for level in (1, 2, 3):
            assert slope[f"{item}={level}"] == pytest.approx(of_mirt[item]["a1"], abs=0.005)
            assert intercept[f"{item}={level}"] == pytest.approx(of_mirt[item][f"d{level}"], abs=0.005)
    scores, expected = model.latent_scores(frame.iloc[:20]), pd.read_csv(REFERENCE / "mixed_eap.csv")
    np.testing.assert_allclose(scores["dimension_1"], expected["EAP"], atol=1e-3)
    np.testing.assert_allclose(scores["se_1"], expected["SE"], atol=1e-3)
