"""Are overly strong priors learned where all weights learn at once, and is that why units of the lower layer die?

A prior of the lower layer is P(on) as the layer above says. At once it begins lower than layer by layer, and then
moves; layer by layer it is held. So there are two questions: where it goes, and what a P(on) does that is held as low.
"""

from typing import Any

import numpy as np
from learning import FIRST, PRIOR, learn
from lines import judged
from sampling import as_model
from schedules import DEAD

from hiddenbits.datasets import simulate_lines

SEEDS = {"at once": "100 to 107 (quick: 100)", "held": "100 to 119 (quick: 100)"}
SIZES = (10, 5)
FIRST_ON = 1.0 - (1.0 - PRIOR * np.mean(FIRST)) ** SIZES[1]  # of a lower unit at once, before anything is learned
STRONG = 0.01  # P(on) below: the layer above has switched the unit off


def measure(*, full: bool) -> dict[str, Any]:
    n_rows, runs, unused, used = 2000 if full else 400, 8 if full else 1, [], []
    for seed in range(100, 100 + runs):
        params = learn(simulate_lines(n_rows, seed=seed).X, SIZES, schedule="at once", seed=seed)
        dead = params.layers[0][:-1].max(axis=1) < DEAD
        unused.extend(params.activity[0][dead])
        used.extend(params.activity[0][~dead])
    held: dict[str, int] = {"runs": 20 if full else 1, "lines": 0, "both": 0, "runs with a dead unit": 0}
    for seed in range(100, 100 + held["runs"]):
        data = simulate_lines(n_rows, seed=seed)
        params = learn(data.X, SIZES, first_on=float(FIRST_ON), seed=seed)
        lines, sets = judged(as_model(params), data)
        held["lines"] += lines
        held["both"] += lines and sets
        held["runs with a dead unit"] += bool((params.layers[0][:-1].max(axis=1) < DEAD).any())
    return {
        "first P(on)": float(FIRST_ON),
        "strong": STRONG,
        "at once": {
            "runs": runs,
            "unused units": len(unused),
            "of them switched off": int(np.sum(np.array(unused) < STRONG)),
            "used units switched off": int(np.sum(np.array(used) < STRONG)),
        },
        "layer by layer, held there": held,
    }
