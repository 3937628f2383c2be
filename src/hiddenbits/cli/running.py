"""Where work runs, and rows worked on piece by piece with a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenbits.cli.screen import Progress, progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hiddenbits import Piece, Table

PIECE_CELLS = 1 << 22


@contextmanager
def engine(address: str | None, jobs: int, checkpoint: Path | None = None) -> Iterator[None]:
    """Run what is inside the ``with`` block on threads, or on a cluster."""
    from hiddenbits import run_on

    if address is None:
        with run_on(n_jobs=jobs, checkpoint=checkpoint):
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
        run_on(client, checkpoint=checkpoint),
    ):
        yield


def in_pieces(what: str, function: Callable[[Piece], Any], table: Table) -> Iterator[NDArray[Any]]:
    """Yield what a function makes of each piece of rows, and show how far it has come."""
    from hiddenbits import map_pieces

    with progress(what, table.shape[0]) as bar:
        for values in map_pieces(function, table, max(1, PIECE_CELLS // table.shape[1])):
            bar.add(len(values))
            yield values


class Verb:
    """A verb of a fitted model as a function of a piece; a class, so that it travels to a cluster."""

    def __init__(self, model: Any, verb: str) -> None:
        self.model, self.verb = model, verb

    def __call__(self, piece: Piece) -> Any:  # noqa: D102
        import numpy as np

        values = np.asarray(getattr(self.model, self.verb)(piece.table))
        return values.reshape(len(values), -1)


class Watch:
    """Tells a bar of each pass of a fit: scikit-learn's protocol of callbacks."""

    def __init__(self, bar: Progress, rows: int) -> None:
        self.bar, self.rows, self.passes = bar, rows, 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to put away."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing happens when a pass begins."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Count a pass."""
        if context.task_name == "pass":
            self.passes += 1
            self.bar.add(self.rows, f"pass {self.passes}")
        return False


def fitted(model: Any, table: Table) -> Any:
    """Fit a model with a bar; how many passes there will be is not known, so the bar has no end."""
    with progress(f"Fitting {type(model).__name__}", None) as bar:
        if hasattr(model, "set_callbacks"):
            model.set_callbacks(Watch(bar, table.shape[0]))
        model.fit(table)
    return model
