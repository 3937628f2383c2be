"""Logistic PCA as online EM needs it: a polish whose statistics may be averaged while the map moves.

The Newton step of a column, from gradient g and matrix H at w^, leads to the w^ that solves

    (H + ridge) w^ = (H w^_then + g) + ridge (0, c)

The right side does not depend on where the column is when these rows are averaged with others. So an average of H and
of H w^ + g is a quadratic that all rows so far have made, and its maximum is the update: that is the form of the
variational one, eq 11. Rows keep nothing from pass to pass, so each posterior goes its whole way at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import POLISHED, LogisticParams, LogisticStats
from hiddenbits.families.logistic_pca.polish import ROW_STEPS, PolishedRows, newton_step
from hiddenbits.families.logistic_pca.start import expected_statistics
from hiddenbits.maths.packed_symmetric import times

Floats = NDArray[np.float64]


class OnlineLogistic(Logistic):
    """The model; hyperparameters only."""

    def row_steps(self, params: LogisticParams) -> int:
        """Return the steps that the posterior of a row makes in a pass of the polish: all that it needs."""
        return ROW_STEPS

    def sum_polish(self, rows: PolishedRows, weights: Floats, operands: tuple[Any, Any]) -> LogisticStats:
        """Return H, and H w^ + g instead of the gradient."""
        stats = super().sum_polish(rows, weights, operands)
        return replace(stats, linear=stats.linear + times(stats.moments, rows.params.joint))

    def update(self, params: LogisticParams, stats: LogisticStats) -> LogisticParams:
        """M-step. In the polish a Newton step from the average, at once: there is no pass to measure it."""
        if float(params.stage) != POLISHED:
            return super().update(params, stats)
        gradient = stats.linear - times(stats.moments, params.joint)
        stepped = newton_step(params, replace(stats, linear=gradient), self.ridge)
        return params.with_joint(params.joint + stepped.step, POLISHED)

    def pseudo_statistics(self, params: LogisticParams, weight: float) -> LogisticStats:
        """Return the statistics of rows that are just as the model expects, for online EM to go on from a fit."""
        if float(params.stage) != POLISHED:
            return super().pseudo_statistics(params, weight)
        return expected_statistics(params, weight, self.ridge, polished=True)
