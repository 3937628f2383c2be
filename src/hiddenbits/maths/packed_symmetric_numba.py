"""Compiled twins of `packed_symmetric.py`, with numba (the extra `fast`), for standing matrices.

Inner loops run over matrices: they are long enough for vector instructions.
"""

from __future__ import annotations

import math

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exp_numba import compiled, log_of

CHUNK_MATRICES = 64  # processed together: 64 matrices of 10 x 10 fit in a core's first-level cache
ROOT2 = math.sqrt(2.0)


@compiled
def moments(mean: AnyArray, covariance: AnyArray, factor: AnyArray, out: AnyArray) -> None:
    """Put factor <x^ x^'> into `out`; x^ = (x, 1)."""
    q, n = mean.shape
    position = 0
    for i in range(q):
        for j in range(i + 1):
            scale, a, b, C, to = ROOT2 if j < i else 1.0, mean[i], mean[j], covariance[position], out[position]
            for r in range(n):
                to[r] = factor[r] * (C[r] + scale * a[r] * b[r])
            position += 1
    for i in range(q):
        a, to = mean[i], out[position + i]
        for r in range(n):
            to[r] = ROOT2 * factor[r] * a[r]
    to = out[position + q]
    for r in range(n):
        to[r] = factor[r]


@compiled
def _sweep(A: Floats, column: Floats, scaled: Floats, reciprocal: Floats, log_determinant: Floats) -> None:
    """Replace triangles A, (numbers, matrices), by the triangles of -A^-1, by Gauss-Jordan elimination."""
    (k, n), one = column.shape, A.dtype.type(1.0)
    for j in range(k):
        row = A[j * (j + 1) // 2 :]
        for i in range(k):
            number, b = row[i] if i < j else A[i * (i + 1) // 2 + j], column[i]
            for r in range(n):
                b[r] = number[r]
        pivot = column[j]
        for r in range(n):
            log_determinant[r] += log_of(np.float64(pivot[r])) if pivot[r] > 0.0 else math.nan
            reciprocal[r] = one / pivot[r]
        for i in range(k):
            a, b = scaled[i], column[i]
            for r in range(n):
                a[r] = reciprocal[r] * b[r]
        pivot[:] = 0.0
        position = 0
        for i in range(k):
            a = scaled[i]
            for c in range(i + 1):
                number, b = A[position], column[c]
                for r in range(n):
                    number[r] -= a[r] * b[r]
                position += 1
        for i in range(k):
            number, a = row[i] if i < j else A[i * (i + 1) // 2 + j], scaled[i]
            for r in range(n):
                number[r] = a[r]
        number = row[j]
        for r in range(n):
            number[r] = -reciprocal[r]


@compiled
def solve(packed: AnyArray, right: AnyArray, inverse: AnyArray, log_determinant: Floats, solution: Floats) -> None:
    """Put the inverses M^-1, ln |M| and M^-1 v, for the standing vectors v of `right`, into the last three arrays."""
    k, n = right.shape
    for first in range(0, n, CHUNK_MATRICES):
        chunk = slice(first, min(first + CHUNK_MATRICES, n))
        width = chunk.stop - first
        A, reciprocal = np.empty((len(packed), width), packed.dtype), np.empty(width, packed.dtype)
        column, scaled = np.empty((k, width), packed.dtype), np.empty((k, width), packed.dtype)
        position = 0
        for i in range(k):
            for j in range(i + 1):
                scale, to, number = 1.0 / ROOT2 if j < i else 1.0, A[position], packed[position, chunk]
                for r in range(width):
                    to[r] = scale * number[r]
                position += 1
        logs = log_determinant[chunk]
        logs[:] = 0.0
        _sweep(A, column, scaled, reciprocal, logs)
        solution[:, chunk] = 0.0
        position = 0
        for i in range(k):
            v, x = right[i, chunk], solution[i, chunk]
            for j in range(i + 1):
                number, to, u, y = A[position], inverse[position, chunk], right[j, chunk], solution[j, chunk]
                scale = ROOT2 if j < i else 1.0
                for r in range(width):
                    to[r] = -scale * number[r]
                for r in range(width):
                    x[r] -= number[r] * u[r]
                if j < i:
                    for r in range(width):
                        y[r] -= number[r] * v[r]
                position += 1
