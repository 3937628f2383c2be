"""Compiled twins of `inner_steps.py`, for whoever has numba (the extra `fast`): row by row.

With s = (xi/2)^2, e its root and u = exp(-2e), 4 kappa = tanh(e)/e = (1 - u)/(e (1 + u)) and
ln 2cosh(e) = e + ln(1 + u).
The logarithm is that of products over columns. Packed matrices are as in `packed_symmetric.py`, one to a row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exp_numba import compiled, plus_and_minus_exp, reordered

FACTORS = {"d": 512, "f": 64}  # between 1 and 2, in a product: 2^512 and 2^64 are far from the largest numbers
LARGE = 2.0**500  # of such products together
ROOT2 = math.sqrt(2.0)


@reordered
def _sweep_row(cells: AnyArray, least: Any, factors: int) -> float:
    """Turn s into 4 kappa, and return the sum of ln 2cosh(xi/2); no s is below `least`."""
    height, whole, one = 0.0, 1.0, least / least
    for first in range(0, len(cells), factors):
        some, total, product = cells[first : first + factors], least - least, one
        for i in range(len(some)):
            e = math.sqrt(least if some[i] < least else some[i])
            plus, minus = plus_and_minus_exp(-(e + e), one)
            some[i] = minus / (plus * e)
            total += e
            product *= plus
        height += total
        whole *= product
        if whole > LARGE:
            height += math.log(whole)
            whole = 1.0
    return height + math.log(whole)


@reordered
def sweep(cells: AnyArray, least: Any, factors: int, heights: Floats) -> None:
    """Turn s (rows, d) into 4 kappa, and put -Sum ln 2cosh(xi/2) of each row into `heights`."""
    for n in range(len(cells)):
        heights[n] = -_sweep_row(cells[n], least, factors)


@compiled
def moments(mean: Floats, covariance: Floats, factor: Floats, out: AnyArray) -> None:
    """Put factor <x^ x^'> of each row into `out`; x^ = (x, 1)."""
    rows, q = mean.shape
    for n in range(rows):
        f, m, C, to = factor[n], mean[n], covariance[n], out[n]
        at = 0
        for i in range(q):
            twice = ROOT2 * m[i]
            for j in range(i):
                to[at + j] = f * (C[at + j] + twice * m[j])
            to[at + i] = f * (C[at + i] + m[i] * m[i])
            at += i + 1
        for i in range(q):
            to[at + i] = ROOT2 * f * m[i]
        to[at + q] = f


@compiled
def _invert(A: Floats, beside: Floats) -> float:
    """Turn the lower triangle of A into that of minus its inverse, by Gauss and Jordan; return ln |A|.

    Rows are as long as a multiple of 8, and are worked on up to the next such multiple.
    """
    k, log_determinant = len(A), 0.0
    for j in range(k):
        log_determinant += math.log(A[j, j])
        down = 1.0 / A[j, j]
        for i in range(j):
            beside[i] = A[j, i]
        for i in range(j, k):
            beside[i] = A[i, j]
        beside[j] = 0.0
        for i in range(k):
            row, across = A[i], beside[i] * down
            for c in range(((i >> 3) + 1) << 3):
                row[c] -= across * beside[c]
        for i in range(j):
            A[j, i] = beside[i] * down
        for i in range(j, k):
            A[i, j] = beside[i] * down
        A[j, j] = -down
    return log_determinant


@reordered
def solve(S: AnyArray, G: AnyArray, linear: Floats, mean: Floats, covariance: Floats, bound: Floats) -> None:
    """Put mean and covariance of each row's posterior (eqs 6, 7) into place, and the rest of its bound into `bound`."""
    rows, q = mean.shape
    width = ((q + 7) >> 3) << 3
    A, beside, right = np.zeros((q, width)), np.zeros(width), np.empty(q)
    for n in range(rows):
        g, s, m, C, pull = G[n], S[n], mean[n], covariance[n], linear[n]
        at = 0
        for i in range(q):
            for j in range(i):
                A[i, j] = g[at + j] / ROOT2
            A[i, i] = 1.0 + g[at + i]
            at += i + 1
        for i in range(q):
            right[i] = pull[i] - g[at + i] / ROOT2
        inner = 0.0
        for i in range(len(g)):
            inner += np.float64(s[i]) * g[i]
        log_determinant = _invert(A, beside)
        m[:] = 0.0
        at = 0
        for i in range(q):
            total = 0.0
            for j in range(i):
                number = -A[i, j]
                C[at + j] = ROOT2 * number
                m[j] += number * right[i]
                total += number * right[j]
            C[at + i] = -A[i, i]
            m[i] = total - A[i, i] * right[i]
            at += i + 1
        for i in range(q):
            inner += right[i] * m[i]
        bound[n] += 0.5 * (inner - g[at + q] - log_determinant) + pull[q]


@reordered
def steps_of_two(
    V: AnyArray,
    linear: Floats,
    mean: Floats,
    covariance: Floats,
    n_steps: int,
    least: Any,
    factors: int,
    cells: AnyArray,
    bound: Floats,
) -> None:
    """Do all inner steps of rows with two dimensions; V is V/4 transposed. Nothing is missing."""
    rows, d = cells.shape
    zero, S = least - least, np.empty(6, cells.dtype)
    v0, v1, v2, v3, v4, v5 = V[0], V[1], V[2], V[3], V[4], V[5]
    for n in range(rows):
        row = cells[n]
        x, y, xx, xy, yy = mean[n, 0], mean[n, 1], covariance[n, 0], covariance[n, 1], covariance[n, 2]
        for _ in range(n_steps):
            t0, t1, t2, t3, t4 = xx + x * x, xy + ROOT2 * x * y, yy + y * y, ROOT2 * x, ROOT2 * y
            S[0], S[1], S[2], S[3], S[4], S[5] = t0, t1, t2, t3, t4, 1.0
            s0, s1, s2, s3, s4, s5 = S[0], S[1], S[2], S[3], S[4], S[5]  # in the precision of the cells
            for i in range(d):
                row[i] = s0 * v0[i] + s1 * v1[i] + s2 * v2[i] + s3 * v3[i] + s4 * v4[i] + s5 * v5[i]
            height = _sweep_row(row, least, factors)
            g0 = g1 = g2 = g3 = g4 = zero
            for i in range(d):
                kappa = row[i]
                g0 += kappa * v0[i]
                g1 += kappa * v1[i]
                g2 += kappa * v2[i]
                g3 += kappa * v3[i]
                g4 += kappa * v4[i]
            p, r, q = 1.0 + g0, g1 / ROOT2, 1.0 + g2
            determinant = p * q - r * r
            across, up = linear[n, 0] - g3 / ROOT2, linear[n, 1] - g4 / ROOT2
            x, y = (q * across - r * up) / determinant, (p * up - r * across) / determinant
            xx, xy, yy = q / determinant, -ROOT2 * r / determinant, p / determinant
        inner = t0 * g0 + t1 * g1 + t2 * g2 + t3 * g3 + t4 * g4  # and g5, which is taken away again
        bound[n] = 0.5 * (inner + across * x + up * y - math.log(determinant)) + linear[n, 2] - height
        mean[n, 0], mean[n, 1] = x, y
        covariance[n, 0], covariance[n, 1], covariance[n, 2] = xx, xy, yy
