"""What runs on the workers of a cluster: the functions of the tasks that `dask_cluster.py` submits.

Keys of tasks are used again after some passes. So every result carries the number of its pass, and its receiver checks
the number: a result of another pass would be a silent error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Generic

from hiddenbits.data import Block, Grid, Part
from hiddenbits.data.kernels import by_size
from hiddenbits.engine.environment import environment
from hiddenbits.engine.executors.local import S, T, U, one_blas_thread
from hiddenbits.engine.tree_sum import Node, TreeSum
from hiddenbits.exceptions import ClusterError, TableError
from hiddenbits.quoting import redacted

Sums = list[tuple[Node, S]]


class Parcel(Generic[T]):
    """A value that is sent in one pickled piece, with the number of its pass and the environments it was computed in.

    Dask would send the arrays of a value in separate buffers, and the received arrays may be unaligned in memory. NumPy
    does not use BLAS for unaligned arrays, which is slower and adds in another order. Dask does not look inside a
    parcel, and a worker with another version of hiddenbits refuses to open it.

    Parameters
    ----------
    value : object
        The value.
    number : int
        The pass that it belongs to; -1 for none.
    origins : sequence of dict
        The environments that the value was computed in; by default this one.
    """

    def __init__(self, value: T, number: int = -1, origins: Sequence[dict[str, str]] = ()) -> None:
        self.number, self.origins = number, list(origins) or [environment()]
        self._value, self._packed = value, b""

    def __reduce__(self) -> Any:
        from distributed.protocol import pickle

        packed = self._packed or pickle.dumps(self._value)  # type: ignore[no-untyped-call]
        return _received, (self.number, self.origins, packed)

    def open(self, number: int = -1) -> T:
        """Return the value, if it belongs to this pass and comes from the same version of hiddenbits."""
        if packed := self._packed:
            from distributed.protocol import pickle

            _check_version(self.origins[0]["hiddenbits"])
            self._value = pickle.loads(packed)  # type: ignore[no-untyped-call]
            self._packed = b""
        if number != self.number:
            raise RuntimeError(f"A result of pass {self.number} arrived in pass {number}: please report this as a bug.")
        return self._value


def _received(number: int, origins: list[dict[str, str]], packed: bytes) -> Parcel[Any]:
    parcel: Parcel[Any] = Parcel(None, number, origins)
    parcel._packed = packed
    return parcel


def _check_version(theirs: str) -> None:
    ours = environment()["hiddenbits"]
    if theirs != ours:
        raise ClusterError(
            f"{_process_name()} has hiddenbits {ours}, but the program that sent the task has {theirs}. "
            "Install the same version on all workers."
        )


def _process_name() -> str:
    from distributed import get_worker

    try:
        return f"The worker {get_worker().address}"
    except ValueError:  # not in a task
        return "This process"


class Loader:
    """Loads one part of a table, on any worker."""

    def __init__(self, grid: Grid, i: int, weights: Any) -> None:
        self.grid, self.i, self.weights = grid, i, weights

    def __call__(self) -> Part:
        """Return the part; an error names it and the worker that could not read it."""
        try:
            part = self.grid.load(self.i)
        except TableError as error:
            raise TableError(f"{error} ({_process_name()} reads this part.)") from error
        except Exception as error:
            rows = f"rows {self.i * self.grid.part_rows} and after"
            raise TableError(
                f"{_process_name()} cannot read part {self.i} ({rows}): {type(error).__name__}: {redacted(error)}. "
                "Files must be at the same path on all workers."
            ) from error
        return replace(part, weights=self.weights)


def nothing() -> None:
    """Do nothing: a task that keeps a group of keys alive."""


def itself(parcel: Parcel[T]) -> Parcel[T]:
    """Return the parcel: each worker fetches the result of a task once, and a lost result is computed again."""
    return parcel


def hold(parcel: Parcel[Part | Loader]) -> Part:
    """Return a part that stays on the worker: rows that were sent, or that a loader reads."""
    return _part(parcel)


def reduce_part(
    number: int, sent_function: Parcel[Callable[[Block], S]], part: Part | Parcel[Loader], start: int, stop: int
) -> Parcel[Sums[S]]:
    """Add up the blocks of a part that lie between `start` and `stop`, counted from `start`."""
    function = by_size(sent_function.open(number))
    total: TreeSum[S] = TreeSum(stop - start)
    with one_blas_thread():
        for block in _blocks(part):
            if start <= block.number < stop:
                total.add((0, block.number - start), function(block))
    return Parcel(total.nodes(), number)


def merge(number: int, sums: list[Parcel[Sums[S]]], n_blocks: int) -> Parcel[Sums[S]]:
    """Merge sums by the fixed tree. The parcels are not changed, because they may be needed again."""
    total: TreeSum[S] = TreeSum(n_blocks)
    for parcel in sums:
        total.add_all(deepcopy(parcel.open(number)))
    origins: list[dict[str, str]] = [environment()]
    for parcel in sums:
        origins += [origin for origin in parcel.origins if origin not in origins]
    return Parcel(total.nodes(), number, origins)


def map_part(number: int, sent_function: Parcel[Callable[[Block], T]], part: Part | Parcel[Loader]) -> Parcel[list[T]]:
    """Return function(block) for each block of a part."""
    function = by_size(sent_function.open(number))
    with one_blas_thread():
        return Parcel([function(block) for block in _blocks(part)], number)


def run_task(number: int, sent_function: Parcel[Callable[[U], T]], task: Parcel[U]) -> Parcel[T]:
    """Return function(task): a whole fit."""
    return Parcel(sent_function.open(number)(task.open()), number)


def _blocks(part: Part | Parcel[Loader]) -> Iterator[Block]:
    return (_part(part) if isinstance(part, Parcel) else part).blocks()


def _part(parcel: Parcel[Any]) -> Part:
    content = parcel.open()
    return content() if isinstance(content, Loader) else content
