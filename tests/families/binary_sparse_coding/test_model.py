"""Binary sparse coding against enumeration: posterior, statistics, updates, temperature, blanks, the cut."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from hiddenbits.data import open_table
from hiddenbits.engine import Key, Local, Settings, fit_planned
from hiddenbits.families.binary_sparse_coding.annealing import AnnealedCoding
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.binary_sparse_coding.params import RowScores
from tests.families.binary_sparse_coding.coding_data import (
    block_of,
    expected,
    params_of,
    rows_of,
    states_of_row,
    true_statistics,
    truth_of_row,
)

pytestmark = pytest.mark.core


def all_states(H, **options):
    return SparseCoding(H, H, H, **options)


# The posterior and the sums -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
@pytest.mark.parametrize(("c", "gamma"), [(4, 3), (6, 6), (2, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_statistics_equal_enumeration(c, gamma, temperature, missing, seed):
    params = params_of(seed)
    rows, weights = rows_of(params, seed, missing=missing), np.random.default_rng(seed).uniform(0.0, 3.0, 12)
    model = SparseCoding(6, c, gamma, temperature=temperature)
    found = expected(model, params, rows, weights)
    truth = true_statistics(params, rows, weights, c, gamma, temperature)
    for name in ("bound", "squares", "hidden", "joint", "second"):
        np.testing.assert_allclose(getattr(found, name), truth[name], rtol=0, atol=1e-9)
    assert found.weight == found.used == pytest.approx(weights.sum(), rel=1e-14)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_many_causes_are_chosen_among_by_groups(missing):
    """With 90 causes candidates are found in two steps; a few rows, states by the definition."""
    rng = np.random.default_rng(3)
    params = replace(params_of(0, 8, 6), fields=rng.standard_normal((8, 90)), activity=np.full(90, 0.02))
    rows = rows_of(params, 1, n=6, missing=missing)
    model = SparseCoding(90, 2, 2)
    found = model.prepare(params)
    seen = (~np.isnan(rows)).astype(float)
    y = np.nan_to_num(rows)
    posterior = found.with_blanks(y, seen, (y**2).sum(axis=1)) if missing else found.whole(y, (y**2).sum(axis=1))
    want = np.argsort(-(y @ params.fields) / np.sqrt(seen @ params.fields**2), axis=1)[:, :2]
    assert [set(row) for row in posterior.candidates] == [set(row) for row in want]
    for score, row, chosen in zip(posterior.scores, rows, want, strict=True):
        states = np.vstack([np.zeros(90), np.eye(90), np.eye(90)[chosen].sum(axis=0)])
        assert score == pytest.approx(truth_of_row(params, row, states)[0], abs=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_rows_equal_enumeration(missing, seed):
    """Twelve causes or fewer: likelihood, posterior, most probable state and missing numbers are exact."""
    params = params_of(seed)
    rows, model = rows_of(params, seed, missing=missing), AnnealedCoding(6, 3, 2)
    shared, block = model.prepare(params), block_of(rows)
    every = model.hidden_states(params)
    truth = [truth_of_row(params, y, every) for y in rows]
    np.testing.assert_allclose(model.log_likelihood(params, shared, block), [t[0] for t in truth], atol=1e-10)
    np.testing.assert_allclose(model.posterior(params, shared, block), [t[1] @ every for t in truth], atol=1e-12)
    np.testing.assert_array_equal(model.posterior_mode(params, shared, block), [every[t[1].argmax()] for t in truth])
    filled = model.fill(params, shared, block)
    np.testing.assert_allclose(filled, [t[1] @ every @ params.fields.T for t in truth], atol=1e-11)
    joint = [model.log_joint(params, np.nan_to_num(rows[0]), s) for s in every]
    np.testing.assert_allclose(np.logaddexp.reduce(joint), truth_of_row(params, np.nan_to_num(rows[0]), every)[0])


def test_a_row_of_blanks_says_nothing():
    params, model = params_of(0), AnnealedCoding(6)
    block = block_of(np.full((2, 8), np.nan))
    assert model.log_likelihood(params, model.prepare(params), block) == pytest.approx([0.0, 0.0], abs=1e-12)
    np.testing.assert_allclose(model.posterior(params, model.prepare(params), block)[0], params.activity, rtol=1e-12)


@pytest.mark.slow
def test_most_probable_state_outside_the_candidates():
    """A long field has a small W_h'y/|W_h| for its own row, yet alone it is the best state: equation 4's last term."""
    params = params_of(0)
    model = SparseCoding(14, 2, 2)
    rng = np.random.default_rng(1)
    wide = replace(params, fields=rng.standard_normal((8, 14)), activity=np.full(14, 0.1))
    rows = rows_of(wide, 5, n=200)
    states = [states_of_row(wide, y, 2, 2) for y in rows[:40]]
    best = [s[truth_of_row(wide, y, s)[1].argmax()] for s, y in zip(states, rows, strict=False)]
    np.testing.assert_array_equal(model.posterior_mode(wide, model.prepare(wide), block_of(rows))[:40], best)


# Updates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_update_is_the_maximum_of_the_expected_log_joint(seed, missing):
    """With all states and no blanks: W, sigma and pi maximize Sum <ln p(y, s)>, found by a general optimizer."""
    params = params_of(seed, 5, 3)
    rows = rows_of(params, seed, n=60, missing=missing)
    model = all_states(3, shared_activity=False)
    new = model.update(params, expected(model, params, rows))
    every = model.hidden_states(params)
    posterior = [truth_of_row(params, y, every)[1] for y in rows]

    def fall(vector):
        W, log_noise, logits = vector[:15].reshape(5, 3), vector[15], vector[16:]
        total = 0.0
        for y, p in zip(rows, posterior, strict=True):
            means = every @ params.fields.T  # of missing numbers, whose own noise is that of the old parameters
            filled = np.where(np.isnan(y), means, y)
            apart = ((filled - every @ W.T) ** 2).sum(axis=1) + np.isnan(y).sum() * float(params.noise) ** 2
            prior = every @ logits - np.logaddexp(0, logits).sum()
            total += p @ (prior - 5 * log_noise - 0.5 * apart * np.exp(-2 * log_noise))
        return -total / len(rows)

    logits = np.log(new.activity / (1 - new.activity))
    here = np.concatenate([new.fields.ravel(), [np.log(new.noise)], logits])
    better = minimize(fall, here, method="BFGS", options={"gtol": 1e-7})
    assert fall(here) - better.fun < 1e-8
    np.testing.assert_allclose(better.x, here, atol=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(4))
def test_plain_em_is_monotone(seed, missing):
    """All states, plain pi: the log-likelihood never falls, at any step; sigma and W by (6) and (7)."""
    params = params_of(seed, 6, 4)
    table = open_table(rows_of(params, seed, n=200, missing=missing), reals=True)
    model = AnnealedCoding(4, 4, 4, shared_activity=bool(seed % 2), planned_passes=0, data_cut=False)
    outcome = fit_planned(model, table.grid(64), Local(), Settings(max_iter=60, tol=0.0, seed=seed), None, None)
    assert len(outcome.trace) >= 40
    assert (np.diff(outcome.trace) >= -1e-9 * np.abs(outcome.trace[1:])).all()


def test_all_states_leave_pi_plain():
    """gamma = H: the correction of (8) is 1 to 1e-12, and pi is the mean of <s>."""
    params = params_of(2, shared=True)
    model = all_states(6)
    stats = expected(model, params, rows_of(params, 2))
    assert model.update(params, stats).activity == pytest.approx(np.full(6, stats.hidden.mean() / 12), rel=1e-12)


@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_pi_is_corrected_for_truncation(gamma):
    """Equation 8, with binomials."""
    params = params_of(4, shared=True)
    model = SparseCoding(6, 4, gamma)
    stats = expected(model, params, rows_of(params, 4))
    k = np.arange(gamma + 1)
    few = binom.pmf(k, 6, 0.3)
    want = few.sum() * 0.3 / (k @ few) * stats.hidden.sum() / 12
    assert model.update(params, stats).activity == pytest.approx(np.full(6, want), rel=1e-12)


def test_a_cause_that_no_row_has_stays_as_it_is():
    params = params_of(3)
    fields = params.fields.copy()
    fields[:, 2] = -50.0 * np.abs(fields[:, 2])  # nothing in the rows looks like it
    lonely = replace(params, fields=fields)
    model = all_states(6, shared_activity=False)
    new = model.update(lonely, expected(model, lonely, np.abs(rows_of(params, 3, n=40))))
    np.testing.assert_allclose(new.fields[:, 2], fields[:, 2], rtol=1e-6)
    assert new.activity[2] == pytest.approx(1e-5)
    assert np.isfinite(new.fields).all()


# The cut ------------------------------------------------------------------------------------------------------------


def test_the_cut_shares_ties_and_weights():
    scores = RowScores(np.array([5.0, 1.0, 3.0, 3.0, 2.0]), np.array([1.0, 1.0, 2.0, 1.0, 1.0]))
    assert scores.cut_at(1.0) == (5.0, 1.0)
    assert scores.cut_at(2.5) == (3.0, 0.5)
    assert scores.cut_at(4.0) == (3.0, 1.0)
    assert scores.cut_at(4.5) == (2.0, 0.5)
    assert scores.cut_at(6.0) == (1.0, 1.0)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_rows_within_the_cut_are_the_best(missing):
    params = params_of(5, shared=True)
    rows = rows_of(params, 5, n=70, missing=missing)
    grid = open_table(rows, reals=True).grid(16)

    def passes(function):
        return Local(2).reduce(function, grid)

    model = AnnealedCoding(6, 4, 2, planned_passes=10).of_pass(params, Key(0, pass_number=8), passes)
    use = 70 * binom.cdf(2, 6, 0.3)
    scores = [truth_of_row(params, y, states_of_row(params, y, 4, 2))[0] for y in rows]
    order = np.argsort(scores)[::-1]
    share = np.zeros(70)
    share[order[: int(use)]], share[order[int(use)]] = 1.0, use % 1.0
    truth = true_statistics(params, rows, share, 4, 2)
    found = Local().reduce(lambda block: model.expect(params, model.prepare(params), block, None, Key(0))[0], grid)
    assert float(found.used) == pytest.approx(use, rel=1e-12)
    assert float(found.weight) == 70.0
    assert float(found.bound) == pytest.approx(sum(scores), rel=1e-12)
    for name in ("squares", "hidden", "joint", "second"):
        np.testing.assert_allclose(getattr(found, name), truth[name], rtol=0, atol=1e-9)


def test_weights_are_repeats_and_order_does_not_matter():
    """The cut included: rows with equal scores share what is left for them."""
    params = params_of(6)
    rng = np.random.default_rng(0)
    rows, many = rows_of(params, 6, n=90), rng.integers(1, 4, 90)
    few = {"first_candidates": 4, "first_active": 2}
    model = AnnealedCoding(6, 5, 3, planned_passes=9, first_temperature=2.0, **few)
    settings = Settings(max_iter=14, tol=0.0)
    shuffled = rng.permutation(np.repeat(np.arange(90), many))
    fits = [
        fit_planned(model, table.grid(32), Local(), settings, None, None)
        for table in (
            open_table(rows, reals=True).with_weights(many.astype(float)),
            open_table(rows[shuffled], reals=True),
        )
    ]
    np.testing.assert_allclose(fits[0].trace, fits[1].trace, rtol=1e-9)
    np.testing.assert_allclose(fits[0].params.fields, fits[1].params.fields, atol=1e-6)


# Starts, the plan ----------------------------------------------------------------------------------------------------


def test_the_start_about_the_mean_has_sigma_from_the_rows():
    params = params_of(7)
    rows = rows_of(params, 7, n=50, missing=0.1)
    table = open_table(rows, reals=True)
    model = AnnealedCoding(6, 6, 6, first_candidates=6, first_active=6, start_from="mean", start_active=1.0)
    from hiddenbits.data.summary import summarize

    def passes(function):
        return Local().reduce(function, table.grid(16))

    start = model.start(passes(summarize), Key(3), passes)
    np.testing.assert_allclose(start.fields.mean(axis=1), np.nanmean(rows, axis=0), atol=0.05)
    before = replace(start, noise=start.spread)
    truth = true_statistics(before, rows, np.ones(50), 6, 6)
    gram = start.fields.T @ start.fields
    left = truth["squares"] - 2 * np.sum(start.fields * truth["joint"]) + np.sum(gram * truth["second"])
    assert float(start.noise) == pytest.approx(np.sqrt(left / rows.size), rel=1e-9)
    assert float(start.spread) == pytest.approx(np.sqrt(np.nanvar(rows, axis=0).mean()), rel=1e-12)


def test_a_plan():
    few, many = (5, 3), (8, 4)
    plan = AnnealedCoding(9, *many, planned_passes=60, first_temperature=3.0, data_cut=False)
    passes = {number: plan.of_pass(None, Key(0, pass_number=number), None) for number in (0, 24, 44, 45, 48, 1000)}
    assert [now.temperature for now in passes.values()] == pytest.approx([3.0, 2.0, 3.0 - 2.0 * 44 / 48, 1.125, 1, 1])
    assert [(now.n_candidates, now.max_active) for now in passes.values()] == 3 * [few] + 3 * [many]
    at_once = replace(plan, planned_passes=0)
    assert at_once.of_pass(None, Key(0), None).temperature == 1.0
    assert [plan.way(number, 1 / 3, 2 / 3) for number in (0, 20, 30, 40, 60)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    with pytest.raises(ValueError, match="swap them"):
        AnnealedCoding(6, cut_from=0.7, cut_to=0.6)


def test_the_end_of_the_schedule():
    params = params_of(9)
    table = open_table(rows_of(params, 9, n=60), reals=True)
    for settles, reasons in [(False, {"schedule_done"}), (True, {"converged", "max_iter"})]:
        model = AnnealedCoding(6, 4, 2, planned_passes=7, first_temperature=2.0, settles=settles)
        outcome = fit_planned(model, table.grid(32), Local(), Settings(max_iter=30, tol=1e-3), None, None)
        assert outcome.restarts[0].reason in reasons
        assert len(outcome.trace) == 7 if not settles else len(outcome.trace) >= 7
