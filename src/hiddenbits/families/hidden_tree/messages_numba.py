"""Compiled twin of the E-step of `model.py`, used if numba is installed (the extra `fast`): a batch of rows at a time.

Rows are the last axis, and a batch always has `ROWS` of them, so that the compiler vectorizes over rows; the last batch
is padded with rows of weight 0 in which every cell is missing. States are processed four at a time; if their number is
not a multiple of four, the last one is repeated, with a factor of 0 in sums.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.maths.exp_numba import reordered

ROWS = 64
BLAS_STATES = 12  # states from which on BLAS multiplies matrices of (states, ROWS) faster than these loops
MISSING = 2  # value of a missing cell; observed cells are 0 or 1


@reordered
def _product(A: Floats, b: Floats, out: Floats) -> None:
    """Write A b, (K, rows)."""
    K = len(A)
    if K >= BLAS_STATES:
        np.dot(A, b, out)
        return
    last = K - 1
    for k in range(K):
        total = out[k]
        for n in range(ROWS):
            total[n] = 0.0
        for j in range(0, K, 4):
            j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            a0, b0, b1, b2, b3 = A[k, j], b[j], b[j1], b[j2], b[j3]
            a1 = A[k, j1] if j + 1 < K else 0.0
            a2 = A[k, j2] if j + 2 < K else 0.0
            a3 = A[k, j3] if j + 3 < K else 0.0
            for n in range(ROWS):
                total[n] += a0 * b0[n] + a1 * b1[n] + a2 * b2[n] + a3 * b3[n]


@reordered
def _add_sums(rows: Floats, b: Floats, out: Floats) -> None:
    """Add Sum_n rows_kn b_ln to `out`, (states of `rows`, K)."""
    n_rows, K = len(rows), len(b)
    if n_rows >= BLAS_STATES:
        out += np.dot(rows, b.T)
        return
    for k in range(0, n_rows, 2):
        k1 = min(k + 1, n_rows - 1)
        p, q = rows[k], rows[k1]
        for j in range(0, K, 4):
            j1, j2, j3 = min(j + 1, K - 1), min(j + 2, K - 1), min(j + 3, K - 1)
            b0, b1, b2, b3 = b[j], b[j1], b[j2], b[j3]
            p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = 0.0
            for n in range(ROWS):
                p0 += p[n] * b0[n]
                p1 += p[n] * b1[n]
                p2 += p[n] * b2[n]
                p3 += p[n] * b3[n]
                q0 += q[n] * b0[n]
                q1 += q[n] * b1[n]
                q2 += q[n] * b2[n]
                q3 += q[n] * b3[n]
            # All are read before the first is written: a repeated state is written twice, with the same value.
            p0, p1, p2, p3 = p0 + out[k, j], p1 + out[k, j1], p2 + out[k, j2], p3 + out[k, j3]
            q0, q1, q2, q3 = q0 + out[k1, j], q1 + out[k1, j1], q2 + out[k1, j2], q3 + out[k1, j3]
            out[k, j], out[k, j1], out[k, j2], out[k, j3] = p0, p1, p2, p3
            out[k1, j], out[k1, j1], out[k1, j2], out[k1, j3] = q0, q1, q2, q3


@reordered
def _scale(b: Floats, log_p: Floats) -> None:
    """Scale the states of every row to a sum of 1, and add the log of their sum to log_p."""
    total = np.zeros(ROWS)
    for k in range(len(b)):
        for n in range(ROWS):
            total[n] += b[k, n]
    for n in range(ROWS):
        log_p[n] += np.log(total[n])
        total[n] = 1.0 / total[n]
    for k in range(len(b)):
        for n in range(ROWS):
            b[k, n] *= total[n]


@reordered
def _upward(tree: AnyArray, p_cells: Floats, moves: Floats, cells: Bytes, b: Floats, u: Floats, log_p: Floats) -> None:
    """Write b and u of every column, (d, K, ROWS), and ln P(x), (ROWS,), of the rows with these cells, (d, ROWS)."""
    order, parents, rescaled = tree[0], tree[1], tree[2]
    K = b.shape[1]
    log_p[:] = 0.0
    for j in range(len(order)):
        p0, p1, p_missing, x_j = p_cells[3 * j], p_cells[3 * j + 1], p_cells[3 * j + 2], cells[j]
        for k in range(K):
            for n in range(ROWS):
                b[j, k, n] = p0[k] if x_j[n] == 0 else (p1[k] if x_j[n] == 1 else p_missing[k])
    for j in order[::-1]:
        parent, b_j = parents[j], b[j]
        if parent < 0:
            for k in range(K):
                for n in range(ROWS):
                    b_j[k, n] *= moves[j, 0, k]
            _scale(b_j, log_p)
            continue
        b_parent, message = b[parent], u[j]
        _product(moves[j], b_j, message)
        for k in range(K):
            for n in range(ROWS):
                b_parent[k, n] *= message[k, n]
        if rescaled[j]:
            _scale(b_parent, log_p)


@reordered
def _downward(
    tree: AnyArray,
    moves_t: Floats,
    cells: Bytes,
    w: Floats,
    b: Floats,
    u: Floats,
    move_counts: Floats,
    cell_sums: Floats,
) -> None:
    """Add expected moves without their factor A, (d, K, K), and expected 1s and observed cells by state, (d, 2, K)."""
    order, parents = tree[0], tree[1]
    K = b.shape[1]
    ratio, down, indicators = np.empty((K, ROWS)), np.empty((K, ROWS)), np.empty((2, ROWS))
    for j in order:
        parent, g_j, x_j = parents[j], b[j], cells[j]  # b_j becomes g_j
        if parent < 0:
            for k in range(K):
                for n in range(ROWS):
                    g_j[k, n] *= w[n]
                    move_counts[j, 0, k] += g_j[k, n]
        else:
            g_parent, message = b[parent], u[j]
            for k in range(K):
                for n in range(ROWS):
                    ratio[k, n] = g_parent[k, n] / message[k, n]
            _add_sums(ratio, g_j, move_counts[j])
            _product(moves_t[j], ratio, down)
            for k in range(K):
                for n in range(ROWS):
                    g_j[k, n] *= down[k, n]
        for n in range(ROWS):
            indicators[0, n] = 1.0 if x_j[n] == 1 else 0.0
            indicators[1, n] = 1.0 if x_j[n] != MISSING else 0.0
        _add_sums(indicators, g_j, cell_sums[j])


@njit(cache=True, nogil=True)
def add_block(
    tree: AnyArray,
    p_cells: Floats,
    moves: Floats,
    moves_t: Floats,
    x: Bytes,
    observed: Bytes,
    weights: Floats,
    buffer: Floats,
    log_p: Floats,
    move_counts: Floats,
    cell_sums: Floats,
) -> None:
    """Write ln P(x) of all rows of a block, and add their expected counts (`_downward`) unless `move_counts` is empty.

    `tree` is `HiddenTreeParams.tree_arrays`; `observed` is empty if every cell is observed.
    """
    (n_rows, d), K = x.shape, p_cells.shape[1]
    messages = buffer.reshape(2, d, K, ROWS)
    b, u = messages[0], messages[1]
    cells, w, logs = np.empty((d, ROWS), np.uint8), np.zeros(ROWS), np.empty(ROWS)
    for start in range(0, n_rows, ROWS):
        height = min(ROWS, n_rows - start)
        cells[:, height:] = MISSING
        w[height:] = 0.0
        for n in range(height):
            w[n] = weights[start + n]
            for j in range(d):
                cells[j, n] = x[start + n, j]
                if observed.size and observed[start + n, j] == 0:
                    cells[j, n] = MISSING
        _upward(tree, p_cells, moves, cells, b, u, logs)
        log_p[start : start + height] = logs[:height]
        if move_counts.size:
            _downward(tree, moves_t, cells, w, b, u, move_counts, cell_sums)
