"""Compiled twins of `p_off` and `sweep_layer`, with numba (the extra `fast`): row by row.

For each cause the probabilities of a row's 1s are multiplied, and one quotient and one logarithm are taken. The result
for a row does not depend on other rows.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hiddenbits.array_types import AnyArray, Bytes, Floats

SMALL_PRODUCT = 1e-290  # smaller products of probabilities may have underflowed
LEAST_OFFSET = -600.0  # for smaller offsets e^-offset overflows

# Sums and products of a row may be reordered, which allows vector instructions. The order depends on the row's length
# alone.
ANY_ORDER = {"reassoc", "contract"}


@njit(cache=True, nogil=True)
def off_rows(indptr: AnyArray, indices: AnyArray, states: Bytes, inhibition: Floats, off: Floats) -> None:
    """Write e^{-u} of every 1 into `off`."""
    n, K = states.shape
    for r in range(n):
        for e in range(indptr[r], indptr[r + 1]):
            off[e] = inhibition[indices[e], K]
        for i in range(K):
            if states[r, i]:
                for e in range(indptr[r], indptr[r + 1]):
                    off[e] *= inhibition[indices[e], i]


@njit(cache=True, nogil=True, fastmath=ANY_ORDER, error_model="numpy")
def _products(off: Floats, q: Floats, m: int) -> tuple[float, float]:
    """Return two products, whose quotient is P(1s with the cause) / P(1s without it)."""
    with_cause, without_cause = 1.0, 1.0
    for e in range(m):
        with_cause *= 1.0 - off[e] * q[e]
        without_cause *= (1.0 - off[e]) * q[e]
    return with_cause, without_cause


@njit(cache=True, nogil=True)
def _log_quotient(off: Floats, q: Floats, m: int) -> float:
    """Return the logarithm of the quotient of `_products`, for long rows, whose products would underflow."""
    with_cause, without_cause, total = 1.0, 1.0, 0.0
    for e in range(m):  # no factor is below 1e-13
        with_cause *= 1.0 - off[e] * q[e]
        without_cause *= (1.0 - off[e]) * q[e]
        if without_cause < 1e-250:
            total += math.log(with_cause / without_cause)
            with_cause, without_cause = 1.0, 1.0
    return total + math.log(with_cause / without_cause)


@njit(cache=True, nogil=True, fastmath=ANY_ORDER, error_model="numpy")
def _gather(indices: AnyArray, a: int, m: int, inhibition: Floats, off: Floats, row_off: Floats, q: Floats) -> None:
    """Copy e^{-w} of a row's 1s to q, (K, m), and e^{-u} to `row_off`, so that loops over 1s are contiguous."""
    for e in range(m):
        j = indices[a + e]
        row_off[e] = off[a + e]
        for i in range(len(q)):
            q[i, e] = inhibition[j, i]


@njit(cache=True, nogil=True)
def _longest_row(indptr: AnyArray) -> int:
    longest = 1
    for r in range(len(indptr) - 1):
        longest = max(longest, indptr[r + 1] - indptr[r])
    return longest


@njit(cache=True, nogil=True, fastmath=ANY_ORDER, error_model="numpy")
def sweep_rows(
    indptr: AnyArray,
    indices: AnyArray,
    off: Floats,
    states: Bytes,
    offsets: Floats,
    share: float,
    inhibition: Floats,
    uniforms: Floats,
    active: AnyArray,
    flips: Floats,
    odds: Floats,
) -> None:
    """Sample every cause of every active row, in place; see `sweep_layer` for the arguments.

    `offsets` may have one row for all. Log-odds are written if `odds` has rows; otherwise most causes are
    sampled from the quotient of products, without logarithm or exponential.
    """
    n, K = states.shape
    longest = _longest_row(indptr)
    buffer, row_off, inverse_odds = np.empty((K, longest)), np.empty(longest), np.empty(K)
    one_offset, with_odds = len(offsets) == 1, len(odds) > 0
    for r in range(n):
        if r == 0 or not one_offset:
            for i in range(K):
                inverse_odds[i] = math.exp(-offsets[r, i]) if offsets[r, i] > LEAST_OFFSET else math.inf
        if not active[r]:
            continue
        a, m = indptr[r], indptr[r + 1] - indptr[r]
        _gather(indices, a, m, inhibition, off, row_off, buffer)
        largest_flip = 0.0
        for i in range(K):
            on, q = states[r, i] == 1, buffer[i]
            if on:
                for e in range(m):
                    row_off[e] /= q[e]
            with_cause, without_cause = _products(row_off, q, m)
            may_underflow = without_cause < SMALL_PRODUCT
            if with_odds or share != 1.0 or may_underflow or inverse_odds[i] == math.inf:
                log_quotient = _log_quotient(row_off, q, m) if may_underflow else math.log(with_cause / without_cause)
                x = offsets[0 if one_offset else r, i] + share * log_quotient
                p = 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
                if with_odds:
                    odds[r, i] = x
            else:
                p = with_cause / (with_cause + without_cause * inverse_odds[i])
            new_state = uniforms[r, i] < p
            largest_flip = max(largest_flip, 1.0 - p if on else p)
            if new_state:
                for e in range(m):
                    row_off[e] *= q[e]
            states[r, i] = 1 if new_state else 0
        off[a : a + m] = row_off[:m]
        flips[r] = largest_flip
