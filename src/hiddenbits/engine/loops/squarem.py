"""SQUAREM: squared iterative extrapolation of EM, one pass at a time, which never lowers the objective.

From theta0, two EM steps give theta1 and theta2. With r = theta1 - theta0 and v = (theta2 - theta1) - r, the
extrapolation is

    theta0 + 2 a r + a^2 v,   a = |r| / |v|   (Varadhan & Roland 2008, scheme S3), at least 1 (which is theta2)

It is accepted if its objective is not below that of theta1. Otherwise it is refused: the fit continues from theta2. One
plain EM step follows each extrapolation. A cycle is three passes, after each of which a checkpoint can be written:

1. Evaluate theta0: its update is theta1, and theta0 is stored (`Extrapolation.theta0`).
2. Evaluate theta1: its update is theta2. `next_point` makes the extrapolation, which is evaluated next.
3. Evaluate the extrapolation, which is accepted or refused. `after_trial` adapts the longest step that is allowed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.engine.state import Extrapolation


def next_point(extrapolation: Extrapolation, theta1: Floats, theta2: Floats) -> tuple[Extrapolation, Floats]:
    """Return the state of the extrapolation, and the point extrapolated from theta0, theta1 and theta2."""
    theta0 = extrapolation.theta0
    assert theta0 is not None, "an extrapolation needs three points"  # noqa: S101
    r = theta1 - theta0
    v = theta2 - theta1
    v -= r
    v_length = float(np.sqrt(v @ v))
    a = float(np.sqrt(r @ r)) / v_length if v_length > 0 else 1.0
    at_limit = a >= extrapolation.longest
    a = max(1.0, min(a, extrapolation.longest))
    v *= a * a  # in place: on a wide table these vectors are long
    r *= 2.0 * a
    v += r
    v += theta0
    return replace(extrapolation, tried=True, at_limit=at_limit), v


def after_trial(extrapolation: Extrapolation, *, accepted: bool) -> Extrapolation:
    """Return the state after the pass that evaluated the extrapolation."""
    longest = extrapolation.longest
    if not accepted:
        longest = max(4.0, longest / 4.0)
    elif extrapolation.at_limit:
        longest *= 4.0
    return Extrapolation(extrapolation.begins_after, longest=longest)
