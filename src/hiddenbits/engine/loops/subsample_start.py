"""The start on a subsample: most of the way to the fit of a large table can be gone on some of its rows.

All restarts run on rows that were drawn, to their ends, stages and all; the best of them goes on over all rows, where
it ended. On few rows restarts cost little: where several were asked for there are twice as many. Other ways to begin
can be tried there too. Of a very long table the best of them first goes on over a larger subsample, so that passes over
all rows are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from types import FunctionType
from typing import Any

import numpy as np

from hiddenbits.data import Block
from hiddenbits.data.collapse import collapsed
from hiddenbits.data.row_sampling import RowSampler, SomeRows, rate_for
from hiddenbits.engine.executors.local import Local
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.engine.loops.fit_context import FitContext, RestartLoop
from hiddenbits.engine.outcome import Restart, StopReason
from hiddenbits.engine.state import PLAIN_PASSES_FROM_FIT, CheckpointStore, Extrapolation, Position
from hiddenbits.model_api import Climbs, Key, Model, Passes, StartsOnSubsample

MORE = 2  # restarts on the subsample for each that was asked for, where there are several
LARGER = 8  # the rows of the next subsample, for each row of the one before
MIN_RATIO = 4  # subsample only if the table has at least 4 times as many rows
MIN_MINORITY = 20  # without a prior: ones, and zeros, of each column in the subsample
MOST_CELLS = 1 << 26  # cells of the subsample: it is held in this process, a byte each
TALL_CELLS, TALLEST = 1 << 25, 1 << 16  # cells and rows of a block whose sums are those of all pairs of columns


@dataclass(frozen=True, eq=False)
class SubsampleStart:
    """The ways to begin a restart on the subsample, and the fit that they are for."""

    model: Model[Any, Any]
    ways: Sequence[RestartLoop]
    context: FitContext

    @cached_property
    def n_rows(self) -> int:
        """Rows of the subsample; 0 where restarts begin with all rows, because none were asked for or it cannot pay."""
        wanted, summary = self.context.settings.start_rows, self.context.summary
        if wanted is None or not isinstance(self.model, StartsOnSubsample) or not self.context.grid.table.only_bits:
            return 0
        ones, zeros = summary.ones, summary.observed - summary.ones
        rarest = min((float(counts[counts > 0].min()) for counts in (ones, zeros) if counts.any()), default=np.inf)
        rows = wanted if self.model.has_prior else max(wanted, int(MIN_MINORITY * self.context.weight / rarest))
        return rows if self._worth_it(rows) else 0

    def _worth_it(self, rows: int) -> bool:
        """Return whether the table is long enough for a subsample of so many rows, and that is small enough to hold."""
        n, d = self.context.grid.as_given.table.shape
        return MIN_RATIO * rows <= n and rows * d <= MOST_CELLS

    def _on_subsample(self, rows: int, *, n_init: int) -> FitContext:
        """Return the same fit on a subsample, in memory, without callbacks, for so many restarts."""
        context, settings = self.context, self.context.settings
        table = context.grid.as_given.table
        seed = int(Key(settings.seed).stream("subsample").rng().integers(2**62))
        drawn: SomeRows = context.passes(RowSampler(seed, rate_for(rows, table.weights, table.shape[0])))
        few = drawn.table(float(len(drawn.weights))).grid(context.grid.height)
        if self.model.promises.deterministic:
            few = collapsed(few)
        # Priors stay where all rows put them: the summary has their counts.
        summary = replace(context.summary, weight=np.asarray(float(len(drawn.weights))))
        if n_init == 1 and not isinstance(self.model, Climbs):  # a pass must gain what one over all rows must
            settings = replace(settings, tol=settings.tol * context.weight / float(summary.weight))
        return FitContext(
            few, context.local, settings, summary, over_all=self._over_all(), begun=context.begun, pace=context.pace
        )

    def _over_all(self) -> Passes:
        """Return the sum of a function over all rows; of one without parameters it is made once for all restarts.

        Such are counts of pairs of columns, which are larger than the blocks of a fit: they are made from taller ones.
        """
        executor, grid = self.context.executor, self.context.grid
        if isinstance(without_progress(executor), Local):  # a cluster would hold the rows twice
            height = 1 << min(TALL_CELLS // grid.table.shape[1], TALLEST).bit_length() - 1
            grid = grid.table.grid(max(grid.height, height))
        once = lru_cache(maxsize=1)(partial(executor.reduce, grid=grid))

        def over_all(function: Callable[[Block], Any]) -> Any:
            return (once if isinstance(function, FunctionType) else self.context.passes)(function)

        return over_all

    def best_start(self) -> Position:
        """Return the beginning of the last restart, over all rows: where the best of the starts on the subsample ended.

        The others are on record as finished. Where the time of the fit is over, it ends with that best start.
        """
        n_init = self.context.settings.n_init
        few = self._on_subsample(self.n_rows, n_init=n_init)
        ends: list[Position] = []
        while len(ends) < n_init and not (ends and few.out_of_time()):
            ends.append(self._best_way(few, len(ends)))
        best, scale = max(ends, key=_reached), self.context.weight / few.weight
        others = tuple(_on_record(end, scale, StopReason.BEHIND) for end in ends if end is not best)
        rows = LARGER * self.n_rows
        while self._worth_it(rows) and not few.out_of_time(LARGER):
            few = self._on_subsample(rows, n_init=1)
            best = self.ways[0](few, self._going_on(best))
            few.log_stop(f"Restart %d of %d on {few.grid.as_given.table.shape[0]} rows", best)
            rows *= LARGER
        scale = self.context.weight / few.weight
        if few.out_of_time(scale):
            found = replace(best.best, restart=len(others), trace=tuple(scale * value for value in best.best.trace))
            finished = (*others, _on_record(best, scale, StopReason.TIME))
            return Position(restart=self.context.settings.n_init, finished=finished, best=found)
        return replace(self._going_on(best), finished=others)

    def _going_on(self, end: Position) -> Position:
        """Return the beginning of the last restart on more rows: where one to fewer of them ended."""
        params = self.model.on_all_rows(end.best.params)  # type: ignore[attr-defined]
        return Position(
            restart=self.context.settings.n_init - 1,
            params=params,
            safe=params,
            stage=end.best.stage,
            extrapolation=Extrapolation(PLAIN_PASSES_FROM_FIT),
        )

    def _best_way(self, few: FitContext, restart: int) -> Position:
        """Return the end of a restart on the subsample: of the ways to begin it, that which came furthest."""
        ends: list[Position] = []
        ways = list(enumerate(self.ways))
        for number, way in ways if few.settings.max_time is None else reversed(ways):  # the quick ones first
            if ends and few.out_of_time():
                break
            few = replace(few, checkpoints=self._checkpoints(restart, number))
            at = (few.checkpoints.load(few.summary) if few.checkpoints else None) or Position(restart=restart)
            ends.append(at if at.finished else way(few, at))
            few.log_stop(f"Restart %d of %d on {few.grid.as_given.table.shape[0]} rows, way {number + 1}", ends[-1])
        return max(ends, key=_reached)

    def drop_checkpoints(self) -> None:
        """Remove the checkpoints of the starts: their result is in the checkpoint of the fit."""
        for restart in range(self.context.settings.n_init):
            for number in range(len(self.ways)):
                if checkpoints := self._checkpoints(restart, number):
                    checkpoints.drop()

    def _checkpoints(self, restart: int, number: int) -> CheckpointStore | None:
        checkpoints = self.context.checkpoints
        return checkpoints.beside(f"few{restart}-{number}") if checkpoints else None


def _on_record(end: Position, scale: float, reason: StopReason) -> Restart:
    """Return the record of a restart that does not go on, with its objective on the scale of all rows."""
    ended = end.finished[-1]
    return replace(ended, objective=scale * ended.objective, reason=reason)


def _reached(end: Position) -> float:
    """Return the objective of the restart that has just ended; the least there is where it is not a number."""
    objective = end.finished[-1].objective
    return objective if np.isfinite(objective) else -np.inf
