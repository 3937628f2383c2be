"""Exact sums over all 2^m states of m hidden units: ln Z and the expectations under the model (the free phase).

    P(x, h) = exp( h.th + x.(v + W h) ) / Z,   x in {-1, +1}^d,  h in {0, 1}^m
    ln Z    = logsumexp_h [ h.th + Sum_j ln 2cosh om_j(h) ],   om(h) = v + W h                    eq 2.2

The units are split into two halves, om = a + b, a from the high units and b from the low ones. With u = exp(2a) and
z = exp(2b), all quantities of a cell follow from 1 + u_j z_j:

    ln 2cosh(a + b) = -(a + b) + ln(1 + u z),     tanh(a + b) = 1 - 2 / (1 + u z),

so that a cell of (state, column) costs a product, a sum and a quotient, and one logarithm is enough for the product of
several columns. The states of the high units are the rows of a binary table, so that the engine can add over them as
over data. Bits of a state: h_i = (k >> i) & 1.

| letter | meaning | shape |
|---|---|---|
| W | weights | (d, m) |
| th, v | thresholds of the hidden units; bias of the visible ones | (m,), (d,) |
| H | states of the low units | (L, m_low) |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, Self

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Table
from hiddenbits.data.bits import Dense
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import scratch
from hiddenbits.data.table import memory_table

LOW_CELLS = 1 << 16  # of (low state, column), processed together: half a megabyte
MOST_UNITS = 26  # 2^26 states take a minute or more per step; chains sample machines with more units
SAFE_EXPONENT = 650.0  # its exponential is finite, and that of its negative is not 0
KERNEL_CELLS = 1 << 20  # of (state, column), from which the compiled kernel is worth loading
STATES_AT_ONCE = 1 << 12  # whose (state, column) tables are in memory at a time


class TooManyUnitsError(ValueError):
    """More hidden units than can be enumerated."""


def check_units(m: int, advice: str = 'Use method="chains".') -> None:
    """Raise a TooManyUnitsError if the enumeration would take hours."""
    if m > MOST_UNITS:
        raise TooManyUnitsError(
            f"{m} hidden units have 2^{m} states, too many to enumerate (at most {MOST_UNITS} units). {advice}"
        )


def states_of(m: int, start: int = 0, stop: int | None = None) -> Floats:
    """Return states `start` to `stop` of m units, one per row.

    Examples
    --------
    >>> states_of(2)
    array([[0., 0.],
           [1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    k = np.arange(start, 1 << m if stop is None else stop, dtype=np.int64)
    return ((k[:, None] >> np.arange(m)) & 1).astype(np.float64)


def log_2cosh(x: Floats) -> Floats:
    """Return ln(2 cosh x), stably."""
    size = np.abs(x)
    return np.asarray(size + np.log1p(np.exp(-2.0 * size)))


@dataclass(frozen=True, eq=False)
class FreePhase:
    """Expectations under the model, E[h], E[x_j h_i] and E[x], and Z; as sums, before `normalized`, times a scale.

    The scale is exp(-log_scale) Z. Sums of different blocks of states have different scales; adding takes the larger.
    """

    log_scale: float
    total: float
    hidden: Floats
    joint: Floats
    visible: Floats

    def __iadd__(self, other: Self) -> Self:
        scale = max(self.log_scale, other.log_scale)
        a, b = np.exp(self.log_scale - scale), np.exp(other.log_scale - scale)
        return type(self)(
            scale,
            self.total * a + other.total * b,
            self.hidden * a + other.hidden * b,
            self.joint * a + other.joint * b,
            self.visible * a + other.visible * b,
        )

    @property
    def log_partition(self) -> float:
        """Return ln Z."""
        return float(self.log_scale + np.log(self.total))

    def normalized(self) -> Self:
        """Return the expectations, with ln Z as the scale."""
        t = self.total
        return type(self)(self.log_partition, 1.0, self.hidden / t, self.joint / t, self.visible / t)


@dataclass(frozen=True, eq=False)
class Halves:
    """A machine with its units split into halves: precomputed quantities for every block of high states.

    Parameters
    ----------
    weights, thresholds, bias : ndarray of shape (d, m), (m,), (d,)
        W, th and v.
    """

    weights: Floats
    thresholds: Floats
    bias: Floats

    @cached_property
    def n_low(self) -> int:
        """Number of low units: as many as keep a block of cells in the cache."""
        d, m = self.weights.shape
        low = 0
        while low < m and (d << (low + 1)) <= LOW_CELLS:
            low += 1
        return low

    @cached_property
    def states(self) -> Floats:
        """H, standing: (m_low, L)."""
        return np.ascontiguousarray(states_of(self.n_low).T)

    @cached_property
    def low(self) -> Floats:
        """b, standing, including the bias: (d, L)."""
        return np.asarray(self.weights[:, : self.n_low] @ self.states + self.bias[:, None])

    @cached_property
    def reach(self) -> float:
        """Return an upper bound of |2 om|."""
        return float(2.0 * (np.abs(self.weights).sum(axis=1) + np.abs(self.bias)).max(initial=0.0))

    @cached_property
    def squared(self) -> Floats:
        """Return z = exp(2b), padded with z = 0 to a whole number of products."""
        d, L = self.low.shape
        out = np.zeros((self.columns_a_log * self.n_logs, L))
        np.exp(2.0 * self.low, out=out[:d])
        return out

    @cached_property
    def columns_a_log(self) -> int:
        """Number of columns that share a logarithm: their product must stay finite."""
        return int(np.clip(SAFE_EXPONENT // max(self.reach + 0.7, 0.7), 1, len(self.weights)))

    @property
    def n_logs(self) -> int:
        """Number of logarithms per state."""
        return -(-len(self.weights) // self.columns_a_log)

    @cached_property
    def low_scores(self) -> Floats:
        """h.th - Sum_j b_j of each low state."""
        return np.asarray(self.thresholds[: self.n_low] @ self.states - self.low.sum(axis=0))

    def table(self) -> Table:
        """Return the states of the high units as a binary table, one per row, for the engine to add over."""
        return table_of_states(self.weights.shape[1] - self.n_low)

    def scores(self, high: Floats) -> tuple[Floats, Floats]:
        """Return the log weights of the states with these high units (L,), and their 1 + u z (d, L), in a buffer."""
        m_low, d = self.n_low, len(self.weights)
        a = self.weights[:, m_low:] @ high
        start = self.low_scores + (self.thresholds[m_low:] @ high - a.sum())
        if self.reach > SAFE_EXPONENT:  # an exponential might overflow: take a logarithm for each cell
            om = self.low + a[:, None]
            z = 1.0 + np.exp(np.minimum(2.0 * om, SAFE_EXPONENT))
            return np.asarray(start + om.sum(axis=0) + log_2cosh(om).sum(axis=0)), z
        cells = scratch("states", (self.squared.shape[0], self.squared.shape[1]))
        u = np.zeros(len(self.squared))
        np.exp(2.0 * a, out=u[:d])
        np.multiply(self.squared, u[:, None], out=cells)
        cells += 1.0
        factors = cells.reshape(self.columns_a_log, self.n_logs, -1)
        product = scratch("products", factors.shape[1:])
        np.copyto(product, factors[0])
        for factor in factors[1:]:
            product *= factor
        np.log(product, out=product)
        return np.asarray(start + product.sum(axis=0)), cells[:d]

    def add_block(self, block: Block) -> FreePhase:
        """Return the sums over a block of high states and all low ones."""
        d, m = self.weights.shape
        m_low = self.n_low
        highs = block.x.to_dense().astype(np.float64)[:, : m - m_low]
        if (d << m) >= KERNEL_CELLS and self.reach <= SAFE_EXPONENT and (kernel := _kernel()) is not None:
            return self._add_compiled(kernel, highs)
        scale, total = -np.inf, 0.0
        hidden, joint, visible = np.zeros(m), np.zeros((m, d)), np.zeros(d)
        weighted = np.empty((m_low + 1, self.states.shape[1]))
        for high in highs:
            score, cells = self.scores(high)
            largest = float(score.max())
            if largest > scale:
                shrink = np.exp(scale - largest)
                scale, total = largest, total * shrink
                for sums in (hidden, joint, visible):
                    sums *= shrink
            np.exp(score - scale, out=weighted[0])
            np.multiply(self.states, weighted[0], out=weighted[1:])
            sums = weighted.sum(axis=1)
            # E[tanh] = 1 - 2 E[1 / (1 + u z)]
            tanh = sums[:, None] - 2.0 * (weighted @ np.reciprocal(cells, out=cells).T)
            total += sums[0]
            hidden[:m_low] += sums[1:]
            joint[:m_low] += tanh[1:]
            visible += tanh[0]
            on = m_low + np.flatnonzero(high)
            hidden[on] += sums[0]
            joint[on] += tanh[0]
        return FreePhase(scale, total, hidden, np.ascontiguousarray(joint.T), visible)

    def expected(self, total: FreePhase) -> FreePhase:
        """Return the expectations, from the sums over all blocks."""
        return total.normalized()

    def _add_compiled(self, kernel: Any, highs: Floats) -> FreePhase:
        """Return the same sums by the compiled kernel."""
        m_low = self.n_low
        a = highs @ self.weights[:, m_low:].T
        starts = highs @ self.thresholds[m_low:] - a.sum(axis=1)
        scale, weights, high_sums, low_sums = kernel(
            np.exp(2.0 * a), starts, self._squared_rows, self.low_scores, self.columns_a_log
        )
        high, low = weights.sum(axis=1), weights.sum(axis=0)
        tanh_high, tanh_low = high[:, None] - 2.0 * high_sums, low[:, None] - 2.0 * low_sums
        hidden = np.concatenate([self.states @ low, highs.T @ high])
        joint = np.concatenate([self.states @ tanh_low, highs.T @ tanh_high])
        return FreePhase(scale, float(high.sum()), hidden, np.ascontiguousarray(joint.T), tanh_high.sum(axis=0))

    @cached_property
    def _squared_rows(self) -> Floats:
        return np.ascontiguousarray(self.squared[: len(self.weights)].T)

    def log_weights(self) -> Floats:
        """Return ln P(h) Z of all 2^m states."""
        m_high = self.weights.shape[1] - self.n_low
        return np.concatenate([self.scores(high)[0] for high in states_of(m_high)])


_kernel = compiled_twin("hiddenbits.maths.state_sums_numba", "add_states")


@lru_cache(maxsize=8)
def table_of_states(m: int) -> Table:
    """Return all states of m units as a table, the same object for every machine of that size."""
    return memory_table(Dense(states_of(m).astype(np.uint8) if m else np.zeros((1, 1), np.uint8)))


class StateSums(Protocol):
    """The states of a machine for sums over them; `Halves` is the one for binary visible units."""

    def table(self) -> Table:
        """Return the states of the high units as a binary table."""

    def add_block(self, block: Block) -> FreePhase:
        """Return the sums over a block of high states and all low ones."""

    def expected(self, total: FreePhase) -> FreePhase:
        """Return the expectations, from the sums over all blocks."""

    def log_weights(self) -> Floats:
        """Return ln P(h) Z of all 2^m states."""


def sum_states(function: Callable[[Block], FreePhase], table: Table) -> FreePhase:
    """Return the sum of a function over the blocks of a table of states, as the engine does, in this thread."""
    first, *others = table.grid(64).blocks
    total = function(first)
    for block in others:
        total += function(block)
    return total


def expectations(states: StateSums, over: Callable[..., FreePhase] = sum_states) -> FreePhase:
    """Return the expectations under the model; `over` adds a function over a table of states."""
    return states.expected(over(states.add_block, states.table()))


def free_phase(weights: Floats, thresholds: Floats, bias: Floats) -> FreePhase:
    """Return the expectations under a model with binary visible units.

    Examples
    --------
    >>> phase = free_phase(np.zeros((3, 2)), np.zeros(2), np.zeros(3))
    >>> round(phase.log_partition / float(np.log(2)), 6)     # 2 hidden and 3 visible units, all independent
    5.0
    """
    check_units(len(thresholds))
    return expectations(Halves(weights, thresholds, bias))
