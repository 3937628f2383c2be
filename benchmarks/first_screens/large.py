"""Seconds of a report about large tables: 1,000,000 x 50 and 3,000 x 20,000 bits.

    python -m benchmarks.first_screens.large [tall wide]

Rows are simulated from eight kinds with Beta(1, 3) profiles, seed 0; 5% of the cells of the tall table are blank.
"""

import sys
import time

import numpy as np
from benchmarks.record import record

from hiddenbits import report

SHAPES = {"tall": (1_000_000, 50), "wide": (3_000, 20_000)}


def table(name: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    n, d = SHAPES[name]
    profiles = rng.beta(1.0, 3.0, (8, d)).astype(np.float32)
    X = (rng.random((n, d), np.float32) < profiles[rng.integers(0, 8, n)]).astype(np.float32)
    if name == "tall":
        X[rng.random((n, d), np.float32) < 0.05] = np.nan
    return X


def main() -> None:
    found = {}
    for name in sys.argv[1:] or SHAPES:
        X = table(name)
        start, cpu = time.perf_counter(), time.process_time()
        made = report(X, title=name)
        found[name] = {
            "shape": list(SHAPES[name]),
            "seconds": round(time.perf_counter() - start, 1),
            "processor_seconds": round(time.process_time() - cpu, 1),
            "opening": made.to_markdown().splitlines()[:6],
        }
        print(name, found[name], flush=True)
    record("first_screens/large", found, seeds=[0])


if __name__ == "__main__":
    main()
