"""Random maps, and rows around a circle."""

import numpy as np

from hiddenbits.families.topographic_map.model import sobol_points
from hiddenbits.families.topographic_map.params import TopographicParams


def random_map(d, rng, q=3, M=5, K=32):
    """Return a map with random coefficients on Sobol points."""
    return TopographicParams(
        sobol_points(q, K, rng),
        rng.standard_normal((q, M)),
        rng.uniform(0, 2 * np.pi, M),
        rng.standard_normal((d, q + M + 1)),
        rng.standard_normal(d),
    )


def circle_rows(seed, n, d=24):
    """Return rows whose ones lie in one half of a circle of columns, with 5% of the bits flipped: a bend, no line."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)[:, None]
    rows = np.cos(angle - 2 * np.pi * np.arange(d) / d) > 0.4
    return (rows ^ (rng.random((n, d)) < 0.05)).astype(float)
