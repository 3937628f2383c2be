"""Statistics of a pass of the noisy-OR sampler, stored states of rows, and the gain of removing a cause."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.declared import WeightedSums
from hiddenbits.families.noisy_or.gibbs import Children, Network, States, Sweep, log_joints, sweep
from hiddenbits.families.noisy_or.m_step import best_layer, best_priors, best_strengths
from hiddenbits.families.noisy_or.params import Learns, NoisyOrParams, all_states

MOST_ENUMERATED_CAUSES = 8  # in an upper layer whose children are counted for each of its states


@dataclass(frozen=True, eq=False)
class NoisyOrStats(WeightedSums):
    """Counts over sampled states; upper layers, those above the lowest, are stored one after the other.

    `fired` and `tried` are A and T of `best_strengths`, with shapes (K + 1, columns) and (K + 1, columns or 1) in the
    lowest layer; those of upper layers are flat arrays. So is `upper_states`: for each state of an upper layer of at
    most MOST_ENUMERATED_CAUSES causes, how often each child is on, and the number of rows, (2^K, children + 1). `on`
    counts how often top causes are on; `loss` is the gain of the log-joint of some rows when a top cause is removed.
    """

    bound: Floats
    weight: Floats
    fired: Floats
    tried: Floats
    upper_fired: Floats
    upper_tried: Floats
    upper_states: Floats
    on: Floats
    loss: Floats


@dataclass(frozen=True, eq=False)
class RowStates(Arrays):
    """The states of a block's rows, eight units to a byte, and the names of the units."""

    packed: Bytes
    names: Floats


def states_of_rows(
    params: NoisyOrParams, network: Network, n: int, carry: RowStates | None, rng: np.random.Generator
) -> tuple[list[States], bool]:
    """Return the rows' states before the first sweep, and whether they are all new.

    Units that were in the last pass keep their states; others are sampled given the layers above.
    """
    states = network.sample_states(n, rng)
    if carry is None or len(carry.packed) != n:
        return states, True
    stored = np.unpackbits(carry.packed, axis=1, count=len(carry.names))
    column_of = {name: column for column, name in enumerate(carry.names.tolist())}
    start = 0
    for layer in states:
        for i, name in enumerate(params.names[start : start + layer.shape[1]].tolist()):
            if name in column_of:
                layer[:, i] = stored[:, column_of[name]]
        start += layer.shape[1]
    return states, False


def count(params: NoisyOrParams, network: Network, last: Sweep, states: list[States], block: Block) -> NoisyOrStats:
    """Return the statistics of the states after a sweep."""
    weights, bound = block.weights, network.log_above(len(states) - 1, states)
    on = [s * weights[:, None] for s in states]
    fired, tried = [], []
    for number, (children, off, s) in enumerate(zip(last.ones, last.off, states, strict=True)):
        f = params.layers[number]
        bound = bound + children.log_probability(off, s)
        with_leak = np.column_stack([s, np.ones(len(s), np.uint8)]).astype(np.float64)
        # eq 9: each 1 counts f / g for every cause that was on, g = 1 - e^{-u}.
        shares = children.matrix(weights[children.rows] / (1.0 - off), f.shape[1])
        fired.append(f * np.asarray((shares.T @ with_leak).T))
        weighted = np.column_stack([on[number], weights])
        observed = block.operands()[1].T @ weighted if number == 0 else weighted.sum(axis=0)[None, :]
        tried.append(np.ascontiguousarray(np.asarray(observed).T))
    upper_fired, upper_tried = (
        np.concatenate([np.zeros(0), *(a.ravel() for a in arrays[1:])]) for arrays in (fired, tried)
    )
    return NoisyOrStats(
        np.asarray(float(weights @ bound)),
        np.asarray(weights.sum()),
        fired[0],
        tried[0],
        upper_fired,
        upper_tried,
        np.concatenate([np.zeros(0), *(counts.ravel() for counts in _by_state(states, weights))]),
        on=on[-1].sum(axis=0),
        loss=np.zeros(len(params.priors)),
    )


def _by_state(states: list[States], weights: Floats) -> list[Floats]:
    """Return, for each state of upper layers of few causes, the weight of rows with each child on, and of all."""
    counts = []
    for below, above in itertools.pairwise(states):
        if (K := above.shape[1]) <= MOST_ENUMERATED_CAUSES:
            state_numbers = above @ (1 << np.arange(K))
            rows = csr_array((weights, state_numbers, np.arange(len(state_numbers) + 1)), (len(state_numbers), 1 << K))
            counts.append(np.asarray(rows.T @ np.column_stack([below, np.ones(len(below))])))
    return counts


def m_step(
    params: NoisyOrParams,
    stats: NoisyOrStats,
    learns: Learns,
    share: float,
    alpha: float,
    beta: float,
    center: float,
    steps: int = 1,
) -> NoisyOrParams:
    """Return parameters after a partial M-step for those that are fitted in this phase.

    Upper layers of few causes take several `steps` of eq 9 on these counts.
    """
    fired, tried = fired_and_tried(params, stats)
    by_state = _counts_by_layer(params, stats)
    layers = []
    for number, f in enumerate(params.layers):
        updated = f
        if learns == "network" or number + 1 == len(params.layers):
            state_counts = by_state[number]
            if state_counts is None or steps == 1:
                maximum = best_strengths(fired[number], tried[number], alpha, beta)
            else:
                states = all_states(params.n_causes[number])
                ones, rows = state_counts[:, :-1].T, state_counts[:, -1:].T
                maximum = best_layer(f, states, ones, rows, alpha, beta, hold_leak=learns == "strengths", steps=steps)
            updated = f + share * (maximum - f)
            if learns == "strengths":
                updated[-1] = f[-1]
        layers.append(updated)
    priors = params.priors
    if learns != "strengths":
        priors = priors + share * (best_priors(stats.on, float(stats.weight), center) - priors)
    return NoisyOrParams.of(layers, priors, params.names)


def fired_and_tried(params: NoisyOrParams, stats: NoisyOrStats) -> tuple[list[Floats], list[Floats]]:
    """Return `fired` (A) and `tried` (T) of each layer."""
    fired, tried, fired_start, tried_start = [stats.fired], [stats.tried], 0, 0
    for f in params.layers[1:]:
        fired.append(stats.upper_fired[fired_start : fired_start + f.size].reshape(f.shape))
        tried.append(stats.upper_tried[tried_start : tried_start + len(f)][:, None])
        fired_start, tried_start = fired_start + f.size, tried_start + len(f)
    return fired, tried


def _counts_by_layer(params: NoisyOrParams, stats: NoisyOrStats) -> list[Floats | None]:
    """Return the counts by state of each layer, None for layers without them."""
    counts: list[Floats | None] = [None]
    start = 0
    for f in params.layers[1:]:
        shape = 1 << (len(f) - 1), f.shape[1] + 1
        if len(f) - 1 > MOST_ENUMERATED_CAUSES:
            counts.append(None)
            continue
        counts.append(stats.upper_states[start : start + shape[0] * shape[1]].reshape(shape))
        start += shape[0] * shape[1]
    return counts


def survey(network: Network, data: Children, states: list[States], n_sweeps: int, rng: np.random.Generator) -> Floats:
    """Return how much each row's log-joint gains when a cause of the top layer is removed, (rows, K_top).

    Only rows in which the cause is on need new states; in other rows only its factor P(off) is dropped.
    """
    before = log_joints(network, data, states)
    gains = np.zeros((len(before), len(network.priors)))
    for k in range(len(network.priors)):
        rows = np.flatnonzero(states[-1][:, k])
        if len(rows):
            new_states, children = [s[rows] for s in states], data.take(rows)
            new_states[-1][:, k] = 0
            for _ in range(n_sweeps):
                sweep(network, children, new_states, rng, held_off=k)
            gains[rows, k] = log_joints(network, children, new_states) - before[rows]
    return np.asarray(gains - np.log1p(-network.priors))
