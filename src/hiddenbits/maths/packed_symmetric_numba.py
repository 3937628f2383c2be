"""Compiled twins of `packed_symmetric.py`, for whoever has numba (the extra `fast`): some matrices at a time, standing.

Inner loops run over matrices, which makes them long enough for the compiler to work on several at once.
"""

from __future__ import annotations

import math

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exp_numba import compiled, log_of

TOGETHER = 64  # matrices: 64 of 10 x 10 are in a core's first cache
ROOT2 = math.sqrt(2.0)


@compiled
def moments(mean: AnyArray, covariance: AnyArray, factor: AnyArray, out: AnyArray) -> None:
    """Put factor <x^ x^'> into `out`; x^ = (x, 1)."""
    q, n = mean.shape
    at = 0
    for i in range(q):
        for j in range(i + 1):
            scale, a, b, C, to = ROOT2 if j < i else 1.0, mean[i], mean[j], covariance[at], out[at]
            for r in range(n):
                to[r] = factor[r] * (C[r] + scale * a[r] * b[r])
            at += 1
    for i in range(q):
        a, to = mean[i], out[at + i]
        for r in range(n):
            to[r] = ROOT2 * factor[r] * a[r]
    to = out[at + q]
    for r in range(n):
        to[r] = factor[r]


@compiled
def _sweep(A: Floats, beside: Floats, across: Floats, down: Floats, log_determinant: Floats) -> None:
    """Turn triangles A (numbers, matrices) into those of minus their inverses, by Gauss and Jordan."""
    (k, n), one = beside.shape, A.dtype.type(1.0)
    for j in range(k):
        row = A[j * (j + 1) // 2 :]
        for i in range(k):
            number, b = row[i] if i < j else A[i * (i + 1) // 2 + j], beside[i]
            for r in range(n):
                b[r] = number[r]
        pivot = beside[j]
        for r in range(n):
            log_determinant[r] += log_of(np.float64(pivot[r])) if pivot[r] > 0.0 else math.nan
            down[r] = one / pivot[r]
        for i in range(k):
            a, b = across[i], beside[i]
            for r in range(n):
                a[r] = down[r] * b[r]
        pivot[:] = 0.0
        at = 0
        for i in range(k):
            a = across[i]
            for c in range(i + 1):
                number, b = A[at], beside[c]
                for r in range(n):
                    number[r] -= a[r] * b[r]
                at += 1
        for i in range(k):
            number, a = row[i] if i < j else A[i * (i + 1) // 2 + j], across[i]
            for r in range(n):
                number[r] = a[r]
        number = row[j]
        for r in range(n):
            number[r] = -down[r]


@compiled
def solve(packed: AnyArray, right: AnyArray, inverse: AnyArray, log_determinant: Floats, solution: Floats) -> None:
    """Put the inverses M^-1, ln |M| and M^-1 v, for the standing vectors v of `right`, into place."""
    k, n = right.shape
    for first in range(0, n, TOGETHER):
        some = slice(first, min(first + TOGETHER, n))
        width = some.stop - first
        A, down = np.empty((len(packed), width), packed.dtype), np.empty(width, packed.dtype)
        beside, across = np.empty((k, width), packed.dtype), np.empty((k, width), packed.dtype)
        at = 0
        for i in range(k):
            for j in range(i + 1):
                scale, to, number = 1.0 / ROOT2 if j < i else 1.0, A[at], packed[at, some]
                for r in range(width):
                    to[r] = scale * number[r]
                at += 1
        logs = log_determinant[some]
        logs[:] = 0.0
        _sweep(A, beside, across, down, logs)
        solution[:, some] = 0.0
        at = 0
        for i in range(k):
            v, x = right[i, some], solution[i, some]
            for j in range(i + 1):
                number, to, u, y = A[at], inverse[at, some], right[j, some], solution[j, some]
                scale = ROOT2 if j < i else 1.0
                for r in range(width):
                    to[r] = -scale * number[r]
                for r in range(width):
                    x[r] -= number[r] * u[r]
                if j < i:
                    for r in range(width):
                        y[r] -= number[r] * v[r]
                at += 1
