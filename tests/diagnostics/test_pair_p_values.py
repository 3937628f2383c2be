"""p-values of residual pairs: uniform if the model is true, small for planted pairs, corrected for their number."""

import numpy as np
import pytest
from scipy.special import ndtr

import hiddenbits
from hiddenbits import ItemResponseModel, LatentClassAnalysis, diagnostics

D = 6
PROFILES = np.array([[0.85, 0.8, 0.75, 0.25, 0.3, 0.2], [0.2, 0.3, 0.25, 0.8, 0.7, 0.75]])


def rows(seed, n=200):
    rng = np.random.default_rng([9, seed])
    return (rng.random((n, D)) < PROFILES[rng.integers(0, 2, n)]).astype(float)


def fitted(X):
    return LatentClassAnalysis(2, prior_strength=0, tol=1e-9, n_init=1, random_state=0).fit(X)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))
def test_a_true_model_has_uniform_p_values(seed):
    """20 tables, 19 simulated for each: p is uniform on 1/20, ..., 1, of mean .525.

    15 pairs of a table are about 5 independent ones, so the mean of their p has a standard error of .03, and the mean
    of the smallest corrected p of each table, .065. We allow three of each.
    """
    p, corrected, naive = [], [], []
    for number in range(20):
        X = rows(100 * seed + number)
        found = diagnostics.residual_pairs(fitted(X), X, n_replicates=19, random_state=number)
        p.append(found["p"])
        corrected.append(found["p_corrected"].min())
        naive.append(2 * ndtr(-np.abs(found["residual"])))
    assert np.mean(p) == pytest.approx(0.525, abs=0.09)
    assert np.mean(corrected) == pytest.approx(0.525, abs=0.2)
    assert np.mean(naive) > 0.65  # residuals are not N(0, 1) on the rows of the fit: what the simulation corrects
    assert np.mean(np.min(p, axis=1)) < 0.25  # without a correction the smallest of 15 is small


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_pair_is_found(seed):
    """Others may be: the wrong model is pulled towards the copy, and misses its neighbors by a little."""
    X = rows(seed, 400)
    rng = np.random.default_rng(seed)
    X[:, 5] = np.where(rng.random(400) < 0.5, X[:, 4], X[:, 5])
    X[rng.random(X.shape) < 0.05] = np.nan
    found = diagnostics.residual_pairs(fitted(X), X, n_replicates=39, n_pairs=6)
    assert found[["first", "second"]][0].tolist() == ("x4", "x5")
    assert found["p"][0] == found["p_corrected"][0] == 1 / 40
    assert (found["p_corrected"][1:] > 0.025).all()
    assert (found["p_corrected"] >= found["p"]).all()


def test_maps_and_frames():
    """Values that stand for bits, and names of columns, change nothing; nor do threads."""
    pd = pytest.importorskip("pandas")
    X = rows(0)
    frame = pd.DataFrame(X == 1, columns=list("abcdef"))
    bits = diagnostics.residual_pairs(ItemResponseModel().fit(X), X, n_replicates=4)
    model = ItemResponseModel().fit(frame)
    with hiddenbits.run_on(n_jobs=2):
        framed = diagnostics.residual_pairs(model, frame, n_replicates=4)
    assert list(framed.columns)[-4:] == ["x2", "df", "p", "p_corrected"]
    np.testing.assert_allclose(framed["residual"], bits["residual"], rtol=1e-9)
    for name in ("p", "p_corrected"):
        np.testing.assert_array_equal(framed[name], bits[name])
    assert set(bits["p"]) <= {0.2, 0.4, 0.6, 0.8, 1.0}


def test_what_is_refused():
    X = rows(0, 60)
    model = fitted(X)
    assert "p" not in diagnostics.residual_pairs(model, X).dtype.names
    with pytest.raises(ValueError, match="at least one table"):
        diagnostics.residual_pairs(model, X, n_replicates=0)
    with pytest.raises(ValueError, match="repeat rows"):
        diagnostics.residual_pairs(model, hiddenbits.open_table(X).with_weights(np.full(60, 2.0)), n_replicates=2)
