"""The paper's way to fit a machine: against a plain loop, interrupted, where steps are too large, and in files."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import CombinationMachine
from hiddenbits.data.summary import summarize
from hiddenbits.engine import Checkpoint, Key, Local, Settings
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.paper import MOMENTUM, RATE, epochs
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import InterruptAfter, InterruptedFitError, same
from tests.oracle.machine import MachineOracle

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_steps_are_those_of_a_plain_loop(seed, ridge):
    """Gradients by enumeration of rows and states."""
    rows = structured_rows(np.random.default_rng(seed), 200, 6, missing=False)
    grid, model = table_of(rows).grid(256), Combination(2, ridge=ridge, start_from="noise")
    outcome = fit_machine(model, grid, Local(), Settings(max_iter=30, tol=0.0, seed=seed), None, None, loop=epochs)

    start = model.start(summarize(grid.blocks[0]), Key(seed), None)
    point = [start.weights, start.thresholds, start.bias]
    velocity, x = [0.0, 0.0, 0.0], 2 * rows - 1
    for _ in range(30):
        W, th, v = point
        hidden, joint, visible = MachineOracle(W, th, v).expectations()
        h = 1 / (1 + np.exp(-(x @ W + th)))
        slopes = [x.T @ h / 200 - joint - ridge * W / 200, h.mean(axis=0) - hidden, x.mean(axis=0) - visible]
        velocity = [MOMENTUM * old + RATE * new for old, new in zip(velocity, slopes, strict=True)]
        point = [part + move for part, move in zip(point, velocity, strict=True)]
    found = outcome.params
    for mine, theirs in zip(point, [found.weights, found.thresholds, found.bias], strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-10)
    assert len(outcome.trace) == 30
    assert outcome.restarts[0].reason == "max_iter"


@pytest.mark.parametrize("start", ["noise", "pursuit"])
def test_resumed_equals_uninterrupted(start, tmp_path):
    """Broken off in the first and in the second restart."""
    table = table_of(structured_rows(np.random.default_rng(0), 500, 8, missing=True))
    model, grid = Combination(3, start_from=start, n_candidates=2, pursuit_steps=3), table.grid(256)
    settings = Settings(n_init=2, max_iter=21, tol=0.0, seed=1)
    whole = fit_machine(model, grid, Local(), settings, None, None, loop=epochs)
    checkpoints = Checkpoint(tmp_path / "fit.hb", model, settings, table.shape, 256)
    for passes in (5, 30):
        with pytest.raises(InterruptedFitError):
            fit_machine(model, grid, Local(), settings, checkpoints, InterruptAfter(passes), loop=epochs)
    resumed = fit_machine(model, grid, Local(), settings, checkpoints, None, loop=epochs)
    assert same(whole.params, resumed.params)
    assert np.array_equal(whole.trace, resumed.trace)
    assert whole.restarts == resumed.restarts


def test_steps_that_are_too_large_do_not_look_like_a_fit(monkeypatch):
    """The objective falls for all to see, or the fit ends at the last point that had one."""
    rows = structured_rows(np.random.default_rng(3), 200, 6, missing=False)
    model = CombinationMachine.paper(2, start="noise", max_iter=40, random_state=0)
    monkeypatch.setattr("hiddenbits.families.combination_machine.paper.RATE", 20.0)
    with pytest.warns(ConvergenceWarning):
        falling = clone(model).fit(rows)
    assert (np.diff(falling.trace_) < 0).any()
    monkeypatch.setattr("hiddenbits.families.combination_machine.paper.RATE", 1e306)
    with pytest.warns(ConvergenceWarning, match="not a finite number"), np.errstate(all="ignore"):
        broken = clone(model).fit(rows)
    assert broken.stop_reason_ == "not_finite"
    assert np.isfinite(broken.weights_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_file_holds_a_plain_machine(tmp_path):
    rows = structured_rows(np.random.default_rng(3), 200, 6, missing=False)
    model = CombinationMachine.paper(2, max_iter=5, random_state=0).fit(rows)
    model.save(tmp_path / "model.hb")
    there = hiddenbits.load(tmp_path / "model.hb")
    assert type(there) is CombinationMachine
    assert (there.ridge, there.bias, there.max_iter) == (0.0, False, 5)
    assert repr(there.start) == "Pursuit(n_candidates=1, n_steps=4)"
    assert np.array_equal(there.score_samples(rows), model.score_samples(rows))


def test_the_size_of_the_paper_needs_no_partition_function(tmp_path):
    """45 units on 64 columns: those of the pursuit, one by one, and no epoch of a gradient that cannot be computed."""
    rows = structured_rows(np.random.default_rng(4), 300, 64, missing=False)
    model = CombinationMachine.paper(45, random_state=0).fit(rows)
    grid = table_of(rows).grid(300)
    passes = Local().reduce
    machine = Combination(45, ridge=0.0, visible_bias=False, start_from="pursuit", n_candidates=1, pursuit_steps=4)
    units = machine.pursued(np.zeros(64), Key(0), lambda function: passes(function, grid))
    W = units.weights
    order = np.argsort(-np.linalg.norm(W, axis=0), kind="stable")
    np.testing.assert_allclose(np.linalg.norm(model.weights_, axis=1), np.linalg.norm(W, axis=0)[order], rtol=1e-9)
    assert (model.n_iter_, model.stop_reason_, model._likelihood_kind) == (0, "schedule_done", "estimate")
    assert not model.bias_.any()
    assert units.thresholds.shape == model.thresholds_.shape
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    assert np.array_equal(loaded.transform(rows), model.transform(rows))
    with pytest.raises(ValueError, match=r'start="noise" needs the gradient .* Use start="pursuit"'):
        CombinationMachine.paper(45, start="noise").fit(rows)
