"""Rotations: what R makes of given loadings, invariance, and what stays the same."""

from itertools import permutations, product

import numpy as np
import pytest

from hiddenbits import ClippedPCA, LogisticPCA
from hiddenbits.maths.rotation import rotate

pd = pytest.importorskip("pandas")


def apart(loadings, others):
    """Return the largest difference between loadings, up to the order and signs of factors."""
    q = loadings.shape[1]
    return min(
        np.abs(loadings[:, order] * signs - others).max()
        for order in permutations(range(q))
        for signs in product([1.0, -1.0], repeat=q)
    )


@pytest.mark.parametrize(
    ("file", "method", "kaiser"),
    [("varimax", "varimax", False), ("oblimin", "oblimin", False), ("promax_stats", "promax", True)],
)
def test_sat12_as_r_has_it(real_data, file, method, kaiser):
    """GPArotation's Varimax and oblimin without Kaiser's normalization, stats::promax with it (its varimax: 1e-5)."""
    folder = real_data / "reference"
    given = pd.read_csv(folder / "sat12_2d_loadings_unrotated_mirt.csv").iloc[:, 1:].to_numpy()
    expected = pd.read_csv(folder / f"sat12_2d_{file}.csv").iloc[:, 1:].to_numpy()
    found = rotate(given, method, kaiser=kaiser)
    assert apart(found.loadings, expected) < 1e-4
    if method == "oblimin":
        assert abs((found.turn.T @ found.turn)[0, 1]) == pytest.approx(0.6106, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["varimax", "oblimin", "promax"])
@pytest.mark.parametrize("q", [2, 3])
def test_a_rotated_start_leads_to_the_same_loadings(method, q, seed):
    rng = np.random.default_rng(seed)
    simple = np.kron(np.eye(q), np.ones((4, 1))) * rng.uniform(0.5, 0.9, (4 * q, 1)) + 0.05 * rng.normal(
        size=(4 * q, q)
    )
    turn = np.linalg.qr(rng.normal(size=(q, q)))[0]
    first, second = (rotate(A, method, kaiser=False) for A in (simple, simple @ turn))
    assert first.converged
    assert second.converged
    assert apart(first.loadings, second.loadings) < 1e-6
    assert apart(first.loadings, simple) < 0.2  # the structure that was put in
    np.testing.assert_allclose(first.loadings @ first.turn.T, simple, atol=1e-12)
    correlations = first.turn.T @ first.turn
    np.testing.assert_allclose(np.diag(correlations), 1.0, atol=1e-12)
    if method == "varimax":
        np.testing.assert_allclose(correlations, np.eye(q), atol=1e-12)


def test_varimax_of_two_factors_is_the_best_angle():
    """In the plane every rotation can be tried."""
    A = np.random.default_rng(0).normal(size=(9, 2))

    def spread(L):
        return (L**2).var(axis=0).sum()

    angles = np.linspace(0, np.pi / 2, 20001)
    best = max(spread(A @ np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])) for t in angles)
    assert spread(rotate(A, "varimax", kaiser=False).loadings) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("family", [LogisticPCA, ClippedPCA])
def test_a_fitted_map_is_rotated(family):
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((600, 2))
    X = (rng.random((600, 6)) < 1 / (1 + np.exp(-2 * codes[:, [0, 0, 0, 1, 1, 1]]))).astype(int)
    model = family(2, random_state=0).fit(X) if family is LogisticPCA else family(2).fit(X)
    for method in ("varimax", "promax", "oblimin"):
        found = model.rotate(method)
        assert apart(found.loadings > 0.4, np.kron(np.eye(2), np.ones((3, 1)))) == 0
        ss = (found.loadings**2).sum(axis=0)
        assert ss[0] >= ss[1]
        assert (found.loadings.sum(axis=0) > 0).all()
        implied = np.einsum("ia,ab,ib->i", found.loadings, found.correlations, found.loadings)
        np.testing.assert_allclose(implied, found.communalities, atol=1e-10)
        # Rotated slopes on rotated codes are the activations of the map.
        scores = found.transform(model.transform(X))
        unrotated = (
            model.components_.T
            if family is LogisticPCA
            else model.components_.T / np.sqrt(model.noise_variances_)[:, None]
        )
        np.testing.assert_allclose(scores @ found.slopes.T, model.transform(X) @ unrotated.T, atol=1e-10)
        flipped = found.aligned(-found.loadings[:, ::-1])
        np.testing.assert_allclose(flipped.loadings, -found.loadings[:, ::-1])
        np.testing.assert_allclose(flipped.correlations, found.correlations[::-1, ::-1])
    with pytest.raises(ValueError, match="varimax"):
        model.rotate("quartimax")


def test_one_dimension_needs_no_rotation():
    X = (np.random.default_rng(0).random((100, 4)) < 0.5).astype(int)
    model = LogisticPCA(1, random_state=0).fit(X)
    a = model.components_[0]
    expected = a / np.sqrt(1.702**2 + a**2)
    np.testing.assert_allclose(np.abs(model.rotate("oblimin").loadings[:, 0]), np.abs(expected))
