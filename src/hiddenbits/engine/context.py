"""Where and how fits run: `run_on` sets an `Engine` as context, so no model or estimator holds a client or a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Table
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.engine.executors.dask_cluster import STALL_TIMEOUT, Cluster
from hiddenbits.engine.executors.local import Executor, Local, one_blas_thread
from hiddenbits.engine.executors.progress import OnRows, ProgressExecutor, without_progress
from hiddenbits.engine.executors.whole_fits import at_once, map_tasks
from hiddenbits.store import check_target


@dataclass(frozen=True)
class Engine:
    """Where and how fits run: the executor, and (or None) the checkpoint, the progress callback and the time limit."""

    executor: Executor
    checkpoint: Path | None = None
    on_progress: OnRows | None = None
    max_time: float | None = None


_engine: ContextVar[Engine | None] = ContextVar("hiddenbits_engine", default=None)


def current() -> Engine:
    """Return the engine of the innermost `run_on`; outside of all, a serial engine."""
    return _engine.get() or Engine(Local())


@contextmanager
def run_on(
    client: Any = None,
    *,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_progress: OnRows | None = None,
    max_time: float | None = None,
    stall_timeout: float | None = STALL_TIMEOUT,
) -> Iterator[Engine]:
    """Run everything inside the ``with`` block on a cluster or several threads, with a checkpoint, or within a time.

    Results are the same bits however they are run, unless time runs out. On a cluster, fits that store something about
    each row (`LogisticPCA`, `NoisyOrNetwork`) agree to the tolerance.

    Parameters
    ----------
    client : distributed.Client, optional
        Run on the workers of this dask cluster. Dask's processes exchange pickles: only use a cluster that you trust.
    n_jobs : int, optional
        Number of threads; -1 means one for each core. By default as outside the block.
    checkpoint : path, optional
        File to which `fit` saves its position after every pass. If the file exists, the fit continues from it: run
        the same program again after a crash. One file serves one fit.
    on_progress : function, optional
        Called with the number of rows just processed, from any thread; a row counts in every pass. On a cluster it is
        called after each pass. Use it for a progress bar of your own.
    max_time : float, optional
        Seconds after which each fit stops, at the end of the nearest pass, with its best parameters so far;
        `stop_reason_` is then "time". A fit to a long table that is still on a subsample of its rows ends there. With
        a limit `CombinationMachine` begins with a quick fit, which is the result if there is no time for a better one.
        By default as outside the block: no limit.
    stall_timeout : float, optional
        Seconds without progress on the cluster (no task finished, none running) after which a `ClusterError` is
        raised, for example because no worker is connected. None waits without a limit.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 5))
    >>> with hiddenbits.run_on(n_jobs=2):
    ...     model = hiddenbits.LatentClassAnalysis(2, random_state=0).fit(X)
    >>> alone = hiddenbits.LatentClassAnalysis(2, random_state=0).fit(X)
    >>> bool(np.all(model.probabilities_ == alone.probabilities_))
    True
    >>> with hiddenbits.run_on(max_time=60):  # a fit that takes longer ends with a ConvergenceWarning
    ...     hiddenbits.LatentClassAnalysis(2, random_state=0).fit(X).stop_reason_
    'converged'
    >>> row_counts = []
    >>> with hiddenbits.run_on(on_progress=row_counts.append):
    ...     _ = model.score(X)
    >>> sum(row_counts)
    200
    """
    outer = current()
    checkpoint_path = outer.checkpoint if checkpoint is None else Path(checkpoint)
    if checkpoint is not None:
        check_target(checkpoint)
    on_progress = outer.on_progress if on_progress is None else on_progress
    limit = outer.max_time if max_time is None else max_time
    if limit is not None and not limit > 0:
        raise ValueError(f"max_time={limit}: give a number of seconds above 0.")
    executor: Executor = without_progress(outer.executor)
    own_executor: Local | Cluster | None = None
    if client is not None:
        if n_jobs is not None:
            raise ValueError("Give a client or n_jobs, not both: a cluster has its own workers.")
        if stall_timeout is not None and not stall_timeout > 0:
            raise ValueError(
                f"stall_timeout={stall_timeout}: give a number of seconds, or None to wait without a limit."
            )
        executor = own_executor = Cluster(client, checkpoint_path, stall_timeout)
    elif n_jobs is not None:
        if n_jobs == 0 or n_jobs < -1:
            raise ValueError(f"n_jobs={n_jobs}: give a number of threads, or -1 for one per core.")
        executor = own_executor = Local(os.cpu_count() or 1 if n_jobs == -1 else n_jobs)
    reporting = executor if on_progress is None else ProgressExecutor(executor, on_progress)
    engine = Engine(reporting, checkpoint_path, on_progress, limit)
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)
        if own_executor is not None:
            own_executor.close()


# A function of pieces of a table, applied where the engine runs.

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive rows of a table, in memory.

    Attributes
    ----------
    table : Table
        The rows, without weights.
    weights : ndarray of shape (rows,)
        Weights of the rows.
    start : int
        Number of the first row in the whole table.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.eye(3))
    >>> [piece.start for piece in hiddenbits.tables.map_pieces(lambda piece: piece, table, 2)]
    [0, 2]
    """

    table: Table
    weights: Floats
    start: int


def map_pieces(function: Callable[[Piece], T], table: Table, max_rows: int) -> Iterator[T]:
    """Yield function(piece) for consecutive pieces of a table, in order, computed where the current engine runs.

    On a cluster the workers load the rows and call the function; only its result is sent back. Methods of an estimator
    that the function calls run on the worker too, on one thread.

    Parameters
    ----------
    function : callable
        Takes a `Piece`; what it returns should be small. On a cluster it is called again if a worker dies.
    table : Table
        From `open_table`.
    max_rows : int
        Rows in a piece; the last one may have fewer.

    Yields
    ------
    result : object
        What the function returned.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.eye(5))
    >>> list(hiddenbits.tables.map_pieces(lambda piece: piece.table.shape[0], table, 2))
    [2, 2, 1]
    """
    if max_rows < 1:
        raise ValueError(f"max_rows={max_rows}: a piece has at least one row.")
    with one_blas_thread():
        apply = partial(_apply, function, table.of_rows, table.names, table.coding_of_levels)
        yield from current().executor.map_rows(apply, table.grid(max_rows))


def _apply(
    function: Callable[[Piece], T],
    of_rows: Callable[..., Table],
    names: tuple[str, ...] | None,
    levels: Coding | None,
    block: Block,
) -> T:
    return function(Piece(of_rows(block.rows, block.observed, names, levels), block.weights, block.start))


# A function that fits models, applied where the engine runs.


def map_fits(function: Callable[[U], T], tasks: Sequence[U], *tables: Table) -> Iterator[T]:
    """Yield function(task) for independent tasks, in order: many fits at once, with the same results to the bit.

    With threads (``run_on(n_jobs=)``) tasks run in as many processes, on a cluster on its workers; each fit is serial
    there. One after the other, each fit on all threads or workers, run tasks on a table on disk or of more than 2^26
    cells, tasks that take less time than starting processes, and those within ``run_on(checkpoint=)``.

    Parameters
    ----------
    function : callable
        Fits models, and returns something small. Its result depends on the task only, such as the number of a
        replicate that is the key of its random numbers. On a cluster it is called again if a worker dies.
    tasks : sequence
        What the function is called with.
    *tables : Table
        The tables in the function.

    Yields
    ------
    result : object
        What the function returned.

    Examples
    --------
    >>> import numpy as np, hiddenbits
    >>> table = hiddenbits.open_table(np.random.default_rng(0).integers(0, 2, (300, 5)))
    >>> def score(K):
    ...     return round(hiddenbits.LatentClassAnalysis(K, n_init=2, random_state=0).fit(table).score(table), 3)
    >>> with hiddenbits.run_on(n_jobs=2):
    ...     list(hiddenbits.tables.map_fits(score, [1, 2], table))
    [-3.457, -3.451]
    """
    engine = current()
    if engine.checkpoint is None and at_once(engine.executor, len(tasks), tables):
        yield from map_tasks(engine.executor, partial(_within, engine.max_time, function), tasks)
    else:
        yield from map(function, tasks)


def _within(max_time: float | None, function: Callable[[U], T], executor: Executor, task: U) -> T:
    """Return function(task) with an engine of this executor."""
    on_progress = executor.on_rows if isinstance(executor, ProgressExecutor) else None
    token = _engine.set(Engine(executor, None, on_progress, max_time))
    try:
        return function(task)
    finally:
        _engine.reset(token)
