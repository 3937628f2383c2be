"""Growth one unit after the other: BIC on the way, resumption, and starts handed over."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import CombinationMachine, Growth, Pursuit, evaluate
from hiddenbits.datasets import simulate_influences
from hiddenbits.engine import Key, Local, Position, Settings, fit_gradient
from hiddenbits.engine.loops.gradient import SEGMENT, TRIAL
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.projection_pursuit import pursue
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows
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
    losses = [evaluate.hidden_cells(CombinationMachine(m, random_state=0), rows).value for m in (1, 2, 3)]
    assert int(np.argmin(losses)) + 1 == 2


@pytest.mark.slow
@pytest.mark.thin(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("bias", [False, True])
def test_growth_is_the_bic_of_each_size(missing, bias):
    """A machine that ends with the stage of its last unit has, by `bic`, what the longer growth put on record."""
    rows = structured_rows(np.random.default_rng(0), 400, 8, missing)
    weights = np.random.default_rng(1).integers(1, 4, 400).astype(float)
    settings = {
        "ridge": 0.0,
        "bias": bias,
        "start": Growth(n_candidates=2),
        "tol": 0.0,
        "max_iter": TRIAL + SEGMENT,
        "random_state": 0,
    }
    settings["n_init"] = 1
    grown = CombinationMachine(3, **settings).fit(rows, sample_weight=weights)
    assert len(grown.growth_) == 4
    table = hiddenbits.open_table(rows).with_weights(weights)
    for k in (1, 2, 3):
        stage = CombinationMachine(k, **settings).fit(table)
        assert stage.bic(table) == pytest.approx(grown.growth_[k], rel=1e-8)  # blocks of another height
    seen = ~np.isnan(rows)
    means = (weights @ np.nan_to_num(rows) / (weights @ seen)) if bias else np.full(8, 0.5)
    fair = np.where(np.nan_to_num(rows) == 1, np.log(means), np.log1p(-means))[seen] @ np.repeat(
        weights, seen.sum(axis=1)
    )
    none = -2.0 * fair + (8 if bias else 0) * np.log(weights.sum())
    assert grown.growth_[0] == pytest.approx(none, rel=1e-4)  # the start is a little off the means, to stay off 0 and 1


@pytest.mark.slow
@pytest.mark.parametrize("passes", [3, 9])
def test_resumed_equals_uninterrupted(passes, tmp_path, monkeypatch):
    """Broken off on the way, while units are added and after."""
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.SEGMENT", 8)
    monkeypatch.setattr("hiddenbits.engine.loops.gradient.TRIAL", 5)
    table = table_of(switches(0, 1, 400).astype(float))
    model, settings = Combination(3, n_candidates=2), Settings(n_init=2, max_iter=40, tol=0.0, seed=1)
    whole, _ = fit_with_interruptions(fit_gradient, model, table.grid(256), settings, tmp_path / "fit.hb", passes + 8)
    assert len(whole.stages) == whole.params.n_units == len(whole.marks) - 1


def test_a_grown_machine_is_saved_and_goes_on(tmp_path):
    rows = switches(1, 2, 600)
    model = CombinationMachine(2, random_state=0).fit(rows)
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    np.testing.assert_array_equal(loaded.growth_, model.growth_)
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
    assert (model.n_iter_, model.stop_reason_, len(model.growth_)) == (0, "schedule_done", 3)
    assert np.isin(np.abs(model.weights_).round(9), [0.3]).all()
    with pytest.raises(ValueError, match="max_iter=0 hands over the start"):
        CombinationMachine(2, method="em", max_iter=0).fit(rows)


def test_few_iterations_are_as_many_as_asked_for():
    rows = switches(0, 2, 300)
    with pytest.warns(ConvergenceWarning):
        model = CombinationMachine(2, max_iter=10, random_state=0).fit(rows)
    assert model.n_iter_ == 20  # ten for each unit


@pytest.mark.full
def test_a_default_fit_converges_in_earnest():
    """Going on with the smallest tolerance gains less than .003 nats a row; p / 2N is .16. No warning, either."""
    rows = simulate_influences("A", n_rows=1000, seed=1001).train
    model = CombinationMachine(4, random_state=0).fit(rows)
    assert model.converged_
    table = table_of(rows)
    combination = replace(model._model(), start_from="noise")
    further = fit_gradient(
        combination, table.grid(1000), Local(), Settings(max_iter=500, tol=0.0), _At(model.params_), None
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
    assert model.growth_.argmin() == 0
    assert len(model.weights_) == 3
    assert model.score(rows) == pytest.approx(-6 * np.log(2.0), abs=1e-3)
