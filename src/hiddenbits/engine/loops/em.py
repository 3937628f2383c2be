"""The EM loop: one for all models, with extrapolation, checkpoints and a named reason to stop.

A pass is three steps: `evaluate` walks the table, `judge` says what that means, `advance` makes the
next position. Everything that the next pass depends on is in a `Position`; a checkpoint is a Position on disk, so a fit
that was interrupted continues as if it had not been.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property, partial
from typing import Generic, cast

import numpy as np

from hiddenbits.data import Grid
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.engine.executors.local import Executor
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.restarts import all_restarts
from hiddenbits.engine.loops.squarem import adjusted, next_point
from hiddenbits.engine.outcome import Outcome, StopReason
from hiddenbits.engine.row_memory import RowMemory
from hiddenbits.engine.state import CheckpointStore, Extrapolation, Position, Settings, Watch
from hiddenbits.model_api import Extrapolates, Key, Model, P, S

# Falls up to this share of max(|objective|, weight of the rows) are rounding; the weight, because the objective can be
# near 0 although the terms that were added are not. COARSE is for models that do not promise monotonicity: float32.
ROUNDING, COARSE = 1e-10, 1e-5


class Verdict(Enum):
    """What a pass means."""

    REVERT = auto()  # an extrapolation lowered the objective: back to the last update
    DIVERGED = auto()  # the objective is not a number
    ACCEPTED = auto()  # an extrapolation did not lower the objective: a plain step follows
    FELL = auto()  # the objective fell by more than rounding
    RECOVERING = auto()  # it fell, but rows may have lost their memory with a worker: it comes back
    CONVERGED = auto()  # the gain is within the tolerance
    CONTINUE = auto()


ENDS = {
    Verdict.DIVERGED: StopReason.NOT_FINITE,
    Verdict.FELL: StopReason.FELL,
    Verdict.CONVERGED: StopReason.CONVERGED,
}


def fit_em(
    model: Model[P, S],
    grid: Grid,
    executor: Executor,
    settings: Settings,
    checkpoints: CheckpointStore | None,
    watch: Watch | None,
) -> Outcome:
    """Fit a model to a table; return the best of `n_init` restarts."""
    return all_restarts(model, iterate, grid, executor, settings, checkpoints, watch)


def iterate(model: Model[P, S], context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Make passes until there is a reason to stop; return where that is, and the reason."""
    reason = None
    while reason is None:
        position, reason = one_pass(model, context, position)
        reason = context.after_pass(position, reason)
    return position, reason


def one_pass(model: Model[P, S], context: FitContext, position: Position) -> tuple[Position, StopReason | None]:
    """Walk the table; return the next position, and why to stop if it is time."""
    seen = evaluate(model, context, position)
    verdict = judge(
        seen.objective,
        position.objective,
        limit=context.settings.tol * context.weight,
        weight=max(context.weight, 1.0),  # a prior counts in rows, whatever their weight
        rounding=ROUNDING if model.promises.monotone else COARSE,
        extrapolated=position.extrapolation.tried,
        memory_may_be_missing=seen.memory_may_be_missing,
        last_gain=position.last_gain,
    )
    return advance(model, context.settings, position, seen, verdict)


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
    def memory_may_be_missing(self) -> bool:
        """Whether rows that should remember the pass before may not."""
        return self.row_memory is not None and self.row_memory.may_be_missing


def evaluate(model: Model[P, S], context: FitContext, now: Position) -> Evaluation[P, S]:
    """Walk the table once, at the position's parameters."""
    params = now.params
    key = Key(context.settings.seed, now.restart, len(now.trace))
    row_memory = context.executor.row_memory(now.row_memory) if model.promises.carry else None
    stats = context.passes(partial(block_statistics, model, params, model.prepare(params), key, row_memory))
    return Evaluation(model, params, stats, model.objective(params, stats), row_memory)


def advance(
    model: Model[P, S], settings: Settings, now: Position, seen: Evaluation[P, S], verdict: Verdict
) -> tuple[Position, StopReason | None]:
    """Return the next position, and why to stop if it is time: the only place where EM moves."""
    if verdict is Verdict.REVERT:
        extrapolation = adjusted(now.extrapolation, good=False)
        trace = (*now.trace, now.objective)
        then = replace(now, params=now.safe, refused=True, trace=trace, extrapolation=extrapolation)
    elif verdict is Verdict.DIVERGED:
        then = replace(now, trace=(*now.trace, now.objective))
    else:
        params, extrapolation = _next_params(model, settings, now, seen, verdict)
        then = replace(
            now,
            params=params,
            safe=seen.updated,
            refused=False,
            objective=seen.objective,
            trace=(*now.trace, seen.objective),
            extrapolation=extrapolation,
            row_memory=seen.row_memory and seen.row_memory.accepted(),
        )
    out_of_passes = StopReason.MAX_ITER if then.n_passes >= settings.max_iter else None
    return then, ENDS.get(verdict) or out_of_passes


def _next_params(
    model: Model[P, S], settings: Settings, now: Position, seen: Evaluation[P, S], verdict: Verdict
) -> tuple[P, Extrapolation]:
    """Return what the next pass looks at, the update or an extrapolation, and where that leaves the extrapolation.

    Where it is time for it, a pass keeps the first of three points, and the next one extrapolates from the third.
    """
    new, extrapolation = seen.updated, now.extrapolation
    if verdict is Verdict.ACCEPTED:
        return new, adjusted(extrapolation, good=True)
    if verdict is Verdict.RECOVERING:  # the points before and after do not belong to one course
        return new, replace(extrapolation, theta0=None)
    wanted = verdict is Verdict.CONTINUE and settings.accelerate and model.promises.accelerates
    if not wanted or now.n_passes + 1 < extrapolation.begins_after:
        return new, extrapolation
    moves = cast("Extrapolates[P]", model)  # as it promises; isinstance of a protocol takes a tenth of a short pass
    here, first = moves.to_vector(now.params), extrapolation.theta0
    if first is None:
        return new, replace(extrapolation, theta0=here)
    there = moves.to_vector(new)
    if not len(first) == len(here) == len(there):  # coordinates may change with a model's structure
        return new, replace(extrapolation, theta0=here)
    extrapolation, vector = next_point(extrapolation, here, there)
    return moves.from_vector(vector, new), extrapolation


def judge(
    objective: float,
    before: float,
    *,
    limit: float,
    weight: float,
    rounding: float = ROUNDING,
    extrapolated: bool = False,
    memory_may_be_missing: bool = False,
    last_gain: float | None = None,
) -> Verdict:
    """Return what a pass means; the first rule that applies decides.

    Parameters
    ----------
    objective, before : float
        What the pass found, and the pass before; -inf before a first pass.
    limit : float
        A gain that counts as none, in nats over the table.
    weight : float
        Of all rows, at least 1.
    rounding : float
        `ROUNDING`, or `COARSE` where the model does not promise that the objective never falls.
    extrapolated : bool
        The pass looked at an extrapolation, from which there is a way back.
    memory_may_be_missing : bool
        Rows that should remember the pass before may not.
    last_gain : float or None
        What the pass before gained: inf if it was refused, None before the second pass.
    """
    if extrapolated and not objective >= before:  # also where it is not a number
        return Verdict.REVERT
    if not np.isfinite(objective):
        return Verdict.DIVERGED
    if extrapolated:
        return Verdict.ACCEPTED
    gain = objective - before
    if gain < -rounding * max(abs(objective), weight):
        return Verdict.RECOVERING if memory_may_be_missing else Verdict.FELL
    # Lost memory understates the gain: after a large one another pass decides.
    quick_before = last_gain is not None and last_gain > limit
    if gain <= limit and not (memory_may_be_missing and quick_before):
        return Verdict.CONVERGED
    return Verdict.CONTINUE
