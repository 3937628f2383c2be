"""Does logistic PCA know how sure it may be? Intervals of the map and guesses of hidden cells against a known truth.

Simulated rows; the tolerances are several standard errors of the measured shares, which are given beside them.
"""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from hiddenbits import IndependentColumns, LogisticPCA, open_table
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.tables import hide_cells

pytestmark = pytest.mark.core

SEEDS = range(3)
Z90 = 1.6448536269514722


def drawn(seed, n, d, q, size=1.5):
    """Bits, the places of the rows, and the parameters they were drawn from."""
    rng = np.random.default_rng(seed)
    W, b, places = size * rng.standard_normal((d, q)), rng.standard_normal(d), rng.standard_normal((n, q))
    X = rng.random((n, d)) < 1.0 / (1.0 + np.exp(-(places @ W.T + b)))
    return X.astype(np.uint8), places, W, b


def told(W, b, *, refine=True):
    """An estimator that has been told the truth."""
    model = LogisticPCA(W.shape[1], refine=refine, random_state=0)
    model._params, model.n_features_in_ = LogisticParams(W, b, np.zeros(len(b))), len(b)
    return model


def held(model, X, places, *, align=False):
    """Whether the 90% interval of each coordinate holds the true one, after the map has been turned onto the truth."""
    means, covariances = model.transform(X, return_cov=True)
    turn = orthogonal_procrustes(means, places)[0] if align else np.eye(places.shape[1])
    variances = np.einsum("ab,nac,cb->nb", turn, covariances, turn)
    return np.abs(places - means @ turn) <= Z90 * np.sqrt(variances)


@pytest.mark.parametrize(("d", "q"), [(40, 2), (30, 3)])
def test_intervals_hold_the_truth_when_the_parameters_are_known(d, q):
    """Of 3 x 1000 rows: a standard error of at most .0055 for shares of .9, so .02 is nearly four of them.

    The bound's own posteriors are too narrow, by far more than that.
    """
    shares = {False: [], True: []}
    for seed in SEEDS:
        X, places, W, b = drawn(seed, 1000, d, q)
        for refine, found in shares.items():
            found.append(held(told(W, b, refine=refine), X, places).mean())
    assert np.mean(shares[True]) == pytest.approx(0.9, abs=0.02)
    assert np.mean(shares[False]) < 0.85


def test_exact_posteriors_hold_the_truth_as_often_as_they_say():
    """The yardstick itself: exact posteriors, on a grid. Within three and a half standard errors of .0043."""
    found = []
    for seed in SEEDS:
        X, places, W, b = drawn(seed, 1600, 12, 2)
        model = told(W, b)
        assert model._likelihood_kind == "exact"
        found.append(held(model, X, places).mean())
    assert np.mean(found) == pytest.approx(0.9, abs=0.015)


@pytest.mark.full
def test_intervals_hold_the_truth_after_a_fit():
    """With 1500 rows the loadings are known well enough; .02 is four standard errors. The refine does it."""
    shares = {True: [], False: []}
    for seed in SEEDS:
        X, places, _, _ = drawn(seed, 1500, 40, 2)
        for refine, found in shares.items():
            model = LogisticPCA(2, refine=refine, random_state=0).fit(X)
            found.append(held(model, X, places, align=True).mean())
    assert np.mean(shares[True]) == pytest.approx(0.9, abs=0.02)
    assert np.mean(shares[False]) < np.mean(shares[True]) - 0.02


def calibration_error(p, truth):
    bins = np.minimum((10 * p).astype(int), 9)
    return sum(abs((truth[bins == k] - p[bins == k]).sum()) for k in range(10)) / len(p)


def log_loss(p, truth):
    return -np.log(np.where(truth == 1, p, 1.0 - p)).mean()


def test_hidden_cells_are_guessed_nearly_as_well_as_by_the_truth():
    """20% of 3 x 800 x 20 cells hidden: about 9,600 guesses.

    Guesses of the truth itself show what chance alone does: a calibration error of about .01. The fit loses about .005
    nats a cell to the truth, for not knowing 60 parameters exactly; independent bits lose more than .1.
    """
    guesses = {"fit": [], "truth": [], "independent": []}
    bits = []
    for seed in SEEDS:
        X, _, W, b = drawn(10 + seed, 800, 20, 2)
        visible = hide_cells(open_table(X), 0.2, random_state=seed)
        hidden = np.isnan(visible.to_float())
        bits.append(X[hidden])
        models = {
            "fit": LogisticPCA(2, random_state=0).fit(visible),
            "truth": told(W, b),
            "independent": IndependentColumns().fit(visible),
        }
        for name, model in models.items():
            guesses[name].append(model.complete(visible)[hidden])
    truth = np.concatenate(bits)
    p = {name: np.concatenate(parts) for name, parts in guesses.items()}
    loss = {name: log_loss(guess, truth) for name, guess in p.items()}
    assert loss["truth"] < loss["fit"] < loss["truth"] + 0.01
    assert loss["fit"] < loss["independent"] - 0.1
    assert calibration_error(p["truth"], truth) < 0.02
    assert calibration_error(p["fit"], truth) < 0.03
    sharper = p["fit"] ** 2 / (p["fit"] ** 2 + (1.0 - p["fit"]) ** 2)  # doubled log-odds: the measure must see it
    assert calibration_error(sharper, truth) > 0.06
