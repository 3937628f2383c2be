"""AIC and BIC are those of maximum likelihood, as other programs print them; weights that a prior would outweigh."""

import warnings

import numpy as np
import pytest

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, LogisticPCA, evaluate, open_table
from hiddenbits.datasets import simulate_mixture
from hiddenbits.exceptions import SmallWeightsWarning

pytestmark = pytest.mark.core

POLCA = {2: (664.5137, 706.0739), 3: (633.4100, 697.1357), 4: (640.5717, 726.4629)}  # AIC, BIC of poLCA 1.6


@pytest.mark.parametrize("types", ["binary", "nominal"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_carcinoma_against_polca(real_data, k, types):
    """Two levels have one free probability, as a bit has."""
    table = open_table(real_data / "survey" / "carcinoma.csv", column_types=types)
    model = LatentClassAnalysis(k, n_init=10, tol=1e-9, random_state=0)
    fit = model._without_prior().fit(table)
    assert (fit.aic(table), fit.bic(table)) == pytest.approx(POLCA[k], abs=1e-3)
    assert model.prior_strength == 1.0


@pytest.mark.slow
def test_carcinoma_selected(real_data):
    table = open_table(real_data / "survey" / "carcinoma.csv", columns="binary")
    for place, by in enumerate(("aic", "bic")):
        found = evaluate.select(LatentClassAnalysis(n_init=10, tol=1e-9, random_state=0), table, [2, 3, 4], by=by)
        assert [figure.value for figure in found.figures] == pytest.approx([POLCA[k][place] for k in POLCA], abs=1e-3)
        assert found.size == 3


@pytest.mark.parametrize(
    "name", ["LatentClassAnalysis", "HiddenTree", "TreeMixture", "CombinationMachine", "LogisticPCA"]
)
def test_criteria_by_hand_and_only_without_a_prior(name):
    X = simulate_mixture(200, 6, 2, random_state=0).X
    weights = np.random.default_rng(0).integers(1, 4, 200).astype(float)
    model = getattr(hiddenbits, name)(1, random_state=0)
    with pytest.raises(ValueError, match=r"BIC is defined for maximum likelihood.*prior"):
        model.fit(X).bic(X)
    with pytest.raises(ValueError, match="AIC is defined for maximum likelihood"):
        model.aic(X)
    table = open_table(X).with_weights(weights)
    fit = model._without_prior().fit(table)
    likelihood = weights @ fit.score_samples(X)
    assert fit.aic(table) == pytest.approx(-2 * likelihood + 2 * fit.n_parameters_, rel=1e-12)
    assert fit.bic(table) == pytest.approx(-2 * likelihood + np.log(weights.sum()) * fit.n_parameters_, rel=1e-12)


def test_independent_columns_in_closed_form():
    X = np.array([[0, 1], [1, 1], [0, 0], [0, 1]])
    fit = IndependentColumns()._without_prior().fit(X)
    likelihood = 2 * (3 * np.log(0.75) + np.log(0.25))
    assert (fit.n_parameters_, fit.aic(X)) == (2, pytest.approx(-2 * likelihood + 4, rel=1e-12))


def test_an_estimate_has_no_criteria():
    X = simulate_mixture(60, 8, 2, random_state=0).X
    model = LogisticPCA(4, random_state=0, tol=1e-2)._without_prior().fit(X)
    with pytest.raises(ValueError, match="needs an exact likelihood"):
        model.bic(X)


def test_weights_that_add_up_to_little_are_warned_of():
    X = simulate_mixture(300, 6, 2, random_state=0).X
    model = LatentClassAnalysis(2, random_state=0)
    plain = model.fit(X).score(X)
    with pytest.warns(SmallWeightsWarning, match=r"300 rows add up to 1.*mean of 1 first"):
        drowned = model.fit(X, sample_weight=np.full(300, 1 / 300)).score(X)
    assert drowned < plain - 0.02
    with pytest.warns(SmallWeightsWarning):
        IndependentColumns().fit(open_table(X).with_weights(np.full(300, 0.05)))
    kept = np.zeros(300)
    kept[:10] = 1.0  # rows without weight are not there
    w = np.random.default_rng(0).random(300) / 300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for weights in (np.full(300, 7.0), kept, np.full(300, 0.2), np.linspace(0.0, 2.0, 300), w * len(w) / w.sum()):
            IndependentColumns().fit(X, sample_weight=weights)


def test_a_comparison_says_it_too():
    X = simulate_mixture(100, 4, 2, random_state=0).X
    found = evaluate.compare(X, ["IndependentColumns"], sample_weight=np.full(100, 0.01), measures=())
    assert "SmallWeightsWarning" in found.entries[0].note


def test_lsat_with_weights_of_a_thousandth(real_data):
    """The remedy of the warning brings the unweighted fit back."""
    table = open_table(real_data / "survey" / "lsat.csv", columns="binary")
    model = LogisticPCA(1, random_state=0)
    whole = model.fit(table).score_samples(table).sum()
    w = np.full(1000, 1e-3)
    with pytest.warns(SmallWeightsWarning):
        drowned = model.fit(table.with_weights(w)).score_samples(table).sum()
    assert drowned < whole - 50.0
    again = model.fit(table.with_weights(w * len(w) / w.sum())).score_samples(table).sum()
    assert again == pytest.approx(whole, abs=0.01)
