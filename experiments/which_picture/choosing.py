"""How often does `compare` name something where there is nothing, and true classes where there are some?

Tables of noise (independent bits with random shares of ones, of random sizes), and of three and five true classes. The
rule was settled on tables with seeds from 1,000 on; those that are counted here begin at 0.
"""

import time
from typing import Any

import numpy as np
import simulate

from hiddenbits import evaluate

ROWS, COLUMNS = (200, 300, 500, 1000), (8, 12, 20)
TABLES = {"full": {"noise": 40, "3 classes": 10, "5 classes": 10}, "quick": {"noise": 2, "3 classes": 1}}
SEEDS = {"noise": 40, "classes": 10}
QUICK = {"BernoulliMixture": [2, 3, 4], "LogisticPCA": [1, 2], "ClippedPCA": [1, 2]}


def table(kind: str, seed: int) -> np.ndarray:
    """Return a table of noise, or of so many classes, 500 x 12."""
    if kind == "noise":
        rng = np.random.default_rng([seed, 7])
        shape = int(rng.choice(ROWS)), int(rng.choice(COLUMNS))
        return (rng.random(shape) < rng.uniform(0.1, 0.9, shape[1])).astype(np.uint8)
    return simulate.mixture(500, seed, int(kind.split()[0]), 12)


def one(kind: str, seed: int, *, full: bool) -> dict[str, Any]:
    """Compare on one table: what is named, and what had the highest likelihood."""
    begun, X = time.process_time(), table(kind, seed)
    models, sizes = (None, None) if full else (["IndependentBits", *QUICK], QUICK)
    found = evaluate.compare(X, models, sizes=sizes, measures=(), seed=seed)
    return {
        "truth": kind,
        "seed": seed,
        "shape": list(X.shape),
        "named": found.best,
        "size": found.size,
        "even": found.ties(),
        "highest": found.entries[0].model,
        "right": found.best == ("IndependentBits" if kind == "noise" else "BernoulliMixture"),
        "processor seconds": time.process_time() - begun,
    }


def measure(*, full: bool) -> list[dict[str, Any]]:
    found = []
    for kind, number in TABLES["full" if full else "quick"].items():
        for seed in range(number):
            found.append(one(kind, seed, full=full))
            last = found[-1]
            words = "right" if last["right"] else "WRONG"
            print(f"{kind}, seed {seed}: {words}, {last['named']}({last['size']}), even {last['even']}", flush=True)
    return found


def counts(found: list[dict[str, Any]]) -> dict[str, tuple[int, int, int]]:
    """Return by truth: tables that were named right, those whose highest likelihood was, and all."""
    kinds = dict.fromkeys(case["truth"] for case in found)
    right = {kind: "IndependentBits" if kind == "noise" else "BernoulliMixture" for kind in kinds}
    cases = {kind: [case for case in found if case["truth"] == kind] for kind in kinds}
    return {
        kind: (sum(c["right"] for c in some), sum(c["highest"] == right[kind] for c in some), len(some))
        for kind, some in cases.items()
    }
