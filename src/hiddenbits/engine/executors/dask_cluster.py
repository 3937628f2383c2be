"""The executor on dask.distributed: the same methods as in one process and, even if workers die, the same bits.

Only fits with row memory may differ, by up to the tolerance, because memory may be lost (`row_memory.py`).

Tasks load the parts of a table, so that a part that is lost with its worker is loaded again; a part sent by dask's
`scatter` would be lost for good. If the cluster's memory allows, loaded parts stay on the workers between passes. A
pass is one graph. The function, with the parameters inside, is the result of a task that each worker fetches once. The
task of a part returns the sums of its largest complete subtrees (`tree_sum.py`). These are merged on the workers, a few
at a time, by the fixed tree, so that neither the number of workers nor the order of arrival changes the result. Only
the futures of parts outlive a pass.

The scheduler stores something about every key, group of tasks, span and submission. So that its memory does not grow
with the number of passes, keys are used again after some passes, there is one span, the groups are fixed, and the
records of submissions are deleted regularly.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from hiddenbits.data import Block, Grid
from hiddenbits.engine.environment import differences, environment
from hiddenbits.engine.executors import dask_scheduler
from hiddenbits.engine.executors.dask_worker import (
    Loader,
    Parcel,
    hold,
    itself,
    map_part,
    merge,
    nothing,
    reduce_part,
    run_task,
)
from hiddenbits.engine.executors.local import S, T, U
from hiddenbits.engine.row_memory import RowMemory, WorkerRowMemory, forget
from hiddenbits.exceptions import ClusterError, EnvironmentChangedWarning
from hiddenbits.quoting import printable, redacted

logger = logging.getLogger(__name__)

MERGED_SUMS = 8  # sums that one task merges, at most
MEMORY_SHARE = 0.4  # parts stay on the workers while they take at most this share of the cluster's memory
ALLOWED_DEATHS = 30  # worker deaths that the scheduler tolerates per task before it blames the task
KEY_CYCLE = 64  # passes after which the keys of tasks are used again
STALL_TIMEOUT = 600.0  # seconds without progress after which a fit ends with an error
POLL = 2.0  # seconds between two requests to the scheduler while waiting for a result
ANSWER_TIMEOUT, CLOSING_TIMEOUT = 60.0, 5.0  # seconds for the scheduler to answer, in a fit and after it


class Cluster:
    """Processes tables on the workers of a dask.distributed client.

    Parameters
    ----------
    client : distributed.Client
        A connected client. It is never closed here, and no estimator stores it.
    checkpoint : Path, optional
        The checkpoint of the fit, for the message when the cluster is lost.
    stall_timeout : float
        Seconds without progress (no task finished, none running) after which waiting ends with an error.
    """

    def __init__(
        self, client: Any, checkpoint: Path | None = None, stall_timeout: float | None = STALL_TIMEOUT
    ) -> None:
        self._client = client
        self._checkpoint = checkpoint
        self._stall_timeout = math.inf if stall_timeout is None else stall_timeout
        self._origins: list[dict[str, str]] = [environment()]  # environments of results, each reported once
        self._parts: dict[Grid, list[Any]] = {}
        self._name, self._numbers, self._tables, self._n_memories = uuid4().hex, count(), count(), 0
        self._annotations = _one_span()
        self._anchors: dict[str, Any] = {}
        self._deaths: int = self._ask(dask_scheduler.forgive_deaths, deaths=ALLOWED_DEATHS)

    def close(self) -> None:
        """Delete everything on the workers."""
        self._parts.clear()
        self._anchors.clear()
        with suppress(Exception):  # a lost cluster has nothing to delete
            self._ask(dask_scheduler.forgive_deaths, timeout=CLOSING_TIMEOUT, deaths=self._deaths)
            self._ask(dask_scheduler.cut_records)
            if self._n_memories:
                self._clear_row_memories()

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks."""
        return self._sum(function, self._load(grid), 0, grid.n_blocks)

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order; few tasks are pending at a time."""
        for results in self._map(map_part, function, self._load(grid)):
            yield from results

    def map_tasks(self, function: Callable[[U], T], tasks: Sequence[U]) -> Iterator[T]:
        """Yield function(task), computed on the workers, for each task, in order; a worker gets the function once."""
        return self._map(run_task, function, map(Parcel, tasks))

    def _map(self, on_worker: Callable[..., Any], function: Callable[..., Any], inputs: Iterable[Any]) -> Iterator[Any]:
        """Yield on_worker(number of the pass, function, input) for all inputs, in order."""
        numbered, number = enumerate(inputs), self._next_number()
        with self._plain_errors():
            function_key = self._key(itself, number, 0)
            sent_function = self._send({function_key: (itself, Parcel(function, number))}, function_key)
        most_pending = 2 * max(1, len(self._ask(dask_scheduler.workers)))
        pending: deque[Any] = deque()
        while True:
            with self._plain_errors():
                while len(pending) < most_pending and (task := next(numbered, None)):
                    key = self._key(on_worker, number, task[0])
                    pending.append(self._send({key: (on_worker, number, sent_function, task[1])}, key))
                if not pending:
                    return
            yield self._result(pending.popleft(), number)

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group."""
        parts, table = self._load(grid), next(self._tables)
        held: dict[int, Any] = {}  # parts that every pass loads stay while their groups are processed
        part_blocks = grid.part_rows // grid.height
        for start, stop in pairwise([0, *ends]):
            touched = range(start // part_blocks, -(-stop // part_blocks))
            ahead = min(2 * touched.stop - touched.start, len(parts))  # parts of the next group load meanwhile
            for i in range(touched.start, ahead):
                if isinstance(parts[i], Parcel) and i not in held:
                    held[i] = self._hold(parts[i], table, i, [])
            for i in [i for i in held if i < touched.start]:
                del held[i]

            def reduce(
                function: Callable[[Block], S], start: int = start, stop: int = stop, touched: range = touched
            ) -> S:
                return self._sum(function, [held.get(i, parts[i]) for i in touched], start, stop)

            yield reduce

    def row_memory(self, last: RowMemory | None) -> RowMemory:
        """Return the memory for one more pass, stored by each worker for the blocks that it processes."""
        before = last.after if isinstance(last, WorkerRowMemory) else -1
        self._n_memories += 1
        return WorkerRowMemory(self._name, before, self._n_memories - 1)

    def run(self, function: Callable[[U], T], tasks: Iterable[U]) -> Iterable[T]:
        """Return function(task) for each task, in order, in this process, because tasks have no rows."""
        return map(function, tasks)

    # ------------------------------------------------------------------------------------------------ tasks

    def _next_number(self) -> int:
        """Return the number of a new pass."""
        number = next(self._numbers)
        if number % KEY_CYCLE == KEY_CYCLE - 1:
            self._ask(dask_scheduler.cut_records)
        return number

    def _key(self, function: Callable[..., Any], number: int, i: int) -> tuple[str, int, int]:
        """Return the key of a task of a pass: the key of an earlier pass, or a new one if the old future still exists.

        The first part of the key is the task's group. A small task keeps each group alive, because the scheduler
        stores every new group.
        """
        group = f"hiddenbits-{function.__name__}-{self._name}"
        if group not in self._anchors:
            with self._annotated():
                self._anchors[group] = self._client.submit(nothing, key=(group, -1, -1))
        key = (group, number % KEY_CYCLE, i)
        return key if key not in self._client.futures else (group, KEY_CYCLE + number, i)

    def _send(self, graph: dict[Any, Any], key: Any) -> Any:
        """Send a graph to the scheduler and return the future of one of its keys."""
        with self._annotated():
            return self._client.get(graph, key, sync=False)

    def _sum(self, function: Callable[[Block], S], parts: list[Any], start: int, stop: int) -> S:
        """Return the sum over blocks `start` to `stop` of the parts, merged on the workers."""
        number = self._next_number()
        function_key = self._key(itself, number, 0)
        graph: dict[Any, Any] = {function_key: (itself, Parcel(function, number))}
        level = [self._key(reduce_part, number, i) for i in range(len(parts))]
        graph |= {
            key: (reduce_part, number, function_key, part, start, stop) for key, part in zip(level, parts, strict=True)
        }
        merges = count()
        while len(level) > 1:
            batches = [level[first : first + MERGED_SUMS] for first in range(0, len(level), MERGED_SUMS)]
            level = [self._key(merge, number, next(merges)) for _ in batches]
            graph |= {key: (merge, number, batch, stop - start) for key, batch in zip(level, batches, strict=True)}
        with self._plain_errors():
            future = self._send(graph, level[0])
        total: S
        ((_, total),) = self._result(future, number)
        return total

    def _result(self, future: Any, number: int) -> Any:
        """Return the result of a task; errors of the task are raised as they are, a lost cluster is explained."""
        error, parcel = self._wait_for(future)
        if error is None:
            self._warn_of(parcel.origins)
            return parcel.open(number)
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            raise ClusterError(
                f"Workers died repeatedly while they processed the table ({redacted(error)}). The usual cause is too "
                "little memory: give workers more, or open the table with a smaller part_bytes=."
            ) from error
        raise error

    def _wait_for(self, future: Any) -> tuple[BaseException | None, Any]:
        """Return the error or the result of a task; raise an error if the cluster makes no progress."""
        before, since = None, time.monotonic()
        poll = min(POLL, self._stall_timeout / 4)
        outcome = asyncio.run_coroutine_threadsafe(_outcome(future), self._client.loop.asyncio_loop)
        try:
            while not futures.wait([outcome], poll).done:
                before, since = self._check_progress(before, since)
        finally:
            outcome.cancel()  # without effect if it is done
        with self._plain_errors():
            return outcome.result()

    def _check_progress(
        self, before: dask_scheduler.TaskProgress | None, since: float
    ) -> tuple[dask_scheduler.TaskProgress | None, float]:
        """Return the progress of the tasks and when it last changed; raise an error if that is too long ago."""
        now, idle = self._progress(), time.monotonic() - since
        if now is not None and (now.running or now != before):
            return now, time.monotonic()
        if idle >= self._stall_timeout:
            raise ClusterError(
                f"The cluster has made no progress for {idle:.0f} s: {_stalled(now)}. "
                f"{self._resume()} run_on(client, stall_timeout=...) sets how long to wait."
            )
        logger.info("Waiting for the cluster for %.0f s: %s.", idle, _stalled(now))
        return before, since

    def _progress(self) -> dask_scheduler.TaskProgress | None:
        """Return the progress of this executor's tasks, or None if the scheduler does not answer."""
        progress: dask_scheduler.TaskProgress
        with self._plain_errors():
            try:
                progress = self._client.run_on_scheduler(
                    dask_scheduler.progress, name=self._name, callback_timeout=min(ANSWER_TIMEOUT, self._stall_timeout)
                )
            except TimeoutError:
                return None
        return progress

    def _warn_of(self, origins: list[dict[str, str]]) -> None:
        """Warn once of each environment on the workers that differs from the one here."""
        for origin in origins:
            if origin not in self._origins:
                self._origins.append(origin)
                warnings.warn(
                    f"Some workers have {differences(origin, self._origins[0])}: the results are valid, but may differ "
                    "in the last digits from those of another run.",
                    EnvironmentChangedWarning,
                    stacklevel=2,
                )

    def _load(self, grid: Grid) -> list[Any]:
        """Return a future of each part if the parts may stay on the workers, otherwise a loader of each."""
        loaded = self._parts.get(grid)
        if loaded is not None:
            return loaded
        self._parts.clear()  # one table at a time
        source, table, homes = grid.table.source, next(self._tables), self._homes(grid.n_parts)
        if source.resident:
            # Rows in the driver's memory are sent inside the task of their part.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # there is no other way for these rows
                held = [self._hold(Parcel(grid.load(i)), table, i, homes[i]) for i in range(grid.n_parts)]
        else:
            held = [Parcel(Loader(_light(grid, i), i, _weights(grid, i))) for i in range(grid.n_parts)]
            if source.row_bytes * source.n_rows <= MEMORY_SHARE * self._memory():
                held = [self._hold(loader, table, i, homes[i]) for i, loader in enumerate(held)]
        self._parts[grid] = held
        return held

    def _homes(self, n_parts: int) -> list[list[str]]:
        """Return a worker for each part: as many per thread; neighbors are together, so merges need little traffic."""
        workers = sorted(self._ask(dask_scheduler.workers).items())
        threads = [address for address, (n_threads, _) in workers for _ in range(n_threads)]
        if not threads:  # an adaptive cluster may begin with none
            return [[]] * n_parts
        return [[threads[i * len(threads) // n_parts]] for i in range(n_parts)]

    def _hold(self, part: Parcel[Any], table: int, i: int, home: list[str]) -> Any:
        """Return the future of a part that stays on the worker `home`, or on another if that one is gone."""
        key = (f"{dask_scheduler.PART}{self._name}", table, i)
        with self._annotated(), self._plain_errors():
            return self._client.submit(hold, part, key=key, workers=home or None, allow_other_workers=bool(home))

    def _annotated(self) -> Any:
        import dask

        return dask.annotate(**self._annotations)  # type: ignore[attr-defined]

    def _clear_row_memories(self) -> None:
        """Delete this executor's row memory on every worker, without waiting for their answers."""
        from distributed import fire_and_forget

        for address in self._ask(dask_scheduler.workers):
            future = self._client.submit(forget, self._name, workers=[address], pure=False)
            fire_and_forget(future)  # type: ignore[no-untyped-call]

    def _memory(self) -> float:
        """Return the memory of all workers; infinite if one has no limit, or if none is connected yet."""
        limits = [limit for _, limit in self._ask(dask_scheduler.workers).values()]
        return float(sum(limit or math.inf for limit in limits)) if limits else math.inf

    # ------------------------------------------------------------------------------------------------ the scheduler

    def _ask(self, function: Callable[..., T], timeout: float = ANSWER_TIMEOUT, **arguments: Any) -> T:
        """Return the result of a function on the scheduler; an error if it does not answer in time."""
        answer: T
        with self._plain_errors():
            answer = self._client.run_on_scheduler(function, callback_timeout=timeout, **arguments)
        return answer

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn connection errors into a ClusterError that explains what happened and how to resume the fit."""
        from distributed import CancelledError
        from distributed.comm.core import CommClosedError

        try:
            yield
        except (CancelledError, CommClosedError, OSError, TimeoutError) as error:
            raise ClusterError(
                f"The connection to the cluster's scheduler was lost ({type(error).__name__}). {self._resume()}"
            ) from error

    def _resume(self) -> str:
        """Return the advice for when the cluster is lost."""
        if self._checkpoint:
            return f"Start a cluster and run the same fit again: it continues from {printable(self._checkpoint)}."
        return "Start a cluster and fit again; with run_on(client, checkpoint=...) a fit can be resumed."


async def _outcome(future: Any) -> tuple[BaseException | None, Any]:
    """Return the error or the result of a task, in the client's loop.

    Not by `future.result(timeout=)`: that leaves the future in a reference cycle after each timeout, and can fail if it
    is canceled while the result arrives (distributed 2026.8).
    """
    error = await future.exception()
    return error, None if error else await future.result()


def _stalled(progress: dask_scheduler.TaskProgress | None) -> str:
    """Return what the cluster is waiting for."""
    if progress is None:
        return "its scheduler does not answer"
    if not progress.n_workers:
        return "no worker is connected"
    waiting = sum(progress.states.get(state, 0) for state in ("waiting", "queued", "no-worker"))
    return f"{waiting} tasks wait for a worker that can run them, of {progress.n_workers} connected"


def _light(grid: Grid, i: int) -> Grid:
    """Return the grid with only what part `i` needs, because it is sent to a worker."""
    source: Any = grid.table.source
    start, stop = i * grid.part_rows, min((i + 1) * grid.part_rows, source.n_rows)
    needed = source.only(start, stop) if hasattr(source, "only") else source  # a dask graph can be large
    return replace(grid, table=replace(grid.table, weights=None, source=needed))


def _weights(grid: Grid, i: int) -> Any:
    weights = grid.table.weights
    return None if weights is None else weights[i * grid.part_rows : (i + 1) * grid.part_rows]


def _one_span() -> dict[str, Any]:
    """Return the annotations of a new span; without them dask would create and store one every few passes."""
    import dask
    from distributed import span

    with span(dask_scheduler.SPAN):
        return dict(dask.get_annotations())  # type: ignore[attr-defined]
