"""Cells, pairs and thresholded PCA of experiments/lee_sompolinsky_1998, against draws, NumPy and scikit-learn."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.lee_sompolinsky_1998 import geometry, pairs
from experiments.lee_sompolinsky_1998.thresholded import ThresholdedPCA
from sklearn.decomposition import PCA

from hiddenbits import ClippedPCA

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
def module(monkeypatch):
    """Imports a module of the experiment by name; it finds its neighbours as run.py does."""
    here = Path(geometry.__file__).parent
    before = set(sys.modules)
    for folder in (here.parent, here):
        monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(here.parent) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def weighted(module):
    return module("weighted")


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


def test_the_ring_is_what_the_paper_says(module):
    """Closed form against a solver of eigenvalues; the rules find the two modes of C^XX and do not agree on C^SS."""
    low_rank = module("low_rank")
    for n in (8, 12, 64):
        values = np.linalg.eigvalsh(low_rank.ring_of_bits(n))[::-1]
        np.testing.assert_allclose(values[: n // 2], low_rank.closed_form(n), atol=1e-12)
        np.testing.assert_allclose(values[n // 2 :], 0.0, atol=1e-12)
    found = low_rank.rules(np.array([4.0, 4.0, 1e-14]))
    assert set(found.values()) == {2}
    found = low_rank.rules(np.array([6.0, 3.0, 0.5, 0.4, 0.1]))
    assert found == {"above 1": 2, "95% of the trace": 3, "99% of the trace": 4, "steepest drop": 2}


@pytest.mark.parametrize("seed", [0, 1])
def test_arcsines_are_correlations_of_signs(module, seed):
    """Of draws of Gaussian variables of any scale: 200,000, so that 5 standard errors are .011."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((6, 3)) * np.exp(rng.uniform(-2.0, 2.0, (6, 1)))
    signs = np.sign(rng.standard_normal((200_000, 3)) @ W.T)
    np.testing.assert_allclose(module("low_rank").arcsine(W @ W.T), signs.T @ signs / len(signs), atol=0.012)


def test_entropy_from_angles_is_that_of_draws(module):
    """40,000 draws: the entropy has a standard error below ln(32) / 200 = .017."""
    found = module("low_rank").angles(16, 40_000)
    assert found["entropy"] == pytest.approx(found["entropy_of_draws"], abs=0.02)


def test_changes_of_an_image_are_those_of_small_turns_and_stretches(module):
    """A slanted bell, turned and stretched by a thousandth: the change points the way that gradients say."""
    y, x = np.indices((16, 16)) - 7.5

    def bell(x, y):
        return np.exp(-((x + 0.5 * y) ** 2) / 20.0 - y**2 / 40.0)

    found, t = module("outputs").changes(bell(x, y)), 1e-3
    moved = {
        "rotation": bell(x - t * y, y + t * x),
        "stretching, sideways": bell(x + t * x, y),
        "stretching, upwards": bell(x, y + t * y),
        "slant": bell(x + t * y, y),
    }
    assert set(found) == set(moved)
    for name, image in moved.items():
        change = (image - bell(x, y)).ravel()
        assert found[name] @ change / np.linalg.norm(change) > 0.99  # np.gradient takes differences of whole pixels


def test_images_of_the_model_without_noise_are_possible(module):
    """Rows that the paper's model draws have a hidden point, whatever the length of W's rows; others need not."""
    digits = module("digits")
    rows = np.random.default_rng(0)
    W, h = rows.standard_normal((12, 2)), rows.standard_normal(12)
    train = (rows.standard_normal((4000, 2)) @ W.T + h > 0.0).astype(np.uint8)
    model = ClippedPCA.paper(2, random_state=0).fit(train)
    drawn = model.sample(50, random_state=0)
    assert digits.empty_posteriors(model, drawn) == {"images": 50, "possible": 50}
    others = rows.integers(0, 2, (50, 12))
    assert digits.empty_posteriors(model, others)["possible"] < 25  # at most 79 of 4,096 rows are possible


def test_sums_near_zero_need_a_negative_eigenvalue_from_four_bits_on(module):
    """Enumerated against the closed form: 0 for two and three bits, below 0 for all others."""
    constraint = module("constraint")
    for n in constraint.ALL_SIZES:
        found = constraint.least_eigenvalue(n)
        assert found["smallest"] == pytest.approx(found["closed_form"], abs=1e-12)
        assert (found["smallest"] < -0.1) == (n >= 4)
    assert constraint.least_eigenvalue(3)["smallest"] == pytest.approx(0.0, abs=1e-12)
    assert constraint.least_eigenvalue(5)["smallest"] == pytest.approx(2.0 - np.sqrt(5.0), abs=1e-12)


def test_leading_eigenvectors_are_the_best_low_rank_approximation(module):
    """Eckart and Young: what is missed are the other eigenvalues' squares, and steps from W miss more."""
    rarity = module("rarity")
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 20))
    C = np.corrcoef(A) + 0.3 * np.diag(rng.standard_normal(40))  # some eigenvalues are negative
    values = np.linalg.eigvalsh(C)
    found = rarity.low_rank(C)
    assert found["missed"] == pytest.approx((values[:-16] ** 2).sum() / (values**2).sum(), abs=1e-12)
    assert found["missed_by_either_sign"] <= found["missed"]
    best = rarity.leading(C)
    values, vectors = np.linalg.eigh(best)
    W = vectors[:, -16:] * np.sqrt(values[-16:])
    for _ in range(20):
        V = W + 0.01 * rng.standard_normal(W.shape)
        assert ((C - V @ V.T) ** 2).sum() > ((C - best) ** 2).sum()
