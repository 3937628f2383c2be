"""Options that belong together are one object: copied, searched, checked, written to files."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hiddenbits
from hiddenbits import BinarySparseCoding, CombinationMachine
from hiddenbits.families._base.callbacks import CallbackSupportMixin  # before scikit-learn 1.9 a stand-in
from hiddenbits.families._base.parameters import COMMON
from hiddenbits.families._base.persistence import ESTIMATORS
from hiddenbits.options import Annealing
from hiddenbits.store import read, write

pytestmark = pytest.mark.core


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_at_most_14_parameters(kind):
    cls = ESTIMATORS[kind]()
    assert len(cls._get_param_names()) <= 14
    assert set(cls._get_param_names()) <= set(cls._parameter_constraints) <= {*cls._get_param_names(), *COMMON}
    assert set(inspect.signature(cls).parameters) == set(cls._get_param_names())


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_at_most_four_classes(kind):
    """An estimator composes: its own class, and at most three bases of this package."""
    bases = ESTIMATORS[kind]().__mro__
    ours = [cls for cls in bases if cls.__module__.startswith("hiddenbits.") and cls is not CallbackSupportMixin]
    assert len(ours) <= 4, [cls.__name__ for cls in ours]


def test_a_copy_has_options_of_its_own():
    model = BinarySparseCoding(3, schedule=Annealing(n_passes=9, temperature=2.0))
    changed = clone(model).set_params(schedule__temperature=1.0)
    assert repr(changed.schedule) == "Annealing(n_passes=9, temperature=1.0)"
    assert model.get_params()["schedule__temperature"] == 2.0


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            BinarySparseCoding(schedule=Annealing(n_passes=-1)),
            r"'n_passes' parameter of Annealing must be an int in the range \[0, inf\)",
        ),
        (BinarySparseCoding(schedule=Annealing(start="middle")), "'start' parameter of Annealing must be a str among"),
        (BinarySparseCoding(2, schedule=Annealing(cut_from=0.9)), "cut_from=0.9 is after cut_to"),
        (BinarySparseCoding(schedule="fast"), "'schedule' parameter of BinarySparseCoding must be an instance of"),
        (CombinationMachine(start=Annealing()), "'start' parameter of CombinationMachine must be"),
    ],
)
def test_what_is_refused(model, said):
    with pytest.raises(ValueError, match=said):
        model.fit(np.eye(3))


def test_a_fit_leaves_words_as_they_are():
    model = CombinationMachine(1, start="pursuit", n_init=1, random_state=0).fit(np.eye(9)[:, :3])
    assert (model.start, model.chains) == ("pursuit", None)


def test_a_search_over_options_and_over_their_numbers():
    X = np.random.default_rng(0).normal(size=(40, 3))
    short = Annealing(n_passes=2, settle=False)
    model = BinarySparseCoding(2, n_init=1, schedule=short, random_state=0)
    grid = [{"schedule": [short, Annealing(n_passes=3, settle=False)]}, {"schedule__n_passes": [2, 3]}]
    scores = GridSearchCV(model, grid, cv=2).fit(X).cv_results_["mean_test_score"]
    assert list(scores[:2]) == list(scores[2:])


@pytest.fixture
def saved(tmp_path):
    """A small fitted model in a file, and a function that puts another schedule there."""
    plan = Annealing(n_passes=np.int64(3), settle=False, start="mean")
    model = BinarySparseCoding(2, n_init=1, schedule=plan, random_state=0)
    model.fit(np.random.default_rng(0).normal(size=(40, 3))).save(tmp_path / "model.hb")

    def with_schedule(value):
        stored = read(tmp_path / "model.hb")
        stored.meta["hyperparameters"]["schedule"] = value
        write(tmp_path / "changed.hb", stored.kind, stored.meta, stored.arrays)
        return tmp_path / "changed.hb"

    return tmp_path / "model.hb", with_schedule


def test_files_hold_options(saved):
    path, _ = saved
    assert read(path).meta["hyperparameters"]["schedule"]["of"] == "Annealing"
    assert repr(hiddenbits.load(path).schedule) == "Annealing(n_passes=3, settle=False, start='mean')"


SCHEDULE = {"of": "Annealing", **Annealing().get_params()}


@pytest.mark.parametrize(
    "value",
    [
        SCHEDULE | {"heat": 1},
        SCHEDULE | {"n_passes": "many"},
        SCHEDULE | {"n_passes": 2**60},
        SCHEDULE | {"": 1},
        {"of": "Annealing", "n_passes": 3},  # and no more
        SCHEDULE | {"of": "Growth"},
        {"of": "Growth"},
        {"of": []},
        {"n_passes": 3},
        [3],
        "fast",
    ],
)
def test_files_with_other_options_are_refused(saved, value):
    _, with_schedule = saved
    with pytest.raises(hiddenbits.exceptions.FileError, match="not a valid BinarySparseCoding"):
        hiddenbits.load(with_schedule(value))
