"""Integrals over a hidden x ~ N(0, I): grids where the number of dimensions allows, random nodes elsewhere.

A `Rule` is a set of nodes with weights that stand for the prior: E[f(x)] is about Sum_l exp(log_weight_l) f(node_l).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.data.hashing import keyed_rng

REACH = 8.0  # a grid goes this many standard deviations of the prior each way: exp(-32) is left out
MOST_NODES = 1 << 15  # a finer grid would no longer be cheap
ACCURACY = 20.0  # the grid's error is about exp(-ACCURACY)


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes (L, q) and the logs of their weights (L,), which add up to 1."""

    nodes: Floats
    log_weights: Floats


@lru_cache(maxsize=8)
def hermite(n_nodes: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Hermite quadrature for N(0, 1)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    return nodes, weights / weights.sum()


def _product_grid(axes: list[Floats]) -> Floats:
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


def _sharpness(loadings: Floats, steep: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Return the axes of W'W and, along each, the narrowest posterior that there can be and how far sigmoids are tame.

    ln P(t | x) curves by at most |w_i.v|^2/4 a column along an axis v, so no posterior is narrower than
    s = (1 + Sum (w_i.v)^2/4)^-1/2. The trapezoid sum with spacing h errs by exp(-2 pi y/h + y^2/(2 s^2)) for any y up
    to the nearest singularity of a sigmoid, at y = pi / max |w_i.v|; we stay at 2.2 of these 3.14, where the Gaussian
    bound holds. `steep` are the loadings that have such singularities, where these are not all loadings.
    """
    curvature, axes = np.linalg.eigh(loadings.T @ loadings)
    s = 1.0 / np.sqrt(1.0 + np.maximum(curvature, 0.0) / 4.0)
    steepest = np.abs((loadings if steep is None else steep) @ axes).max(axis=0, initial=0.0)
    return axes, s, 2.2 / np.maximum(steepest, 1e-12)


def _spacings(loadings: Floats, steep: Floats | None) -> tuple[Floats, Floats]:
    """Return the axes of W'W and, for each, the spacing at which a grid errs by exp(-ACCURACY)."""
    axes, s, tame = _sharpness(loadings, steep)
    y = np.minimum(s * np.sqrt(2.0 * ACCURACY), tame)
    return axes, np.asarray(2.0 * np.pi * y / (ACCURACY + y * y / (2.0 * s * s)))


def accuracy(loadings: Floats, spacing: float) -> float:
    """Return a for a grid of this spacing, whose error is about exp(-a)."""
    _, s, tame = _sharpness(loadings)
    y = np.minimum(2.0 * np.pi * s * s / spacing, tame)
    return float(np.min(2.0 * np.pi * y / spacing - y * y / (2.0 * s * s)))


def resolving_grid(loadings: Floats, steep: Floats | None = None) -> Rule | None:
    """Return a grid on which integrals over x are exact to about 1e-8; None where it would have too many nodes.

    `steep` as in `_sharpness`.
    """
    q = loadings.shape[1]
    if q > 3:
        return None
    axes, h = _spacings(loadings, steep)
    halves = np.ceil(REACH / h)
    if not np.all(np.isfinite(halves)) or np.prod(2.0 * halves + 1.0) > 2 * MOST_NODES:
        return None
    nodes = _product_grid([np.arange(-n, n + 1.0) * step for n, step in zip(halves, h, strict=True)])
    nodes = nodes[(nodes * nodes).sum(axis=1) <= REACH * REACH]
    return None if len(nodes) > MOST_NODES else _regular(np.ascontiguousarray(nodes @ axes.T))


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
