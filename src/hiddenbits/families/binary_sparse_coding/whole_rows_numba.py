"""Compiled kernels of `rows.py` (the extra `fast`): the steps between matrix products, for a run of rows."""

from __future__ import annotations

import math

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.maths.exp_numba import reordered

NEGLIGIBLE_LOG_WEIGHT = -60.0  # log weight relative to the largest, as in `truncated_posterior`
MOST_HALVINGS = 30  # of a bracket; usually more than enough to separate numbers in single precision


@reordered
def _choose_largest(values: AnyArray, c: int, chosen: Rows) -> bool:
    """Put the positions of the c largest numbers into `chosen`, of length c + 1; return False on failure.

    Bisection finds a threshold that exactly c numbers reach, between two multiples of the root mean square. Counting is
    faster than a list of the largest so far, whose branches are unpredictable.
    """
    dtype = values.dtype.type
    zero, one, target, total = dtype(0.0), dtype(1.0), dtype(c), dtype(0.0)
    for h in range(len(values)):
        total += values[h] * values[h]
    norm = math.sqrt(1.001 * total)
    low, high = dtype(-norm / math.sqrt(len(values) - c)), dtype(norm / math.sqrt(c))
    for _ in range(MOST_HALVINGS):
        middle = dtype(0.5) * (low + high)
        n = zero
        for h in range(len(values)):
            n += one if values[h] >= middle else zero
        if n == target:
            position = 0
            for h in range(len(values)):
                chosen[position] = h
                position += values[h] >= middle
            return True
        if n > target:
            low = middle
        else:
            high = middle
    return False


@reordered
def candidates(
    f: AnyArray, per_length: AnyArray, single: AnyArray, couplings: AnyArray, chosen: Rows, features: AnyArray
) -> None:
    """Choose the candidates of each row (equation 5), add `single` to f, and copy f_i and f_ij of the candidates."""
    n, H = f.shape
    c = chosen.shape[1]
    values, row_causes = np.empty(H, f.dtype), np.arange(c + 1)
    for r in range(n):
        row = f[r]
        for h in range(H):
            values[h] = row[h] * per_length[h]
            row[h] += single[h]
        if c < H and not _choose_largest(values, c, row_causes):  # equal numbers, or NaN
            row_causes[:c] = np.argsort(values)[H - c :]
        pair = c
        for i in range(c):
            chosen[r, i] = row_causes[i]
            features[r, i] = row[row_causes[i]]
            for j in range(i + 1, c):
                features[r, pair] = couplings[row_causes[i] * H + row_causes[j]]
                pair += 1


@reordered
def _largest(row: AnyArray, top: float) -> float:
    """Return the largest number of a row and `top`; eight are compared at a time, in parallel."""
    a = b = c = d = e = f = g = h = row.dtype.type(top)
    n_unrolled = len(row) // 8 * 8
    for i in range(0, n_unrolled, 8):
        a = row[i] if row[i] > a else a
        b = row[i + 1] if row[i + 1] > b else b
        c = row[i + 2] if row[i + 2] > c else c
        d = row[i + 3] if row[i + 3] > d else d
        e = row[i + 4] if row[i + 4] > e else e
        f = row[i + 5] if row[i + 5] > f else f
        g = row[i + 6] if row[i + 6] > g else g
        h = row[i + 7] if row[i + 7] > h else h
    for i in range(n_unrolled, len(row)):
        a = row[i] if row[i] > a else a
    return float(max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h))))


@reordered
def subtract_largest(f: AnyArray, states: AnyArray, chosen: Rows, tops: AnyArray) -> None:
    """Subtract each row's largest log weight; clip at NEGLIGIBLE_LOG_WEIGHT, which single candidates get, too."""
    least = f.dtype.type(NEGLIGIBLE_LOG_WEIGHT)
    for r in range(len(f)):
        single, joint = f[r], states[r]
        for i in range(chosen.shape[1]):
            single[chosen[r, i]] = -np.inf
        top = f.dtype.type(_largest(joint, _largest(single, 0.0)))  # the state with all causes off has log weight 0
        tops[r] = top
        for h in range(len(single)):
            value = single[h] - top
            single[h] = least if value < least else value
        for s in range(len(joint)):
            value = joint[s] - top
            joint[s] = least if value < least else value


@reordered
def sum_weights(f: AnyArray, states: AnyArray, tops: AnyArray, shares: AnyArray, logs: Floats) -> None:
    """Put the log of the sum of each row's weights into `logs`, and the reciprocal of the sum into `shares`."""
    for r in range(len(f)):
        single = joint = f.dtype.type(0.0)
        for h in range(f.shape[1]):
            single += f[r, h]
        for s in range(states.shape[1]):
            joint += states[r, s]
        total = float(single) + float(joint)
        shares[r] = 1.0 / total
        logs[r] = tops[r] + math.log(total)


@reordered
def add_moments(
    f: AnyArray,
    moments: AnyArray,
    shares: AnyArray,
    chosen: Rows,
    scores: Floats,
    cut: Floats,
    weights: Floats,
    hidden: Floats,
    pairs: Floats,
) -> None:
    """Put the weighted <s> into f; add it to `hidden`, and <s_i s_j> of the candidates to `pairs`, a flattened (H, H).

    `weights` are the weights of the rows; they are multiplied by the share within the cut (`_within` in `rows.py`).
    """
    n, H = f.shape
    c = chosen.shape[1]
    for r in range(n):
        row, causes, moment = f[r], chosen[r], moments[r]
        if not scores[r] > cut[0]:
            weights[r] *= cut[1] if scores[r] == cut[0] else 0.0
        factor = f.dtype.type(shares[r] * weights[r])
        for h in range(H):
            row[h] *= factor
        pair = c
        for i in range(c):
            row[causes[i]] = moment[i] * factor
            for j in range(i + 1, c):
                pairs[causes[i] * H + causes[j]] += moment[pair] * factor
                pair += 1
        for h in range(H):
            hidden[h] += row[h]
