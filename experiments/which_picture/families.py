"""Does `compare` name the family that made a table? Six truths, each drawn anew for every seed."""

import time
from typing import Any

import numpy as np
import simulate

from hiddenbits import evaluate

TWINS = {"LogisticPCA": "ClippedPCA", "ClippedPCA": "LogisticPCA"}
N_TRAIN, N_TEST = 4000, 5000
SEEDS = {"full": 5, "quick": 1}
SMALL = {"BernoulliMixture": [3, 5, 8], "NoisyOrNetwork": [3, 5]}


def one(truth: str, seed: int, *, full: bool) -> dict[str, Any]:
    """Compare on one table; say who came first, and how far behind the truth is."""
    begun = time.perf_counter()
    n_train, n_test = (N_TRAIN, N_TEST) if full else (N_TRAIN // 2, N_TEST // 5)
    X = simulate.FAMILIES[truth](n_train + n_test, seed)
    split = (np.arange(n_train), np.arange(n_train, n_train + n_test))
    models = list(simulate.FAMILIES) if full else list(SMALL)
    found = evaluate.compare(X, models, cv=[split], sizes=None if full else SMALL, measures=(), seed=seed)
    entries = {entry.model: entry for entry in found.entries}
    accepted = [entries[name] for name in (truth, TWINS.get(truth, truth)) if name in entries]
    own = entries[truth]
    return {
        "truth": truth,
        "seed": seed,
        "first": found.best,
        "right": any(-e.difference <= e.difference_error or e.model == found.best for e in accepted),
        "first or even": found.ties(1.0),
        "behind": -own.difference,
        "behind_error": own.difference_error,
        "sizes": {e.model: e.size for e in found.entries},
        "log_likelihood": {e.model: e.log_likelihood for e in found.entries},
        "seconds": time.perf_counter() - begun,
    }


def measure(*, full: bool) -> list[dict[str, Any]]:
    truths = list(simulate.FAMILIES) if full else list(SMALL)
    seeds = range(SEEDS["full" if full else "quick"])
    found = []
    for truth in truths:
        for seed in seeds:
            found.append(one(truth, seed, full=full))
            last = found[-1]
            words = "right" if last["right"] else "WRONG"
            print(f"{truth}, seed {seed}: {words}, {last['first']} first ({last['seconds']:.0f} s)", flush=True)
    return found


def confusion(found: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how often each family came first, by truth."""
    names = list(dict.fromkeys(case["truth"] for case in found))
    firsts = list(dict.fromkeys([*names, *(case["first"] for case in found)]))
    return {
        truth: {first: sum(c["truth"] == truth and c["first"] == first for c in found) for first in firsts}
        for truth in names
    }
