"""Climbing with momentum: against a plain loop, across segments and interruptions, and where steps are too large."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hiddenbits import CombinationMachine
from hiddenbits.data.summary import summarise
from hiddenbits.datasets import simulate_influences
from hiddenbits.engine import Checkpoint, Key, Local, Settings, fit_gradient
from hiddenbits.families.combination_machine.model import Combination
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import InterruptAfter, InterruptedFitError, same
from tests.oracle.machine import MachineOracle

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_steps_are_those_of_a_plain_loop(seed, ridge, monkeypatch):
    """Legs of four iterations, so that the velocity must outlive them; gradients by enumeration of rows and states."""
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.SEGMENT", 4)
    rows = structured_rows(np.random.default_rng(seed), 200, 6, missing=False)
    grid, model = table_of(rows).grid(256), Combination(2, ridge=ridge, start_from="noise")
    settings = Settings(max_iter=30, tol=0.0, seed=seed, learning_rate=0.1, momentum=0.8)
    outcome = fit_gradient(model, grid, Local(), settings, None, None)

    start = model.start(summarise(grid.blocks[0]), Key(seed), None)
    point = [start.weights, start.thresholds, start.bias]
    velocity, x = [0.0, 0.0, 0.0], 2 * rows - 1
    for _ in range(30):
        W, th, v = point
        hidden, joint, visible = MachineOracle(W, th, v).expectations()
        h = 1 / (1 + np.exp(-(x @ W + th)))
        slopes = [x.T @ h / 200 - joint - ridge * W / 200, h.mean(axis=0) - hidden, x.mean(axis=0) - visible]
        velocity = [0.8 * old + 0.1 * new for old, new in zip(velocity, slopes, strict=True)]
        point = [part + move for part, move in zip(point, velocity, strict=True)]
    found = outcome.params
    for mine, theirs in zip(point, [found.weights, found.thresholds, found.bias], strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-10)
    assert len(outcome.trace) == 30
    assert outcome.restarts[0].reason == "max_iter"


@pytest.mark.parametrize("start", ["noise", "grow", "pursuit"])
def test_resumed_equals_uninterrupted(start, tmp_path, monkeypatch):
    """Broken off within every segment, each time resumed from the file alone, to the same bits."""
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.SEGMENT", 4)
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.TRIAL", 3)
    table = table_of(structured_rows(np.random.default_rng(0), 500, 8, missing=True))
    model, grid = Combination(3, start_from=start, n_candidates=2, pursuit_steps=3), table.grid(256)
    settings = Settings(n_init=2, max_iter=21, tol=0.0, seed=1, learning_rate=0.05)
    whole = fit_gradient(model, grid, Local(), settings, None, None)
    checkpoints, interruptions, resumed = Checkpoint(tmp_path / "fit.hb", model, settings, table.shape, 256), 0, None
    while resumed is None:
        try:
            resumed = fit_gradient(model, grid, Local(), settings, checkpoints, InterruptAfter(5))
        except InterruptedFitError:
            interruptions += 1
            assert interruptions < 50
    assert interruptions >= 4
    assert same(whole.params, resumed.params)
    assert np.array_equal(whole.trace, resumed.trace)
    assert whole.restarts == resumed.restarts


def test_it_converges_where_the_quasi_newton_climb_does():
    """From the same start both end at the same maximum; with momentum it takes more passes."""
    rows = structured_rows(np.random.default_rng(2), 400, 8, missing=True)
    settings = {"ridge": 5.0, "start": "noise", "random_state": 0}
    plain = CombinationMachine(2, **settings, tol=1e-10).fit(rows)
    gliding = CombinationMachine(2, **settings, optimiser="momentum", learning_rate=0.2, max_iter=5000, tol=1e-10).fit(
        rows
    )
    assert gliding.converged_
    assert gliding.n_iter_ > 2 * plain.n_iter_
    assert abs(gliding.trace_[-1] - plain.trace_[-1]) < 1e-4


def test_steps_that_are_too_large_do_not_look_like_a_fit():
    """The objective falls for all to see, or the fit ends at the last point that had one."""
    rows = structured_rows(np.random.default_rng(3), 200, 6, missing=False)
    model = CombinationMachine(2, optimiser="momentum", start="noise", max_iter=40, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        falling = model.set_params(learning_rate=20.0).fit(rows)
    assert (np.diff(falling.trace_) < 0).any()
    with pytest.warns(ConvergenceWarning, match="lower learning_rate"), np.errstate(all="ignore"):
        broken = model.set_params(learning_rate=1e306).fit(rows)
    assert broken.stop_reason_ == "not_finite"
    assert np.isfinite(broken.weights_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_paper_in_one_line():
    """Target A, 1,000 epochs from noise: another implementation has a test log-loss of .4114, its worst runs .43."""
    drawn = simulate_influences("A", seed=1000)
    model = CombinationMachine.paper(10, start="noise", random_state=0).fit(drawn.train)
    assert model.n_iter_ == 1000
    assert not model.bias_.any()
    assert -model.score(drawn.test) / (64 * np.log(2.0)) < 0.43
