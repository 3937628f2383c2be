"""Extrapolated EM that never goes down: squared iterative extrapolation, one pass at a time.

From theta0, two EM steps give theta1 and theta2. With r = theta1 - theta0 and v = (theta2 - theta1) - r the leap is

    theta0 + 2 a r + a^2 v,   a = |r| / |v|   (Varadhan & Roland 2008, scheme S3), at least 1 (which is theta2)

and it is kept only if the objective there is not below that at theta1; otherwise the fit goes on from theta2. One
plain EM step follows each leap. Each call of `step` consumes one pass, so that a checkpoint can be written after it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.engine.state import Leap


def next_point(leap: Leap, theta1: Floats, theta2: Floats) -> tuple[Leap, Floats]:
    """Return the leap from three points, and where it lands."""
    theta0 = leap.theta0
    assert theta0 is not None, "a leap begins at phase 0"  # noqa: S101
    r = theta1 - theta0
    v = theta2 - theta1
    v -= r
    v_size = float(np.sqrt(v @ v))
    a = float(np.sqrt(r @ r)) / v_size if v_size > 0 else 1.0
    at_limit = a >= leap.longest
    a = max(1.0, min(a, leap.longest))
    v *= a * a  # in place: on a wide table these vectors are long
    r *= 2.0 * a
    v += r
    v += theta0
    return replace(leap, phase=2, at_limit=at_limit), v


def landed(leap: Leap, *, good: bool) -> Leap:
    """Return the state after the pass that looked at the leap."""
    if good:
        return Leap(0, None, leap.longest * 4.0 if leap.at_limit else leap.longest)
    return Leap(0, None, max(4.0, leap.longest / 4.0))
