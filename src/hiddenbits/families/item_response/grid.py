"""Nodes of the latent space: evenly spaced points, weighted by the density of the prior.

The sum over a grid of spacing h converges faster than any power of h. For a normal posterior with standard deviation s
its relative error is about 2 exp(-2 pi^2 s^2 / h^2): 6.5e-6 at h = 1.25 s. So the spacing follows from the largest
information of the items, 1/s^2 = 1 + information. Posteriors are not exactly normal: `check_rows` simulated rows must
have the same likelihood with twice the nodes, or more nodes are used.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats

RADIUS = {1: 6.0, 2: 5.5, 3: 5.0}  # in standard deviations, by the number of dimensions: outside is < 1e-6 of the prior
LARGEST_SPACING = {1: 0.3, 2: 0.5, 3: 0.65}  # of a fit's nodes
FIRST_SPACING = {1: 0.3, 2: 0.6, 3: 0.9}  # of a fit's first stage
SPACING_RATIO = 1.25  # of the spacing to the narrowest posterior's standard deviation
MOST_NODES = {1: 2001, 2: 1 << 15, 3: 1 << 15}


def grid(q: int, spacing: float, correlations: Floats | None = None, *, whole: bool = False) -> Floats:
    """Return the points of a grid within the radius, (K, q); of the `whole` square, if axes must be separate.

    The radius is in standard deviations of a prior with these correlations: points that it makes improbable are left
    out, and none is too few along the direction in which it is wide.
    """
    n = int(np.ceil(RADIUS[q] / spacing))
    axis = spacing * np.arange(-n, n + 1.0)
    points = np.stack(np.meshgrid(*[axis] * q, indexing="ij"), axis=-1).reshape(-1, q)
    if whole:
        return points
    inverse = np.eye(q) if correlations is None else np.linalg.inv(correlations)
    distances = np.einsum("ki,ij,kj->k", points, inverse, points)
    return np.asarray(points[distances <= (n * spacing) ** 2 + 1e-9])


def log_weights(points: Floats, correlations: Floats) -> Floats:
    """Return the logs of the weights of the points, which add up to 1: the normal density with these correlations."""
    logs = -0.5 * np.einsum("ki,ij,kj->k", points, np.linalg.inv(correlations), points)
    largest = logs.max()
    return np.asarray(logs - largest - np.log(np.exp(logs - largest).sum()))


def smallest_spacing(q: int, *, whole: bool = False) -> float:
    """Return the smallest spacing whose grid has at most `MOST_NODES`."""
    per_axis = MOST_NODES[q] ** (1.0 / q)
    shrunk = 1.0 if whole or q == 1 else {2: np.sqrt(np.pi / 4.0), 3: (np.pi / 6.0) ** (1.0 / 3.0)}[q]
    return float(2.0 * RADIUS[q] * shrunk / (per_axis - 2.0))


def spacing_of(points: Floats) -> float:
    """Return the spacing of a grid."""
    return float(np.diff(np.unique(points[:, 0].round(9))).min())
