"""Groups of hyperparameters as plain values: copied, searched, written to files."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hiddenbits
from hiddenbits import (
    Annealing,
    BinarySparseCoding,
    CombinationMachine,
    Pursuit,
)
from hiddenbits.families.registry import ESTIMATORS
from hiddenbits.store import read, write

pytestmark = pytest.mark.core

KINDS = ESTIMATORS


@pytest.mark.parametrize("kind", KINDS)
def test_at_most_14_parameters(kind):
    cls = KINDS[kind]()
    assert len(cls._get_param_names()) <= 14
    assert set(cls._parameter_constraints) == set(cls._get_param_names())
    assert set(inspect.signature(cls).parameters) == set(cls._get_param_names())


def test_a_group_is_a_plain_value():
    plan = Annealing(n_passes=9, temperature=np.float64(2.0))
    model = BinarySparseCoding(3, schedule=plan)
    assert clone(model).schedule == plan
    assert clone(model).get_params() == model.get_params()
    assert repr(plan) == f"Annealing(n_passes=9, temperature={np.float64(2.0)!r})"
    changed = clone(model).set_params(schedule__temperature=1.0, n_components=4)
    assert changed.schedule == Annealing(n_passes=9, temperature=1.0)
    assert model.schedule == plan  # which the copy shared


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Annealing(n_passes=-1), r"'n_passes' parameter of Annealing must be an int in the range \[0, inf\)"),
        (lambda: Annealing(start="middle"), "'start' parameter of Annealing must be a str among"),
        (lambda: BinarySparseCoding().set_params(schedule__heat=2.0), "cannot have heat: Annealing has n_passes,"),
        (lambda: BinarySparseCoding(schedule="fast").fit(np.eye(3)), "'schedule' parameter of BinarySparseCoding must"),
        (lambda: BinarySparseCoding().set_params(heat=2.0), "Invalid parameter 'heat'"),
    ],
)
def test_what_a_group_refuses(make, said):
    with pytest.raises((ValueError, TypeError), match=said):
        make()


def test_a_search_over_groups_and_over_their_numbers():
    X = np.random.default_rng(0).normal(size=(40, 3))
    short = Annealing(n_passes=2, settle=False)
    model = BinarySparseCoding(2, n_init=1, schedule=short, random_state=0)
    grid = [{"schedule": [short, Annealing(n_passes=3, settle=False)]}, {"schedule__n_passes": [2, 3]}]
    scores = GridSearchCV(model, grid, cv=2).fit(X).cv_results_["mean_test_score"]
    assert list(scores[:2]) == list(scores[2:])


@pytest.fixture
def saved(tmp_path):
    """A small fitted model in a file, and a function that changes its hyperparameters there."""
    plan = Annealing(n_passes=np.int64(3), settle=False, start="mean")
    model = BinarySparseCoding(2, n_init=1, schedule=plan, random_state=0)
    model.fit(np.random.default_rng(0).normal(size=(40, 3))).save(tmp_path / "model.hb")

    def with_hyperparameters(change):
        stored = read(tmp_path / "model.hb")
        change(stored.meta["hyperparameters"])
        write(tmp_path / "changed.hb", stored.kind, stored.meta, stored.arrays)
        return tmp_path / "changed.hb"

    return model, with_hyperparameters


def test_files_hold_groups(saved):
    model, changed = saved
    there = hiddenbits.load(changed(lambda given: None))
    assert there.get_params() == model.get_params()


def test_a_word_stands_for_a_group():
    """One number of the group that a word stands for, whichever it is."""
    machine = CombinationMachine(start="pursuit").set_params(start__n_candidates=2)
    assert machine.start == Pursuit(n_candidates=2)
    assert CombinationMachine(start="noise").set_params(start__n_steps=2).start == Pursuit(n_steps=2)


@pytest.mark.parametrize("value", [{"heat": 1}, {"n_passes": "many"}, {"n_passes": 2**60}, [3], "fast", {"": 1}])
def test_files_with_other_groups_are_refused(saved, value):
    _, changed = saved
    with pytest.raises(hiddenbits.StoreError, match="not a valid BinarySparseCoding"):
        hiddenbits.load(changed(lambda given: given.update(schedule=value)))
    if isinstance(value, dict):
        with pytest.raises(hiddenbits.StoreError, match="not a valid BinarySparseCoding"):
            hiddenbits.load(changed(lambda given: given["schedule"].update(value)))
