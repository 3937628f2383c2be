"""The compiled twin of `Halves.add_block`, with numba (the extra `fast`): the same sums in one sweep.

For every pair of a high and a low state one loop over the columns computes 1 + u z, its reciprocal, and the product
whose logarithm gives the state's weight; another loop adds the weighted reciprocals. Only the sums of the low
states are arrays of (state, column) size.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from hiddenbits.array_types import Floats

HEADROOM_NATS = 300.0  # growth of the largest log weight after which all sums are scaled down


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def add_states(
    u: Floats,
    starts: Floats,
    squared: Floats,
    low_scores: Floats,
    columns_a_log: int,
) -> tuple[float, Any, Any, Any]:
    """Return the scale, the weight of each pair of states, and Sum of weight / (1 + u z) for high and low states.

    u (S, d) = exp(2a), starts (S,), squared (L, d) = z, low_scores (L,). The second result is
    (S, L), the third (S, d), the fourth (L, d).
    """
    n_high, d = u.shape
    n_low = len(low_scores)
    weights = np.zeros((n_high, n_low))
    high_sums, low_sums = np.zeros((n_high, d)), np.zeros((n_low, d))
    r = np.empty(d)
    scale = -math.inf
    for s in range(n_high):
        u_state = u[s]
        for t in range(n_low):
            z = squared[t]
            score = starts[s] + low_scores[t]
            j = 0
            while j < d:
                stop = min(j + columns_a_log, d)
                product = 1.0
                for k in range(j, stop):
                    cell = 1.0 + u_state[k] * z[k]
                    product *= cell
                    r[k] = 1.0 / cell
                score += math.log(product)
                j = stop
            if score > scale + HEADROOM_NATS or scale == -math.inf:
                shrink = math.exp(scale - score) if scale > -math.inf else 0.0
                for a in range(s + 1):
                    for b in range(n_low):
                        weights[a, b] *= shrink
                    for k in range(d):
                        high_sums[a, k] *= shrink
                for b in range(n_low):
                    for k in range(d):
                        low_sums[b, k] *= shrink
                scale = score
            w = math.exp(score - scale)
            weights[s, t] = w
            for k in range(d):
                term = w * r[k]
                high_sums[s, k] += term
                low_sums[t, k] += term
    return scale, weights, high_sums, low_sums
