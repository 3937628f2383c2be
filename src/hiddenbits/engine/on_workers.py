"""What runs on the workers of a cluster: the functions that `cluster.py` puts into its tasks.

Keys of tasks are used again after some passes. So every answer carries the number of its pass, and whoever takes it
checks that number: an answer of another pass would be a wrong result that nobody sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, Generic, TypeVar

from hiddenbits.data import Block, Grid, Part, TableError
from hiddenbits.engine.executors import one_blas_thread
from hiddenbits.engine.tree import Additive, Node, TreeSum
from hiddenbits.quoting import cause, told

S = TypeVar("S", bound=Additive)
T = TypeVar("T")


class Wrapped(Generic[T]):
    """Holds a value in a task's arguments without dask looking inside."""

    def __init__(self, value: T) -> None:
        self.value = value


class Numbered(Generic[T]):
    """A value and the number of the pass that it belongs to.

    It travels in one piece. Dask would send its arrays beside it, and hand them over wherever they happen to lie in
    what was received; NumPy leaves BLAS aside for arrays at odd addresses, which takes longer and adds in another
    order.
    """

    def __init__(self, number: int, value: T) -> None:
        self.number, self._value = number, value

    def __reduce__(self) -> Any:
        from distributed.protocol import pickle

        return _unpacked, (self.number, pickle.dumps(self._value))  # type: ignore[no-untyped-call]

    def of(self, number: int) -> T:
        """Return the value, if it belongs to this pass."""
        if number != self.number:
            raise RuntimeError(f"An answer of pass {self.number} came in pass {number}: please report this as a bug.")
        return self._value


def _unpacked(number: int, packed: bytes) -> Numbered[Any]:
    from distributed.protocol import pickle

    return Numbered(number, pickle.loads(packed))  # type: ignore[no-untyped-call]


class Loader:
    """Loads one part, on whichever worker is asked to."""

    def __init__(self, grid: Grid, i: int, weights: Any) -> None:
        self.grid, self.i, self.weights = grid, i, weights

    def __call__(self) -> Part:
        """Return the part, or say which one could not be read."""
        try:
            part = self.grid.load(self.i)
        except TableError:
            raise
        except Exception as error:
            rows = f"rows {self.i * self.grid.part_rows} and after"
            raise TableError(
                f"Part {self.i} ({rows}) cannot be read: {type(error).__name__}: {told(error)}"
            ) from cause(error)
        return replace(part, weights=self.weights)


def nothing() -> None:
    """Do nothing."""


def itself(wrapped: Wrapped[T]) -> T:
    """Return what was wrapped."""
    return wrapped.value


def load_part(wrapped: Wrapped[Loader]) -> Part:
    """Load a part, to stay on the worker."""
    return wrapped.value()


def walk(
    number: int, shipped: Numbered[Callable[[Block], S]], part: Part | Wrapped[Loader], start: int, stop: int
) -> Numbered[list[tuple[Node, S]]]:
    """Add up the blocks of a part that lie between `start` and `stop`, counted from `start`."""
    function = shipped.of(number)
    total: TreeSum[S] = TreeSum(stop - start)
    with one_blas_thread():
        for block in _blocks(part):
            if start <= block.number < stop:
                total.add((0, block.number - start), function(block))
    return Numbered(number, total.nodes())


def merge(number: int, answers: list[Numbered[list[tuple[Node, S]]]], n_blocks: int) -> Numbered[list[tuple[Node, S]]]:
    """Merge answers by the fixed tree. The answers stay as they are: they may be asked for again."""
    total: TreeSum[S] = TreeSum(n_blocks)
    for answer in answers:
        total.add_all(deepcopy(answer.of(number)))
    return Numbered(number, total.nodes())


def each_block(number: int, shipped: Numbered[Callable[[Block], T]], part: Part | Wrapped[Loader]) -> Numbered[list[T]]:
    """Return what the function makes of each block."""
    function = shipped.of(number)
    with one_blas_thread():
        return Numbered(number, [function(block) for block in _blocks(part)])


def _blocks(part: Part | Wrapped[Loader]) -> Iterator[Block]:
    return (part.value() if isinstance(part, Wrapped) else part).blocks()
