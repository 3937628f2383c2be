"""Why a bit is on: the share of each cause in it.

Think of every cause that is on as a source of events for bit j, w_ij of them on average, any one of which switches
the bit on. Given that it is on, the first event came from cause i with probability w_ij S_i / u_j. These shares add up
to 1, the leak's included; what is returned is their mean over the states of the causes given the row.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.families.noisy_or.enumeration import Enumerated
from hiddenbits.families.noisy_or.gibbs import Network, Ones, States, Sweep
from hiddenbits.families.noisy_or.posterior_draws import CHAINS, weighted_draws

Reasons = tuple[Rows, AnyArray, Floats]


def exact_reasons(tables: Enumerated, posterior: Floats, block: Block) -> Reasons:
    """Return row and column of every one, and the shares of the causes in it, the leak's last: (ones, K + 1).

    `posterior` is P(s | row) over the states of the lowest layer, (rows, 2^K).
    """
    indptr, indices = block.x.ones()
    rows = np.repeat(np.arange(block.n_rows), np.diff(indptr))
    w, states = tables.params.weights[0], tables.states[0]
    shares = np.empty((len(rows), len(w)))
    for i in range(len(w)):  # a loop over causes: all at once would be (rows, columns, causes)
        mean = posterior @ (states[:, i : i + 1] * w[i] / tables.inputs[0])
        shares[:, i] = mean[rows, indices]
    return block.start + rows, indices, shares


def sampled_reasons(network: Network, block: Block, rng: np.random.Generator) -> Reasons:
    """Return the same as `exact_reasons`, from weighted chains of Gibbs sweeps."""
    layer = network.layers[0]
    ones = Ones.of_block(layer, block)
    w = layer.w[:, ones.indices].T
    found: list[Floats] = []

    def look(states: list[States], _: Sweep) -> None:
        for some in states[0].reshape(CHAINS, block.n_rows, -1):
            here = w * np.column_stack([some, np.ones(block.n_rows, np.uint8)])[ones.rows]
            found.append(here / here.sum(axis=1, keepdims=True))

    shares = weighted_draws(network, block, rng, look, kept=1)
    mean = sum(share[ones.rows, None] * each for share, each in zip(shares, found, strict=True))
    return block.start + ones.rows, ones.indices, np.asarray(mean)
