"""Models of two families that are the same set of distributions are fitted once and named once."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logsumexp

import hiddenbits
from hiddenbits import (
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TreeMixture,
    evaluate,
    open_table,
)
from hiddenbits.datasets import simulate_mixture
from hiddenbits.evaluate import fit_runner
from hiddenbits.evaluate.same_models import chosen_families, equivalent_models

pytestmark = [pytest.mark.core, pytest.mark.usefixtures("few_starts")]

TWO = {"CombinationMachine": [1], "LatentClassAnalysis": [2]}


def clear_classes(n_classes):
    """Classes with 90% ones in columns of their own, and 10% in the others."""
    rng = np.random.default_rng([n_classes, 1])
    own = np.arange(8)[None, :] % n_classes == rng.integers(0, n_classes, 300)[:, None]
    return (rng.random((300, 8)) < np.where(own, 0.9, 0.1)).astype(int)


def test_a_machine_of_one_unit_is_two_classes():
    """Its unit off and on: two products of columns, weighted by the sums over all rows of each state."""
    model = CombinationMachine(1, n_init=1, random_state=0).fit(simulate_mixture(200, 5, 2, random_state=0).X)
    on_off = np.stack([model._params.bias, model._params.bias + model._params.weights[:, 0]])
    weights = np.logaddexp(on_off, -on_off).sum(axis=1) + np.array([0.0, model._params.thresholds[0]])
    weights -= logsumexp(weights)
    rows = np.array(list(product([0, 1], repeat=5)))
    p = expit(2.0 * on_off)
    classes = rows @ np.log(p).T + (1 - rows) @ np.log1p(-p).T
    np.testing.assert_allclose(model.score_samples(rows), logsumexp(weights + classes, axis=1), atol=1e-9)


def test_two_columns_are_always_two_classes():
    """Each of these reaches the shares of a table of two columns; a noisy OR not where they exclude each other."""
    counts = (20, 90, 60, 30)
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], counts, axis=0)
    shares = np.array(counts) / len(X)
    highest = (shares * np.log(shares)).sum()
    without_prior = (
        LatentClassAnalysis(2, prior_strength=0, random_state=0),
        CombinationMachine(1, ridge=0, random_state=0),
        TreeMixture(1, smoothing=1e-9, sharing=0, random_state=0),
        HiddenTree(2, prior_strength=1e-9, move_strength=1e-9, random_state=0),
    )
    for model in without_prior:
        assert model.fit(X).score(X) == pytest.approx(highest, abs=1e-4), model
    line = LogisticPCA(1, ridge=1e-6, max_iter=3000, random_state=0).fit(X).score(X)
    alone = IndependentColumns(prior_strength=0).fit(X).score(X)
    assert highest - line < 0.03 * (highest - alone)  # its bound and its stopping rule cost 2% of what there is to gain
    assert NoisyOrNetwork(1, random_state=0).fit(X).score(X) == pytest.approx(alone, abs=1e-3)


def test_a_hidden_tree_of_one_state_is_independent_columns():
    X = simulate_mixture(100, 4, 2, random_state=0).X
    alone, one_class, one_state = (
        model.fit(X).score_samples(X)
        for model in (IndependentColumns(), LatentClassAnalysis(1, n_init=1), HiddenTree(1, random_state=0))
    )
    np.testing.assert_allclose(one_class, alone, atol=1e-9)
    np.testing.assert_allclose(one_state, alone, atol=1e-9)


def stands(models, sizes, columns, **options):
    X = np.random.default_rng(0).normal(size=(60, columns))
    table = open_table(X, **options) if options else open_table((X > 0).astype(int))
    contenders, _ = chosen_families(models, sizes, table, 0)
    return {key: str(stand) for key, stand in equivalent_models(contenders, table).items()}


def test_which_models_are_the_same():
    every = {
        "TreeMixture": [1, 2],
        "NoisyOrNetwork": [1, 2],
        "TopographicMap": [1],
        "HiddenTree": [1, 2],
        "CombinationMachine": [1, 2],
        "ClippedPCA": [1],
        "LogisticPCA": [1],
        "LatentClassAnalysis": [1, 2, 3],
        "IndependentColumns": [],
    }
    known = {
        ("CombinationMachine", 1): "LatentClassAnalysis(2)",
        ("HiddenTree", 1): "IndependentColumns",
        ("LatentClassAnalysis", 1): "IndependentColumns",
    }
    assert stands(list(every), every, 5) == known  # one cause, one dimension and one tree stand for themselves
    two = {("CombinationMachine", 2), ("HiddenTree", 2), ("TreeMixture", 1), ("TreeMixture", 2), ("LogisticPCA", 1)}
    two |= {("ClippedPCA", 1), ("TopographicMap", 1)}
    assert stands(list(every), every, 2) == known | dict.fromkeys(two, "LatentClassAnalysis(2)")
    assert stands(["CombinationMachine", "NoisyOrNetwork"], {"CombinationMachine": [1]}, 5) == {}  # no classes to name
    of_coins = {"coins": CombinationMachine(1, bias=False), "classes": LatentClassAnalysis()}
    assert stands(of_coins, {"coins": []}, 5) == {}  # with the unit off, every column is a fair coin
    one_size = {
        "unit": CombinationMachine(1),
        "classes": LatentClassAnalysis(2),
        "again": LatentClassAnalysis(2, n_init=9),
    }
    assert stands(one_size, {key: [] for key in one_size}, 5) == {("unit", None): "classes(2)"}
    reals = {"FactorAnalysis": [2, 3], "PCA": [2, 3]}
    assert stands(list(reals), reals, 4, reals=True) == {("FactorAnalysis", 3): "PCA(3)"}  # any covariance


def test_they_are_one_entry_everywhere(tmp_path, monkeypatch):
    """In the table, its text, records, ties, winner and JSON; whichever was named first; and fitted once."""
    fits = []
    run_trial = fit_runner.run_trial
    monkeypatch.setattr(
        fit_runner, "run_trial", lambda model, *args: fits.append(type(model)) or run_trial(model, *args)
    )
    X = clear_classes(2)
    for models in (list(TWO), list(TWO)[::-1]):
        fits.clear()
        found = evaluate.compare(X, ["IndependentColumns", *models], sizes=TWO, measures=(), cv=0.3)
        assert set(fits) == {IndependentColumns, LatentClassAnalysis}
        assert len(fits) == 2
        assert (found.best, found.size, found.ties()) == ("LatentClassAnalysis", "2", ["LatentClassAnalysis"])
        assert found.verdict == "LatentClassAnalysis(2) fits best."
        assert [entry.model for entry in found.entries] == ["LatentClassAnalysis", "IndependentColumns"]
        assert set(found.models) == {"LatentClassAnalysis", "IndependentColumns"}
        said = "at its chosen size (1) it is the same model as LatentClassAnalysis(2), which is listed"
        assert found.left_out == {"CombinationMachine": said}
        assert f"Excluded: CombinationMachine: {said}." in str(found)
        one = next(one for one in found.tried if one.model == "CombinationMachine")
        assert one.note.startswith("the same model as LatentClassAnalysis(2)")
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from hiddenbits.cli.app import app

    np.savetxt(tmp_path / "t.csv", X, "%d", ",", header=",".join(f"q{j}" for j in range(8)), comments="")
    words = ["compare", str(tmp_path / "t.csv"), "--json", "-m", "influences", "-m", "classes", "-m", "independent"]
    told = json.loads(CliRunner().invoke(app, words).stdout)
    assert (told["best"], told["ties"]) == ("LatentClassAnalysis", ["LatentClassAnalysis"])
    assert [one["model"] for one in told["models"]] == ["LatentClassAnalysis", "IndependentColumns"]


def test_a_size_that_another_family_did_not_choose_is_no_entry():
    """Three classes were chosen, and two tried: a machine of one unit adds nothing to the table."""
    X = clear_classes(3)
    sizes = {"CombinationMachine": [1], "LatentClassAnalysis": [2, 3]}
    found = evaluate.compare(X, list(sizes), sizes=sizes, measures=(), cv=0.3)
    assert [(entry.model, entry.size) for entry in found.entries] == [("LatentClassAnalysis", "3")]
    assert found.left_out["CombinationMachine"].endswith("LatentClassAnalysis(2), a size that was tried and not chosen")
    alone = evaluate.compare(X, list(sizes), sizes=sizes | {"LatentClassAnalysis": [3]}, measures=(), cv=0.3)
    assert {entry.model for entry in alone.entries} == set(sizes)  # of two classes there is no other entry


def test_hidden_cells_choose_among_the_same_models():
    X = simulate_mixture(200, 6, 2, random_state=1).X
    found = evaluate.compare(X, list(TWO), sizes=TWO, measures=(), cv=0.3, by="cells")
    assert [entry.model for entry in found.entries] == ["LatentClassAnalysis"]
    assert hiddenbits.evaluate.select("CombinationMachine", X, [1], by="cells").size == 1
