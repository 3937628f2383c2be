"""The EM loop: one for all models, with restarts, stages, extrapolations, checkpoints and a named reason to stop.

Everything that the next pass depends on is in a `Position`; a checkpoint is a Position on disk, so a fit that was
interrupted continues as if it had not been.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.data.summary import Summary
from hiddenbits.engine.executors.base import Executor
from hiddenbits.engine.loops.online_em import FORGETTING, expect, online_pass
from hiddenbits.engine.loops.restarts import FitContext, all_restarts
from hiddenbits.engine.loops.squarem import adjusted, next_point
from hiddenbits.engine.outcome import Outcome, Restart, StopReason
from hiddenbits.engine.state import CheckpointStore, Extrapolation, Position, Settings, Watch
from hiddenbits.model_api import (
    Extrapolates,
    Key,
    LooksBeforePass,
    Model,
    P,
    Passes,
    Promises,
    Repairs,
    S,
    Scheduled,
    Speculative,
)

# Extrapolation begins after this many plain passes: earlier it more often lands in the basin of another maximum.
# benchmarks/leaps.py shows what it gains and how often it ends below plain EM. A polish begins where a fit has ended.
PLAIN_PASSES, POLISH_PASSES = 10, 3
ROUGH = 10.0  # a stage that a polish follows ends at 10 times the tolerance: the polish moves further than that
# A fall of the objective within this share of its size, or by this much a row, is rounding: of a table whose rows are
# nearly certain the objective is next to nothing, and the terms that were added are not.
ROUNDING = 1e-10


def fit_em(
    model: Model[P, S],
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
) -> Outcome:
    """Fit a model to a table; return the best of `n_init` restarts."""
    return all_restarts(partial(_restart, model), grid, executor, settings, checkpoints, watch)


def _restart(model: Model[P, S], context: FitContext, position: Position) -> Position:
    """Go through one restart, or what is left of it."""
    position = begun(model, context, position)
    reason = None
    while reason is None:
        position, reason = _one_pass(model, context, position)
        position, reason = _next_stage(model, context.settings, position, reason)
        asked = context.notify(position, last=reason is not None)
        reason = reason or (StopReason.CALLBACK if asked else None)
        if reason is None:
            context.keep(position)
    return context.keep(finish(model, context.settings, position, reason))


def begun(model: Model[P, S], context: FitContext, position: Position) -> Position:
    """Return the position after the start of a restart and its online passes."""
    if position.params is None:
        position = context.keep(begin(model, context.settings, context.summary, context.passes, position))
    while position.online_passes < context.settings.online_passes:
        position = context.keep(_one_online_pass(model, context, position))
    return position


def full_start(model: Model[P, S], summary: Summary, key: Key, passes: Passes) -> P:
    """Return a start with all stages of a staged one taken at once: online EM has no stages."""
    return _fully_grown(model, model.start(summary, key, passes), key)


def _fully_grown(model: Model[P, S], params: P, key: Key) -> P:
    stage = 0
    while (grown := model.grow(params, key.at(pass_number=2**33 + stage))) is not None:
        params, stage = grown, stage + 1
    return params


def begin(model: Model[P, S], settings: Settings, summary: Summary, passes: Passes, position: Position) -> Position:
    """Make the start of a restart."""
    key = Key(settings.seed, position.restart)
    if position.restart >= settings.n_init and isinstance(model, Repairs):
        start = model.perturbed(position.best_params, key)
        return replace(position, params=start, safe=start, online_passes=settings.online_passes)
    start = full_start(model, summary, key, passes) if settings.online_passes else model.start(summary, key, passes)
    return replace(position, params=start, safe=start)


def _one_online_pass(model: Model[P, S], context: FitContext, now: Position) -> Position:
    """Walk the table once by online EM."""
    # Full passes count from 0; online passes take numbers from far away, for their keys.
    key = Key(context.settings.seed, now.restart, 2**32 + now.online_passes)
    params, running = online_pass(
        model, now.params, now.running, context.executor, context.grid, key, context.weight, FORGETTING
    )
    return replace(now, params=params, safe=params, running=running, online_passes=now.online_passes + 1)


def _one_pass(model: Model[P, S], context: FitContext, now: Position) -> tuple[Position, StopReason | None]:
    """Walk the table once and decide where to look next, or why to stop."""
    settings, weight = context.settings, context.weight
    key = Key(settings.seed, now.restart, len(now.trace))
    row_memory = context.executor.row_memory(now.carry) if model.promises.carry else None
    params = _before_pass(model, now.params, context.passes)
    stats = context.passes(partial(expect, model, params, model.prepare(params), key, row_memory))
    if model.promises.closed_form:
        return _fitted_at_once(model, stats, now)
    objective = model.objective(params, stats)
    extrapolated = now.extrapolation.phase == 2
    if (extrapolated or now.speculative) and not objective >= now.objective:  # also where it is not a number
        extrapolation = adjusted(now.extrapolation, good=False)
        back = replace(
            now, params=now.safe, speculative=False, trace=(*now.trace, now.objective), extrapolation=extrapolation
        )
        return back, _out_of_passes(back, settings)
    if not np.isfinite(objective):
        return replace(now, trace=(*now.trace, now.objective)), StopReason.NOT_FINITE
    new = model.update(params, stats)
    gain = objective - now.objective
    kept = row_memory and row_memory.settled()
    speculative = _speculative_step(model, new)
    then = replace(
        now,
        params=new if speculative is None else speculative,
        safe=new,
        speculative=speculative is not None,
        objective=objective,
        trace=(*now.trace, objective),
        carry=kept,
    )
    if isinstance(model, Scheduled) and (planned := model.schedule_state(new)) != "free":
        return then, StopReason.SCHEDULE if planned == "over" else _out_of_passes(then, settings)
    if extrapolated:
        then = replace(then, extrapolation=adjusted(now.extrapolation, good=True))
        return then, _out_of_passes(then, settings)
    if model.promises.monotone and gain < -ROUNDING * max(abs(objective), weight):
        # Memory that was lost with a worker may cost a little of the objective; it comes back.
        return then, _out_of_passes(then, settings) if row_memory and row_memory.may_lose else StopReason.FELL
    limit = settings.tol * weight * (ROUGH if model.promises.speculative and not now.stages else 1.0)
    if (abs(gain) if model.promises.scheduled else gain) <= limit and not (
        row_memory and row_memory.may_lose and _was_quick(now, limit)
    ):
        return then, StopReason.CONVERGED
    extrapolates = settings.accelerate and model.promises.accelerates
    if (
        extrapolates
        and isinstance(model, Extrapolates)
        and _passes_in_stage(then) >= _plain_passes(model.promises, then)
    ):
        then = _look_ahead(model, now, then)
    return then, _out_of_passes(then, settings)


def _fitted_at_once(model: Model[P, S], stats: S, now: Position) -> tuple[Position, StopReason]:
    """Take the only step there is: another look would find the same statistics."""
    new = model.update(now.params, stats)
    objective = model.objective(new, stats)
    then = replace(now, params=new, safe=new, objective=objective, trace=(*now.trace, objective))
    return then, StopReason.CONVERGED if np.isfinite(objective) else StopReason.NOT_FINITE


def _before_pass(model: Model[P, S], params: P, passes: Passes) -> P:
    """Return what a pass is to look at: the parameters, with what a model has to know of all rows beforehand."""
    return (
        model.before_pass(params, passes)
        if model.promises.looks_before_pass and isinstance(model, LooksBeforePass)
        else params
    )


def _speculative_step(model: Model[P, S], params: P) -> P | None:
    """Return the full step, to be evaluated before the safe update; None where the model does not speculate."""
    return model.speculative_step(params) if model.promises.speculative and isinstance(model, Speculative) else None


def _was_quick(now: Position, limit: float) -> bool:
    """Whether the pass before gained more: then a small gain may only mean that row memory was lost with a worker."""
    return _passes_in_stage(now) >= 2 and now.trace[-1] - now.trace[-2] > limit


def _look_ahead(model: Extrapolates[P], now: Position, then: Position) -> Position:
    """Remember the first of three points, or extrapolate from the third."""
    here, there, first = model.to_vector(now.params), model.to_vector(then.safe), now.extrapolation.theta0
    if first is None or not len(first) == len(here) == len(there):  # coordinates may change with a model's structure
        return replace(then, extrapolation=replace(now.extrapolation, phase=1, theta0=here))
    extrapolation, vector = next_point(now.extrapolation, here, there)
    return replace(then, extrapolation=extrapolation, speculative=False, params=model.from_vector(vector, then.safe))


def _plain_passes(promises: Promises, position: Position) -> int:
    return POLISH_PASSES if position.stages and promises.speculative else PLAIN_PASSES


def _next_stage(
    model: Model[P, S], settings: Settings, position: Position, reason: StopReason | None
) -> tuple[Position, StopReason | None]:
    """Where a stage has ended, continue with a larger model; objective, row memory and extrapolation start again."""
    if reason not in (StopReason.CONVERGED, StopReason.MAX_ITER):
        return position, reason
    grown = model.grow(position.safe, Key(settings.seed, position.restart, len(position.trace)))
    if grown is None:
        return position, reason
    stages = (*position.stages, len(position.trace))
    fresh = replace(
        position, objective=-np.inf, stages=stages, extrapolation=Extrapolation(), speculative=False, carry=None
    )
    return replace(fresh, params=grown, safe=grown), None


def _passes_in_stage(position: Position) -> int:
    """Return the passes since the last stage began."""
    return len(position.trace) - (position.stages[-1] if position.stages else 0)


def _out_of_passes(position: Position, settings: Settings) -> StopReason | None:
    """Each stage has `max_iter` passes."""
    return StopReason.MAX_ITER if _passes_in_stage(position) >= settings.max_iter else None


def by_objective(_: object, objective: float) -> float:
    """Return what restarts are compared by, unless a loop knows better."""
    return objective


def finish(
    model: Model[P, S],
    settings: Settings,
    position: Position,
    reason: StopReason,
    rank: Callable[[Any, float], float] = by_objective,
) -> Position:
    """Put a restart on record and keep its parameters, at their full size, if it is the best so far."""
    done = (*position.finished, Restart(position.objective, len(position.trace), reason))
    kept = replace(position, finished=done)
    before = -np.inf if position.best < 0 else rank(position.best_params, done[position.best].objective)
    if position.best < 0 or rank(position.safe, position.objective) > before:
        kept = replace(
            kept,
            best=position.restart,
            best_params=_fully_grown(model, position.safe, Key(settings.seed, position.restart)),
            best_trace=position.trace,
            best_stages=position.stages,
            best_marks=position.growth.marks,
        )
    return Position(
        restart=position.restart + 1,
        finished=kept.finished,
        best=kept.best,
        best_params=kept.best_params,
        best_trace=kept.best_trace,
        best_stages=kept.best_stages,
        best_marks=kept.best_marks,
    )
