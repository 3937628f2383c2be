"""Maximal causes and the largest magnitude against enumeration: posterior, sums, updates, blanks, draws, verbs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

import hiddenbits
from hiddenbits import Annealing, BinarySparseCoding
from hiddenbits.families.binary_sparse_coding.max_model import FLOOR, MaxCoding
from hiddenbits.families.binary_sparse_coding.schedule import Schedule
from tests.contracts.test_same_bits import same
from tests.families.binary_sparse_coding.coding_data import block_of, expected, params_of

pytestmark = pytest.mark.core
SIGNED = pytest.mark.parametrize("signed", [False, True], ids=["max", "max_magnitude"])
NAMES = {False: "max", True: "max_magnitude"}


def of(seed, signed, D=7, H=5, step=0.0):
    params = params_of(seed, D, H, step=step)
    fields = 3.0 * params.fields
    return replace(params, fields=fields if signed else np.abs(fields))


def shows(params, s, signed):
    """m(s), column by column: the strongest of the causes that are on, 0 if none is."""
    m = np.zeros(params.n_columns)
    for d, field in enumerate(params.fields):
        on = [field[h] for h in range(len(s)) if s[h]]
        m[d] = max(on, key=abs if signed else None) if on else 0.0
    return m


def rows_from(params, seed, signed, n=12, missing=0.0):
    rng = np.random.default_rng([seed, 98])
    states = rng.random((n, params.n_components)) < params.activity
    rows = np.array([shows(params, s, signed) for s in states])
    rows += float(params.noise) * rng.standard_normal(rows.shape)
    if missing:
        rows[rng.random(rows.shape) < missing] = np.nan
        rows[: n // 3] = np.nan_to_num(rows[: n // 3], nan=0.3)
    return rows


def log_weights(params, y, states, signed):
    """ln p(s, observed numbers) of each state."""
    seen, pi, variance = ~np.isnan(y), params.activity, float(params.noise) ** 2
    apart = np.array([(y - shows(params, s, signed))[seen] for s in states])
    prior = states @ np.log(pi) + (1 - states) @ np.log1p(-pi)
    return prior - 0.5 * seen.sum() * np.log(2 * np.pi * variance) - 0.5 * (apart**2).sum(axis=1) / variance


def few_states(params, y, c, gamma, signed):
    """At most gamma of the c causes with the largest gain alone, or a single cause."""
    H = params.n_components
    gain = log_weights(params, y, np.eye(H), signed)
    outside = np.ones(H, bool)
    outside[np.argsort(-gain)[:c]] = False
    every = np.array(list(product((0.0, 1.0), repeat=H)))
    few = (every.sum(axis=1) <= gamma) & ~every[:, outside].any(axis=1)
    return every[few | (every.sum(axis=1) <= 1)]


def true_sums(params, rows, weights, c, gamma, temperature, rho, signed):
    """The sums by their definition, state by state and cell by cell."""
    D, H = params.fields.shape
    sums = {"bound": 0.0, "cells": 0.0, "apart": 0.0}
    sums |= {"hidden": np.zeros(H), "shown": np.zeros((D, H)), "shown_values": np.zeros((D, H))}
    for y, weight in zip(rows, weights, strict=True):
        states = few_states(params, y, c, gamma, signed)
        log_p = log_weights(params, y, states, signed) / temperature
        sums["bound"] += weight * temperature * logsumexp(log_p)
        sums["cells"] += weight * (~np.isnan(y)).sum()
        for s, share in zip(states, weight * np.exp(log_p - logsumexp(log_p)), strict=True):
            sums["apart"] += share * np.nansum((y - shows(params, s, signed)) ** 2)
            sums["hidden"] += share * s
            powers = (s * np.abs(params.fields)) ** rho
            A = powers / powers.sum(axis=1, keepdims=True) if s.any() else powers
            A[np.isnan(y)] = 0.0
            sums["shown"] += share * A
            sums["shown_values"] += share * A * np.nan_to_num(y)[:, None]
    return sums


@SIGNED
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("c", "gamma", "temperature"), [(3, 2, 1.0), (5, 5, 2.5), (2, 1, 1.0)])
def test_statistics_equal_enumeration(signed, missing, c, gamma, temperature):
    """At the first step of a schedule: its temperature, and rho = 5; weights of rows count."""
    for seed in range(2):
        params = of(seed, signed)
        rows = rows_from(params, seed, signed, missing=missing)
        weights = np.random.default_rng(seed).uniform(0.0, 3.0, len(rows))
        model = MaxCoding(5, c, gamma, 5, 5, cut=False, schedule=Schedule(10, temperature), signed=signed)
        found = expected(model, params, rows, weights)
        truth = true_sums(params, rows, weights, c, gamma, temperature, 5.0, signed)
        for name, value in truth.items():
            np.testing.assert_allclose(getattr(found, name), value, rtol=1e-10, atol=1e-9, err_msg=name)
        assert [float(found.used), float(found.weight)] == pytest.approx([weights.sum()] * 2, rel=1e-14)


@SIGNED
def test_sharpness_rises_as_the_temperature_falls(signed):
    """rho is 5 at first, 12.5 half way to temperature 1, and 20 from there on; with no temperature as well."""
    for heat in (1.0, 3.0):
        model = MaxCoding(5, signed=signed, schedule=Schedule(10, heat))
        rho = [model.prepare(of(0, signed, step=step)).now.rho for step in (0.0, 4.0, 8.0, 30.0)]
        assert rho == [5.0, 12.5, 20.0, 20.0]


@SIGNED
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_update_is_that_of_the_slow_version(signed, missing):
    """W = Sum <A> y / Sum <A>, floored where not signed; sigma with the old W; pi = mean <s> with all states."""
    params = of(3, signed, step=20.0)
    rows = rows_from(params, 3, signed, n=40, missing=missing)
    model = MaxCoding(5, 5, 5, 5, 5, cut=False, shared_activity=False, schedule=Schedule(30, 1.0), signed=signed)
    new = model.update(params, expected(model, params, rows))
    rho = 5.0 + 15.0 * 20.0 / 24.0
    truth = true_sums(params, rows, np.ones(40), 5, 5, 1.0, rho, signed)
    ridge = 1e-9 * truth["hidden"].mean()  # a field that no row shows stays as it is
    W = (truth["shown_values"] + ridge * params.fields) / (truth["shown"] + ridge)
    W = W if signed else np.maximum(W, FLOOR * float(params.spread))
    np.testing.assert_allclose(new.fields, W, rtol=1e-8, atol=1e-10)
    assert float(new.noise) == pytest.approx(np.sqrt(truth["apart"] / truth["cells"]), rel=1e-10)
    np.testing.assert_allclose(new.activity, truth["hidden"] / 40, rtol=1e-10)
    after = replace(params, step=np.asarray(30.0))  # the schedule is over: half a step
    stats = expected(model, after, rows)
    whole = model.in_range(stats.shown_values / stats.shown, float(params.spread))
    half = model.in_range(0.5 * (stats.shown_values / stats.shown + params.fields), float(params.spread))
    np.testing.assert_allclose(model.update(after, stats).fields, half, rtol=1e-4)  # but for the ridge
    assert np.abs(whole - half).max() > 1e-3


@SIGNED
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_rows_equal_enumeration(signed, missing):
    """Likelihood, posterior, most probable state and missing numbers over all states; the joint is the definition."""
    for seed in range(3):
        params = of(seed, signed)
        rows, model = rows_from(params, seed, signed, missing=missing), MaxCoding(5, 3, 2, 3, 2, signed=signed)
        shared, block, every = model.prepare(params), block_of(rows), model.hidden_states(params)
        log_p = np.array([log_weights(params, y, every, signed) for y in rows])
        q = np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True))
        m = np.array([shows(params, s, signed) for s in every])
        np.testing.assert_allclose(model.log_likelihood(params, shared, block), logsumexp(log_p, axis=1), atol=1e-10)
        np.testing.assert_allclose(model.posterior(params, shared, block), q @ every, atol=1e-12)
        np.testing.assert_array_equal(model.code(params, shared, block), every[q.argmax(axis=1)])
        np.testing.assert_allclose(model.fill(params, shared, block), q @ m, atol=1e-11)
        np.testing.assert_array_equal(model.reconstruct(params, every), m)
        y = np.nan_to_num(rows[0])
        joint = [model.log_joint(params, y, s) for s in every]
        np.testing.assert_allclose(joint, log_weights(params, y, every, signed), atol=1e-10)


@SIGNED
def test_single_precision(signed):
    params = of(1, signed)
    rows = rows_from(params, 1, signed, n=200)
    model = MaxCoding(5, 4, 3, schedule=Schedule(0), signed=signed)
    double = expected(model, params, rows)
    single = expected(replace(model, dtype="float32"), params, rows.astype(np.float32))
    for name, value in double.to_arrays().items():
        np.testing.assert_allclose(single.to_arrays()[name], value, rtol=1e-4, atol=1e-4 * np.abs(value).max())


@SIGNED
def test_many_causes_and_few_rows_at_a_time(signed, monkeypatch):
    """Causes outside the candidates count alone; the sums do not depend on how many rows are worked on at once."""
    params = of(2, signed, 6, 30)
    params = replace(params, activity=np.full(30, 0.05))
    rows = rows_from(params, 2, signed, n=30, missing=0.1)
    model = MaxCoding(30, 3, 2, 3, 2, cut=False, schedule=Schedule(10), signed=signed)
    at_once = expected(model, params, rows)
    outside = model.prepare(params).now.look(np.nan_to_num(rows[:5]), None, np.zeros(5), shown=True)
    assert outside.means.shape == (5, 30)
    monkeypatch.setattr("hiddenbits.families.binary_sparse_coding.max_posterior.CELLS", 100)
    a_few = expected(model, params, rows)
    for name, value in at_once.to_arrays().items():
        np.testing.assert_allclose(getattr(a_few, name), value, rtol=1e-11, atol=1e-12, err_msg=name)
    # Sum over causes of <A_d> is the probability that any is on: 1 - q(none), in each column that was observed.
    whole = np.nan_to_num(rows)
    stats = expected(model, params, whole)
    found = model.prepare(params).now.look(whole, None, (whole**2).sum(axis=1))
    none = np.exp(log_weights_of_none(params, whole) - found.scores)
    np.testing.assert_allclose(stats.shown.sum(axis=1), np.full(6, (1.0 - none).sum()), rtol=1e-9)


def log_weights_of_none(params, rows):
    variance = float(params.noise) ** 2
    normal = -0.5 * rows.shape[1] * np.log(2 * np.pi * variance) - 0.5 * (rows**2).sum(axis=1) / variance
    return normal + np.log1p(-params.activity).sum()


@SIGNED
def test_expected_statistics_leave_the_parameters_as_they_are(signed):
    """What online EM continues from: W and sigma stay; a cause shows where no stronger one is on, as draws have it."""
    params = of(4, signed)
    model = MaxCoding(5, 5, 5, 5, 5, cut=False, shared_activity=False, schedule=Schedule(10), signed=signed)
    stats = model.pseudo_statistics(params, 50.0)
    assert model.stats_flaw(stats, params) is None
    new = model.update(params, stats)
    np.testing.assert_allclose(new.fields, model.in_range(params.fields, float(params.spread)), rtol=1e-8)
    assert float(new.noise) == pytest.approx(float(params.noise), rel=1e-12)
    np.testing.assert_allclose(new.activity, params.activity, rtol=1e-12)
    every = model.hidden_states(params)
    prior = np.exp(every @ np.log(params.activity) + (1 - every) @ np.log1p(-params.activity))
    strongest = (every[:, None, :] * np.abs(params.fields)).argmax(axis=2)
    first = [prior @ ((strongest == h) & every.any(axis=1)[:, None]) for h in range(5)]
    np.testing.assert_allclose(stats.shown, 50.0 * np.array(first).T, rtol=1e-10)


def max_bars(seed, n=400, H=6, side=3, signed=False):
    """Bars of 10 on a grid, the strongest shows; with signs, every other bar is negative, and of another size."""
    rng = np.random.default_rng([seed, 7])
    bars = np.zeros((H, side, side))
    for k in range(side):
        bars[k, k], bars[side + k, :, k] = 10.0, 10.0
    fields = bars.reshape(H, -1) * (np.where(np.arange(H) < side, -1.2, 1.0)[:, None] if signed else 1.0)
    states = rng.random((n, H)) < 0.25
    strength = np.abs(states[:, :, None] * fields)
    rows = np.take_along_axis(states[:, :, None] * fields, strength.argmax(axis=1)[:, None], axis=1)[:, 0]
    return rows + rng.normal(0.0, 1.0, rows.shape), fields, states


def matched(found, fields):
    """The fields in the order of the bars; every bar must be the nearest of one field."""
    nearest = np.linalg.norm(found[:, None] - fields, axis=2).argmin(axis=0)
    assert sorted(nearest) == sorted(set(nearest))
    order = np.linalg.norm(found[:, None] - fields, axis=2).argmin(axis=1)
    assert sorted(order) == list(range(len(fields)))
    return np.argsort(order)


@pytest.fixture(scope="module", params=[False, True], ids=["max", "max_magnitude"])
def fitted(request):
    X, fields, states = max_bars(0, signed=request.param)
    course = Annealing(n_passes=40, temperature=1.0, start="mean", settle=False)
    estimator = BinarySparseCoding(6, superposition=NAMES[request.param], schedule=course, random_state=0)
    return estimator.fit(X), X, fields, states


def test_bars_and_verbs(fitted, tmp_path):
    """Six bars on a grid of 3 x 3 under noise of 1: found to .5, and seen in the rows; draws follow the model."""
    model, X, fields, states = fitted
    order = matched(model.components_, fields)
    np.testing.assert_allclose(model.components_[order], fields, atol=1.0)
    assert model.noise_ == pytest.approx(1.0, abs=0.1)
    assert model.n_active_ == pytest.approx(states.sum(axis=1).mean(), abs=0.1)
    assert (model.code(X)[:, order] == states).mean() > 0.97  # a bar under three others cannot be seen
    assert model.likelihood_ == "exact"
    codes = model.code(X)
    signed = model.superposition == "max_magnitude"
    want = np.array([shows(model.params_, s, signed) for s in codes])
    np.testing.assert_array_equal(model.inverse_transform(codes), want)
    drawn, every = model.sample(20_000, random_state=1), np.array(list(product((0.0, 1.0), repeat=6)))
    prior = np.exp(every @ np.log(model.activity_) + (1 - every) @ np.log1p(-model.activity_))
    mean = prior @ np.array([shows(model.params_, s, signed) for s in every])
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * drawn.std(axis=0).max() / np.sqrt(20_000))
    assert "What each cause shows in the columns" in str(model.summary())
    model.save(tmp_path / "model.hb")
    there = hiddenbits.load(tmp_path / "model.hb")
    assert there.superposition == model.superposition
    assert same(model.params_, there.params_)
    assert np.array_equal(there.score_samples(X), model.score_samples(X))


def test_partial_fit_and_blanks(fitted):
    model, X, *_ = fitted
    before = model.score(X)
    more = hiddenbits.BinarySparseCoding(**model.get_params()).fit(X)
    assert more.partial_fit(X).score(X) == pytest.approx(before, abs=0.3)
    holes = X.copy()
    missing = np.random.default_rng(1).random(X.shape) < 0.1
    holes[missing] = np.nan
    filled = model.complete(holes)
    assert np.array_equal(filled[~missing], X[~missing])
    # The noise of 1 cannot be known, and now and then a bar; the mean of a column would be about 4.6 away.
    assert np.sqrt(np.mean((filled - X)[missing] ** 2)) < 2.5


def test_refusals(fitted):
    model, X, *_ = fitted
    with pytest.raises(ValueError, match=r"'superposition' parameter .* must be a str among"):
        BinarySparseCoding(6, superposition="sum").fit(X)
    with pytest.raises(ValueError, match="needs a table of bits"):
        model.bit_probabilities(X)
    with pytest.raises(ValueError, match="sums of real numbers"):
        model.stats(X)
    params = of(0, True)
    assert "negative fields" in MaxCoding(5, shared_activity=False).mismatch(params)
    assert MaxCoding(5, shared_activity=False, signed=True).mismatch(params) is None


def test_without_a_schedule_fits_begin_at_the_mean():
    """The default of fields that add up stays; the others begin at the mean row, without temperature."""
    linear, largest = (BinarySparseCoding(6, superposition=name)._model() for name in ("linear", "max"))
    assert (linear.start_from, linear.schedule.temperature) == ("noise", 3.0)
    assert (largest.start_from, largest.schedule.temperature) == ("mean", 1.0)
    told = BinarySparseCoding(6, superposition="max", schedule=Annealing(n_passes=9))._model()
    assert (told.start_from, told.schedule.temperature, told.schedule.n_steps) == ("noise", 3.0, 9)
