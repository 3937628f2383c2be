"""Integrals over a hidden x ~ N(0, I): grids where the number of dimensions allows, random nodes elsewhere.

A `Rule` is a set of nodes with weights that stand for the prior: E[f(x)] is about Sum_l exp(log_weight_l) f(node_l).
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

INSIDE = 6.0  # rows that lie further out, in standard deviations of the prior, are not looked at for a grid's spacing
LADDER = 1.02  # spacings of grids are powers of this
STRIDE = 3.0  # standard deviations of the narrowest posterior between the nodes where rows are looked for
FAR = 20.0  # nats below a row's best of these nodes, from which on what is around one of them does not count
LARGE = 512  # nodes from which on that pays
REACH = 8.0  # a grid goes this many standard deviations of the prior each way: exp(-32) is left out
MOST_NODES = 1 << 15  # a finer grid would no longer be cheap
ACCURACY = 20.0  # the grid's error is about exp(-ACCURACY)


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes (L, q) and the logs of their weights (L,), which add up to 1; a coarser rule, where the nodes are many."""

    nodes: Floats
    log_weights: Floats
    coarse: Coarse | None = None


@dataclass(frozen=True, eq=False)
class Coarse:
    """Every third node of a grid along each axis, and which nodes are less than three steps from it.

    The log of a row's posterior is concave, and curves by at most 1/s^2 along an axis of the grid, whose nodes are
    at most s apart (`_sharpness`). So a row is at most q STRIDE^2 / 8 nats higher than at a corner anywhere in a
    square of STRIDE steps: between q corners that are FAR below the best of them it is exp(-20) of what it is there.
    """

    rule: Rule
    around: Rows  # (coarse nodes, nodes around each); the number of nodes where the grid has ended

    def fine(self, near: AnyArray, n_nodes: int) -> Rows:
        """Return the nodes around the coarse nodes that `near` has 1 for."""
        counts = np.zeros(n_nodes + 1, bool)
        counts[self.around[np.flatnonzero(near)]] = True
        return np.flatnonzero(counts[:-1])


def neighbors(places: Floats, n_together: int) -> Iterator[Rows]:
    """Yield the rows at these places, (rows, q), so many at a time: those that lie near each other, in strips."""
    n, q = places.shape
    order = np.lexsort(places.T[::-1])
    for axis in range(1, q):
        # Strips along the axes before are as wide as a group of rows will be along this one.
        strips = max(1, round((n / n_together) ** (axis / q)))
        strip = np.empty(n, np.int64)
        strip[order] = np.arange(n) * strips // n
        order = np.lexsort((*places.T[: axis - 1 : -1], strip))
    for start in range(0, n, n_together):
        yield order[start : start + n_together]


@lru_cache(maxsize=8)
def hermite(n_nodes: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Hermite quadrature for N(0, 1)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    return nodes, weights / weights.sum()


def _product_grid(axes: list[Any]) -> Any:
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def _regular(nodes: Floats) -> Rule:
    """Weigh evenly spaced nodes by the density of the prior.

    The trapezoid sum of a smooth function that fades at both ends converges faster than any power of the spacing.
    """
    log_weights = -0.5 * (nodes * nodes).sum(axis=1)
    return Rule(nodes, log_weights - logsumexp(log_weights))


@lru_cache(maxsize=8)
def regular_grid(n_components: int, n_per_axis: int) -> Rule:
    """Return an even grid of n_per_axis ^ q nodes."""
    return _regular(_product_grid([np.linspace(-6.0, 6.0, n_per_axis)] * n_components))


@lru_cache(maxsize=8)
def random_nodes(n_components: int, n_nodes: int, seed: int) -> Rule:
    """Return draws from the prior, all with the same weight."""
    nodes = np.random.default_rng([seed, n_components]).standard_normal((n_nodes, n_components))
    return Rule(nodes, np.full(n_nodes, -np.log(n_nodes)))


Growth = Callable[[Floats, Floats], Floats]
"""How many nats P(t | x) p(x) may grow from x to x + iyv at most, for an axis v and several y."""


def growth_of_bits(loadings: Floats, intercepts: Floats, v: Floats, y: Floats) -> Floats:
    """Return the `Growth` of bits with P(1) = sigma(w.x + b), for x within INSIDE standard deviations of the prior.

    |1 + exp(A + iu)|^2 = (1 + exp A)^2 (1 - 2 (1 - cos u) sigma'(A)), with a pole of 1/(1 + exp) at u = pi.
    """
    q = loadings.shape[1]
    places = _product_grid([np.arange(-INSIDE, INSIDE + 0.1, 0.5 if q < 3 else 1.0)] * q)
    places = places[(places * places).sum(axis=1) <= INSIDE * INSIDE]
    turned = 4.0 * np.sin(0.5 * np.outer(loadings @ v, y)) ** 2
    out, step = np.zeros((len(places), len(y))), max(1, (1 << 18) // len(places))
    for some in (slice(start, start + step) for start in range(0, len(loadings), step)):
        p = sigmoid(np.clip(places @ loadings[some].T + intercepts[some], -300.0, 300.0))
        p *= 1.0 - p
        for k in range(len(y)):
            out[:, k] -= 0.5 * np.log1p(-turned[some, k] * p).sum(axis=1)
    return np.asarray(out.max(axis=0) + 0.5 * y * y)


def _sharpness(loadings: Floats, growth: Growth, steep: Floats) -> Iterator[tuple[Floats, float, Floats, Floats]]:
    """Yield the axes of W'W and, for each, the narrowest posterior that there can be, some y and the growth there.

    The trapezoid sum with spacing h errs by exp(-2 pi y/h + growth), for any y up to the nearest pole of a sigmoid,
    at y = pi / max |w_i.v|; we stay at 2.7 of these 3.14. `steep` are the loadings that have such poles.
    """
    for v in np.linalg.eigh(loadings.T @ loadings)[1].T:
        furthest = 2.7 / max(np.abs(steep @ v).max(initial=0.0), 1e-3)
        tiny = np.array([1e-3 * furthest])
        s = float(tiny[0] / np.sqrt(2.0 * growth(v, tiny)[0]))
        y = np.linspace(0.1, 1.0, 10) * min(1.4 * s * np.sqrt(2.0 * ACCURACY), furthest)
        yield v, s, y, growth(v, y)


def accuracy(loadings: Floats, growth: Growth, spacing: float) -> float:
    """Return a for a grid of this spacing, whose error is about exp(-a)."""
    found = (np.max(2.0 * np.pi * y / spacing - g) for _, _, y, g in _sharpness(loadings, growth, loadings))
    return float(min(found))


def resolving_grid(loadings: Floats, growth: Growth, steep: Floats) -> Rule | None:
    """Return a grid on which integrals over x are exact to about 1e-8; None where it would have too many nodes.

    `steep` as in `_sharpness`.
    """
    if loadings.shape[1] > 3:
        return None
    axes, narrowest, y, g = (np.array(a) for a in zip(*_sharpness(loadings, growth, steep), strict=True))
    h = np.minimum((2.0 * np.pi * y / (ACCURACY + g)).max(axis=1), narrowest)
    h = LADDER ** np.floor(np.log(h) / np.log(LADDER))  # so that a little change of the loadings changes no spacing
    halves = np.ceil(REACH / h)
    if not np.all(np.isfinite(halves)) or np.prod(2.0 * halves + 1.0) > 2 * MOST_NODES:
        return None
    steps = _product_grid([np.arange(-n, n + 1.0) for n in halves])
    steps = steps[((steps * h) ** 2).sum(axis=1) <= REACH * REACH]
    if len(steps) > MOST_NODES:
        return None
    turn = h[:, None] * axes
    rule = _regular(np.ascontiguousarray(steps @ turn))
    if len(steps) < LARGE:
        return rule
    return replace(rule, coarse=_coarse(steps.astype(np.int64), turn, rule, (STRIDE * narrowest / h).astype(np.int64)))


def _coarse(steps: Rows, turn: Floats, fine: Rule, stride: Rows) -> Coarse:
    """Return nodes so many steps apart, also those beyond the end of the grid that have nodes of it around them."""
    width = np.abs(steps).max(axis=0) + 2 * stride
    number = np.full(2 * width + 1, len(steps))
    number[tuple((steps + width).T)] = np.arange(len(steps))
    thirds = stride * _product_grid([np.arange(-n, n + 1) for n in width // stride - 1])
    near = _product_grid([np.arange(1 - n, n) for n in stride])
    around = number[tuple(np.moveaxis(thirds[:, None] + near + width, 2, 0))]
    some = (around < len(steps)).any(axis=1)
    nodes = thirds[some] @ turn
    constant = fine.log_weights[0] + 0.5 * fine.nodes[0] @ fine.nodes[0]
    return Coarse(Rule(nodes, constant - 0.5 * (nodes * nodes).sum(axis=1)), around[some])


def newton_tops(
    start: Floats,
    height: Callable[[Floats], tuple[Floats, Floats]],
    slopes: Callable[[Floats, Floats], tuple[Floats, Floats]],
    *,
    n_steps: int,
    n_halvings: int,
) -> tuple[Floats, Floats]:
    """Return the top of each row's concave function of x, (rows, q), and the activations A there, by Newton steps.

    `height` gives the function, (rows,), and A at some x; `slopes` its slope, (rows, q), and minus its curvature,
    (rows, q, q), at x and A. A step that falls is halved, and not taken should it still fall after `n_halvings`.
    """
    at = start
    best, A = height(at)
    for _ in range(n_steps):
        slope, curvature = slopes(at, A)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        for _ in range(n_halvings):
            new, _ = height(at + step)
            fell = new < best
            if not fell.any():
                break
            step[fell] *= 0.5
        step[new < best] = 0.0
        at = at + step
        best, A = height(at)
    return at, A


def row_draws(seed: int, first_row: int, shape: tuple[int, ...]) -> Floats:
    """Return standard normal draws for the rows of a block, keyed by the seed and the block's place."""
    return keyed_rng(seed, first_row, 0x1D).standard_normal(shape)
