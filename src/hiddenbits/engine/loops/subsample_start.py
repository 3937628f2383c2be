"""The start on a subsample: most of the way to the fit of a large table can be gone on some of its rows.

Rows that are drawn count for the whole table (their weights add up to its own), so that objective, prior and tolerance
mean the same. A restart runs on them to its end, stages and all, and the restart over all rows begins where it ended.
On few rows other starts can be tried too; the best continues. Which restart is best, and what is reported, is decided
on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from hiddenbits.data.row_sampling import SomeRows, rate_for, some_rows
from hiddenbits.engine.executors.local import Local
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.engine.loops.fit_context import FitContext, RestartLoop
from hiddenbits.engine.outcome import Growth
from hiddenbits.engine.state import CheckpointStore, Position
from hiddenbits.model_api import Key

MIN_RATIO = 4  # subsample only if the table has at least 4 times as many rows
MIN_MINORITY = 20  # ones, and zeros, of each column in the subsample: a column without any has no finite fit
MOST_CELLS = 1 << 26  # cells of the subsample: it is held in this process, a byte each


@dataclass(frozen=True, eq=False)
class SubsampleStart:
    """The ways to begin a restart on the subsample, and the fit that they are for."""

    ways: Sequence[RestartLoop]
    context: FitContext

    @cached_property
    def n_rows(self) -> int:
        """Rows of the subsample; 0 where restarts begin with all rows, because none were asked for or it cannot pay."""
        wanted, summary = self.context.settings.start_rows, self.context.summary
        if wanted is None or not self.context.grid.table.only_bits:
            return 0
        n, d = self.context.grid.table.shape
        ones, zeros = summary.ones, summary.observed - summary.ones
        rarest = min((float(counts[counts > 0].min()) for counts in (ones, zeros) if counts.any()), default=np.inf)
        rows = max(wanted, int(MIN_MINORITY * self.context.weight / rarest))
        return rows if MIN_RATIO * rows <= n and rows * d <= MOST_CELLS else 0

    @cached_property
    def _on_subsample(self) -> FitContext:
        """The same fit on the subsample, in memory, without callbacks."""
        context = self.context
        grid, table = context.grid, context.grid.table
        seed = int(Key(context.settings.seed).stream("subsample").rng().integers(2**62))
        drawn: SomeRows = context.passes(partial(some_rows, seed, rate_for(self.n_rows, table.weights, table.shape[0])))
        here = without_progress(context.executor)
        executor = here if isinstance(here, Local) else Local()
        few = drawn.table(context.weight).grid(grid.height)
        return FitContext(few, executor, context.settings, context.summary, begun=context.begun)

    def start_restart(self, position: Position) -> Position:
        """Return the beginning of a restart over all rows: where the best of the starts on the subsample ended.

        The marks by which the subsample chose a size are dropped: its rows are weighted up to the whole table, so that
        BIC there favours sizes that are too large.
        """
        ends = []
        for number, way in enumerate(self.ways):
            few = replace(self._on_subsample, checkpoints=self._checkpoints(position.restart, number))
            at = (few.checkpoints.load(few.summary) if few.checkpoints else None) or Position(restart=position.restart)
            ends.append(at if at.finished else way(few, at))
            few.log_stop(f"Restart %d of %d on {few.grid.table.shape[0]} rows, way {number + 1}", ends[-1])
        best = max(ends, key=lambda end: end.finished[-1].objective).best
        later_stage = (0,) if best.stages else ()  # a polish is not preceded by a first stage again
        return replace(position, params=best.params, safe=best.params, stages=later_stage, growth=Growth(done=True))

    def drop_checkpoints(self, restart: int) -> None:
        """Remove the checkpoints of a restart's starts: their result is in the checkpoint of the fit."""
        for number in range(len(self.ways)):
            if checkpoints := self._checkpoints(restart, number):
                checkpoints.drop()

    def _checkpoints(self, restart: int, number: int) -> CheckpointStore | None:
        checkpoints = self.context.checkpoints
        return checkpoints.beside(f"few{restart}-{number}") if checkpoints else None
