"""The linear bars test of Henniges et al. (2010): sums of bars with noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiddenbits.array_types import Bytes, Floats

SIDE, HEIGHT, ACTIVITY, NOISE = 5, 10.0, 0.2, 2.0  # pixels, gray value, probability, standard deviation


class SimulatedBars(NamedTuple):
    """Images of 5 x 5 numbers, with the simulated parameters.

    Attributes
    ----------
    X : ndarray of shape (rows, 25)
        The images, row by row.
    states : ndarray of shape (rows, 10) of uint8
        Which bars are present.
    fields : ndarray of shape (10, 25)
        The bars, five horizontal ones and then five vertical ones, of height 10 or -10.

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_bars
    >>> simulate_bars(5, random_state=0).states.shape
    (5, 10)
    """

    X: Floats
    states: Bytes
    fields: Floats


def simulate_bars(n_rows: int = 1000, *, random_state: int = 0) -> SimulatedBars:
    """Simulate images that are sums of bars: each present with probability .2, half of them negative; noise of std 2.

    Parameters
    ----------
    n_rows : int
        Number of images.
    random_state : int
        Random seed of signs, bars and noise.

    Returns
    -------
    bars : SimulatedBars

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_bars
    >>> bars = simulate_bars(4, random_state=0)
    >>> bars.X.shape, int((bars.fields.sum(axis=1) < 0).sum())
    ((4, 25), 5)
    """
    rng = np.random.default_rng([random_state, 0])
    images = np.zeros((2 * SIDE, SIDE, SIDE))
    for i in range(SIDE):
        images[i, i, :] = images[SIDE + i, :, i] = HEIGHT
    fields = images.reshape(2 * SIDE, SIDE * SIDE)
    fields[rng.permutation(2 * SIDE)[:SIDE]] *= -1.0
    states = rng.random((n_rows, 2 * SIDE)) < ACTIVITY
    X = states @ fields + rng.normal(0.0, NOISE, (n_rows, SIDE * SIDE))
    return SimulatedBars(X, states.view(np.uint8), fields)
