"""Logistic PCA by passes over the ones against passes over all cells: held-out likelihood, time, memory.

    python -m benchmarks.logistic.by_ones costs          seconds a pass, against a mixture; empty columns doubled
    python -m benchmarks.logistic.by_ones news100 2      both ways of one table and number of dimensions
    python -m benchmarks.logistic.by_ones retail 2       the whole fit to retail.dat, in a process of its own
    python -m benchmarks.logistic.by_ones retail500 2    both ways: a tenth of its rows, the 500 commonest columns

Each call records one file. Seconds are of the processor, medians of rounds in turn, so that other work on the machine
counts little; wall-clock seconds stand next to them where a fit is timed.
"""

import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.logistic.tables import SEED, split, tables
from benchmarks.record import peak_memory_mb, record
from scipy import sparse

import hiddenbits
from hiddenbits import BernoulliMixture, IndependentBits, LogisticPCA, Variational
from hiddenbits.datasets import data_folder

ROUNDS, FEW, MANY = 3, 14, 24  # passes of the two timed fits: the difference is passes alone, without the start
CLASSES, HELD_OUT = 20, 200


def retail() -> Any:
    table = hiddenbits.open_table(data_folder() / "baskets" / "retail.dat.gz")
    indptr, indices = table.source.read(0, table.shape[0])[0].ones()
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=table.shape)


def retail500() -> tuple[Any, Any]:
    X = retail()
    X = X[np.random.default_rng(SEED).permutation(X.shape[0])[: X.shape[0] // 10]]
    commonest = np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")[:500])
    return split(X[:, commonest].toarray().astype(np.uint8))


def timed(model: Any, X: Any) -> tuple[Any, float, float]:
    begun, at = time.process_time(), time.perf_counter()
    model.fit(X)
    return model, time.process_time() - begun, time.perf_counter() - at


def both_ways(train: Any, test: Any, q: int) -> dict[str, object]:
    independent = IndependentBits().fit(train).score(test)
    figures: dict[str, object] = {
        "rows": train.shape[0],
        "columns": train.shape[1],
        "independent": round(independent, 4),
    }
    held = {}
    for cost in ("cells", "ones"):
        model, seconds, wall = timed(LogisticPCA(q, method=Variational(cost=cost), random_state=SEED), train)
        held[cost] = model.score(test)
        figures[cost] = {
            "held_out": round(held[cost], 4),
            "processor_seconds": round(seconds, 2),
            "wall_seconds": round(wall, 2),
            "passes": model.n_iter_,
            "stop": model.stop_reason_,
        }
    figures["share_of_the_gain_lost"] = round((held["cells"] - held["ones"]) / (held["cells"] - independent), 4)
    figures["by_default"] = LogisticPCA(q, max_iter=1, random_state=SEED).fit(train).cost_
    return figures


def pass_seconds(make: Any, X: Any) -> float:
    """Processor seconds a pass: a long fit less a short one."""
    few, many = (timed(make(passes), X) for passes in (FEW, MANY))
    return (many[1] - few[1]) / max(many[0].n_iter_ - few[0].n_iter_, 1)


def by_ones(q: int) -> Any:
    return lambda n: LogisticPCA(q, method=Variational(cost="ones"), max_iter=n, tol=0.0, random_state=SEED)


def mixture(n: int) -> BernoulliMixture:
    return BernoulliMixture(CLASSES, n_init=1, max_iter=n, tol=0.0, random_state=SEED)


def simulated(n: int, d: int) -> Any:
    """Return n x d bits, 1% ones, whose logits move with two hidden numbers."""
    rng = np.random.default_rng(SEED)
    W, b = rng.standard_normal((d, 2)) * 0.7, -4.9 + 0.3 * rng.standard_normal(d)
    parts = []
    for start in range(0, n, 5000):
        x = rng.standard_normal((min(5000, n - start), 2))
        parts.append(sparse.csr_array(rng.random((len(x), d)) < 1.0 / (1.0 + np.exp(-(x @ W.T + b)))))
    return sparse.vstack(parts, format="csr").astype(np.float64)


def costs() -> dict[str, object]:
    X = retail()
    wide = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], 2 * X.shape[1]))
    made = simulated(200_000, 1000)
    rounds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, make, table in (
            ("retail, q = 2", by_ones(2), X),
            ("retail with as many empty columns again, q = 2", by_ones(2), wide),
            ("simulated, q = 2", by_ones(2), made),
            ("simulated, mixture", mixture, made),
        ):
            rounds.setdefault(name, []).append(pass_seconds(make, table))
    middle = {name: statistics.median(seconds) for name, seconds in rounds.items()}
    retail_pass, wide_pass, simulated_pass, mixture_pass = middle.values()
    return {
        "processor_seconds_a_pass": {name: round(seconds, 4) for name, seconds in middle.items()},
        "simulated": {"rows": made.shape[0], "columns": made.shape[1], "ones": made.nnz},
        "doubled_columns_ratio": round(wide_pass / retail_pass, 3),
        "simulated_against_mixture_ratio": round(simulated_pass / mixture_pass, 3),
    }


def whole_retail(q: int) -> dict[str, object]:
    X = retail()
    before = peak_memory_mb()
    order = np.random.default_rng(SEED).permutation(X.shape[0])
    train, test = X[order[HELD_OUT:]], X[order[:HELD_OUT]]
    with hiddenbits.run_on(n_jobs=2):
        model, seconds, wall = timed(LogisticPCA(q, random_state=SEED), train)
    peak = peak_memory_mb()
    return {
        "rows": train.shape[0],
        "columns": train.shape[1],
        "cost": model.cost_,
        "processor_seconds": round(seconds, 1),
        "wall_seconds": round(wall, 1),
        "passes": model.n_iter_,
        "stop": model.stop_reason_,
        "memory_before_mb": round(before),
        "peak_memory_mb": round(peak),
        "held_out_independent": round(IndependentBits().fit(train).score(test), 3),
        "held_out": round(model.score(test), 3),
        "threads": 2,
    }


def main() -> None:
    what, q = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the timed fits are not meant to converge
        if what == "costs":
            figures = costs()
        elif what == "retail":
            figures = whole_retail(q)
        else:
            figures = both_ways(*(retail500() if what == "retail500" else tables()[what]), q)
    record(f"logistic/by_ones_{what}{q or ''}", figures, seeds=SEED)


if __name__ == "__main__":
    main()
