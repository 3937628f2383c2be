"""Enumeration, Gibbs sampling and truncated posteriors of noisy-OR networks, on the same rows: how good, how long.

    python -m benchmarks.noisy_or.methods --full | --quick

One start each, two threads. Held-out rows are scored exactly where all states of a layer can be enumerated, otherwise by
annealed importance sampling, whose standard error is given. --quick takes every tenth row. News has one
seed: truncated fits of it take minutes.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.noisy_or.lists import words
from benchmarks.record import asked_quick, record

import hiddenbits
from hiddenbits import NoisyOrNetwork
from hiddenbits.datasets import load_debd, simulate_lines, simulate_shifter

SEEDS, HELD_OUT = (0, 1, 2), 300
Rows = tuple[Any, Any]


def lines(seed: int) -> Rows:
    return simulate_lines(2000, seed=seed).X, simulate_lines(2000, seed=1000 + seed).X


def shifter(seed: int) -> Rows:
    return simulate_shifter(2000, seed=seed).X, simulate_shifter(HELD_OUT, seed=1000 + seed).X


def nltcs(_: int) -> Rows:
    splits = load_debd("nltcs")
    return splits.train, splits.test


def news(seed: int) -> Rows:
    X = words()[0]
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[2000:]], X[order[:HELD_OUT]]


def settings(method: str, seed: int) -> dict[str, Any]:
    more = {} if method == "gibbs" else {"tol": 1e-4, "max_iter": 100}
    return {"method": method, "n_init": 1, "random_state": seed, **more}


CASES: list[tuple[str, Callable[[int], Rows], int, tuple[str, ...]]] = [
    ("nltcs", nltcs, 4, ("exact", "gibbs", "truncated")),
    ("nltcs", nltcs, 8, ("exact", "gibbs", "truncated")),
    ("lines", lines, 10, ("exact", "gibbs", "truncated")),
    ("shifter", shifter, 16, ("gibbs", "truncated")),
    ("news100", news, 40, ("gibbs", "truncated")),
]


def measured(rows: Callable[[int], Rows], causes: int, method: str, seeds: tuple[int, ...], quick: bool) -> Any:
    """Return means over seeds: held-out and training likelihood a row, seconds, passes."""
    found = []
    for seed in seeds:
        train, test = (part[::10] if quick else part for part in rows(seed))
        model = NoisyOrNetwork(causes, **settings(method, seed))
        begun = time.perf_counter()
        with hiddenbits.run_on(n_jobs=2):
            model.fit(train)
            seconds = time.perf_counter() - begun
            scores = model.score_with_error(test)
        error = float(np.sqrt(np.sum(scores.errors**2))) / len(scores.errors)
        found.append((float(scores.log_likelihood.mean()), error, seconds, model.n_iter_))
    values, errors, seconds_each, passes = np.array(found).T
    return {
        "held_out": round(float(values.mean()), 3),
        "held_out_each": np.round(values, 3).tolist(),
        "error_of_the_estimate": round(float(errors.mean()), 4),
        "seconds": round(float(np.median(seconds_each)), 2),
        "passes": int(np.median(passes)),
    }


def main() -> None:
    quick = asked_quick(__doc__ or "")
    warnings.simplefilter("ignore")  # some fits stop at the last pass allowed, and say so
    seeds = SEEDS[:1] if quick else SEEDS
    figures = []
    for name, rows, causes, methods in CASES:
        ways = {}
        for method in methods:
            ways[method] = measured(rows, causes, method, seeds[:1] if rows is news else seeds, quick)
            print(name, causes, method, ways[method], flush=True)
        shape = rows(0)[0].shape
        figures.append({"table": name, "rows": shape[0], "columns": shape[1], "causes": causes, "ways": ways})
    record("noisy_or/methods_quick" if quick else "noisy_or/methods", figures, seeds=list(seeds), packages=("numba",))


if __name__ == "__main__":
    main()
