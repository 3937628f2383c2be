"""Two simulated tables after Lewicki and Sejnowski (1996): lines that occur in sets, and shifted copies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes

Bits = Bytes

LINE_SETS = ((6, 8), (2, 7), (1, 3), (0, 4, 9))  # '||', '+', '=' and ']': lines that occur together


class SimulatedLines(NamedTuple):
    """Images of lines on a 5 x 5 grid, with the simulated causes.

    Attributes
    ----------
    X : ndarray of shape (rows, 25) of uint8
    lines : ndarray of shape (rows, 10) of uint8
        Which lines each image has: five rows from the top down, then five columns from the left.
    kinds : ndarray of shape (rows,)
        0 for lines chosen freely, 1 to 4 for one of the sets.
    patterns : ndarray of shape (10, 25) of uint8
        The pixels of each line.
    sets : tuple of tuple of int
        The lines of each set.

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_lines
    >>> simulate_lines(100, random_state=0).patterns[0].reshape(5, 5)[:2]
    array([[1, 1, 1, 1, 1],
           [0, 0, 0, 0, 0]], dtype=uint8)
    """

    X: Bits
    lines: Bits
    kinds: NDArray[np.int64]
    patterns: Bits
    sets: tuple[tuple[int, ...], ...]


def simulate_lines(n_rows: int = 2000, *, random_state: int = 0) -> SimulatedLines:
    """Simulate the high-order lines problem.

    With probability .6, every line of the grid is present with probability .3. Otherwise the image is one of the sets
    '||', '+', '=' and ']', each with probability .1. The problem is that of Lewicki and Sejnowski (1996); we
    chose the probabilities .6 and .1 and the lines of each set, which are not legible in our scan of the paper.

    Parameters
    ----------
    n_rows : int, default=2000
        Number of images.
    random_state : int, default=0
        Random seed.

    Returns
    -------
    simulated : SimulatedLines

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_lines
    >>> simulate_lines(100, random_state=0).X.shape
    (100, 25)
    """
    rng = np.random.default_rng([random_state, 0])
    kinds = rng.choice(5, size=n_rows, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    lines = np.zeros((n_rows, 10), np.uint8)
    free = kinds == 0
    lines[free] = rng.random((int(free.sum()), 10)) < 0.3
    for kind, members in enumerate(LINE_SETS, start=1):
        lines[np.ix_(kinds == kind, members)] = 1
    patterns = np.zeros((10, 5, 5), np.uint8)
    for i in range(5):
        patterns[i, i, :] = patterns[5 + i, :, i] = 1
    flat = patterns.reshape(10, 25)
    return SimulatedLines((lines @ flat > 0).astype(np.uint8), lines, kinds.astype(np.int64), flat, LINE_SETS)


class SimulatedShifter(NamedTuple):
    """A row of bits and its shifted copy, with the simulated causes.

    Attributes
    ----------
    X : ndarray of shape (rows, 32) of uint8
        Four lines of 8 bits: the row twice, and its copy twice.
    directions : ndarray of shape (rows,)
        0 if the copy is shifted to the left, 1 if it is shifted to the right.
    patterns : ndarray of shape (16, 32) of uint8
        One cause for each bit of the row and each direction: the bit twice, and its shifted copy twice.

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_shifter
    >>> simulate_shifter(100, random_state=0).patterns.sum()      # 16 causes of 4 bits
    np.uint64(64)
    """

    X: Bits
    directions: NDArray[np.int64]
    patterns: Bits


def simulate_shifter(n_rows: int = 2000, *, random_state: int = 0) -> SimulatedShifter:
    """Simulate the shifter problem: 8 bits (each 1 with probability .2, not all 0) and a copy shifted cyclically by 1.

    Parameters
    ----------
    n_rows : int, default=2000
        Number of rows.
    random_state : int, default=0
        Random seed.

    Returns
    -------
    simulated : SimulatedShifter

    Examples
    --------
    >>> from hiddenbits.datasets import simulate_shifter
    >>> simulate_shifter(100, random_state=0).X.shape
    (100, 32)
    """
    rng = np.random.default_rng([random_state, 0])
    top = rng.random((n_rows, 8)) < 0.2
    while (empty := ~top.any(axis=1)).any():
        top[empty] = rng.random((int(empty.sum()), 8)) < 0.2
    directions = rng.integers(0, 2, n_rows)
    copy = np.where(directions[:, None] == 1, np.roll(top, 1, axis=1), np.roll(top, -1, axis=1))
    patterns = np.zeros((16, 32), np.uint8)
    for i in range(8):
        for direction in (0, 1):
            shifted = (i + (1 if direction else -1)) % 8
            patterns[8 * direction + i, [i, 8 + i, 16 + shifted, 24 + shifted]] = 1
    return SimulatedShifter(np.hstack([top, top, copy, copy]).astype(np.uint8), directions.astype(np.int64), patterns)
