"""Gibbs sampling in a layered noisy-OR network, many rows at once, at a cost proportional to the number of 1s.

The log-odds of a cause given everything else (eqs 6, 7) are

    ln [P(S_i = 1 | above) / P(S_i = 0 | above)] - Sum_j w_ij
        + Sum_{j: S_j = 1} { ln [(1 - e^{-u1_j}) / (1 - e^{-u0_j})] + w_ij }

u1 and u0 are the inputs of child j with and without the cause. Zeros are linear in u: only 1s need a ratio. The
paper's delta in eq 7 has an erroneous factor S_j, with which zeros would have no effect.

The 1s of layer 0 are those of the data; those of the layers above are the states of the layer below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from hiddenbits.array_types import AnyArray, Bytes, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.bits import pattern_of
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import product_with_totals
from hiddenbits.families.noisy_or.params import NoisyOrParams, log_on

States = Bytes


@dataclass(frozen=True, eq=False)
class Layer:
    """The weights of a layer, with derived arrays.

    Attributes
    ----------
    w : ndarray of shape (K + 1, d)
        Weights, the leak last.
    inhibition : ndarray of shape (d, K + 1)
        e^{-w}: the probability that a cause does not switch a child on.
    totals : ndarray of shape (1, K + 1)
        Sum_j w_ij.
    """

    w: Floats
    inhibition: Floats
    totals: Floats

    @classmethod
    def of(cls, w: Floats) -> Layer:
        """Build from the weights."""
        return cls(w, np.ascontiguousarray(np.exp(-w).T), w.sum(axis=1)[None, :])


@dataclass(frozen=True, eq=False)
class Network:
    """A network with arrays for the sampler."""

    layers: list[Layer]
    priors: Floats

    @classmethod
    def of(cls, params: NoisyOrParams) -> Network:
        """Build from parameters."""
        return cls([Layer.of(w) for w in params.w], params.priors)

    def odds_above(self, number: int, states: list[States]) -> Floats:
        """Return ln P(S = 1 | above) / P(S = 0 | above) of the units of a layer: ln(e^u - 1)."""
        if number + 1 == len(self.layers):
            return np.asarray(np.log(self.priors) - np.log1p(-self.priors))[None, :]
        layer = self.layers[number + 1]
        u = states[number + 1] @ layer.w[:-1] + layer.w[-1]
        return np.asarray(log_on(u) + u)

    def log_above(self, number: int, states: list[States]) -> Floats:
        """Return ln P(states of a layer | above) of each row."""
        s = states[number]
        odds = self.odds_above(number, states)
        return np.asarray((s * odds - np.logaddexp(0.0, odds)).sum(axis=1))

    def sample_states(self, n: int, rng: np.random.Generator) -> list[States]:
        """Sample the states of n rows from the prior, from the top down."""
        states = [(rng.random((n, len(self.priors))) < self.priors).astype(np.uint8)]
        for layer in self.layers[:0:-1]:
            u = states[0] @ layer.w[:-1] + layer.w[-1]
            states.insert(0, (rng.random(u.shape) < -np.expm1(-u)).astype(np.uint8))
        return states


@dataclass(frozen=True, eq=False)
class Children:
    """The children of a layer that are 1, row by row, and what the log-odds would lose if all children were 0.

    Attributes
    ----------
    indptr, indices, rows : ndarray
        Pattern of the 1s, and the row of each.
    zeros : ndarray of shape (rows or 1, K + 1)
        Sum_j w_ij over the observed children.
    """

    indptr: NDArray[np.int64]
    indices: AnyArray
    rows: Rows
    zeros: Floats

    @classmethod
    def of_block(cls, layer: Layer, block: Block) -> Children:
        """Return the 1s of the data."""
        indptr, indices = block.ones()
        zeros = product_with_totals(block.operands()[1], np.ascontiguousarray(layer.w.T), layer.totals)
        return cls(np.asarray(indptr, np.int64), indices, _rows_of(indptr), zeros)

    @classmethod
    def of_states(cls, layer: Layer, below: States) -> Children:
        """Return the 1s of the layer below."""
        indptr, indices = pattern_of(below)
        return cls(indptr, indices, _rows_of(indptr), layer.totals)

    def take(self, rows: Rows) -> Children:
        """Return the given rows."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        indices = self.indices[np.repeat(self.indptr[:-1][rows], lengths) + within]
        return Children(indptr, indices, _rows_of(indptr), self.zeros if len(self.zeros) == 1 else self.zeros[rows])

    def log_probability(self, off: Floats, states: States) -> Floats:
        """Return ln P(children | states) of each row: all as zeros, and the ratio of a 1 to a 0 for each 1."""
        ones = np.bincount(self.rows, weights=np.log1p(-off) - np.log(off), minlength=len(states))
        return np.asarray(ones - (states * self.zeros[:, :-1]).sum(axis=1) - self.zeros[:, -1])

    def matrix(self, values: Floats, n_columns: int) -> Any:
        """Return a sparse matrix with these values at the 1s."""
        return sparse.csr_array((values, self.indices, self.indptr), shape=(len(self.indptr) - 1, n_columns))


def _rows_of(indptr: AnyArray) -> Rows:
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def p_off(ones: Children, layer: Layer, states: States) -> Floats:
    """Return e^{-u} = P(child off | states) for every child that is 1."""
    off = np.empty(len(ones.indices))
    kernels = _kernels()
    if kernels is not None:
        kernels.off_rows(ones.indptr, ones.indices, states, layer.inhibition, off)
        return off
    off[:] = layer.inhibition[ones.indices, -1]
    for i in np.flatnonzero(states.any(axis=0)):
        off *= np.where(states[ones.rows, i], layer.inhibition[ones.indices, i], 1.0)
    return off


def sweep_layer(
    ones: Children,
    layer: Layer,
    states: States,
    offsets: Floats,
    uniforms: Floats,
    share: float = 1.0,
    active: NDArray[np.bool_] | None = None,
    with_odds: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Sample every cause of a layer, given its children and the layer above; `states` changes in place.

    Parameters
    ----------
    ones : Children
        The layer's children.
    layer : Layer
    states : ndarray of shape (rows, K) of uint8
    offsets : ndarray of shape (rows or 1, K)
        The part of the log-odds that does not come from 1s.
    uniforms : ndarray of shape (rows, K)
        Uniform random numbers: a cause is on if its number is below P(on).
    share : float
        Exponent of the probability of the 1s; below 1 at high temperatures.
    active : ndarray of shape (rows,) of bool, optional
        Rows to sample; the others stay.
    with_odds : bool
        Whether to return the log-odds.

    Returns
    -------
    off, odds, flips : ndarray of shapes (ones,), (rows, K) and (rows,)
        e^{-u} of every 1 with the new states, the log-odds with which each cause was sampled (no rows without
        `with_odds`), and the largest probability in each row that a cause would change.
    """
    n, K = states.shape
    active = np.ones(n, bool) if active is None else active
    off = p_off(ones, layer, states)
    flips, odds = np.zeros(n), np.zeros((n if with_odds else 0, K))
    kernels = _kernels()
    if kernels is not None:
        args = (ones.indptr, ones.indices, off, states, offsets, share, layer.inhibition, uniforms, active, flips, odds)
        kernels.sweep_rows(*args)
        return off, odds, flips
    for i in range(K):
        q, on = layer.inhibition[ones.indices, i], states[:, i] == 1
        off = np.where(on[ones.rows], off / q, off)
        ratios = np.log((1.0 - off * q) / ((1.0 - off) * q))
        x = offsets[:, i] + share * np.bincount(ones.rows, weights=ratios, minlength=n)
        if with_odds:
            odds[:, i] = x
        p = expit(x)
        new_states = np.where(active, uniforms[:, i] < p, on)
        np.maximum(flips, np.where(active, np.where(on, 1.0 - p, p), 0.0), out=flips)
        off = np.where(new_states[ones.rows], off * q, off)
        states[:, i] = new_states
    return off, odds, flips


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results of one sweep in addition to the new states: for each layer, those of `sweep_layer`; largest flips."""

    ones: list[Children]
    off: list[Floats]
    odds: list[Floats]
    flips: Floats


def sweep(
    network: Network,
    data: Children,
    states: list[States],
    rng: np.random.Generator,
    active: NDArray[np.bool_] | None = None,
    held_off: int | None = None,
    with_odds: bool = False,
) -> Sweep:
    """Sample the states of all layers, the lowest first; `states` change in place.

    A layer's units have prior odds from the layer above. `held_off` is a cause of the top layer that stays off.
    """
    children, all_ones, all_off, all_odds = data, [], [], []
    flips = np.zeros(len(states[0]))
    for number, layer in enumerate(network.layers):
        if number:
            children = Children.of_states(layer, states[number - 1])
        offsets = network.odds_above(number, states) - children.zeros[:, :-1]
        if held_off is not None and number + 1 == len(network.layers):
            offsets = offsets.copy()
            offsets[:, held_off] = -np.inf
        off, odds, largest_flips = sweep_layer(
            children, layer, states[number], offsets, rng.random(states[number].shape), 1.0, active, with_odds
        )
        np.maximum(flips, largest_flips, out=flips)
        all_ones.append(children)
        all_off.append(off)
        all_odds.append(odds)
    return Sweep(all_ones, all_off, all_odds, flips)


def log_joints(network: Network, data: Children, states: list[States]) -> Floats:
    """Return ln P(observed cells, states) of each row."""
    total = np.zeros(len(states[0]))
    children = data
    for number, layer in enumerate(network.layers):
        if number:
            children = Children.of_states(layer, states[number - 1])
        total += children.log_probability(p_off(children, layer, states[number]), states[number])
    return total + network.log_above(len(network.layers) - 1, states)


_kernels = compiled_twin("hiddenbits.families.noisy_or.gibbs_numba")
