"""The EM loop: one for all models, with restarts, stages, leaps, checkpoints and a named reason to stop.

Everything that the next pass depends on is in a `Position`; a checkpoint is a Position on disk, so a fit that was
interrupted goes on as if it had not been.
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
from hiddenbits.engine.loops.restarts import Course, all_restarts
from hiddenbits.engine.loops.squarem import landed, next_point
from hiddenbits.engine.outcome import Outcome, Restart, StopReason
from hiddenbits.engine.state import Keeper, Leap, Position, Settings, Watch
from hiddenbits.model_api import Extrapolates, Hopes, Key, Model, P, Passes, Promises, Repairs, S, Scheduled, Surveys

# Leaps begin after this many plain passes: from the very start they more often land in the basin of another maximum.
# benchmarks/leaps.py shows what they gain and how often they end below plain EM. A polish begins where a fit has ended.
PLAIN_PASSES, POLISH_PASSES = 10, 3
ROUGH = 10.0  # a stage that a polish follows ends at so many times the tolerance: the polish moves further than that
# A fall of the objective within this share of its size, or by this much a row, is rounding: of a table whose rows are
# nearly certain the objective is next to nothing, and the terms that were added are not.
ROUNDING = 1e-10


def fit_em(
    model: Model[P, S], grid: Grid, executor: Executor, settings: Settings, keeper: Keeper | None, watch: Watch | None
) -> Outcome:
    """Fit a model to a table; return the best of `n_init` restarts."""
    return all_restarts(partial(_restart, model), grid, executor, settings, keeper, watch)


def _restart(model: Model[P, S], course: Course, position: Position) -> Position:
    """Go through one restart, or what is left of it."""
    position = begun(model, course, position)
    reason = None
    while reason is None:
        position, reason = _one_pass(model, course, position)
        position, reason = _next_stage(model, course.settings, position, reason)
        asked = course.told(position, last=reason is not None)
        reason = reason or (StopReason.CALLBACK if asked else None)
        if reason is None:
            course.keep(position)
    return course.keep(finish(model, course.settings, position, reason))


def begun(model: Model[P, S], course: Course, position: Position) -> Position:
    """Return the position after the start of a restart and its online passes."""
    if position.params is None:
        position = course.keep(begin(model, course.settings, course.summary, course.passes, position))
    while position.online_passes < course.settings.online_passes:
        position = course.keep(_one_online_pass(model, course, position))
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
        start = model.repaired(position.best_params, key)
        return replace(position, params=start, safe=start, online_passes=settings.online_passes)
    start = full_start(model, summary, key, passes) if settings.online_passes else model.start(summary, key, passes)
    return replace(position, params=start, safe=start)


def _one_online_pass(model: Model[P, S], course: Course, now: Position) -> Position:
    """Walk the table once by online EM."""
    # Full passes count from 0; online passes take numbers from far away, for their keys.
    key = Key(course.settings.seed, now.restart, 2**32 + now.online_passes)
    params, running = online_pass(
        model, now.params, now.running, course.executor, course.grid, key, course.weight, FORGETTING
    )
    return replace(now, params=params, safe=params, running=running, online_passes=now.online_passes + 1)


def _one_pass(model: Model[P, S], course: Course, now: Position) -> tuple[Position, StopReason | None]:
    """Walk the table once and decide where to look next, or why to stop."""
    settings, weight = course.settings, course.weight
    key = Key(settings.seed, now.restart, len(now.trace))
    shelf = course.executor.shelf(now.carry) if model.promises.carry else None
    params = _surveyed(model, now.params, course.passes)
    stats = course.passes(partial(expect, model, params, model.prepare(params), key, shelf))
    if model.promises.closed_form:
        return _fitted_at_once(model, stats, now)
    objective = model.objective(params, stats)
    leaped = now.leap.phase == 2
    if (leaped or now.untried) and not objective >= now.objective:  # also where it is not a number
        leap = landed(now.leap, good=False)
        back = replace(now, params=now.safe, untried=False, trace=(*now.trace, now.objective), leap=leap)
        return back, _out_of_passes(back, settings)
    if not np.isfinite(objective):
        return replace(now, trace=(*now.trace, now.objective)), StopReason.NOT_FINITE
    new = model.update(params, stats)
    gain = objective - now.objective
    kept = shelf and shelf.settled()
    hope = _hope(model, new)
    then = replace(
        now,
        params=new if hope is None else hope,
        safe=new,
        untried=hope is not None,
        objective=objective,
        trace=(*now.trace, objective),
        carry=kept,
    )
    if isinstance(model, Scheduled) and (planned := model.pending(new)) != "free":
        return then, StopReason.SCHEDULE if planned == "over" else _out_of_passes(then, settings)
    if leaped:
        then = replace(then, leap=landed(now.leap, good=True))
        return then, _out_of_passes(then, settings)
    if model.promises.monotone and gain < -ROUNDING * max(abs(objective), weight):
        # Memory that was lost with a worker may cost a little of the objective; it comes back.
        return then, _out_of_passes(then, settings) if shelf and shelf.may_lose else StopReason.FELL
    limit = settings.tol * weight * (ROUGH if model.promises.hopes and not now.stages else 1.0)
    if (abs(gain) if model.promises.scheduled else gain) <= limit and not (
        shelf and shelf.may_lose and _was_quick(now, limit)
    ):
        return then, StopReason.CONVERGED
    leaps = settings.accelerate and model.promises.accelerates
    if leaps and isinstance(model, Extrapolates) and _passes_in_stage(then) >= _plain_passes(model.promises, then):
        then = _look_ahead(model, now, then)
    return then, _out_of_passes(then, settings)


def _fitted_at_once(model: Model[P, S], stats: S, now: Position) -> tuple[Position, StopReason]:
    """Take the only step there is: another look would find the same statistics."""
    new = model.update(now.params, stats)
    objective = model.objective(new, stats)
    then = replace(now, params=new, safe=new, objective=objective, trace=(*now.trace, objective))
    return then, StopReason.CONVERGED if np.isfinite(objective) else StopReason.NOT_FINITE


def _surveyed(model: Model[P, S], params: P, passes: Passes) -> P:
    """Return what a pass is to look at: the parameters, with what a model has to know of all rows beforehand."""
    return model.survey(params, passes) if model.promises.surveys and isinstance(model, Surveys) else params


def _hope(model: Model[P, S], params: P) -> P | None:
    """Return what an update hopes for, to be looked at before the update itself; None where an update is sure."""
    return model.untried(params) if model.promises.hopes and isinstance(model, Hopes) else None


def _was_quick(now: Position, limit: float) -> bool:
    """Whether the pass before gained more than that: then one small gain may be a large one less a loss of memory."""
    return _passes_in_stage(now) >= 2 and now.trace[-1] - now.trace[-2] > limit


def _look_ahead(model: Extrapolates[P], now: Position, then: Position) -> Position:
    """Remember the first of three points, or leap from the third."""
    here, there, first = model.to_vector(now.params), model.to_vector(then.safe), now.leap.theta0
    if first is None or not len(first) == len(here) == len(there):  # coordinates may change with a model's structure
        return replace(then, leap=replace(now.leap, phase=1, theta0=here))
    leap, vector = next_point(now.leap, here, there)
    return replace(then, leap=leap, untried=False, params=model.from_vector(vector, then.safe))


def _plain_passes(promises: Promises, position: Position) -> int:
    return POLISH_PASSES if position.stages and promises.hopes else PLAIN_PASSES


def _next_stage(
    model: Model[P, S], settings: Settings, position: Position, reason: StopReason | None
) -> tuple[Position, StopReason | None]:
    """Where a stage has ended, go on with a larger model; its objective starts afresh, and so do carry and leaps."""
    if reason not in (StopReason.CONVERGED, StopReason.MAX_ITER):
        return position, reason
    grown = model.grow(position.safe, Key(settings.seed, position.restart, len(position.trace)))
    if grown is None:
        return position, reason
    stages = (*position.stages, len(position.trace))
    fresh = replace(position, objective=-np.inf, stages=stages, leap=Leap(), untried=False, carry=None)
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
