"""Latent trait models at nodes of the latent space: the prior, P(level) of each item, and sums over answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows

STEPS = {1: 0.1, 2: 0.2, 3: 0.4}  # of the grid, by dimensions: a trapezoid sum of a smooth density converges fast
GRID_END = 6.0  # in standard deviations


class Levels(NamedTuple):
    """The levels of all items side by side: a binary item has two, and levels are counted from 0.

    Attributes
    ----------
    starts : ndarray of shape (items,)
        The first level of each item.
    items : ndarray of shape (levels,)
        The item of each level.
    scores : ndarray of shape (levels,)
        The number of each level in its item, which sum scores add up.
    binary : ndarray
        The bits of binary items, which are their level 1.
    """

    starts: Rows
    items: Rows
    scores: Floats
    binary: Rows

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Levels:
        """Return the levels of columns with these numbers of bits."""
        n_bits = np.array(sizes, np.intp)
        n_levels = np.maximum(n_bits, 2)
        starts, items = np.cumsum(n_levels) - n_levels, np.repeat(np.arange(len(n_bits)), n_levels)
        scores = (np.arange(len(items)) - starts[items]).astype(np.float64)
        return cls(starts, items, scores, (np.cumsum(n_bits) - n_bits)[n_bits == 1])

    def spread(self, bits: Floats) -> Floats:
        """Return the bits, (rows, bits), or their probabilities with those of level 0 of binary items, too."""
        return np.insert(bits, self.binary, 1.0 - bits[:, self.binary], axis=1)

    def sums(self, values: AnyArray) -> Floats:
        """Return the sum over the levels of each item, (rows, items)."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=1))

    def by_item(self, values: AnyArray) -> list[AnyArray]:
        """Return the levels of each item, a list of (rows, levels)."""
        return np.split(values, self.starts[1:], axis=1)


class Nodes(NamedTuple):
    """Nodes (K, q), their weights (K,), which add up to 1, and P(level) of each item at the nodes, (K, levels)."""

    points: Floats
    weights: Floats
    p: Floats
    levels: Levels


def on_grid(model: Any) -> Nodes:
    """Return the items of a latent trait model at its nodes. Columns of numbers are left out."""
    points, weights, bits = bits_at_nodes(model)
    sizes = model._params.layout.sizes if hasattr(model, "_at_nodes") else (1,) * bits.shape[1]
    if not sizes:
        raise ValueError("This needs binary, nominal or ordinal columns; all columns of the fit are numbers.")
    levels = Levels.of(sizes)
    return Nodes(points, weights, levels.spread(bits), levels)


def bits_at_nodes(model: Any) -> tuple[Floats, Floats, Floats]:
    """Return nodes (K, q), those of the fit or a grid, their weights (K,), and P(bit) at each, (K, bits)."""
    if hasattr(model, "_at_nodes"):
        nodes: tuple[Floats, Floats, Floats] = model._at_nodes()
        return nodes
    q = len(getattr(model, "components_", ()))
    if q not in STEPS:
        kind = type(model).__name__
        raise ValueError(f"Use a model of 1 to 3 dimensions, such as ItemResponseModel(1), not {kind}.")
    points = grid_nodes(q)
    weights = np.exp(-0.5 * (points**2).sum(axis=1))
    return points, weights / weights.sum(), np.asarray(model.inverse_transform(points))


def grid_nodes(q: int) -> Floats:
    """Return the nodes of the grid in q dimensions, (L, q)."""
    line = np.arange(-GRID_END, GRID_END + 1e-9, STEPS[q])
    return np.stack(np.meshgrid(*[line] * q, indexing="ij"), axis=-1).reshape(-1, q)


def score_distribution(items: Sequence[Floats]) -> Floats:
    """Return P(sum score | node), (K, scores), given P(level) of each item, by the recursion of Lord and Wingersky."""
    shares = np.ones((len(items[0]), 1)) if items else np.ones((1, 1))
    for p in items:
        n = shares.shape[1]
        longer = np.zeros((len(p), n + p.shape[1] - 1))
        for level, of_level in enumerate(p.T):
            longer[:, level : level + n] += shares * of_level[:, None]
        shares = longer
    return shares
