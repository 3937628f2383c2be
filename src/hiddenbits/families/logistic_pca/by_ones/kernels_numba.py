"""The compiled twin of `expectations`, for whoever has numba (the extra `fast`)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hiddenbits.array_types import Floats, Rows
from hiddenbits.maths.exp_numba import compiled, exp_minus, log_one_plus

PAIRS = 512  # pairs that are worked on together


@compiled
def expectations(
    mean: Floats, variance: Floats, rule: Floats, rare: float, smallest: float, f: Floats, sigma: Floats, slope: Floats
) -> None:
    """Put E f (unless that is empty), E sigma and the slope of every pair into place; all arrays have one axis.

    `rule` has the nodes and their weights. The slope is that for rows where `f` is empty, and else that for columns.
    Pairs that are not rare are gathered, so that the compiler works on several of them at once.
    """
    by_row, which = len(f) == 0, np.empty(PAIRS, np.int64)
    m, s, total, one, two = np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS), np.empty(PAIRS)
    for start in range(0, len(mean), PAIRS):
        stop = min(start + PAIRS, len(mean))
        means, variances, first, second = mean[start:stop], variance[start:stop], sigma[start:stop], slope[start:stop]
        for i in range(len(means)):
            first[i] = exp_minus(max(-(means[i] + 0.5 * variances[i]), 0.0))
        second[:] = first
        if not by_row:
            f[start:stop] = first
        n = 0
        for i in range(len(means)):
            which[n], m[n], s[n] = i, means[i], variances[i]
            n += means[i] + 1.5 * variances[i] > rare
        for c in range(n):
            s[c] = math.sqrt(max(s[c], smallest))
            total[c] = one[c] = two[c] = 0.0
        for k in range(rule.shape[1]):
            node, weight = rule[0, k], rule[1, k]
            if by_row:
                for c in range(n):
                    A = m[c] + node * s[c]
                    u = exp_minus(abs(A))
                    share = 1.0 / (1.0 + u)
                    one[c] += weight * (share if A >= 0.0 else u * share)
                    two[c] += weight * (u * share * share)
            else:
                for c in range(n):
                    A = m[c] + node * s[c]
                    u = exp_minus(abs(A))
                    share = 1.0 / (1.0 + u)
                    at_node = share if A >= 0.0 else u * share
                    one[c] += weight * at_node
                    two[c] += (node * weight) * at_node
                    total[c] += weight * (max(A, 0.0) + log_one_plus(u))
        for c in range(n):
            first[which[c]] = one[c]
            second[which[c]] = two[c] if by_row else two[c] / s[c]
        if not by_row:
            for c in range(n):
                f[start + which[c]] = total[c]


# The compiled twin of the steps of rows through cells, for whoever has numba (the extra `fast`).


@njit(cache=True, nogil=True, error_model="numpy")
def settle(
    pull: Floats,
    mean: Floats,
    tree: tuple[Rows, Floats, Rows, Rows],
    matrices: Floats,
    offsets: Floats,
    n_steps: int,
    longest: float,
    cell: Rows,
) -> None:
    """Move each row's mean in place; put the cell in which its last step began into `cell`.

    `tree` is axis, threshold, child and leaf of each node; a step leads to C_a pull + offset_a, C_a of `matrices`.
    """
    axis, threshold, child, leaf = tree
    q = pull.shape[1]
    step = np.empty(q)
    for n in range(len(pull)):
        for _ in range(n_steps):
            node = 0
            while child[node] != node:
                node = child[node] + (1 if mean[n, axis[node]] > threshold[node] else 0)
            a = leaf[node]
            square = 0.0
            for i in range(q):
                to = offsets[a, i]
                for j in range(q):
                    to += matrices[a, i, j] * pull[n, j]
                step[i] = to - mean[n, i]
                square += step[i] * step[i]
            size = math.sqrt(square)
            share = 1.0 if size <= longest else longest / size
            for i in range(q):
                mean[n, i] += share * step[i]
            cell[n] = a
            if size == 0.0:
                break
