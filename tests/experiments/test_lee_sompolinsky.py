"""Cells and thresholded PCA of experiments/lee_sompolinsky_1998, against draws, NumPy and scikit-learn."""

import numpy as np
import pytest
from experiments.lee_sompolinsky_1998 import geometry
from experiments.lee_sompolinsky_1998.thresholded import ThresholdedPCA
from sklearn.decomposition import PCA

from hiddenbits import ClippedPCA

pytestmark = pytest.mark.core
PAPER = "lee_sompolinsky_1998"


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


def test_the_ring_is_what_the_paper_says(module_of):
    """Closed form against a solver of eigenvalues; the rules find the two modes of C^XX and do not agree on C^SS."""
    low_rank = module_of(PAPER, "low_rank")
    for n in (8, 12, 64):
        values = np.linalg.eigvalsh(low_rank.ring_of_bits(n))[::-1]
        np.testing.assert_allclose(values[: n // 2], low_rank.closed_form(n), atol=1e-12)
        np.testing.assert_allclose(values[n // 2 :], 0.0, atol=1e-12)
    found = low_rank.rules(np.array([4.0, 4.0, 1e-14]))
    assert set(found.values()) == {2}
    found = low_rank.rules(np.array([6.0, 3.0, 0.5, 0.4, 0.1]))
    assert found == {"above 1": 2, "95% of the trace": 3, "99% of the trace": 4, "steepest drop": 2}


@pytest.mark.parametrize("seed", [0, 1])
def test_arcsines_are_correlations_of_signs(module_of, seed):
    """Of draws of Gaussian variables of any scale: 200,000, so that 5 standard errors are .011."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((6, 3)) * np.exp(rng.uniform(-2.0, 2.0, (6, 1)))
    signs = np.sign(rng.standard_normal((200_000, 3)) @ W.T)
    np.testing.assert_allclose(module_of(PAPER, "low_rank").arcsine(W @ W.T), signs.T @ signs / len(signs), atol=0.012)


def test_images_of_the_model_without_noise_are_possible(module_of):
    """Rows that the paper's model draws have a hidden point, whatever the length of W's rows; others need not."""
    digits = module_of(PAPER, "digits")
    rows = np.random.default_rng(0)
    W, h = rows.standard_normal((12, 2)), rows.standard_normal(12)
    train = (rows.standard_normal((4000, 2)) @ W.T + h > 0.0).astype(np.uint8)
    model = ClippedPCA.paper(2, random_state=0).fit(train)
    drawn = model.sample(50, random_state=0)
    assert digits.empty_posteriors(model, drawn) == {"images": 50, "possible": 50}
    others = rows.integers(0, 2, (50, 12))
    assert digits.empty_posteriors(model, others)["possible"] < 25  # at most 79 of 4,096 rows are possible


def test_sums_near_zero_need_a_negative_eigenvalue_from_four_bits_on(module_of):
    """Enumerated against the closed form: 0 for two and three bits, below 0 for all others."""
    constraint = module_of(PAPER, "constraint")
    for n in constraint.ALL_SIZES:
        found = constraint.least_eigenvalue(n)
        assert found["smallest"] == pytest.approx(found["closed_form"], abs=1e-12)
        assert (found["smallest"] < -0.1) == (n >= 4)
    assert constraint.least_eigenvalue(3)["smallest"] == pytest.approx(0.0, abs=1e-12)
    assert constraint.least_eigenvalue(5)["smallest"] == pytest.approx(2.0 - np.sqrt(5.0), abs=1e-12)
