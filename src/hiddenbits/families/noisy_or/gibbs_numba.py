"""Compiled twins of `off_of` and `sweep_layer`, for whoever has numba (the extra `fast`): row by row.

The probabilities of a row's ones are multiplied, and one quotient and one logarithm are taken for each cause. A row's
products and its random numbers are its own, so the result is the same whatever rows are next to it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hiddenbits.array_types import AnyArray, Bytes, Floats

SMALL_PRODUCT = 1e-290  # below, a product of probabilities may have left the range of numbers on the way
LEAST_OFFSET = -600.0  # below, e^-offset would

# Sums and products of a row may be taken in another order, which is what lets them run several at a time. The order
# depends on the row's length alone.
ANY_ORDER = {"reassoc", "contract"}


@njit(cache=True, nogil=True)
def off_rows(indptr: AnyArray, indices: AnyArray, states: Bytes, keep: Floats, off: Floats) -> None:
    """Write e^{-u} of every one into `off`."""
    n, K = states.shape
    for r in range(n):
        for e in range(indptr[r], indptr[r + 1]):
            off[e] = keep[indices[e], K]
        for i in range(K):
            if states[r, i]:
                for e in range(indptr[r], indptr[r + 1]):
                    off[e] *= keep[indices[e], i]


@njit(cache=True, nogil=True, fastmath=ANY_ORDER, error_model="numpy")
def _products(off: Floats, q: Floats, m: int) -> tuple[float, float]:
    """Return two products whose quotient is that of the probabilities of the ones with and without a cause."""
    with_it, without = 1.0, 1.0
    for e in range(m):
        with_it *= 1.0 - off[e] * q[e]
        without *= (1.0 - off[e]) * q[e]
    return with_it, without


@njit(cache=True, nogil=True)
def _long_log(off: Floats, q: Floats, m: int) -> float:
    """Return the logarithm of the quotient of `_products` for long rows, whose products no number can hold."""
    with_it, without, total = 1.0, 1.0, 0.0
    for e in range(m):  # no factor is below 1e-13
        with_it *= 1.0 - off[e] * q[e]
        without *= (1.0 - off[e]) * q[e]
        if without < 1e-250:
            total += math.log(with_it / without)
            with_it, without = 1.0, 1.0
    return total + math.log(with_it / without)


@njit(cache=True, nogil=True, fastmath=ANY_ORDER, error_model="numpy")
def _gather(indices: AnyArray, a: int, m: int, keep: Floats, off: Floats, here: Floats, q: Floats) -> None:
    """Put e^{-w} of a row's ones side by side, (K, m), and e^{-u} into `here`: the loops over ones then run along."""
    for e in range(m):
        j = indices[a + e]
        here[e] = off[a + e]
        for i in range(len(q)):
            q[i, e] = keep[j, i]


@njit(cache=True, nogil=True)
def _longest(indptr: AnyArray) -> int:
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
    keep: Floats,
    uniforms: Floats,
    active: AnyArray,
    flips: Floats,
    odds: Floats,
) -> None:
    """Draw every cause of every active row again, in place; see `sweep_layer` for the arguments.

    `offsets` may have one row for all. Log-odds are written if `odds` has rows; without them most causes are
    drawn from the quotient of products itself, with neither logarithm nor exponential.
    """
    n, K = states.shape
    longest = _longest(indptr)
    buffer, here, against = np.empty((K, longest)), np.empty(longest), np.empty(K)
    one, wanted = len(offsets) == 1, len(odds) > 0
    for r in range(n):
        if r == 0 or not one:
            for i in range(K):
                against[i] = math.exp(-offsets[r, i]) if offsets[r, i] > LEAST_OFFSET else math.inf
        if not active[r]:
            continue
        a, m = indptr[r], indptr[r + 1] - indptr[r]
        _gather(indices, a, m, keep, off, here, buffer)
        largest = 0.0
        for i in range(K):
            on, q = states[r, i] == 1, buffer[i]
            if on:
                for e in range(m):
                    here[e] /= q[e]
            with_it, without = _products(here, q, m)
            long = without < SMALL_PRODUCT
            if wanted or share != 1.0 or long or against[i] == math.inf:
                log_quotient = _long_log(here, q, m) if long else math.log(with_it / without)
                x = offsets[0 if one else r, i] + share * log_quotient
                p = 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
                if wanted:
                    odds[r, i] = x
            else:
                p = with_it / (with_it + without * against[i])
            turned = uniforms[r, i] < p
            largest = max(largest, 1.0 - p if on else p)
            if turned:
                for e in range(m):
                    here[e] *= q[e]
            states[r, i] = 1 if turned else 0
        off[a : a + m] = here[:m]
        flips[r] = largest
