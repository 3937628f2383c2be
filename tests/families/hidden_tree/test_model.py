"""What is special about a hidden tree: where it is a model we know, and how its tree and its scales come about."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from hiddenbits import HiddenTree, IndependentColumns, open_table
from hiddenbits.data.layout import binary_columns
from hiddenbits.families.hidden_tree import model
from hiddenbits.families.hidden_tree.model import StateTree, chow_liu_parents
from hiddenbits.families.hidden_tree.params import HiddenTreeParams
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.maths.pair_counts import count_pairs

pytestmark = pytest.mark.core


def block_of(rows):
    return open_table(rows).grid(len(rows)).blocks[0]


def chain(d):
    return np.arange(d) - 1.0


def stripes(rng, n, d, stay):
    """Rows whose bits are mostly like the one before."""
    return ((rng.random((n, d)) > stay).cumsum(axis=1) % 2).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_without_moves_it_is_a_latent_class_analysis(seed):
    rng = np.random.default_rng(seed)
    d, K = 40, 3
    pi, theta, mean = rng.dirichlet(np.ones(K)), rng.uniform(0.02, 0.98, (d, K)), np.full(d, 0.5)
    tiny = 1e-12
    moves = np.tile((1 - K * tiny) * np.eye(K) + tiny, (d, 1, 1))
    moves[0] = pi
    rows = (rng.random((50, d)) < 0.4).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    tree, mixture, block = StateTree(K), Classes(K), block_of(rows)
    params, classes = HiddenTreeParams(chain(d), moves, theta, mean), NodeParams.of(pi, theta, mean, binary_columns(d))
    truth = mixture.log_likelihood(classes, mixture.prepare(classes), block)
    np.testing.assert_allclose(tree.log_likelihood(params, None, block), truth, rtol=0, atol=1e-6)  # moves of 1e-12
    states = tree.posterior(params, None, block).reshape(50, d, K)
    r = mixture.posterior(classes, mixture.prepare(classes), block)
    np.testing.assert_allclose(states, np.repeat(r[:, None], d, axis=1), rtol=0, atol=1e-6)


def test_one_state_is_independent_columns():
    rows = (np.random.default_rng(0).random((300, 9)) < 0.3).astype(float)
    tree, plain = HiddenTree(1, random_state=0).fit(rows), IndependentColumns().fit(rows)
    np.testing.assert_allclose(tree.score_samples(rows), plain.score_samples(rows), rtol=0, atol=1e-10)


def test_a_chain_is_a_hidden_markov_model():
    """The forward recursion in logs, as textbooks have it."""
    rng = np.random.default_rng(1)
    d, K = 30, 4
    moves = rng.dirichlet(np.full(K, 0.3), (d, K))
    moves[0] = moves[0, 0]
    params = HiddenTreeParams(chain(d), moves, rng.uniform(0.01, 0.99, (d, K)), np.full(d, 0.5))
    rows = (rng.random((20, d)) < 0.5).astype(float)
    for row, ours in zip(rows, StateTree(K).log_likelihood(params, None, block_of(rows)), strict=True):
        log_a = np.log(moves[0, 0])
        for j in range(d):
            if j:
                log_a = logsumexp(log_a[:, None] + np.log(moves[j]), axis=0)
            log_a = log_a + np.log(np.where(row[j] == 1, params.probabilities[j], 1 - params.probabilities[j]))
        assert ours == pytest.approx(logsumexp(log_a), abs=1e-11)


def test_a_column_with_very_many_children_does_not_underflow():
    """A root with 2,000 children, whose product of messages is far below the smallest number there is."""
    rng = np.random.default_rng(2)
    d, K = 2001, 3
    parents = np.zeros(d)
    parents[0] = -1.0
    moves = rng.dirichlet(np.ones(K), (d, K))
    moves[0] = moves[0, 0]
    params = HiddenTreeParams(parents, moves, rng.uniform(0.001, 0.999, (d, K)), np.full(d, 0.5))
    rows = (rng.random((4, d)) < 0.5).astype(float)
    of_bits = np.where(rows[:, :, None] == 1, params.probabilities, 1 - params.probabilities)
    messages = np.log(np.einsum("njl,jkl->njk", of_bits[:, 1:], moves[1:])).sum(axis=1)
    truth = logsumexp(messages + np.log(of_bits[:, 0]) + np.log(moves[0, 0]), axis=1)
    assert (truth < -1000).all()
    model, block = StateTree(K), block_of(rows)
    np.testing.assert_allclose(model.log_likelihood(params, None, block), truth, rtol=1e-12)
    states = model.posterior(params, None, block).reshape(4, d, K)
    np.testing.assert_allclose(states.sum(axis=2), 1.0, atol=1e-9)


@pytest.mark.parametrize("shape", ["chain", "two children each", "eight children each", "one parent for all"])
def test_bits_that_no_state_expects_do_not_underflow(shape):
    """Every factor is as small as it can be, and the truth is their number times its logarithm."""
    d, K, tiny = 400, 3, 1e-12
    below = {"chain": 1, "two children each": 2, "eight children each": 8, "one parent for all": d}[shape]
    parents = np.array([-1.0, *((j - 1) // below for j in range(1, d))])
    moves = np.tile((1.0 - K * tiny) * np.eye(K)[::-1] + tiny, (d, 1, 1))
    moves[0] = 1.0 / K
    params = HiddenTreeParams(parents, moves, np.full((d, K), tiny), np.full(d, 0.5))
    tree, block = StateTree(K), block_of(np.ones((2, d)))
    np.testing.assert_allclose(tree.log_likelihood(params, None, block), d * np.log(tiny), rtol=1e-10)
    stats, _ = tree.expect(params, None, block, None, None)
    np.testing.assert_allclose(stats.moves.sum(axis=(1, 2)), 2.0, rtol=1e-9)
    np.testing.assert_allclose(stats.ones, 2.0 / K, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_chain_and_fills_in_from_the_neighbors(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(10)
    rows = stripes(rng, 1500, 10, 0.85)
    shuffled = rows[:, order]
    parents = chow_liu_parents(count_pairs(block_of(shuffled))).astype(int)
    links = {frozenset((int(order[j]), int(order[p]))) for j, p in enumerate(parents) if p >= 0}
    assert links == {frozenset((j, j + 1)) for j in range(9)}
    # Each of ten bits is the one before (the first: 0) or not; a tree of two states comes near the entropy of that.
    entropy = -10 * (0.85 * np.log(0.85) + 0.15 * np.log(0.15))
    test = stripes(rng, 4000, 10, 0.85)
    model = HiddenTree(2, random_state=seed).fit(rows)
    assert -model.score(test) == pytest.approx(entropy, abs=0.06)
    holes = test[:500].copy()
    holes[:, 5] = np.nan
    both = (test[:500, 4] == 1) & (test[:500, 6] == 1)
    between = 0.85**2 / (0.85**2 + 0.15**2)
    assert model.complete(holes)[both, 5].mean() == pytest.approx(between, abs=0.03)


def test_unlawful_parameters_are_named():
    good = HiddenTreeParams(chain(3), np.full((3, 2, 2), 0.5), np.full((3, 2), 0.3), np.full(3, 0.3))
    assert good.flaw() is None
    for change, words in [
        ({"parents": np.array([1.0, 2.0, 0.0])}, "cycle"),
        ({"parents": np.array([-1.0, 0.5, 1.0])}, "columns, or -1"),
        ({"moves": np.full((3, 2, 2), 0.4)}, "add up to 1"),
        ({"moves": np.array([[[0.5, 0.5], [0.4, 0.6]]] * 3)}, "a root has no parent"),
        ({"probabilities": np.ones((3, 2))}, "between 0 and 1"),
        ({"prior_mean": np.full(4, 0.3)}, "shapes"),
    ]:
        assert words in HiddenTreeParams(**{**good.to_arrays(), **change}).flaw()


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 9, 13])
@pytest.mark.parametrize("blanks", [0.0, 0.2])
def test_compiled_functions_are_twins(monkeypatch, K, blanks):
    """Rows fewer and more than are worked on together; states on both sides of those that BLAS takes."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(K)
    d = 40
    parents = np.array([-1.0, -1.0, *(float(rng.integers(0, j)) for j in range(2, d))])
    moves = rng.dirichlet(np.full(K, 0.3), (d, K)) * (1.0 - 1e-9) + 1e-9 / K
    moves[:2] = moves[:2, :1]
    params = HiddenTreeParams(parents, moves, rng.uniform(0.01, 0.99, (d, K)), np.full(d, 0.5))
    assert params.flaw() is None
    for n in (1, 150):
        rows = (rng.random((n, d)) < 0.3).astype(float)
        rows[rng.random(rows.shape) < blanks] = np.nan
        block = replace(block_of(rows), weights=rng.uniform(0.5, 2.0, n))

        def both(block=block):
            return *model.expected_counts(params, block), model.log_likelihood(params, block)

        with monkeypatch.context() as without:
            fast = both()
            without.setattr(model, "fast_kernels", lambda: None)
            for ours, plain in zip(fast, both(), strict=True):
                np.testing.assert_allclose(ours, plain, rtol=1e-11, atol=1e-13)
