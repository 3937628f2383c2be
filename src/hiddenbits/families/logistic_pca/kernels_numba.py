"""Compiled computations for every cell, with numba (the extra `fast`): row by row, in one sweep.

With s = (xi/2)^2, e its root and u = exp(-2e), 4 kappa = tanh(e)/e = (1 - u)/(e (1 + u)) and
ln 2cosh(e) = e + ln(1 + u).
Logarithms are taken of products over columns. Packed matrices are as in `packed_symmetric.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.families.logistic_pca.gaussian_cells import BASE_BITS, FIRST_OCTAVE, MEAN_STEP, N_MEANS, OCTAVE_SHIFT
from hiddenbits.maths.exp_numba import as_integer, compiled, plus_and_minus_exp, reordered

LOG_FACTORS = {"d": 512, "f": 64}  # numbers from 1 to 2 in a product, by precision: 2^512 and 2^64 do not overflow
LARGEST_PRODUCT = 2.0**500  # a larger product of these products is replaced by its logarithm
ROOT2 = math.sqrt(2.0)


@reordered
def _sweep_row(cells: AnyArray, least: Any, factors: int) -> float:
    """Turn s into 4 kappa, and return the sum of ln 2cosh(xi/2); no s is below `least`."""
    height, whole, one = 0.0, 1.0, least / least
    for first in range(0, len(cells), factors):
        chunk, total, product = cells[first : first + factors], least - least, one
        for i in range(len(chunk)):
            e = math.sqrt(least if chunk[i] < least else chunk[i])
            plus, minus = plus_and_minus_exp(-(e + e), one)
            chunk[i] = minus / (plus * e)
            total += e
            product *= plus
        height += total
        whole *= product
        if whole > LARGEST_PRODUCT:
            height += math.log(whole)
            whole = 1.0
    return height + math.log(whole)


@reordered
def sweep(cells: AnyArray, least: Any, factors: int, heights: Floats) -> None:
    """Turn s (rows, d) into 4 kappa, and put -Sum ln 2cosh(xi/2) of each row into `heights`."""
    for n in range(len(cells)):
        heights[n] = -_sweep_row(cells[n], least, factors)


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
        inner = t0 * g0 + t1 * g1 + t2 * g2 + t3 * g3 + t4 * g4  # g5 is omitted: it would cancel
        bound[n] = 0.5 * (inner + across * x + up * y - math.log(determinant)) + linear[n, 2] - height
        mean[n, 0], mean[n, 1] = x, y
        covariance[n, 0], covariance[n, 1], covariance[n, 2] = xx, xy, yy


# The compiled twin of `gaussian_cells.cell_expectations`.
#
# The series is the same. It is summed over the powers of y, the heat, first (d0 to d8), then over those of x, the mean.

MEANS_PER_UNIT, LAST_MEAN = 1.0 / MEAN_STEP, N_MEANS - 1


@compiled
def cell_expectations(mean: Floats, heat: Floats, heats: Floats, rows: Floats, out: Floats) -> None:
    """Put E[ln 2cosh(A/2)], E[sigma(A)] and E[sigma'(A)] of every cell, (rows, d), into `out`, (3, rows, d)."""
    for r in range(mean.shape[0]):
        for c in range(mean.shape[1]):
            a, h = abs(mean[r, c]), heat[r, c]
            i = int(a * MEANS_PER_UNIT + 0.5) if a < LAST_MEAN * MEAN_STEP else LAST_MEAN
            j = (as_integer(h + FIRST_OCTAVE) >> OCTAVE_SHIFT) - BASE_BITS
            j = j if 0 <= j < len(heats) else 0  # wider than the table, or NaN
            row = rows[N_MEANS * j + i]
            y = h - heats[j]
            y2, y3, y4, y5 = y / 2.0, y / 3.0, y / 4.0, y / 5.0
            d8 = row[8] + y * row[10]
            d7 = row[7] + y * row[9]
            d6 = row[6] + y * (row[8] + y2 * row[10])
            d5 = row[5] + y * (row[7] + y2 * row[9])
            d4 = row[4] + y * (row[6] + y2 * (row[8] + y3 * row[10]))
            d3 = row[3] + y * (row[5] + y2 * (row[7] + y3 * row[9]))
            d2 = row[2] + y * (row[4] + y2 * (row[6] + y3 * (row[8] + y4 * row[10])))
            d1 = row[1] + y * (row[3] + y2 * (row[5] + y3 * (row[7] + y4 * row[9])))
            d0 = row[0] + y * (row[2] + y2 * (row[4] + y3 * (row[6] + y4 * (row[8] + y5 * row[10]))))
            x = a - i * MEAN_STEP
            x2, x3, x4, x5, x6, x7 = x / 2.0, x / 3.0, x / 4.0, x / 5.0, x / 6.0, x / 7.0
            tilt = d1 + x * (d2 + x2 * (d3 + x3 * (d4 + x4 * (d5 + x5 * (d6 + x6 * (d7 + x7 * d8))))))
            out[0, r, c] = d0 + x * (d1 + x2 * (d2 + x3 * (d3 + x4 * (d4 + x5 * (d5 + x6 * (d6 + x7 * d7))))))
            out[1, r, c] = 0.5 + tilt if mean[r, c] >= 0.0 else 0.5 - tilt
            out[2, r, c] = d2 + x * (d3 + x2 * (d4 + x3 * (d5 + x4 * (d6 + x5 * (d7 + x6 * d8)))))
