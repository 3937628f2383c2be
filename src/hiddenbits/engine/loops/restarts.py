"""Restarts, one after the other: what all loops have in common, and the start on few rows.

Where a table is large, most of the way to its fit can be gone on some of its rows. Drawn rows count for the whole table
(their weights add up to its own), so that objective, prior and tolerance mean the same; a restart goes its whole way on
them, stages and all, and what it ends with is where the restart over all rows begins. That is then near its end. Rows
are few enough there to try other starts too, and go on with the best. Which restart is best, and what is reported, is a
matter of all rows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.row_sampling import SomeRows, rate_for, some_rows
from hiddenbits.data.summary import Summary, summarise
from hiddenbits.engine.executors.base import Executor
from hiddenbits.engine.executors.local import Local, one_blas_thread
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.engine.no_zeros import warn_of_no_zeros
from hiddenbits.engine.outcome import Growth, Outcome
from hiddenbits.engine.state import CheckpointStore, Position, Settings, Watch
from hiddenbits.model_api import Key, Passes

MIN_RATIO = 4  # subsample only if the table has at least 4 times as many rows
MIN_MINORITY = 20  # ones, and zeros, of each column in the subsample: a column without any has no finite fit
BEST = ("best", "best_params", "best_trace", "best_stages", "best_marks")  # what a Position says of earlier restarts
LOG = logging.getLogger(__name__)  # restarts, stages and stops are INFO, passes DEBUG: here, for all loops
MOST_CELLS = 1 << 26  # cells of the rows that are drawn: they are held here, a byte each


@dataclass
class _Logged:
    """How far the log is: which restart, and how many stages and online passes of it were logged."""

    restart: int = 0
    stages: int = 0
    online_passes: int = 0

    def moved(self, position: Position) -> None:
        """Log a stage or an online pass that is new; the first stage, and one that begins with a restart, are not."""
        stages, online = len(position.stages), position.online_passes
        if position.restart == self.restart and position.trace and stages > self.stages:
            LOG.info(
                "Restart %d: stage %d begins after %d passes; objective %.10g.",
                *(position.restart + 1, stages + 1, position.stages[-1], position.trace[position.stages[-1] - 1]),
            )
        if position.restart == self.restart and online > self.online_passes:
            LOG.debug("Restart %d: online pass %d.", position.restart + 1, online)
        self.restart, self.stages, self.online_passes = position.restart, stages, online


@dataclass(frozen=True, eq=False)
class FitContext:
    """What a restart goes through: the table, who walks it, how, and who keeps and watches."""

    grid: Grid
    executor: Executor
    settings: Settings
    summary: Summary
    checkpoints: CheckpointStore | None = None
    watch: Watch | None = None
    logged: _Logged | None = field(default_factory=_Logged)  # None: nothing is to be logged

    @property
    def passes(self) -> Passes:
        """The sum of a function over the blocks."""
        return partial(self.executor.reduce, grid=self.grid)

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.summary.weight)

    @property
    def most(self) -> int:
        """Number of restarts."""
        return self.settings.n_init + self.settings.n_repairs

    def keep(self, position: Position) -> Position:
        """Return a position after it was kept."""
        if self.logged:
            self.logged.moved(position)
        if self.checkpoints:
            self.checkpoints.save(position, self.summary)
        return position

    def notify(self, position: Position, *, last: bool, to_callbacks: bool = True) -> bool:
        """Log a pass and tell who watches, unless it is not for them; return whether the restart is asked to stop."""
        if self.logged and LOG.isEnabledFor(logging.DEBUG) and position.trace:
            LOG.debug(
                "Restart %d: pass %d, objective %.10g.", position.restart + 1, len(position.trace), position.trace[-1]
            )
        return self.watch(position, last) if self.watch and to_callbacks else False

    @property
    def few(self) -> int:
        """How many rows restarts are to begin on; 0 where they are to begin with all, or it is not worth its while."""
        if self.settings.start_rows is None or not self.grid.table.only_bits:
            return 0
        n, d = self.grid.table.shape
        ones, zeros = self.summary.ones, self.summary.observed - self.summary.ones
        rarest = min((float(counts[counts > 0].min()) for counts in (ones, zeros) if counts.any()), default=np.inf)
        rows = max(self.settings.start_rows, int(MIN_MINORITY * self.weight / rarest))
        return rows if MIN_RATIO * rows <= n and rows * d <= MOST_CELLS else 0

    @cached_property
    def on_subsample(self) -> FitContext:
        """The same on few rows, in memory; nobody watches it."""
        seed = int(Key(self.settings.seed, 0, 2**35).rng().integers(2**62))
        rate = rate_for(self.few, self.grid.table.weights, self.grid.table.shape[0])
        drawn: SomeRows = self.passes(partial(some_rows, seed, rate))
        here, grid = without_progress(self.executor), drawn.table(self.weight).grid(self.grid.height)
        return FitContext(grid, here if isinstance(here, Local) else Local(), self.settings, self.summary)

    def start_on_subsample(self, restart: int, number: int) -> FitContext:
        """Return the context of one start on the subsample, with a checkpoint of its own."""
        return replace(self.on_subsample, checkpoints=self._subsample_checkpoints(restart, number))

    def drop_subsample_checkpoints(self, restart: int, n_ways: int) -> None:
        """Remove the checkpoints of starts on the subsample: their result is in the checkpoint of the fit."""
        for number in range(n_ways):
            if checkpoints := self._subsample_checkpoints(restart, number):
                checkpoints.drop()

    def _subsample_checkpoints(self, restart: int, number: int) -> CheckpointStore | None:
        return self.checkpoints.beside(f"few{restart}-{number}") if self.checkpoints else None


RestartLoop = Callable[[FitContext, Position], Position]
"""Runs one restart, or what is left of it; returns the position after its end."""


def all_restarts(
    one: RestartLoop,
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
    alternative_starts: Sequence[RestartLoop] = (),
) -> Outcome:
    """Run all restarts, or those that are left; return the best. `alternative_starts` are tried on the subsample."""
    with one_blas_thread():
        context = FitContext(grid, executor, settings, executor.reduce(summarise, grid), checkpoints, watch)
        if grid is not None:  # federated fits have sums alone
            warn_of_no_zeros(grid.table, context.summary)
        kept, most = checkpoints.load(context.summary) if checkpoints else None, context.most
        position = kept or Position()
        if kept is not None and kept.params is not None and grid is not None:  # no table: a round of a federated fit
            LOG.info("Continuing from the checkpoint: restart %d, pass %d.", kept.restart + 1, len(kept.trace))
            if context.logged:
                context.logged.moved(kept)
        while position.restart < most:
            if position.params is None:
                LOG.info("Restart %d of %d begins.", position.restart + 1, most)
            if context.few and position.restart < settings.n_init:
                if position.params is None:
                    position = context.keep(_begin_on_subsample((one, *alternative_starts), context, position))
                context.drop_subsample_checkpoints(position.restart, 1 + len(alternative_starts))
            elif settings.n_short > 1 and position.params is None and position.restart < settings.n_init:
                position = context.keep(_best_short_run(one, context, position))
            position = one(context, position)
            _log_stop("Restart %d of %d", position, most)
    return Outcome(
        position.best_params,
        np.array(position.best_trace),
        position.best_stages,
        position.best,
        position.finished,
        position.best_marks,
    )


def _log_stop(words: str, position: Position, most: int) -> None:
    """Log why a restart stopped; `position` is the one after its end."""
    if LOG.isEnabledFor(logging.INFO):
        end = position.finished[-1]
        numbers = (position.restart, most, str(end.reason), end.n_iter, end.objective)
        LOG.info(words + " stopped: %s after %d passes, objective %.10g.", *numbers)


def _best_short_run(one: RestartLoop, context: FitContext, position: Position) -> Position:
    """Return the beginning of a restart: of some short runs the one that came furthest, where it stands.

    They are for small tables: nobody keeps them, and a fit that was broken off meanwhile makes them again.
    """
    settings = context.settings
    # More restarts than there will be, so that none of the runs is taken for a repair.
    beyond = replace(settings, n_init=settings.n_init * settings.n_short)

    def run(restart: int) -> Position:
        at = Position(restart=restart)

        def far_enough(there: Position, _: bool) -> bool:
            nonlocal at
            at = there
            return len(there.trace) >= settings.short_passes

        one(replace(context, settings=beyond, checkpoints=None, watch=far_enough, logged=None), at)
        return at

    # In steps of n_init: models begin restarts in turn in several ways, and those of one restart are to begin alike.
    runs = [run(position.restart + number * settings.n_init) for number in range(settings.n_short)]
    best = max(runs, key=lambda at: at.trace[-1])  # a stage that has just begun has no objective yet
    LOG.info("Restart %d of %d continues with the best of %d starts.", position.restart + 1, context.most, len(runs))
    so_far = {name: getattr(position, name) for name in ("restart", "finished", *BEST)}
    return replace(best, **so_far)


def _begin_on_subsample(ways: Sequence[RestartLoop], context: FitContext, position: Position) -> Position:
    """Return the beginning of a restart over all rows: where the best of some starts on the subsample ended.

    The size that the subsample chose is not handed over: its rows are weighted up to the whole table, so that
    overfitting them would look significant.
    """
    ends = []
    for number, go in enumerate(ways):
        few = context.start_on_subsample(position.restart, number)
        at = (few.checkpoints.load(few.summary) if few.checkpoints else None) or Position(restart=position.restart)
        ends.append(at if at.finished else go(few, at))
        _log_stop(f"Restart %d of %d on {few.grid.table.shape[0]} rows, way {number + 1}", ends[-1], context.most)
    end = max(ends, key=lambda end: end.finished[-1].objective)
    stages, growth = (0,) if end.best_stages else (), Growth(done=True)
    return replace(position, params=end.best_params, safe=end.best_params, stages=stages, growth=growth)
