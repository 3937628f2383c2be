"""The executor on dask.distributed: the same verbs, the same bits, through the death of workers.

Parts are loaded by tasks, so that a part that is lost with its worker is loaded again; a scattered part would be lost
for good. While the cluster's memory allows, loaded parts stay on the workers between passes. What a pass needs (the
function with the parameters in it) travels once to each worker that wants it, as the result of a task. Each part
answers with the sums of its largest whole subtrees; these are merged on the workers, a few at a time, by the fixed
tree, so that neither the number of workers nor the order of arrival can change a bit. No future outlives its pass but
those of parts. The functions at the end run on workers.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from hiddenbits.data import Block, Grid, Part, TableError
from hiddenbits.engine.executors import one_blas_thread
from hiddenbits.engine.tree import Additive, Node, TreeSum

S = TypeVar("S", bound=Additive)
T = TypeVar("T")

MERGE = 8  # answers that one task on a worker merges
MEMORY_SHARE = 0.4  # parts stay on the workers while they take at most this share of the cluster's memory
DEATHS = 1000  # worker deaths that a task may be near before the scheduler suspects it of causing them


class ClusterError(RuntimeError):
    """The cluster was lost, or a part could not be walked on it."""


class Cluster:
    """Walks tables on the workers of a dask.distributed client.

    Parameters
    ----------
    client : distributed.Client
        A connected client. It is borrowed: never closed, and never kept by an estimator.
    checkpoint : Path, optional
        Where the fit keeps its position, for the message when the cluster is lost.
    """

    def __init__(self, client: Any, checkpoint: Path | None = None) -> None:
        self._client = client
        self._checkpoint = checkpoint
        self._parts: dict[int, tuple[Grid, list[Any]]] = {}
        self._name, self._count = uuid4().hex, count()
        self._annotations = _one_span()
        self._anchors: dict[str, Any] = {}
        client.run_on_scheduler(_forgive_deaths)

    def close(self) -> None:
        """Let go of what is on the workers."""
        self._parts.clear()
        self._anchors.clear()

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks."""
        with _plain_errors(self._checkpoint):
            return self._sum(function, self._load(grid), 0, grid.n_blocks)

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order, with few answers under way."""
        shipped = self._ship(function)
        under_way: deque[Any] = deque()
        parts = iter(self._load(grid))
        ahead = 2 * max(1, len(self._client.scheduler_info()["workers"]))
        while True:
            for part in parts:
                under_way.append(self._submit(_map, shipped, part))
                if len(under_way) >= ahead:
                    break
            if not under_way:
                return
            with _plain_errors(self._checkpoint):
                answer = under_way.popleft().result()
            yield from answer

    def stream(self, grid: Grid, group_blocks: int) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group."""
        parts = self._load(grid)
        part_blocks = grid.part_rows // grid.height
        for start in range(0, grid.n_blocks, group_blocks):
            stop = min(start + group_blocks, grid.n_blocks)
            touched = range(start // part_blocks, -(-stop // part_blocks))

            def reduce(
                function: Callable[[Block], S], start: int = start, stop: int = stop, touched: range = touched
            ) -> S:
                with _plain_errors(self._checkpoint):
                    return self._sum(function, [parts[i] for i in touched], start, stop)

            yield reduce

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Submit a task. Its group and its span are the same in every pass: the scheduler keeps a record of each."""
        import dask

        with dask.annotate(**self._annotations):  # type: ignore[attr-defined]
            group = f"hiddenbits{function.__name__}-{self._name}"
            if group not in self._anchors:  # a group that is empty between passes would be made, and kept, anew
                self._anchors[group] = self._client.submit(_nothing, key=(group, -1))
            return self._client.submit(function, *args, key=(group, next(self._count)))

    def _ship(self, function: Any) -> Any:
        """Return a future of the function itself: computed, not scattered, so that it can be made again."""
        return self._submit(_itself, _Wrapped(function))

    def _sum(self, function: Callable[[Block], S], parts: list[Any], start: int, stop: int) -> S:
        """Return the sum over blocks `start` to `stop` of the parts; answers are merged on the workers to one."""
        shipped = self._ship(function)
        answers = [self._submit(_walk, shipped, part, start, stop) for part in parts]
        while len(answers) > 1:
            batches = [answers[at : at + MERGE] for at in range(0, len(answers), MERGE)]
            answers = [self._submit(_merge, batch, stop - start) for batch in batches]
        total: S
        ((_, total),) = answers[0].result()
        return total

    def _load(self, grid: Grid) -> list[Any]:
        """Return a future of each part if the parts may stay on the workers, else what loads it."""
        known = self._parts.get(id(grid))
        if known is not None:
            return known[1]
        source = grid.table.source
        if source.resident:
            # Rows in the driver's memory: each part's rows travel inside the task that holds them.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # there is no other way for these rows
                held = [self._submit(_itself, _Wrapped(grid.load(i))) for i in range(grid.n_parts)]
        else:
            light = replace(grid, table=replace(grid.table, weights=None))
            loaders = [_Loader(light, i, _weights(grid, i)) for i in range(grid.n_parts)]
            fits = source.row_bytes * source.n_rows <= MEMORY_SHARE * self._memory()
            held = [self._submit(_load_part, loader) for loader in loaders] if fits else loaders
        self._parts = {id(grid): (grid, held)}  # one table at a time
        return held

    def _memory(self) -> float:
        return float(sum(worker["memory_limit"] for worker in self._client.scheduler_info()["workers"].values()))


class _Wrapped:
    """Holds a value in a task's arguments without dask looking inside."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Loader:
    """Loads one part, on whichever worker is asked to."""

    def __init__(self, grid: Grid, i: int, weights: Any) -> None:
        self.grid, self.i, self.weights = grid, i, weights

    def __call__(self) -> Part:
        try:
            part = self.grid.load(self.i)
        except TableError:
            raise
        except Exception as error:
            rows = f"rows {self.i * self.grid.part_rows} and after"
            raise TableError(f"Part {self.i} ({rows}) cannot be read: {type(error).__name__}: {error}") from error
        return replace(part, weights=self.weights)


def _one_span() -> dict[str, Any]:
    """Return the annotations of a new span; without them dask would open and keep one every few passes."""
    import dask
    from distributed import span

    with span("hiddenbits"):
        return dict(dask.get_annotations())  # type: ignore[attr-defined]


def _forgive_deaths(dask_scheduler: Any) -> None:
    """Tell the scheduler that a task that was near several deaths need not have caused them."""
    dask_scheduler.allowed_failures = max(int(dask_scheduler.allowed_failures), DEATHS)


def _weights(grid: Grid, i: int) -> Any:
    weights = grid.table.weights
    return None if weights is None else weights[i * grid.part_rows : (i + 1) * grid.part_rows]


def _nothing() -> None:
    return None


def _itself(wrapped: _Wrapped) -> Any:
    return wrapped.value


def _load_part(loader: _Loader) -> Part:
    return loader()


def _blocks(part: Part | _Loader) -> Iterator[Block]:
    return (part() if isinstance(part, _Loader) else part).blocks()


def _walk(function: Callable[[Block], S], part: Part | _Loader, start: int, stop: int) -> list[tuple[Node, S]]:
    """Add up the blocks of a part that lie between `start` and `stop`, counted from `start`."""
    total: TreeSum[S] = TreeSum(stop - start)
    with one_blas_thread():
        for block in _blocks(part):
            if start <= block.number < stop:
                total.add((0, block.number - start), function(block))
    return total.nodes()


def _merge(answers: list[list[tuple[Node, S]]], n_blocks: int) -> list[tuple[Node, S]]:
    """Merge answers by the fixed tree. The answers stay as they are: they may be asked for again."""
    total: TreeSum[S] = TreeSum(n_blocks)
    for answer in answers:
        total.add_all(deepcopy(answer))
    return total.nodes()


def _map(function: Callable[[Block], T], part: Part | _Loader) -> list[T]:
    """Return what the function makes of each block."""
    with one_blas_thread():
        return [function(block) for block in _blocks(part)]


@contextmanager
def _plain_errors(checkpoint: Path | None) -> Iterator[None]:
    """Say in one sentence what happened to the cluster, and where the fit can be resumed from."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"Workers died again and again while they walked the table ({error}). Most often a worker's memory is too "
            "small for its parts: give workers more memory, or open the table with a smaller part_bytes=."
        ) from error
    except (CancelledError, CommClosedError, OSError, TimeoutError) as error:
        resume = (
            f"Start a cluster and run the same fit again: it goes on from {checkpoint}."
            if checkpoint
            else "Start a cluster and fit again; with run_on(client, checkpoint=...) a fit can be resumed."
        )
        raise ClusterError(
            f"The connection to the cluster's scheduler was lost ({type(error).__name__}). {resume}"
        ) from error
