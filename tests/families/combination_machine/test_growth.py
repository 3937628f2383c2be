"""Growth one unit after the other, resumption, and starts handed over."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import CombinationMachine, evaluate
from hiddenbits.datasets import simulate_influences
from hiddenbits.engine import Key, Local, Position, Settings
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.projection_pursuit import pursue
from hiddenbits.options import Pursuit
from tests.contracts.conftest import table_of
from tests.contracts.test_same_bits import fit_with_interruptions

pytestmark = pytest.mark.core


def switches(seed, k, n=1500):
    """Rows of k switches that set six bits each, a tenth of them flipped: a machine of k units."""
    rng = np.random.default_rng(seed)
    on = rng.random((n, k)) < np.linspace(0.2, 0.5, k)
    return (np.repeat(on, 6, axis=1) ^ (rng.random((n, 6 * k)) < 0.1)).astype(np.uint8)


@pytest.mark.full
def test_hidden_cells_choose_as_well():
    rows = switches(0, 2, 600)
    losses = [evaluate.held_out_cells(CombinationMachine(m, random_state=0), rows).value for m in (1, 2, 3)]
    assert int(np.argmin(losses)) + 1 == 2


@pytest.mark.slow
@pytest.mark.parametrize("passes", [3, 9])
def test_resumed_equals_uninterrupted(passes, tmp_path, monkeypatch):
    """Broken off on the way, while units are added and after."""
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.SEGMENT", 8)
    monkeypatch.setattr("hiddenbits.families.combination_machine.growth.TRIAL", 5)
    monkeypatch.setattr("hiddenbits.families.combination_machine.growth.TOGETHER", 8)
    table = table_of(switches(0, 1, 400).astype(float))
    model, settings = Combination(3, n_candidates=2), Settings(n_init=2, max_iter=40, tol=0.0, seed=1)
    whole, _ = fit_with_interruptions(fit_machine, model, table.grid(256), settings, tmp_path / "fit.hb", passes + 8)
    assert len(whole.stages) == whole.params.n_units


def test_a_grown_machine_is_saved_and_goes_on(tmp_path):
    rows = switches(1, 2, 600)
    model = CombinationMachine(2, random_state=0).fit(rows)
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    np.testing.assert_array_equal(loaded.transform(rows), model.transform(rows))
    assert len(loaded.partial_fit(rows).weights_) == 2


# ------------------------------------------------------------------------------------------------ starts alone


@pytest.mark.parametrize("method", ["exact", "chains"])
def test_no_iterations_hand_over_the_start(method):
    """Projection pursuit alone: its units, in order of their size, without a warning."""
    rows = switches(0, 2, 700)
    settings = {"start": Pursuit(n_steps=4), "bias": False, "ridge": 0.5, "random_state": 5}
    model = CombinationMachine(2, method=method, **settings, max_iter=0).fit(rows)
    grid = hiddenbits.open_table(rows).grid(1024)
    units = pursue(2, Key(5), lambda function: Local().reduce(function, grid), np.zeros(12), ridge=0.5, n_steps=4)
    order = np.argsort(-np.sum(units.weights**2, axis=0))
    np.testing.assert_allclose(model.weights_, units.weights.T[order], rtol=0, atol=1e-10)
    assert (model.n_iter_, len(model.trace_), model.stop_reason_) == (0, 0, "schedule_done")
    every = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0, abs=1e-10)


def test_no_iterations_while_growing():
    """Candidates are compared as they are."""
    rows = switches(0, 2, 300)
    model = CombinationMachine(2, max_iter=0, random_state=0).fit(rows)
    assert (model.n_iter_, model.stop_reason_) == (0, "schedule_done")
    assert np.isin(np.abs(model.weights_).round(9), [0.3]).all()


def test_few_iterations_are_as_many_as_asked_for():
    rows = switches(0, 2, 300)
    with pytest.warns(ConvergenceWarning):
        model = CombinationMachine(2, max_iter=10, random_state=0).fit(rows)
    assert model.n_iter_ == 20  # ten for each unit


@pytest.mark.full
def test_a_default_fit_converges_in_earnest():
    """Going on with the smallest tolerance gains less than .003 nats a row; p / 2N is .16. No warning, either."""
    rows = simulate_influences("A", n_rows=1000, random_state=1001).train
    model = CombinationMachine(4, random_state=0).fit(rows)
    assert model.converged_
    table = table_of(rows)
    combination = replace(model._model(), start_from="noise")
    further = fit_machine(
        combination, table.grid(1000), Local(), Settings(max_iter=500, tol=0.0), _At(model._params), None
    )
    assert 0.0 <= (further.trace[-1] - model.trace_[-1]) / 1000 < 0.003


class _At:
    """A checkpoints that begins at some parameters and keeps nothing."""

    def __init__(self, params):
        self.params = params

    def load(self, _):
        return Position(params=self.params, safe=self.params)

    def save(self, position, summary):
        pass


def test_rows_without_structure_grow_units_of_no_use():
    """All rows once: fair and independent bits. Candidates have nowhere to climb to, and the fit still ends well."""
    rows = (np.arange(2**6)[:, None] >> np.arange(6)) & 1
    model = CombinationMachine(3, ridge=50.0, random_state=0).fit(rows)
    assert model.converged_
    assert len(model.weights_) == 3
    assert model.score(rows) == pytest.approx(-6 * np.log(2.0), abs=1e-3)
