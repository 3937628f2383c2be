"""Rows that are gone through are told of, once each and pass, and nothing else changes."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import CombinationMachine, LatentClassAnalysis, open_table, run_on
from hiddenbits.tables import map_pieces

pytestmark = pytest.mark.core


@pytest.fixture(scope="module", name="X")
def rows():
    return np.random.default_rng(0).integers(0, 2, (700, 9)).astype(float)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_pass_counts_each_row_once(X, n_jobs):
    walked = []
    model = LatentClassAnalysis(2, n_init=1, random_state=0)
    alone = LatentClassAnalysis(2, n_init=1, random_state=0).fit(X)
    with run_on(n_jobs=n_jobs, on_progress=walked.append):
        model.fit(X)
    np.testing.assert_array_equal(model.probabilities_, alone.probabilities_)
    distinct = len(np.unique(X, axis=0))
    assert sum(walked) % distinct == 0
    assert sum(walked) // distinct >= model.n_iter_  # the summary and the start are passes, too
    walked.clear()
    with run_on(n_jobs=n_jobs, on_progress=walked.append):
        scores = model.score_samples(X)
    assert sum(walked) == 700
    np.testing.assert_array_equal(scores, alone.score_samples(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbs_inside_a_piece_count_once(X, n_jobs):
    model = LatentClassAnalysis(2, n_init=1, random_state=0).fit(X)
    walked = []
    with run_on(n_jobs=n_jobs, on_progress=walked.append):
        parts = list(map_pieces(lambda piece: model.score_samples(piece.table), open_table(X), 300))
    assert walked == [300, 300, 100]
    np.testing.assert_array_equal(np.concatenate(parts), model.score_samples(X))


def test_online_passes_and_draws_are_told_of(X):
    walked = []
    with run_on(on_progress=walked.append):
        LatentClassAnalysis(2, random_state=0).partial_fit(X)
        assert sum(walked) % 700 == 0
        assert sum(walked) >= 700
        walked.clear()
        LatentClassAnalysis(2, n_init=1, random_state=0).fit(X).sample(5)
    assert walked[-1] == 5


def test_hidden_states_are_no_rows(X):
    walked = []
    few = X[:50]
    with run_on(on_progress=walked.append), pytest.warns(ConvergenceWarning, match="max_iter"):
        CombinationMachine(7, max_iter=2, random_state=0).fit(few)
    assert set(walked) == {50}  # 128 states are walked 64 at a time


def test_inner_contexts_tell_as_well(X):
    walked, other = [], []
    model = hiddenbits.IndependentColumns().fit(X)
    with run_on(on_progress=walked.append):
        with run_on(n_jobs=2):
            model.score(X)
        with run_on(on_progress=other.append):
            model.score(X)
    assert (sum(walked), sum(other)) == (700, 700)
