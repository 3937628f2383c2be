"""The M-step of a layer of a noisy-OR network: equation 9, from counts, for each cause and child."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats

LARGEST_STRENGTH = 1.0 - 1e-6  # with a strength of 1 a zero would be impossible; a strength of 0 could not grow
SMALLEST_STRENGTH, SMALLEST_STRENGTH_SUM = 1e-4, 1e-2  # the second for all of a cause, in a wide table
EQ9_STEPS = 5  # steps of eq 9 on the counts of one pass


def smallest_strength(n_children: int) -> float:
    """Return the smallest strength: with many children, small strengths would add up to spurious 1s."""
    return min(SMALLEST_STRENGTH, SMALLEST_STRENGTH_SUM / n_children)


def clip_strengths(f: Floats) -> Floats:
    """Return strengths clipped to values that can still change; (causes, children)."""
    return np.clip(f, smallest_strength(f.shape[-1]), LARGEST_STRENGTH)


def best_priors(on: Floats, weight: float, center: float) -> Floats:
    """Return pi from the expected number of rows in which each top cause is on."""
    return np.clip((on + center) / (weight + 1.0), 1e-6, 1.0 - 1e-6)


def best_strengths(fired: Floats, tried: Floats, alpha: float, beta: float) -> Floats:
    """Return f that maximizes A ln f - (T - A) w + (alpha - 1) ln w - beta w, for each cause and child.

    A (`fired`) is the expected number of times that the cause switched the child on, T (`tried`) that the cause was on.
    The maximum is eq 9, f = A / [ T + beta - (alpha - 1) / w ], in which w depends on f: closed form for alpha = 1,
    otherwise Newton steps in ln w. The objective is concave for alpha >= 1, and its maximum keeps EM monotone.

    Examples
    --------
    >>> best_strengths(np.array([[3.0]]), np.array([[5.0]]), 1.0, 1.0)
    array([[0.5]])
    """
    fired = np.maximum(fired, 0.0)
    not_fired = np.maximum(tried - fired, 0.0) + beta
    if alpha == 1.0:
        return clip_strengths(fired / np.maximum(fired + not_fired, 1e-300))
    # A / (e^w - 1) + (alpha - 1) / w = T - A + beta. At w = (A + alpha - 1) / (T - A + beta) the left side is too
    # small by less than A / 2; Newton's method in ln w converges in a few steps from there. Steps are bounded.
    low, high = np.log(1e-12), np.log(60.0)
    log_w = np.clip(np.log(np.maximum(fired + alpha - 1.0, 1e-300) / np.maximum(not_fired, 1e-300)), low, high)
    for _ in range(30):
        w = np.exp(log_w)
        fired_term = fired * w / np.expm1(w)
        gap = fired_term + (alpha - 1.0) - not_fired * w
        slope = fired_term * (1.0 - w - w / np.expm1(w)) - not_fired * w
        step = np.clip(-gap / np.where(slope < 0.0, slope, -1e-300), -1.0, 1.0)
        log_w = np.clip(log_w + step, low, high)
        if np.abs(step).max() < 1e-12:
            break
    return clip_strengths(-np.expm1(-np.exp(log_w)))


def best_layer(
    f: Floats,
    states: Floats,
    ones: Floats,
    tried: Floats,
    alpha: float,
    beta: float,
    hold_leak: bool = False,
    steps: int = EQ9_STEPS,
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
