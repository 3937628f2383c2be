"""Edges that a review found: each was wrong once."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from threadpoolctl import threadpool_info

import hiddenbits
from hiddenbits import (
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TreeMixture,
    evaluate,
    open_table,
    tetrachoric,
)
from hiddenbits.data import collapse
from hiddenbits.datasets import simulate_mixture
from hiddenbits.engine import one_blas_thread
from hiddenbits.exceptions import TableError

pytestmark = pytest.mark.core


@pytest.fixture
def X():  # noqa: N802
    return simulate_mixture(400, 6, 3, random_state=0).X


def test_a_single_row_does_not_outweigh_thousands():
    model = IndependentColumns().partial_fit(np.zeros((10_000, 3))).partial_fit(np.ones((1, 3)))
    assert (model.probabilities_ < 0.01).all()


def test_online_groups_count_by_their_weight():
    rows = simulate_mixture(32_769, 16, 3, random_state=1).X
    settings = {"n_init": 1, "online_passes": 1, "max_iter": 1, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        even = LatentClassAnalysis(3, **settings).fit(rows[:-1])
    with pytest.warns(ConvergenceWarning):
        odd = LatentClassAnalysis(3, **settings).fit(rows)
    assert odd.score(rows) == pytest.approx(even.score(rows), abs=0.01)


def test_weights_equal_repeats_online():
    rows, counts = simulate_mixture(500, 6, 3, random_state=1).X, np.random.default_rng(0).integers(1, 4, 500)
    weighted = LatentClassAnalysis(3, random_state=0).partial_fit(rows, sample_weight=counts)
    repeated = LatentClassAnalysis(3, random_state=0).partial_fit(np.repeat(rows, counts, axis=0))
    np.testing.assert_allclose(weighted.probabilities_, repeated.probabilities_, rtol=0, atol=1e-12)


def test_weights_of_tables(X):
    for weights, message in [
        (np.zeros(400), "every row is 0"),
        (np.full(400, -1.0), "weight of row 0 is -1.0"),
        (np.full(400, np.nan), "weight of row 0 is nan"),
        (np.ones(3), "one for each row"),
    ]:
        with pytest.raises(TableError, match=message):
            open_table(X).with_weights(weights)
    halves = np.repeat([0.0, 1.0], 200)
    with pytest.raises(TableError, match="every row is 0"):
        LatentClassAnalysis().fit(open_table(X).with_weights(halves), sample_weight=1 - halves)


def test_scores_use_the_weights_of_tables(X):
    model = LatentClassAnalysis(3, random_state=0).fit(X)
    weights = np.random.default_rng(0).integers(0, 3, 400)
    repeated, table = np.repeat(X, weights, axis=0), open_table(X).with_weights(weights)
    for score in (model.score(table), model.score(X, sample_weight=weights)):
        assert score == pytest.approx(model.score(repeated), rel=1e-12)
    assert model.score(table) == pytest.approx(evaluate.mean_log_likelihood(model, table).value, rel=1e-12)
    plain = model._without_prior().fit(X)
    assert plain.bic(table) == pytest.approx(plain.bic(repeated), rel=1e-12)


@pytest.mark.parametrize("weights", [np.ones(5000), [3.0], -np.ones(400), np.ones(7)])
def test_measures_check_weights(X, weights):
    with pytest.raises(TableError, match=r"weight|Weight"):
        evaluate.leave_one_out_error(IndependentColumns().fit(X), X, weights)


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.UnobservedColumnsWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_that_nobody_answered(weighted):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (3000, 12)).astype(float)
    rows[:, 3] = np.nan
    weights = rng.random(3000) if weighted else None
    for model in (IndependentColumns(prior_strength=0), LatentClassAnalysis(2, prior_strength=0, random_state=0)):
        p = model.fit(rows, sample_weight=weights).probabilities_
        np.testing.assert_allclose(p[..., 3], 0.5, rtol=0, atol=1e-9)


def test_memory_maps_are_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 4), np.uint8))
    mapped = open_table(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert mapped.source.mapped
    assert collapse(mapped)[0] is mapped


def test_blas_threads_come_back():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    one, two = one_blas_thread(), one_blas_thread()
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)  # not nested, as two fits in two threads would do it
    assert set(threads()) == {1}
    two.__exit__(None, None, None)
    assert threads() == before


@pytest.mark.slow
def test_numpy_numbers_as_hyperparameters(X, tmp_path):
    model = LatentClassAnalysis(np.int64(2), tol=np.float64(1e-6), random_state=np.int64(0))
    with hiddenbits.run_on(checkpoint=tmp_path / "fit.hb"), hiddenbits.run_on(n_jobs=2):
        model.fit(X)  # the inner context keeps the outer one's checkpoint
    assert (tmp_path / "fit.hb").exists()
    model.save(tmp_path / "model.hb")
    assert hiddenbits.load(tmp_path / "model.hb").n_components == 2


def test_arguments_are_not_dropped_in_silence(X):
    with pytest.raises(TypeError, match="already open"):
        open_table(open_table(X), names=list("abcdef"))
    with pytest.raises(TableError, match="n_columns=7"):
        open_table(X, n_columns=7)
    with pytest.raises(TableError, match="Two columns are called 'a'"):
        open_table(X[:, :2], names=["a", "a"])


def test_partial_fit_goes_on_from_a_fit(X, tmp_path):
    model = LatentClassAnalysis(3, random_state=0).fit(X)
    before, score = model.probabilities_.copy(), model.score(X)
    model.save(tmp_path / "model.hb")
    for started in (model, hiddenbits.load(tmp_path / "model.hb")):
        started.partial_fit(X[:5])
        assert np.abs(started.probabilities_ - before).max() < 0.1
        assert started.score(X) == pytest.approx(score, abs=0.05)


def test_changed_hyperparameters_do_not_break_a_fitted_model(X, tmp_path):
    model = LatentClassAnalysis(2, random_state=0).fit(X).set_params(n_components=5)
    assert len(model.get_feature_names_out()) == model.transform(X).shape[1] == 2
    with pytest.raises(ValueError, match="changed after the fit"):
        model.save(tmp_path / "model.hb")


def test_a_failed_fit_leaves_an_unfitted_estimator(X):
    model = LatentClassAnalysis()
    with pytest.raises(TableError):
        model.fit(X + 1)
    with pytest.raises(NotFittedError):
        model.score(X)


BITS = {
    "independent": (IndependentColumns(), IndependentColumns(prior_strength=0.0)),
    "mixture": (LatentClassAnalysis(2), LatentClassAnalysis(3, prior_strength=0.0)),
    "hidden tree": (HiddenTree(2), HiddenTree(2, prior_strength=0.0, move_strength=0.0)),
    "hidden tree, large": (HiddenTree(8, prior_strength=0.0, move_strength=0.0), HiddenTree(8, move_strength=0.0)),
    "trees": (TreeMixture(2), TreeMixture(2, smoothing=0.0, sharing=0.0)),
    "logistic": (LogisticPCA(1), LogisticPCA(1, ridge=0.0)),
    "item response": (ItemResponseModel(), ItemResponseModel(guessing=True)),
    "clipped": (ClippedPCA(1),),
    "machine": (CombinationMachine(2),),
    "network": (NoisyOrNetwork(2),),
}
CONSTANT = {
    "zeros": np.zeros((60, 5)),
    "ones": np.ones((60, 5)),
    "one row": np.tile([0.0, 1.0, 1.0, 0.0, 1.0], (60, 1)),
    "one column": np.zeros((60, 1)),
    "blanks": np.where(np.random.default_rng(0).random((60, 5)) < 0.2, np.nan, [0.0, 1.0, 1.0, 0.0, 1.0]),
    "a single row": np.array([[0.0, 1.0, 1.0]]),
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("rows", CONSTANT)
@pytest.mark.parametrize("name", BITS)
def test_constant_tables(name, rows):
    """Nothing fell, there is no bug to report (warnings are errors here), and the rows are all but certain."""
    X = CONSTANT[rows]
    for model in BITS[name]:
        score = clone(model).set_params(random_state=0).fit(X).score(X)
        assert np.isfinite(score)
        assert -2.5 < score <= 1e-9


@pytest.mark.parametrize(
    "fit", [HiddenTree().fit, HiddenTree().partial_fit, TreeMixture().fit, ClippedPCA().fit, tetrachoric]
)
def test_too_many_columns_for_all_pairs_are_refused_at_once(fit):
    """A hundred thousand columns have 5e9 pairs: one sentence, and not one pass over the rows."""
    walked = []
    with (
        hiddenbits.run_on(on_progress=walked.append),
        pytest.raises(TableError, match=r"100000 columns, .* take 80 GB.* at most"),
    ):
        fit(sparse.csr_array(np.eye(20, 100_000, dtype=np.uint8)))
    assert walked == []
