"""Integrals over a latent x ~ N(0, I): on grids in few dimensions, otherwise with random nodes.

A `Rule` is a set of nodes with weights that approximate the prior: E[f(x)] is about Sum_l exp(log_weight_l) f(node_l).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import logsumexp

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data.hashing import keyed_rng
from hiddenbits.maths.numerics import sigmoid

INSIDE_RADIUS = 6.0  # in standard deviations of the prior: the spacing of a grid is chosen for rows within it
SPACING_RATIO = 1.02  # of consecutive spacings, which are its powers
COARSE_STEP = 3.0  # in standard deviations of the narrowest posterior
FAR = 20.0  # nats; nodes around a coarse node this far below a row's best one are ignored
LARGE = 512  # number of nodes from which coarse nodes save time
REACH = 8.0  # extent of a grid in standard deviations of the prior; exp(-32) of its mass is outside
MOST_NODES = 1 << 15  # a grid with more would take too long
ACCURACY = 20.0  # the grid's error is about exp(-ACCURACY)


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes (L, q) and the logs of their weights (L,), which add up to 1; a coarser rule if there are many."""

    nodes: Floats
    log_weights: Floats
    coarse: Coarse | None = None


@dataclass(frozen=True, eq=False)
class Coarse:
    """Coarse nodes, every few steps along each axis of a grid, and the nodes of the grid around each of them.

    The log of a row's posterior is concave, and curves by at most 1/s^2 along an axis of the grid, whose nodes are
    at most s apart (`_sharpness`). So anywhere in a square of COARSE_STEP steps a row
    is at most q COARSE_STEP^2 / 8 nats higher than at one of its corners. If all corners are FAR below the best
    coarse node, the square has less than exp(-20) of the density there.
    """

    rule: Rule
    around: Rows  # (coarse nodes, nodes around each); the number of nodes marks positions outside the grid

    def fine(self, near: AnyArray, n_nodes: int) -> Rows:
        """Return the nodes around the coarse nodes for which `near` is 1."""
        chosen = np.zeros(n_nodes + 1, bool)
        chosen[self.around[np.flatnonzero(near)]] = True
        return np.flatnonzero(chosen[:-1])


def neighbors(positions: Floats, group_size: int) -> Iterator[Rows]:
    """Yield groups of rows whose positions, (rows, q), are close to each other."""
    n, q = positions.shape
    order = np.lexsort(positions.T[::-1])
    for axis in range(1, q):
        # Strips along the earlier axes are as wide as a group is along this axis.
        n_strips = max(1, round((n / group_size) ** (axis / q)))
        strip = np.empty(n, np.int64)
        strip[order] = np.arange(n) * n_strips // n
        order = np.lexsort((*positions.T[: axis - 1 : -1], strip))
    for start in range(0, n, group_size):
        yield order[start : start + group_size]


@lru_cache(maxsize=8)
def hermite(n_nodes: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Hermite quadrature for N(0, 1)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    return nodes, weights / weights.sum()


def _product_grid(axes: list[Any]) -> Any:
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def _regular(nodes: Floats) -> Rule:
    """Return a rule with evenly spaced nodes, weighted by the density of the prior.

    The trapezoid sum of a smooth function that vanishes at both ends converges faster than any power of the spacing.
    """
    log_weights = -0.5 * (nodes * nodes).sum(axis=1)
    return Rule(nodes, log_weights - logsumexp(log_weights))


Growth = Callable[[Floats, Floats], Floats]
"""The largest growth of P(t | x) p(x) from x to x + iyv, in nats, for an axis v and several y."""


def growth_of_bits(loadings: Floats, intercepts: Floats, v: Floats, y: Floats) -> Floats:
    """Return the `Growth` for binary columns with P(1) = sigma(w.x + b) and x within INSIDE_RADIUS.

    |1 + exp(A + iu)|^2 = (1 + exp A)^2 (1 - 2 (1 - cos u) sigma'(A)), with a pole of 1/(1 + exp) at u = pi.
    """
    q = loadings.shape[1]
    points = _product_grid([np.arange(-INSIDE_RADIUS, INSIDE_RADIUS + 0.1, 0.5 if q < 3 else 1.0)] * q)
    points = points[(points * points).sum(axis=1) <= INSIDE_RADIUS * INSIDE_RADIUS]
    two_minus_2cos = 4.0 * np.sin(0.5 * np.outer(loadings @ v, y)) ** 2
    out, step = np.zeros((len(points), len(y))), max(1, (1 << 18) // len(points))
    for columns in (slice(start, start + step) for start in range(0, len(loadings), step)):
        p = sigmoid(np.clip(points @ loadings[columns].T + intercepts[columns], -300.0, 300.0))
        p *= 1.0 - p
        for k in range(len(y)):
            out[:, k] -= 0.5 * np.log1p(-two_minus_2cos[columns, k] * p).sum(axis=1)
    return np.asarray(out.max(axis=0) + 0.5 * y * y)


def _sharpness(loadings: Floats, growth: Growth, steep: Floats) -> Iterator[tuple[Floats, float, Floats, Floats]]:
    """Yield the axes of W'W and, for each, the width of the narrowest possible posterior, some y and their growth.

    The trapezoid sum with spacing h has the error exp(-2 pi y/h + growth), for any y up to the nearest pole of a
    sigmoid, at y = pi / max |w_i.v|; y goes up to 2.7 instead of 3.14. `steep` are the loadings with such poles.
    """
    for v in np.linalg.eigh(loadings.T @ loadings)[1].T:
        largest_y = 2.7 / max(np.abs(steep @ v).max(initial=0.0), 1e-3)
        tiny = np.array([1e-3 * largest_y])
        s = float(tiny[0] / np.sqrt(2.0 * growth(v, tiny)[0]))
        y = np.linspace(0.1, 1.0, 10) * min(1.4 * s * np.sqrt(2.0 * ACCURACY), largest_y)
        yield v, s, y, growth(v, y)


def resolving_grid(loadings: Floats, growth: Growth, steep: Floats) -> Rule | None:
    """Return a grid on which integrals over x are exact to about 1e-8, or None if it would have too many nodes.

    `steep` are the loadings whose sigmoids have poles, see `_sharpness`.
    """
    if loadings.shape[1] > 3:
        return None
    axes, narrowest, y, g = (np.array(a) for a in zip(*_sharpness(loadings, growth, steep), strict=True))
    h = np.minimum((2.0 * np.pi * y / (ACCURACY + g)).max(axis=1), narrowest)
    h = SPACING_RATIO ** np.floor(np.log(h) / np.log(SPACING_RATIO))  # stable if loadings change little
    n_each_side = np.ceil(REACH / h)
    if not np.all(np.isfinite(n_each_side)) or np.prod(2.0 * n_each_side + 1.0) > 2 * MOST_NODES:
        return None
    steps = _product_grid([np.arange(-n, n + 1.0) for n in n_each_side])
    steps = steps[((steps * h) ** 2).sum(axis=1) <= REACH * REACH]
    if len(steps) > MOST_NODES:
        return None
    scaled_axes = h[:, None] * axes
    rule = _regular(np.ascontiguousarray(steps @ scaled_axes))
    if len(steps) < LARGE:
        return rule
    return replace(
        rule, coarse=_coarse(steps.astype(np.int64), scaled_axes, rule, (COARSE_STEP * narrowest / h).astype(np.int64))
    )


def _coarse(steps: Rows, scaled_axes: Floats, fine: Rule, stride: Rows) -> Coarse:
    """Return nodes `stride` steps apart, also just outside the grid if nodes of the grid are around them."""
    width = np.abs(steps).max(axis=0) + 2 * stride
    number = np.full(2 * width + 1, len(steps))
    number[tuple((steps + width).T)] = np.arange(len(steps))
    coarse_steps = stride * _product_grid([np.arange(-n, n + 1) for n in width // stride - 1])
    near = _product_grid([np.arange(1 - n, n) for n in stride])
    around = number[tuple(np.moveaxis(coarse_steps[:, None] + near + width, 2, 0))]
    not_empty = (around < len(steps)).any(axis=1)
    nodes = coarse_steps[not_empty] @ scaled_axes
    constant = fine.log_weights[0] + 0.5 * fine.nodes[0] @ fine.nodes[0]
    return Coarse(Rule(nodes, constant - 0.5 * (nodes * nodes).sum(axis=1)), around[not_empty])


def newton_tops(
    start: Floats,
    height: Callable[[Floats], tuple[Floats, Floats]],
    slopes: Callable[[Floats, Floats], tuple[Floats, Floats]],
    *,
    n_steps: int,
    n_halvings: int,
) -> tuple[Floats, Floats]:
    """Return the maximum of each row's concave function of x, (rows, q), and the activations A there, by Newton steps.

    `height` returns the function, (rows,), and A at some x; `slopes` its slope, (rows, q), and minus its curvature,
    (rows, q, q), at x and A. A step that decreases the function is halved, up to `n_halvings` times; if it still
    decreases the function, it is not taken.
    """
    x = start
    best, A = height(x)
    for _ in range(n_steps):
        slope, curvature = slopes(x, A)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        for _ in range(n_halvings):
            new, _ = height(x + step)
            decreased = new < best
            if not decreased.any():
                break
            step[decreased] *= 0.5
        step[new < best] = 0.0
        x = x + step
        best, A = height(x)
    return x, A


def row_draws(seed: int, first_row: int, shape: tuple[int, ...]) -> Floats:
    """Return standard normal numbers for the rows of a block, keyed by the seed and the block's first row."""
    return keyed_rng(seed, first_row, 0x1D).standard_normal(shape)
