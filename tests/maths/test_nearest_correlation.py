"""Correlation matrices near others: published examples, and the inequality that only the nearest one fulfils."""

import numpy as np
import pytest

from hiddenbits.maths.nearest_correlation import clipped, nearest

pytestmark = pytest.mark.core

# Higham (2002), and the example of NAG's routine g02aa, whose matrix is tridiagonal (-1, 2, -1).
HIGHAM = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
HIGHAM_NEAREST = [[1.0, 0.7607, 0.1573], [0.7607, 1.0, 0.7607], [0.1573, 0.7607, 1.0]]
NAG = np.array([[2.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 2]])
NAG_NEAREST = [
    [1.0, -0.8084, 0.1916, 0.1068],
    [-0.8084, 1.0, -0.6562, 0.1916],
    [0.1916, -0.6562, 1.0, -0.8084],
    [0.1068, 0.1916, -0.8084, 1.0],
]


def pseudo_correlation(seed, d):
    """Noise around a correlation matrix: not positive."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((d, 2))
    noise = 0.3 * rng.standard_normal((d, d))
    C = np.clip(W @ W.T / np.sqrt(np.outer((W**2).sum(1), (W**2).sum(1))) + (noise + noise.T) / 2, -0.99, 0.99)
    np.fill_diagonal(C, 1.0)
    assert np.linalg.eigvalsh(C).min() < -0.1
    return C


def is_correlation(C, floor=0.0):
    np.testing.assert_array_equal(C, C.T)
    np.testing.assert_array_equal(np.diag(C), 1.0)
    assert np.linalg.eigvalsh(C).min() >= floor - 1e-12


@pytest.mark.parametrize(("given", "truth"), [(HIGHAM, HIGHAM_NEAREST), (NAG, NAG_NEAREST)], ids=["Higham", "NAG"])
def test_published_examples(given, truth):
    found, converged = nearest(given, 0.0, 1e-9, 1000)
    assert converged
    np.testing.assert_allclose(found, truth, rtol=0, atol=5.1e-5)  # they print four digits


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_nearer(seed):
    """X is the projection of A exactly if (A - X).(C - X) <= 0 for every correlation matrix C."""
    A = pseudo_correlation(seed, 12)
    X, converged = nearest(A, 0.0, 1e-10, 5000)
    assert converged
    is_correlation(X)
    clip = clipped(A, 0.0)
    is_correlation(clip)
    assert np.linalg.norm(A - X) < np.linalg.norm(A - clip)
    rng = np.random.default_rng(seed)
    others = [clip, np.eye(12), np.ones((12, 12))]
    for _ in range(200):
        W = rng.standard_normal((12, rng.integers(1, 12)))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        others.append(W @ W.T)
    assert max(np.sum((A - X) * (C - X)) for C in others) < 1e-6


@pytest.mark.parametrize("floor", [1e-6, 1e-2])
def test_floor(floor):
    A = pseudo_correlation(5, 10)
    is_correlation(nearest(A, floor, 1e-9, 5000)[0], 0.999 * floor)
    is_correlation(clipped(A, floor), 0.3 * floor)  # the scaling divides by diagonals above 1


def test_clip_by_hand():
    """Two columns with correlation 1.5: eigenvalues 2.5 and -.5 become 2.5 and 0."""
    found = clipped(np.array([[1.0, 1.5], [1.5, 1.0]]), 0.0)
    np.testing.assert_allclose(found, np.ones((2, 2)), rtol=0, atol=1e-15)


def test_a_correlation_matrix_stays():
    C = np.array([[1.0, 0.3, -0.2], [0.3, 1.0, 0.5], [-0.2, 0.5, 1.0]])
    np.testing.assert_allclose(clipped(C, 1e-6), C, rtol=0, atol=1e-15)
    np.testing.assert_allclose(nearest(C, 1e-6, 1e-9, 10)[0], C, rtol=0, atol=1e-15)


def test_too_few_iterations_say_so():
    assert not nearest(pseudo_correlation(1, 12), 0.0, 1e-12, 2)[1]
