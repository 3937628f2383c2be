"""Compiled twins of `off_of`, `sweep_layer` and `scan_layer`, for whoever has numba (the extra `fast`): row by row.

The probabilities of a row's ones are multiplied, and one quotient and one logarithm are taken for each cause. A row's
products and its random numbers are its own, so the result is the same whatever rows are beside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALLEST_PRODUCT = 1e-200  # of probabilities, none of them below 1e-12


@njit(cache=True, nogil=True)
def off_rows(indptr: Any, indices: Any, states: NDArray[np.uint8], keep: Floats, off: Floats) -> None:
    """Write e^{-u} of every one into `off`."""
    n, K = states.shape
    for r in range(n):
        for e in range(indptr[r], indptr[r + 1]):
            off[e] = keep[indices[e], K]
        for i in range(K):
            if states[r, i]:
                for e in range(indptr[r], indptr[r + 1]):
                    off[e] *= keep[indices[e], i]


@njit(cache=True, nogil=True)
def sweep_rows(
    indptr: Any,
    indices: Any,
    off: Floats,
    states: NDArray[np.uint8],
    offsets: Floats,
    share: float,
    keep: Floats,
    uniforms: Floats,
    active: Any,
    flips: Floats,
    odds: Floats,
) -> None:
    """Draw every cause of every active row anew, in place; see `sweep_layer` for the arguments."""
    n, K = states.shape
    for r in range(n):
        if not active[r]:
            continue
        a, b = indptr[r], indptr[r + 1]
        largest = 0.0
        for i in range(K):
            on = states[r, i] == 1
            if on:
                for e in range(a, b):
                    off[e] /= keep[indices[e], i]
            with_it, without, total = 1.0, 1.0, 0.0
            for e in range(a, b):
                q = keep[indices[e], i]
                with_it *= 1.0 - off[e] * q
                without *= (1.0 - off[e]) * q
                if without < SMALLEST_PRODUCT:
                    total += math.log(with_it / without)
                    with_it, without = 1.0, 1.0
            x = offsets[r, i] + share * (total + math.log(with_it / without))
            odds[r, i] = x
            p = 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
            turned = uniforms[r, i] < p
            change = 1.0 - p if on else p
            if change > largest:
                largest = change
            if turned:
                for e in range(a, b):
                    off[e] *= keep[indices[e], i]
            states[r, i] = 1 if turned else 0
        flips[r] = largest


@njit(cache=True, nogil=True)
def scan_rows(
    indptr: Any, indices: Any, off: Floats, states: NDArray[np.uint8], offsets: Floats, keep: Floats, odds: Floats
) -> None:
    """Write the log-odds of every cause given all others as they are; see `scan_layer` for the arguments."""
    n, K = states.shape
    for r in range(n):
        a, b = indptr[r], indptr[r + 1]
        for i in range(K):
            on = states[r, i] == 1
            with_it, without, total = 1.0, 1.0, 0.0
            for e in range(a, b):
                q = keep[indices[e], i]
                left = off[e] / q if on else off[e]
                with_it *= 1.0 - left * q
                without *= (1.0 - left) * q
                if without < SMALLEST_PRODUCT:
                    total += math.log(with_it / without)
                    with_it, without = 1.0, 1.0
            odds[r, i] = offsets[r, i] + total + math.log(with_it / without)
