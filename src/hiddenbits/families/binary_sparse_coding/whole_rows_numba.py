"""Compiled kernels of `rows.py` (the extra `fast`): what is between the matrix products of a run of rows."""

from __future__ import annotations

import math

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.maths.exp_numba import reordered

NEGLIGIBLE = -60.0  # log weights below the largest, as in `truncated_posterior`
STEPS = 30  # halvings: more than numbers that differ in single precision need, as a rule


@reordered
def _choose(values: AnyArray, c: int, chosen: Rows) -> bool:
    """Put the places of the c largest numbers into `chosen`, which has room for one more; False if this does not end.

    By bisection for a number that c of them reach: it lies between two multiples of the root mean square. To count is
    quicker than to keep a list of the best so far, of which the processor cannot guess what comes next.
    """
    kind = values.dtype.type
    none, one, wanted, total = kind(0.0), kind(1.0), kind(c), kind(0.0)
    for h in range(len(values)):
        total += values[h] * values[h]
    length = math.sqrt(1.001 * total)
    low, high = kind(-length / math.sqrt(len(values) - c)), kind(length / math.sqrt(c))
    for _ in range(STEPS):
        middle = kind(0.5) * (low + high)
        n = none
        for h in range(len(values)):
            n += one if values[h] >= middle else none
        if n == wanted:
            place = 0
            for h in range(len(values)):
                chosen[place] = h
                place += values[h] >= middle
            return True
        if n > wanted:
            low = middle
        else:
            high = middle
    return False


@reordered
def candidates(
    f: AnyArray, per_length: AnyArray, alone: AnyArray, couplings: AnyArray, chosen: Rows, features: AnyArray
) -> None:
    """Choose the candidates of each row (equation 5), add `alone` to f, and look up f_i and f_ij of the candidates."""
    n, H = f.shape
    c = chosen.shape[1]
    values, causes = np.empty(H, f.dtype), np.arange(c + 1)
    for r in range(n):
        row = f[r]
        for h in range(H):
            values[h] = row[h] * per_length[h]
            row[h] += alone[h]
        if c < H and not _choose(values, c, causes):  # equal numbers, or what is none
            causes[:c] = np.argsort(values)[H - c :]
        pair = c
        for i in range(c):
            chosen[r, i] = causes[i]
            features[r, i] = row[causes[i]]
            for j in range(i + 1, c):
                features[r, pair] = couplings[causes[i] * H + causes[j]]
                pair += 1


@reordered
def _largest(row: AnyArray, top: float) -> float:
    """Return the largest of a row, or `top`: eight at a time, which the processor overlaps."""
    a = b = c = d = e = f = g = h = row.dtype.type(top)
    whole = len(row) // 8 * 8
    for i in range(0, whole, 8):
        a = row[i] if row[i] > a else a
        b = row[i + 1] if row[i + 1] > b else b
        c = row[i + 2] if row[i + 2] > c else c
        d = row[i + 3] if row[i + 3] > d else d
        e = row[i + 4] if row[i + 4] > e else e
        f = row[i + 5] if row[i + 5] > f else f
        g = row[i + 6] if row[i + 6] > g else g
        h = row[i + 7] if row[i + 7] > h else h
    for i in range(whole, len(row)):
        a = row[i] if row[i] > a else a
    return float(max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h))))


@reordered
def shift(f: AnyArray, states: AnyArray, chosen: Rows, tops: AnyArray) -> None:
    """Subtract the largest log weight of each row; none is then below NEGLIGIBLE, where candidates alone are put."""
    least = f.dtype.type(NEGLIGIBLE)
    for r in range(len(f)):
        alone, together = f[r], states[r]
        for i in range(chosen.shape[1]):
            alone[chosen[r, i]] = -np.inf
        top = f.dtype.type(_largest(together, _largest(alone, 0.0)))  # that of nothing on is 0
        tops[r] = top
        for h in range(len(alone)):
            value = alone[h] - top
            alone[h] = least if value < least else value
        for s in range(len(together)):
            value = together[s] - top
            together[s] = least if value < least else value


@reordered
def add_up(f: AnyArray, states: AnyArray, tops: AnyArray, shares: AnyArray, logs: Floats) -> None:
    """Put the log of the sum of each row's weights into `logs`, and 1 / the sum into `shares`."""
    for r in range(len(f)):
        alone = together = f.dtype.type(0.0)
        for h in range(f.shape[1]):
            alone += f[r, h]
        for s in range(states.shape[1]):
            together += states[r, s]
        total = float(alone) + float(together)
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
    counted: Floats,
    hidden: Floats,
    pairs: Floats,
) -> None:
    """Put <s>, weighed, into f; add it to `hidden`, and <s_i s_j> of the candidates to `pairs`, (H, H) in one run.

    `counted` has the weights of the rows, and then those within the cut (see `planned_coding.within`).
    """
    n, H = f.shape
    c = chosen.shape[1]
    for r in range(n):
        row, causes, moment = f[r], chosen[r], moments[r]
        if not scores[r] > cut[0]:
            counted[r] *= cut[1] if scores[r] == cut[0] else 0.0
        factor = f.dtype.type(shares[r] * counted[r])
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
