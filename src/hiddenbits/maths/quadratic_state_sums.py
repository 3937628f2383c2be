"""Sums over all 2^m states of m hidden units whose log weight is quadratic: ln Z, E[h] and E[h h'], exactly.

    ln weight(h) = b.h + h'J h / 2,   h in {0, 1}^m

No state ever touches the columns of a table: they are in J. The units are split in two halves. For each state k of
the high units the low ones l add l.(J_lk k) to scores that are made once; the pairs of low units need only the sum of
the weights over all k. The states of the high units are the rows of a table, so that the engine adds over them as it
adds over data. Bits of a state: h_i = (k >> i) & 1, as in `state_sums`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Table
from hiddenbits.maths.state_sums import states_of, table_of_states

LOW_UNITS = 12  # 4,096 states are worked on together


@dataclass(frozen=True, eq=False)
class Moments:
    """Z, E[h] and E[h h'], each times exp(-log_scale) Z while they add; `state_sums.Phase` says why."""

    log_scale: float
    total: float
    hidden: Floats
    pairs: Floats

    def __iadd__(self, other: Self) -> Self:
        scale = max(self.log_scale, other.log_scale)
        mine, theirs = np.exp(self.log_scale - scale), np.exp(other.log_scale - scale)
        return type(self)(
            scale,
            self.total * mine + other.total * theirs,
            self.hidden * mine + other.hidden * theirs,
            self.pairs * mine + other.pairs * theirs,
        )

    def normalised(self) -> Self:
        """Return true expectations, with ln Z as the scale."""
        t = self.total
        return type(self)(float(self.log_scale + np.log(t)), 1.0, self.hidden / t, self.pairs / t)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Weights of states: b (m,) and J (m, m), symmetric.

    Examples
    --------
    >>> found = Quadratic(np.zeros(3), np.zeros((3, 3))).moments()
    >>> round(float(np.exp(found.log_scale)), 9), found.hidden
    (8.0, array([0.5, 0.5, 0.5]))
    """

    linear: Floats
    pairs: Floats

    @property
    def n_low(self) -> int:
        """Number of low units."""
        return min(len(self.linear), LOW_UNITS)

    @cached_property
    def states(self) -> Floats:
        """States of the low units: (L, m_low)."""
        return states_of(self.n_low)

    @cached_property
    def low_scores(self) -> Floats:
        """Log weight of the low states, all high units off."""
        low = slice(self.n_low)
        return np.asarray(
            self.states @ self.linear[low]
            + 0.5 * np.einsum("ki,ij,kj->k", self.states, self.pairs[low, low], self.states, optimize=True)
        )

    def table(self) -> Table:
        """Return the states of the high units as a table of bits, a row each: what the engine walks."""
        return table_of_states(len(self.linear) - self.n_low)

    def scores(self, high: Floats) -> Floats:
        """Return ln weight of the states with these high units: (L,)."""
        low = self.n_low
        own = self.linear[low:] @ high + 0.5 * high @ self.pairs[low:, low:] @ high
        return np.asarray(self.low_scores + self.states @ (self.pairs[:low, low:] @ high) + own)

    def add_block(self, block: Block) -> Moments:
        """Return the sums over a block of high states and all low ones."""
        m, low = len(self.linear), self.n_low
        scale, total = -np.inf, 0.0
        hidden, pairs, weights = np.zeros(m), np.zeros((m, m)), np.zeros(len(self.states))
        for high in block.x.to_dense().astype(np.float64)[:, : m - low]:
            scores = self.scores(high)
            largest = float(scores.max())
            if largest > scale:
                shrink = np.exp(scale - largest)
                scale, total = largest, total * shrink
                for sums in (hidden, pairs, weights):
                    sums *= shrink
            here = np.exp(scores - scale)
            sum_here, low_here = float(here.sum()), here @ self.states
            total += sum_here
            weights += here
            hidden[:low] += low_here
            hidden[low:] += sum_here * high
            pairs[:low, low:] += np.outer(low_here, high)
            pairs[low:, low:] += sum_here * np.outer(high, high)
        pairs[:low, :low] = self.states.T @ (weights[:, None] * self.states)
        pairs[low:, :low] = pairs[:low, low:].T
        return Moments(scale, total, hidden, pairs)

    def moments(self) -> Moments:
        """Return ln Z, E[h] and E[h h'], here and now; the engine does the same block by block."""
        blocks = self.table().grid(64).blocks
        total = self.add_block(blocks[0])
        for block in blocks[1:]:
            total += self.add_block(block)
        return total.normalised()

    def log_weights(self) -> Floats:
        """Return ln weight of all 2^m states."""
        return np.concatenate([self.scores(high) for high in states_of(len(self.linear) - self.n_low)])
