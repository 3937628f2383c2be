"""The noisy-OR network with a truncated posterior: each row keeps a few states, the best that were found.

    ln P(x) >= ln Sum_{s in kept} P(x, s),     q(s) = P(x, s) / Sum_{kept} P(x, .)

No random numbers are drawn: in every pass each kept state of a row offers its best neighbours, those with one unit
changed, and of all of them the best stay. A state that is kept is given up only for a better one, and the M-step raises
the sum for the states that are kept, so that the bound never falls. Its cost follows the ones, as with Gibbs sampling.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.hashing import set_numbers
from hiddenbits.data.summary import Summary
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, scan_layer
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams, log_prior
from hiddenbits.families.noisy_or.rows import SampledRows, Shared
from hiddenbits.families.noisy_or.start import first_prior
from hiddenbits.families.noisy_or.statistics import NoisyOrStats, RowStates, counted, stepped
from hiddenbits.model_api import Footprint, Key, Passes, Promises

NEIGHBOURS = 2  # that each kept state offers in a round
FIRST_ROUNDS, ROUNDS = 8, 1  # of offers: when a row is looked at for the first time, and in a pass


@dataclass(frozen=True)
class NoisyOrTruncated(SampledRows):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : list of int
        Causes of each layer, the lowest first.
    alpha, beta, prior, leak
        As for `NoisyOr`.
    n_states : int
        States that a row keeps.
    seed : int
        Of what verbs draw.
    """

    n_components: list[int] = field(default_factory=lambda: [2])
    alpha: float = 1.0
    beta: float = 1.5
    prior: float | None = None
    leak: float = 1e-3
    n_states: int = 8
    seed: int = 0

    promises = Promises(
        likelihood="bound",
        monotone=True,
        deterministic=True,
        carry=True,
        accelerates=True,
        oracle="enumeration",
        why={"likelihood": "only some states of a row are added up"},
    )
    params_type = NoisyOrParams
    stats_type = NoisyOrStats
    carry_type = RowStates

    @property
    def enumerated(self) -> NoisyOr:
        """The same network for enumeration."""
        return NoisyOr(self.n_components, self.alpha, self.beta, self.prior, self.leak)

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: a look at every one, for every cause and kept state."""
        K, M = max(self.n_components), self.n_states
        return Footprint(M * (3 * K + row_cells), n_columns * (K + 1), 4 * M * row_cells * K)

    def start(self, summary: Summary, key: Key, passes: Passes) -> NoisyOrParams:
        """Return the lowest layer, with causes that are nearly alike."""
        return self.enumerated.start(summary, key, passes)

    def grow(self, params: NoisyOrParams, key: Key) -> NoisyOrParams | None:
        """Free priors and leak of a layer that has learned its weights; then add the next, or free all layers."""
        return self.enumerated.grow(params, key)

    def expect(
        self, params: NoisyOrParams, shared: Shared, block: Block, carry: RowStates | None, key: Key
    ) -> tuple[NoisyOrStats, RowStates]:
        """E-step: better states where there are any, and counts over those that are kept."""
        network, n, M = shared.network, block.n_rows, self.n_states
        cuts = np.cumsum(params.n_causes)[:-1]
        data = Ones.of_block(network.layers[0], block).take(np.repeat(np.arange(n), M))
        fresh = carry is None or len(carry.packed) != n * M or not np.array_equal(carry.names, params.names)
        units = len(params.names)
        bits = np.zeros((n * M, units), np.uint8)
        if carry is not None and not fresh:
            bits = np.unpackbits(carry.packed, axis=1, count=units)
        numbers = set_numbers(units, 0x0125)
        for _ in range(FIRST_ROUNDS if fresh else ROUNDS):
            look = _look(network, data, _split(bits, cuts))
            bits = _better(bits, look.value, look.odds, numbers, n, M)
        states = _split(bits, cuts)
        look = _look(network, data, states)
        value = np.where(_again((bits @ numbers).reshape(n, M)), -np.inf, look.value.reshape(n, M))
        most = value.max(axis=1, keepdims=True)
        q = np.exp(value - most)
        total = q.sum(axis=1, keepdims=True)
        q /= total
        weights = (block.weights[:, None] * q).ravel()
        on = [(s * weights[:, None]).reshape(n, M, -1).sum(axis=1) for s in states]
        bound = float(block.weights @ (most + np.log(total))[:, 0])
        stats = counted(params, look.ones, look.off, states, weights, on, block, bound)
        return stats, RowStates(np.packbits(bits, axis=1), params.names)

    def _centre(self, params: NoisyOrParams) -> float:
        return first_prior(self.prior, self.n_components[int(params.clock[0])])

    def objective(self, params: NoisyOrParams, stats: NoisyOrStats) -> float:
        """Return the bound plus log prior."""
        return float(stats.bound) + log_prior(params, self.alpha, self.beta, self._centre(params))

    def update(self, params: NoisyOrParams, stats: NoisyOrStats) -> NoisyOrParams:
        """M-step for what learns now."""
        return stepped(params, stats, 1.0, self.alpha, self.beta, self._centre(params))

    def to_vector(self, params: NoisyOrParams) -> Floats:
        """Return ln w and logit(pi): coordinates without borders, for extrapolation."""
        return self.enumerated.to_vector(params)

    def from_vector(self, vector: Floats, params: NoisyOrParams) -> NoisyOrParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        return self.enumerated.from_vector(vector, params)


@dataclass(frozen=True, eq=False)
class _Look:
    """What one look at the kept states shows: their ln P(x, s), the log-odds of every unit, ones and e^{-u}."""

    value: Floats
    odds: Floats
    ones: list[Ones]
    off: list[Floats]


def _look(network: Network, data: Ones, states: list[States]) -> _Look:
    children, all_ones, all_off, all_odds = data, [], [], []
    value = network.log_above(len(states) - 1, states)
    for number, layer in enumerate(network.layers):
        if number:
            children = Ones.of_states(layer, states[number - 1])
        off, odds = scan_layer(
            children, layer, states[number], network.odds_above(number, states) - children.zeros[:, :-1]
        )
        value = value + children.log_probability(off, states[number])
        all_ones.append(children)
        all_off.append(off)
        all_odds.append(odds)
    return _Look(np.asarray(value), np.concatenate(all_odds, axis=1), all_ones, all_off)


def _split(bits: States, cuts: Rows) -> list[States]:
    return [np.ascontiguousarray(s) for s in np.split(bits, cuts, axis=1)]


def _again(sums: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which states of a row are there before, further left; (rows, states)."""
    order = np.argsort(sums, axis=1, kind="stable")
    in_order = np.take_along_axis(sums, order, axis=1)
    same = np.zeros(sums.shape, bool)
    same[:, 1:] = in_order[:, 1:] == in_order[:, :-1]
    found = np.zeros(sums.shape, bool)
    np.put_along_axis(found, order, same, axis=1)
    return found


def _better(bits: States, value: Floats, odds: Floats, numbers: NDArray[np.uint64], n: int, M: int) -> States:
    """Return the best M of each row's kept states and the best neighbours of each."""
    gains = np.where(bits == 1, -odds, odds)
    T = min(NEIGHBOURS, gains.shape[1])
    units = np.argsort(-gains, axis=1, kind="stable")[:, :T]  # (rows M, T)
    sums = bits @ numbers
    turned = np.take_along_axis(bits, units, axis=1) == 1
    moved = np.where(turned, sums[:, None] - numbers[units], sums[:, None] + numbers[units])
    reached = value[:, None] + np.take_along_axis(gains, units, axis=1)
    all_sums = np.concatenate([sums.reshape(n, M), moved.reshape(n, M * T)], axis=1)
    values = np.concatenate([value.reshape(n, M), reached.reshape(n, M * T)], axis=1)
    values[_again(all_sums)] = -np.inf
    best = np.argsort(-values, axis=1, kind="stable")[:, :M]
    parent = np.where(best < M, best, (best - M) // T) + M * np.arange(n)[:, None]
    new = bits[parent.ravel()]
    changed = np.flatnonzero((best >= M).ravel())
    which = units.reshape(n, M * T)[np.repeat(np.arange(n), M)[changed], best.ravel()[changed] - M]
    new[changed, which] ^= 1
    return new
