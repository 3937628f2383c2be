"""Run the work of every command, on threads or a cluster, and report its progress."""

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
    address: str | None, jobs: int, checkpoint: Path | None = None, tell: Callable[[int], None] | None = None
) -> Iterator[None]:
    """Run the ``with`` block on threads or on a cluster; `tell` is called with the number of rows processed."""
    from hiddenbits import run_on

    if address is None:
        with run_on(n_jobs=jobs, checkpoint=checkpoint, on_progress=tell):
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
        run_on(client, checkpoint=checkpoint, on_progress=tell),
    ):
        yield


def in_pieces(what: str, function: Callable[[Piece], Any], table: Table) -> Iterator[AnyArray]:
    """Yield a function's result for each piece of rows; progress counts rows once the caller has written them."""
    from hiddenbits.tables import map_pieces

    with progress(what, table.shape[0]) as bar:
        for values in map_pieces(function, table, max(1, PIECE_CELLS // table.shape[1])):
            yield values
            bar.rows(len(values))


def written(values: AnyArray) -> Iterator[AnyArray]:
    """Yield rows in memory some at a time, and count those that are written."""
    with progress("Writing", len(values)) as bar:
        step = max(1, PIECE_CELLS // values.shape[1])
        for start in range(0, len(values), step):
            yield values[start : start + step]
            bar.rows(min(step, len(values) - start))


class Verb:
    """A method of a fitted model as a function of a piece; a class, so that it can be sent to a cluster."""

    def __init__(self, model: BaseEstimator, verb: str) -> None:
        self.model, self.verb = model, verb

    def __call__(self, piece: Piece) -> Any:  # noqa: D102
        import numpy as np

        values = np.asarray(getattr(self.model, self.verb)(piece.table))
        return values.reshape(len(values), -1)


class Watch:
    """Updates a bar after each pass of a fit; implements scikit-learn's callback protocol.

    Nobody knows beforehand when a fit converges: the bar shows the pass and `max_iter`.
    """

    def __init__(self, bar: Bar | None, words: str) -> None:
        self.bar: Any = bar
        self.words = words
        self.passes = self.restarts = self.before = 0

    def setup(self, estimator: object, context: object) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: BaseEstimator, context: Any) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator: object, context: object) -> None:
        """Nothing happens when a pass begins."""

    def on_fit_task_end(self, estimator: BaseEstimator, context: Any, *, metadata: Any = None) -> bool:
        """Count a pass or a restart."""
        if context.task_name == "restart":
            self.restarts, self.before = self.restarts + 1, self.passes
        elif context.task_name == "pass":
            self.passes += 1
            here, limit = self.passes - self.before, int(estimator.max_iter)
            most = int(context.parent.parent.max_subtasks or 1)
            words = [f"restart {self.restarts + 1} of {most}"] if most > 1 else []
            words.append(f"pass {here:,}" + (f" of at most {limit:,}" if here <= limit else ""))  # more: a later stage
            self.bar.at(self.words, self.restarts + min(1.0, here / limit), most, ", ".join(words))
        return False


def fitted(model: BaseEstimator, table: Table, bar: Bar) -> Any:
    """Fit a model and show its progress on the bar."""
    words = f"Fitting {type(model).__name__}"
    bar.at(words, 0, 0)
    if not hasattr(model, "set_callbacks"):  # scikit-learn before 1.9
        return model.fit(table)
    model.set_callbacks(Watch(bar, words)).fit(table)
    return model.set_callbacks()  # a bar can be neither sent to workers nor saved
