"""The start on a subsample: most iterations of a fit to a long table need only some of its rows.

All restarts run on a random subsample of the rows, through all their stages. The best restart then continues on all
rows from where it ended; the others are recorded as `StopReason.BEHIND`. Restarts on a subsample cost little: if
several are requested, twice as many are run. A family may have several strategies for a restart, which are all tried on
the subsample. On a very long table the best restart first continues on larger subsamples, so that few passes over all
rows are needed.
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
from hiddenbits.engine.executors.local import Executor, Local, one_blas_thread
from hiddenbits.engine.executors.progress import without_progress
from hiddenbits.engine.loops.fit_context import FitContext, RestartLoop
from hiddenbits.engine.outcome import Restart, StopReason
from hiddenbits.engine.state import PLAIN_PASSES_FROM_FIT, CheckpointStore, Extrapolation, Position
from hiddenbits.model_api import Climbs, Key, Model, Passes, StartsOnSubsample

RESTART_FACTOR = 2  # restarts on the subsample for each requested one, if there are several
GROWTH_FACTOR = 8  # rows of the next subsample for each row of the one before
MIN_RATIO = 4  # subsample only if the table has at least 4 times as many rows
MIN_MINORITY = 20  # without a prior: expected 1s, and 0s, of each column in the subsample, at least
MOST_CELLS = 1 << 26  # cells of the subsample: it is held in this process, a byte each
PAIR_BLOCK_CELLS, PAIR_BLOCK_ROWS = 1 << 25, 1 << 16  # of the blocks in which pairs of columns are counted


@dataclass(frozen=True, eq=False)
class SubsampleStart:
    """The restarts of a fit on subsamples of its rows; each tries all `strategies`, the first being the default.

    `ends` are where the restarts on the first subsample end, if they were run at once.
    """

    model: Model[Any, Any]
    strategies: Sequence[RestartLoop]
    context: FitContext
    ends: tuple[Position, ...] = ()

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of the subsample; 0 if restarts begin on all rows, because that is requested or faster."""
        start_rows, summary = self.context.settings.start_rows, self.context.summary
        if start_rows is None or not isinstance(self.model, StartsOnSubsample) or not self.context.grid.table.only_bits:
            return 0
        ones, zeros = summary.ones, summary.observed - summary.ones
        rarest = min((float(counts[counts > 0].min()) for counts in (ones, zeros) if counts.any()), default=np.inf)
        rows = start_rows if self.model.has_prior else max(start_rows, int(MIN_MINORITY * self.context.weight / rarest))
        return rows if self._worth_it(rows) else 0

    def _worth_it(self, rows: int) -> bool:
        """Return whether a subsample of this size is much smaller than the table, and fits in memory."""
        table = self.context.grid.as_given.table
        return MIN_RATIO * rows <= table.shape[0] and rows * table.row_size <= MOST_CELLS

    def _subsample_context(self, rows: int, *, n_init: int) -> FitContext:
        """Return the context of the same fit on a subsample in memory, without callbacks, for `n_init` restarts."""
        context, settings = self.context, self.context.settings
        table = context.grid.as_given.table
        seed = int(Key(settings.seed).stream("subsample").rng().integers(2**62))
        sample: SomeRows = context.passes(RowSampler(seed, rate_for(rows, table.weights, table.shape[0])))
        grid = sample.table(float(len(sample.weights))).grid(context.grid.height)
        if self.model.promises.deterministic:
            grid = collapsed(grid)
        # Counts stay those of all rows, because they determine the priors.
        summary = replace(context.summary, weight=np.asarray(float(len(sample.weights))))
        if n_init == 1 and not isinstance(self.model, Climbs):  # converges at the gain, in nats, of all rows
            settings = replace(settings, tol=settings.tol * context.weight / float(summary.weight))
        clocks: Any = {"start_time": context.start_time, "clock": context.clock}
        sum_over_all_rows = self._sum_over_all_rows()
        return FitContext(grid, context.local, settings, summary, sum_over_all_rows=sum_over_all_rows, **clocks)

    def _sum_over_all_rows(self) -> Passes:
        """Return a function that sums another function over all rows.

        Plain functions have no parameters, so they are summed only once for all restarts. They count pairs of columns:
        their statistics are larger than the blocks of a fit, so blocks are taller.
        """
        executor, grid = self.context.executor, self.context.grid
        if isinstance(without_progress(executor), Local):  # a cluster would hold the rows twice
            height = 1 << min(PAIR_BLOCK_CELLS // grid.table.row_size, PAIR_BLOCK_ROWS).bit_length() - 1
            grid = grid.table.grid(max(grid.height, height))
        cached_sum = lru_cache(maxsize=1)(partial(executor.reduce, grid=grid))

        def sum_over_all_rows(function: Callable[[Block], Any]) -> Any:
            return (cached_sum if isinstance(function, FunctionType) else self.context.passes)(function)

        return sum_over_all_rows

    def best_start(self) -> Position:
        """Return the beginning of the last restart, on all rows: where the best restart on the subsample ended.

        The other restarts are recorded as finished. If the time is over, the fit ends with the best restart.
        """
        n_init = self.context.settings.n_init
        context = self._subsample_context(self.n_rows, n_init=n_init)
        ends = list(self.ends)
        while len(ends) < n_init and not (ends and context.out_of_time()):
            ends.append(self._best_strategy(context, len(ends)))
        best, scale = max(ends, key=_final_objective), self.context.weight / context.weight
        others = tuple(_record(end, scale, StopReason.BEHIND) for end in ends if end is not best)
        rows = GROWTH_FACTOR * self.n_rows
        while self._worth_it(rows) and not context.out_of_time(GROWTH_FACTOR):
            context = self._subsample_context(rows, n_init=1)
            best = self.strategies[0](context, self._continued(best))
            context.log_stop(f"Restart %d of %d on {context.grid.as_given.table.shape[0]} rows", best)
            rows *= GROWTH_FACTOR
        scale = self.context.weight / context.weight
        n_rows, n_subsample = (some.grid.as_given.table.shape[0] for some in (self.context, context))
        if context.out_of_time(n_rows / n_subsample):  # true if the restarts ended early: the ratio is at least 1
            result = replace(best.best, restart=len(others), trace=tuple(scale * value for value in best.best.trace))
            finished = (*others, _record(best, scale, StopReason.TIME))
            return Position(restart=self.context.settings.n_init, finished=finished, best=result)
        return replace(self._continued(best), finished=others)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what a worker computed: it may have to send this on to another worker."""
        return {name: value for name, value in self.__dict__.items() if name != "_own_context"}

    @cached_property
    def _own_context(self) -> FitContext:
        """The context of the first subsample, made once in each process that runs restarts alone."""
        return self._subsample_context(self.n_rows, n_init=self.context.settings.n_init)

    def end_of(self, executor: Executor, number: int) -> Position:
        """Return where a restart on the first subsample ends that is run alone."""
        with one_blas_thread():
            return self._best_strategy(replace(self._own_context, executor=executor), number)

    def _continued(self, end: Position) -> Position:
        """Return the beginning of the last restart on more rows, where the best restart on fewer rows ended (`end`)."""
        params = self.model.on_all_rows(end.best.params)  # type: ignore[attr-defined]
        return Position(
            restart=self.context.settings.n_init - 1,
            params=params,
            safe=params,
            stage=end.best.stage,
            extrapolation=Extrapolation(PLAIN_PASSES_FROM_FIT),
        )

    def _best_strategy(self, context: FitContext, restart: int) -> Position:
        """Return the end of a restart on the subsample, by the strategy that reached the highest objective."""
        ends: list[Position] = []
        n_rows, strategies = context.grid.as_given.table.shape[0], list(enumerate(self.strategies))
        for number, strategy in strategies if context.settings.max_time is None else strategies[::-1]:  # quick first
            if ends and context.out_of_time():
                break
            context = replace(context, checkpoints=self._checkpoints(restart, number))
            position = (context.checkpoints and context.checkpoints.load(context.summary)) or Position(restart=restart)
            ends.append(position if position.finished else strategy(context, position))
            context.log_stop(f"Restart %d of %d on {n_rows} rows, strategy {number + 1}", ends[-1])
        return max(ends, key=_final_objective)

    def drop_checkpoints(self) -> None:
        """Remove the checkpoints of the restarts on the subsample: their result is in the checkpoint of the fit."""
        for restart in range(self.context.settings.n_init):
            for number in range(len(self.strategies)):
                if checkpoints := self._checkpoints(restart, number):
                    checkpoints.drop()

    def _checkpoints(self, restart: int, number: int) -> CheckpointStore | None:
        checkpoints = self.context.checkpoints
        return checkpoints.for_part(f"few{restart}-{number}") if checkpoints else None


def _record(end: Position, scale: float, reason: StopReason) -> Restart:
    """Return the record of a restart that does not continue, with its objective on the scale of all rows."""
    record = end.finished[-1]
    return replace(record, objective=scale * record.objective, reason=reason)


def _final_objective(end: Position) -> float:
    """Return the objective of the restart that has just ended; -inf if it is not a number."""
    objective = end.finished[-1].objective
    return objective if np.isfinite(objective) else -np.inf
