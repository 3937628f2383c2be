"""`evaluate.compare` on long tables of 20 columns: how long it takes, and whether a sample changes the verdict.

    python -m benchmarks.compare.long_tables --quick    # 100,000 rows of one kind, no comparison of all rows
    python -m benchmarks.compare.long_tables --full     # 1,000,000 rows of five kinds; then 160,000 of each, sampled and not

By default `compare` draws 40,000 rows of a longer table; `cv=0.25` uses all of them. Rows are simulated from five models,
each with other parameters. Processor seconds, one thread.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, record

from hiddenbits import evaluate
from hiddenbits.datasets import simulate_mixture

COLUMNS, LONG, MIDDLE = 20, 1_000_000, 160_000
Draw = Callable[[np.random.Generator, int], Any]


def independent(rng: np.random.Generator, n: int) -> Any:
    return rng.random((n, COLUMNS)) < rng.uniform(0.1, 0.9, COLUMNS)


def classes(rng: np.random.Generator, n: int) -> Any:
    return simulate_mixture(n, COLUMNS, 4, random_state=int(rng.integers(100))).X


def plane(rng: np.random.Generator, n: int) -> Any:
    logits = rng.standard_normal((n, 2)) @ rng.standard_normal((2, COLUMNS)) + rng.uniform(-1.0, 1.0, COLUMNS)
    return rng.random((n, COLUMNS)) < 1.0 / (1.0 + np.exp(-logits))


def causes(rng: np.random.Generator, n: int) -> Any:
    strength = np.where(rng.random((4, COLUMNS)) < 0.3, 0.8, 0.0)
    on = rng.random((n, 4)) < 0.25
    return rng.random((n, COLUMNS)) > 0.97 * np.exp(on @ np.log1p(-strength))


def chain(rng: np.random.Generator, n: int) -> Any:
    return np.cumsum(rng.random((n, COLUMNS)) < 0.2, axis=1) % 2 == 1


KINDS: dict[str, Draw] = {
    "independent": independent,
    "4 classes": classes,
    "a plane": plane,
    "4 causes": causes,
    "a chain": chain,
}


def verdict(X: Any, cv: float | None = None) -> dict[str, Any]:
    """Return which family and size comes first, and what that took."""
    begin = time.process_time()
    found = evaluate.compare(X, cv=cv, measures=(), progress=False)
    return {"best": found.best, "size": found.size, "seconds": round(time.process_time() - begin, 1)}


def main() -> None:
    if asked_quick(__doc__ or ""):
        print(verdict(classes(np.random.default_rng(0), 100_000).astype(np.uint8)))
        return
    found: dict[str, Any] = {}
    for seed, (name, draw) in enumerate(KINDS.items()):
        X = np.asarray(draw(np.random.default_rng(seed), LONG), np.uint8)
        found[name] = {"1,000,000 rows": verdict(X)}
        some = X[:MIDDLE]
        found[name] |= {"160,000 rows, sampled": verdict(some), "160,000 rows, all": verdict(some, 0.25)}
        print(name, found[name], flush=True)
        record("compare/long_tables", found, seeds=list(range(seed + 1)), aloud=False)


if __name__ == "__main__":
    main()
