"""The polish: the best Gaussian posterior there is, in place of Jaakkola and Jordan's.

    F = Sum_i E[ r_i A_i - ln 2cosh(A_i/2) ] - KL(q || N(0, I)),   A_i ~ N(w_i.mean + b_i, w_i'C w_i)

Rows: C^-1 = I + Sum E[sigma'] w w' and mean += C (W'(t - E[sigma]) - mean), shortened where F would fall. Columns:
Newton with the gradient Sum (t - E[sigma]) x^ - Sum E[sigma'] C^ w^ and the matrix Sum E[sigma'] <x^ x^'>.

Whether a column's step is too long cannot be seen within a block. So the engine looks where the whole steps lead, and
takes them as long as F does not fall, with extrapolations in between. Where it falls, a pass measures F of every column
at three lengths of its step (0 among them), and the update takes the best. The objective of a measuring pass is F at
what will be taken: it never falls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.operands import Operand, sums_over_rows
from hiddenbits.families.logistic_pca.gaussian_cells import gaussian_cells
from hiddenbits.families.logistic_pca.params import (
    LENGTHS,
    POLISHED,
    LogisticParams,
    LogisticStats,
)
from hiddenbits.maths.missing_cells import Blanks
from hiddenbits.maths.packed_symmetric import (
    Posterior,
    identity,
    invert,
    pack_outer,
    packed_size,
    row_dot,
    times,
    unpack,
)
from hiddenbits.maths.ridge import effective_ridge, log_prior

ROUNDING = 1e-13  # a fall of this share is rounding: steps must not hang on it, or equal tables would fit differently
ROW_LENGTHS = (1.0, 0.5, 0.25, 0.0625)  # of a row's step, tried in turn
ROW_STEPS = 8  # for a posterior that begins at that of the variational bound
LONGEST_STEP = 5.0  # a column's Newton step is cut to this


def _cells(joint: Floats, posterior: Posterior) -> tuple[Floats, Floats]:
    """Return the mean and the variance of A in every cell."""
    variance = posterior.covariance @ pack_outer(np.ascontiguousarray(joint[:, :-1])).T
    return posterior.extended() @ joint.T, np.maximum(variance, 0.0, out=variance)


class PolishedRows:
    """The posteriors of a block's rows, with F, E[sigma] and E[sigma'] at them."""

    def __init__(self, params: LogisticParams, linear: Floats, block: Block, blanks: Blanks, start: Posterior) -> None:
        self.params, self.linear, self.block, self.blanks = params, linear, block, blanks
        self.q = params.n_components
        self.packed = pack_outer(np.ascontiguousarray(params.loadings))
        self.posterior = start
        self.precision, log_det = invert(start.covariance, self.q)
        self.bound, self.sigma, self.slope = self._evaluate(start, -log_det, linear, blanks)

    def _evaluate(
        self, posterior: Posterior, log_det_precision: Floats, linear: Floats, blanks: Blanks
    ) -> tuple[Floats, Floats, Floats]:
        log_cosh, sigma, slope = gaussian_cells(*_cells(self.params.joint, posterior), blanks)
        bound = row_dot(linear, posterior.extended()) - log_cosh.sum(axis=1) - posterior.divergence(log_det_precision)
        return bound, sigma, slope

    def step(self, x: Any) -> None:
        """Improve every row, by the longest of four lengths at which its F does not fall; else it stays."""
        W = self.params.loadings
        target = identity(self.q) + self.slope @ self.packed
        gradient = np.asarray(x @ W) - self.sigma @ W - self.posterior.mean
        left = np.arange(len(gradient))
        for length in ROW_LENGTHS:
            everything = len(left) == len(gradient)
            rows: Any = slice(None) if everything else left
            precision = (1.0 - length) * self.precision[rows] + length * target[rows]
            covariance, log_det = invert(precision, self.q)
            tried = Posterior(self.posterior.mean[rows] + length * times(covariance, gradient[rows]), covariance)
            blanks = self.blanks if everything else Blanks.of(self.block.observed.take(left))
            bound, sigma, slope = self._evaluate(tried, log_det, self.linear[rows], blanks)
            good = bound >= self.bound[rows] - ROUNDING * np.abs(self.bound[rows])
            if everything and good.all():
                self.posterior, self.precision = tried, precision
                self.bound, self.sigma, self.slope = bound, sigma, slope
                return
            kept = left[good]
            self.posterior = Posterior(self.posterior.mean.copy(), self.posterior.covariance.copy())
            self.posterior.mean[kept], self.posterior.covariance[kept] = tried.mean[good], covariance[good]
            self.precision[kept], self.bound[kept] = precision[good], bound[good]
            self.sigma[kept], self.slope[kept] = sigma[good], slope[good]
            left = left[~good]
            if len(left) == 0:
                return


def polished_rows(
    params: LogisticParams, linear: Floats, block: Block, blanks: Blanks, start: Posterior, n_steps: int = 1
) -> PolishedRows:
    """Return the rows after some steps."""
    rows = PolishedRows(params, linear, block, blanks, start)
    x, _ = block.operands()
    for _ in range(n_steps):
        rows.step(x)
    return rows


def sum_polished(rows: PolishedRows, weights: Floats, operands: tuple[Operand, Operand]) -> LogisticStats:
    """Return gradient and matrix of every column's Newton step, for rows that count with these weights."""
    x, _ = operands
    posterior, column = rows.posterior, weights[:, None]
    extended = column * posterior.extended()
    gradient = sums_over_rows(x, extended) - sums_over_rows(rows.sigma, extended)
    spread = sums_over_rows(rows.slope, column * posterior.covariance)
    gradient[:, :-1] -= times(spread, rows.params.loadings)
    return LogisticStats(
        bound=np.asarray(weights @ rows.bound),
        weight=np.asarray(weights.sum()),
        moments=sums_over_rows(rows.slope, column * posterior.moments()),
        linear=gradient,
        softplus=np.zeros((len(gradient), 0)),
    )


def newton_step(params: LogisticParams, stats: LogisticStats, ridge: float) -> LogisticParams:
    """Return the same parameters with every column's Newton step, to be measured in the next pass."""
    ridge, k = effective_ridge(ridge), params.n_components + 1
    gradient = stats.linear - ridge * params.joint
    gradient[:, -1] += ridge * params.centre
    step = np.linalg.solve(unpack(stats.moments, k) + ridge * np.eye(k), gradient[..., None])[..., 0]
    size = np.sqrt((step * step).sum(axis=1, keepdims=True))
    return replace(params, step=step * np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP)))


def measure_step(
    params: LogisticParams, weights: Floats, operands: tuple[Operand, Operand], blanks: Blanks, posterior: Posterior
) -> LogisticStats:
    """Sum E[ln 2cosh(A/2)] of every column at three lengths of its step, with the posteriors as they are."""
    x, o = operands
    extended = weights[:, None] * posterior.extended()
    _, log_det = invert(posterior.covariance, params.n_components)
    softplus = [
        weights @ gaussian_cells(*_cells(params.joint + length * params.step, posterior), blanks)[0]
        for length in LENGTHS
    ]
    return LogisticStats(
        bound=np.asarray(-(weights @ posterior.divergence(-log_det))),
        weight=np.asarray(weights.sum()),
        moments=np.zeros((params.n_columns, packed_size(params.n_components + 1))),
        linear=sums_over_rows(x, extended) - 0.5 * sums_over_rows(o, extended),
        softplus=np.stack(softplus, axis=1),
    )


def _columns(params: LogisticParams, stats: LogisticStats, ridge: float) -> Floats:
    """Return the share of every column in the objective, at each length of its step."""
    shares = []
    for number, length in enumerate(LENGTHS):
        joint = params.joint + length * params.step
        shares.append(row_dot(joint, stats.linear) - stats.softplus[:, number] + log_prior(joint, params.centre, ridge))
    return np.stack(shares, axis=1)


def _best(shares: Floats) -> Rows:
    """Return the best length of every column's step; the longest of those that differ by rounding alone."""
    top = shares.max(axis=1, keepdims=True)
    return np.asarray((shares >= top - ROUNDING * np.abs(top)).argmax(axis=1))


def polished_objective(params: LogisticParams, stats: LogisticStats, ridge: float) -> float:
    """Return the objective at the steps that will be taken."""
    shares = _columns(params, stats, ridge)
    return float(stats.bound) + float(shares[np.arange(len(shares)), _best(shares)].sum())


def take_step(params: LogisticParams, stats: LogisticStats, ridge: float) -> LogisticParams:
    """Take the best length of every column's step."""
    length = np.asarray(LENGTHS)[_best(_columns(params, stats, ridge))]
    return params.with_joint(params.joint + length[:, None] * params.step, POLISHED)


# A polish whose statistics may be averaged while the map moves, for online EM.
#
# The Newton step of a column, from gradient g and matrix H at w^, leads to the w^ that solves
#
#     (H + ridge) w^ = (H w^_then + g) + ridge (0, c)
#
# The right side does not depend on where the column is when these rows are averaged with others. So an average of H
# and of H w^ + g is a quadratic that all rows so far have made, and its maximum is the update: that is the form of
# the variational one, eq 11. Rows keep nothing from pass to pass, so each posterior goes its whole way at once.


def to_average(stats: LogisticStats, params: LogisticParams) -> LogisticStats:
    """Return H, and H w^ + g instead of the gradient, of statistics counted at these parameters."""
    return replace(stats, linear=stats.linear + times(stats.moments, params.joint))


def step_from_average(params: LogisticParams, stats: LogisticStats, ridge: float) -> LogisticParams:
    """Return the parameters after a Newton step from such statistics."""
    gradient = stats.linear - times(stats.moments, params.joint)
    stepped = newton_step(params, replace(stats, linear=gradient), ridge)
    return params.with_joint(params.joint + stepped.step, POLISHED)
