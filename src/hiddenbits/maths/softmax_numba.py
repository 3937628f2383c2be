"""Compiled twin of `numerics.softmax_rows`, for whoever has numba (the extra `fast`).

The exponential is written out, so that the compiler works on several numbers at once. It is never allowed to reorder:
the difference of two sums rounds to a whole number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from hiddenbits.array_types import Floats

CHUNK_NUMBERS = 1 << 13  # numbers that are worked on together: 64 KB
LEAST = -700.0  # exp of less is 0
LOG2_E = 1.0 / math.log(2.0)
LN2_HIGH, LN2_LOW = 11629080 * 2.0**-24, -1.904654299957768e-09  # ln 2; k times the first is exact
ROUND = 1.5 * 2.0**52  # added to a number, it rounds it to a whole one, which is then in the last bits of the sum
T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12 = (1.0 / math.factorial(k) for k in range(2, 13))  # Taylor's series


def _same_bits(to: Any, of: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(to))

    return to(of), generate


_as_integer: Any = intrinsic(lambda _context, _number: _same_bits(types.int64, types.float64))
_as_float: Any = intrinsic(lambda _context, _number: _same_bits(types.float64, types.int64))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exp_of_negative(y: float) -> float:
    """Return exp(y) for y up to 0 (right up to 700), to 1e-15 of it: 2^k exp(r), |r| <= ln(2)/2."""
    shifted = y * LOG2_E + ROUND
    k = shifted - ROUND
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (T2 + T3 * r)
    middle = (T4 + T5 * r) + r2 * (T6 + T7 * r)
    high = (T8 + T9 * r) + r2 * (T10 + T11 * r) + r4 * T12
    power: float = _as_float((_as_integer(shifted) + np.int64(1023)) << np.int64(52))
    return 0.0 if y < LEAST else (low + r4 * (middle + r4 * high)) * power


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def softmax(scores: Floats, offset: Floats, weights: Floats, shift: bool, largest: Floats, total: Floats) -> None:
    """Turn rows of scores into probabilities; write the largest score of each and the sum of exp(score - largest).

    A single offset or weight is that of all rows.
    """
    n_rows, width = scores.shape
    step = max(1, CHUNK_NUMBERS // max(width, 1))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        for n in range(start, stop):
            row, c = scores[n], offset[n if len(offset) > 1 else 0]
            for k in range(width):
                row[k] += c[k]
            most = 0.0
            if shift:
                most = -np.inf
                for k in range(width):
                    most = row[k] if row[k] > most else most
                for k in range(width):
                    row[k] -= most
            largest[n] = most
        numbers = scores[start:stop].reshape(-1)
        for i in range(len(numbers)):
            numbers[i] = exp_of_negative(numbers[i])
        for n in range(start, stop):
            row = scores[n]
            whole = 0.0
            for k in range(width):
                whole += row[k]
            total[n] = whole
            share = weights[n if len(weights) > 1 else 0] / whole
            for k in range(width):
                row[k] *= share
