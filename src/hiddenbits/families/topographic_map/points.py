"""The points that stand for z ~ N(0, I_q), each with the same weight."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from hiddenbits.array_types import Floats

GRID_DIMENSIONS = 2  # up to here points are a grid, beyond scrambled Sobol points


def grid_side(n_components: int, n_points: int) -> int:
    """Return the points along each axis of a grid of about `n_points`."""
    return int(max(2, round(float(n_points) ** (1.0 / n_components))))


def grid_points(n_components: int, n_points: int) -> Floats:
    """Return a grid at the normal quantiles (i + 1/2) / side of each axis, so that all weights are equal."""
    side = grid_side(n_components, n_points)
    axis = ndtri((np.arange(side) + 0.5) / side)
    return np.stack(np.meshgrid(*[axis] * n_components, indexing="ij"), axis=-1).reshape(-1, n_components)


def sobol_points(n_components: int, n_points: int, rng: np.random.Generator) -> Floats:
    """Return scrambled Sobol points through the normal quantile."""
    from scipy.stats import qmc  # which takes a second to import, and only these points need it

    power = max(0, int(np.ceil(np.log2(n_points))))  # Sobol points are balanced in powers of two
    uniform = qmc.Sobol(n_components, scramble=True, seed=rng).random_base2(power)[:n_points]
    return np.asarray(ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12)))
