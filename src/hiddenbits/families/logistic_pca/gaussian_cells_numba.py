"""Compiled twins of the sums of `gaussian_cells.py`, for whoever has numba (the extra `fast`).

One exponential gives all three numbers of a cell at a node: with u = exp(-|A|), sigma(|A|) = 1/(1 + u),
sigma' = u/(1 + u)^2 and ln 2cosh(A/2) = |A|/2 + ln(1 + u). Exponential and logarithm are polynomials, so that the
compiler works on several cells at once; their errors are below 1e-14.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exponential_numba import compiled, exp_parts, fitted

CELLS = 512  # cells that are worked on together


def _log_ratio(w: Floats) -> Floats:
    """Return ln((1 + z)/(1 - z)) / z, w = z^2: its series."""
    return np.asarray(sum(2.0 / (2 * k + 1) * w**k for k in range(30)))


L0, L1, L2, L3, L4, L5, L6, L7, L8 = fitted(_log_ratio, 8, 0.0, 1.0 / 9.0)


@compiled
def _exp_minus(a: Any) -> Any:
    """Return exp(-a), a >= 0."""
    power, rest = exp_parts(-a)
    return power + rest


@compiled
def _log_one_plus(u: Any) -> Any:
    """Return ln(1 + u), 0 <= u <= 1."""
    z = u / (2.0 + u)
    w = z * z
    w2 = w * w
    w4 = w2 * w2
    low = (L0 + L1 * w) + w2 * (L2 + L3 * w)
    high = (L4 + L5 * w) + w2 * (L6 + L7 * w)
    return z * (low + w4 * (high + w4 * L8))


@compiled
def log_cosh(mean: AnyArray, spread: AnyArray, nodes: Floats, weights: Floats, out: AnyArray) -> None:
    """Put E[ln 2cosh(A/2)] of every cell into `out`; all arrays have one axis."""
    for start in range(0, len(mean), CELLS):
        stop = min(start + CELLS, len(mean))
        m, s, total = mean[start:stop], spread[start:stop], out[start:stop]
        for c in range(len(m)):
            total[c] = 0.0
        for j in range(len(nodes)):
            node, weight = nodes[j], weights[j]
            for c in range(len(m)):
                a = abs(m[c] + s[c] * node)
                total[c] += weight * (0.5 * a + _log_one_plus(_exp_minus(a)))


@compiled
def all_three(
    mean: AnyArray, spread: AnyArray, nodes: Floats, weights: Floats, logs: AnyArray, sigma: AnyArray, slope: AnyArray
) -> None:
    """Put E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)] of every cell into the last three; all have one axis."""
    for start in range(0, len(mean), CELLS):
        stop = min(start + CELLS, len(mean))
        m, s = mean[start:stop], spread[start:stop]
        first, second, third = logs[start:stop], sigma[start:stop], slope[start:stop]
        for c in range(len(m)):
            first[c] = second[c] = third[c] = 0.0
        for j in range(len(nodes)):
            node, weight = nodes[j], weights[j]
            for c in range(len(m)):
                height = m[c] + s[c] * node
                a = abs(height)
                u = _exp_minus(a)
                share = 1.0 / (1.0 + u)
                first[c] += weight * (0.5 * a + _log_one_plus(u))
                second[c] += weight * (share if height >= 0.0 else u * share)
                third[c] += weight * (u * share * share)
