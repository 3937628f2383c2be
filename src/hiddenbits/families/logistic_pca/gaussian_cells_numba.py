"""Compiled twins of the sums of `gaussian_cells.py`, for whoever has numba (the extra `fast`).

One exponential gives all three numbers of a cell at a node: with u = exp(-|A|), sigma(|A|) = 1/(1 + u),
sigma' = u/(1 + u)^2 and ln 2cosh(A/2) = |A|/2 + ln(1 + u). Exponential and logarithm are polynomials, so that the
compiler works on several cells at once; their errors are below 1e-14.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.polynomial import Chebyshev, Polynomial

from hiddenbits.array_types import AnyArray, Floats

CELLS = 512  # cells that are worked on together
LARGEST = 700.0  # exp(-|A|) is 0 to rounding long before
LOG2_E, LN2 = 1.0 / math.log(2.0), math.log(2.0)
ROUND = 1.5 * 2.0**52  # added to a number, it rounds it to a whole one, which is then in the last bits of the sum


def _log_ratio(w: Floats) -> Floats:
    """Return ln((1 + z)/(1 - z)) / z, w = z^2: its series."""
    return np.asarray(sum(2.0 / (2 * k + 1) * w**k for k in range(30)))


def _coefficients(function: Any, degree: int, low: float, high: float) -> tuple[float, ...]:
    fitted = Chebyshev.interpolate(function, degree, domain=[low, high]).convert(kind=Polynomial)
    return tuple(float(value) for value in fitted.coef)


E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, E10 = _coefficients(np.exp, 10, -0.5 * LN2, 0.5 * LN2)
L0, L1, L2, L3, L4, L5, L6, L7, L8 = _coefficients(_log_ratio, 8, 0.0, 1.0 / 9.0)

FAST = {"contract", "nsz", "arcp"}  # products and sums in one step, quotients by a reciprocal


def _same_bits(to: Any, of: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(to))

    return to(of), generate


_as_integer: Any = intrinsic(lambda _context, _number: _same_bits(types.int64, types.float64))
_as_float: Any = intrinsic(lambda _context, _number: _same_bits(types.float64, types.int64))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _exp_minus(a: float) -> float:
    """Return exp(-a), a >= 0: 2^k exp(r). Coefficients are grouped by powers of two, which the processor overlaps."""
    y = -a if a < LARGEST else -LARGEST
    shifted = y * LOG2_E + ROUND
    r = y - (shifted - ROUND) * LN2
    r2 = r * r
    r4 = r2 * r2
    low = (E0 + E1 * r) + r2 * (E2 + E3 * r)
    middle = (E4 + E5 * r) + r2 * (E6 + E7 * r)
    high = (E8 + E9 * r) + r2 * E10
    power: float = _as_float((_as_integer(shifted) + np.int64(1023)) << np.int64(52))
    return (low + r4 * (middle + r4 * high)) * power


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _log_one_plus(u: float) -> float:
    """Return ln(1 + u), 0 <= u <= 1."""
    z = u / (2.0 + u)
    w = z * z
    w2 = w * w
    w4 = w2 * w2
    low = (L0 + L1 * w) + w2 * (L2 + L3 * w)
    high = (L4 + L5 * w) + w2 * (L6 + L7 * w)
    return z * (low + w4 * (high + w4 * L8))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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
