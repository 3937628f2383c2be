"""scikit-learn's callbacks. Before scikit-learn 1.9 there are none, and fits run without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hiddenbits.engine import Position, Settings, Watch
from hiddenbits.families._base.protocol import Estimator

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replaces scikit-learn's class; there are no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Replace scikit-learn's decorator; the method stays as it is."""
        return method


__all__ = ["CallbackSupportMixin", "report_to_callbacks", "with_callbacks"]


@contextmanager
def report_to_callbacks(
    estimator: Estimator, settings: Settings, attributes: Callable[[Position], dict[str, Any]]
) -> Iterator[Watch | None]:
    """Report restarts and iterations to scikit-learn's callbacks; yield the function to call after an iteration.

    The task tree is fit -> restart -> pass (an iteration). `attributes` returns the fitted attributes at a position,
    for callbacks that need a fitted estimator.
    """
    if not getattr(estimator, "_skl_callbacks", None) and not hasattr(estimator, "_parent_callback_ctx"):
        yield None
        return
    root = estimator._init_callback_context(max_subtasks=settings.n_init)
    root.call_on_fit_task_begin(estimator=estimator)
    restarts: list[Any] = []  # the current one, if any

    def watch(position: Position, ended: bool) -> bool:
        current_attributes: Callable[[], dict[str, Any]] = lambda: attributes(position)  # noqa: E731
        if ended:
            if restarts:
                restarts.pop().call_on_fit_task_end(estimator=estimator, reconstruction_attributes=current_attributes)
            return False
        if not restarts:
            # Models that grow have several stages of max_iter iterations, so the total number is not known.
            restart = root.subcontext(task_name="restart", max_subtasks=None)
            restart.call_on_fit_task_begin(estimator=estimator)
            restarts.append(restart)
        task = restarts[0].subcontext(task_name="pass")
        task.call_on_fit_task_begin(estimator=estimator)
        return bool(task.call_on_fit_task_end(estimator=estimator, reconstruction_attributes=current_attributes))

    yield watch
    root.call_on_fit_task_end(estimator=estimator)
