"""Who walks the blocks: one thread, or several. The results are the same bits.

An executor answers three verbs over a grid: `reduce` adds what a function makes of each block over the fixed tree,
`map_rows` hands back what it makes of each block in order, `stream` walks groups of blocks one after the other.
Threads share blocks that are in memory; where parts must be loaded, each thread loads and walks parts of its own.
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
    """The one limit on BLAS threads in this process: the first user sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock, self._users, self._torn = Lock(), 0, False
        self._controller: Any = None
        self._limit: Any = None

    def after_fork(self) -> None:
        """Remember, in a new process, whether it is the copy of one that was at work."""
        self._lock, self._users, self._torn = Lock(), 0, self._torn or self._users > 0

    def __enter__(self) -> None:
        if self._torn:
            # A lock that another thread held at that moment stays held in the copy, where that thread does not exist:
            # those of functools.cached_property before Python 3.12, or numba's while it compiles.
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
    """Limit BLAS to one thread: the order of its additions, and so the bits, would depend on their number."""
    return _blas


class Local:
    """One machine: serial with one job, otherwise threads (NumPy lets go of the interpreter while it computes).

    Parameters
    ----------
    n_jobs : int
        Number of threads.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs, "hiddenbits") if n_jobs > 1 else None

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks.

        The calling thread and the others take groups of blocks from one list, and add to one tree: the order of
        arrival does not matter to the bits, and few sums wait for their siblings.
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
        groups, taking, adding = _groups(grid), Lock(), Lock()

        def walk() -> None:
            while True:
                with taking:
                    group = next(groups, None)
                if group is None:
                    return
                part: TreeSum[S] = TreeSum(n_blocks)
                try:
                    for block in group():
                        part.add((0, block.number), function(block))
                except BaseException:
                    with taking:
                        groups.close()  # the others stop after the group they are at
                    raise
                with adding:
                    total.add_all(part.nodes())

        n_groups = n_blocks if grid.table.source.resident else grid.n_parts
        with one_blas_thread():
            others = [self._pool.submit(walk) for _ in range(min(self.n_jobs, n_groups) - 1)]
            try:
                walk()
            finally:
                wait(others)
        for other in others:
            other.result()
        return total.result()

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order."""
        function = by_size(function)
        for results in self._ahead(lambda group: [function(block) for block in group()], _groups(grid)):
            yield from results

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group."""
        waiting: list[Block] = []
        lengths = deque(np.diff(ends, prepend=0))
        for blocks in self._ahead(lambda group: group(), _groups(grid)):
            waiting.extend(blocks)
            while lengths and len(waiting) >= lengths[0]:
                length = lengths.popleft()
                yield self._group_reduce(waiting[:length])
                waiting = waiting[length:]

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
            # The pool also loads parts ahead; a single group is walked here, its blocks on the pool.
            for block, value in zip(blocks, self.run(function, blocks), strict=True):
                total.add((0, block.number - first), value)
            return total.result()

        return reduce

    def _ahead(
        self, walk: Callable[[Callable[[], list[Block]]], T], groups: Iterator[Callable[[], list[Block]]]
    ) -> Iterator[T]:
        """Yield walk(group) in order, with at most `n_jobs` groups under way: memory stays flat."""
        if self._pool is None:
            for group in groups:
                yield walk(group)
            return
        under_way: deque[Future[T]] = deque()
        try:
            for group in groups:
                under_way.append(self._pool.submit(walk, group))
                if len(under_way) >= self.n_jobs:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def _blocks(grid: Grid) -> Iterable[Block]:
    """Return all blocks, or load them a part at a time."""
    if grid.table.source.resident:
        return grid.blocks
    return (block for i in range(grid.n_parts) for block in grid.load(i).blocks())


def _groups(grid: Grid) -> Generator[Callable[[], list[Block]], None, None]:
    """Yield loaders of consecutive blocks: one at a time in memory, a part at a time from disk."""
    if grid.table.source.resident:
        for block in grid.blocks:
            yield partial(list, (block,))
        return
    for i in range(grid.n_parts):
        yield partial(_loaded, grid, i)


def _loaded(grid: Grid, i: int) -> list[Block]:
    return list(grid.load(i).blocks())


# What an executor is: the three verbs over a grid of blocks, whoever walks it.

S = TypeVar("S", bound=Additive)
T = TypeVar("T")
U = TypeVar("U")


class Executor(Protocol):
    """The three verbs. Whoever walks the two generators does so within `one_blas_thread`."""

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks."""
        ...

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order."""
        ...

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group; `ends` has the block after each."""
        ...

    def row_memory(self, last: RowMemory | None) -> RowMemory:
        """Return the memory for one more pass; `last` is that of the last accepted one."""
        ...

    def run(self, function: Callable[[U], T], tasks: Iterable[U]) -> Iterable[T]:
        """Return function(task) for each task, in order, on this machine: work without rows, such as Markov chains."""
        ...
