"""`BinarySparseCoding`: recovered bars, verbs, files, executors, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hiddenbits
from hiddenbits import BinarySparseCoding
from hiddenbits.datasets import simulate_bars
from hiddenbits.exceptions import TableError
from hiddenbits.options import Annealing
from tests.contracts.test_same_bits import same

pytestmark = pytest.mark.core
SHORT = Annealing(n_passes=2, settle=False)


def recovered(model, fields):
    """Every field is near a bar of its own: within half of its length."""
    apart = np.linalg.norm(model.components_[:, None, :] - fields, axis=2)
    nearest = apart.argmin(axis=1)
    return sorted(nearest) == list(range(len(fields))) and bool(
        (apart.min(axis=1) < 0.5 * np.linalg.norm(fields[0])).all()
    )


@pytest.fixture(scope="module")
def bars():
    return simulate_bars(600, random_state=3)


@pytest.fixture(scope="module")
def model(bars):
    return BinarySparseCoding(10, random_state=0).fit(bars.X)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_bars_by_default(seed):
    """N = 1000: pi H has a standard deviation of .04 over data sets, sigma one of .012; five of each."""
    bars = simulate_bars(1000, random_state=seed)
    found = BinarySparseCoding(10, random_state=seed).fit(bars.X)
    assert recovered(found, bars.fields)
    assert found.n_active_ == pytest.approx(2.0, abs=0.2)
    assert found.noise_ == pytest.approx(2.0, abs=0.06)
    assert found.converged_


@pytest.mark.slow
def test_bars_as_in_the_paper(short):
    """Its rate is 96.5%: of six sets, or two in a short run, one may fail."""
    sets = [simulate_bars(1000, random_state=seed) for seed in range(2 if short else 6)]
    fits = [BinarySparseCoding.paper(random_state=seed).fit(bars.X) for seed, bars in enumerate(sets)]
    assert sum(recovered(fit, bars.fields) for fit, bars in zip(fits, sets, strict=True)) >= len(sets) - 1
    assert {(fit.stop_reason_, fit.n_iter_, fit.converged_) for fit in fits} == {("schedule_done", 60, False)}


@pytest.mark.full
def test_one_activity_for_each_cause():
    rng = np.random.default_rng(0)
    fields, activity = 6.0 * rng.standard_normal((4, 12)), np.array([0.5, 0.3, 0.15, 0.05])
    X = (rng.random((3000, 4)) < activity) @ fields + rng.standard_normal((3000, 12))
    found = BinarySparseCoding(4, activity="each", n_init=6, random_state=0).fit(X)  # two starts lead elsewhere
    assert found.activity_ == pytest.approx(activity, abs=0.03)  # more than three standard errors of a share
    np.testing.assert_allclose(found.components_, fields, atol=0.5)


def test_verbs(model, bars):
    s, found = bars.states, model.posterior_mode(bars.X)
    nearest = np.linalg.norm(model.components_[:, None, :] - bars.fields, axis=2).argmin(axis=1)
    assert (found == s[:, nearest]).mean() > 0.995  # bars of height 10 under noise of 2 are plain to see
    np.testing.assert_allclose(model.transform(bars.X).mean(axis=0).sum(), model.n_active_, atol=0.1)
    np.testing.assert_allclose(model.inverse_transform(found), found @ model.components_, atol=1e-12)
    assert model._likelihood_kind == "exact"
    assert BinarySparseCoding(13, schedule=SHORT, n_init=1).fit(bars.X)._likelihood_kind == "bound"
    drawn = model.sample(20000, random_state=1)
    assert drawn.shape == (20000, 25)
    want = model.components_.T @ model.activity_
    np.testing.assert_allclose(drawn.mean(axis=0), want, atol=5 * drawn.std(axis=0).max() / np.sqrt(20000))


@pytest.mark.slow
def test_missing_numbers(bars):
    holes = bars.X.copy()
    holes[np.random.default_rng(1).random(holes.shape) < 0.2] = np.nan
    found = BinarySparseCoding(10, random_state=0).fit(holes)
    assert recovered(found, bars.fields)
    filled, missing = found.complete(holes), np.isnan(holes)
    assert np.array_equal(filled[~missing], holes[~missing])
    error = filled[missing] - bars.X[missing]
    assert np.sqrt(np.mean(error**2)) < 1.3 * 2.0  # the noise of 2 cannot be known; bars are now and then missed
    masked = np.ma.MaskedArray(np.nan_to_num(holes), missing)
    np.testing.assert_array_equal(found.complete(masked), filled)


def test_single_precision_finds_the_same(bars, model):
    single = BinarySparseCoding(10, dtype="float32", random_state=0).fit(bars.X.astype(np.float32))
    assert recovered(single, bars.fields)
    assert single.score(bars.X) == pytest.approx(model.score(bars.X), abs=1e-3)


def test_saved_and_loaded(model, bars, tmp_path):
    model.save(tmp_path / "model.hb")
    there = hiddenbits.load(tmp_path / "model.hb")
    assert same(model._params, there._params)
    assert repr(there) == repr(model)
    assert np.array_equal(there.score_samples(bars.X), model.score_samples(bars.X))


@pytest.mark.slow
def test_number_of_causes_by_held_out_rows(bars):
    search = GridSearchCV(BinarySparseCoding(n_init=1, random_state=0), {"n_components": [7, 10]}, cv=2)
    assert search.fit(bars.X).best_params_ == {"n_components": 10}


@pytest.mark.full
def test_hidden_numbers(bars):
    """Their log density, of arrays and of lists alike; better than a normal for each column."""
    short = BinarySparseCoding(10, n_init=1, random_state=0)
    tables = [hiddenbits.open_table(bars.X, reals=True), bars.X.tolist(), bars.X]
    found = [hiddenbits.evaluate.held_out_cells(short, table, random_state=1) for table in tables]
    assert found[0] == found[1] == found[2]
    alone = 0.5 * np.mean(np.log(2 * np.pi * np.e * bars.X.var(axis=0)))
    assert found[0].value < alone - 20 * found[0].standard_error


@pytest.mark.full
def test_frames(bars):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(bars.X, columns=[f"pixel {j}" for j in range(25)])
    short = BinarySparseCoding(10, schedule=clone(SHORT).set_params(n_passes=9), n_init=1, random_state=0)
    alone, there = clone(short).fit(bars.X), clone(short).fit(frame)
    assert same(there._params, alone._params)
    assert list(there.feature_names_in_) == list(frame.columns)
    completed = there.complete(frame.mask(np.eye(600, 25, dtype=bool)))
    assert list(completed.columns) == list(frame.columns)


def test_refusals(bars, model):
    with pytest.raises(TypeError, match="not for a SciPy sparse array"):
        BinarySparseCoding().fit(sparse.csr_array(bars.X))
    with pytest.raises(TableError, match="table has binary columns"):
        BinarySparseCoding().fit(hiddenbits.open_table(np.eye(3)))
    with pytest.raises(TableError, match="row 0, column 1: inf is infinite or too large"):
        BinarySparseCoding().fit([[1.0, np.inf]])
    with pytest.raises(TableError, match=r"row 1, column 0 .*'a' is not a number"):
        BinarySparseCoding().fit([[1.0, 2.0], ["a", 2.0]])
    with pytest.raises(TableError, match=r"row 1, column 0: 1e\+200"):
        BinarySparseCoding().fit([[1.0, 2.0], [1e200, 2.0]])
    with pytest.raises(ValueError, match="needs binary data"):
        model._cell_probabilities(bars.X)
    with pytest.raises(ValueError, match="swap them"):
        BinarySparseCoding(schedule=Annealing(cut_from=0.9)).fit(bars.X)
