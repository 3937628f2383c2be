"""What verbs of a large noisy-OR network rest on: weighted draws of every row's states, and their Monte-Carlo error.

Chains that begin anywhere and sweep for a while end in whatever explanation was near, not in each as often as it is
probable: to exchange one cause for another a chain has to pass through states that explain nothing. So every row has
several chains that climb a ladder of temperatures, half of them from each base, and each counts by its annealed
weight. The error of a mean comes from the spread of the chains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, Sweep, log_joint_rows, off_of, sweep, sweep_layer
from hiddenbits.maths.annealed_importance import Path, anneal

CHAINS, STEPS, SWEEPS = 32, 24, 8
SEARCHES, SEARCH_SWEEPS = 4, 20  # chains and sweeps in which the most probable state is looked for
CLIMBS = 20  # sweeps of an ascent, at most; most rows need two or three


class Marginals(NamedTuple):
    """P(unit on | observed bits), and the Monte-Carlo standard error of each; both (rows, units), lowest layer first.

    Attributes
    ----------
    probabilities, errors : ndarray
    """

    probabilities: Floats
    errors: Floats


def weighted_draws(
    network: Network,
    block: Block,
    rng: np.random.Generator,
    look: Callable[[list[States], Sweep], None],
    kept: int = SWEEPS,
) -> Floats:
    """Show the states of all chains after each of several sweeps to `look`; return the weights, (chains, rows).

    Row r of chain c is row c n + r. The weights of a row add up to 1.
    """
    n, half = block.n_rows, CHAINS // 2
    data = Ones.of_block(network.layers[0], block)
    some, ladder = tiled(data, half), np.linspace(0.0, 1.0, STEPS + 1)
    near = np.tile(quick_marginals(network, block, rng), (half, 1))
    ends, logs = [], []
    for path, betas in ((prior_path(network, some), ladder**3), (near_path(network, some, near), ladder)):
        ends.append(path.start(n * half, rng))
        logs.append(anneal(path, ends[-1], betas.tolist(), rng).reshape(half, n))
    # Both bases have the same sum, 1, so that weights from both can be put side by side.
    states, log_w = [np.concatenate(pair) for pair in zip(*ends, strict=True)], np.concatenate(logs)
    data = tiled(data, CHAINS)
    for _ in range(kept):
        look(states, sweep(network, data, states, rng, with_odds=True))
    w = np.exp(log_w - log_w.max(axis=0))
    return np.asarray(w / w.sum(axis=0))


def marginals(network: Network, block: Block, rng: np.random.Generator) -> Marginals:
    """Return P(unit on | observed bits) with its error, each draw at its expectation given the rest (Rao-Blackwell)."""
    total = np.zeros((CHAINS, block.n_rows, sum(len(layer.w) - 1 for layer in network.layers)))

    def look(_: list[States], last: Sweep) -> None:
        np.add(total, expit(np.concatenate(last.odds, axis=1)).reshape(total.shape) / SWEEPS, out=total)

    w = weighted_draws(network, block, rng, look)[:, :, None]
    mean = (w * total).sum(axis=0)
    few = CHAINS / (CHAINS - 1.0)  # the mean is made from the same chains
    return Marginals(mean, np.sqrt(few * (w**2 * (total - mean) ** 2).sum(axis=0)))


def most_probable(network: Network, block: Block, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the most probable states that were found, (rows, units), and their ln P(observed bits, states).

    Each chain's best states climb on, one unit at a time, until no single change is better; the best chain wins.
    """
    n = block.n_rows
    data = tiled(Ones.of_block(network.layers[0], block), SEARCHES)
    states = network.drawn(n * SEARCHES, rng)
    found, value = [s.copy() for s in states], np.full(n * SEARCHES, -np.inf)
    for _ in range(SEARCH_SWEEPS):
        sweep(network, data, states, rng)
        now = log_joint_rows(network, data, states)
        better = now > value
        value = np.where(better, now, value)
        for mine, s in zip(found, states, strict=True):
            mine[better] = s[better]
    for _ in range(CLIMBS):
        before = [s.copy() for s in found]
        ascend(network, data, found)
        if all(np.array_equal(a, b) for a, b in zip(before, found, strict=True)):
            break
    reached = log_joint_rows(network, data, found).reshape(SEARCHES, n)
    winner = reached.argmax(axis=0) * n + np.arange(n)
    return np.concatenate([s[winner] for s in found], axis=1).astype(np.float64), reached.max(axis=0)


def ascend(network: Network, data: Ones, states: list[States]) -> None:
    """Set every unit to its more probable value given the rest, one after the other, in place."""
    children = data
    for number, layer in enumerate(network.layers):
        if number:
            children = Ones.of_states(layer, states[number - 1])
        offsets = network.odds_above(number, states) - children.zeros[:, :-1]
        sweep_layer(children, layer, states[number], offsets, np.full(states[number].shape, 0.5))


def _cells(network: Network, block: Block, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Return e^{-u} of every cell for each chain, (rows, columns), with the chains' weights, (rows, 1)."""
    kept: list[States] = []
    w = weighted_draws(network, block, rng, lambda states, _: kept.append(states[0].copy()), kept=1)
    weights = network.layers[0].w
    found = []
    for states, share in zip(kept[0].reshape(CHAINS, block.n_rows, -1), w, strict=True):
        found.append((np.exp(-np.minimum(states @ weights[:-1] + weights[-1], 600.0)), share[:, None]))
    return found


def filled(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again."""
    return np.asarray(sum(share * (1.0 - off) for off, share in _cells(network, block, rng)))


def left_out(network: Network, block: Block, rng: np.random.Generator) -> Floats:
    """Return P(x_j = 1 | the other observed bits) for every cell; a missing bit has no other value to be weighed."""
    shape = block.n_rows, block.n_columns
    g_mean, over_g, over_off, odds = (np.zeros(shape) for _ in range(4))
    for off, share in _cells(network, block, rng):
        g = 1.0 - off
        g_mean += share * g
        over_g += share / g
        over_off += share / off
        odds += share * g / off
    x, o = block.x.to_dense(), block.observed.to_dense()
    return np.where(o == 0, g_mean, np.where(x == 1, 1.0 / over_g, odds / over_off))


# Ladders of temperatures that lead to the states of a row, from two bases.
#
# prior:  P(S) P(x | S)^beta                         from states drawn without the data near:   q(S)^(1 - beta) [ P(S)
# P(x | S) ]^beta     from units drawn by their posterior probabilities, independently

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
