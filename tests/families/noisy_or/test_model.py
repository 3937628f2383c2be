"""The noisy-OR network by enumeration: its M-step against numeric maximization, layers, and what verbs rest on."""

import numpy as np
import pytest
from scipy.optimize import minimize

from hiddenbits.families.noisy_or.gibbs import Network
from hiddenbits.families.noisy_or.m_step import best_layer, best_strengths
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams, all_states
from hiddenbits.families.noisy_or.rows import (
    RowLikelihoods,
    UntrustedRowsError,
    cell_probabilities,
    leave_one_out_probabilities,
    log_likelihoods,
    marginals,
    most_probable,
    reliable_values,
    sampled_responsibilities,
)
from tests.families.noisy_or.noisy_or_data import block_of, network_params, rows_with_blanks
from tests.oracle.enumeration import Oracle

pytestmark = pytest.mark.core


@pytest.mark.thin(3)
@pytest.mark.parametrize("alpha", [1.0, 1.3, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_update_against_numeric_maximization(alpha, seed):
    """Eq 9, repeated on the same counts, ends where L-BFGS in ln w ends: f to 1e-6."""
    rng, K, d, beta = np.random.default_rng(seed), 3, 4, 1.5
    states = all_states(K)
    tried = rng.uniform(5.0, 200.0, len(states))
    ones = rng.uniform(0.05, 0.95, (d, len(states))) * tried
    f = best_layer(np.full((K + 1, d), 0.2), states, ones, tried[None, :], alpha, beta, steps=6000)

    def value(t):
        w = np.exp(t).reshape(K + 1, d)
        u = states @ w
        g = -np.expm1(-u)
        likelihood = np.sum(ones.T * np.log(g) - (tried - ones).T * u)
        slope = states.T @ (ones.T * np.exp(-u) / g - (tried - ones).T)
        prior = np.sum((alpha - 1.0) * np.log(w) - beta * w)
        return -(likelihood + prior), -((slope - beta) * w + (alpha - 1.0)).ravel()

    x = np.log(np.full((K + 1) * d, 0.2))
    bounds = [(np.log(-np.log1p(-1e-4)), np.log(13.8))] * len(x)
    for _ in range(5):  # begun again from where it ended: its memory of curvature goes stale
        exacting = {"maxiter": 5000, "maxfun": 50_000, "ftol": 0.0, "gtol": 1e-10}
        x = minimize(value, x, jac=True, method="L-BFGS-B", bounds=bounds, options=exacting).x
    np.testing.assert_allclose(f.ravel(), -np.expm1(-np.exp(x)), rtol=0, atol=1e-6)
    assert ((f > 1e-3) & (f < 0.99)).sum() >= 8  # most of them away from the borders, or nothing was tested


@pytest.mark.parametrize("alpha", [1.0, 1.01, 2.0, 10.0])
def test_one_strength_is_the_root_of_equation_9(alpha):
    """Also where nothing was ever switched on, and where a cause was never on."""
    fired = np.array([[0.0, 1e-8, 0.3, 50.0, 1e6]])
    tried = np.array([[10.0, 3.0, 0.4, 60.0, 1e6 + 1]])
    f = best_strengths(fired, tried, alpha, 1.5)
    w = -np.log1p(-f)
    inside = (f > 1e-4) & (f < 1 - 1e-6)
    assert inside.sum() >= 3
    np.testing.assert_allclose((f * (tried + 1.5 - (alpha - 1.0) / w))[inside], fired[inside], rtol=1e-8, atol=1e-12)
    assert (best_strengths(np.zeros((1, 3)), np.zeros((1, 3)), alpha, 1.5) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("causes", [(3, 2), (2, 2, 2)])
def test_layers_equal_enumeration(causes):
    """Likelihood, posteriors of all layers, completion and left-out bits, of rows with blanks."""
    params, model = network_params(2, 5, causes), NoisyOr(list(causes))
    rows = rows_with_blanks(2, 12, 5)
    oracle, shared, block = Oracle(model, params), model.prepare(params), block_of(rows)
    for function, truth in [
        (model.log_likelihood, oracle.log_likelihood),
        (model.posterior, oracle.posterior),
        (model.leave_one_out, oracle.leave_one_out),
    ]:
        np.testing.assert_allclose(function(params, shared, block), [truth(row) for row in rows], rtol=0, atol=1e-12)


@pytest.mark.parametrize("causes", [(4,), (3, 2), (2, 2, 2)])
def test_most_probable_explanation_equals_enumeration(causes):
    params, model = network_params(4, 5, causes), NoisyOr(list(causes))
    rows = rows_with_blanks(4, 30, 5)
    oracle = Oracle(model, params)
    found = model.posterior_mode(params, model.prepare(params), block_of(rows))
    for row, code in zip(rows, found, strict=True):
        p = oracle.joint(row)[1].sum(axis=0)
        assert p[np.flatnonzero((oracle.states == code).all(axis=1))[0]] == pytest.approx(p.max(), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_layers_learn_by_enumeration(seed):
    """One M-step of every layer is that of the complete counts: nothing is better nearby, from counts by definition."""
    causes = (3, 2)
    params = network_params(seed, 4, causes)
    model = NoisyOr(list(causes), alpha=2.0)
    rows = rows_with_blanks(seed, 40, 4)
    block, oracle = block_of(rows), Oracle(model, params)
    stats, _ = model.expect(params, model.prepare(params), block, None, None)
    new = model.update(params, stats)
    fired, tried, on = np.zeros((3, 3)), np.zeros((3, 1)), np.zeros(2)
    f = params.layers[1]
    for row in rows:
        p = oracle.joint(row)[1].sum(axis=0)
        for h, weight in zip(oracle.states, p / p.sum(), strict=True):
            low, top = h[:3], np.append(h[3:], 1.0)
            g = 1.0 - np.prod((1.0 - f) ** top[:, None], axis=0)
            fired += weight * f * np.outer(top, low / g)
            tried += weight * top[:, None]
            on += weight * h[3:]
    one = best_strengths(fired, tried, 2.0, 1.5)
    states = all_states(2)
    # The model takes five such steps on the same counts; the first of them is this one.
    joint = stats.classes[:, None] * params.above_given(0)
    mine = best_layer(f, states, all_states(3)[:, :-1].T @ joint, joint.sum(axis=0)[None, :], 2.0, 1.5, steps=1)
    np.testing.assert_allclose(mine, one, rtol=1e-10)
    np.testing.assert_allclose(new.priors, (on + 0.3) / 41.0, rtol=1e-10)


def sparse_network(seed, d, causes, leak=0.02):
    """A network in which a cause switches on a few bits: what the estimates are for."""
    rng = np.random.default_rng([seed, 9])
    layers, below = [], d
    for K in causes:
        f = np.clip(rng.beta(0.4, 1.5, (K, below)), 1e-3, 0.98)
        layers.append(np.vstack([f, np.full((1, below), leak)]))
        below = K
    return NoisyOrParams.of(layers, rng.uniform(0.1, 0.4, below))


@pytest.fixture(scope="module", params=[(0, (8,)), (1, (6, 4)), (2, (8,))], ids=str)
def drawn(request):
    """A network, 150 of its rows with blanks, and what enumeration says about them."""
    seed, causes = request.param
    params, model = sparse_network(seed, 30, causes), NoisyOr(list(causes))
    rng = np.random.default_rng(seed)
    rows = model.sample(params, 150, rng)[0].astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return params, model, block_of(rows, "csr")


def test_annealed_likelihood(drawn):
    """Each row within 5 of its standard errors, the mean of all within 4 and close to the truth."""
    params, model, block = drawn
    truth = model.log_likelihood(params, model.prepare(params), block)
    found = log_likelihoods(Network.of(params), block, np.random.default_rng(1))
    assert found.agree.all()
    z = (found.values - truth) / found.errors
    assert np.abs(z).max() < 6.0
    assert z.std() < 1.5
    assert abs((found.values - truth).mean()) < 4 * np.sqrt((found.errors**2).sum()) / len(truth) + 1e-3
    assert found.errors.mean() < 0.2
    np.testing.assert_array_equal(reliable_values(found, 0), found.values)


def test_estimates_that_disagree_are_refused():
    agree = np.ones(100, bool)
    agree[[7, 9]] = False
    found = RowLikelihoods(np.zeros(100), np.ones(100), agree)
    assert np.array_equal(reliable_values(found, 0), np.zeros(100))
    agree[40] = False
    with pytest.raises(UntrustedRowsError, match="3 of 100 rows \\(the first is row 1007\\)"):
        reliable_values(found, 1000)
    with pytest.raises(UntrustedRowsError, match="1 of 1 rows"):
        reliable_values(RowLikelihoods(np.zeros(1), np.ones(1), np.zeros(1, bool)), 0)


def test_too_short_a_ladder_is_noticed(monkeypatch):
    """Twenty causes that each explain a row of many ones alone: two temperatures do not lead there, and that shows."""
    f = np.vstack([np.full((20, 60), 1e-3), np.full((1, 60), 1e-3)])
    for i in range(20):
        f[i, i : i + 40] = 0.9
    params = NoisyOrParams.of([f], np.full(20, 0.02))
    rows = NoisyOr([20]).sample(params, 400, np.random.default_rng(0))[0].astype(float)
    block = block_of(rows[rows.sum(axis=1) > 20][:40])
    monkeypatch.setattr("hiddenbits.families.noisy_or.rows.LADDERS", (2,))
    found = log_likelihoods(Network.of(params), block, np.random.default_rng(0))
    assert found.agree.mean() < 0.9
    with pytest.raises(UntrustedRowsError):
        reliable_values(found, 0)


def test_sampled_marginals_and_their_errors(drawn):
    """The root mean square of what is wrong is that of the errors that are given, within 40%."""
    params, model, block = drawn
    truth = model.posterior(params, model.prepare(params), block)
    found = marginals(Network.of(params), block, np.random.default_rng(2))
    off = np.sqrt(np.mean((found.probabilities - truth) ** 2))
    given = np.sqrt(np.mean(found.errors**2))
    assert off < 0.03
    assert off < 1.4 * given
    assert np.mean(np.abs(found.probabilities - truth) > 4 * found.errors + 0.01) < 0.01


def test_sampled_explanations(drawn):
    params, model, block = drawn
    truth = model.posterior_mode(params, model.prepare(params), block)
    found, value = most_probable(Network.of(params), block, np.random.default_rng(3))
    assert (found == truth).all(axis=1).mean() > 0.97
    assert np.isfinite(value).all()


def test_sampled_cells(drawn):
    """Completion and left-out bits: mean square off by what 32 weighted draws allow."""
    params, model, block = drawn
    shared, network = model.prepare(params), Network.of(params)
    for function, exact in ((cell_probabilities, model.fill), (leave_one_out_probabilities, model.leave_one_out)):
        off = function(network, block, np.random.default_rng(4)) - exact(params, shared, block)
        assert np.sqrt(np.mean(off**2)) < 0.06
        assert abs(off.mean()) < 0.005


def test_shares_of_causes(drawn):
    """Shares add up to 1; sampled ones are near the exact ones, which are those of the definition."""
    params, model, block = drawn
    shared = model.prepare(params)
    rows, columns, shares = model.responsibilities(params, shared, block)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    posterior = np.exp(
        [[model_log(params, block, r, s) for s in params.states[0][:, :-1]] for r in range(5)] + params.log_priors[0]
    )
    posterior /= posterior.sum(axis=1, keepdims=True)
    w, u, states = params.w[0], params.inputs[0], params.states[0]
    for e in np.flatnonzero(rows < 5):
        truth = posterior[rows[e]] @ (states * w[:, columns[e]] / u[:, columns[e]][:, None])
        np.testing.assert_allclose(shares[e], truth, atol=1e-10)
    again = sampled_responsibilities(Network.of(params), block, np.random.default_rng(5))
    assert np.array_equal(again[0], rows)
    assert np.array_equal(again[1], columns)
    assert np.sqrt(np.mean((again[2] - shares) ** 2)) < 0.05


def model_log(params, block, r, s):
    """ln P(observed bits of row r | states s of the lowest layer)."""
    f = params.layers[0]
    p = 1.0 - np.prod((1.0 - f[:-1]) ** s[:, None], axis=0) * (1.0 - f[-1])
    x, o = block.x.to_dense()[r], block.observed.to_dense()[r]
    return np.sum(o * np.where(x == 1, np.log(p), np.log(1 - p)))


def test_order_of_causes_means_nothing():
    params, model = network_params(6, 7, (4, 3)), NoisyOr([4, 3])
    other = params.ordered()
    assert (np.diff(other.activity[0]) <= 0).all()
    assert (np.diff(other.activity[1]) <= 0).all()
    block = block_of(rows_with_blanks(6, 20, 7))
    a, b = (model.log_likelihood(p, model.prepare(p), block) for p in (params, other))
    np.testing.assert_allclose(a, b, atol=1e-12)
    assert other.flaw() is None
