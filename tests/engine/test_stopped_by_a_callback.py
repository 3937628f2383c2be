"""A fit that a callback stops ends with parameters that were evaluated, and says what was found there."""

import numpy as np
import pytest

from hiddenbits import LogisticPCA

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


def test_a_fit_that_is_stopped_before_its_refinement_is_not_refined(rare):
    """A refinement begins with loadings that were revived: without a pass there, nothing says how good they are."""
    whole = LogisticPCA(2, refine=False, random_state=0, tol=1e-9).fit(rare)
    stopped = LogisticPCA(2, random_state=0, tol=1e-9)
    stopped.set_callbacks(StopAfter(12))
    with pytest.warns(Warning, match="callback"):
        stopped.fit(rare)
    assert stopped.stop_reason_ == "callback"
    assert stopped.trace_[-1] == whole.trace_[11]
