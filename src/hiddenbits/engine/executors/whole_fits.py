"""Many fits at once: each is one task, in a process of its own or on a worker of the cluster, with a serial executor.

A pass over a small table has too little work for several threads: after every product a thread waits for Python's
lock. So independent fits run in processes, as many as there are threads. On Linux a process is forked: it starts in
milliseconds, and the table, as part of the function, is in its memory without a copy. Elsewhere joblib's loky starts
it, as for scikit-learn: that takes seconds, and the function is sent to each process once.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from hiddenbits.data import Table
from hiddenbits.engine.executors.dask_cluster import Cluster
from hiddenbits.engine.executors.local import Executor, Local, T, U, call_at_rest
from hiddenbits.engine.executors.progress import ProgressExecutor, without_progress

LOG = logging.getLogger(__name__)
# The cells of all tables of the tasks, at most. Every process may hold them as floats (512 MB), every worker has a
# copy; and in a longer table blocks are many and tall, so that each fit keeps all threads busy.
MOST_CELLS = 1 << 26
CAN_FORK = sys.platform == "linux"  # macOS can fork too, but its own BLAS fails in forked processes
START_SECONDS = 0.1 if CAN_FORK else 4.0  # processes pay only if the tasks take clearly longer than to start them


def at_once(executor: Executor, n_tasks: int, tables: Iterable[Table]) -> bool:
    """Return whether fits to these tables run at once, each as a task with a serial executor."""
    executor = without_progress(executor)
    if isinstance(executor, Local) and (executor.n_jobs == 1 or multiprocessing.current_process().daemon):
        return False  # a daemon may have no processes of its own
    cells, all_resident = 0, True
    for table in tables:
        cells += table.shape[0] * table.row_size
        all_resident = all_resident and table.source.resident
    return n_tasks > 1 and all_resident and cells <= MOST_CELLS


def map_tasks(executor: Executor, function: Callable[[Executor, U], T], tasks: Sequence[U]) -> Iterator[T]:
    """Yield function(executor, task) for each task, in order, in processes or on workers; each has its own executor.

    The warnings of a task are issued here, and its rows are reported here, when its result arrives. The first error,
    by the order of the tasks, ends all.
    """
    report = executor.on_rows if isinstance(executor, ProgressExecutor) else None
    plain, call = without_progress(executor), partial(_fit_alone, function, report is not None)
    if isinstance(plain, Cluster):
        answers = plain.map_tasks(call, tasks)
    else:
        answers = _in_processes(call, tasks, plain.n_jobs if isinstance(plain, Local) else 1)
    for answer in answers:
        for message, category, filename, line in answer.warnings:
            warnings.warn_explicit(message, category, filename, line)
        if report is not None:
            report(answer.rows)
        yield answer.result


class _Answer(NamedTuple):
    """The result of a task, the rows that it processed, if they are counted, and its warnings."""

    result: Any
    rows: int
    warnings: list[tuple[Any, ...]]


def _fit_alone(function: Callable[[Executor, U], T], counts_rows: bool, task: U) -> _Answer:
    """Return the answer of a task, in the process that runs it."""
    rows: list[int] = []
    executor: Executor = ProgressExecutor(Local(), rows.append) if counts_rows else Local()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(executor, task)
    return _Answer(result, sum(rows), [(each.message, each.category, each.filename, each.lineno) for each in caught])


def _in_processes(call: Callable[[U], _Answer], tasks: Sequence[U], n_jobs: int) -> Iterator[_Answer]:
    """Yield call(task) in order; the first runs here, and its time decides whether processes are worth their start.

    If a process dies, for example because memory ran out, the remaining tasks run here; all do if another thread fits.
    """
    begin = time.monotonic()
    first, rest = call(tasks[0]), tasks[1:]
    seconds = time.monotonic() - begin
    yield first
    started = None
    if len(rest) * seconds > START_SECONDS:
        started = call_at_rest(partial(_started, call, rest, n_jobs))
    n_done = 0
    if started is not None:
        pool, futures = started
        try:
            while futures:
                yield futures.popleft().result()
                n_done += 1
        except BrokenProcessPool:
            LOG.warning("A process ended before its fit did; the remaining fits run one after the other.")
        finally:
            if n_done < len(rest):
                for process in list((getattr(pool, "_processes", None) or {}).values()):
                    process.terminate()  # not to wait for fits that nobody needs
            pool.shutdown()
    yield from map(call, rest[n_done:])


def _started(call: Callable[[Any], _Answer], tasks: Sequence[Any], n_jobs: int) -> tuple[Any, deque[Future[_Answer]]]:
    """Return a pool of processes that hold the function, and the futures of all tasks."""
    n_processes = min(n_jobs, len(tasks))
    if CAN_FORK:
        fork = multiprocessing.get_context("fork")
        pool: Any = ProcessPoolExecutor(n_processes, fork, _hold_function, (call,))
    else:
        from joblib.externals.loky import ProcessPoolExecutor as LokyExecutor

        pool = LokyExecutor(n_processes, initializer=_hold_function, initargs=(call,))
    with warnings.catch_warnings():
        # Python warns of locks that other threads hold during a fork; a fit alone needs none of them.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        return pool, deque(pool.submit(_call_task, task) for task in tasks)


_held: Any = None


def _hold_function(call: Callable[[Any], _Answer]) -> None:
    """Begin a process: keep the function, ignore the keyboard's interrupt, which ends the process that waits for it.

    One thread for OpenMP, too: a forked process does not have the threads of the pool that it believes to have.
    """
    global _held
    _held = call
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)


def _call_task(task: Any) -> _Answer:
    answer: _Answer = _held(task)
    return answer
