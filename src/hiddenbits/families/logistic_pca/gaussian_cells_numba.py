"""Compiled twins of the sums of `gaussian_cells.py`, for whoever has numba (the extra `fast`).

One exponential gives all three numbers of a cell at a node: with u = exp(-|A|), sigma(|A|) = 1/(1 + u),
sigma' = u/(1 + u)^2 and ln 2cosh(A/2) = |A|/2 + ln(1 + u). Exponential and logarithm are polynomials, so that the
compiler works on several cells at once; their errors are below 1e-14.
"""

from __future__ import annotations

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exp_numba import compiled, exp_minus, log_one_plus

CELLS = 512  # cells that are worked on together


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
                total[c] += weight * (0.5 * a + log_one_plus(exp_minus(a)))


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
                u = exp_minus(a)
                share = 1.0 / (1.0 + u)
                first[c] += weight * (0.5 * a + log_one_plus(u))
                second[c] += weight * (share if height >= 0.0 else u * share)
                third[c] += weight * (u * share * share)
