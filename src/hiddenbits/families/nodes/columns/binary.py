"""Binary columns: P(bit = 1) at each node, and a cell without its own evidence."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats


def without_itself(r: Floats, theta: Floats, x: AnyArray, o: AnyArray) -> Floats:
    """Return P(x_j = 1 | the other observed cells) of each cell, from r = P(node | row) and theta, (K, d).

    Without cell j the nodes have the weights r_k / P(x_j | k), so that with x_j = 1 the answer is
    1 / Sum_k(r_k / theta_jk), with x_j = 0 it is Sum_k r_k theta/(1 - theta) / Sum_k r_k/(1 - theta), and for
    a missing cell Sum_k r_k theta_jk.
    """
    if_one = 1.0 / (r @ (1.0 / theta))
    if_zero = (r @ (theta / (1.0 - theta))) / (r @ (1.0 / (1.0 - theta)))
    return np.where(o == 0, r @ theta, np.where(x == 1, if_one, if_zero))
