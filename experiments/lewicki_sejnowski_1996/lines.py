"""The high-order lines problem: are the ten lines found, and the four sets above them?"""

import time
from functools import lru_cache
from typing import Any

import numpy as np
from common import Run

import hiddenbits
from hiddenbits import NoisyOrNetwork
from hiddenbits.datasets import SimulatedLines, simulate_lines

SEEDS = {"data and start": "100 to 139 (quick: 100 to 102)"}
N_ROWS = 2000


@lru_cache(maxsize=1)
def lines_network() -> tuple[NoisyOrNetwork, SimulatedLines]:
    """Our network of the first seed and its rows, for pictures and for what is asked of a network that has learned."""
    data = simulate_lines(N_ROWS, random_state=100)
    return NoisyOrNetwork((10, 5), random_state=100).fit(data.X), data


def judged(model: NoisyOrNetwork, truth: SimulatedLines) -> tuple[bool, bool]:
    """Whether strengths cut at one half are exactly the ten lines, and whether the four sets are among those above."""
    hard = (model.strengths_ > 0.5).astype(np.uint8)
    which = [[k for k in range(10) if np.array_equal(truth.patterns[k], row)] for row in hard]
    if sorted(k for found in which for k in found) != list(range(10)):
        return False, False
    sets = [frozenset(which[j][0] for j in np.flatnonzero(row > 0.5)) for row in model.layers_[1]]
    return True, {frozenset(members) for members in truth.sets} <= set(sets)


def runs(make: Any, seeds: range) -> dict[str, Any]:
    """Fit to the data of each seed; return what was found, how well it explains the rows, and how long it took."""
    lines, sets, heights, seconds = [], [], [], []
    for seed in seeds:
        truth = simulate_lines(N_ROWS, random_state=seed)
        begin = time.process_time()
        with hiddenbits.run_on(n_jobs=2):
            model = make(seed).fit(truth.X)
        seconds.append(time.process_time() - begin)
        found = judged(model, truth)
        lines.append(found[0])
        sets.append(found[0] and found[1])
        heights.append(float(model.score(truth.X)))
    return {
        "runs": len(seeds),
        "lines": int(np.sum(lines)),
        "both": int(np.sum(sets)),
        "log-likelihood a row": [float(np.min(heights)), float(np.median(heights)), float(np.max(heights))],
        "seconds": float(np.median(seconds)),
        "failed seeds": [seed for seed, good in zip(seeds, sets, strict=True) if not good],
    }


def measure(run: Run) -> dict[str, Any]:
    seeds = range(100, 140) if run.full else range(100, 103)
    return {
        "paper": runs(lambda seed: NoisyOrNetwork.paper((10, 5), cause_prior=0.3, random_state=seed), seeds),
        "ours": runs(lambda seed: NoisyOrNetwork((10, 5), random_state=seed), seeds),
    }
