"""The EM loop: the same for all models, with extrapolation, checkpoints and a named reason to stop.

`iterate` makes one pass over the table after the other. A pass has three steps:

1. `evaluate`: the E-step. The executor applies `block_statistics` to every block and adds the results; the model
   computes the objective from the sum. The M-step (`Evaluation.updated`) is computed only if it is needed.
2. `judge`: compare the objective with that of the pass before. The result is a `Verdict`.
3. `advance`: make the next `Position` from the verdict. Its `params` are the M-step result, or an extrapolation from
   three points (`squarem.py`). Some verdicts end the loop, see `STOP_REASONS`.

If an extrapolation lowers the objective, it is refused: the next pass evaluates `Position.safe`, the last M-step
result. Everything that the next pass depends on is in the `Position`, and a checkpoint is a Position on disk. So an
interrupted fit continues as if it had not been interrupted.
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
from hiddenbits.engine.loops.squarem import after_trial, next_point
from hiddenbits.engine.outcome import Outcome, StopReason
from hiddenbits.engine.row_memory import RowMemory
from hiddenbits.engine.state import CheckpointStore, Extrapolation, Position, Settings, Watch
from hiddenbits.model_api import Extrapolates, Key, Model, P, S

# A decrease of up to this share of max(|objective|, weight of the rows) is tolerated: as rounding or, if a model is not
# monotone, as an effect of its approximations. The weight is included because the objective can be near 0 although its
# terms are not.
ROUNDING, APPROXIMATION = 1e-10, 1e-5


class Verdict(Enum):
    """What the objective of a pass implies."""

    REFUSED = auto()  # an extrapolation lowered the objective: back to the last M-step result
    DIVERGED = auto()  # the objective is not finite
    ACCEPTED = auto()  # an extrapolation did not lower the objective: a plain step follows
    FELL = auto()  # the objective fell by more than rounding
    RECOVERING = auto()  # the objective fell, but rows may have lost their memory with a worker: it will rise again
    CONVERGED = auto()  # the gain is within the tolerance
    CONTINUE = auto()


STOP_REASONS = {
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
    """Make passes until there is a reason to stop; return the last position and the reason."""
    reason = None
    while reason is None:
        position, reason = one_pass(model, context, position)
        reason = context.after_pass(position, reason)
    return position, reason


def one_pass(model: Model[P, S], context: FitContext, position: Position) -> tuple[Position, StopReason | None]:
    """Make one pass over the table; return the next position, and the reason to stop or None."""
    evaluation = evaluate(model, context, position)
    verdict = judge(
        evaluation.objective,
        position.objective,
        limit=context.settings.tol * context.weight,
        weight=max(context.weight, 1.0),  # the prior does not shrink with the weights of the rows
        rounding=ROUNDING if model.promises.monotone else APPROXIMATION,
        extrapolated=position.extrapolation.tried,
        memory_may_be_missing=evaluation.memory_may_be_missing,
        last_gain=position.last_gain,
    )
    return advance(model, context.settings, position, evaluation, verdict)


@dataclass(frozen=True, eq=False)
class Evaluation(Generic[P, S]):
    """The result of a pass: statistics and objective at the parameters of a position."""

    model: Model[P, S]
    params: P
    stats: S
    objective: float
    row_memory: RowMemory | None

    @cached_property
    def updated(self) -> P:
        """The M-step result, computed on first use: a refused pass does not need it."""
        return self.model.update(self.params, self.stats)

    @property
    def memory_may_be_missing(self) -> bool:
        """Whether some rows may lack the memory of the pass before."""
        return self.row_memory is not None and self.row_memory.may_be_missing


def evaluate(model: Model[P, S], context: FitContext, now: Position) -> Evaluation[P, S]:
    """Make one pass over the table at the parameters of the position."""
    params = now.params
    key = Key(context.settings.seed, now.restart, len(now.trace))
    row_memory = context.executor.row_memory(now.row_memory) if model.promises.carry else None
    stats = context.passes(partial(block_statistics, model, params, model.prepare(params), key, row_memory))
    return Evaluation(model, params, stats, model.objective(params, stats), row_memory)


def advance(
    model: Model[P, S], settings: Settings, now: Position, evaluation: Evaluation[P, S], verdict: Verdict
) -> tuple[Position, StopReason | None]:
    """Return the next position, and the reason to stop or None; nothing else changes a position within a stage."""
    if verdict is Verdict.REFUSED:
        extrapolation = after_trial(now.extrapolation, accepted=False)
        trace = (*now.trace, now.objective)
        following = replace(now, params=now.safe, refused=True, trace=trace, extrapolation=extrapolation)
    elif verdict is Verdict.DIVERGED:
        following = replace(now, trace=(*now.trace, now.objective))
    else:
        params, extrapolation = _next_params(model, settings, now, evaluation, verdict)
        following = replace(
            now,
            params=params,
            safe=evaluation.updated,
            refused=False,
            objective=evaluation.objective,
            trace=(*now.trace, evaluation.objective),
            extrapolation=extrapolation,
            row_memory=evaluation.row_memory and evaluation.row_memory.accepted(),
        )
    out_of_passes = StopReason.MAX_ITER if following.n_passes >= settings.max_iter else None
    return following, STOP_REASONS.get(verdict) or out_of_passes


def _next_params(
    model: Model[P, S], settings: Settings, now: Position, evaluation: Evaluation[P, S], verdict: Verdict
) -> tuple[P, Extrapolation]:
    """Return the parameters for the next pass, the update or an extrapolation, and the state of the extrapolation.

    One pass stores the first of three points, and the next pass extrapolates from all three.
    """
    updated, extrapolation = evaluation.updated, now.extrapolation
    if verdict is Verdict.ACCEPTED:
        return updated, after_trial(extrapolation, accepted=True)
    if verdict is Verdict.RECOVERING:  # the points before and after lost memory cannot be combined
        return updated, replace(extrapolation, theta0=None)
    accelerate = verdict is Verdict.CONTINUE and settings.accelerate and model.promises.accelerates
    if not accelerate or now.n_passes + 1 < extrapolation.begins_after:
        return updated, extrapolation
    linked = cast("Extrapolates[P]", model)  # promised by `accelerates`; isinstance would take a tenth of a short pass
    theta0, theta1 = extrapolation.theta0, linked.to_vector(now.params)
    if theta0 is None:
        return updated, replace(extrapolation, theta0=theta1)
    theta2 = linked.to_vector(updated)
    if not len(theta0) == len(theta1) == len(theta2):  # coordinates may change with a model's structure
        return updated, replace(extrapolation, theta0=theta1)
    extrapolation, vector = next_point(extrapolation, theta1, theta2)
    return linked.from_vector(vector, updated), extrapolation


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
    """Return the verdict on a pass; the first rule that applies decides.

    Parameters
    ----------
    objective, before : float
        Objectives of this pass and of the pass before; -inf before the first pass.
    limit : float
        The largest gain that counts as convergence, in nats over the table.
    weight : float
        Weight of all rows, at least 1.
    rounding : float
        `ROUNDING`, or `APPROXIMATION` for a model that is not monotone.
    extrapolated : bool
        The pass evaluated an extrapolation, which can be refused.
    memory_may_be_missing : bool
        Some rows may lack the memory of the pass before.
    last_gain : float or None
        Gain of the pass before: inf if it was refused, None before the second pass.
    """
    if extrapolated and not objective >= before:  # also if it is not a number
        return Verdict.REFUSED
    if not np.isfinite(objective):
        return Verdict.DIVERGED
    if extrapolated:
        return Verdict.ACCEPTED
    gain = objective - before
    if gain < -rounding * max(abs(objective), weight):
        return Verdict.RECOVERING if memory_may_be_missing else Verdict.FELL
    # Lost memory understates the gain: right after a large gain, another pass decides.
    last_gain_was_large = last_gain is not None and last_gain > limit
    if gain <= limit and not (memory_may_be_missing and last_gain_was_large):
        return Verdict.CONVERGED
    return Verdict.CONTINUE
