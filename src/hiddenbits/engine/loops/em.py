"""The EM loop: one for all models, with stages, extrapolation, checkpoints and a named reason to stop.

A pass is three steps: `evaluate` walks the table, `judge` (in verdict.py) says what that means, `advance` makes the
next position. Everything that the next pass depends on is in a `Position`; a checkpoint is a Position on disk, so a fit
that was interrupted continues as if it had not been.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Generic, Literal, cast

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.executors.base import Executor
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.restarts import all_restarts, finish, started
from hiddenbits.engine.loops.squarem import adjusted, next_point
from hiddenbits.engine.loops.verdict import Rules, Verdict, judge
from hiddenbits.engine.outcome import Outcome, StopReason
from hiddenbits.engine.row_memory import RowMemory
from hiddenbits.engine.state import CheckpointStore, Extrapolation, Position, Settings, Watch
from hiddenbits.model_api import Extrapolates, Key, LooksBeforePass, Model, P, S, Scheduled, Speculative

# Extrapolation begins after this many plain passes: earlier it more often lands in the basin of another maximum.
# benchmarks/results/mixture.md has what it gains and how often it ends below plain EM. A polish, the second
# stage of a model that speculates, starts from a converged fit and needs fewer; so does what goes on from a subsample.
PLAIN_PASSES, POLISH_PASSES = 10, 3
ROUGH = 10.0  # the stage before a polish stops at 10 times the tolerance: the polish changes the parameters by more


def fit_em(
    model: Model[P, S],
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
) -> Outcome:
    """Fit a model to a table; return the best of `n_init` restarts."""
    return all_restarts(model, partial(_restart, model), grid, executor, settings, checkpoints, watch)


def _restart(model: Model[P, S], context: FitContext, position: Position) -> Position:
    """Go through one restart, or what is left of it."""
    position = started(model, context, position)
    reason = None
    while reason is None:
        seen = evaluate(model, context, position)
        position, reason = advance(model, context.settings, position, seen, _judged(model, context, position, seen))
        del seen  # its statistics: on a wide table the next pass needs the memory
        following = None if context.first_stage else _next_stage(model, context.settings, position, reason)
        if following is not None:
            reason = None
        asked = context.notify(position, last=reason is not None)
        reason = reason or asked  # a stage that is asked to stop ends here: the next one does not begin
        if reason is None:
            position = context.keep(following or position)
    return context.keep(finish(model, context.settings, position, reason))


@dataclass(frozen=True, eq=False)
class Evaluation(Generic[P, S]):
    """What a pass found at the parameters of a position."""

    model: Model[P, S]
    params: P
    stats: S
    objective: float
    row_memory: RowMemory | None

    @cached_property
    def updated(self) -> P:
        """The M-step result, computed when it is needed: a refused pass never needs it."""
        return self.model.update(self.params, self.stats)

    @property
    def schedule(self) -> Literal["running", "free", "settled", "over"]:
        """Where the model's schedule is after the update; "free" where it has none."""
        if self.model.promises.scheduled and isinstance(self.model, Scheduled):
            return self.model.schedule_state(self.updated)
        return "free"

    @property
    def memory_may_be_missing(self) -> bool:
        """Whether rows that should remember the pass before may not."""
        return self.row_memory is not None and self.row_memory.may_be_missing


def evaluate(model: Model[P, S], context: FitContext, now: Position) -> Evaluation[P, S]:
    """Walk the table once, at the position's parameters."""
    promises, params = model.promises, now.params
    if promises.looks_before_pass and isinstance(model, LooksBeforePass):
        params = model.before_pass(params, context.passes)
    key = Key(context.settings.seed, now.restart, len(now.trace))
    row_memory = context.executor.row_memory(now.row_memory) if promises.carry else None
    stats = context.passes(partial(block_statistics, model, params, model.prepare(params), key, row_memory))
    return Evaluation(model, params, stats, model.objective(params, stats), row_memory)


def _judged(model: Model[P, S], context: FitContext, now: Position, seen: Evaluation[P, S]) -> Verdict:
    """Return what a pass means for the fit at this position."""
    promises, weight = model.promises, context.weight
    rough = ROUGH if promises.speculative and not now.stages else 1.0
    # A prior counts in rows, whatever their weight: its rounding is that of a row or more.
    rules = Rules(context.settings.tol * weight * rough, max(weight, 1.0), promises.monotone, promises.scheduled)
    extrapolated = now.extrapolation.tried
    return judge(
        seen,
        rules,
        before=now.objective,
        tentative=extrapolated or now.speculative,
        extrapolated=extrapolated,
        last_gain=now.last_gain,
    )


def advance(
    model: Model[P, S], settings: Settings, now: Position, seen: Evaluation[P, S], verdict: Verdict
) -> tuple[Position, StopReason | None]:
    """Return the next position, and why to stop if it is time: the only place where EM moves."""
    if verdict is Verdict.REVERT:
        extrapolation = adjusted(now.extrapolation, good=False)
        trace = (*now.trace, now.objective)
        then = replace(now, params=now.safe, speculative=False, refused=True, trace=trace, extrapolation=extrapolation)
    elif verdict is Verdict.DIVERGED:
        then = replace(now, trace=(*now.trace, now.objective))
    else:
        then = _updated(model, now, seen)
        if verdict is Verdict.ACCEPTED:
            then = replace(then, extrapolation=adjusted(now.extrapolation, good=True))
        elif verdict is Verdict.RECOVERING:  # the points before and after do not belong to one course
            then = replace(then, extrapolation=replace(now.extrapolation, theta0=None))
        elif verdict is Verdict.CONTINUE and settings.accelerate:
            then = _extrapolated(model, now, then)
    out_of_passes = StopReason.MAX_ITER if then.passes_in_stage >= settings.max_iter else None
    return then, _why_stop(verdict, seen) or out_of_passes


def _why_stop(verdict: Verdict, seen: Evaluation[P, S]) -> StopReason | None:
    if verdict is Verdict.PLANNED:
        return StopReason.SCHEDULE if seen.schedule == "over" else None
    ends = {
        Verdict.DIVERGED: StopReason.NOT_FINITE,
        Verdict.FELL: StopReason.FELL,
        Verdict.CONVERGED: StopReason.CONVERGED,
    }
    return ends.get(verdict)


def _updated(model: Model[P, S], now: Position, seen: Evaluation[P, S]) -> Position:
    """Return the position at the update; a model that speculates looks at its whole step first."""
    new = seen.updated
    whole = model.speculative_step(new) if model.promises.speculative and isinstance(model, Speculative) else None
    return replace(
        now,
        params=new if whole is None else whole,
        safe=new,
        speculative=whole is not None,
        refused=False,
        objective=seen.objective,
        trace=(*now.trace, seen.objective),
        row_memory=seen.row_memory and seen.row_memory.settled(),
    )


def _extrapolated(model: Model[P, S], now: Position, then: Position) -> Position:
    """Where it is time for extrapolation: remember the first of three points, or extrapolate from the third."""
    settled = then.growth.done or (then.stages and model.promises.speculative)  # EM grows on the subsample alone
    plain_passes = POLISH_PASSES if settled else PLAIN_PASSES
    if not model.promises.accelerates or then.passes_in_stage < plain_passes:
        return then
    moves = cast("Extrapolates[P]", model)  # as it promises; isinstance of a protocol takes a tenth of a short pass
    here, there, first = moves.to_vector(now.params), moves.to_vector(then.safe), now.extrapolation.theta0
    if first is None or not len(first) == len(here) == len(there):  # coordinates may change with a model's structure
        return replace(then, extrapolation=replace(now.extrapolation, theta0=here))
    extrapolation, vector = next_point(now.extrapolation, here, there)
    return replace(then, extrapolation=extrapolation, speculative=False, params=moves.from_vector(vector, then.safe))


def _next_stage(
    model: Model[P, S], settings: Settings, position: Position, reason: StopReason | None
) -> Position | None:
    """Return where the next stage begins (more classes, or a polish) if one has ended and another follows, or None."""
    if reason not in (StopReason.CONVERGED, StopReason.MAX_ITER):
        return None
    grown = model.grow(position.safe, Key(settings.seed, position.restart).stream("stage", len(position.stages)))
    if grown is None:
        return None
    return replace(
        position,
        params=grown,
        safe=grown,
        objective=-np.inf,
        stages=(*position.stages, len(position.trace)),
        extrapolation=Extrapolation(),
        speculative=False,
        row_memory=None,
    )
