"""Groups of hyperparameters as plain values: copied, searched, written to files; old names say what to write now."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hiddenbits
from hiddenbits import (
    Annealing,
    BinarySparseCoding,
    Chains,
    CombinationMachine,
    GibbsChains,
    Growth,
    Pursuit,
    Quadrature,
    Variational,
)
from hiddenbits.families.registry import DROPPED, ESTIMATORS, unfitted
from hiddenbits.store import read, write

pytestmark = pytest.mark.core

KINDS = ESTIMATORS
MOVED = [(kind, name) for kind in ESTIMATORS for name in ESTIMATORS[kind]()._moved]


@pytest.mark.parametrize("kind", KINDS)
def test_at_most_14_parameters(kind):
    cls = KINDS[kind]()
    assert len(cls._get_param_names()) <= 14
    assert set(cls._parameter_constraints) == set(cls._get_param_names())
    assert set(inspect.signature(cls).parameters) == set(cls._get_param_names())


@pytest.mark.parametrize(("kind", "name"), MOVED)
def test_an_old_name_says_what_to_write_now(kind, name):
    cls = ESTIMATORS[kind]()
    place, _, one = cls._moved[name].partition(".")
    moved = " " not in cls._moved[name]
    wanted = rf"{name} is now part of {place}: write {place}=\w+\({one}=" if moved else f"no {name}: "
    with pytest.raises(TypeError, match=wanted):
        cls(**{name: 1})
    with pytest.raises(TypeError, match=wanted):
        cls().set_params(**{name: 1})


@pytest.mark.parametrize("kind", DROPPED)
def test_what_is_gone_is_said_by_both_tables(kind):
    """A dropped hyperparameter has an error of its own, and files with it are read."""
    cls = ESTIMATORS[kind]()
    assert set(DROPPED[kind]) <= set(cls._moved)
    assert not set(cls._moved) & set(cls._get_param_names())


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
    there = hiddenbits.load(changed(lambda given: given["schedule"].pop("n_passes")))  # a later version's number
    assert there.schedule == Annealing(settle=False, start="mean")


def test_files_with_old_names_are_read(saved):
    model, changed = saved

    def flat(given):
        schedule = given.pop("schedule")
        given.update(schedule, n_scheduled=schedule["n_passes"])
        del given["n_passes"]

    assert hiddenbits.load(changed(flat)).get_params() == model.get_params()


EARLIER = [
    ("CombinationMachine", {"start": "grow", "n_candidates": 2, "pursuit_steps": 9}, {"start": Growth(n_candidates=2)}),
    ("CombinationMachine", {"start": "pursuit", "n_candidates": 1, "pursuit_steps": 4}, {"start": Pursuit(1, 4)}),
    ("CombinationMachine", {"start": "noise", "n_candidates": 1}, {"start": "noise"}),
    ("CombinationMachine", {"start": "pursuit", "n_candidates": 4, "optimiser": "momentum"}, {"start": "pursuit"}),
    ("CombinationMachine", {"optimiser": "em", "method": "auto"}, {"method": "em"}),
    ("CombinationMachine", {"n_chains": 5, "learning_rate": 0.1}, {"chains": Chains(5, learning_rate=0.1)}),
    ("NoisyOrNetwork", {"prior_shape": 2.0}, {"prior": [2.0, 1.5]}),
    ("NoisyOrNetwork", {"spare": 0.0, "batch_rows": 200, "schedule": "stability"}, {"chains": GibbsChains(spare=0.0)}),
    ("LogisticPCA", {"polish": False, "n_nodes": None, "curvature": "cell"}, {"method": Variational(polish=False)}),
    ("LogisticPCA", {"method": "variational", "polish": True, "dtype": "float64"}, {"method": "variational"}),
    ("LogisticPCA", {"method": "quadrature", "polish": False, "n_nodes": 9}, {"method": Quadrature(9)}),
    ("LogisticPCA", {"method": "sampling", "n_nodes": 99}, {"method": Quadrature(99, "draws")}),
    ("IndependentBits", {"n_init": 7, "tol": 0.1, "max_iter": 3, "accelerate": False, "online_passes": 2}, {}),
    ("ClippedPCA", {"n_init": 7, "tol": 0.1}, {}),
]


@pytest.mark.parametrize(("kind", "given", "now"), EARLIER)
def test_what_earlier_versions_wrote_has_its_place(kind, given, now):
    """Of a method or a start that a file does not have, options mean nothing."""
    assert unfitted(kind, given).get_params() == ESTIMATORS[kind]()().get_params() | now


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
