"""What an executor is: the three verbs over a grid of blocks, whoever walks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from hiddenbits.data import Block, Grid
from hiddenbits.data.declared import Additive
from hiddenbits.engine.row_memory import RowMemory

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
