"""Exponential and logarithm as polynomials, for compiled kernels: the compiler then works on several numbers at once.

Relative errors are below 1e-14, those of exp(-a) below 3e-14 as a grows to 700. Functions that use these are compiled
with `FAST`, which leaves what is not a number as it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.polynomial import Chebyshev, Polynomial

from hiddenbits.array_types import Floats

LARGEST = 700.0  # exp(-a) is 0 to rounding long before
LOG2_E, LN2 = 1.0 / math.log(2.0), math.log(2.0)
ROUND = 1.5 * 2.0**52  # added to a number, it rounds it to a whole one, which is then in the last bits of the sum
ROOT_HALF = np.float64(math.sqrt(0.5)).view(np.int64)  # its bits
FAST = {"contract", "nsz", "arcp", "reassoc"}  # products and sums in one step and in any order


def _log_ratio(w: Floats) -> Floats:
    """Return ln((1 + z)/(1 - z)) / z, w = z^2: its series."""
    return np.asarray(sum(2.0 / (2 * k + 1) * w**k for k in range(30)))


def _coefficients(function: Any, degree: int, low: float, high: float) -> tuple[float, ...]:
    fitted = Chebyshev.interpolate(function, degree, domain=[low, high]).convert(kind=Polynomial)
    return tuple(float(value) for value in fitted.coef)


E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, E10 = _coefficients(np.exp, 10, -0.5 * LN2, 0.5 * LN2)
L0, L1, L2, L3, L4, L5, L6, L7, L8 = _coefficients(_log_ratio, 8, 0.0, 1.0 / 9.0)


def _same_bits(to: Any, of: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(to))

    return to(of), generate


_as_integer: Any = intrinsic(lambda _context, _number: _same_bits(types.int64, types.float64))
_as_float: Any = intrinsic(lambda _context, _number: _same_bits(types.float64, types.int64))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})  # sums in order: ROUND depends on it
def exp_minus(a: float) -> float:
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "arcp"})
def _log_of_ratio(z: float) -> float:
    """Return ln((1 + z)/(1 - z)), |z| <= 1/3."""
    w = z * z
    w2 = w * w
    w4 = w2 * w2
    low = (L0 + L1 * w) + w2 * (L2 + L3 * w)
    high = (L4 + L5 * w) + w2 * (L6 + L7 * w)
    return z * (low + w4 * (high + w4 * L8))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "arcp"})
def log_one_plus(u: float) -> float:
    """Return ln(1 + u), 0 <= u <= 1."""
    value: float = _log_of_ratio(u / (2.0 + u))
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "arcp"})
def log_of(x: float) -> float:
    """Return ln x of a normal number above 0: x = 2^k f, f between the roots of 1/2 and of 2."""
    bits = _as_integer(x)
    k = (bits - ROOT_HALF) >> np.int64(52)
    f: float = _as_float(bits - (k << np.int64(52)))
    value: float = _log_of_ratio((f - 1.0) / (f + 1.0))
    logarithm: float = k * LN2 + value
    return logarithm
