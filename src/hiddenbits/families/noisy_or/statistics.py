"""What a pass of the noisy-OR sampler counts, keeps for each row, and finds out about single causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.declared import Sums
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, Sweep, log_joint_rows, sweep
from hiddenbits.families.noisy_or.params import JOINT, LEARN, NoisyOrParams, best_priors, best_strengths


@dataclass(frozen=True, eq=False)
class NoisyOrStats(Sums):
    """Counts over sampled states; of layers above the lowest, one after the other.

    `fired` and `tried` are A and T of `best_strengths`: of the bits with shapes (K + 1, columns) and (K + 1, columns
    or 1), of the upper layers in one run of numbers each. `on` counts the top causes, `loss` what the log-joint of
    `surveyed` rows gains when a top cause is taken away.
    """

    bound: Floats
    weight: Floats
    fired: Floats
    tried: Floats
    upper_fired: Floats
    upper_tried: Floats
    on: Floats
    loss: Floats
    surveyed: Floats


@dataclass(frozen=True, eq=False)
class RowStates(Arrays):
    """The states of a block's rows, eight units to a byte, and the names of the units."""

    packed: Bytes
    names: Floats


def states_of_rows(
    params: NoisyOrParams, network: Network, n: int, carry: RowStates | None, rng: np.random.Generator
) -> tuple[list[States], bool]:
    """Return the states to begin with: those of the last pass where a unit was there, otherwise drawn from above.

    The second result is True when nothing was kept.
    """
    states = network.drawn(n, rng)
    if carry is None or len(carry.packed) != n:
        return states, True
    bits = np.unpackbits(carry.packed, axis=1, count=len(carry.names))
    place = {name: column for column, name in enumerate(carry.names.tolist())}
    start = 0
    for layer in states:
        for i, name in enumerate(params.names[start : start + layer.shape[1]].tolist()):
            if name in place:
                layer[:, i] = bits[:, place[name]]
        start += layer.shape[1]
    return states, False


def count(params: NoisyOrParams, network: Network, last: Sweep, states: list[States], block: Block) -> NoisyOrStats:
    """Return the statistics of states that were just drawn."""
    bound = network.log_above(len(states) - 1, states)
    for ones, off, s in zip(last.ones, last.off, states, strict=True):
        bound = bound + ones.log_probability(off, s)
    on = [s * block.weights[:, None] for s in states]
    return counted(params, last.ones, last.off, states, block.weights, on, block, float(block.weights @ bound))


def counted(
    params: NoisyOrParams,
    ones: list[Ones],
    off: list[Floats],
    states: list[States],
    weights: Floats,
    on: list[Floats],
    block: Block,
    bound: float,
) -> NoisyOrStats:
    """Return the statistics of weighted states: several for each row, or one.

    `on` has the weight with which each unit is on in each row of the block, of each layer.
    """
    fired, tried = [], []
    for number, (children, e, s) in enumerate(zip(ones, off, states, strict=True)):
        f = params.layers[number]
        with_leak = np.column_stack([s, np.ones(len(s), np.uint8)]).astype(np.float64)
        # eq 9: each one counts f / g for every cause that was on, g = 1 - e^{-u}.
        shares = children.matrix(weights[children.rows] / (1.0 - e), f.shape[1])
        fired.append(f * np.asarray((shares.T @ with_leak).T))
        weighted = np.column_stack([on[number], block.weights])
        observed = block.operands()[1].T @ weighted if number == 0 else weighted.sum(axis=0)[None, :]
        tried.append(np.ascontiguousarray(np.asarray(observed).T))
    upper_fired, upper_tried = (
        np.concatenate([np.zeros(0), *(a.ravel() for a in arrays[1:])]) for arrays in (fired, tried)
    )
    return NoisyOrStats(
        np.asarray(bound),
        np.asarray(block.weights.sum()),
        fired[0],
        tried[0],
        upper_fired,
        upper_tried,
        on=on[-1].sum(axis=0),
        loss=np.zeros(len(params.priors)),
        surveyed=np.zeros(()),
    )


def stepped(
    params: NoisyOrParams, stats: NoisyOrStats, share: float, alpha: float, beta: float, centre: float
) -> NoisyOrParams:
    """Return parameters moved by a share of the way to the M-step, those that learn now."""
    phase = params.clock[1]
    fired, tried = by_layer(params, stats)
    layers = []
    for number, f in enumerate(params.layers):
        new = f
        if phase == JOINT or number + 1 == len(params.layers):
            new = f + share * (best_strengths(fired[number], tried[number], alpha, beta) - f)
            if phase == LEARN:
                new[-1] = f[-1]
        layers.append(new)
    priors = params.priors
    if phase != LEARN:
        priors = priors + share * (best_priors(stats.on, float(stats.weight), centre) - priors)
    return NoisyOrParams.of(layers, priors, params.clock, params.names)


def by_layer(params: NoisyOrParams, stats: NoisyOrStats) -> tuple[list[Floats], list[Floats]]:
    """Return A and T of each layer."""
    fired, tried, a, t = [stats.fired], [stats.tried], 0, 0
    for f in params.layers[1:]:
        fired.append(stats.upper_fired[a : a + f.size].reshape(f.shape))
        tried.append(stats.upper_tried[t : t + len(f)][:, None])
        a, t = a + f.size, t + len(f)
    return fired, tried


def survey(network: Network, data: Ones, states: list[States], n_sweeps: int, rng: np.random.Generator) -> Floats:
    """Return what each row's log-joint gains without each cause of the top layer, (rows, K_top).

    Only rows in which the cause is on have to be explained again; in the others it is just no longer there.
    """
    before = log_joint_rows(network, data, states)
    gains = np.zeros((len(before), len(network.priors)))
    for k in range(len(network.priors)):
        rows = np.flatnonzero(states[-1][:, k])
        if len(rows):
            others, some = [s[rows] for s in states], data.take(rows)
            others[-1][:, k] = 0
            for _ in range(n_sweeps):
                sweep(network, some, others, rng, held_off=k)
            gains[rows, k] = log_joint_rows(network, some, others) - before[rows]
    return np.asarray(gains - np.log1p(-network.priors))
