"""The refinement of logistic PCA: the best Gaussian posteriors there are, and Newton's method for the columns.

F is the bound of `refined_rows.py`. A column's Newton step has the gradient Sum (t - E[sigma]) x^ - Sum E[sigma'] C^ w^
and the matrix Sum E[sigma'] <x^ x^'>.

Whether a step is too long cannot be seen within a block. So the loop (`newton`) looks where whole steps lead, with
extrapolations in between, and keeps what does not lower F. Where it falls, the next pass looks a quarter of the way.
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
from hiddenbits.families.logistic_pca.model import Logistic, Shared
from hiddenbits.families.logistic_pca.params import LogisticParams, LogisticStats
from hiddenbits.families.logistic_pca.refined_rows import FIRST_STEPS, ROW_STEPS, RefinedRows, refined_rows
from hiddenbits.families.logistic_pca.start import expected_statistics
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import Posterior, times, unpack
from hiddenbits.maths.ridge import effective_ridge
from hiddenbits.model_api import Key, Stage

ROUGH = 10.0  # the variational stage stops at 10 times the tolerance: the refinement changes the parameters by more
LONGEST_STEP = 5.0  # a column's Newton step is cut to this
BACK = 0.25  # of the way, where the objective fell


class RefinedLogistic(Logistic):
    """Logistic PCA by the best Gaussian posteriors; a fit begins with that of `Logistic`, the variational stage."""

    def stages(self) -> Sequence[Stage[LogisticParams, LogisticStats]]:
        """Return the variational model, and the refinement with lost dimensions drawn out again."""
        return (
            Stage(Logistic(**{field.name: getattr(self, field.name) for field in fields(Logistic)}), tolerance=ROUGH),
            Stage(self, lambda params, _: params.revived(), loop=newton),
        )

    def online(self) -> OnlineLogistic:
        """Return the form of the model that online EM needs."""
        return OnlineLogistic(**vars(self))

    def prepare(self, params: LogisticParams) -> Shared:
        """Return what every block of a pass needs, in float64: the refinement weighs small gains."""
        return self.prepared(params, np.float64)

    def expect(
        self, params: LogisticParams, shared: Shared, block: Block, carry: Posterior | None, key: Key
    ) -> tuple[LogisticStats, Posterior]:
        """E-step: a step of each row's posterior, and gradient and matrix of every column's Newton step."""
        rows = self.rows_after(params, shared, block, carry, 1)
        return newton_statistics(rows, block), rows.posterior

    def rows_after(
        self, params: LogisticParams, shared: Shared, block: Block, carry: Posterior | None, n_steps: int
    ) -> RefinedRows:
        """Return the rows of a block after so many steps from what they kept, or from the variational posterior."""
        linear, blanks = self.linear(shared, block), MissingCells.of(block.observed)
        if carry is None:
            n_cold = min(self.cold_steps, FIRST_STEPS)
            carry = inner_steps(shared.V4, linear, blanks, self.cold(shared, block), n_cold)[0]
        return refined_rows(params, linear, block, blanks, carry, n_steps)

    def update(self, params: LogisticParams, stats: LogisticStats) -> LogisticParams:
        """M-step: a Newton step of every column."""
        return params.with_joint(params.joint + newton_step(params, stats, self.ridge))

    def posterior_moments(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side; exact where a grid is."""
        if (rule := self.rule(params)) is not None:
            return self.moments_on_grid(params, rule, block)
        if (moments := self.by_pull(params, block)) is not None:
            return moments[:, 1:]
        posterior = self.gaussian_posterior(params, block, refined=True)
        return np.concatenate([posterior.mean, posterior.covariance], axis=1)

    def pseudo_statistics(self, params: LogisticParams, weight: float) -> LogisticStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
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
    return np.asarray(step * np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP)))


def newton(model: RefinedLogistic, context: FitContext, now: Position) -> tuple[Position, StopReason]:
    """Take Newton steps until they gain no more; the position that is returned is the last one that was kept.

    `now.params` is where the pass looks, `now.safe` the last point that was kept, whose objective is `now.objective`.
    """
    limit = context.settings.tol * context.weight
    reason = None
    while reason is None:
        seen = evaluate(model, context, now)
        gain, tried = seen.objective - now.objective, now.extrapolation.tried
        rounding = ROUNDING * max(abs(seen.objective), context.weight, 1.0)
        if not np.isfinite(seen.objective) and now.objective == -np.inf:
            now, reason = replace(now, trace=(*now.trace, seen.objective)), StopReason.NOT_FINITE
        elif not gain >= (0.0 if tried else -rounding):
            now = _back(model, now)
        else:
            # A small gain is the end unless an extrapolation made it; where rows lost their memory it is understated.
            quick_before = now.last_gain is not None and now.last_gain > limit and seen.memory_may_be_missing
            reason = StopReason.CONVERGED if gain <= limit and not tried and not quick_before else None
            now = _forward(model, now, seen.params, seen.updated, seen.objective)
            now = replace(now, row_memory=seen.row_memory and seen.row_memory.accepted())
        if reason is None and now.n_passes >= context.settings.max_iter:
            reason = StopReason.MAX_ITER
        reason = context.after_pass(now, reason)
    return now, reason


def _back(model: RefinedLogistic, now: Position) -> Position:
    """Return the position that looks a quarter of the way to where the objective was lower."""
    kept, tried = model.to_vector(now.safe), model.to_vector(now.params)
    params = model.from_vector(kept + BACK * (tried - kept), now.safe)
    extrapolation, trace = now.extrapolation, (*now.trace, now.objective)
    if extrapolation.tried:
        extrapolation = replace(after_trial(extrapolation, accepted=False), tried=True)
    return replace(now, params=params, refused=True, trace=trace, extrapolation=replace(extrapolation, theta0=None))


def _forward(
    model: RefinedLogistic, now: Position, kept: LogisticParams, step: LogisticParams, objective: float
) -> Position:
    """Return the position that looks at a whole step from a point that is kept, or at an extrapolation."""
    before = now.extrapolation
    now = replace(now, params=step, safe=kept, refused=False, objective=objective, trace=(*now.trace, objective))
    if before.tried:
        return replace(now, extrapolation=after_trial(before, accepted=True))
    if now.n_passes < PLAIN_PASSES_FROM_FIT:
        return now
    here, there = model.to_vector(kept), model.to_vector(step)
    if before.theta0 is None:
        return replace(now, extrapolation=replace(before, theta0=here))
    extrapolation, vector = next_point(before, here, there)
    return replace(now, params=model.from_vector(vector, kept), extrapolation=extrapolation)


# The refinement with statistics that may be averaged while the map moves, for online EM.
#
# The Newton step of a column, from gradient g and matrix H at w^, leads to the w^ that solves
#
#     (H + ridge) w^ = (H w^_then + g) + ridge (0, c)
#
# The right side does not depend on where the column is when these rows are averaged with others. So an average of H
# and of H w^ + g is a quadratic that all rows so far have made, and its maximum is the update: that is the form of
# the variational one, eq 11. Rows keep nothing from pass to pass, so each posterior goes its whole way at once.


class OnlineLogistic(RefinedLogistic):
    """The refinement as online EM needs it: rows keep nothing, and statistics may be averaged."""

    def expect(
        self, params: LogisticParams, shared: Shared, block: Block, carry: Posterior | None, key: Key
    ) -> tuple[LogisticStats, Posterior]:
        """E-step: H, and H w^ + g instead of the gradient."""
        rows = self.rows_after(params, shared, block, carry, ROW_STEPS)
        stats = newton_statistics(rows, block)
        return replace(stats, linear=stats.linear + times(stats.moments, params.joint)), rows.posterior

    def update(self, params: LogisticParams, stats: LogisticStats) -> LogisticParams:
        """M-step: a Newton step from the average, at once: there is no pass to look where it leads."""
        gradient = stats.linear - times(stats.moments, params.joint)
        return super().update(params, replace(stats, linear=gradient))
