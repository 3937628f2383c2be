"""What estimators do beside the contracts: frames, names, callbacks, online fits, errors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, LogisticPCA, open_table
from hiddenbits.datasets import simulate_mixture
from tests.contracts.test_fit import structured_rows

pytestmark = pytest.mark.core


@pytest.fixture
def rows():
    return structured_rows(np.random.default_rng(0), 300, 8, missing=True)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_in_frames_out(rows, library):
    module = pytest.importorskip(library)
    names = [f"q{j}" for j in range(8)]
    columns = {name: [None if np.isnan(v) else v for v in rows[:, j]] for j, name in enumerate(names)}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    model = LatentClassAnalysis(3, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == names
    plain = LatentClassAnalysis(3, random_state=0).fit(rows)
    assert np.array_equal(plain.probabilities_, model.probabilities_)
    completed = model.complete(frame)
    assert type(completed) is type(frame)
    values = np.column_stack([np.asarray(completed[name]) for name in names])
    assert np.array_equal(values, plain.complete(rows))


def test_completed_pandas_frame_keeps_its_index(rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, index=[f"person {i}" for i in range(len(rows))])
    frame.columns = [f"q{j}" for j in range(8)]
    completed = LatentClassAnalysis(2, random_state=0).fit(frame).complete(frame)
    assert list(completed.index) == list(frame.index)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output(rows, container):
    pytest.importorskip(container)
    codes = LatentClassAnalysis(3, random_state=0).set_output(transform=container).fit(rows).transform(rows)
    assert type(codes).__module__.startswith(container)
    assert list(codes.columns) == ["class_1", "class_2", "class_3"]


def test_tables_check_names_and_width(rows):
    names = [f"q{j}" for j in range(8)]
    model = LatentClassAnalysis(2, random_state=0).fit(open_table(rows, names=names))
    assert list(model.feature_names_in_) == names
    with pytest.raises(
        hiddenbits.exceptions.TableError, match="Column 0 is 'q7', but it was 'q0' when LatentClassAnalysis was fitted"
    ):
        model.score(open_table(rows, names=names[::-1]))
    with pytest.raises(hiddenbits.exceptions.TableError, match="7 columns, but LatentClassAnalysis was fitted to 8"):
        model.score(open_table(rows[:, :7]))


def test_numbers_need_a_threshold():
    X = np.random.default_rng(0).random((20, 3))
    with pytest.raises(hiddenbits.exceptions.TableError, match=r"row 0, column 0: .* is not a bit.*threshold="):
        LatentClassAnalysis().fit(X)
    model = LatentClassAnalysis(threshold=0.5, random_state=0).fit(X)
    bits = LatentClassAnalysis(random_state=0).fit((X > 0.5).astype(int))
    assert np.array_equal(model.probabilities_, bits.probabilities_)


def test_bad_hyperparameters_and_order_of_calls(rows):
    with pytest.raises(ValueError, match="n_components"):
        LatentClassAnalysis(0).fit(rows)
    with pytest.raises(NotFittedError):
        LatentClassAnalysis().score(rows)
    with pytest.raises(ValueError, match=r"non-zero|every row is 0"):
        LatentClassAnalysis().fit(rows, sample_weight=np.zeros(len(rows)))
    with pytest.raises(ValueError, match="at least one row"):
        IndependentColumns().fit(rows).sample(0)
    with pytest.raises(ValueError, match="n_jobs=0"), hiddenbits.run_on(n_jobs=0):
        pass
    with (
        pytest.raises(ValueError, match="needs an integer random_state"),
        hiddenbits.run_on(checkpoint="never-written.hb"),
    ):
        LatentClassAnalysis().fit(rows)


def test_online_fit_learns(rows):
    simulated = simulate_mixture(20_000, 16, 3, random_state=1)
    train, test = simulated.X[:15_000], simulated.X[15_000:]
    online = LatentClassAnalysis(3, random_state=0)
    for chunk in np.array_split(train, 60):
        online.partial_fit(chunk)
    whole = LatentClassAnalysis(3, random_state=0).fit(train)
    baseline = IndependentColumns().fit(train).score(test)
    assert online.score(test) > whole.score(test) - 0.1 * (whole.score(test) - baseline)
    assert online.stop_reason_ == "online"
    assert not online.converged_


def test_online_passes_then_full_passes():
    X = simulate_mixture(40_000, 16, 3, random_state=1).X
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        quick = LogisticPCA(2, refine=False, n_init=1, online_passes=1, max_iter=2, random_state=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        cold = LogisticPCA(2, n_init=1, max_iter=2, refine=False, random_state=0).fit(X)
    assert quick.score(X) > cold.score(X) + 0.005


def test_callbacks():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

    class StopAfter:
        """Stops each restart after three passes and keeps what it was shown."""

        def __init__(self):
            self.tasks, self.scores, self.down = [], [], 0

        def setup(self, estimator, context):
            self.tasks.append("setup")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            self.tasks.append(context.task_name)
            if context.task_name != "pass":
                return False
            self.scores.append(fitted_estimator.score(X))
            return context.task_id == 2

        def teardown(self, estimator, context):
            self.down += 1

    X = simulate_mixture(500, 10, 3, random_state=0).X
    seen = StopAfter()
    with pytest.warns(ConvergenceWarning, match="a callback stopped"):
        model = LatentClassAnalysis(3, n_init=2, random_state=0).set_callbacks(seen).fit(X)
    assert seen.tasks == ["setup", *["pass"] * 3, "restart", *["pass"] * 3, "restart", "fit"]
    assert seen.scores[:3] == sorted(seen.scores[:3])
    assert seen.down == 1
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == 3


def test_progress_bar(capsys):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    pytest.importorskip("rich")
    X = simulate_mixture(500, 10, 3, random_state=0).X
    plain = LatentClassAnalysis(3, random_state=0).fit(X)
    shown = clone(plain).set_callbacks(callback.ProgressBar()).fit(X)
    assert np.array_equal(plain.probabilities_, shown.probabilities_)
    assert "LatentClassAnalysis" in capsys.readouterr().out
