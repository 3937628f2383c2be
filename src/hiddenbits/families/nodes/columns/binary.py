"""Binary columns: leave-one-out predictions."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats


def leave_one_out(r: Floats, theta: Floats, x: AnyArray, o: AnyArray) -> Floats:
    """Return P(x_j = 1 | the other observed cells) of each cell, from r = P(node | row) and theta, (K, d).

    Without cell j the posterior is proportional to r_k / P(x_j | k). The mean of theta_jk over it is
    1 / Sum_k(r_k / theta_jk) if x_j = 1, Sum_k r_k theta_jk/(1 - theta_jk) / Sum_k r_k/(1 - theta_jk) if x_j = 0,
    and Sum_k r_k theta_jk if the cell is missing.
    """
    if_one = 1.0 / (r @ (1.0 / theta))
    if_zero = (r @ (theta / (1.0 - theta))) / (r @ (1.0 / (1.0 - theta)))
    return np.where(o == 0, r @ theta, np.where(x == 1, if_one, if_zero))
