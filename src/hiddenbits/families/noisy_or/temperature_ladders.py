"""Ladders of temperatures that lead to the states of a row, from two bases.

prior:  P(S) P(x | S)^beta                         from states drawn without the data
near:   q(S)^(1 - beta) [ P(S) P(x | S) ]^beta     from units drawn by their posterior probabilities, independently
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, log_joint_rows, off_of, sweep, sweep_layer
from hiddenbits.maths.annealed_importance import Path

NEVER_SURE = 0.02  # the near base gives no unit less than this chance of either state
QUICK_CHAINS, QUICK_FIRST, QUICK = 2, 10, 10


def tiled(data: Ones, times: int) -> Ones:
    """Return the rows again and again: row r of chain c is row c n + r."""
    return data.take(np.tile(np.arange(len(data.indptr) - 1), times))


def quick_marginals(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(unit on | observed bits) roughly, from a few short chains; never sure of anything."""
    n = block.n_rows
    data = tiled(Ones.of_block(network.layers[0], block), QUICK_CHAINS)
    states = network.drawn(n * QUICK_CHAINS, rng)
    total = np.zeros((n, sum(s.shape[1] for s in states)))
    for number in range(QUICK_FIRST + QUICK):
        last = sweep(network, data, states, rng, with_odds=number >= QUICK_FIRST)
        if number >= QUICK_FIRST:
            total += expit(np.concatenate(last.odds, axis=1)).reshape(QUICK_CHAINS, n, -1).mean(axis=0) / QUICK
    return np.clip(total, NEVER_SURE, 1.0 - NEVER_SURE)


def prior_path(network: Network, data: Ones) -> Path[list[States]]:
    """Return the way from the prior; states change in place."""

    def log_ratio(states: list[States], low: float, high: float) -> Floats:
        layer = network.layers[0]
        return (high - low) * data.log_probability(off_of(data, layer, states[0]), states[0])

    def move(states: list[States], beta: float, rng: np.random.Generator) -> list[States]:
        children = data
        for number, layer in enumerate(network.layers):
            share = beta if number == 0 else 1.0
            if number:
                children = Ones.of_states(layer, states[number - 1])
            offsets = network.odds_above(number, states) - share * children.zeros[:, :-1]
            sweep_layer(children, layer, states[number], offsets, rng.random(states[number].shape), share)
        return states

    return Path(0.0, network.drawn, log_ratio, move)


def near_path(network: Network, data: Ones, q: Floats) -> Path[list[States]]:
    """Return the way from independent units that are on with probabilities q, (rows, units); in place too."""
    cuts = np.cumsum([len(layer.w) - 1 for layer in network.layers])[:-1]
    base = np.split(np.log(q) - np.log1p(-q), cuts, axis=1)
    log_none = np.log1p(-q).sum(axis=1)

    def start(_: int, rng: np.random.Generator) -> list[States]:
        return [np.ascontiguousarray(s) for s in np.split((rng.random(q.shape) < q).astype(np.uint8), cuts, axis=1)]

    def log_ratio(states: list[States], low: float, high: float) -> Floats:
        log_q = log_none + np.sum([(s * b).sum(axis=1) for s, b in zip(states, base, strict=True)], axis=0)
        return np.asarray((high - low) * (log_joint_rows(network, data, states) - log_q))

    def move(states: list[States], beta: float, rng: np.random.Generator) -> list[States]:
        children = data
        for number, layer in enumerate(network.layers):
            if number:
                children = Ones.of_states(layer, states[number - 1])
            # The layer's own prior given the one above is part of what is tempered, so its odds are beta times it.
            offsets = beta * (network.odds_above(number, states) - children.zeros[:, :-1]) + (1.0 - beta) * base[number]
            sweep_layer(children, layer, states[number], offsets, rng.random(states[number].shape), beta)
        return states

    return Path(0.0, start, log_ratio, move)
