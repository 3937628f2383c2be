"""The executor of this process, with one thread or several, which give the same bits; and the protocol of executors.

An executor has five methods. Three process a grid of blocks: `reduce` applies a function to each block and adds the
results over the fixed tree (`tree_sum.py`), which is a pass; `map_rows` yields the result for each block in order;
`stream` yields a `reduce` for each group of consecutive blocks. `row_memory` makes the memory of rows for a pass, and
`run` calls a function for tasks without rows.

In `Local.reduce` each thread takes the next group of blocks from one list: a single block if the table is in memory,
otherwise a part, which the thread loads. It adds the group to a new `TreeSum`, and then to the one of all threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from hiddenbits.data import Block, Grid
from hiddenbits.data.declared import Additive
from hiddenbits.data.kernels import by_size
from hiddenbits.engine.row_memory import LocalRowMemory, RowMemory
from hiddenbits.engine.tree_sum import TreeSum


class _BlasLimit:
    """The limit on BLAS threads in this process: the first user sets it, the last one removes it."""

    def __init__(self) -> None:
        self._lock, self._users, self._used_at_fork = Lock(), 0, False
        self._controller: Any = None
        self._limit: Any = None

    def after_fork(self) -> None:
        """Record, in a forked process, whether the limit was in use during the fork."""
        self._lock, self._users, self._used_at_fork = Lock(), 0, self._used_at_fork or self._users > 0

    def call_at_rest(self, function: Callable[[], T]) -> T | None:
        """Return function(), which may fork, while no thread is inside; None if one is: see `__enter__`."""
        with self._lock:
            return function() if self._users == 0 else None

    def __enter__(self) -> None:
        if self._used_at_fork:
            # A lock that another thread held during the fork stays locked in this process, which lacks that thread:
            # for example that of functools.cached_property before Python 3.12, or numba's while it compiles.
            raise RuntimeError(
                "This process was forked while another thread was fitting, so it could wait forever for locks of "
                'that thread. Start processes with multiprocessing.get_context("spawn"), or before the fit begins.'
            )
        with self._lock:
            if self._users == 0:
                if self._controller is None:
                    self._controller = ThreadpoolController()  # scanning the loaded libraries takes milliseconds
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_blas = _BlasLimit()
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_blas.after_fork)


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread: the order of its additions, and so the last bits, depend on the number of threads."""
    return _blas


def call_at_rest(function: Callable[[], T]) -> T | None:
    """Return function(), which may fork this process; None if a thread is inside `one_blas_thread`, as fits are."""
    return _blas.call_at_rest(function)


class Local:
    """The executor of this process: serial with one job, otherwise threads (NumPy releases the interpreter lock).

    Parameters
    ----------
    n_jobs : int
        Number of threads.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs, "hiddenbits") if n_jobs > 1 else None

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks.

        The calling thread and the threads of the pool take groups of blocks from one list and add to one tree: the
        order in which groups are done does not change the result, and few sums wait for their siblings.
        """
        function, n_blocks = by_size(function), grid.n_blocks
        if n_blocks == 1:
            with one_blas_thread():
                return function(next(iter(_blocks(grid))))
        total: TreeSum[S] = TreeSum(n_blocks)
        if self._pool is None:
            with one_blas_thread():
                for block in _blocks(grid):
                    total.add((0, block.number), function(block))
            return total.result()
        groups, groups_lock, total_lock = _groups(grid), Lock(), Lock()

        def process_groups() -> None:
            while True:
                with groups_lock:
                    load_group = next(groups, None)
                if load_group is None:
                    return
                group_sum: TreeSum[S] = TreeSum(n_blocks)
                try:
                    for block in load_group():
                        group_sum.add((0, block.number), function(block))
                except BaseException:
                    with groups_lock:
                        groups.close()  # the other threads stop after their current group
                    raise
                with total_lock:
                    total.add_all(group_sum.nodes())

        n_groups = n_blocks if grid.table.source.resident else grid.n_parts
        with one_blas_thread():
            futures = [self._pool.submit(process_groups) for _ in range(min(self.n_jobs, n_groups) - 1)]
            try:
                process_groups()
            finally:
                wait(futures)
        for future in futures:
            future.result()
        return total.result()

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order."""
        function = by_size(function)
        for results in self._in_order(lambda load_group: [function(block) for block in load_group()], _groups(grid)):
            yield from results

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group."""
        loaded: list[Block] = []
        lengths = deque(np.diff(ends, prepend=0))
        for blocks in self._in_order(lambda load_group: load_group(), _groups(grid)):
            loaded.extend(blocks)
            while lengths and len(loaded) >= lengths[0]:
                length = lengths.popleft()
                yield self._group_reduce(loaded[:length])
                loaded = loaded[length:]

    def row_memory(self, last: RowMemory | None) -> RowMemory:
        """Return the memory for one more pass."""
        return LocalRowMemory(None if last is None else last.local_values())

    def run(self, function: Callable[[U], T], tasks: Iterable[U]) -> Iterable[T]:
        """Return function(task) for each task, in order: work without rows, such as Markov chains."""
        tasks = list(tasks)
        return map(function, tasks) if self._pool is None or len(tasks) == 1 else self._pool.map(function, tasks)

    def _group_reduce(self, blocks: list[Block]) -> Callable[[Callable[[Block], S]], S]:
        def reduce(function: Callable[[Block], S]) -> S:
            total: TreeSum[S] = TreeSum(len(blocks))
            first, function = blocks[0].number, by_size(function)
            # The blocks of a group are processed on the pool, which also loads the parts of later groups.
            for block, value in zip(blocks, self.run(function, blocks), strict=True):
                total.add((0, block.number - first), value)
            return total.result()

        return reduce

    def _in_order(
        self, function: Callable[[Callable[[], list[Block]]], T], groups: Iterator[Callable[[], list[Block]]]
    ) -> Iterator[T]:
        """Yield function(group) in order; at most `n_jobs` groups are processed at a time, which bounds memory."""
        if self._pool is None:
            for group in groups:
                yield function(group)
            return
        pending: deque[Future[T]] = deque()
        try:
            for group in groups:
                pending.append(self._pool.submit(function, group))
                if len(pending) >= self.n_jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _blocks(grid: Grid) -> Iterable[Block]:
    """Return all blocks; those on disk are loaded a part at a time."""
    if grid.table.source.resident:
        return grid.blocks
    return (block for i in range(grid.n_parts) for block in grid.load(i).blocks())


def _groups(grid: Grid) -> Generator[Callable[[], list[Block]], None, None]:
    """Yield functions that load consecutive blocks: one block if the table is in memory, a part if it is on disk."""
    if grid.table.source.resident:
        for block in grid.blocks:
            yield partial(list, (block,))
        return
    for i in range(grid.n_parts):
        yield partial(_loaded, grid, i)


def _loaded(grid: Grid, i: int) -> list[Block]:
    return list(grid.load(i).blocks())


# The protocol of all executors.

S = TypeVar("S", bound=Additive)
T = TypeVar("T")
U = TypeVar("U")


class Executor(Protocol):
    """Processes the blocks of a grid. Callers iterate over the two generators within `one_blas_thread`."""

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks."""
        ...

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order."""
        ...

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield a `reduce` for each group of consecutive blocks; group i ends before block `ends[i]`."""
        ...

    def row_memory(self, last: RowMemory | None) -> RowMemory:
        """Return the memory for one more pass; `last` is the memory of the last accepted pass."""
        ...

    def run(self, function: Callable[[U], T], tasks: Iterable[U]) -> Iterable[T]:
        """Return function(task) for each task, in order, on this machine: work without rows, such as Markov chains."""
        ...
