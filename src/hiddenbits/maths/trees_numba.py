"""Compiled twins of functions of `complete_rows.py`, with numba (the extra `fast`), for the 1s of sparse rows.

A row is the list of its 1s and, while it is processed, an array of bytes in which parents are looked up. The inner
loops run over the classes, whose parents and numbers are next to each other in memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.maths.exp_numba import LEAST_EXPONENT, exp_parts, reordered

STORED_LOOK_UPS = 1 << 21  # of parents; results stored at a time
TILE_SIDE = 32  # columns and rows in a tile of a square: 8 KB
CHUNK_NUMBERS = 1 << 13  # numbers of a softmax that are processed together: 64 KB


@njit(cache=True, nogil=True)
def _find_links(columns: AnyArray, parents: AnyArray, bits: Bytes, links: AnyArray, n_links: np.uint64) -> np.uint64:
    """Append (column, class) of every 1 whose parent is 1, too, as column << 16 | class; return the number of links.

    Each pair is written, and overwritten by the next one unless it is a link: this avoids a branch.
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


@reordered
def _softmax(scores: Floats, offset: Floats, weights: Floats, shift: bool, largest: Floats, total: Floats) -> None:
    """Turn rows of scores into probabilities, as `numerics.softmax_rows`.

    Write the largest score of each row, and the sum of exp(score - largest). A single offset or weight is used for all
    rows.
    """
    n_rows, width = scores.shape
    step = max(1, CHUNK_NUMBERS // max(width, 1))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        for n in range(start, stop):
            row, c = scores[n], offset[n if len(offset) > 1 else 0]
            for k in range(width):
                row[k] += c[k]
            most = 0.0
            if shift:
                most = -np.inf
                for k in range(width):
                    most = row[k] if row[k] > most else most
                for k in range(width):
                    row[k] -= most
            largest[n] = most
        numbers = scores[start:stop].reshape(-1)
        for i in range(len(numbers)):
            power, remainder = exp_parts(numbers[i])
            numbers[i] = 0.0 if numbers[i] < LEAST_EXPONENT else power + remainder
        for n in range(start, stop):
            row = scores[n]
            row_sum = 0.0
            for k in range(width):
                row_sum += row[k]
            total[n] = row_sum
            share = weights[n if len(weights) > 1 else 0] / row_sum
            for k in range(width):
                row[k] *= share


@njit(cache=True, nogil=True)
def _add_ones(columns: AnyArray, row: Floats, least: float, active: AnyArray, ones: Floats) -> None:
    """Add a row's r to the counts of its 1s; if r is above `least` in few classes only, add only these."""
    K, n_active = len(row), 0
    for k in range(K):
        active[n_active] = k
        n_active += row[k] > least
    if 2 * n_active > K:
        for j in columns:
            counts = ones[j]
            for k in range(K):
                counts[k] += row[k]
    else:
        for j in columns:
            counts = ones[j]
            for k in active[:n_active]:
                counts[k] += row[k]


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
    """Write r and the results of `_softmax`; add r to `ones` of each class, and to `both` if the parent is 1, too.

    The scores are offset_k + x.a_k + Sum_j x_j x_parent b_jk; a root's parent is column d, which is always 0. Counts
    are made unless `ones` is empty; r up to `least` (of a row) may be ignored there. Parents are looked up once for
    scores and counts, some rows at a time, whose links are stored. The arrays of (d, K) are used one after the other,
    because all of them would not stay in the cache. `indptr` and `indices` are unsigned, which saves index checks.
    """
    n_rows, K = r.shape
    step = max(1, min(n_rows, n_rows * STORED_LOOK_UPS // (K * len(indices) + 1)))
    most = np.uint64(0)
    for start in range(0, n_rows, step):
        most = max(most, indptr[min(start + step, n_rows)] - indptr[start])
    links = np.empty(most * np.uint64(K) + np.uint64(1), np.uint64)
    stops, bits = np.zeros(step + 1, np.uint64), np.zeros(len(linear) + 1, np.uint8)
    active = np.empty(K + 1, np.uint32)
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        for n in range(start, stop):
            row = r[n]
            row[:] = 0.0
            for j in indices[indptr[n] : indptr[n + 1]]:
                slopes = linear[j]
                for k in range(K):
                    row[k] += slopes[k]
        for n in range(start, stop):
            row, first = r[n], stops[n - start]
            stop_of_row = _find_links(indices[indptr[n] : indptr[n + 1]], parents, bits, links, first)
            stops[n - start + 1] = stop_of_row
            for link in links[first:stop_of_row]:
                k = link & np.uint64(0xFFFF)
                row[k] += pair[link >> np.uint64(16), k]
        _softmax(r[start:stop], offset, weights[start:stop], True, largest[start:stop], total[start:stop])
        for n in range(start, stop if ones.size else start):
            _add_ones(indices[indptr[n] : indptr[n + 1]], r[n], least[n], active, ones)
        for n in range(start, stop if ones.size else start):
            row = r[n]
            for link in links[stops[n - start] : stops[n - start + 1]]:
                k = link & np.uint64(0xFFFF)
                both[link >> np.uint64(16), k] += row[k]


@njit(cache=True, nogil=True)
def add_pairs(indptr: AnyArray, indices: AnyArray, d: int, r: Floats, least: Floats, pairs: Floats) -> None:
    """Add r to every pair of 1s of each class: cell (i, j), i < j, has number i (2 d - i - 1) / 2 + j - i - 1."""
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
def fill_square(pairs: Floats, square: Floats) -> None:
    """Write the numbers of pairs above and below the diagonal of a square, tile by tile."""
    d = len(square)
    for top in range(0, d, TILE_SIDE):
        for left in range(top, d, TILE_SIDE):
            for i in range(top, min(top + TILE_SIDE, d)):
                first = i * (2 * d - i - 1) // 2 - i - 1
                for j in range(max(left, i + 1), min(left + TILE_SIDE, d)):
                    square[i, j] = pairs[first + j]
                    square[j, i] = pairs[first + j]


@njit(cache=True, nogil=True)
def find_forest(gains: Floats, penalty: float, parents: AnyArray) -> None:
    """Write the parents of the heaviest forest; see `chow_liu.heaviest_forest`."""
    d = len(gains)
    best_gain = np.full(d, penalty)
    best_parent = np.full(d, -1)
    free = np.ones(d, np.bool_)
    for _ in range(d):
        j = -1
        for i in range(d):  # the lowest of equal columns; if no link exceeds the penalty, the lowest free one
            if free[i] and (j < 0 or best_gain[i] > best_gain[j]):
                j = i
        free[j] = False
        parents[j] = best_parent[j]
        gain = gains[j]
        for i in range(d):
            if free[i] and gain[i] > best_gain[i]:
                best_gain[i] = gain[i]
                best_parent[i] = j
