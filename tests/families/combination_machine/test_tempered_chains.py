"""Chains of the combination machine against enumeration."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from hiddenbits.families.combination_machine.sampler import effective_sample_size
from hiddenbits.families.combination_machine.tempered_chains import (
    ChainState,
    advance,
    advance_traced,
    expectations,
    start_chains,
    swap,
)
from hiddenbits.maths.tempering import Tempered, base_bias, bits_to_signs
from tests.families.combination_machine.machine_data import random_machine, two_modes
from tests.oracle.machine import MachineOracle

pytestmark = pytest.mark.core
BETAS = (0.0, 0.35, 0.7, 1.0)
UNLIKELY = 1e-5  # a true hypothesis fails a test this often


def oracle(arrays, beta=1.0):
    return MachineOracle(*arrays, beta=beta)


def signs(bits, machine):
    x = bits_to_signs(np.ascontiguousarray(bits), machine.dtype)
    return x, machine.activations(x)


def misfit(counts, p):
    """Return the probability of counts this far from n p, by chi-squared; rare states are put together."""
    expected = counts.sum() * p
    rare = expected < 10
    pooled = [np.append(values[~rare], values[rare].sum()) for values in (counts, expected)]
    if pooled[1][-1] < 10:
        pooled = [values[:-1] for values in pooled]
    return chi2.sf((((pooled[0] - pooled[1]) ** 2) / pooled[1]).sum(), len(pooled[0]) - 1)


def exact_state(arrays, betas, n, rng):
    """Return chains whose rows are independent exact draws at every temperature."""
    machine = Tempered.of(*arrays, dtype="float64")
    state = start_chains(machine, n, rng, betas)
    visible = np.stack([oracle(arrays, beta).draw(n, rng) for beta in betas])
    return ChainState(**{**state.to_arrays(), "visible": visible})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_sweep_is_the_enumerated_transition(seed, beta, dtype):
    arrays = random_machine(seed, d=3, m=3, scale=1.0)
    truth = oracle(arrays, beta)
    T = truth.transition()
    flow = truth.p[:, None] * T  # the transition that is tested below has detailed balance
    np.testing.assert_allclose(flow, flow.T, rtol=0, atol=1e-14)
    machine, rng = Tempered.of(*arrays, dtype=dtype), np.random.default_rng(seed)
    for k, x in enumerate(truth.x):
        rows, a = signs(np.tile(x > 0, (20_000, 1)).astype(np.uint8), machine)
        machine.sweep(rows, a, beta, rng)
        counts = np.bincount(truth.number(rows > 0), minlength=8)
        assert misfit(counts, T[k]) > UNLIKELY
        np.testing.assert_allclose(machine.activations(rows), arrays[1] + rows @ arrays[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("dtype", "accuracy"), [("float32", 2e-5), ("float64", 1e-12)])
def test_log_ratio_is_the_enumerated_one(dtype, accuracy):
    for seed in range(3):
        arrays = random_machine(seed, d=6, m=4, scale=3.0)
        machine = Tempered.of(*arrays, dtype=dtype)
        for low, high in ((0.0, 1.0), (0.3, 0.31), (0.0, 1e-3), (0.9, 1.0), (0.5, 0.5)):
            a, b = oracle(arrays, low), oracle(arrays, high)
            found = machine.log_ratio(*signs((a.x > 0).astype(np.uint8), machine), low, high)
            truth = b.log_unnormalized - a.log_unnormalized
            np.testing.assert_allclose(found, truth, rtol=accuracy, atol=accuracy * max(high - low, 1e-12 / accuracy))
        base = oracle(arrays, 0.0)
        assert machine.log_base_sum == pytest.approx(base.log_z, abs=1e-5)
        rows, a = signs((base.x > 0).astype(np.uint8), machine)
        np.testing.assert_allclose(machine.free_energy(rows, a), oracle(arrays).log_unnormalized, rtol=1e-5, atol=1e-5)


def test_log_ratio_neither_overflows_nor_cancels():
    """Activations of 1e4 are no trouble in float32, and ten thousand small steps add up to the one large step."""
    rng = np.random.default_rng(0)
    W, th, b, b0 = random_machine(0, d=784, m=500, scale=0.3)
    huge = Tempered.of(1e3 * W, th, b, b0)
    found = huge.log_ratio(*signs(rng.integers(0, 2, (20, 784), dtype=np.uint8), huge), 0.2, 0.7)
    assert np.isfinite(found).all()
    machine = Tempered.of(W, th, b, b0)
    x, a = signs(rng.integers(0, 2, (4, 784), dtype=np.uint8), machine)
    ladder = np.linspace(0.0, 1.0, 10_001)
    total = sum(machine.log_ratio(x, a, low, high) for low, high in pairwise(ladder))
    exact_a = th + x.astype(float) @ W
    truth = x.astype(float) @ (b - b0) + np.logaddexp(0.0, exact_a).sum(axis=1) - 500 * np.log(2.0)
    np.testing.assert_allclose(total, truth, rtol=1e-6, atol=1e-3)  # the sums are about 1600


def test_swaps_are_taken_as_the_joint_asks():
    """Exact draws stay exact draws at both temperatures, still independent, and as many swaps are taken as should."""
    for seed in range(3):
        arrays = random_machine(seed, d=3, m=3, scale=1.5)
        low, high = oracle(arrays, 0.3), oracle(arrays, 0.9)
        # r = p_low(y) p_high(x) / (p_low(x) p_high(y)), x at the low temperature and y at the high one
        r = np.outer(high.p / low.p, low.p / high.p)
        rate = (np.minimum(1.0, r) * np.outer(low.p, high.p)).sum()
        for dtype in ("float32", "float64"):
            n, rng = 40_000, np.random.default_rng([seed, 7])
            machine = Tempered.of(*arrays, dtype=dtype)
            before = np.concatenate([low.draw(n, rng), high.draw(n, rng)])
            x, a = signs(before, machine)
            mark = np.stack([np.zeros(n, np.uint8), np.ones(n, np.uint8)])
            took = swap(machine, x, a, np.array([0.3, 0.9]), np.array([0]), mark, rng)[0]
            after = (x > 0).reshape(2, n, 3)
            assert abs(took.mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / n)
            cells = np.bincount(8 * low.number(after[0]) + low.number(after[1]), minlength=64)
            assert misfit(cells, np.outer(low.p, high.p).ravel()) > UNLIKELY
            # what moves, moves together
            np.testing.assert_array_equal(after[0], np.where(took[:, None], before[n:], before[:n]))
            np.testing.assert_array_equal(mark[0], took)
            np.testing.assert_allclose(a, arrays[1] + x @ arrays[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_exact_draws_stay_exact(seed):
    """Independent exact draws at every temperature, some tempered sweeps later, are still that."""
    arrays = random_machine(seed, d=4, m=3, scale=1.5)
    rng = np.random.default_rng(seed)
    state = exact_state(arrays, BETAS, 12_000, rng)
    for dtype in ("float32", "float64"):
        end = advance(Tempered.of(*arrays, dtype=dtype), state, 5, rng)
        assert (end.accepted > 0).all()
        for beta, bits in zip(BETAS, end.visible, strict=True):
            truth = oracle(arrays, beta)
            assert misfit(np.bincount(truth.number(bits), minlength=16), truth.p) > UNLIKELY


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("betas", [(1.0,), BETAS])
def test_marginals_of_long_chains(seed, betas):
    arrays = random_machine(seed, d=8, m=6, scale=0.6)
    truth = oracle(arrays)
    machine, rng = Tempered.of(*arrays), np.random.default_rng([seed, 1])
    state = advance(machine, start_chains(machine, 20, rng, betas), 300, rng)
    _, trace = advance_traced(machine, state, 1500, rng, lambda x, a: np.concatenate([x, 1 / (1 + np.exp(-a))], axis=1))
    assert trace.shape == (1500, 20, 14)
    hidden, _, visible = truth.expectations()
    found = trace.mean(axis=(0, 1), dtype=np.float64)
    worth = np.array([effective_sample_size(trace[:, :, i].astype(float)) for i in range(14)])
    assert (worth > 1000).all()  # otherwise the bounds would be too wide to mean anything
    error = trace.std(axis=(0, 1)) / np.sqrt(worth)
    assert (np.abs(found - np.concatenate([visible, hidden])) < 4 * error).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_expectations(dtype):
    arrays = random_machine(5, d=6, m=4)
    truth, n = oracle(arrays), 30_000
    state = exact_state(arrays, (0.5, 1.0), n, np.random.default_rng(0))
    machine = Tempered.of(*arrays, dtype=dtype)
    found = expectations(machine, state)
    x = 2.0 * state.rows - 1.0
    p = 1.0 / (1.0 + np.exp(-(arrays[1] + x @ arrays[0])))
    accuracy = 1e-5 if dtype == "float32" else 1e-12  # sums over 400 rows, then float64
    np.testing.assert_allclose(found.hidden, p.mean(axis=0), rtol=0, atol=accuracy)
    np.testing.assert_allclose(found.joint, x.T @ p / n, rtol=0, atol=accuracy)
    np.testing.assert_allclose(found.visible, x.mean(axis=0), rtol=0, atol=accuracy)
    for name, expected in zip(("hidden", "joint", "visible"), truth.expectations(), strict=True):
        draws = {"hidden": p, "visible": x, "joint": x[:, :, None] * p[:, None, :]}[name]
        error = draws.std(axis=0) / np.sqrt(n)
        assert (np.abs(getattr(found, name) - expected) < 4 * error).all()
    with ThreadPoolExecutor(2) as pool:
        threads = expectations(machine, state, pool.map)
    np.testing.assert_array_equal(threads.joint, found.joint)


def test_a_checkpoint_and_threads_change_nothing():
    arrays = random_machine(1, d=9, m=4)
    machine, rng = Tempered.of(*arrays), np.random.default_rng(3)
    state = advance(machine, start_chains(machine, 250, rng, BETAS), 3, rng)
    kept = state.to_arrays()
    assert kept["visible"].dtype == np.uint8
    assert kept["visible"].shape == (4, 250, 9)
    before = {name: array.copy() for name, array in kept.items()}
    straight = advance(machine, state, 4, np.random.default_rng(4))
    resumed = ChainState.from_arrays(before)
    with ThreadPoolExecutor(3) as pool:
        threads = advance(machine, resumed, 4, np.random.default_rng(4), pool.map)
    for name, array in straight.to_arrays().items():
        np.testing.assert_array_equal(array, threads.to_arrays()[name])
        np.testing.assert_array_equal(kept[name], before[name])  # what was handed in is as it was
    assert int(straight.sweeps) == 7
    assert not np.array_equal(straight.visible, advance(machine, state, 4, np.random.default_rng(5)).visible)


@pytest.mark.parametrize("T", [2, 3, 4, 5])
def test_arrivals_from_the_base_are_counted(T):
    """Where all temperatures are the same every swap is taken, and how rows travel can be worked out by hand."""
    b = np.array([0.3, -0.2, 0.1])
    machine, rng, n, sweeps = Tempered.of(np.zeros((3, 2)), np.zeros(2), b, b), np.random.default_rng(0), 7, 40
    state = advance(machine, start_chains(machine, n, rng, np.linspace(0, 1, T)), sweeps, rng)
    walkers, arrived = [False] * T, 0
    for sweep in range(sweeps):
        walkers[0] = True
        for k in range(sweep % 2, T - 1, 2):
            walkers[k], walkers[k + 1] = walkers[k + 1], walkers[k]
        arrived += walkers[-1]
        walkers[-1] = False
    assert arrived > 0
    assert int(state.renewals) == n * arrived
    np.testing.assert_array_equal(state.swap_rates, 1.0)
    np.testing.assert_array_equal(state.tried, [n * len(range(k % 2, sweeps, 2)) for k in range(T - 1)])
    again = state.recounted()
    assert int(again.renewals) == 0
    assert np.isnan(again.swap_rates).all()


@pytest.mark.slow
def test_tempering_reaches_a_mode_that_sweeps_alone_do_not():
    W, th, b = two_modes(16, 1.0)
    truth = MachineOracle(W, th, b)
    full = truth.p[truth.x.sum(axis=1) >= 14].sum()
    machine = Tempered.of(W, th, b, base_bias(np.full(16, 0.8)))
    rng = np.random.default_rng(0)
    blank = np.tile(np.arange(16) % 2, (40, 1)).astype(np.uint8)

    def share(betas):
        state = advance(machine, start_chains(machine, 40, rng, betas, rows=blank), 200, rng)
        _, trace = advance_traced(machine, state, 400, rng, lambda x, a: (x.sum(axis=1) >= 14)[:, None] * 1.0)
        return trace[:, :, 0].mean(), trace[:, :, 0].std() / np.sqrt(effective_sample_size(trace[:, :, 0]))

    found, error = share(np.linspace(0, 1, 10))
    assert error < 0.05
    assert abs(found - full) < 4 * error
    assert share((1.0,))[0] < 0.5 * full
