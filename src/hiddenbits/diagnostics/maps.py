"""Latent trait models on a grid: the prior, P(1) of each item, and the distribution of sum scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import Floats

STEPS = {1: 0.1, 2: 0.2, 3: 0.4}  # of the grid, by dimensions: a trapezoid sum of a smooth density converges fast
GRID_END = 6.0  # in standard deviations


def on_grid(model: Any) -> tuple[Floats, Floats, Floats]:
    """Return nodes (L, q), their weights (L,), which add up to 1, and P(1) at each node, (L, columns)."""
    q = 0 if not hasattr(model, "components_") else len(model.components_)
    if q not in STEPS:
        raise ValueError(f"Use a model of 1 to 3 dimensions, such as LogisticPCA(1), not {type(model).__name__}.")
    nodes = grid_nodes(q)
    weights = np.exp(-0.5 * (nodes**2).sum(axis=1))
    return nodes, weights / weights.sum(), np.asarray(model.inverse_transform(nodes))


def grid_nodes(q: int) -> Floats:
    """Return the nodes of the grid in q dimensions, (L, q)."""
    line = np.arange(-GRID_END, GRID_END + 1e-9, STEPS[q])
    return np.stack(np.meshgrid(*[line] * q, indexing="ij"), axis=-1).reshape(-1, q)


def score_distribution(p: Floats) -> Floats:
    """Return P(score = s | node), (L, columns + 1), by the recursion of Lord and Wingersky."""
    shares = np.zeros((len(p), p.shape[1] + 1))
    shares[:, 0] = 1.0
    for column in p.T:
        shares[:, 1:] = shares[:, 1:] * (1.0 - column[:, None]) + shares[:, :-1] * column[:, None]
        shares[:, 0] *= 1.0 - column
    return shares
