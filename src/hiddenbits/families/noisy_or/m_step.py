"""The M-step of a layer of a noisy-OR network: equation 9, from counts, for each cause and child separately."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats

LARGEST = 1.0 - 1e-6  # a strength of 1 would make a zero impossible, and one of 0 would stay 0
SMALLEST, SMALLEST_SUM = 1e-4, 1e-2  # of a strength; of the sum of a cause's strengths, in a wide table
INNER = 5  # steps of eq 9 on the same counts, without another pass


def smallest(n_children: int) -> float:
    """Return the smallest strength: with many children, small strengths would add up to spurious 1s."""
    return min(SMALLEST, SMALLEST_SUM / n_children)


def clip_strengths(f: Floats) -> Floats:
    """Return strengths clipped to values that can still change; (causes, children)."""
    return np.clip(f, smallest(f.shape[-1]), LARGEST)


def best_priors(on: Floats, weight: float, center: float) -> Floats:
    """Return pi from the expected number of rows in which each top cause is on."""
    return np.clip((on + center) / (weight + 1.0), 1e-6, 1.0 - 1e-6)


def best_strengths(fired: Floats, tried: Floats, alpha: float, beta: float) -> Floats:
    """Return f that maximizes A ln f - (T - A) w + (alpha - 1) ln w - beta w, for each cause and child.

    A (`fired`) is the expected number of times that the cause switched the child on, T (`tried`) that it was on. The
    maximum is eq 9, f = A / [ T + beta - (alpha - 1) / w ], where w depends on f: closed form for
    alpha = 1, otherwise the root of a function of one variable, by Newton steps in ln w. The function is concave for
    alpha >= 1, and its maximum keeps EM monotone.

    Examples
    --------
    >>> best_strengths(np.array([[3.0]]), np.array([[5.0]]), 1.0, 1.0)
    array([[0.5]])
    """
    fired = np.maximum(fired, 0.0)
    never = np.maximum(tried - fired, 0.0) + beta
    if alpha == 1.0:
        return clip_strengths(fired / np.maximum(fired + never, 1e-300))
    # A / (e^w - 1) + (alpha - 1) / w = T - A + beta. At w = (A + alpha - 1) / (T - A + beta) the left side is too
    # small by less than A / 2; from there Newton's method in ln w converges in a few steps, which are bounded.
    low, high = np.log(1e-12), np.log(60.0)
    t = np.clip(np.log(np.maximum(fired + alpha - 1.0, 1e-300) / np.maximum(never, 1e-300)), low, high)
    for _ in range(30):
        w = np.exp(t)
        on = fired * w / np.expm1(w)
        gap = on + (alpha - 1.0) - never * w
        slope = on * (1.0 - w - w / np.expm1(w)) - never * w
        step = np.clip(-gap / np.where(slope < 0.0, slope, -1e-300), -1.0, 1.0)
        t = np.clip(t + step, low, high)
        if np.abs(step).max() < 1e-12:
            break
    return clip_strengths(-np.expm1(-np.exp(t)))


def best_layer(
    f: Floats,
    states: Floats,
    ones: Floats,
    tried: Floats,
    alpha: float,
    beta: float,
    hold_leak: bool = False,
    steps: int = INNER,
) -> Floats:
    """Return strengths after some steps of eq 9 on counts of states, (K + 1, d); each step increases the objective.

    A_ij = f_ij Sum_s s_i ones_j(s) / g_j(s),   T_ij = Sum_s s_i tried_j(s)
    """
    times_on, leak = np.asarray((tried @ states).T), f[-1]
    for _ in range(steps):
        g = -np.expm1(states @ np.log1p(-f))
        f = best_strengths(f * ((ones / g.T) @ states).T, times_on, alpha, beta)
        if hold_leak:
            f[-1] = leak
    return f
