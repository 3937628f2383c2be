"""Stochastic gradient ascent: a random step for each group of rows, with a memory that persists from step to step.

For models whose objective cannot be computed but whose gradient can be estimated, such as restricted Boltzmann machines
with too many states to enumerate. An epoch is one pass over the table. Step sizes decrease by a fixed schedule to
its end, unless a function of the family, called after each epoch (`AfterEpoch`), stops the fit early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.executors.local import Executor
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.restarts import all_restarts
from hiddenbits.engine.outcome import Outcome, StopReason
from hiddenbits.engine.state import CheckpointStore, Position, Settings, Watch
from hiddenbits.model_api import Key, P, Passes, Persists, S

AfterEpoch = Callable[[Any, Any, Any, Key, Passes], tuple[Any, Any, float, bool]]
"""Takes model, parameters, memory, key, passes; returns parameters, memory, score (larger: better), whether to stop."""


def fit_persistent(
    model: Persists[P, S],
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
    after_epoch: AfterEpoch | None = None,
) -> Outcome:
    """Fit a model by `max_iter` epochs of random steps; return the best of `n_init` restarts."""
    return all_restarts(model, partial(epochs, after_epoch=after_epoch), grid, executor, settings, checkpoints, watch)


def epochs(
    model: Persists[P, S], context: FitContext, position: Position, after_epoch: AfterEpoch | None = None
) -> tuple[Position, StopReason]:
    """Run the epochs, or after a resume the remaining ones; return the last position and the reason to stop."""
    settings = context.settings
    if position.memory is None:
        key = Key(settings.seed, position.restart).stream("memory")
        memory = model.first_memory(position.params, context.summary, key)
        position = context.save_checkpoint(replace(position, memory=memory))
    reason = None if settings.max_iter else StopReason.SCHEDULE  # no epochs: the fit is its start
    while reason is None:
        position, stop = _epoch(model, context.grid, context.executor, settings, position), False
        if after_epoch is not None:
            position, stop = _scored(model, after_epoch, context, position)
        if not np.isfinite(position.objective):
            reason = StopReason.NOT_FINITE
        elif stop:
            reason = StopReason.CONVERGED
        elif len(position.trace) >= settings.max_iter:
            reason = StopReason.MAX_ITER if after_epoch else StopReason.SCHEDULE
        reason = context.after_pass(position, reason)
    return replace(position, safe=model.settle(position.safe, position.memory)), reason


def _epoch(model: Persists[P, S], grid: Grid, executor: Executor, settings: Settings, now: Position) -> Position:
    """Make one pass over the table with a step for each group of rows; the objective is the mean score of the steps."""
    group_blocks = max(1, model.batch_rows // grid.height)
    ends = [min(end, grid.n_blocks) for end in range(group_blocks, grid.n_blocks + group_blocks, group_blocks)]
    n_groups = len(ends)
    epoch = len(now.trace)
    params, memory, total, weight = now.params, now.memory, 0.0, 0.0
    for number, reduce in enumerate(executor.stream(grid, ends)):
        key = Key(settings.seed, now.restart, epoch * n_groups + number)
        stats = reduce(partial(block_statistics, model, params, model.prepare(params), key, None))
        if float(stats.weight) <= 0.0:
            continue
        share = 1.0 - (epoch + number / n_groups) / settings.max_iter
        params, memory, score = model.step(params, memory, stats, share, key.stream("step"), executor.run)
        total, weight = total + score * float(stats.weight), weight + float(stats.weight)
    objective = total / max(weight, 1e-300)
    return replace(now, params=params, safe=params, memory=memory, objective=objective, trace=(*now.trace, objective))


def _scored(
    model: Persists[P, S], after_epoch: AfterEpoch, context: FitContext, now: Position
) -> tuple[Position, bool]:
    """Return the position with the results of `after_epoch`, and whether to stop."""
    key = Key(context.settings.seed, now.restart)
    params, memory, score, stop = after_epoch(model, now.params, now.memory, key, context.passes)
    trace = (*now.trace[:-1], score)
    return replace(now, params=params, safe=params, memory=memory, objective=score, trace=trace), stop
