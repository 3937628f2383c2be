"""Fits by a plan: the plan has a model for each pass, and convergence is judged only after its end.

An annealed fit uses another model in each pass: a temperature decreases, more states are included, or a sampler enters
its next phase. Objectives of different models cannot be compared, so no pass is refused or extrapolated
before the plan is over. Then the fit ends, or continues with the last model until the objective stops changing. The
number of the pass follows from the trace, so that a checkpoint needs no further entry.
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

PATIENCE = 16  # passes over which the objective must rise after the plan: an approximation may fluctuate


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
    """Make passes until there is a reason to stop; return the last position and the reason."""
    reason = None
    while reason is None:
        position, reason = _one_pass(model, context, position)
        reason = context.after_pass(position, reason)
    return position, reason


def _one_pass(model: Planned[P, S], context: FitContext, now: Position) -> tuple[Position, StopReason | None]:
    """Make one pass with the model of this pass; return the next position, and the reason to stop or None."""
    key = Key(context.settings.seed, now.restart, len(now.trace))
    evaluation = evaluate(model.of_pass(now.params, key, context.passes), context, now)
    objective, trace = evaluation.objective, (*now.trace, evaluation.objective)
    if not np.isfinite(objective):
        return replace(now, trace=trace), StopReason.NOT_FINITE
    memory = evaluation.row_memory and evaluation.row_memory.accepted()
    updated = evaluation.updated
    following = replace(now, params=updated, safe=updated, objective=objective, trace=trace, row_memory=memory)
    return following, _reason(model, context, trace, n_small=2 if evaluation.memory_may_be_missing else 1)


def _reason(model: Planned[P, S], context: FitContext, trace: tuple[float, ...], n_small: int) -> StopReason | None:
    """Return the reason to stop or None; `n_small` consecutive small changes, of either sign, mean convergence."""
    n_after_plan = len(trace) - max(model.planned_passes, 1)
    if n_after_plan >= 0 and not model.settles:
        return StopReason.SCHEDULE
    limit = context.settings.tol * context.weight
    changes = np.abs(np.diff(trace[-1 - n_small :]))
    if n_after_plan >= 0 and len(changes) == n_small and (changes <= limit).all():
        return StopReason.CONVERGED
    if n_after_plan >= PATIENCE and max(trace[-PATIENCE:]) - trace[-PATIENCE - 1] <= PATIENCE * limit:
        return StopReason.CONVERGED
    return StopReason.MAX_ITER if len(trace) >= context.settings.max_iter else None
