"""The refinement of logistic PCA: the best Gaussian posteriors, and Newton's method for the columns.

F is the bound of `refined_rows.py`. A column's Newton step has the gradient Sum (t - E[sigma]) x^ - Sum E[sigma'] C^ w^
and the matrix Sum E[sigma'] <x^ x^'>.

Whether a step is too long shows only in F of all rows. So the loop (`newton`) evaluates F after each full step or
extrapolation and accepts the point if F did not decrease; otherwise it tries a quarter of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import sums_over_rows
from hiddenbits.engine import StopReason
from hiddenbits.engine.loops.em import ROUNDING, evaluate
from hiddenbits.engine.loops.fit_context import FitContext
from hiddenbits.engine.loops.squarem import after_trial, next_point
from hiddenbits.engine.state import PLAIN_PASSES_FROM_FIT, Position
from hiddenbits.families.logistic_pca.cell_kernels import inner_steps
from hiddenbits.families.logistic_pca.model import Logistic, PreparedLogistic
from hiddenbits.families.logistic_pca.params import LogisticParams, LogisticStats
from hiddenbits.families.logistic_pca.refined_rows import ROW_STEPS, VARIATIONAL_STEPS, RefinedRows, refined_rows
from hiddenbits.families.logistic_pca.start import expected_statistics
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import Posterior, times, unpack
from hiddenbits.maths.ridge import effective_ridge
from hiddenbits.model_api import Key, Stage

TOLERANCE_FACTOR = 10.0  # of the variational stage: the refinement changes parameters by more than its tolerance
LONGEST_COLUMN_STEP = 5.0  # longer Newton steps of a column are shortened to this length
RETRIED_STEP_SHARE = 0.25  # after a decrease of the objective this share of the step is tried


class RefinedLogistic(Logistic):
    """Logistic PCA by the best Gaussian posteriors; a fit begins with a variational stage, a fit of `Logistic`."""

    def stages(self) -> Sequence[Stage[LogisticParams, LogisticStats]]:
        """Return the variational model, and the refinement, which begins with collapsed dimensions rescaled."""
        variational = Logistic(**{field.name: getattr(self, field.name) for field in fields(Logistic)})
        refinement = Stage(self, lambda params, _: params.revived(), loop=newton)
        return Stage(variational, tolerance=TOLERANCE_FACTOR), refinement

    def online(self) -> OnlineLogistic:
        """Return the form of the model that online EM needs."""
        return OnlineLogistic(**vars(self))

    def prepare(self, params: LogisticParams) -> PreparedLogistic:
        """Return what all blocks of a pass share, in float64: the refinement compares small gains."""
        return self.prepared(params, np.float64)

    def expect(
        self, params: LogisticParams, shared: PreparedLogistic, block: Block, carry: Posterior | None, key: Key
    ) -> tuple[LogisticStats, Posterior]:
        """E-step: a step of each row's posterior, and gradient and matrix of every column's Newton step."""
        rows = self.improved_rows(params, shared, block, carry, 1)
        return newton_statistics(rows, block), rows.posterior

    def improved_rows(
        self, params: LogisticParams, shared: PreparedLogistic, block: Block, carry: Posterior | None, n_steps: int
    ) -> RefinedRows:
        """Return the rows of a block after some steps from their stored posteriors, or from the variational ones."""
        linear, missing = self.linear(shared, block), MissingCells.of(block.observed)
        if carry is None:
            n_variational = min(self.cold_steps, VARIATIONAL_STEPS)
            carry = inner_steps(shared.V4, linear, missing, self.cold(shared, block), n_variational)[0]
        return refined_rows(params, linear, block, missing, carry, n_steps)

    def update(self, params: LogisticParams, stats: LogisticStats) -> LogisticParams:
        """M-step: a Newton step of every column."""
        return params.with_joint(params.joint + newton_step(params, stats, self.ridge))

    def posterior_moments(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side; exact on a grid."""
        if (rule := self.rule(params)) is not None:
            return self.moments_on_grid(params, rule, block)
        if (moments := self.by_pull(params, block)) is not None:
            return moments[:, 1:]
        posterior = self.gaussian_posterior(params, block, refined=True)
        return np.concatenate([posterior.mean, posterior.covariance], axis=1)

    def pseudo_statistics(self, params: LogisticParams, weight: float) -> LogisticStats:
        """Return the statistics that the model expects, for online EM to continue from a fit."""
        return expected_statistics(params, weight, self.ridge, refined=True)


def newton_statistics(rows: RefinedRows, block: Block) -> LogisticStats:
    """Return gradient and matrix of every column's Newton step."""
    x, _ = block.operands()
    posterior, column = rows.posterior, block.weights[:, None]
    extended = column * posterior.extended()
    gradient = sums_over_rows(x, extended) - sums_over_rows(rows.sigma, extended)
    spread = sums_over_rows(rows.slope, column * posterior.covariance)
    gradient[:, :-1] -= times(spread, rows.params.loadings)
    return LogisticStats(
        bound=np.asarray(block.weights @ rows.bound),
        weight=np.asarray(block.weights.sum()),
        moments=sums_over_rows(rows.slope, column * posterior.moments()),
        linear=gradient,
    )


def newton_step(params: LogisticParams, stats: LogisticStats, ridge: float) -> Floats:
    """Return every column's Newton step, (d, q + 1)."""
    ridge, k = effective_ridge(ridge), params.n_components + 1
    gradient = stats.linear - ridge * params.joint
    gradient[:, -1] += ridge * params.center
    step = np.linalg.solve(unpack(stats.moments, k) + ridge * np.eye(k), gradient[..., None])[..., 0]
    size = np.sqrt((step * step).sum(axis=1, keepdims=True))
    return np.asarray(step * np.minimum(1.0, LONGEST_COLUMN_STEP / np.maximum(size, LONGEST_COLUMN_STEP)))


def newton(model: RefinedLogistic, context: FitContext, position: Position) -> tuple[Position, StopReason]:
    """Take Newton steps until they gain no more; return the last accepted position.

    `position.params` are evaluated next; `position.safe` are the last accepted parameters, with `position.objective`.
    """
    limit = context.settings.tol * context.weight
    reason = None
    while reason is None:
        evaluation = evaluate(model, context, position)
        gain, extrapolated = evaluation.objective - position.objective, position.extrapolation.tried
        rounding = ROUNDING * max(abs(evaluation.objective), context.weight, 1.0)
        if not np.isfinite(evaluation.objective) and position.objective == -np.inf:
            position, reason = replace(position, trace=(*position.trace, evaluation.objective)), StopReason.NOT_FINITE
        elif not gain >= (0.0 if extrapolated else -rounding):
            position = _after_decrease(model, position)
        else:
            # A small gain means convergence, unless it is that of an extrapolation, or lost row memory reduced it.
            last_gain = position.last_gain
            understated = last_gain is not None and last_gain > limit and evaluation.memory_may_be_missing
            reason = StopReason.CONVERGED if gain <= limit and not extrapolated and not understated else None
            position = _after_acceptance(model, position, evaluation.params, evaluation.updated, evaluation.objective)
            position = replace(position, row_memory=evaluation.row_memory and evaluation.row_memory.accepted())
        if reason is None and position.n_passes >= context.settings.max_iter:
            reason = StopReason.MAX_ITER
        reason = context.after_pass(position, reason)
    return position, reason


def _after_decrease(model: RefinedLogistic, position: Position) -> Position:
    """Return the position a quarter of the way to the point that decreased the objective."""
    accepted, rejected = model.to_vector(position.safe), model.to_vector(position.params)
    params = model.from_vector(accepted + RETRIED_STEP_SHARE * (rejected - accepted), position.safe)
    extrapolation, trace = position.extrapolation, (*position.trace, position.objective)
    if extrapolation.tried:
        extrapolation = replace(after_trial(extrapolation, accepted=False), tried=True)
    extrapolation = replace(extrapolation, theta0=None)
    return replace(position, params=params, refused=True, trace=trace, extrapolation=extrapolation)


def _after_acceptance(
    model: RefinedLogistic, position: Position, accepted: LogisticParams, updated: LogisticParams, objective: float
) -> Position:
    """Return the position after a full step from an accepted point, or an extrapolation."""
    extrapolation = position.extrapolation
    trace = (*position.trace, objective)
    position = replace(position, params=updated, safe=accepted, refused=False, objective=objective, trace=trace)
    if extrapolation.tried:
        return replace(position, extrapolation=after_trial(extrapolation, accepted=True))
    if position.n_passes < PLAIN_PASSES_FROM_FIT:
        return position
    start, end = model.to_vector(accepted), model.to_vector(updated)
    if extrapolation.theta0 is None:
        return replace(position, extrapolation=replace(extrapolation, theta0=start))
    next_extrapolation, vector = next_point(extrapolation, start, end)
    return replace(position, params=model.from_vector(vector, accepted), extrapolation=next_extrapolation)


# The refinement with statistics that may be averaged while the parameters change, for online EM.
#
# The Newton step of a column, from gradient g and matrix H at w^_then, leads to the w^ that solves
#
#     (H + ridge) w^ = (H w^_then + g) + ridge (0, c)
#
# The right side H w^_then + g stays valid while w^ changes, so it can be averaged over groups of rows. The averages of
# H and of H w^_then + g define a quadratic for all rows so far. Its maximum is the update, which has the form of eq 11.
# Posteriors are not stored between iterations, so each has to converge at once.


class OnlineLogistic(RefinedLogistic):
    """The refinement for online EM: posteriors are not stored, and statistics may be averaged."""

    def expect(
        self, params: LogisticParams, shared: PreparedLogistic, block: Block, carry: Posterior | None, key: Key
    ) -> tuple[LogisticStats, Posterior]:
        """E-step: H, and H w^ + g instead of the gradient."""
        rows = self.improved_rows(params, shared, block, carry, ROW_STEPS)
        stats = newton_statistics(rows, block)
        return replace(stats, linear=stats.linear + times(stats.moments, params.joint)), rows.posterior

    def update(self, params: LogisticParams, stats: LogisticStats) -> LogisticParams:
        """M-step: a Newton step from the averages; it is always accepted, as no further pass evaluates it."""
        gradient = stats.linear - times(stats.moments, params.joint)
        return super().update(params, replace(stats, linear=gradient))
