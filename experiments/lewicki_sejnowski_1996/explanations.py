"""What sections 2 to 4 say of explanations.

How many terms the sum of eq 4 needs, how hard the best one is to find, and how eq 9 divides a one among its causes. The
network of Figure 2 and fresh images, all states enumerated.
"""

from typing import Any

import numpy as np
from feedback import HIDDEN, SWEEPS
from learning import blocks_of
from lines import lines_network
from numpy.typing import NDArray

from hiddenbits.datasets import simulate_lines
from hiddenbits.families.noisy_or.gibbs import Network, Ones, sweep
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams

SEEDS = {"training rows and start": 100, "other rows, hidden pixels, chains": 1100}
ROWS = 2000
STRENGTHS = (0.1, 0.9)

Floats = NDArray[np.float64]


def visited(params: NoisyOrParams, X: Floats, r: Floats, rng: np.random.Generator) -> Floats:
    """The share of P(x) that the states of the lower layer have in which one of 15 sweeps of a chain ends."""
    network, block = Network.of(params), blocks_of(X, len(X))[0]
    data, seen = Ones.of_block(network.layers[0], block), np.zeros(r.shape, bool)
    states = network.drawn(block.n_rows, rng)
    places = 1 << np.arange(params.n_causes[0])  # the order of `states_of`
    for _ in range(SWEEPS):
        sweep(network, data, states, rng)
        seen[np.arange(len(X)), states[0] @ places] = True
    return np.asarray((r * seen).sum(axis=1))


def climbed(r: Floats) -> Any:
    """Where one ends that begins without a cause and changes the best unit of the lower layer while that helps."""
    rows, at = np.arange(len(r)), np.zeros(len(r), int)
    flips = 1 << np.arange(int(r.shape[1]).bit_length() - 1)
    while True:
        near = at[:, None] ^ flips
        best = near[rows, r[rows[:, None], near].argmax(axis=1)]
        better = r[rows, best] > r[rows, at]
        if not better.any():
            return at
        at = np.where(better, best, at)


def measure(*, full: bool) -> dict[str, Any]:
    params = lines_network()[0].params_
    model, other = NoisyOr(list(params.n_causes)), simulate_lines(ROWS if full else 100, seed=1100).X
    found: dict[str, Any] = {"rows": len(other), "sweeps": SWEEPS, "hidden": {}}
    for share in HIDDEN:
        rng = np.random.default_rng([1100, 1])
        X = np.where(rng.random(other.shape) < share, np.nan, other)
        r = model._posterior(model.prepare(params), blocks_of(X, len(X))[0], None)[0]
        found["hidden"][str(share)] = {
            "nats missing": float(np.mean(-np.log(visited(params, X, r, rng)))),
            "one term, nats missing": float(np.mean(-np.log(r.max(axis=1)))),
            "climbing finds the best": float(np.mean(climbed(r) == r.argmax(axis=1))),
        }
    found["share of a one"] = {  # f / g of a cause, of two and of three such causes that are on
        str(f): [f / (1.0 - (1.0 - f) ** n) for n in (1, 2, 3)] for f in STRENGTHS
    }
    return found
