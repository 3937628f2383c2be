"""Compiled twin of `numerics.softmax_rows`, for whoever has numba (the extra `fast`)."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.maths.exp_numba import LEAST, exp_parts, reordered

CHUNK_NUMBERS = 1 << 13  # numbers that are worked on together: 64 KB


@reordered
def softmax(scores: Floats, offset: Floats, weights: Floats, shift: bool, largest: Floats, total: Floats) -> None:
    """Turn rows of scores into probabilities; write the largest score of each and the sum of exp(score - largest).

    A single offset or weight is that of all rows.
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
            power, rest = exp_parts(numbers[i])
            numbers[i] = 0.0 if numbers[i] < LEAST else power + rest
        for n in range(start, stop):
            row = scores[n]
            whole = 0.0
            for k in range(width):
                whole += row[k]
            total[n] = whole
            share = weights[n if len(weights) > 1 else 0] / whole
            for k in range(width):
                row[k] *= share
