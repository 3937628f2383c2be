"""The Bayesian network of the density benchmark: probabilities sum to 1, the search is greedy, fits are kept."""

import itertools

import numpy as np
import pytest
from benchmarks.debd import fits
from benchmarks.debd.network import BayesianNetwork, learn
from scipy.special import betaln

from hiddenbits.datasets import simulate_mixture

pytestmark = pytest.mark.core

SETTINGS = {"ess": 2.0, "kappa": 0.2, "smoothing": 1.5}


X = simulate_mixture(600, 8, 4, seed=1).X.astype(np.uint8)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_all_rows_sum_to_1(seed):
    network = learn(X, **SETTINGS, noise=0.5, seed=seed)
    assert network.n_iter_ > 10
    rows = np.array(list(itertools.product((0, 1), repeat=8)), dtype=np.uint8)
    assert np.exp(network.score_samples(rows)).sum() == pytest.approx(1.0, abs=1e-12)


def brute_gain(X, rows, j, i, depth):
    def marginal(kept, a):
        ones = int(X[kept, j].sum())
        return betaln(ones + a / 2, len(kept) - ones + a / 2) - betaln(a / 2, a / 2)

    sides = [rows[X[rows, i] == b] for b in (0, 1)]
    if not all(map(len, sides)):
        return -np.inf
    a = SETTINGS["ess"] / 2**depth
    return sum(marginal(side, a / 2) for side in sides) - marginal(rows, a) + np.log(SETTINGS["kappa"])


def brute_force(X, factors):
    """Return {(column, path of splits): column split on}, with all gains computed again for every single split."""
    d = X.shape[1]
    leaves = {(j, ()): np.arange(len(X)) for j in range(d)}
    parents = {j: set() for j in range(d)}
    splits = {}

    def is_above(a, b):
        return a == b or any(is_above(a, parent) for parent in parents[b])

    while True:
        gains = {
            (leaf, i): brute_gain(X, rows, leaf[0], i, len(leaf[1])) * factors[leaf[0], i]
            for leaf, rows in leaves.items()
            for i in range(d)
            if not is_above(leaf[0], i)
        }
        (j, path), i = best = max(gains, key=gains.__getitem__)
        if gains[best] <= 0:
            return splits
        rows = leaves.pop((j, path))
        splits[j, path] = i
        parents[j].add(i)
        for b in (0, 1):
            leaves[j, (*path, (i, b))] = rows[X[rows, i] == b]


def test_search_makes_the_splits_of_brute_force():
    """With noise, since two columns gain the same by either edge between them: rounding would decide."""
    network = learn(X, **SETTINGS, noise=0.1, seed=5)

    def walk(node, j, path):
        if network.split[node] < 0:
            return {}
        i = int(network.split[node])
        found = {(j, path): i}
        for b in (0, 1):
            found |= walk(network.child[node, b], j, (*path, (i, b)))
        return found

    found = {}
    for j in range(8):
        found |= walk(j, j, ())
    assert len(found) > 10
    assert found == brute_force(X, np.exp(0.1 * np.random.default_rng(5).standard_normal((8, 8))))


def test_leaves_are_smoothed_towards_the_node_above():
    network = BayesianNetwork(
        split=np.array([-1, 0, -1, -1]),
        child=np.array([[-1, -1], [2, 3], [-1, -1], [-1, -1]]),
        counts=np.array([[6, 2], [3, 5], [3, 3], [0, 2]]),
        n_columns=2,
        smoothing=2.0,
    )
    np.testing.assert_allclose(network.probabilities, [0.3, 0.6, (3 + 1.2) / 8, (2 + 1.2) / 4])
    expected = [np.log(0.7 * (1 - 4.2 / 8)), np.log(0.3 * 3.2 / 4)]
    np.testing.assert_allclose(network.score_samples(np.array([[0, 0], [1, 1]])), expected)


def test_networks_are_kept_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fits, "KEPT", tmp_path)
    splits = type("Splits", (), {"train": X[:400], "valid": X[400:]})
    monkeypatch.setattr(fits, "load_debd", lambda name: splits)
    fit = fits.run("small", fits.Member("BayesianNetwork", {**SETTINGS, "noise": 0.1}, 3))
    np.testing.assert_array_equal(fit.model().score_samples(splits.valid), fit.valid())
    assert fit.record()["likelihood"] == "exact"
    assert fit.model_path.suffix == ".npz"
