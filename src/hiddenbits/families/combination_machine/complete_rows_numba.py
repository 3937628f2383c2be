"""Compiled kernels of `complete_rows.py` (the extra `fast`): softplus and sigmoid of every (row, unit) in one sweep.

With u = exp(-|a|): softplus(a) = max(a, 0) + ln(1 + u), and sigma(a) is 1/(1 + u) or u/(1 + u). Where the numbers of
a row are far apart in memory, one logarithm is taken of the product of 1 + u over its units.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.maths.exp_numba import exp_minus, log_of, log_one_plus, reordered

DENSE_ROWS_AT_ONCE = 512  # rows processed together
UNITS_PER_LOG = 1000  # factors of a product: 2 to this power does not overflow
SPARSE_ROWS_AT_ONCE = 256  # sparse rows processed together


@reordered
def add_units(a: Floats, offset: Floats, weights: Floats, h: Floats, hidden: Floats) -> float:
    """Put weight x sigma(a + offset), and the weight in a last row, into h (m + 1, rows); a has shape (rows, m).

    Add the sums of h to `hidden`; return the sum of weight x softplus(a + offset).
    """
    n, m = a.shape
    values, product = np.empty(DENSE_ROWS_AT_ONCE), np.empty(DENSE_ROWS_AT_ONCE)
    bound = 0.0
    for first in range(0, n, DENSE_ROWS_AT_ONCE):
        rows = min(DENSE_ROWS_AT_ONCE, n - first)
        w = weights[first : first + rows]
        for r in range(rows):
            h[m, first + r] = w[r]
            hidden[m] += w[r]
        for i in range(m):
            if i % UNITS_PER_LOG == 0:
                for r in range(rows):
                    product[r] = 1.0
            for r in range(rows):
                values[r] = a[first + r, i]
            h_unit, shift = h[i, first : first + rows], offset[i]
            total = positive_parts = 0.0
            for r in range(rows):
                s = values[r] + shift
                u = exp_minus(abs(s))
                share = w[r] / (1.0 + u)
                value = u * share if s < 0.0 else share
                h_unit[r] = value
                total += value
                positive_parts += w[r] * (0.0 if s < 0.0 else s)
                product[r] *= 1.0 + u
            hidden[i] += total
            bound += positive_parts
            if i == m - 1 or i % UNITS_PER_LOG == UNITS_PER_LOG - 1:
                for r in range(rows):
                    bound += w[r] * log_of(product[r])
    return bound


@reordered
def _softplus_and_sigmoid(values: Floats, softplus: Floats) -> None:
    """Put the softplus of `values`, (n,), into `softplus`, and replace `values` by their sigma."""
    for q in range(len(values)):
        s = values[q]
        u = exp_minus(abs(s))
        share = 1.0 / (1.0 + u)
        softplus[q] = (0.0 if s < 0.0 else s) + log_one_plus(u)
        values[q] = u * share if s < 0.0 else share


@reordered
def _gather(indptr: AnyArray, indices: AnyArray, W: Floats, offset: Floats, a: Floats) -> None:
    """Put offset + W't of some rows into a; four 1s at a time are added to all units."""
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
    """Add t'h to the sums."""
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            j = np.uint64(indices[e])
            for k in range(sums.shape[1]):
                sums[j, k] += h[r, k]


@reordered
def add_ones(
    indptr: AnyArray, indices: AnyArray, W: Floats, offset: Floats, weights: Floats, sums: Floats, hidden: Floats
) -> float:
    """Add weight x h to `sums` (d, width) for every 1, and for every row to `hidden`; return Sum weight x softplus.

    `offset` is so far below 0 in the columns beyond the units that softplus and sigma are 0 there. The last column of
    `sums` and `hidden` is that of the weights.
    """
    width = W.shape[1]
    a, softplus, total = np.empty((SPARSE_ROWS_AT_ONCE, width)), np.empty((SPARSE_ROWS_AT_ONCE, width)), np.zeros(width)
    for first in range(0, len(weights), SPARSE_ROWS_AT_ONCE):
        n = min(SPARSE_ROWS_AT_ONCE, len(weights) - first)
        pointers = indptr[first : first + n + 1]
        _gather(pointers, indices, W, offset, a)
        _softplus_and_sigmoid(a[:n].ravel(), softplus[:n].ravel())
        for r in range(n):
            weight = weights[first + r]
            for k in range(width):
                value = weight * a[r, k]
                a[r, k] = value
                hidden[k] += value
                total[k] += weight * softplus[r, k]
            a[r, width - 1] = weight
            hidden[width - 1] += weight
        _scatter(pointers, indices, a, sums)
    return float(total.sum())
