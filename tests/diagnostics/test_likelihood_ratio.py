"""The simulated likelihood-ratio test: where it rejects, where not, and what it refuses."""

import numpy as np
import pytest

from hiddenbits import ClippedPCA, LatentClassAnalysis, diagnostics

pd = pytest.importorskip("pandas")


def fits(X, *sizes):
    return [LatentClassAnalysis(K, prior_strength=0, n_init=2, tol=1e-7, random_state=0).fit(X) for K in sizes]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_one_class_is_enough_or_not(seed):
    """With one class p is uniform on 20 values; .05 would be the one chance in 20, and no seed here has it."""
    rng = np.random.default_rng(seed)
    X = (rng.random((150, 5)) < 0.4).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    one, two = fits(X, 1, 2)
    found = diagnostics.bootstrap_lrt(one, two, X, n_replicates=19, random_state=seed)
    assert found.p > 0.05
    assert found.statistic == pytest.approx(2 * (two.score_samples(X) - one.score_samples(X)).sum())
    assert (found.replicates >= 0).all()
    classes = np.where(rng.random((150, 1)) < 0.5, 0.85, 0.15)
    Y = (rng.random((150, 5)) < classes).astype(int)
    assert diagnostics.bootstrap_lrt(*fits(Y, 1, 2), Y, n_replicates=19).p == 0.05


@pytest.mark.slow
def test_replicates_are_keyed_and_values_of_words_are_drawn_as_bits():
    X = (np.random.default_rng(0).random((80, 4)) < 0.4).astype(int)
    plain = diagnostics.bootstrap_lrt(*fits(X, 1, 2), X, n_replicates=4)
    assert (diagnostics.bootstrap_lrt(*fits(X, 1, 2), X, n_replicates=2).replicates == plain.replicates[:2]).all()
    frame = pd.DataFrame(X, columns=list("abcd")).astype(bool)
    assert (
        diagnostics.bootstrap_lrt(*fits(frame, 1, 2), frame, n_replicates=2).replicates == plain.replicates[:2]
    ).all()


def test_what_is_refused():
    X = (np.random.default_rng(0).random((60, 4)) < 0.4).astype(int)
    one, two = fits(X, 1, 2)
    with pytest.raises(ValueError, match="smaller one first"):
        diagnostics.bootstrap_lrt(two, one, X)
    with pytest.raises(ValueError, match="prior"):
        diagnostics.bootstrap_lrt(one, LatentClassAnalysis(2, random_state=0).fit(X), X)
    with pytest.raises(TypeError, match="exact likelihood"):
        diagnostics.bootstrap_lrt(one, ClippedPCA(1).fit(X), X)
    with pytest.raises(ValueError, match="at least one"):
        diagnostics.bootstrap_lrt(one, two, X, n_replicates=0)
