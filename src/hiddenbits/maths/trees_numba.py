"""Compiled twins of functions of `complete_rows.py`, for whoever has numba (the extra `fast`): row by row, by the ones.

A row is the list of its ones and, for the time it is worked on, a run of bytes in which parents are looked up. All
classes of a one are walked together: their parents and numbers lie side by side.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.maths.softmax_numba import softmax

LINK_ROWS = 64  # rows whose links are remembered from their scores to their counts
TILE = 32  # columns and rows of a tile of a square: 8 KB


@njit(cache=True, nogil=True)
def _find_links(columns: AnyArray, parents: AnyArray, bits: Bytes, links: AnyArray, n_links: np.uint64) -> np.uint64:
    """Append (column, class) of every one whose parent is 1, too, as column << 16 | class; return how many there are.

    Each is written in the place of the one before unless that was a link, which saves a branch.
    """
    K = np.uint64(parents.shape[1])
    for j in columns:
        bits[j] = 1
    for j in columns:
        above, column = parents[j], np.uint64(j) << np.uint64(16)
        for k in range(K):
            links[n_links] = column | k
            n_links += np.uint64(bits[above[k]])
    for j in columns:
        bits[j] = 0
    return n_links


@njit(cache=True, nogil=True, error_model="numpy")
def sparse_rows(
    indptr: AnyArray,
    indices: AnyArray,
    parents: AnyArray,
    linear: Floats,
    pair: Floats,
    offset: Floats,
    weights: Floats,
    least: Floats,
    r: Floats,
    largest: Floats,
    total: Floats,
    ones: Floats,
    both: Floats,
) -> None:
    """Write r, and what `softmax` writes; add r to the ones of each class, and to `both` where the parent is 1, too.

    The scores are offset_k + x.a_k + Sum_j x_j x_parent b_jk; a root's parent is column d, which is always 0. Counts
    are made if there is a place for them; r up to `least` (of a row) is 0 there. A few rows at a time: parents are
    looked up once for scores and counts. `indptr` and `indices` are without a sign, which saves a test of every index.
    """
    n_rows, K = r.shape
    most = np.uint64(0)
    for start in range(0, n_rows, LINK_ROWS):
        most = max(most, indptr[min(start + LINK_ROWS, n_rows)] - indptr[start])
    links = np.empty(most * np.uint64(K) + np.uint64(1), np.uint64)
    stops, bits = np.empty(LINK_ROWS, np.uint64), np.zeros(len(linear) + 1, np.uint8)
    active = np.empty(K + 1, np.uint32)
    for start in range(0, n_rows, LINK_ROWS):
        stop = min(start + LINK_ROWS, n_rows)
        found = np.uint64(0)
        for n in range(start, stop):
            columns, row = indices[indptr[n] : indptr[n + 1]], r[n]
            row[:] = 0.0
            for j in columns:
                alone = linear[j]
                for k in range(K):
                    row[k] += alone[k]
            first = found
            found = _find_links(columns, parents, bits, links, found)
            for link in links[first:found]:
                k = link & np.uint64(0xFFFF)
                row[k] += pair[link >> np.uint64(16), k]
            stops[n - start] = found
        softmax(r[start:stop], offset, weights[start:stop], True, largest[start:stop], total[start:stop])
        if not ones.size:
            continue
        first = np.uint64(0)
        for n in range(start, stop):
            columns, row = indices[indptr[n] : indptr[n + 1]], r[n]
            n_active = 0
            for k in range(K):
                active[n_active] = k
                n_active += row[k] > least[n]
            if 2 * n_active > K:
                for j in columns:
                    alone = ones[j]
                    for k in range(K):
                        alone[k] += row[k]
            else:
                for j in columns:
                    alone = ones[j]
                    for k in active[:n_active]:
                        alone[k] += row[k]
            for link in links[first : stops[n - start]]:
                k = link & np.uint64(0xFFFF)
                both[link >> np.uint64(16), k] += row[k]
            first = stops[n - start]


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
