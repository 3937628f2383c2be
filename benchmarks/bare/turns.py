"""A pass and its bare arithmetic, side by side: what a job is, and how its ratio is measured."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hiddenbits.data import Block, Grid
from hiddenbits.engine import Key, Local, one_blas_thread

SEED = 0
SHORTEST_TURN = 0.01  # seconds: shorter passes are made several times a turn


@dataclass(frozen=True)
class Job:
    """One pass of a model over one table, and the arithmetic that it cannot do without.

    `ours` is the pass as a fit makes it on one thread: `expect` of every block, added up over the tree. What is made once a pass
    from small arrays (`prepare`, `update`) is in neither. `bare` walks the same blocks with plain NumPy.
    """

    model: str
    size: str
    table: str
    hidden: str
    dtype: str
    storage: str
    ours: partial[Any]
    bare: Callable[[], Any]
    what: str = "pass"

    @property
    def name(self) -> str:
        """A name for files."""
        words = [self.model, self.what, self.size, self.hidden, self.storage, self.dtype]
        return "_".join(words).replace(" ", "_").replace(",", "")


def pass_of(model: Any, params: Any, grid: Grid) -> partial[Any]:
    """Return one pass over the blocks, on one thread; rows keep what they keep from pass to pass."""
    shared, kept, local = model.prepare(params), {}, Local()

    def expect(block: Block) -> Any:
        stats, kept[block.number] = model.expect(
            params, shared, block, kept.get(block.number), Key(SEED).derive(block=block.number)
        )
        return stats

    return partial(local.reduce, expect, grid)


def seconds_of(work: Callable[[], Any], times: int = 1) -> float:
    """Return the processor time of one call, of this process alone."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times


@dataclass(frozen=True)
class Turns:
    """Seconds of a pass and of its bare arithmetic, turn by turn."""

    ours: list[float]
    bare: list[float]

    @property
    def ratios(self) -> list[float]:
        """The ratio of each pair of neighboring turns."""
        return [a / b for a, b in zip(self.ours, self.bare, strict=True)]

    @property
    def ratio(self) -> float:
        """Their median."""
        return statistics.median(self.ratios)

    @property
    def least(self) -> float:
        """The quickest pass beside the quickest bare one: what noise has touched least."""
        return min(self.ours) / min(self.bare)


def side_by_side(job: Job, fewest: int, most: int, seconds: float) -> Turns:
    """Let the two take turns, `fewest` to `most` times, and no longer than about so many seconds."""
    turns = Turns([], [])
    with one_blas_thread():
        times = []
        for work in (job.ours, job.bare):
            work()  # compiles, and makes buffers
            times.append(max(1, round(SHORTEST_TURN / max(seconds_of(work), 1e-6))))
        begun = time.process_time()
        while len(turns.ours) < fewest or (len(turns.ours) < most and time.process_time() - begun < seconds):
            turns.ours.append(seconds_of(job.ours, times[0]))
            turns.bare.append(seconds_of(job.bare, times[1]))
    return turns
