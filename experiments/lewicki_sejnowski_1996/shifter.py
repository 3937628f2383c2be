"""The shifter problem: are the sixteen causes found, and which way each row was shifted?"""

import time
from typing import Any

import numpy as np
from common import Run

import hiddenbits
from hiddenbits import NoisyOrNetwork
from hiddenbits.datasets import simulate_shifter

SEEDS = {"data and start": "100 to 111 (quick: 100)"}
N_ROWS = 2000


def runs(make: Any, seeds: range) -> dict[str, Any]:
    causes, accuracies, seconds = [], [], []
    for seed in seeds:
        truth = simulate_shifter(N_ROWS, random_state=seed)
        begin = time.process_time()
        with hiddenbits.run_on(n_jobs=2):
            model = make(seed).fit(truth.X)
            seconds.append(time.process_time() - begin)
            top = model.posterior_mode(truth.X)[:, model.strengths_.shape[0] :]
        found = {tuple(row) for row in (model.strengths_ > 0.5).astype(int)}
        causes.append(sum(tuple(row) in found for row in truth.patterns))
        right = float(np.mean((top[:, 0] > top[:, 1]) == (truth.directions == 1)))
        accuracies.append(max(right, 1.0 - right))
    good = [c == 16 and a >= 0.995 for c, a in zip(causes, accuracies, strict=True)]
    return {
        "runs": len(seeds),
        "all causes": int(np.sum(np.array(causes) == 16)),
        "success": int(np.sum(good)),
        "accuracy": [float(np.min(accuracies)), float(np.median(accuracies)), float(np.max(accuracies))],
        "seconds": float(np.median(seconds)),
        "failed seeds": [seed for seed, well in zip(seeds, good, strict=True) if not well],
    }


def measure(run: Run) -> dict[str, Any]:
    seeds = range(100, 112) if run.full else range(100, 101)
    return {
        "paper": runs(lambda seed: NoisyOrNetwork.paper((20, 2), cause_prior=0.15, random_state=seed), seeds),
        "ours": runs(lambda seed: NoisyOrNetwork((16, 2), random_state=seed), seeds),
    }
