"""Extrapolated EM that never goes down: squared iterative extrapolation, one pass at a time.

From theta0, two EM steps give theta1 and theta2. With r = theta1 - theta0 and v = (theta2 - theta1) - r, the
extrapolation is

    theta0 + 2 a r + a^2 v,   a = |r| / |v|   (Varadhan & Roland 2008, scheme S3), at least 1 (which is theta2)

and it is kept only if the objective there is not below that at theta1; otherwise the fit continues from the update of
theta1. One plain EM step follows each extrapolation. Each step takes one pass, so that a checkpoint can be written
after it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.engine.state import Extrapolation


def next_point(extrapolation: Extrapolation, theta1: Floats, theta2: Floats) -> tuple[Extrapolation, Floats]:
    """Return the extrapolation from three points, and where it lands."""
    theta0 = extrapolation.theta0
    assert theta0 is not None, "an extrapolation needs three points"  # noqa: S101
    r = theta1 - theta0
    v = theta2 - theta1
    v -= r
    v_size = float(np.sqrt(v @ v))
    a = float(np.sqrt(r @ r)) / v_size if v_size > 0 else 1.0
    at_limit = a >= extrapolation.longest
    a = max(1.0, min(a, extrapolation.longest))
    v *= a * a  # in place: on a wide table these vectors are long
    r *= 2.0 * a
    v += r
    v += theta0
    return replace(extrapolation, tried=True, at_limit=at_limit), v


def adjusted(extrapolation: Extrapolation, *, good: bool) -> Extrapolation:
    """Return the state after the pass that looked at the extrapolation."""
    longest = extrapolation.longest
    if not good:
        longest = max(4.0, longest / 4.0)
    elif extrapolation.at_limit:
        longest *= 4.0
    return Extrapolation(extrapolation.begins_after, longest=longest)
