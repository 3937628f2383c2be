"""Does `select` find the number of classes and of dimensions? Mixtures of 3, 5 and 10 classes, maps of 1, 2 and 4."""

import time
from typing import Any

import simulate

from hiddenbits import BernoulliMixture, LogisticPCA, evaluate

SEEDS = {"full": 5, "quick": 1}
N_ROWS = 5000
CLASSES = {3: (1, 2, 3, 4, 5, 6), 5: (3, 4, 5, 6, 7, 8), 10: (8, 9, 10, 11, 12)}
DIMENSIONS = {1: (1, 2, 3), 2: (1, 2, 3, 4), 4: (2, 3, 4, 5, 6)}


def one(kind: str, truth: int, seed: int, n_rows: int = N_ROWS) -> dict[str, Any]:
    begun = time.perf_counter()
    if kind == "classes":
        X = simulate.mixture(n_rows, seed, truth, 24)
        found = evaluate.select(BernoulliMixture(random_state=seed), X, CLASSES[truth], cv=0.3, seed=seed)
    else:
        X = simulate.logistic(n_rows, seed, truth, 24)
        found = evaluate.select(LogisticPCA(random_state=seed, tol=1e-4), X, DIMENSIONS[truth], cv=0.3, seed=seed)
    return {
        "hidden": kind,
        "truth": truth,
        "seed": seed,
        "size": found.size,
        "best": next(f.size for f in found.figures if f.difference == 0.0),
        "seconds": time.perf_counter() - begun,
    }


def measure(*, full: bool) -> list[dict[str, Any]]:
    truths = [*(("classes", k) for k in CLASSES), *(("dimensions", q) for q in DIMENSIONS)]
    found = []
    for kind, truth in truths if full else [("classes", 3), ("dimensions", 1)]:
        for seed in range(SEEDS["full" if full else "quick"]):
            found.append(one(kind, truth, seed, N_ROWS if full else N_ROWS // 3))
            last = found[-1]
            print(f"{truth} {kind}, seed {seed}: {last['size']} ({last['seconds']:.0f} s)", flush=True)
    return found
