"""The best Gaussian posterior of a row, which replaces the posterior of Jaakkola and Jordan's bound.

    F = Sum_i E[ r_i A_i - ln 2cosh(A_i/2) ] - KL(q || N(0, I)),   A_i ~ N(w_i.mean + b_i, w_i'C w_i)

Steps: C^-1 = I + Sum E[sigma'] w w' and mean += C (W'(t - E[sigma]) - mean), shortened where F would decrease.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.logistic_pca.gaussian_cells import gaussian_cells
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import Posterior, identity, invert, pack_outer, row_dot, times

ROUNDING = 1e-13  # a smaller relative decrease is rounding: if steps depended on it, equal tables would fit differently
STEP_LENGTHS = (1.0, 0.5, 0.25, 0.0625)  # shares of a row's full step, tried in turn
VARIATIONAL_STEPS = 4  # for a row without a stored posterior, before those of the refinement
# A row whose mean moves by less has converged, as the next step would be a tenth of that.
CONVERGED_MOVE, MAX_ROW_STEPS = 1e-4, 12
ROW_STEPS = 8  # steps of a row from the variational posterior in online EM


def _cells(joint: Floats, posterior: Posterior) -> tuple[Floats, Floats]:
    """Return the mean and the variance of A in every cell."""
    variance = posterior.covariance @ pack_outer(np.ascontiguousarray(joint[:, :-1])).T
    return posterior.extended() @ joint.T, np.maximum(variance, 0.0, out=variance)


class RefinedRows:
    """The posteriors of a block's rows, with F, E[sigma] and E[sigma'] at them."""

    def __init__(
        self, params: LogisticParams, linear: Floats, block: Block, missing: MissingCells, start: Posterior
    ) -> None:
        self.params, self.linear, self.block, self.missing = params, linear, block, missing
        self.q = params.n_components
        self.packed = pack_outer(np.ascontiguousarray(params.loadings))
        self.posterior = start
        self.precision, log_det = invert(start.covariance, self.q)
        self.bound, self.sigma, self.slope = self._evaluate(start, -log_det, linear, missing)

    def _evaluate(
        self, posterior: Posterior, log_det_precision: Floats, linear: Floats, missing: MissingCells
    ) -> tuple[Floats, Floats, Floats]:
        log_cosh, sigma, slope = gaussian_cells(*_cells(self.params.joint, posterior), missing)
        bound = row_dot(linear, posterior.extended()) - log_cosh.sum(axis=1) - posterior.divergence(log_det_precision)
        return bound, sigma, slope

    def step(self, x: Any, rows_to_move: Any = slice(None)) -> None:
        """Improve each row by the longest of four steps that does not decrease its F, if there is one."""
        W, remaining = self.params.loadings, np.arange(len(self.linear))[rows_to_move]
        target = identity(self.q) + self.slope[rows_to_move] @ self.packed
        gradient = np.asarray(x[rows_to_move] @ W) - self.sigma[rows_to_move] @ W - self.posterior.mean[rows_to_move]
        for length in STEP_LENGTHS:
            all_rows = len(remaining) == len(self.linear)
            rows: Any = slice(None) if all_rows else remaining
            precision = (1.0 - length) * self.precision[rows] + length * target
            covariance, log_det = invert(precision, self.q)
            candidate = Posterior(self.posterior.mean[rows] + length * times(covariance, gradient), covariance)
            missing = self.missing if all_rows else MissingCells.of(self.block.observed.take(remaining))
            bound, sigma, slope = self._evaluate(candidate, log_det, self.linear[rows], missing)
            good = bound >= self.bound[rows] - ROUNDING * np.abs(self.bound[rows])
            if all_rows and good.all():
                self.posterior, self.precision = candidate, precision
                self.bound, self.sigma, self.slope = bound, sigma, slope
                return
            accepted = remaining[good]
            self.posterior = Posterior(self.posterior.mean.copy(), self.posterior.covariance.copy())
            self.posterior.mean[accepted], self.posterior.covariance[accepted] = candidate.mean[good], covariance[good]
            self.precision[accepted], self.bound[accepted] = precision[good], bound[good]
            self.sigma[accepted], self.slope[accepted] = sigma[good], slope[good]
            remaining, target, gradient = remaining[~good], target[~good], gradient[~good]
            if len(remaining) == 0:
                return


def refined_rows(
    params: LogisticParams, linear: Floats, block: Block, missing: MissingCells, start: Posterior, n_steps: int = 1
) -> RefinedRows:
    """Return the rows after some steps."""
    rows = RefinedRows(params, linear, block, missing, start)
    x, _ = block.operands()
    for _ in range(n_steps):
        rows.step(x)
    return rows


def converged_rows(
    params: LogisticParams, linear: Floats, block: Block, missing: MissingCells, start: Posterior
) -> RefinedRows:
    """Return the rows after their means have converged, each after as many steps as it needs."""
    rows = RefinedRows(params, linear, block, missing, start)
    x, _ = block.operands()
    moving: Any = slice(None)
    for _ in range(MAX_ROW_STEPS):
        before = rows.posterior.mean
        rows.step(x, moving)
        moving = np.flatnonzero(np.abs(rows.posterior.mean - before).max(axis=1) > CONVERGED_MOVE)
        if not len(moving):
            break
    return rows
