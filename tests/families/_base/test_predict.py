"""`predict` against `transform`, on every storage and executor, and the names of codes and drawn rows."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import (
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TreeMixture,
)
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from tests.contracts.conftest import MASKS, STORAGES, NotResident, table_of

CLASSES = {
    "LatentClassAnalysis": LatentClassAnalysis(3, n_init=1, random_state=0),
    "TreeMixture": TreeMixture(2, n_init=1, random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    X = simulate_mixture(150, 6, 3, random_state=1).X.astype(float)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("name", CLASSES)
def test_the_most_probable_class(rows, name):
    model = CLASSES[name].fit(rows)
    classes = model.predict(rows)
    assert classes.shape == (150,)
    assert classes.dtype == np.int64
    chances = model.predict_proba(rows)
    assert np.array_equal(chances, model.transform(rows))
    assert np.array_equal(chances[np.arange(150), classes], chances.max(axis=1))
    assert len(set(classes.tolist())) == len(model.weights_)
    assert np.array_equal(np.exp(model.predict_log_proba(rows)).round(12), chances.round(12))
    weights = np.arange(150) % 3 + 1.0
    again = CLASSES[name].fit_predict(rows, sample_weight=weights)
    assert np.array_equal(again, CLASSES[name].fit(rows, sample_weight=weights).predict(rows))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage(rows, storage, mask):
    rows = np.nan_to_num(rows) if mask == "full" else rows
    model = CLASSES["LatentClassAnalysis"].fit(rows)
    assert np.array_equal(model.predict(table_of(rows, storage, mask)), model.predict(rows))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parts_and_threads(rows, n_jobs):
    model = CLASSES["TreeMixture"].fit(rows)
    parts = Table(NotResident(hiddenbits.open_table(rows).source), None, None, 12 * 20)
    with hiddenbits.run_on(n_jobs=n_jobs):
        assert np.array_equal(model.predict(parts), model.predict(rows))


@pytest.mark.parametrize("estimator", [LogisticPCA, ClippedPCA, HiddenTree, NoisyOrNetwork, CombinationMachine])
def test_where_there_is_no_class(estimator):
    assert not hasattr(estimator(), "predict")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (LogisticPCA(2, random_state=0), ["dimension_1", "dimension_2"]),
        (ClippedPCA(1), ["dimension_1"]),
        (NoisyOrNetwork(2, n_init=1, random_state=0), ["cause_1", "cause_2"]),
        (CombinationMachine(2, n_init=1, random_state=0), ["cause_1", "cause_2"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_names(rows, model, names):
    assert model.fit(rows).get_feature_names_out().tolist() == names


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_drawn_rows_have_the_names_of_the_fit(rows, container):
    pytest.importorskip(container)
    table = hiddenbits.open_table(rows, names=list("abcdef"))
    model = LatentClassAnalysis(2, n_init=1, random_state=0).fit(table)
    bare = model.sample(5, random_state=1)
    assert type(bare) is np.ndarray
    drawn = model.set_output(transform=container).sample(5, random_state=1)
    assert type(drawn).__module__.startswith(container)
    assert list(drawn.columns) == list("abcdef")
    assert np.array_equal(drawn.to_numpy(), bare)
