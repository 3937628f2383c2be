"""A fit that a callback stops ends with parameters that were evaluated, and says what was found there."""

import numpy as np
import pytest

from hiddenbits import BernoulliMixture, LogisticPCA, Variational

pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


class StopAfter:
    def __init__(self, n_passes):
        self.n_passes, self.passes = n_passes, 0

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, **_):
        self.passes += context.task_name == "pass"
        return self.passes >= self.n_passes


@pytest.fixture
def rare():
    return (np.random.default_rng(0).random((2000, 30)) < 0.01).astype(float)


def test_a_fit_that_is_stopped_before_its_polish_is_not_polished(rare):
    """A polish begins with loadings that were revived: without a pass there, nothing says how good they are."""
    whole = LogisticPCA(2, method=Variational(polish=False), random_state=0, tol=1e-9).fit(rare)
    stopped = LogisticPCA(2, random_state=0, tol=1e-9)
    stopped.set_callbacks(StopAfter(12))
    with pytest.warns(Warning, match="callback"):
        stopped.fit(rare)
    assert stopped.stop_reason_ == "callback"
    assert stopped.trace_[-1] == whole.trace_[11]
    assert float(stopped.params_.stage) == float(whole.params_.stage)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_fit_that_is_stopped_where_a_stage_ends_has_an_objective(seed):
    X = (np.random.default_rng(seed).random((300, 6)) < 0.4).astype(float)
    whole = BernoulliMixture(4, start="split", n_init=1, random_state=seed).fit(X)
    for n_passes in range(1, 8):  # the first stage, of one class, ends within them
        stopped = BernoulliMixture(4, start="split", n_init=1, random_state=seed)
        stopped.set_callbacks(StopAfter(n_passes))
        with pytest.warns(Warning, match="callback"):
            stopped.fit(X)
        assert np.isfinite(stopped.restarts_[0].objective), n_passes
        assert stopped.restarts_[0].objective == stopped.trace_[-1] == whole.trace_[n_passes - 1]
        assert stopped.weights_.shape == (4,)  # classes that were still to be split are there
