"""The best Gaussian posterior of a row, in place of Jaakkola and Jordan's.

    F = Sum_i E[ r_i A_i - ln 2cosh(A_i/2) ] - KL(q || N(0, I)),   A_i ~ N(w_i.mean + b_i, w_i'C w_i)

Steps: C^-1 = I + Sum E[sigma'] w w' and mean += C (W'(t - E[sigma]) - mean), shortened where F would fall.
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

ROUNDING = 1e-13  # a fall of this share is rounding: steps must not hang on it, or equal tables would fit differently
ROW_LENGTHS = (1.0, 0.5, 0.25, 0.0625)  # of a row's step, tried in turn
FIRST_STEPS = 4  # variational steps of a row without a posterior, before its own steps
STILL, MOST_STEPS = 1e-4, 12  # a row whose mean moves by less has settled: a next step would be a tenth of that
ROW_STEPS = 8  # for a posterior that begins at that of the variational bound


def _cells(joint: Floats, posterior: Posterior) -> tuple[Floats, Floats]:
    """Return the mean and the variance of A in every cell."""
    variance = posterior.covariance @ pack_outer(np.ascontiguousarray(joint[:, :-1])).T
    return posterior.extended() @ joint.T, np.maximum(variance, 0.0, out=variance)


class RefinedRows:
    """The posteriors of a block's rows, with F, E[sigma] and E[sigma'] at them."""

    def __init__(
        self, params: LogisticParams, linear: Floats, block: Block, blanks: MissingCells, start: Posterior
    ) -> None:
        self.params, self.linear, self.block, self.blanks = params, linear, block, blanks
        self.q = params.n_components
        self.packed = pack_outer(np.ascontiguousarray(params.loadings))
        self.posterior = start
        self.precision, log_det = invert(start.covariance, self.q)
        self.bound, self.sigma, self.slope = self._evaluate(start, -log_det, linear, blanks)

    def _evaluate(
        self, posterior: Posterior, log_det_precision: Floats, linear: Floats, blanks: MissingCells
    ) -> tuple[Floats, Floats, Floats]:
        log_cosh, sigma, slope = gaussian_cells(*_cells(self.params.joint, posterior), blanks)
        bound = row_dot(linear, posterior.extended()) - log_cosh.sum(axis=1) - posterior.divergence(log_det_precision)
        return bound, sigma, slope

    def step(self, x: Any, some: Any = slice(None)) -> None:
        """Improve some rows, by the longest of four lengths at which their F does not fall; else they stay."""
        W, left = self.params.loadings, np.arange(len(self.linear))[some]
        target = identity(self.q) + self.slope[some] @ self.packed
        gradient = np.asarray(x[some] @ W) - self.sigma[some] @ W - self.posterior.mean[some]
        for length in ROW_LENGTHS:
            everything = len(left) == len(self.linear)
            rows: Any = slice(None) if everything else left
            precision = (1.0 - length) * self.precision[rows] + length * target
            covariance, log_det = invert(precision, self.q)
            tried = Posterior(self.posterior.mean[rows] + length * times(covariance, gradient), covariance)
            blanks = self.blanks if everything else MissingCells.of(self.block.observed.take(left))
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
            left, target, gradient = left[~good], target[~good], gradient[~good]
            if len(left) == 0:
                return


def refined_rows(
    params: LogisticParams, linear: Floats, block: Block, blanks: MissingCells, start: Posterior, n_steps: int = 1
) -> RefinedRows:
    """Return the rows after some steps."""
    rows = RefinedRows(params, linear, block, blanks, start)
    x, _ = block.operands()
    for _ in range(n_steps):
        rows.step(x)
    return rows


def settled_rows(
    params: LogisticParams, linear: Floats, block: Block, blanks: MissingCells, start: Posterior
) -> RefinedRows:
    """Return the rows when their means have come to rest, each after as many steps as it needs."""
    rows = RefinedRows(params, linear, block, blanks, start)
    x, _ = block.operands()
    moving: Any = slice(None)
    for _ in range(MOST_STEPS):
        before = rows.posterior.mean
        rows.step(x, moving)
        moving = np.flatnonzero(np.abs(rows.posterior.mean - before).max(axis=1) > STILL)
        if not len(moving):
            break
    return rows
