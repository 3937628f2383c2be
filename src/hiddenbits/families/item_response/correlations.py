"""Correlations of the latent dimensions: coordinates, and their M-step."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from hiddenbits.array_types import Floats
from hiddenbits.families.item_response import grid

MAX_COORDINATE = 2.65  # a correlation of .99: with larger ones two dimensions are one, and nodes many
STEP = 1e-4  # of numerical derivatives by up to three coordinates


def as_coordinates(correlations: Floats) -> Floats:
    """Return atanh of the partial correlations, of which any numbers are valid."""
    q, out = len(correlations), list[float]()
    for i in range(q):
        for j in range(i + 1, q):
            given = list(range(i))
            precision = np.linalg.inv(correlations[np.ix_([i, j, *given], [i, j, *given])])
            out.append(-precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]))
    return np.asarray(np.arctanh(np.array(out)))


def as_correlations(vector: Floats, q: int) -> Floats:
    """Return the correlations at any coordinates: z_j is a combination of earlier dimensions and noise."""
    partial, factor = np.tanh(np.clip(vector, -MAX_COORDINATE, MAX_COORDINATE)), np.eye(q)
    pairs = [(i, j) for i in range(q) for j in range(i + 1, q)]
    rest = np.ones(q)
    for (i, j), r in zip(pairs, partial, strict=True):
        factor[j, i] = r * rest[j]
        rest[j] *= np.sqrt(1.0 - r * r)
        factor[j, j] = rest[j]
    out = factor @ factor.T
    np.fill_diagonal(out, 1.0)
    return out


def updated_correlations(points: Floats, counts: Floats, correlations: Floats) -> Floats:
    """Return the correlations under which nodes have these expected counts: they maximize Sum_k C_k ln pi_k(R)."""
    q, total = len(correlations), counts.sum()

    def loss(vector: Floats) -> float:
        return -float(counts @ grid.log_weights(points, as_correlations(vector, q)) / total)

    first = as_coordinates(correlations)
    best = minimize(loss, first, method="BFGS", options={"gtol": 1e-8})
    return as_correlations(best.x, q) if best.fun <= loss(first) else correlations


def slopes_of_log_weights(points: Floats, correlations: Floats) -> tuple[Floats, Floats]:
    """Return first and second derivatives of ln pi_k by the coordinates, (K, p) and (K, p, p)."""
    q, vector = len(correlations), as_coordinates(correlations)

    def at(*shifts: Floats) -> Floats:
        return grid.log_weights(points, as_correlations(vector + sum(shifts), q))

    steps = STEP * np.eye(len(vector))
    first = np.stack([(at(s) - at(-s)) / (2.0 * STEP) for s in steps], axis=1)
    second = np.stack(
        [
            np.stack([(at(s, t) - at(s, -t) - at(-s, t) + at(-s, -t)) / (4.0 * STEP**2) for t in steps], 1)
            for s in steps
        ],
        axis=1,
    )
    return first, second
