"""Everything that one restart needs: table, executor, settings, checkpoints, callbacks and the log."""

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
class _Logged:
    """How far the log is: which restart, and how many stages and online passes of it were logged."""

    restart: int = 0
    stages: int = 0
    online_passes: int = 0

    def moved(self, position: Position) -> None:
        """Log each new stage and online pass, except the stage that a restart begins in."""
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
class _Pace:
    """When the last pass ended, the seconds that it took, and why the fit was asked to stop after it, if it was."""

    ended: float = field(default_factory=_now)
    took: float = 0.0
    stop: StopReason | None = None

    def after_pass(self) -> None:
        """Note that a pass has ended."""
        now = _now()
        self.ended, self.took = now, now - self.ended


@dataclass(frozen=True, eq=False)
class FitContext:
    """Everything one restart needs: table, executor, settings, checkpoints, callbacks and the log."""

    grid: Grid
    executor: Executor
    settings: Settings
    summary: ColumnSums
    checkpoints: CheckpointStore | None = None
    watch: Watch | None = None
    logged: _Logged | None = field(default_factory=_Logged)  # None: nothing is to be logged
    over_all: Passes | None = None  # of a fit to a subsample: the sum of a function over all rows
    begun: float = field(default_factory=_now)
    pace: _Pace = field(default_factory=_Pace)

    def passes(self, function: Callable[[Block], S], /) -> S:
        """Return the sum of a function over the blocks.

        Rows are sampled from the table as it was given: whether equal rows were collapsed must not change the sample.
        """
        grid = self.grid.as_given if isinstance(function, RowSampler) else self.grid
        here = grid is not self.grid and grid.table.source.resident  # a cluster would hold the rows twice
        return (self.local if here else self.executor).reduce(function, grid)

    @property
    def local(self) -> Local:
        """The executor in this process, for rows that are in its memory."""
        executor = without_progress(self.executor)
        return executor if isinstance(executor, Local) else Local()

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.summary.weight)

    def late(self, times: float = 1.0) -> bool:
        """Return whether the time of the fit is over, or would be before the middle of the next pass.

        That is expected to take so many times as long as the last one.
        """
        limit = self.settings.max_time
        return limit is not None and _now() - self.begun + 0.5 * times * self.pace.took >= limit

    def keep(self, position: Position) -> Position:
        """Log and save a position; return it."""
        if self.logged:
            self.logged.moved(position)
        if self.checkpoints:
            self.checkpoints.save(position, self.summary)
        return position

    def after_pass(
        self, position: Position, reason: StopReason | None, *, to_callbacks: bool = True, save: bool = True
    ) -> StopReason | None:
        """Log a pass, call the callbacks if it is for them, and save where it led unless that is the end.

        Return why the loop should stop: its own reason, or that a callback asks for it or the time of the fit is over.
        """
        self.pace.after_pass()
        if self.logged and LOG.isEnabledFor(logging.DEBUG) and position.trace:
            LOG.debug(
                "Restart %d: pass %d, objective %.10g.", position.restart + 1, len(position.trace), position.trace[-1]
            )
        asked = bool(self.watch and to_callbacks and self.watch(position, False))
        self.pace.stop = StopReason.CALLBACK if asked else StopReason.TIME if self.late() else None
        reason = reason or self.pace.stop
        if reason is None and save:
            self.keep(position)
        return reason

    def log_stop(self, words: str, position: Position) -> None:
        """Log why a restart stopped; `position` is the one after its end."""
        if LOG.isEnabledFor(logging.INFO):
            end = position.finished[-1]
            numbers = (position.restart, self.settings.n_init, str(end.reason), end.n_iter, end.objective)
            LOG.info(words + " stopped: %s after %d passes, objective %.10g.", *numbers)


Loop = Callable[[Any, FitContext, Position], tuple[Position, StopReason]]
"""Goes on with a model from a position; returns where it ends, and why."""
RestartLoop = Callable[[FitContext, Position], Position]
"""Runs one restart, or what is left of it; returns the position after its end."""
