"""With a limit of time a machine that grows begins with a climb of all units at once: the fit if time is over then."""

from itertools import count

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import CombinationMachine, run_on
from hiddenbits.engine.loops import restarts
from tests.contracts.test_fit import structured_rows


def rows(seed):
    return structured_rows(np.random.default_rng(seed), 400, 10, missing=False)


def parameters(model):
    return [model._params.weights, model._params.thresholds, model._params.bias]


@pytest.fixture
def ticking(monkeypatch):
    """The clock goes on by a second whenever it is looked at: twice a pass."""
    monkeypatch.setattr("hiddenbits.engine.loops.fit_context.time.monotonic", count().__next__)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", [10.0, 40.0])
def test_time_is_over_before_it_grows(seed, limit, ticking, monkeypatch):
    """The fit is that of `start="noise"` with as many iterations."""
    monkeypatch.setattr(restarts, "QUICK_ITERATIONS", 30)
    X = rows(seed)
    with run_on(max_time=limit), pytest.warns(ConvergenceWarning, match="reached the max_time of run_on"):
        model = CombinationMachine(3, tol=0.0, random_state=seed).fit(X)
    assert model.stop_reason_ == "time"
    assert len(model.restarts_) == 1
    assert 1 < model.n_iter_ <= 30
    with pytest.warns(ConvergenceWarning):
        noise = CombinationMachine(3, start="noise", tol=0.0, max_iter=model.n_iter_, random_state=seed).fit(X)
    for ours, theirs in zip(parameters(model), parameters(noise), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("seed", range(3))
def test_time_is_over_while_it_grows(seed, ticking, monkeypatch):
    """The better of the two: never worse than the quick way, of which so many iterations are done by then."""
    monkeypatch.setattr(restarts, "QUICK_ITERATIONS", 200)
    X = rows(seed)
    with run_on(max_time=500.0), pytest.warns(ConvergenceWarning, match="reached the max_time of run_on"):
        model = CombinationMachine(6, tol=0.0, random_state=seed).fit(X)
    with pytest.warns(ConvergenceWarning):
        noise = CombinationMachine(6, start="noise", tol=0.0, max_iter=200, random_state=seed).fit(X)
    assert model.stop_reason_ == "time"
    assert model.trace_[-1] >= noise.trace_[-1]
    assert model.score(X) >= noise.score(X) - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_with_enough_time_a_limit_changes_nothing(seed):
    X = rows(seed)
    free = CombinationMachine(3, random_state=seed).fit(X)
    with run_on(max_time=1e6):
        limited = CombinationMachine(3, random_state=seed).fit(X)
    assert limited.stop_reason_ == free.stop_reason_ == "converged"
    for ours, theirs in zip(parameters(limited), parameters(free), strict=True):
        np.testing.assert_array_equal(ours, theirs)
