"""Combination machines for the tests."""

import numpy as np


def random_machine(seed, d=5, m=3, scale=0.8):
    """Return weights, thresholds, bias, and the bias of a base."""
    rng = np.random.default_rng([seed, d, m])
    return (
        scale * rng.standard_normal((d, m)),
        rng.standard_normal(m),
        0.5 * rng.standard_normal(d),
        0.5 * rng.standard_normal(d),
    )


def two_modes(d, ahead):
    """Return a machine with one unit: rows of fair coins, and rows of ones that outweigh them by exp(ahead).

    With w = 4, the mode's own weight is exp(th + d ln 2cosh w). At small beta it weighs next to nothing, and later
    no sweep finds it: nearly all the bits of a row of fair coins would have to be one by chance.
    """
    w = np.full((d, 1), 4.0)
    lighter = d * np.log(2.0)
    return w, np.array([ahead + lighter - d * np.log(2.0 * np.cosh(4.0))]), np.zeros(d)
