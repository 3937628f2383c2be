"""Compiled twins of functions of `complete_rows.py`, for whoever has numba (the extra `fast`): row by row, by the ones.

A row is the list of its ones and, for the time it is worked on, a run of bytes in which parents are looked up. All
classes of a one are walked together: their parents and numbers lie side by side.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hiddenbits.array_types import AnyArray, Floats

TILE = 32  # columns and rows of a tile of a square: 8 KB


@njit(cache=True, nogil=True)
def add_scores(
    indptr: AnyArray, indices: AnyArray, parents: AnyArray, linear: Floats, pair: Floats, scores: Floats
) -> None:
    """Add x.a_k + Sum_j x_j x_parent b_jk to the scores; a root's parent is column d, which is always 0."""
    d, K = linear.shape
    bits = np.zeros(d + 1, np.float64)
    for n in range(len(indptr) - 1):
        for e in range(indptr[n], indptr[n + 1]):
            bits[indices[e]] = 1.0
        row = scores[n]
        for e in range(indptr[n], indptr[n + 1]):
            above, alone, both = parents[indices[e]], linear[indices[e]], pair[indices[e]]
            for k in range(K):
                row[k] += alone[k] + bits[above[k]] * both[k]
        for e in range(indptr[n], indptr[n + 1]):
            bits[indices[e]] = 0.0


@njit(cache=True, nogil=True)
def add_counts(
    indptr: AnyArray, indices: AnyArray, parents: AnyArray, r: Floats, least: Floats, ones: Floats, both: Floats
) -> None:
    """Add r to the ones of each class, and to `both` where the parent is 1, too; r below `least` (of a row) is 0."""
    d, K = ones.shape
    bits = np.zeros(d + 1, np.float64)
    active = np.empty(K, np.uint32)
    for n in range(len(indptr) - 1):
        for e in range(indptr[n], indptr[n + 1]):
            bits[indices[e]] = 1.0
        n_active = 0
        for k in range(K):
            if r[n, k] > least[n]:
                active[n_active] = k
                n_active += 1
        for e in range(indptr[n], indptr[n + 1]):
            above, alone, pair = parents[indices[e]], ones[indices[e]], both[indices[e]]
            for a in range(n_active):
                k = active[a]
                alone[k] += r[n, k]
                pair[k] += r[n, k] * bits[above[k]]
        for e in range(indptr[n], indptr[n + 1]):
            bits[indices[e]] = 0.0


@njit(cache=True, nogil=True)
def add_pairs(indptr: AnyArray, indices: AnyArray, d: int, r: Floats, least: Floats, pairs: Floats) -> None:
    """Add r to every pair of ones of each class: cell (i, j), i < j, is number i (2 d - i - 1) / 2 + j - i - 1."""
    n_rows, K = r.shape
    for k in range(K):
        cells = pairs[k]
        for n in range(n_rows):
            share = r[n, k]
            if share <= least[n]:
                continue
            stop = indptr[n + 1]
            for e in range(indptr[n], stop):
                i = indices[e]
                first = i * (2 * d - i - 1) // 2 - i - 1
                for f in range(e + 1, stop):
                    cells[first + indices[f]] += share


@njit(cache=True, nogil=True)
def unfold(pairs: Floats, square: Floats) -> None:
    """Write the numbers of pairs above and below the diagonal of a square, tile by tile."""
    d = len(square)
    for top in range(0, d, TILE):
        for left in range(top, d, TILE):
            for i in range(top, min(top + TILE, d)):
                first = i * (2 * d - i - 1) // 2 - i - 1
                for j in range(max(left, i + 1), min(left + TILE, d)):
                    square[i, j] = pairs[first + j]
                    square[j, i] = pairs[first + j]


@njit(cache=True, nogil=True)
def forest_of(gains: Floats, penalty: float, parents: AnyArray) -> None:
    """Write the parents of the heaviest forest; see `tree_structure.heaviest_forest`."""
    d = len(gains)
    best = np.full(d, penalty)
    to = np.full(d, -1)
    free = np.ones(d, np.bool_)
    for _ in range(d):
        j = -1
        for i in range(d):  # the lowest of equals; without a link above the penalty, the lowest column left
            if free[i] and (j < 0 or best[i] > best[j]):
                j = i
        free[j] = False
        parents[j] = to[j]
        gain = gains[j]
        for i in range(d):
            if free[i] and gain[i] > best[i]:
                best[i] = gain[i]
                to[i] = j
