"""An executor that tells of the rows it walks: what a progress bar counts. The results are those of the executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from threading import local

from hiddenbits.data import Block, Grid
from hiddenbits.engine.executors.local import Executor, Local, S, T, U
from hiddenbits.engine.row_memory import RowMemory

OnRows = Callable[[int], None]
"""Called with a number of rows that were walked, from any thread."""


class ProgressExecutor:
    """Walks as another executor does, and tells of it: after each block on this machine, after each pass on a cluster.

    Parameters
    ----------
    executor : Executor
        Who walks.
    tell : callable
        Called with the number of rows.
    """

    def __init__(self, executor: Executor, tell: OnRows) -> None:
        self.executor, self._tell = executor, tell
        self._here = local()  # whether this thread is inside a walk: rows that a verb walks there are not new ones

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks."""
        if isinstance(self.executor, Local):
            return self.executor.reduce(partial(self._counted, function), grid)
        total = self.executor.reduce(function, grid)
        self._walked(grid.table.shape[0])
        return total

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order."""
        results = iter(self.executor.map_rows(function, grid))
        for start in range(0, grid.table.shape[0], grid.height):
            outermost, self._here.inside = not self._inside, True
            try:
                result = next(results)
            finally:
                self._here.inside = not outermost
            self._walked(min(grid.height, grid.table.shape[0] - start))
            yield result

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group."""
        walked = 0
        for reduce, end in zip(self.executor.stream(grid, ends), ends, strict=True):
            rows = min(end * grid.height, grid.table.shape[0]) - walked
            walked += rows
            yield partial(self._group, reduce, rows)

    def row_memory(self, last: RowMemory | None) -> RowMemory:
        """Return the memory for one more pass."""
        return self.executor.row_memory(last)

    def run(self, function: Callable[[U], T], tasks: Iterable[U]) -> Iterable[T]:
        """Return function(task) for each task, in order."""
        return self.executor.run(function, tasks)

    @property
    def _inside(self) -> bool:
        return getattr(self._here, "inside", False)

    def _walked(self, rows: int) -> None:
        if not self._inside:
            self._tell(rows)

    def _counted(self, function: Callable[[Block], S], block: Block) -> S:
        value = function(block)
        self._walked(block.n_rows)
        return value

    def _group(self, reduce: Callable[[Callable[[Block], S]], S], rows: int, function: Callable[[Block], S]) -> S:
        total = reduce(function)
        self._walked(rows)
        return total


def without_progress(executor: Executor) -> Executor:
    """Return who walks, without telling: for walks over something else than the rows of the table."""
    return executor.executor if isinstance(executor, ProgressExecutor) else executor
