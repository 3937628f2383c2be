"""A callback of scikit-learn's that shows what a fit looks like after each pass."""

from collections.abc import Callable
from typing import Any


class AfterEachPass:
    """Calls a function with the estimator as it would be fitted by then; its `n_iter_` is the number of the pass."""

    def __init__(self, look: Callable[[Any], None]) -> None:
        self.look = look

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: scikit-learn asks for it."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: scikit-learn asks for it."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        """Show a pass; the answer is that the fit need not stop."""
        if context.task_name == "pass":
            self.look(fitted_estimator)
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: scikit-learn asks for it."""
