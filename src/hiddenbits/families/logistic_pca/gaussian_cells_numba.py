"""Compiled twins of the sums of `gaussian_cells.py`, for whoever has numba (the extra `fast`).

One exponential gives all three numbers at a place A: with u = exp(-|A|), sigma(|A|) = 1/(1 + u), sigma' = u/(1 + u)^2
and ln 2cosh(A/2) = |A|/2 + ln(1 + u). Exponential and logarithm are polynomials, so that the compiler works on several
cells at once; their errors are below 1e-14. Narrow cells need no nodes: with h = spread^2/2

    E[g(A)] = Sum_k h^k g^(2k)(mean) / k!,      v = sigma', v' = v t, t = 1 - 2 sigma, t' = -2 v

so that derivatives of ln 2cosh(A/2), d4 to d16 below, are v, or v t, times polynomials in v. Cells of a row that are
wider are gathered, and have as many nodes as the widest needs: `widths`, `counts`, `nodes` and `weights` are the rules.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.maths.exp_numba import compiled, exp_minus, log_one_plus

NARROW = 0.21  # spread up to which the terms up to h^7 leave an error below 2e-12


@compiled
def _series(mean: AnyArray, spread: AnyArray, logs: AnyArray, sigma: AnyArray, slope: AnyArray) -> None:
    """Put the three expectations of the cells of a row into the last three, as if all were narrow."""
    for c in range(len(mean)):
        a, h = abs(mean[c]), 0.5 * spread[c] * spread[c]
        u = exp_minus(a)
        share = 1.0 / (1.0 + u)
        v, t = u * share * share, (1.0 - u) * share
        d4 = v * (1.0 - 6.0 * v)
        d6 = v * (1.0 - v * (30.0 - 120.0 * v))
        d8 = v * (1.0 - v * (126.0 - v * (1680.0 - 5040.0 * v)))
        d10 = v * (1.0 - v * (510.0 - v * (17640.0 - v * (151200.0 - 362880.0 * v))))
        d12 = v * (1.0 - v * (2046.0 - v * (168960.0 - v * (3160080.0 - v * (19958400.0 - 39916800.0 * v)))))
        high = 57657600.0 - v * (726485760.0 - v * (3632428800.0 - 6227020800.0 * v))
        d14 = v * (1.0 - v * (8190.0 - v * (1561560.0 - v * high)))
        high = 22313491200.0 - v * (210680870400.0 - v * (871782912000.0 - 1307674368000.0 * v))
        d16 = v * (1.0 - v * (32766.0 - v * (14217840.0 - v * (988107120.0 - v * high))))
        d5 = 1.0 - 12.0 * v  # these are without the factor v t
        d7 = 1.0 - v * (60.0 - 360.0 * v)
        d9 = 1.0 - v * (252.0 - v * (5040.0 - 20160.0 * v))
        d11 = 1.0 - v * (1020.0 - v * (52920.0 - v * (604800.0 - 1814400.0 * v)))
        d13 = 1.0 - v * (4092.0 - v * (506880.0 - v * (12640320.0 - v * (99792000.0 - 239500800.0 * v))))
        high = 230630400.0 - v * (3632428800.0 - v * (21794572800.0 - 43589145600.0 * v))
        d15 = 1.0 - v * (16380.0 - v * (4684680.0 - v * high))
        h2, h3, h4, h5, h6, h7 = h / 2.0, h / 3.0, h / 4.0, h / 5.0, h / 6.0, h / 7.0
        even = v + h2 * (d4 + h3 * (d6 + h4 * (d8 + h5 * (d10 + h6 * (d12 + h7 * d14)))))
        odd = v * t * h * (1.0 + h2 * (d5 + h3 * (d7 + h4 * (d9 + h5 * (d11 + h6 * (d13 + h7 * d15))))))
        logs[c] = 0.5 * a + log_one_plus(u) + h * even
        sigma[c] = share - odd if mean[c] >= 0.0 else u * share + odd
        slope[c] = v + h * (d4 + h2 * (d6 + h3 * (d8 + h4 * (d10 + h5 * (d12 + h6 * (d14 + h7 * d16))))))


@compiled
def _wide(spread: AnyArray, widths: Floats, which: Rows) -> tuple[int, int]:
    """Put the cells of a row that are not narrow into `which`; return their number, and the rule of the widest."""
    n, widest = 0, 0.0
    for c in range(len(spread)):
        which[n] = c
        n += not spread[c] <= NARROW  # what is no number counts as wide
        widest = max(widest, spread[c])
    rule = 0
    while rule < len(widths) and not widest <= widths[rule]:
        rule += 1
    return n, rule


@compiled
def all_three(
    mean: AnyArray,
    spread: AnyArray,
    widths: Floats,
    counts: Rows,
    nodes: Floats,
    weights: Floats,
    logs: AnyArray,
    sigma: AnyArray,
    slope: AnyArray,
) -> None:
    """Put E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)] of every cell into the last three, (rows, d)."""
    rows, d = mean.shape
    which, m, s = np.empty(d, np.int64), np.empty(d), np.empty(d)
    first, second, third = np.empty(d), np.empty(d), np.empty(d)
    for n in range(rows):
        _series(mean[n], spread[n], logs[n], sigma[n], slope[n])
        n_wide, rule = _wide(spread[n], widths, which)
        for c in range(n_wide):
            m[c], s[c] = mean[n, which[c]], spread[n, which[c]]
            first[c] = second[c] = third[c] = 0.0
        for j in range(counts[rule]):
            node, weight = nodes[rule, j], weights[rule, j]
            for c in range(n_wide):
                height = m[c] + s[c] * node
                a = abs(height)
                u = exp_minus(a)
                share = 1.0 / (1.0 + u)
                first[c] += weight * (0.5 * a + log_one_plus(u))
                second[c] += weight * (share if height >= 0.0 else u * share)
                third[c] += weight * (u * share * share)
        for c in range(n_wide):
            at = which[c]
            logs[n, at], sigma[n, at], slope[n, at] = first[c], second[c], third[c]


@compiled
def log_cosh(
    mean: AnyArray, spread: AnyArray, widths: Floats, counts: Rows, nodes: Floats, weights: Floats, out: AnyArray
) -> None:
    """Put E[ln 2cosh(A/2)] of every cell into `out`, (rows, d)."""
    sigma, slope = np.empty_like(out), np.empty_like(out)
    all_three(mean, spread, widths, counts, nodes, weights, out, sigma, slope)
