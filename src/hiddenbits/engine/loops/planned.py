"""Planned courses: the model changes from pass to pass, as its plan says, and only the end of a course is judged.

An annealed fit is a sequence of models, one for each pass: a temperature falls, more states are looked at, a sampler
goes from phase to phase. Objectives of different models cannot be compared, so nothing is taken back or extrapolated
before the plan is over. Then the fit ends, or goes on with the last model until the objective stands still. Which
pass a fit is in follows from its trace, so that a checkpoint holds nothing more than those of other loops do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.engine.executors.local import Executor
from hiddenbits.engine.loops.em import evaluate
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.restarts import all_restarts
from hiddenbits.engine.outcome import Outcome, StopReason
from hiddenbits.engine.state import CheckpointStore, Position, Settings, Watch
from hiddenbits.model_api import Key, P, Planned, S

PATIENCE = 16  # passes after the plan over which the objective has to rise: the approximation behind it may waver


def fit_planned(
    model: Planned[P, S],
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
) -> Outcome:
    """Fit a model by its plan; return the best of `n_init` restarts."""
    return all_restarts(model, follow_plan, grid, executor, settings, checkpoints, watch)


def follow_plan(model: Planned[P, S], context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Make passes until there is a reason to stop; return where that is, and the reason."""
    reason = None
    while reason is None:
        position, reason = _after_pass(model, context, position)
        reason = context.after_pass(position, reason)
    return position, reason


def _after_pass(model: Planned[P, S], context: FitContext, now: Position) -> tuple[Position, StopReason | None]:
    """Walk the table with the model of this pass; return the next position, and why to stop if it is time."""
    key = Key(context.settings.seed, now.restart, len(now.trace))
    seen = evaluate(model.of_pass(now.params, key, context.passes), context, now)
    trace = (*now.trace, seen.objective)
    if not np.isfinite(seen.objective):
        return replace(now, trace=trace), StopReason.NOT_FINITE
    memory = seen.row_memory and seen.row_memory.accepted()
    new = seen.updated
    then = replace(now, params=new, safe=new, objective=seen.objective, trace=trace, row_memory=memory)
    return then, _why_stop(model, context, trace, n_small=2 if seen.memory_may_be_missing else 1)


def _why_stop(model: Planned[P, S], context: FitContext, trace: tuple[float, ...], n_small: int) -> StopReason | None:
    """Return why to stop after these objectives; so many small changes, of either sign, are a stand."""
    since = len(trace) - max(model.planned_passes, 1)
    if since >= 0 and not model.settles:
        return StopReason.SCHEDULE
    limit = context.settings.tol * context.weight
    changes = np.abs(np.diff(trace[-1 - n_small :]))
    if since >= 0 and len(changes) == n_small and (changes <= limit).all():
        return StopReason.CONVERGED
    if since >= PATIENCE and max(trace[-PATIENCE:]) - trace[-PATIENCE - 1] <= PATIENCE * limit:
        return StopReason.CONVERGED
    return StopReason.MAX_ITER if len(trace) >= context.settings.max_iter else None
