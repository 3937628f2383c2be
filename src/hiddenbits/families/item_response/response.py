"""Response functions: ln P(answer | position) of an item by its linear predictors, with their derivatives.

A row at the latent position z has the predictors eta_m = a_m.z + d_m of an item, m = 1 ... M:

| item | predictors | P(answer) |
|---|---|---|
| binary | eta | P(1) = sigma(eta) |
| guessing | eta; gamma = logit of g | P(1) = g + (1 - g) sigma(eta) |
| graded | eta_1 > eta_2 > ..., slopes equal | P(at least level m) = sigma(eta_m) |
| partial credit | slopes m a | P(level m) = exp(eta_m) / Sum_l exp(eta_l), eta_0 = 0 |
| nominal | free | the same |
| continuous | mean, v = ln of the variance | normal |
| count | ln of the rate | Poisson |

Levels are counted from 0. Functions take predictors of J items at K nodes, (J, M, K), and return P of each level,
(J, L, K), the derivatives of ln P by the predictors, (J, L, M, K), and minus the second ones, (J, L, M, M, K).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.maths.numerics import LARGEST_LOGIT, TINY, sigmoid

Kind = Literal["binary", "guessing", "graded", "partial_credit", "nominal", "continuous", "count"]
OF_BITS: tuple[Kind, ...] = ("binary", "guessing", "graded", "partial_credit", "nominal")


def level_probabilities(kind: Kind, eta: Floats) -> Floats:
    """Return P of each level, (J, L, K), at least TINY; with graded predictors that do not fall, some are negative."""
    if kind == "graded":
        p = -np.diff(_bounded(sigmoid(np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT))), axis=1)
        return np.asarray(np.where(p >= 0.0, np.maximum(p, TINY), p))
    if kind in ("binary", "guessing"):
        p = sigmoid(np.clip(eta[:, :1], -LARGEST_LOGIT, LARGEST_LOGIT))
        if kind == "guessing":
            g = _guessing(eta)
            p = g + (1.0 - g) * p
        p = np.clip(p, TINY, 1.0 - TINY)
        return np.concatenate([1.0 - p, p], axis=1)
    logs = np.concatenate([np.zeros_like(eta[:, :1]), eta], axis=1)
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(p / p.sum(axis=1, keepdims=True), TINY))


def _bounded(above: Floats) -> Floats:
    """Return P(at least level m) for m = 0 ... L: 1 first, 0 last."""
    edge = np.ones_like(above[:, :1])
    return np.concatenate([edge, above, np.zeros_like(edge)], axis=1)


def _guessing(eta: Floats) -> Floats:
    return np.asarray(sigmoid(np.clip(eta[:, 1:], -LARGEST_LOGIT, LARGEST_LOGIT)))


def slopes(kind: Kind, eta: Floats, p: Floats) -> Floats:
    """Return the derivatives of ln P(level) by the predictors, (J, L, M, K)."""
    (J, M, K), L = eta.shape, p.shape[1]
    out = np.zeros((J, L, M, K))
    if kind == "graded":
        f = _density(eta)
        for m in range(M):
            out[:, m + 1, m], out[:, m, m] = f[:, m] / p[:, m + 1], -f[:, m] / p[:, m]
    elif kind == "binary":
        out[:, 1, 0], out[:, 0, 0] = p[:, 0], -p[:, 1]
    elif kind == "guessing":
        g, F = _guessing(eta), _bounded_sigmoid(eta[:, :1])
        by_eta, by_gamma = (1.0 - g) * F * (1.0 - F), g * (1.0 - g) * (1.0 - F)
        for m, slope in enumerate((by_eta, by_gamma)):
            out[:, 1, m], out[:, 0, m] = slope[:, 0] / p[:, 1], -slope[:, 0] / p[:, 0]
    else:
        out -= p[:, None, 1:]
        for m in range(M):
            out[:, m + 1, m] += 1.0
    return out


def curvatures(kind: Kind, eta: Floats, p: Floats, first: Floats) -> Floats:
    """Return minus the second derivatives of ln P(level) by the predictors, (J, L, M, M, K); `first` are `slopes`."""
    (J, M, K), L = eta.shape, p.shape[1]
    if kind == "binary" or kind in ("partial_credit", "nominal"):
        q = p[:, 1:]
        same = -q[:, :, None] * q[:, None]
        diagonal = np.arange(M)
        same[:, diagonal, diagonal] += q
        return np.broadcast_to(same[:, None], (J, L, M, M, K))
    second = np.zeros((J, L, M, M, K))  # of P(level)
    if kind == "graded":
        f = _density(eta) * (1.0 - 2.0 * _bounded_sigmoid(eta))
        for m in range(M):
            second[:, m + 1, m, m], second[:, m, m, m] = f[:, m], -f[:, m]
    else:
        g, F = _guessing(eta)[:, 0], _bounded_sigmoid(eta[:, 0])
        second[:, 1, 0, 0] = (1.0 - g) * F * (1.0 - F) * (1.0 - 2.0 * F)
        second[:, 1, 0, 1] = second[:, 1, 1, 0] = -g * (1.0 - g) * F * (1.0 - F)
        second[:, 1, 1, 1] = g * (1.0 - g) * (1.0 - 2.0 * g) * (1.0 - F)
        second[:, 0] = -second[:, 1]
    return np.asarray(first[:, :, :, None] * first[:, :, None] - second / p[:, :, None, None])


def _bounded_sigmoid(eta: Floats) -> Floats:
    return sigmoid(np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT))


def _density(eta: Floats) -> Floats:
    F = _bounded_sigmoid(eta)
    return np.asarray(F * (1.0 - F))
