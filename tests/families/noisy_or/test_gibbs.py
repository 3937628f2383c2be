"""The noisy-OR sampler against the definition: log-odds, detailed balance, long-run marginals, its compiled twin."""

import numpy as np
import pytest

from hiddenbits.families.noisy_or import gibbs as gibbs
from hiddenbits.families.noisy_or.gibbs import Children, Network, log_joints, sweep, sweep_layer
from hiddenbits.families.noisy_or.m_step import best_strengths
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.noisy_or.statistics import count, m_step
from tests.contracts.conftest import STORAGES
from tests.families.noisy_or.noisy_or_data import block_of, network_params, rows_with_blanks, split_states
from tests.oracle.enumeration import Oracle

pytestmark = pytest.mark.core


@pytest.fixture(params=["compiled", "plain"])
def kernel(request, monkeypatch):
    """With the compiled kernels and without them."""
    if request.param == "plain":
        monkeypatch.setattr(gibbs, "_kernels", lambda: None)
    elif gibbs._kernels() is None:
        pytest.skip("numba is not installed")
    return request.param


def log_joint_of_observed(params, row, h):
    """ln P(observed bits, h): missing bits are leaves, and add up to 1."""
    total, below, start = 0.0, row, 0
    for f in params.layers:
        s = h[start : start + len(f) - 1]
        p = 1.0 - np.prod(1.0 - f[:-1] * s[:, None], axis=0) * (1.0 - f[-1])
        total += np.nansum(np.where(np.isnan(below), np.nan, np.where(below == 1, np.log(p), np.log(1 - p))))
        below, start = s, start + len(s)
    return total + np.sum(np.where(below == 1, np.log(params.priors), np.log(1 - params.priors)))


@pytest.mark.parametrize("causes", [(3,), (4, 2), (3, 2, 2)])
@pytest.mark.parametrize("storage", STORAGES)
def test_log_joint_is_the_definition(kernel, causes, storage):
    params = network_params(1, 7, causes)
    rows = rows_with_blanks(1, 40, 7)
    rng = np.random.default_rng(0)
    h = (rng.random((40, sum(causes))) < 0.5).astype(float)
    network = Network.of(params)
    data = Children.of_block(network.layers[0], block_of(rows, storage))
    found = log_joints(network, data, split_states(params, h))
    truth = [log_joint_of_observed(params, row, s) for row, s in zip(rows, h, strict=True)]
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-11)


@pytest.mark.parametrize("causes", [(4,), (4, 3), (3, 2, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_log_odds_equal_brute_force(kernel, causes, seed):
    """Each unit is drawn at the difference of two log-joints (eqs 6, 7), given what was drawn before it."""
    params = network_params(seed, 6, causes)
    rows = rows_with_blanks(seed, 30, 6)
    rng = np.random.default_rng(seed)
    states = split_states(params, rng.random((30, sum(causes))) < 0.5)
    network = Network.of(params)
    data = Children.of_block(network.layers[0], block_of(rows))
    before = np.concatenate(states, axis=1).astype(float)
    last = sweep(network, data, states, rng, with_odds=True)
    after = np.concatenate(states, axis=1).astype(float)
    odds = np.concatenate(last.odds, axis=1)
    for r in range(30):
        h = before[r].copy()
        for i in range(sum(causes)):
            both = [log_joint_of_observed(params, rows[r], np.where(np.arange(len(h)) == i, v, h)) for v in (1.0, 0.0)]
            assert odds[r, i] == pytest.approx(both[0] - both[1], abs=1e-10)
            h[i] = after[r, i]


@pytest.mark.parametrize("causes", [(3,), (2, 2)])
def test_detailed_balance(causes):
    """Each single draw keeps p: p(s) P(s -> t) = p(t) P(t -> s), from the log-odds at which it is drawn."""
    params = network_params(5, 5, causes)
    row = rows_with_blanks(5, 1, 5)[0]
    network, n_units = Network.of(params), sum(causes)
    every = NoisyOr(list(causes)).hidden_states(params)
    log_p = np.array([log_joint_of_observed(params, row, h) for h in every])
    p = np.exp(log_p - log_p.max())
    block = block_of(np.tile(row, (len(every), 1)))
    data = Children.of_block(network.layers[0], block)
    index = {tuple(h): k for k, h in enumerate(every)}
    for unit in range(n_units):
        # A sweep in which every other unit is kept where it is: offsets far out hold them.
        states = split_states(params, every)
        layer = 0 if unit < causes[0] else 1
        within = unit - (0 if layer == 0 else causes[0])
        children = data if layer == 0 else Children.of_states(network.layers[1], states[0])
        offsets = np.broadcast_to(
            network.odds_above(layer, states) - children.zeros[:, :-1], states[layer].shape
        ).copy()
        held = np.where(states[layer] == 1, 1e6, -1e6)
        held[:, within] = offsets[:, within]
        uniforms = np.full(states[layer].shape, 0.5)
        _, odds, _ = sweep_layer(children, network.layers[layer], states[layer].copy(), held, uniforms, with_odds=True)
        on = 1.0 / (1.0 + np.exp(-odds[:, within]))
        for k, h in enumerate(every):
            other = h.copy()
            other[unit] = 1.0 - h[unit]
            j = index[tuple(other)]
            there, back = (on[k], 1.0 - on[j]) if h[unit] == 0 else (1.0 - on[k], on[j])
            assert p[k] * there == pytest.approx(p[j] * back, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_long_run_marginals_equal_enumeration(seed):
    """Networks of one and two layers, a row with blanks and one without: within 4 standard errors.

    2,000 chains of 60 sweeps, of which the last is looked at: chains are independent, so that errors are those of
    means of 2,000 probabilities. Leaks of at least .05 keep the chains moving.
    """
    causes = (4,) if seed % 2 else (3, 2)
    params = network_params(seed, 6, causes, leak=(0.05, 0.2))
    oracle = Oracle(NoisyOr(list(causes)), params)
    network, n = Network.of(params), 2000
    rows = rows_with_blanks(seed, 2, 6, missing=0.3)
    rows[1] = np.where(np.isnan(rows[1]), 1.0, rows[1])
    for number, row in enumerate(rows):
        rng = np.random.default_rng([seed, number])
        data = Children.of_block(network.layers[0], block_of(np.tile(row, (n, 1))))
        states = network.sample_states(n, rng)
        for _ in range(60):
            sweep(network, data, states, rng)
        found = np.concatenate(states, axis=1)
        truth = oracle.posterior(row)
        error = np.sqrt(np.maximum(truth * (1 - truth), 1e-6) / n)
        assert (np.abs(found.mean(axis=0) - truth) <= 4 * error).all()
        pairs = (found.T.astype(float) @ found) / n
        _, p = oracle.joint(row)
        weights = p.sum(axis=0) / p.sum()
        true_pairs = oracle.states.T @ (weights[:, None] * oracle.states)
        assert (np.abs(pairs - true_pairs) <= 5 * np.sqrt(np.maximum(true_pairs * (1 - true_pairs), 1e-6) / n)).all()


@pytest.mark.parametrize("causes", [(5,), (4, 3)])
def test_twins_draw_the_same(causes, monkeypatch):
    if gibbs._kernels() is None:
        pytest.skip("numba is not installed")
    params = network_params(3, 9, causes)
    block = block_of(rows_with_blanks(3, 300, 9), "csr")
    network = Network.of(params)
    data = Children.of_block(network.layers[0], block)
    results = []
    for twin in (gibbs._kernels(), None):
        monkeypatch.setattr(gibbs, "_kernels", lambda twin=twin: twin)
        states = network.sample_states(300, np.random.default_rng(0))
        rng, active = np.random.default_rng(1), np.arange(300) % 3 > 0
        for _ in range(4):
            last = sweep(network, data, states, rng, active)
        results.append((states, last))
    (a, last_a), (b, last_b) = results
    for x, y in zip(a, b, strict=True):
        assert np.array_equal(x, y)
    np.testing.assert_allclose(last_a.flips, last_b.flips, rtol=0, atol=1e-10)
    for x, y in zip(last_a.off, last_b.off, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10)


def test_twins_on_rows_whose_products_no_number_can_hold(monkeypatch):
    """Hundreds of ones that hardly any cause explains; drawn with log-odds and without, the states are the same."""
    if gibbs._kernels() is None:
        pytest.skip("numba is not installed")
    rng = np.random.default_rng(0)
    f = np.vstack([np.where(rng.random((6, 700)) < 0.05, 0.9, 1e-5), np.full((1, 700), 1e-4)])
    params = NoisyOrParams.of([f], np.full(6, 0.3))
    network = Network.of(params)
    data = Children.of_block(
        network.layers[0], block_of((rng.random((20, 700)) < np.linspace(0, 1, 20)[:, None]) * 1.0)
    )
    uniforms, offsets = rng.random((20, 6)), network.odds_above(0, []) - data.zeros[:, :-1]
    results = []
    for twin, with_odds in ((gibbs._kernels(), True), (gibbs._kernels(), False), (None, True)):
        monkeypatch.setattr(gibbs, "_kernels", lambda twin=twin: twin)
        states = network.sample_states(20, np.random.default_rng(1))[0]
        off, odds, flips = sweep_layer(data, network.layers[0], states, offsets, uniforms, with_odds=with_odds)
        results.append((states, off, odds, flips))
    for other in results[1:]:
        assert np.array_equal(results[0][0], other[0])
        np.testing.assert_allclose(results[0][1], other[1], rtol=1e-9)
        np.testing.assert_allclose(results[0][3], other[3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(results[0][2], results[2][2], rtol=1e-9)
    assert np.log(1e-4) * np.diff(data.indptr).max() < -700  # else nothing was out of range


@pytest.mark.parametrize("learns", ["strengths", "layer"])
def test_several_steps_of_an_upper_layer_are_single_ones_on_the_same_states(learns):
    """Eq 9 written out, three times; what the layer's leak does depends on what learns."""
    params = network_params(9, 6, (3, 2))
    rows, rng = rows_with_blanks(9, 60, 6), np.random.default_rng(9)
    weights = rng.uniform(0.5, 2.0, 60)
    block, network = block_of(rows, weights=weights), Network.of(params)
    data, states = Children.of_block(network.layers[0], block), network.sample_states(60, rng)
    stats = count(params, network, sweep(network, data, states, rng), states, block)
    f, on, above = params.layers[1], states[0].astype(float), np.column_stack([states[1], np.ones(60)])
    tried = (above.T @ weights)[:, None]
    for steps in (1, 2, 3):
        g = 1.0 - np.exp(above @ np.log1p(-f))
        leak, f = f[-1], best_strengths(f * (above.T @ (weights[:, None] * on / g)), tried, 1.0, 1.5)
        if learns == "strengths":
            f[-1] = leak
        moved = m_step(params, stats, learns, 1.0, 1.0, 1.5, 0.3, steps)
        np.testing.assert_allclose(moved.layers[1], f, rtol=1e-9)
        assert np.array_equal(moved.layers[0], params.layers[0])  # the upper layer learns


@pytest.mark.parametrize("storage", STORAGES)
def test_counts_are_those_of_the_states(kernel, storage):
    """A_ij = Sum_n w_n S_i x_j f_ij / g_j and T_ij = Sum_n w_n S_i o_j, written out; two layers, blanks, weights."""
    params = network_params(8, 6, (3, 2))
    rows = rows_with_blanks(8, 50, 6)
    rng = np.random.default_rng(8)
    weights = rng.uniform(0.5, 2.0, 50)
    block = block_of(rows, storage, weights)
    network = Network.of(params)
    data = Children.of_block(network.layers[0], block)
    states = network.sample_states(50, rng)
    last = sweep(network, data, states, rng)
    stats = count(params, network, last, states, block)
    s = [np.column_stack([x, np.ones(50)]) for x in states]
    below = [np.nan_to_num(rows), states[0].astype(float)]
    seen = [(~np.isnan(rows)).astype(float), np.ones((50, 3))]
    fired, tried = [], []
    for number, f in enumerate(params.layers):
        g = 1.0 - np.exp(s[number] @ np.log1p(-f))
        fired.append(f * (s[number].T @ (weights[:, None] * below[number] / g)))
        tried.append(s[number].T @ (weights[:, None] * seen[number]))
    np.testing.assert_allclose(stats.fired, fired[0], rtol=1e-9)
    np.testing.assert_allclose(np.broadcast_to(stats.tried, tried[0].shape), tried[0], rtol=1e-9)
    np.testing.assert_allclose(stats.upper_fired, fired[1].ravel(), rtol=1e-9)
    np.testing.assert_allclose(stats.upper_tried, tried[1][:, 0], rtol=1e-9)
    by_state = stats.upper_states.reshape(4, 4)  # four states of two causes; three children, and the rows
    place = states[1] @ [1, 2]
    for state in range(4):
        here = weights * (place == state)
        np.testing.assert_allclose(by_state[state], [*(here @ states[0]), here.sum()], rtol=1e-12)
    np.testing.assert_allclose(stats.on, weights @ states[1], rtol=1e-12)
    joint = log_joints(network, data, states)
    assert float(stats.bound) == pytest.approx(weights @ joint, rel=1e-12)
