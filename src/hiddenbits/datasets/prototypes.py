"""Noisy copies of a few prototypes: the synthetic data of Tipping (1998)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes


class SimulatedPrototypes(NamedTuple):
    """Noisy copies of prototypes.

    Attributes
    ----------
    X : ndarray of shape (rows, columns) of uint8
        The rows, in the order of their prototypes.
    prototype : ndarray of shape (rows,)
        The prototype of each row.

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> simulate_prototypes(random_state=0).prototype[[0, 200, 400]].tolist()
    [0, 1, 2]
    """

    X: Bytes
    prototype: NDArray[np.int64]


def simulate_prototypes(
    n_prototypes: int = 3, n_columns: int = 16, *, n_copies: int = 200, flip: float = 0.05, random_state: int = 0
) -> SimulatedPrototypes:
    """Simulate random prototypes and copies of each with some bits inverted, as in Tipping (1998, section 5).

    Parameters
    ----------
    n_prototypes, n_columns : int
        Number and length of the prototypes; each of their bits is 1 with probability 1/2.
    n_copies : int
        Number of copies of each prototype.
    flip : float
        Probability that a bit is inverted.
    random_state : int
        Random seed.

    Returns
    -------
    simulated : SimulatedPrototypes

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_prototypes
    >>> rows, prototype = simulate_prototypes(flip=0.0, random_state=0)
    >>> rows.shape, bool((rows[0] == rows[199]).all())
    ((600, 16), True)
    """
    if not 0.0 <= flip <= 1.0:
        raise ValueError(f"flip={flip} is not a probability.")
    rng = np.random.default_rng(random_state)
    prototypes = rng.random((n_prototypes, n_columns)) < 0.5
    inverted = rng.random((n_prototypes * n_copies, n_columns)) < flip
    X = np.repeat(prototypes, n_copies, axis=0) ^ inverted
    return SimulatedPrototypes(X.astype(np.uint8), np.repeat(np.arange(n_prototypes), n_copies))
