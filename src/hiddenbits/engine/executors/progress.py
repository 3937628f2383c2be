"""An executor around another one, which reports the number of rows processed, for progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from threading import local

from hiddenbits.data import Block, Grid
from hiddenbits.engine.executors.local import Executor, Local, S, T, U
from hiddenbits.engine.row_memory import RowMemory

OnRows = Callable[[int], None]
"""Called with the number of rows just processed, from any thread."""


class ProgressExecutor:
    """Reports rows, after each block locally and after each pass on a cluster; another executor does everything else.

    Parameters
    ----------
    executor : Executor
        The executor that processes the rows.
    on_progress : callable
        Called with the number of rows.
    """

    def __init__(self, executor: Executor, on_progress: OnRows) -> None:
        self.executor, self.on_rows = executor, on_progress
        self._thread = local()  # `inside`: this thread is in map_rows, where rows of other methods do not count again

    def reduce(self, function: Callable[[Block], S], grid: Grid) -> S:
        """Return the sum of function(block) over all blocks."""
        if isinstance(self.executor, Local):
            return self.executor.reduce(partial(self._call_and_report, function), grid)
        total = self.executor.reduce(function, grid)
        self._report(grid.table.shape[0])
        return total

    def map_rows(self, function: Callable[[Block], T], grid: Grid) -> Iterator[T]:
        """Yield function(block) for all blocks, in order."""
        results = iter(self.executor.map_rows(function, grid))
        for start in range(0, grid.table.shape[0], grid.height):
            outermost, self._thread.inside = not self._in_map_rows, True
            try:
                result = next(results)
            finally:
                self._thread.inside = not outermost
            self._report(min(grid.height, grid.table.shape[0] - start))
            yield result

    def stream(self, grid: Grid, ends: Sequence[int]) -> Iterator[Callable[[Callable[[Block], S]], S]]:
        """Yield, for each group of consecutive blocks, a `reduce` over that group."""
        first_row = 0
        for reduce, end in zip(self.executor.stream(grid, ends), ends, strict=True):
            rows = min(end * grid.height, grid.table.shape[0]) - first_row
            first_row += rows
            yield partial(self._reduce_and_report, reduce, rows)

    def row_memory(self, last: RowMemory | None) -> RowMemory:
        """Return the memory for one more pass."""
        return self.executor.row_memory(last)

    def run(self, function: Callable[[U], T], tasks: Iterable[U]) -> Iterable[T]:
        """Return function(task) for each task, in order."""
        return self.executor.run(function, tasks)

    @property
    def _in_map_rows(self) -> bool:
        return getattr(self._thread, "inside", False)

    def _report(self, rows: int) -> None:
        if not self._in_map_rows:
            self.on_rows(rows)

    def _call_and_report(self, function: Callable[[Block], S], block: Block) -> S:
        value = function(block)
        self._report(block.n_rows)
        return value

    def _reduce_and_report(
        self, reduce: Callable[[Callable[[Block], S]], S], rows: int, function: Callable[[Block], S]
    ) -> S:
        total = reduce(function)
        self._report(rows)
        return total


def without_progress(executor: Executor) -> Executor:
    """Return the executor that reports no rows: to process something other than the rows of the table."""
    return executor.executor if isinstance(executor, ProgressExecutor) else executor
