"""Does the prior of the weights control how complex a network becomes?"""

from typing import Any

import numpy as np
from learning import RATE, learn
from lines import judged
from sampling import as_model

from hiddenbits.datasets import simulate_lines

SEEDS = {"data and start": "100 to 111 (quick: 100)"}
RATES = (1e-9, RATE, 10 * RATE, 100 * RATE)
SEEN = 0.01  # a strength above this is a connection


def measure(*, full: bool) -> dict[str, Any]:
    seeds, n_rows = (range(100, 112), 2000) if full else (range(100, 101), 400)
    found = {}
    for rate in RATES if full else RATES[1:2]:
        connections, both = [], 0
        for seed in seeds:
            data = simulate_lines(n_rows, seed=seed)
            params = learn(data.X, (10, 5), rate=rate, seed=seed)
            lines, sets = judged(as_model(params), data)
            both += bool(lines and sets)
            connections.append(sum(int((f[:-1] > SEEN).sum()) for f in params.layers))
        found[f"{rate:g}"] = {"runs": len(seeds), "both": both, "connections": float(np.mean(connections))}
    return found
