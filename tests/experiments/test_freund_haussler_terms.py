"""The search for the largest terms of experiments/freund_haussler_1994, against enumeration."""

import numpy as np
import pytest
from experiments.freund_haussler_1994 import largest_terms as terms

from tests.oracle.machine import MachineOracle

pytestmark = pytest.mark.core


def machine(seed, m, d, scale=1.0):
    rng = np.random.default_rng([seed, m, d])
    return scale * rng.standard_normal((m, d)), rng.standard_normal(m), 0.3 * rng.standard_normal(d)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_terms_are_the_free_machine(seed, monkeypatch):
    """From one state flips lead to all of them; the means are those over all rows and states."""
    monkeypatch.setattr(terms, "SCORED_AT_ONCE", 12)  # several pieces
    W, th, v = machine(seed, 5, 4)
    codes, g = terms.search(np.zeros((1, 5)), W, th, v, 100)
    found = terms.means(codes, g, W, v)
    assert sorted(codes) == list(range(32))
    oracle = MachineOracle(W.T, th, v)
    hidden, joint, _ = oracle.expectations()
    np.testing.assert_allclose(found.hidden, hidden, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.joint, joint.T, rtol=0, atol=1e-12)
    rows = np.array([[2 * (k >> j & 1) - 1 for j in range(4)] for k in range(16)])
    weights = np.prod(1.0 + np.exp(rows @ W.T + th), axis=1) * np.exp(rows @ v)
    assert found.log_sum == pytest.approx(np.log(weights.sum()), abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_largest_are_kept(seed):
    """On these machines the search from the states of rows finds exactly the 30 largest of 1,024, in order."""
    W, th, v = machine(seed, 10, 12, scale=0.4)
    rows = np.where(np.random.default_rng(seed).random((40, 12)) < 0.5, 1.0, -1.0)
    codes, g = terms.search(terms.states_of_rows(rows, W, th), W, th, v, 30)
    every = terms.log_weights(np.arange(1024), W, th, v)
    assert codes.tolist() == np.argsort(-every, kind="stable")[:30].tolist()
    np.testing.assert_allclose(g, np.sort(every)[::-1][:30], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_furthest_corner(seed):
    """g is half the squared distance from a point, but for a constant; for orthogonal weights the rule is right."""
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((9, 6)))[0].T * rng.uniform(0.5, 2.0, (6, 1))
    th = -0.5 * (W**2).sum(axis=1) + rng.standard_normal(6)
    assert (terms.furthest_corner(W, th) == terms.largest_over_reals(W, th)).all()
    W = rng.standard_normal((6, 9))
    x = -th @ np.linalg.solve(W @ W.T, W)
    h = terms.bits_of(np.arange(64), 6)
    g = h @ th + 0.5 * ((h @ W) ** 2).sum(axis=1)
    apart = g - 0.5 * ((h @ W - x) ** 2).sum(axis=1)
    np.testing.assert_allclose(apart, apart[0], rtol=0, atol=1e-10)


def test_largest_cuts():
    """The largest g of the machine of a graph is half of its largest cut."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        found = terms.max_cut(7, rng)
        assert found["largest g"] == found["half of the largest cut"] > 0.0
