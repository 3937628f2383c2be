"""A mixture of fitted densities: how much each of them counts, and what follows for rows and for single bits.

    P(x) = Sum_m w_m P_m(x),    r_nm = w_m P_m(x_n) / P(x_n)

| letter | meaning | shape |
|---|---|---|
| l | ln P_m(x_n), the members' log-likelihoods | (rows, M) |
| w | weights of the members | (M,) |
| r | probability of each member given a row's observed bits | (rows, M) |
| v | weights of the rows | (rows,) |
| s | strength of the prior: pseudo-rows that speak for equal weights, over all members | number |

Nothing is learned but w, so every sum is exact where the members' likelihoods are.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats

SMALLEST_WEIGHT = 1e-12  # EM multiplies: a weight of 0 would never come back, and has no logarithm
LARGEST_POWER, LONGEST = 100.0, 10.0  # of the factors of EM, and of the change of a weight's logarithm, in one step
SMALLEST = 1e-300  # probability of a bit that a member calls impossible


def pool(l: Floats, w: Floats) -> tuple[Floats, Floats]:  # noqa: E741  the letter of the table above
    """Return ln P(x) of each row, and r."""
    joint = l + np.log(w)
    top = joint.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)  # a row that no member thinks possible
    p = np.exp(joint - top)
    total = p.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return (top + np.log(total))[:, 0], p / np.maximum(total, SMALLEST)


def fit_weights(
    l: Floats,  # noqa: E741
    v: Floats,
    s: float = 0.0,
    tol: float = 1e-5,
    max_iter: int = 2000,
) -> tuple[Floats, bool]:
    """Return the w that maximise f(w) = Sum_n v_n ln P(x_n) + s/M Sum_m ln w_m, and whether they are reached.

    EM is w_m <- w_m g_m / (Sum_n v_n + s), with g_m = df/dw_m, and slow where weights go to 0. So the factor is taken
    to a power, larger from step to step as long as f rises, and 1, where f must rise, when it did not. f is concave:
    there is one maximum, at most max_m g_m - Sum_m w_m g_m away, and the fit ends when that is `tol` a row.
    """
    M, weight = l.shape[1], float(v.sum())
    p = np.exp(l - l.max(axis=1, keepdims=True))

    def at(w: Floats) -> tuple[Floats, float]:
        mixed = p @ w
        return mixed, float(v @ np.log(mixed)) + s / M * float(np.log(w).sum())

    w, power = np.full(M, 1.0 / M), 1.0
    mixed, f = at(w)
    for _ in range(max_iter):
        g = p.T @ (v / mixed) + s / M / w
        if g.max() - w @ g <= tol * weight:
            return w, True
        while True:
            logs = np.clip(power * np.log(g / (weight + s)), -LONGEST, LONGEST)
            there = np.maximum(w * np.exp(logs), SMALLEST_WEIGHT)
            there /= there.sum()
            mixed, f_there = at(there)
            if f_there > f or power == 1.0:
                break
            power = max(1.0, power / 4.0)
        w, f, power = there, f_there, min(1.5 * power, LARGEST_POWER)
    return w, False


def completed(r: Floats, members: Iterable[Floats]) -> Floats:
    """Return P(x_j = 1 | observed bits) = Sum_m r_m P_m(x_j = 1 | observed bits), one member at a time."""
    return np.asarray(sum(r[:, m : m + 1] * values for m, values in enumerate(members)))


def left_out(r: Floats, x: Floats, observed: NDArray[np.bool_], members: Iterable[Floats]) -> Floats:
    """Return P(x_j = 1 | the other observed bits) for every cell, from the members' own answers p_m.

    Without bit j member m has the weight r_m / q_m, where q_m = P_m(x_j | the other observed bits) is p_m or 1 - p_m,
    and 1 where x_j was not observed.
    """
    above: Floats = np.zeros(x.shape)
    below: Floats = np.zeros(x.shape)
    for m, p in enumerate(members):
        q = np.where(observed, np.where(x == 1.0, p, 1.0 - p), 1.0)
        share = r[:, m : m + 1] / np.maximum(q, SMALLEST)
        above += share * p
        below += share
    return above / np.maximum(below, SMALLEST)
