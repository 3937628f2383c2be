"""Annealed importance sampling against enumeration, and against models on which it fails."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hiddenbits.maths.annealed_importance import (
    PartitionEstimate,
    Path,
    anneal,
    effective_size,
    estimate,
    estimates_of,
    log_partition,
    machine_path,
    verdict,
)
from hiddenbits.maths.tempering import Tempered
from tests.families.combination_machine.machine_data import random_machine, two_modes
from tests.oracle.machine import MachineOracle, log_z_over_hidden

pytestmark = pytest.mark.core
LADDER = np.linspace(0.0, 1.0, 101).tolist()


def batches(log_weights, log_base):
    """Return the estimates of 100 rows each: as many independent runs."""
    return [estimate(part, log_base) for part in log_weights.reshape(-1, 100)]


def check_coverage(found, truth):
    """As many within 2 standard errors as there should be, and none beyond 6.

    Beyond 4 there is one in some hundreds: weights are skewed, and 100 of them may all miss the largest.
    """
    z = np.array([(e.log_z - truth) / e.standard_error for e in found])
    assert (np.abs(z) < 6).all(), z
    inside = (np.abs(z) < 2).mean()
    assert inside > 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(z)), inside


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_estimates_cover_the_enumerated_sum(seed, dtype):
    W, th, b, b0 = random_machine(seed, d=8, m=6, scale=0.8)
    oracle = MachineOracle(W, th, b)
    for base in (np.zeros(8), b0):
        machine = Tempered.of(W, th, b, base, dtype)
        path, rng = machine_path(machine), np.random.default_rng([seed, 3])
        up = anneal(path, path.start(4000, rng), LADDER, rng)
        check_coverage(batches(up, path.log_base), oracle.log_z)
        whole = estimate(up, path.log_base)
        assert abs(whole.log_z - oracle.log_z) < 4 * whole.standard_error < 0.05
        # E[w] = Z / Z_0 exactly, however few the temperatures
        coarse = anneal(path, path.start(4000, rng), LADDER[::20], rng)
        whole = estimate(coarse, path.log_base)
        assert abs(whole.log_z - oracle.log_z) < 4 * whole.standard_error < 0.5


def test_the_effective_size_and_the_error():
    rng = np.random.default_rng(0)
    log_w = 3.0 * rng.standard_normal(50) - 700.0  # the weights themselves would be 0
    w = np.exp(log_w + 700.0)
    assert effective_size(log_w) == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-12)
    found = estimate(log_w, 5.0)
    assert found.log_z == pytest.approx(5.0 - 700.0 + np.log(w.mean()), abs=1e-10)
    assert found.standard_error == pytest.approx(w.std(ddof=1) / np.sqrt(50) / w.mean(), rel=1e-10)
    assert effective_size(np.full(9, -1e4)) == pytest.approx(9.0)
    assert estimate(np.full(9, 2.0), 1.0).standard_error == pytest.approx(0.0, abs=1e-7)


def test_the_climb_serves_other_models():
    """A Gaussian of variance 1 becomes one of variance 9, and all is known: ln Z = ln(2 pi 9) / 2."""

    def start(n, rng):
        return rng.standard_normal(n)

    def precision(beta):
        return (1.0 - beta) + beta / 9.0

    def move(x, beta, rng):
        return x * 0.6 + 0.8 * rng.standard_normal(len(x)) / np.sqrt(precision(beta))

    path = Path(
        0.5 * np.log(2 * np.pi), start, lambda x, low, high: -0.5 * x * x * (precision(high) - precision(low)), move
    )
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = anneal(path, path.start(4000, rng), np.linspace(0, 1, 201).tolist(), rng)
        check_coverage(batches(weights, path.log_base), 0.5 * np.log(2 * np.pi * 9.0))
        pair = estimates_of({"one": path, "two": path}, LADDER, 120, rng)
        assert pair["one"].log_z != pair["two"].log_z
        assert pair["one"].ess > 30


@pytest.mark.parametrize("seed", range(2))
def test_twenty_units_against_all_their_states(seed):
    W, th, b, _ = random_machine(seed, d=30, m=20, scale=0.35)
    means = 1.0 / (1.0 + np.exp(-2.0 * (b + 0.5 * W.sum(axis=1))))
    with ThreadPoolExecutor(2) as pool:
        found = log_partition(W, th, b, means, np.random.default_rng(seed), n_temperatures=600, run=pool.map)
    assert found.trustworthy, found.why
    truth = log_z_over_hidden(W, th, b)
    assert abs(found.log_z - truth) < 4 * found.standard_error < 0.4
    assert min(found.ess.values()) >= 30
    assert set(found.ess) == {"uniform", "means"}


@pytest.mark.slow
def test_a_mode_that_one_base_never_sees_is_flagged():
    """Fair coins miss the mode of ones altogether and claim a small error; the data's means know of it."""
    W, th, b = two_modes(64, 8.0)
    truth = log_z_over_hidden(W, th, b)
    for seed in range(3):
        found = log_partition(W, th, b, np.full(64, 0.98), np.random.default_rng(seed), n_temperatures=500)
        uniform = found.estimates["uniform"]
        assert uniform.log_z < truth - 5
        assert uniform.standard_error < 0.1
        assert uniform.ess > 50
        assert not found.agree
        assert not found.trustworthy
        assert np.isnan(found.log_z)
        assert np.isnan(found.standard_error)
        assert "disagree" in found.why


@pytest.mark.slow
def test_a_mode_that_both_bases_miss_is_not_found():
    """The limit of two bases: means of half-seen data (0.3 everywhere) lead both past the mode, and they agree."""
    W, th, b = two_modes(64, 8.0)
    means = np.full(64, 0.3)
    fooled = log_partition(W, th, b, means, np.random.default_rng(0), n_temperatures=500)
    assert fooled.agree
    assert fooled.log_z < log_z_over_hidden(W, th, b) - 5


def test_strong_weights_and_few_temperatures_are_not_trusted():
    W, th, b, _ = random_machine(0, d=40, m=12, scale=2.5)
    truth = log_z_over_hidden(W, th, b)
    for seed in range(3):
        found = log_partition(W, th, b, np.full(40, 0.2), np.random.default_rng(seed), n_temperatures=20)
        assert not found.trustworthy
        assert np.isnan(found.log_z)
        worst = max(abs(e.log_z - truth) for e in found.estimates.values())
        assert worst > 1.0  # there was every reason


def test_bases_that_are_one_are_not_two():
    W, th, b, _ = random_machine(1, d=6, m=3, scale=0.3)
    found = log_partition(W, th, b, np.full(6, 0.5), np.random.default_rng(0), n_temperatures=100)
    assert found.agree
    assert not found.trustworthy
    assert "both bases are one" in found.why


def test_verdicts():
    good = PartitionEstimate(100.0, 0.1, 80.0)

    def judge(**others):
        return verdict({"uniform": good, **others})

    fine = judge(means=PartitionEstimate(100.2, 0.05, 60.0))
    assert fine.trustworthy
    assert fine.log_z == pytest.approx((100.0 / 0.01 + 100.2 / 0.0025) / (1 / 0.01 + 1 / 0.0025))
    # 1.79 standard errors apart: the error of the mean, .0447, is widened by as much
    assert fine.standard_error == pytest.approx(0.2 / np.hypot(0.1, 0.05) / np.sqrt(1 / 0.01 + 1 / 0.0025))
    assert judge(means=PartitionEstimate(100.29, 0.0, 100.0)).trustworthy
    apart = judge(means=PartitionEstimate(100.31, 0.0, 100.0))
    assert not apart.trustworthy
    assert not apart.agree
    poor = judge(means=PartitionEstimate(100.0, 0.1, 29.9))
    assert poor.agree
    assert not poor.trustworthy
    assert "means 29.9" in poor.why
    assert not judge().trustworthy
    assert "only one estimate" in judge().why
    assert not judge(means=PartitionEstimate(np.nan, np.nan, np.nan)).trustworthy
    assert not judge(means=PartitionEstimate(100.0, 0.1, 80.0), third=PartitionEstimate(102.0, 0.1, 80.0)).trustworthy
    # Without any spread, float32 rounding is all that differs.
    assert verdict({"a": PartitionEstimate(500.0, 0.0, 100.0), "b": PartitionEstimate(500.005, 0.0, 100.0)}).trustworthy
    assert not verdict(
        {"a": PartitionEstimate(500.0, 0.0, 100.0), "b": PartitionEstimate(500.1, 0.0, 100.0)}
    ).trustworthy


def test_threads_do_not_change_the_estimates():
    W, th, b, _ = random_machine(4, d=10, m=5)
    means = np.full(10, 0.1)
    kind = {"n_temperatures": 50, "n_chains": 130}
    alone = log_partition(W, th, b, means, np.random.default_rng(0), **kind)
    with ThreadPoolExecutor(3) as pool:
        together = log_partition(W, th, b, means, np.random.default_rng(0), run=pool.map, **kind)
    assert alone.estimates == together.estimates
    with pytest.raises(ValueError, match="n_temperatures=0"):
        log_partition(W, th, b, means, np.random.default_rng(0), n_temperatures=0)
