"""The paper's way to learn as a plain loop, so that what it says of its parts can be varied and watched.

As `NoisyOrNetwork.paper`: strengths from .05 to .15, blocks of 200 rows, states from scratch, eq 9 after each block,
priors and leaks held. What is varied: how many sweeps there are at most, the prior of the
weights, and which layers learn when.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hiddenbits import open_table
from hiddenbits.families.noisy_or.gibbs import Network, Ones, sweep
from hiddenbits.families.noisy_or.params import NoisyOrParams, best_strengths
from hiddenbits.families.noisy_or.start import first_strengths
from hiddenbits.families.noisy_or.statistics import by_layer, count

BLOCK, STOP, SWEEPS, EPOCHS = 200, 0.05, 15, 10  # section 5
FIRST, SHAPE, RATE = (0.05, 0.15), 1.0, 1.5
PRIOR, LEAK = 0.3, 1e-3  # ours: the paper does not give them
SETTLED, PATIENCE, LONGEST = 0.98, 2, 30  # ours: how stability is judged, and epochs of a layer at most

Watch = Callable[[int, NoisyOrParams], None]


def blocks_of(X: Any, height: int = BLOCK) -> list[Any]:
    """The rows of a table in blocks."""
    return list(open_table(X).grid(height).blocks)


def with_layers(X: Any, sizes: tuple[int, ...], rng: np.random.Generator) -> NoisyOrParams:
    """A network with nothing learned."""
    layers, means = [], np.asarray(X).mean(axis=0)
    for size in sizes:
        layers.append(first_strengths(means, size, LEAK, FIRST, rng))
        means = np.full(size, PRIOR)
    return NoisyOrParams.of(layers, means, (len(sizes) - 1.0, 0.0, 0.0, 0.0))


def one_more(params: NoisyOrParams, size: int, rng: np.random.Generator) -> NoisyOrParams:
    """The network with a new layer on top."""
    above = first_strengths(params.priors, size, LEAK, FIRST, rng)
    return NoisyOrParams.of([*params.layers, above], np.full(size, PRIOR), (len(params.layers), 0.0, 0.0, 0.0))


def epoch(
    params: NoisyOrParams, blocks: list[Any], first: int, sweeps: int, rng: np.random.Generator, rate: float = RATE
) -> tuple[NoisyOrParams, float]:
    """One epoch in which the layers from `first` on learn; also how often a unit of them changed in the last sweep."""
    changed = []
    for number in rng.permutation(len(blocks)):
        block, network = blocks[number], Network.of(params)
        data = Ones.of_block(network.layers[0], block)
        states, active = network.drawn(block.n_rows, rng), np.ones(block.n_rows, bool)
        for _ in range(sweeps):
            before = [s.copy() for s in states]
            last = sweep(network, data, states, rng, active)
            active &= last.flips >= STOP
            if not active.any():
                break
        changed.append(np.mean([np.mean(a != b) for a, b in zip(before[first:], states[first:], strict=True)]))
        stats = count(params, network, last, states, block)
        layers = list(params.layers)
        for layer, (fired, tried) in enumerate(zip(*by_layer(params, stats), strict=True)):
            if layer >= first:
                leak = layers[layer][-1]
                layers[layer] = best_strengths(fired, tried, SHAPE, rate)
                layers[layer][-1] = leak
        params = NoisyOrParams.of(layers, params.priors, params.clock)
    return params, float(np.mean(changed))


def learn(
    X: Any,
    sizes: tuple[int, ...],
    *,
    schedule: str = "layer by layer",
    sweeps: int = SWEEPS,
    rate: float = RATE,
    epochs: int = EPOCHS,
    seed: int = 0,
    watch: Watch | None = None,
) -> NoisyOrParams:
    """Learn a network; `watch` sees the epoch and the network before the first epoch and after each.

    Schedules: "layer by layer", ten epochs each; "by stability", the next layer when the units of the last no longer
    change less; "at once", all weights from the first epoch on, as many epochs as layer by layer.
    """
    rng, blocks = np.random.default_rng([seed, 1]), blocks_of(X)
    at_once = schedule == "at once"
    params = with_layers(X, sizes if at_once else sizes[:1], rng)
    done = 0
    if watch is not None:
        watch(0, params)
    for layer in range(1 if at_once else len(sizes)):
        if layer:
            params = one_more(params, sizes[layer], rng)
        least, waited, here = np.inf, 0, 0
        while True:
            params, changed = epoch(params, blocks, layer, sweeps, rng, rate)
            done, here = done + 1, here + 1
            if watch is not None:
                watch(done, params)
            waited = 0 if changed < SETTLED * least else waited + 1
            least = min(least, changed)
            if schedule == "by stability":
                over = waited >= PATIENCE or here >= LONGEST
            else:
                over = here >= epochs * (len(sizes) if at_once else 1)
            if over:
                break
    return params
