"""The hidden states that expectation truncation looks at: few causes on, among a few candidates.

A log weight that is quadratic in s is a product with a fixed table. With c candidates, whose states have at most
gamma of them on,

    Sum_i s_i f_i + Sum_{i<j} s_i s_j f_ij  =  [f_i, f_ij] . row(s),     row(s) = [s_i, s_i s_j],

so that the log weights of all states are one matrix product, and <s_i> and <s_i s_j> another with the same table:
no state ever touches the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from scipy.stats import binom

from hiddenbits.array_types import Floats, Rows

MOST_STATES = 1 << 17  # beyond, a row's weights alone would fill a megabyte


@dataclass(frozen=True, eq=False)
class Truncation:
    """The states of c candidates of which at most gamma are on.

    Attributes
    ----------
    table : ndarray of shape (states, c + c (c - 1) / 2)
        row(s) of each state; the first state has nothing on.
    first, second : ndarray of shape (c (c - 1) / 2,)
        The candidates i < j of each pair.
    """

    n_candidates: int
    max_active: int
    table: Floats
    first: Rows
    second: Rows

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.table)

    @property
    def states(self) -> Floats:
        """Which candidates are on in each state, (states, c)."""
        return self.table[:, : self.n_candidates]


def count_states(n_candidates: int, max_active: int) -> int:
    """Return how many states there are.

    Examples
    --------
    >>> count_states(10, 8) - 11 + 1 + 700      # of 700 causes, with the 690 that are on alone outside the candidates
    1703
    """
    return sum(comb(n_candidates, k) for k in range(max_active + 1))


@lru_cache(maxsize=16)
def truncation(n_candidates: int, max_active: int) -> Truncation:
    """Return the states of `n_candidates` causes of which at most `max_active` are on."""
    c = n_candidates
    if count_states(c, max_active) > MOST_STATES:
        raise ValueError(
            f"n_candidates={c} and max_active={max_active} give {count_states(c, max_active)} states per row; at most "
            f"{MOST_STATES} are allowed. Use a smaller n_candidates or max_active."
        )
    pairs = np.array(list(combinations(range(c), 2)), np.intp).reshape(-1, 2)
    place = {pair: c + k for k, pair in enumerate(combinations(range(c), 2))}
    table = np.zeros((count_states(c, max_active), c + len(pairs)))
    subsets = (on for k in range(max_active + 1) for on in combinations(range(c), k))
    for row, on in zip(table, subsets, strict=True):
        row[list(on)] = 1.0
        row[[place[pair] for pair in combinations(on, 2)]] = 1.0
    table.flags.writeable = False
    return Truncation(c, max_active, table, pairs[:, 0].copy(), pairs[:, 1].copy())


def active_shares(probabilities: Floats, max_active: int) -> Floats:
    """Return P(|s| = k) for k = 0 to `max_active` under independent causes.

    With equal probabilities it is the binomial of equation 8.

    Examples
    --------
    >>> active_shares(np.array([0.5, 0.5]), 2)
    array([0.25, 0.5 , 0.25])
    """
    shares, k = np.eye(1, max_active + 1)[0], np.arange(max_active + 1)
    for p, many in zip(*np.unique(probabilities, return_counts=True), strict=True):  # those that are equal at once
        shares = np.convolve(shares, binom.pmf(k, many, p))[: max_active + 1]
    return np.asarray(shares)
