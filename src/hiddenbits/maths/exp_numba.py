"""Exponentials and logarithms as polynomials for compiled kernels (the extra `fast`), and decorators to compile them.

Polynomials compile to vector instructions. exp(y) = 2^k exp(r), k the whole number nearest to y/ln 2, |r| <= ln(2)/2.
Relative errors are below 1e-14; NaN stays NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload
from numpy.polynomial import Chebyshev, Polynomial

from hiddenbits.array_types import Floats

IN_ORDER = {"contract", "nsz", "arcp"}  # allows fused products and sums, and quotients by a reciprocal
FAST = IN_ORDER | {"reassoc"}  # also sums in any order: several at a time
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function, and cache it on disk."""
    return cast("Function", njit(cache=True, nogil=True, error_model="numpy", fastmath=IN_ORDER)(function))


def reordered(function: Function) -> Function:
    """Compile a function whose sums may be added in any order. Not for functions that rely on rounding."""
    return cast("Function", njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)(function))


LOG2_E, LN2 = 1.0 / math.log(2.0), math.log(2.0)
LN2_HIGH, LN2_LOW = 11629080 * 2.0**-24, -1.904654299957768e-09  # their sum is ln 2; k times the first is exact


def fitted(function: Any, degree: int, low: float, high: float) -> Floats:
    """Return the coefficients of the polynomial that interpolates a function at Chebyshev points."""
    return np.asarray(Chebyshev.interpolate(function, degree, domain=[low, high]).convert(kind=Polynomial).coef)


def _growth(r: Floats) -> Floats:
    """Return (exp(r) - 1) / r: its series."""
    return np.asarray(sum(r**k / math.factorial(k + 1) for k in range(20)))


def _log_ratio(w: Floats) -> Floats:
    """Return ln((1 + z)/(1 - z)) / z, w = z^2: its series."""
    return np.asarray(sum(2.0 / (2 * k + 1) * w**k for k in range(30)))


E0, E1, E2, E3, E4, E5, E6, E7, E8, E9 = fitted(_growth, 9, -0.5 * LN2, 0.5 * LN2)
F0, F1, F2, F3, F4, F5 = fitted(_growth, 5, -0.5 * LN2, 0.5 * LN2).astype(np.float32)
L0, L1, L2, L3, L4, L5, L6, L7, L8 = fitted(_log_ratio, 8, 0.0, 1.0 / 9.0)

# Adding this constant rounds a number to a whole one, which the last bits of the sum then hold.
ROUNDING_TERM, ROUNDING_TERM_32 = 1.5 * 2.0**52, np.float32(1.5 * 2.0**23)
LEAST_EXPONENT, LEAST_EXPONENT_32 = -700.0, np.float32(-87.0)  # smaller arguments of exp are replaced by these
LOG2_E_32, LN2_32 = np.float32(LOG2_E), np.float32(LN2)
ROOT_HALF_BITS = np.float64(math.sqrt(0.5)).view(np.int64)  # its bits
# The bias of exponents, and the number of bits of mantissas.
BIAS, MANTISSA, BIAS_32, MANTISSA_32 = np.int64(1023), np.int64(52), np.int32(127), np.int32(23)


def _same_bits(to: Any, of: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(to))

    return to(of), generate


as_integer: Any = intrinsic(lambda _context, _number: _same_bits(types.int64, types.float64))
_as_float: Any = intrinsic(lambda _context, _number: _same_bits(types.float64, types.int64))
_as_integer_32: Any = intrinsic(lambda _context, _number: _same_bits(types.int32, types.float32))
_as_float_32: Any = intrinsic(lambda _context, _number: _same_bits(types.float32, types.int32))


def exp_parts(y: Any) -> tuple[Any, Any]:
    """Return 2^k and exp(y) - 2^k, y <= 0, in the precision of y; within compiled functions only.

    From these, 1 - exp(y) is accurate, too, however small |y| is.
    """
    raise NotImplementedError("numba replaces this by one of the two functions below")


def _exp_parts_64(y: Any) -> tuple[Any, Any]:
    y = LEAST_EXPONENT if y < LEAST_EXPONENT else y  # NaN stays NaN
    shifted = y * LOG2_E + ROUNDING_TERM
    k = shifted - ROUNDING_TERM
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (E0 + E1 * r) + r2 * (E2 + E3 * r)
    middle = (E4 + E5 * r) + r2 * (E6 + E7 * r)
    power = _as_float((as_integer(shifted) + BIAS) << MANTISSA)
    return power, power * (r * (low + r4 * (middle + r4 * (E8 + E9 * r))))


def _exp_parts_32(y: Any) -> tuple[Any, Any]:
    y = LEAST_EXPONENT_32 if y < LEAST_EXPONENT_32 else y
    shifted = y * LOG2_E_32 + ROUNDING_TERM_32
    r = y - (shifted - ROUNDING_TERM_32) * LN2_32
    r2 = r * r
    power = _as_float_32(np.int32(_as_integer_32(shifted) + BIAS_32) << MANTISSA_32)
    return power, power * (r * ((F0 + F1 * r) + r2 * ((F2 + F3 * r) + r2 * (F4 + F5 * r))))


@overload(exp_parts, jit_options={"error_model": "numpy", "fastmath": IN_ORDER})
def _by_precision(y: Any) -> Any:
    return _exp_parts_32 if y == types.float32 else _exp_parts_64


@compiled
def plus_and_minus_exp(y: Any, one: Any) -> tuple[Any, Any]:
    """Return 1 + exp(y) and 1 - exp(y), y <= 0, both accurate; `one` is 1 in the precision of y."""
    power, remainder = exp_parts(y)
    return (one + power) + remainder, (one - power) - remainder


@compiled
def exp_minus(a: Any) -> Any:
    """Return exp(-a), a >= 0."""
    power, remainder = exp_parts(-a)
    return power + remainder


@compiled
def _log_of_ratio(z: Any) -> Any:
    """Return ln((1 + z)/(1 - z)), |z| <= 1/3."""
    w = z * z
    w2 = w * w
    w4 = w2 * w2
    low = (L0 + L1 * w) + w2 * (L2 + L3 * w)
    high = (L4 + L5 * w) + w2 * (L6 + L7 * w)
    return z * (low + w4 * (high + w4 * L8))


@compiled
def log_one_plus(u: Any) -> Any:
    """Return ln(1 + u), 0 <= u <= 1."""
    return _log_of_ratio(u / (2.0 + u))


@compiled
def log_of(x: Any) -> Any:
    """Return ln x of a normal number above 0: x = 2^k f, f between the roots of 1/2 and of 2."""
    bits = as_integer(x)
    k = (bits - ROOT_HALF_BITS) >> MANTISSA
    f = _as_float(bits - (k << MANTISSA))
    return k * LN2 + _log_of_ratio((f - 1.0) / (f + 1.0))
