"""Rows by long chains, and what the chains tell about them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hiddenbits.families.combination_machine.sampler import effective_sample_size, respaced, sample_rows
from hiddenbits.maths.tempering import Tempered, base_bias
from tests.families.combination_machine.machine_data import random_machine, two_modes
from tests.oracle.machine import MachineOracle

pytestmark = pytest.mark.core


def autoregressive(rng, n, chains, phi):
    """Return chains whose autocorrelation time is (1 + phi) / (1 - phi)."""
    x = np.empty((n, chains))
    x[0] = rng.standard_normal(chains)
    noise = np.sqrt(1 - phi**2) * rng.standard_normal((n, chains))
    for t in range(1, n):
        x[t] = phi * x[t - 1] + noise[t]
    return x


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.97])
def test_effective_sample_size_of_known_autocorrelation(phi):
    rng = np.random.default_rng(0)
    found = [effective_sample_size(autoregressive(rng, 4000, 10, phi)) for _ in range(5)]
    assert np.mean(found) == pytest.approx(40_000 * (1 - phi) / (1 + phi), rel=0.12)


def test_chains_in_different_modes_have_a_small_effective_sample_size():
    rng = np.random.default_rng(1)
    quick = rng.standard_normal((1000, 8))
    apart = quick + 3.0 * rng.standard_normal(8)  # each alone would be worth 1000
    assert effective_sample_size(quick) > 6000
    assert effective_sample_size(apart) < 20
    assert effective_sample_size(np.ones((100, 3))) == 300
    assert np.isnan(effective_sample_size(quick[:3]))


def test_a_ladder_gets_shorter_steps_where_swaps_fail():
    betas = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(respaced(betas, np.full(4, 0.3)), betas, rtol=0, atol=1e-12)
    moved = respaced(betas, np.array([0.9, 0.9, 0.1, 0.9]))
    assert (np.diff(moved) > 0).all()
    assert ((moved > 0.5) & (moved < 0.75)).sum() == 3
    assert moved[0] == 0.0
    assert moved[-1] == 1.0
    assert (np.diff(respaced(betas, np.array([1.0, np.nan, 0.0, 1.0]))) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_those_of_the_model(seed):
    W, th, b, b0 = random_machine(seed, d=8, m=6, scale=0.7)
    truth = MachineOracle(W, th, b)
    rows, mixing = sample_rows(Tempered.of(W, th, b, b0), 6000, np.random.default_rng(seed), n_first=200, n_sweeps=500)
    assert mixing.well_mixed
    assert mixing.effective_rows > 3000
    assert rows.dtype == np.uint8
    error = 1.0 / np.sqrt(mixing.effective_rows)  # of a mean of signs, at most
    signs = 2.0 * rows - 1.0
    assert (np.abs(signs.mean(axis=0) - truth.p @ truth.x) < 4 * error).all()
    pairs = truth.x.T @ (truth.p[:, None] * truth.x)
    assert (np.abs(signs.T @ signs / len(rows) - pairs) < 4 * error).all()


@pytest.mark.full
def test_two_modes_are_drawn_as_they_weigh():
    """The ladder is spaced in the first sweeps: the two modes part at one temperature."""
    W, th, b = two_modes(24, 0.5)
    heavy = 1.0 / (1.0 + np.exp(-0.5))
    machine = Tempered.of(W, th, b, base_bias(np.full(24, 0.8)))
    rows, mixing = sample_rows(machine, 2000, np.random.default_rng(0), n_first=400, n_sweeps=2000)
    share = (rows.sum(axis=1) >= 22).mean()
    error = np.sqrt(heavy * (1 - heavy) / mixing.effective_rows)
    assert error < 0.03
    assert abs(share - heavy) < 4 * error
    assert mixing.swap_rates.min() > 0.2
    assert mixing.renewals > 10


@pytest.mark.slow
def test_chains_that_do_not_mix_say_so():
    W, th, b, b0 = random_machine(0, d=60, m=10, scale=2.0)
    kind = {"n_temperatures": 3, "n_chains": 50, "n_first": 40, "n_sweeps": 100}
    _, mixing = sample_rows(Tempered.of(W, th, b, b0), 500, np.random.default_rng(0), **kind)
    assert not mixing.well_mixed
    assert "swap only" in mixing.why
    # Few sweeps between rows: swaps are fine, the rows are not independent.
    slow = Tempered.of(1.2 * np.ones((10, 1)), np.array([0.0]), np.full(10, -0.6))
    _, mixing = sample_rows(
        slow, 20_000, np.random.default_rng(0), n_chains=10, n_first=200, n_sweeps=10, thin=1, n_temperatures=4
    )
    assert not mixing.well_mixed
    assert "effective sample size" in mixing.why
    assert mixing.effective_rows < 10_000
    # Hardly any sweeps: nothing has arrived from the base yet.
    _, mixing = sample_rows(slow, 10, np.random.default_rng(0), n_first=4, n_sweeps=4, thin=1)
    assert not mixing.well_mixed
    assert "renewed" in mixing.why


@pytest.mark.slow
def test_a_mode_that_only_the_data_know():
    """Half of the rows should be ones. The ladder never finds them; chains that start there never leave."""
    W, th, b = two_modes(64, 0.0)
    machine, data = Tempered.of(W, th, b), np.array([[0, 1] * 32, [1] * 64], np.uint8)
    kind = {"n_chains": 40, "n_first": 100, "n_sweeps": 200}
    rows, mixing = sample_rows(machine, 400, np.random.default_rng(0), **kind)
    assert mixing.well_mixed  # the limit of what chains can know of themselves, as the docstring says
    assert not (rows.sum(axis=1) > 60).any()
    for seed in range(3):
        rows, mixing = sample_rows(machine, 400, np.random.default_rng(seed), rows=data, **kind)
        assert (rows.sum(axis=1) > 60).any()
        assert not mixing.well_mixed
        assert mixing.effective_rows < 100


def test_threads_draw_the_same_rows():
    W, th, b, b0 = random_machine(2, d=12, m=4)
    machine = Tempered.of(W, th, b, b0)
    kind = {"n_first": 40, "n_sweeps": 40, "n_chains": 90}
    rows, mixing = sample_rows(machine, 100, np.random.default_rng(0), **kind)
    with ThreadPoolExecutor(3) as pool:
        again, same = sample_rows(machine, 100, np.random.default_rng(0), run=pool.map, **kind)
    assert rows.shape == (100, 12)
    np.testing.assert_array_equal(rows, again)
    assert same.effective_rows == mixing.effective_rows
