"""Compiled twin of `AnchorExpansions.posteriors` (the extra `fast`): steps of the means of rows through cells."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hiddenbits.array_types import Floats, Rows


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
    """Move the mean of each row in place; put the cell in which its last step began into `cell`.

    `tree` has axis, threshold, child and leaf of each node. In cell a a step leads to C_a pull + offset_a, with C_a in
    `matrices`; it is shortened to the length `longest`.
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
                target = offsets[a, i]
                for j in range(q):
                    target += matrices[a, i, j] * pull[n, j]
                step[i] = target - mean[n, i]
                square += step[i] * step[i]
            length = math.sqrt(square)
            share = 1.0 if length <= longest else longest / length
            for i in range(q):
                mean[n, i] += share * step[i]
            cell[n] = a
            if length == 0.0:
                break
