"""Run commands on threads or a cluster, and report their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.progress import Bar, progress

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from hiddenbits.array_types import AnyArray
    from hiddenbits.tables import Piece, Table

PIECE_CELLS = 1 << 22


@contextmanager
def engine(
    address: str | None, n_jobs: int, checkpoint: Path | None = None, on_progress: Callable[[int], None] | None = None
) -> Iterator[None]:
    """Run the ``with`` block on threads or on a cluster; `on_progress` is called with the number of rows processed."""
    from hiddenbits import run_on

    if address is None:
        with run_on(n_jobs=n_jobs, checkpoint=checkpoint, on_progress=on_progress):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("--engine needs dask: pip install 'hiddenbits[cluster]'.") from error
    with (
        Client(  # type: ignore[no-untyped-call]
            address, timeout="20s", set_as_default=False
        ) as client,
        run_on(client, checkpoint=checkpoint, on_progress=on_progress),
    ):
        yield


def map_pieces_with_progress(label: str, function: Callable[[Piece], Any], table: Table) -> Iterator[AnyArray]:
    """Yield a function's result for each piece of rows; progress counts rows once the caller has written them."""
    from hiddenbits.tables import map_pieces

    with progress(label, table.shape[0]) as bar:
        for values in map_pieces(function, table, max(1, PIECE_CELLS // table.row_size)):
            yield values
            bar.rows(len(values))


def slices_with_progress(values: AnyArray) -> Iterator[AnyArray]:
    """Yield slices of rows in memory; progress counts rows once the caller has written them."""
    with progress("Writing", len(values)) as bar:
        step = max(1, PIECE_CELLS // values.shape[1])
        for start in range(0, len(values), step):
            yield values[start : start + step]
            bar.rows(min(step, len(values) - start))


class RowMethod:
    """A method of a fitted model as a function of a piece; a class, so that it can be sent to a cluster."""

    def __init__(self, model: BaseEstimator, method: str) -> None:
        self.model, self.method = model, method

    def __call__(self, piece: Piece) -> Any:  # noqa: D102
        import numpy as np

        values = np.asarray(getattr(self.model, self.method)(piece.table))
        return values.reshape(len(values), -1)


class FitProgress:
    """Updates a bar after each iteration of a fit; implements scikit-learn's callback protocol.

    The number of iterations until convergence is unknown, so the bar shows the iteration and `max_iter`.
    """

    def __init__(self, bar: Bar | None, step: str) -> None:
        self.bar: Any = bar
        self.step = step
        self.iterations = self.restarts = self.iterations_before = 0

    def setup(self, estimator: object, context: object) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: BaseEstimator, context: Any) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator: object, context: object) -> None:
        """Nothing happens when an iteration begins."""

    def on_fit_task_end(self, estimator: BaseEstimator, context: Any, *, metadata: Any = None) -> bool:
        """Count an iteration or a restart."""
        if context.task_name == "restart":
            self.restarts, self.iterations_before = self.restarts + 1, self.iterations
        elif context.task_name == "pass":
            self.iterations += 1
            iteration, limit = self.iterations - self.iterations_before, int(estimator.max_iter)
            n_restarts = int(context.parent.parent.max_subtasks or 1)
            notes = [f"restart {self.restarts + 1} of {n_restarts}"] if n_restarts > 1 else []
            # a later stage of a fit goes beyond max_iter
            notes.append(f"iteration {iteration:,}" + (f" of at most {limit:,}" if iteration <= limit else ""))
            self.bar.set_step(self.step, self.restarts + min(1.0, iteration / limit), n_restarts, ", ".join(notes))
        return False


def fit_with_progress(model: BaseEstimator, table: Table, bar: Bar) -> Any:
    """Fit a model and show its progress on the bar."""
    step = f"Fitting {type(model).__name__}"
    bar.set_step(step, 0, 0)
    if not hasattr(model, "set_callbacks"):  # scikit-learn before 1.9
        return model.fit(table)
    model.set_callbacks(FitProgress(bar, step)).fit(table)
    return model.set_callbacks()  # a bar can be neither sent to workers nor saved
