"""Cells, pairs and thresholded PCA of experiments/lee_sompolinsky_1998, against draws, NumPy and scikit-learn."""

import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.lee_sompolinsky_1998 import geometry, pairs
from experiments.lee_sompolinsky_1998.thresholded import ThresholdedPCA
from sklearn.decomposition import PCA

pytestmark = pytest.mark.core


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cells_are_those_that_points_fall_into(seed, biases):
    """Points spread far and wide fall into every cell of five planes, but for slivers; none falls elsewhere."""
    W, h = geometry.planes(5, 2, biases=biases, seed=seed)
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((400_000, 2)) * np.exp(rng.uniform(-6.0, 6.0, (400_000, 1)))
    found, there = (
        set(((signs + 1) @ 3.0 ** np.arange(5)).tolist())  # a number for each row of signs
        for signs in (np.sign(points @ W.T + h), np.asarray(geometry.cells(W, h)))
    )
    assert found == there


def test_cells_of_a_triangle_by_hand():
    """x > 0, y > 0, x + y < 1: seven cells; the triangle is bounded and has three neighbours, those at corners two."""
    W, h = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0.0, 0.0, 1.0])
    there = geometry.cells(W, h)
    assert len(there) == 7
    assert not (there == [-1, -1, -1]).all(axis=1).any()
    bounded = [tuple(signs) for signs in there if geometry.is_bounded(W, signs)]
    assert bounded == [(1, 1, 1)]
    counts = dict(zip(map(tuple, there), geometry.neighbours(there), strict=True))
    assert counts[1, 1, 1] == 3
    assert [counts[corner] for corner in ((-1, -1, 1), (1, -1, -1), (-1, 1, -1))] == [2, 2, 2]


@pytest.mark.parametrize("seed", [0, 1])
def test_pairs_are_counted_where_both_are_seen(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 5)).astype(float)
    X[:, 1] = X[:, 0] * X[:, 1]  # never 1 where the first is 0
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 4] = 1.0
    found, empty = pairs.correlations(X), pairs.empty_cells(X)
    for i in range(4):
        for j in range(i):
            seen = ~np.isnan(X[:, i] + X[:, j])
            a, b = X[seen, i], X[seen, j]
            assert found[i, j] == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-12)
            assert empty[i, j] == (len({*zip(a, b, strict=True)}) < 4)
    assert empty[1, 0]
    assert np.isnan(found[4, 0])


def test_thresholded_pca_is_scikit_learns():
    X = np.random.default_rng(0).integers(0, 2, (80, 12)).astype(float)
    X[:, 1] = X[:, 0]
    theirs = PCA(3).fit(X)
    ours = ThresholdedPCA(3).fit(X)
    back = theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_array_equal(ours.reconstruct(X), back > 0.5)
    assert ours.noise == pytest.approx(theirs.noise_variance_, abs=1e-12)


def test_hidden_cells_are_conditional_means():
    """Of the Gaussian that scikit-learn's probabilistic PCA stands for."""
    X = np.random.default_rng(1).integers(0, 2, (80, 8)).astype(float)
    X[:, 1] = X[:, 0]
    C, mean = PCA(2).fit(X).get_covariance(), X.mean(axis=0)
    row = X[:1].copy()
    row[0, [1, 4]] = np.nan
    seen = ~np.isnan(row[0])
    expected = mean[~seen] + C[np.ix_(~seen, seen)] @ np.linalg.solve(C[np.ix_(seen, seen)], row[0, seen] - mean[seen])
    np.testing.assert_allclose(ThresholdedPCA(2).fit(X).complete(row)[0, ~seen], expected, atol=1e-10)


@pytest.fixture
def weighted(monkeypatch):
    """The module, which finds its neighbours as run.py does."""
    here = Path(geometry.__file__).parent
    before = set(sys.modules)
    for folder in (here.parent, here):
        monkeypatch.syspath_prepend(str(folder))
    import weighted

    yield weighted
    for name in set(sys.modules) - before:
        if str(here.parent) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("noise", [True, False])
def test_weights_pass_over_pairs_of_which_nothing_is_known(weighted, noise):
    """Correlations of two dimensions, a tenth of them spoilt and with infinite errors: the others are met."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((20, 2))
    length = np.sqrt(rng.uniform(0.3, 0.8, 20)) if noise else np.ones(20)
    W *= (length / np.linalg.norm(W, axis=1))[:, None]
    truth = W @ W.T
    spoilt = np.triu(rng.random((20, 20)) < 0.1, 1)
    spoilt |= spoilt.T
    rho = np.where(spoilt, rng.uniform(-1, 1), truth)
    np.fill_diagonal(rho, 1.0)
    found = weighted.weighted_factors(rho, np.where(spoilt, np.inf, 0.1), 2, noise=noise)
    apart = np.abs(found @ found.T - truth)
    np.fill_diagonal(apart, 0.0)
    assert apart.max() < 0.01


def test_questions_are_drawn_as_questions(weighted):
    """Two questions whose answers go together: one answer each in every row, and shares and correlations are kept."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 2000)
    second = np.where(rng.random(2000) < 0.5, first, rng.integers(0, 3, 2000))
    X = np.concatenate([np.eye(3)[first], np.eye(3)[second]], axis=1)
    drawn = weighted.Questions(X, 30).draw(20_000, rng)
    assert (drawn[:, :3].sum(axis=1) == 1).all()
    assert (drawn[:, 3:].sum(axis=1) == 1).all()
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(pairs.correlations(drawn), pairs.correlations(X), atol=0.07)  # 3 errors of 2,000 rows
