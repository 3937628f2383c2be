"""Compiled kernels of `complete_rows.py` (the extra `fast`): softplus and sigmoid of every (row, unit) in one sweep.

With u = exp(-|a|): softplus(a) = max(a, 0) + ln(1 + u), and sigma(a) is 1/(1 + u) or u/(1 + u). Where the numbers of
a row are far apart in memory, one logarithm is taken of the product of 1 + u over its units.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exp_numba import exp_minus, log_of, log_one_plus, reordered

TILE = 512  # rows processed together
UNITS_PER_LOG = 1000  # 2 to this power does not overflow
ROWS = 256  # sparse rows processed together


@reordered
def add_units(a: Floats, offset: Floats, weights: Floats, h: Floats, hidden: Floats) -> float:
    """Put weight sigma(a + offset) of a (rows, m), and the weight, into h (m + 1, rows).

    Their sums are added to `hidden`, those of softplus are returned.
    """
    n, m = a.shape
    s_of, product = np.empty(TILE), np.empty(TILE)
    bound = 0.0
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        w = weights[first : first + rows]
        for r in range(rows):
            h[m, first + r] = w[r]
            hidden[m] += w[r]
        for i in range(m):
            if i % UNITS_PER_LOG == 0:
                for r in range(rows):
                    product[r] = 1.0
            for r in range(rows):
                s_of[r] = a[first + r, i]
            on, shift = h[i, first : first + rows], offset[i]
            total = above = 0.0
            for r in range(rows):
                s = s_of[r] + shift
                u = exp_minus(abs(s))
                share = w[r] / (1.0 + u)
                value = u * share if s < 0.0 else share
                on[r] = value
                total += value
                above += w[r] * (0.0 if s < 0.0 else s)
                product[r] *= 1.0 + u
            hidden[i] += total
            bound += above
            if i == m - 1 or i % UNITS_PER_LOG == UNITS_PER_LOG - 1:
                for r in range(rows):
                    bound += w[r] * log_of(product[r])
    return bound


@reordered
def _softplus_and_sigmoid(s_of: Floats, above: Floats) -> None:
    """Put softplus into `above`, and replace the argument by sigma; one axis."""
    for q in range(len(s_of)):
        s = s_of[q]
        u = exp_minus(abs(s))
        share = 1.0 / (1.0 + u)
        above[q] = (0.0 if s < 0.0 else s) + log_one_plus(u)
        s_of[q] = u * share if s < 0.0 else share


@reordered
def _gather(indptr: AnyArray, indices: AnyArray, W: Floats, offset: Floats, a: Floats) -> None:
    """Put offset + W'x of some rows into a: all units for four 1s at a time."""
    for r in range(len(indptr) - 1):
        for k in range(W.shape[1]):
            a[r, k] = offset[k]
        e, stop = indptr[r], indptr[r + 1]
        while e + 4 <= stop:
            i, j = np.uint64(indices[e]), np.uint64(indices[e + 1])
            f, g = np.uint64(indices[e + 2]), np.uint64(indices[e + 3])
            for k in range(W.shape[1]):
                a[r, k] += (W[i, k] + W[j, k]) + (W[f, k] + W[g, k])
            e += 4
        while e < stop:
            j = np.uint64(indices[e])
            for k in range(W.shape[1]):
                a[r, k] += W[j, k]
            e += 1


@reordered
def _scatter(indptr: AnyArray, indices: AnyArray, h: Floats, sums: Floats) -> None:
    """Add x'h to the sums."""
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            j = np.uint64(indices[e])
            for k in range(sums.shape[1]):
                sums[j, k] += h[r, k]


@reordered
def add_ones(
    indptr: AnyArray, indices: AnyArray, W: Floats, offset: Floats, weights: Floats, sums: Floats, hidden: Floats
) -> float:
    """Add weight h to `sums` (d, width) for every 1, its sums to `hidden`; return those of softplus.

    W (d, width) and `offset` have columns beyond the units, with numbers far below 0, whose softplus and sigma are
    0. The last column of `sums` and `hidden` is that of the weights.
    """
    width = W.shape[1]
    a, above, total = np.empty((ROWS, width)), np.empty((ROWS, width)), np.zeros(width)
    for first in range(0, len(weights), ROWS):
        n = min(ROWS, len(weights) - first)
        pointers = indptr[first : first + n + 1]
        _gather(pointers, indices, W, offset, a)
        _softplus_and_sigmoid(a[:n].ravel(), above[:n].ravel())
        for r in range(n):
            weight = weights[first + r]
            for k in range(width):
                value = weight * a[r, k]
                a[r, k] = value
                hidden[k] += value
                total[k] += weight * above[r, k]
            a[r, width - 1] = weight
            hidden[width - 1] += weight
        _scatter(pointers, indices, a, sums)
    return float(total.sum())
