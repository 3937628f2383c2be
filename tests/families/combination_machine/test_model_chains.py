"""Machines that learn from persistent chains: against enumeration where that is possible."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import hiddenbits
from hiddenbits import CombinationMachine
from hiddenbits.data.summary import summarize
from hiddenbits.engine import Key, Settings, fit_persistent
from hiddenbits.exceptions import UntrustedLikelihoodError
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.model_chains import SWEEPS, CombinationChains, SampledMissing
from hiddenbits.families.combination_machine.tempered_chains import expectations
from hiddenbits.maths.missing_rows import MissingCellSums
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import fit_in_ways, fit_with_interruptions, same

pytestmark = pytest.mark.core


def machine(seed, d=6, m=3, scale=0.7):
    rng = np.random.default_rng(seed)
    return Combination().exact(scale * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d))


@pytest.mark.parametrize("seed", range(3))
def test_gibbs_equals_enumeration(seed):
    """Means over 200 sweeps of 3,000 equal rows, whose errors then average out: within 5 standard errors.

    Sweeps of a row are correlated, rows are not: the error of the mean over rows is taken from their spread.
    """
    params, rng = machine(seed), np.random.default_rng(seed)
    row = rng.integers(0, 2, 6).astype(float)
    row[[1, 4]] = np.nan
    block = table_of(np.tile(row, (3000, 1))).grid(3000).blocks[0]
    rows = np.arange(3000)
    signs = np.where(np.isnan(row), 0.0, 2 * np.nan_to_num(row) - 1)
    A = np.tile(params.thresholds + signs @ params.weights, (3000, 1))
    arrays = (params.weights, params.thresholds, params.bias)
    exact, sampled = MissingCellSums(*arrays), SampledMissing(*arrays, seed)
    for verb in ("posterior", "fill", "leave_one_out"):
        truth = getattr(exact, verb)(A[:1], block, rows[:1])[0]
        found = getattr(sampled, verb)(A, block, rows)
        error = found.std(axis=0) / np.sqrt(3000)
        worst = np.abs(found.mean(axis=0) - truth) / np.maximum(error, 1e-12)
        if verb == "leave_one_out":  # a ratio of means: its own bias is of the order of the variance
            worst = (np.abs(found.mean(axis=0) - truth) - found.var(axis=0)) / np.maximum(error, 1e-12)
        assert worst.max() < 5.0, verb
        assert error.max() * np.sqrt(3000) < 2.0 / np.sqrt(SWEEPS)
    _, h, total = sampled.expected(A, block, rows)
    _, h_true, total_true = exact.expected(A, block, rows)
    np.testing.assert_allclose(h.mean(axis=0), h_true[0], atol=0.03)
    np.testing.assert_allclose(total / 3000, total_true / 3000, atol=0.05)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_chains_learn_what_enumeration_learns(seed):
    """On rows of a known machine, the likelihood of new rows comes within .03 nats of that of the exact fit.

    The gap shrinks with the number of epochs; half of the standard error of a mean over 1,500 rows is .03.
    """
    truth = machine(seed, 10, 3, 1.0)
    train, test = (Combination(3).sample(truth, 1500, np.random.default_rng(seed + k))[0] for k in (10, 20))
    exact = CombinationMachine(3, random_state=seed).fit(train)
    chains = CombinationMachine(3, method="chains", max_iter=240, random_state=seed).fit(train)
    assert chains.stop_reason_ == "schedule_done"
    assert chains._likelihood_kind == "exact"  # three units can be enumerated after all
    assert chains.score(test) > exact.score(test) - 0.03


@pytest.mark.full
def test_blanks_hardly_harm():
    """A tenth of the cells missing at random: the machine found still scores complete rows within .1 nats."""
    truth = machine(0, 10, 3, 1.0)
    train, test = (Combination(3).sample(truth, 1500, np.random.default_rng(k))[0] for k in (10, 20))
    holey = np.where(np.random.default_rng(0).random(train.shape) < 0.1, np.nan, train)
    whole, blanks = (
        CombinationMachine(3, method="chains", max_iter=40, random_state=0).fit(rows) for rows in (train, holey)
    )
    assert blanks.score(test) > whole.score(test) - 0.1


def test_serial_threads_and_part_sizes():
    table = table_of(structured_rows(np.random.default_rng(0), 700, 12, missing=True))
    model = CombinationChains(4, batch_rows=64, n_chains=500, n_temperatures=3)
    fit_in_ways(fit_persistent, model, table, 64, Settings(max_iter=3), [(1, None), (3, None)])


@pytest.mark.parametrize("passes", [1, 3])
def test_resumed_equals_uninterrupted(passes, tmp_path):
    table = table_of(structured_rows(np.random.default_rng(1), 400, 10, missing=True))
    model = CombinationChains(4, batch_rows=128, n_chains=20, n_temperatures=2)
    settings = Settings(n_init=2, max_iter=6)
    fit_with_interruptions(fit_persistent, model, table.grid(128), settings, tmp_path / "fit.hb", passes)


@pytest.fixture(scope="module")
def large():
    """A machine with more units than are enumerated, on a small table."""
    rows = structured_rows(np.random.default_rng(2), 400, 12, missing=False)
    return CombinationMachine(24, max_iter=20, random_state=0).fit(rows), rows


@pytest.mark.full
def test_likelihood_is_estimated_and_says_so(large):
    """24 units can be enumerated with patience: the estimate lies within 4 of its standard errors, plus rounding."""
    model, rows = large
    assert model._likelihood_kind == "estimate"
    found = model.estimate_partition(n_temperatures=2000)
    assert found.trustworthy, found.why
    params = model._params
    # Few columns: enumerate the bits instead of the units, an independent way.
    x = 2.0 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1) - 1.0
    a = x @ params.weights + params.thresholds
    log_p = x @ params.bias + np.logaddexp(0.0, a).sum(axis=1)
    log_z = np.logaddexp.reduce(log_p)
    assert model.log_partition_ == pytest.approx(log_z, abs=4 * model.log_partition_error_ + 1e-4 * abs(log_z))
    index = (rows.astype(int) << np.arange(12)).sum(axis=1)
    np.testing.assert_allclose(model.score_samples(rows), log_p[index] - model.log_partition_, rtol=0, atol=1e-9)
    p = np.exp(log_p - log_z)
    drawn = model.sample(2000, random_state=1)
    # Rows of chains are correlated: a fifth of them taken as independent.
    error = np.sqrt(0.25 / (len(drawn) / 5))
    np.testing.assert_allclose(drawn.mean(axis=0), p @ (x > 0), rtol=0, atol=5 * error)
    bits = model._cell_probabilities(rows[:5])
    for row, found_bits in zip(rows[:5], bits, strict=True):
        for j in range(12):
            pair = [int(((row * (np.arange(12) != j)).astype(int) << np.arange(12)).sum()) + (b << j) for b in (0, 1)]
            assert found_bits[j] == pytest.approx(expit(log_p[pair[1]] - log_p[pair[0]]), abs=1e-9)


def test_what_cannot_be_stood_behind_is_refused(large, monkeypatch):
    _, rows = large
    untrusted = hiddenbits.families.combination_machine.chain_results.log_partition
    monkeypatch.setattr(
        "hiddenbits.families.combination_machine.chain_results.log_partition",
        lambda *args, **options: untrusted(*args, **{**options, "n_temperatures": 2, "n_chains": 3}),
    )
    fresh = CombinationMachine(24, max_iter=20, random_state=0).fit(rows)
    with pytest.raises(UntrustedLikelihoodError, match="cannot be estimated reliably"):
        fresh.score_samples(rows)


@pytest.mark.slow
def test_blanks_are_refused_where_they_cannot_be_summed(large):
    model, rows = large
    holey = rows[:3].copy()
    holey[1, 2] = np.nan
    model.estimate_partition(n_temperatures=2000)
    with pytest.raises(ValueError, match="Row 1 has missing"):
        model.score_samples(holey)
    assert model.complete(holey)[1, 2] == pytest.approx(model.complete(holey)[1, 2])
    assert 0.0 < model.complete(holey)[1, 2] < 1.0


def test_no_steps_of_em(large):
    model, rows = large
    with pytest.raises(ValueError, match="needs method="):
        model.partial_fit(rows)


def test_the_free_phase_is_keyed():
    """Another seed, other chains; the same seed, the same machine."""
    rows = structured_rows(np.random.default_rng(3), 200, 8, missing=False)
    fits = [CombinationMachine(22, max_iter=3, random_state=seed).fit(rows)._params for seed in (0, 0, 1)]
    assert same(fits[0], fits[1])
    assert not same(fits[0], fits[2])
    assert Key(0).rng().random() != Key(1).rng().random()


@pytest.mark.parametrize("bias", [False, True])
def test_a_step_goes_uphill(bias):
    """Along the gradient that the data and the chains give, in whatever coordinates."""
    rows = structured_rows(np.random.default_rng(4), 300, 8, missing=False)
    model, block = CombinationChains(3, ridge=0.0, visible_bias=bias), table_of(rows).grid(300).blocks[0]
    params = replace(model.start(summarize(block), Key(0), None), weights=machine(0, 8).weights)
    stats = model.expect(params, model.prepare(params), block, None, Key(0))[0]
    memory = model.first_memory(params, summarize(block), Key(1))
    _, memory, _ = model.step(params, memory, stats, 1.0, Key(2), map)
    free = expectations(params.machine(), memory)
    gradient = model.gradient(params, stats, free)
    assert gradient @ memory.direction > 0.1 * np.linalg.norm(gradient) * np.linalg.norm(memory.direction)
