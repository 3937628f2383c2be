"""The ridge penalty: the normal prior of all latent trait models on the coefficients and intercept of each column."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.maths.packed_symmetric import row_dot

SMALLEST_RIDGE = 1e-9  # instead of a ridge of 0, so that a column without observed cells has a solution


def effective_ridge(ridge: float) -> float:
    """Return the ridge, but at least SMALLEST_RIDGE, so that the system of every column can be solved."""
    return max(ridge, SMALLEST_RIDGE)


def log_prior(joint: Floats, center: Floats, ridge: float) -> Floats:
    """Return ln p(W, b) of each column, up to a constant: -(ridge/2) (|W|^2 + (b - c)^2), from W and b side by side."""
    deviation = joint.copy()
    deviation[:, -1] -= center
    return np.asarray(-0.5 * effective_ridge(ridge) * row_dot(deviation, deviation))
