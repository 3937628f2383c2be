"""The M-step of a layer of a noisy-OR network: equation 9, from counts, for each cause and child on its own."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats

LARGEST = 1.0 - 1e-6  # a strength of 1 would make a zero impossible, and one of 0 could never grow again
SMALLEST, SMALLEST_SUM = 1e-4, 1e-2  # of one strength; of a cause's strengths together, in a wide table
INNER = 5  # steps of eq 9 on the same counts: they cost no pass


def smallest(n_children: int) -> float:
    """Return the least strength: many children each with a little would be a few that are switched on by nothing."""
    return min(SMALLEST, SMALLEST_SUM / n_children)


def clip_strengths(f: Floats) -> Floats:
    """Return strengths that can still grow and never forbid a zero; (causes, children)."""
    return np.clip(f, smallest(f.shape[-1]), LARGEST)


def best_priors(on: Floats, weight: float, center: float) -> Floats:
    """Return pi from the expected number of rows in which each top cause is on."""
    return np.clip((on + center) / (weight + 1.0), 1e-6, 1.0 - 1e-6)


def best_strengths(fired: Floats, tried: Floats, alpha: float, beta: float) -> Floats:
    """Return f that maximizes A ln f - (T - A) w + (alpha - 1) ln w - beta w, for each cause and child.

    A (`fired`) is how often the cause is expected to have switched the child on, T (`tried`) how often it was on. The
    maximum is eq 9, f = A / [ T + beta - (alpha - 1) / w ], with w on the right that belongs to f: closed for
    alpha = 1, otherwise a root of one variable, found by Newton steps in ln w. The function is concave for
    alpha >= 1, and taking its maximum keeps EM monotone.

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
    # small by less than A / 2; from there Newton in ln w settles in a few steps, and halving guards the rest.
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
    """Return strengths after some steps of eq 9 on counts of states, (K + 1, d); each step raises the objective.

    A_ij = f_ij Sum_s s_i ones_j(s) / g_j(s),   T_ij = Sum_s s_i tried_j(s)
    """
    often, leak = np.asarray((tried @ states).T), f[-1]
    for _ in range(steps):
        g = -np.expm1(states @ np.log1p(-f))
        f = best_strengths(f * ((ones / g.T) @ states).T, often, alpha, beta)
        if hold_leak:
            f[-1] = leak
    return f
