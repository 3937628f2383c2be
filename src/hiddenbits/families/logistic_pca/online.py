"""A polish whose statistics may be averaged while the map moves, for online EM.

The Newton step of a column, from gradient g and matrix H at w^, leads to the w^ that solves

    (H + ridge) w^ = (H w^_then + g) + ridge (0, c)

The right side does not depend on where the column is when these rows are averaged with others. So an average of H and
of H w^ + g is a quadratic that all rows so far have made, and its maximum is the update: that is the form of the
variational one, eq 11. Rows keep nothing from pass to pass, so each posterior goes its whole way at once.
"""

from __future__ import annotations

from dataclasses import replace

from hiddenbits.families.logistic_pca.params import POLISHED, LogisticParams, LogisticStats
from hiddenbits.families.logistic_pca.polish import newton_step
from hiddenbits.maths.packed_symmetric import times


def to_average(stats: LogisticStats, params: LogisticParams) -> LogisticStats:
    """Return H, and H w^ + g instead of the gradient, of statistics counted at these parameters."""
    return replace(stats, linear=stats.linear + times(stats.moments, params.joint))


def step_from_average(params: LogisticParams, stats: LogisticStats, ridge: float) -> LogisticParams:
    """Return the parameters after a Newton step from such statistics."""
    gradient = stats.linear - times(stats.moments, params.joint)
    stepped = newton_step(params, replace(stats, linear=gradient), ridge)
    return params.with_joint(params.joint + stepped.step, POLISHED)
