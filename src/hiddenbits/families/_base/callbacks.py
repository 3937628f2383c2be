"""scikit-learn's callbacks, in one place. With a scikit-learn that lacks them (before 1.9), fits work without."""

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
        """Stands in for scikit-learn's: no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Stand in for scikit-learn's decorator."""
        return method


__all__ = ["CallbackSupportMixin", "watching", "with_callbacks"]


@contextmanager
def watching(
    estimator: Estimator, settings: Settings, attributes: Callable[[Position], dict[str, Any]]
) -> Iterator[Watch | None]:
    """Tell scikit-learn's callbacks of each restart and pass; yields what the EM loop calls after a pass.

    The task tree is fit -> restart -> pass. `attributes` makes the fitted attributes of a position, for callbacks that
    want a usable estimator.
    """
    if not getattr(estimator, "_skl_callbacks", None) and not hasattr(estimator, "_parent_callback_ctx"):
        yield None
        return
    root = estimator._init_callback_context(max_subtasks=settings.n_init)
    root.call_on_fit_task_begin(estimator=estimator)
    begun: list[Any] = []

    def watch(position: Position, over: bool) -> bool:
        now: Callable[[], dict[str, Any]] = lambda: attributes(position)  # noqa: E731
        if over:
            if begun:
                begun.pop().call_on_fit_task_end(estimator=estimator, reconstruction_attributes=now)
            return False
        if not begun:
            # Growing models have stages of max_iter passes each, so the number of passes is not known.
            restart = root.subcontext(task_name="restart", max_subtasks=None)
            restart.call_on_fit_task_begin(estimator=estimator)
            begun.append(restart)
        task = begun[0].subcontext(task_name="pass")
        task.call_on_fit_task_begin(estimator=estimator)
        return bool(task.call_on_fit_task_end(estimator=estimator, reconstruction_attributes=now))

    yield watch
    root.call_on_fit_task_end(estimator=estimator)
