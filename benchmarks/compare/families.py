"""Does `evaluate.compare` name the family that made a table? Six truths, each simulated anew for every seed.

    python -m benchmarks.compare.families --quick    # three families on smaller tables, one seed
    python -m benchmarks.compare.families --full     # six families, five seeds; about a quarter of an hour

16 columns, 4,000 rows to fit and to choose sizes, 5,000 to judge. docs/compare.md shows the matrix (page.py).
"""

import time
from typing import Any

import numpy as np
from benchmarks.compare.simulate import FAMILIES
from benchmarks.record import asked_quick, record

from hiddenbits import evaluate

TWINS = {"LogisticPCA": "ClippedPCA", "ClippedPCA": "LogisticPCA"}  # two links between the same dimensions and bits
N_TRAIN, N_TEST, SEEDS = 4000, 5000, 5
SMALL = {"LatentClassAnalysis": [3, 5, 8], "NoisyOrNetwork": [3, 5]}


def one(truth: str, seed: int, *, full: bool) -> dict[str, Any]:
    """Compare on one table; return which family came first, and how far behind the true one is."""
    begin = time.perf_counter()
    n_train, n_test = (N_TRAIN, N_TEST) if full else (N_TRAIN // 2, N_TEST // 5)
    X = FAMILIES[truth](n_train + n_test, seed)
    split = (np.arange(n_train), np.arange(n_train, n_train + n_test))
    models, sizes = (list(FAMILIES), None) if full else (list(SMALL), SMALL)
    comparison = evaluate.compare(X, models, cv=[split], sizes=sizes, measures=(), random_state=seed)
    entries = {entry.model: entry for entry in comparison.entries}
    accepted = [entries[name] for name in (truth, TWINS.get(truth, truth)) if name in entries]
    own = entries[truth]
    return {
        "truth": truth,
        "seed": seed,
        "first": comparison.best,
        "right": any(-e.difference <= e.difference_error or e.model == comparison.best for e in accepted),
        "first or even": comparison.ties(1.0),
        "behind": -own.difference,
        "behind_error": own.difference_error,
        "sizes": {e.model: e.size for e in comparison.entries},
        "log_likelihood": {e.model: e.log_likelihood for e in comparison.entries},
        "seconds": time.perf_counter() - begin,
    }


def main() -> None:
    full = not asked_quick(__doc__ or "")
    cases = []
    for truth in FAMILIES if full else SMALL:
        for seed in range(SEEDS if full else 1):
            cases.append(one(truth, seed, full=full))
            right = "right" if cases[-1]["right"] else "WRONG"
            print(f"{truth}, seed {seed}: {right}, {cases[-1]['first']} first", flush=True)
    if full:
        record("compare/families", cases, seeds=list(range(SEEDS)), aloud=False)


if __name__ == "__main__":
    main()
