"""Every step of a fit: the objective never falls, weights equal repeats, and collapsing changes nothing."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import run_on
from hiddenbits.engine import Local, Settings, block_height
from tests.contracts.conftest import random_rows, table_of

pytestmark = pytest.mark.core

# At a maximum: what a coordinate is moved by, and the largest slope, in nats. Differences err by up to 4e-5; half a
# pseudo-row too many in the update leaves .2 or more.
STEP, LEVEL = 1e-3, 1e-3


def structured_rows(rng, n, d, missing):
    """Rows with something to find: three prototypes with a tenth of the bits flipped."""
    prototypes = rng.integers(0, 2, (3, d))
    rows = (prototypes[rng.integers(0, 3, n)] ^ (rng.random((n, d)) < 0.1)).astype(float)
    if missing:
        rows[rng.random((n, d)) < 0.1] = np.nan
    return rows


def fit(case, table, **settings):
    height = block_height(case.model.footprint(table.shape[1], table.source.row_cells))
    return case.loop(case.model, table.grid(height), Local(), Settings(**settings), None, None)


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("missing", [True, False])
def test_objective_never_falls(case, seed, accelerate, missing):
    """At any step, beyond rounding: 1e-12 of the objective's size is a few thousand roundings of its sum."""
    if not case.model.promises.monotone:
        assert case.model.promises.why["monotone"]
        return
    if case.heavy and seed > 1:
        pytest.skip("two seeds are enough for a model whose passes take long")
    rows = structured_rows(np.random.default_rng(seed), 600, 12, missing)
    outcome = fit(case, table_of(rows), seed=seed, accelerate=accelerate, tol=1e-9, max_iter=5000)
    steps = np.diff(outcome.trace)
    allowed = np.ones(len(steps), bool)
    allowed[[stage - 1 for stage in outcome.stages]] = False  # a split may fall: it is not an EM step
    assert len(steps) > 0
    assert (steps[allowed] >= -1e-12 * abs(outcome.trace[-1])).all()
    assert outcome.restarts[0].reason == "converged"


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(3))
def test_acceleration_reaches_the_same_maximum_or_a_better_one(case, seed):
    rows = structured_rows(np.random.default_rng(seed), 600, 12, missing=False)
    plain = fit(case, table_of(rows), seed=seed, accelerate=False, tol=1e-10, max_iter=5000)
    leaping = fit(case, table_of(rows), seed=seed, accelerate=True, tol=1e-10, max_iter=5000)
    assert leaping.trace[-1] >= plain.trace[-1] - 1e-3 * 1e-3 * len(rows)


@pytest.mark.thin(2)
def test_update_is_a_maximum(case):
    """At convergence no single parameter can be nudged to a better objective; a closed form is one from anywhere."""
    rng = np.random.default_rng(0)
    table = table_of(structured_rows(rng, 300, 6, missing=True))
    outcome = fit(case, table, tol=0.0, max_iter=3000)
    grid = table.grid(table.shape[0])
    if case.model.promises.closed_form:
        assert len(outcome.trace) == 1
        for params in (outcome.params, case.draw_params(6, rng)):
            stats, _ = case.model.expect(params, case.model.prepare(params), grid.blocks[0], None, None)
            for name, array in case.model.update(params, stats).to_arrays().items():
                np.testing.assert_array_equal(array, outcome.params.to_arrays()[name])
        return

    def objective(params):
        shared, carry = case.model.prepare(params), None
        for _ in range(10 if case.model.promises.carry else 1):  # rows that keep memory get better by looking again
            stats, carry = case.model.expect(params, shared, grid.blocks[0], carry, None)
        return case.model.objective(params, stats)

    found = outcome.params
    best = objective(found)
    if case.model.promises.accelerates:  # every coordinate, the class weights among them
        here = case.model.to_vector(found)
        assert objective(case.model.from_vector(here, found)) == pytest.approx(best, abs=1e-8)
        moved = partial(case.model.from_vector, params=outcome.params)
    else:
        here = logit(outcome.params.probabilities)

        def moved(vector):
            return replace(outcome.params, probabilities=expit(vector))

    slopes = []
    for unit in np.eye(len(here)):
        assert max(objective(moved(here + step * unit)) for step in (-0.02, 0.02)) < best - 1e-6
        # A prior with the wrong sign moves the maximum by less than that, but leaves a slope.
        before, after = (objective(moved(here + step * unit)) for step in (-STEP, STEP))
        slopes.append((after - before) / (2 * STEP))
    np.testing.assert_allclose(slopes, 0.0, atol=LEVEL)


@pytest.mark.thin(3)
@pytest.mark.parametrize("missing", [True, False])
def test_weights_equal_repeats(case, missing):
    rng = np.random.default_rng(1)
    rows = structured_rows(rng, 100, 8, missing)
    counts = rng.integers(0, 4, len(rows))
    weighted = clone(case.estimator).fit(rows, sample_weight=counts)
    repeated = clone(case.estimator).fit(np.repeat(rows, counts, axis=0))
    shuffled = clone(case.estimator).fit(rng.permutation(np.repeat(rows, counts, axis=0)))
    for other in (repeated, shuffled):
        for name, array in weighted._params.to_arrays().items():
            np.testing.assert_allclose(other._params.to_arrays()[name], array, rtol=0, atol=case.close)
        np.testing.assert_allclose(other.trace_[-1], weighted.trace_[-1], rtol=1e-12 * (case.close / 1e-8) ** 2)


def test_collapsed_equals_plain(case):
    """Same statistics to 1e-10 with equal rows collapsed."""
    from hiddenbits.data import collapse

    rng = np.random.default_rng(2)
    table = table_of(random_rows(rng, 500, 4, missing=True), weights=rng.uniform(0.5, 2, 500))
    small, inverse = collapse(table)
    assert small.shape[0] < 100
    assert inverse is not None
    params = case.draw_params(4, rng)
    shared = case.model.prepare(params)
    a, b = (case.model.expect(params, shared, t.grid(t.shape[0]).blocks[0], None, None)[0] for t in (table, small))
    for name, value in a.to_arrays().items():
        np.testing.assert_allclose(value, b.to_arrays()[name], rtol=1e-10, atol=1e-10)


def test_a_fit_that_stops_early_says_so(case):
    rows = structured_rows(np.random.default_rng(3), 300, 8, missing=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        short = {} if "max_iter" not in case.estimator.get_params() else {"max_iter": 1, "tol": 0.0}
        model = clone(case.estimator).set_params(**short).fit(rows)
    if not short:  # a closed form cannot stop early
        assert model.converged_
        assert not caught
        return
    assert not model.converged_
    assert model.stop_reason_ == "max_iter"
    assert [w.category for w in caught] == [ConvergenceWarning]


def test_a_fit_stops_when_its_time_is_over(case):
    if "max_iter" not in case.estimator.get_params():  # a closed form
        return
    rows = structured_rows(np.random.default_rng(3), 300, 8, missing=True)
    with run_on(max_time=1e-9), pytest.warns(ConvergenceWarning, match="reached the max_time of run_on"):
        model = clone(case.estimator).set_params(n_init=3, tol=0.0).fit(rows)
    assert model.stop_reason_ == "time"
    assert len(model.restarts_) == 1
    assert 1 <= model.n_iter_ < 10  # machines that grow end the candidate they are at
    assert np.isfinite(model.trace_).all()
    assert model._model().mismatch(model._params) is None


@pytest.mark.thin(3)
def test_restarts_are_reported_and_the_best_is_kept(case):
    rows = structured_rows(np.random.default_rng(4), 300, 8, missing=False)
    several = {"n_init": 4} if "n_init" in case.estimator.get_params() else {}  # a closed form has one
    model = clone(case.estimator).set_params(**several).fit(rows)
    assert len(model.restarts_) == (4 if several else 1)
    assert model.trace_[-1] == max(restart.objective for restart in model.restarts_)
    if case.model.promises.closed_form:  # what it is measured by is not the likelihood
        return
    assert model.score_samples(rows).sum() == pytest.approx(model.trace_[-1], rel=0.05)
