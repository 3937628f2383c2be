"""What a restart needs besides its position, and what happens between two passes.

A `FitContext` has the blocks of the table (`grid`), the executor that processes them, the settings, the clock of the
fit and, if there are any, the checkpoint file and the callbacks. A stage gets a copy with its tolerance, a fit to a
subsample one with other rows; all share the clock. Loops call mainly three methods:

- `passes(function)`: apply a function to every block of the table, and return the sum.
- `after_pass(position, reason)`: log, call the callbacks, check the time limit, save the checkpoint. It returns why the
  loop stops, or None to go on.
- `save_checkpoint(position)`: save a position that is not the end of a pass, such as a new stage.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hiddenbits.data import Block, Grid
from hiddenbits.data.declared import Additive
from hiddenbits.data.row_sampling import RowSampler
from hiddenbits.data.summary import ColumnSums
from hiddenbits.engine.executors.local import Executor, Local
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.engine.outcome import StopReason
from hiddenbits.engine.state import CheckpointStore, Position, Settings, Watch
from hiddenbits.model_api import Passes

S = TypeVar("S", bound=Additive)
LOG = logging.getLogger("hiddenbits.engine.loops.restarts")  # restarts, stages and stops are INFO, passes DEBUG


def _now() -> float:
    return time.monotonic()


@dataclass
class _ProgressLog:
    """What has been logged so far: the number of the restart, and of its stages and online passes."""

    restart: int = 0
    stages: int = 0
    online_passes: int = 0

    def update(self, position: Position) -> None:
        """Log each new stage and online pass, except the first stage of a restart."""
        stages, online = len(position.stages), position.online.passes
        if position.restart == self.restart and position.trace and stages > self.stages:
            LOG.info(
                "Restart %d: stage %d begins after %d passes; objective %.10g.",
                *(position.restart + 1, stages + 1, position.stages[-1], position.trace[position.stages[-1] - 1]),
            )
        if position.restart == self.restart and online > self.online_passes:
            LOG.debug("Restart %d: online pass %d.", position.restart + 1, online)
        self.restart, self.stages, self.online_passes = position.restart, stages, online


@dataclass
class _Clock:
    """End and duration of the last pass, and why to stop then: a callback ends a restart, the time limit the fit."""

    pass_end: float = field(default_factory=_now)
    pass_seconds: float = 0.0
    stop: StopReason | None = None

    def end_pass(self) -> None:
        """Record that a pass has ended."""
        now = _now()
        self.pass_end, self.pass_seconds = now, now - self.pass_end


@dataclass(frozen=True, eq=False)
class FitContext:
    """Everything that a restart needs besides its position."""

    grid: Grid
    executor: Executor
    settings: Settings
    summary: ColumnSums
    checkpoints: CheckpointStore | None = None
    watch: Watch | None = None
    progress_log: _ProgressLog | None = field(default_factory=_ProgressLog)  # None: no logging
    sum_over_all_rows: Passes | None = None  # for fits to a subsample: `passes` over all rows
    start_time: float = field(default_factory=_now)
    clock: _Clock = field(default_factory=_Clock)

    def passes(self, function: Callable[[Block], S], /) -> S:
        """Return the sum of a function over the blocks.

        Rows are sampled from the table as it was passed in, so that collapsing equal rows does not change the sample.
        """
        grid = self.grid.as_given if isinstance(function, RowSampler) else self.grid
        in_this_process = grid is not self.grid and grid.table.source.resident  # a cluster would hold the rows twice
        return (self.local if in_this_process else self.executor).reduce(function, grid)

    @property
    def local(self) -> Local:
        """The executor in this process, for rows that are in its memory."""
        executor = without_progress(self.executor)
        return executor if isinstance(executor, Local) else Local()

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.summary.weight)

    def out_of_time(self, relative_length: float = 1.0) -> bool:
        """Return whether the time limit is reached now, or before the middle of the next pass.

        `relative_length` is the expected duration of the next pass, relative to the last one.
        """
        limit = self.settings.max_time
        return limit is not None and _now() - self.start_time + 0.5 * relative_length * self.clock.pass_seconds >= limit

    def save_checkpoint(self, position: Position) -> Position:
        """Log and save a position; return it."""
        if self.progress_log:
            self.progress_log.update(position)
        if self.checkpoints:
            self.checkpoints.save(position, self.summary)
        return position

    def after_pass(
        self, position: Position, reason: StopReason | None, *, to_callbacks: bool = True, save: bool = True
    ) -> StopReason | None:
        """Log a pass, call the callbacks unless `to_callbacks` is False, and save the position unless the loop stops.

        Return why the loop stops: `reason`, a callback or the time limit; None to go on.
        """
        self.clock.end_pass()
        if self.progress_log and LOG.isEnabledFor(logging.DEBUG) and position.trace:
            LOG.debug(
                "Restart %d: pass %d, objective %.10g.", position.restart + 1, len(position.trace), position.trace[-1]
            )
        callback_stops = bool(self.watch and to_callbacks and self.watch(position, False))
        self.clock.stop = StopReason.CALLBACK if callback_stops else StopReason.TIME if self.out_of_time() else None
        reason = reason or self.clock.stop
        if reason is None and save:
            self.save_checkpoint(position)
        return reason

    def log_stop(self, name: str, position: Position) -> None:
        """Log why a restart stopped; `name` formats its number and n_init; `position` is after its end."""
        if LOG.isEnabledFor(logging.INFO):
            end = position.finished[-1]
            numbers = (position.restart, self.settings.n_init, str(end.reason), end.n_iter, end.objective)
            LOG.info(name + " stopped: %s after %d passes, objective %.10g.", *numbers)


Loop = Callable[[Any, FitContext, Position], tuple[Position, StopReason]]
"""Fits a model, beginning at a position; returns the position where it ends, and the reason."""
RestartLoop = Callable[[FitContext, Position], Position]
"""Runs one restart, or after a resume the rest of it; returns the position after its end."""
