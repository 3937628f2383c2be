"""A real table small enough for the truth: nltcs (16 bits) with six causes, exact likelihoods."""

import time
from typing import Any

from common import Run, have_data

import hiddenbits
from hiddenbits import LatentClassAnalysis, NoisyOrNetwork, datasets

SEEDS = {"start": 0}


def measure(_: Run) -> dict[str, Any] | None:
    if not have_data("nltcs"):
        return None
    splits = datasets.load_debd("nltcs")
    found = {}
    models = {
        "NoisyOrNetwork(6)": NoisyOrNetwork(6, random_state=0),
        "NoisyOrNetwork(6, method='gibbs')": NoisyOrNetwork(6, method="gibbs", n_init=1, random_state=0),
        "LatentClassAnalysis(6)": LatentClassAnalysis(6, random_state=0),
    }
    for name, model in models.items():
        begin = time.perf_counter()
        with hiddenbits.run_on(n_jobs=2):
            model.fit(splits.train)
        found[name] = {
            "seconds": time.perf_counter() - begin,
            "train": float(model.score(splits.train)),
            "test": float(model.score(splits.test)),
        }
    return found
