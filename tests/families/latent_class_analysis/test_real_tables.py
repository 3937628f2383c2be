"""Real tables, with figures from established programs."""

import csv

import numpy as np
import pytest

from hiddenbits import IndependentColumns, LatentClassAnalysis, inference, open_table
from hiddenbits.datasets import load_debd

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(3))
def test_sat12_latent_classes(real_data, seed):
    """poLCA and StepMix agree on -9467.403 for three classes."""
    table = open_table(real_data / "survey" / "sat12_binary.csv")
    model = LatentClassAnalysis(3, prior_strength=0.0, n_init=20, tol=1e-9, random_state=seed).fit(table)
    assert model.score_samples(table).sum() == pytest.approx(-9467.403, abs=0.01)


POLCA = {  # reference, classes, columns, and how poLCA calls levels without a name
    "gss82": ("gss82_lca3_poLCA", 3, None, {}),
    "cheating": (
        "cheating_lca2_poLCA",
        2,
        ["LIEEXAM", "LIEPAPER", "FRAUD", "COPYEXAM"],
        {"=1": "=Pr(1)", "=2": "=Pr(2)"},
    ),
    "election": ("election_lca3_narmF_poLCA", 3, ["*G", "*B"], {}),  # 1,785 rows, with missing answers
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", POLCA)
def test_levels_as_polca(real_data, name, seed):
    """Log-likelihood, every probability, and the errors of those that are not at the border."""
    reference, K, columns, calls = POLCA[name]
    with (real_data / "reference" / f"{reference}.csv").open() as file:
        wanted = {line["what"]: (float(line["estimate"]), line["se"]) for line in csv.DictReader(file)}
    table = open_table(real_data / "survey" / f"{name}.csv", columns=columns, column_types="nominal")
    model = LatentClassAnalysis(K, prior_strength=0, n_init=10, tol=1e-10, random_state=seed).fit(table)
    assert model.score_samples(table).sum() >= wanted["loglik"][0] - 1e-3
    assert model.n_parameters_ == wanted["npar"][0]
    found = inference.standard_errors(model, table, robust=False, kind="outer")
    levels = [level if level[-2:] not in calls else level[:-2] + calls[level[-2:]] for level in model.level_names_]
    classes = [[f"share[{k}]", *(f"P({level}|{k})" for level in levels)] for k in range(1, K + 1)]
    theirs = np.array([[wanted[one] for one in names] for names in classes], float)
    p, errors = (np.column_stack([of["weights"], of["probabilities"]]) for of in (found.estimate, found.se))
    order = [np.abs(p - row).max(axis=1).argmin() for row in theirs[..., 0]]  # classes come in any order
    np.testing.assert_allclose(p[order], theirs[..., 0], rtol=0, atol=1e-3)
    inner = (theirs[..., 0] > 0.001) & (theirs[..., 0] < 0.999)
    np.testing.assert_allclose(errors[order][inner], theirs[..., 1][inner], rtol=0.02)


def test_nltcs_by_default_settings(real_data):
    splits = load_debd("nltcs")
    model = LatentClassAnalysis(20, random_state=0).fit(splits.train)
    assert model.converged_
    assert model.score(splits.test) >= -6.05


@pytest.mark.parametrize(("name", "smoothed"), [("nltcs", -9.23), ("kdd", -2.45), ("audio", -49.34)])
def test_independent_columns_on_debd(real_data, name, smoothed):
    """Published with Laplace smoothing 1, train only, two decimals."""
    splits = load_debd(name)
    model = IndependentColumns(prior_strength=2.0, prior_mean=0.5).fit(splits.train)
    assert model.score(splits.test) == pytest.approx(smoothed, abs=0.006)


def log_loss(p, truth):
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return -np.mean(np.where(truth == 1, np.log(p), np.log1p(-p)))


@pytest.mark.parametrize("file", ["votes/house84.csv", "survey/psych_ability.csv"])
@pytest.mark.parametrize("seed", range(10))
def test_completed_cells_beat_column_means(real_data, file, seed):
    """A fifth of the observed cells hidden at random, on top of the cells that are missing anyway."""
    truth = open_table(real_data / file).to_float()
    rng = np.random.default_rng(seed)
    hidden = (rng.random(truth.shape) < 0.2) & ~np.isnan(truth)
    holed = np.where(hidden, np.nan, truth)
    completed = LatentClassAnalysis(4, random_state=seed).fit(holed).complete(holed)
    means = np.broadcast_to(np.nanmean(holed, axis=0), truth.shape)
    ours, theirs = log_loss(completed[hidden], truth[hidden]), log_loss(means[hidden], truth[hidden])
    assert ours < theirs - 0.02  # by a margin: house84 gains about .3, psych_ability about .05
