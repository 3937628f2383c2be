"""What a row costs each model on a very wide table: passes over some rows and over three times as many, on one thread.

    python -m benchmarks.scale.pass_rates --full     (100,000 columns, one cell in a thousand a one; models of pairs of columns: 2,000)
    python -m benchmarks.scale.pass_rates --quick    (1,000 columns; the figures mean nothing, the program runs)

The passes are those of `benchmarks/bare`. The difference leaves out what a pass costs without rows. Processor time, the quickest of five
turns: what noise has touched least. docs/scale.md multiplies these constants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.bare.classes import machine_rows, mixture
from benchmarks.bare.coding import coding
from benchmarks.bare.logistic import logistic
from benchmarks.bare.pairs import pairs
from benchmarks.bare.sampled import noisy_or_sampled
from benchmarks.bare.tables import grid_of, sparse_bits
from benchmarks.bare.trees import hidden_tree, trees
from benchmarks.bare.turns import SEED, pass_of, seconds_of
from benchmarks.record import asking, record

from hiddenbits.engine import one_blas_thread
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.sparse.expectations import with_cells
from hiddenbits.families.logistic_pca.sparse.model import SparseLogistic
from hiddenbits.families.logistic_pca.sparse.model_choice import N_CELLS
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs

DENSITY, TURNS = 1e-3, 5
MIXTURE, MAP_BY_ONES = "LatentClassAnalysis, 100 classes", "LogisticPCA, 2 dimensions, cost by the ones"


@dataclass(frozen=True)
class Case:
    """A pass over so many rows and columns, rows to begin with, and the model whose statistics travel."""

    make: Callable[[int, int], Callable[[], Any]]
    rows: int
    model: Any = None
    columns: int = 100_000


BY_ONES = SparseLogistic(2, n_cells=N_CELLS[2])


def some_map(n: int, d: int) -> tuple[Any, Any]:
    """Return a table, and a map that expects about as many ones in each of its columns as there are."""
    X, rng, q = sparse_bits(n, d, DENSITY), np.random.default_rng(SEED), BY_ONES.n_components
    W = rng.standard_normal((d, q)) / np.sqrt(q)
    b = np.log(np.clip(np.asarray(X.mean(axis=0)).ravel(), 1e-5, 0.5)) - 0.5 * (W**2).sum(axis=1)
    return grid_of(BY_ONES, X), with_cells(W, b, np.zeros(d), BY_ONES.n_cells)


def by_ones(n: int, d: int) -> Callable[[], Any]:
    """Return a pass by the ones."""
    grid, params = some_map(n, d)
    return pass_of(BY_ONES, params, grid)


def update_by_ones(n: int, d: int) -> float:
    """Return the seconds between two passes by the ones: the update, and what the next pass is prepared with."""
    grid, params = some_map(n, d)
    stats = pass_of(BY_ONES, params, grid)()
    return seconds_of(lambda: BY_ONES.prepare(BY_ONES.update(params, stats)))


CASES = {
    MIXTURE: Case(lambda n, d: mixture("wide", sparse_bits(n, d, DENSITY), 100).ours, 10_000, Classes(100)),
    "LogisticPCA, 10 dimensions, a bound for every cell": Case(
        lambda n, d: logistic("wide", n, d, 10).ours, 100, Logistic(10)
    ),
    MAP_BY_ONES: Case(by_ones, 10_000, BY_ONES),
    "CombinationMachine, 20 units, the pass over rows": Case(
        lambda n, d: machine_rows("wide", sparse_bits(n, d, DENSITY), 20).ours, 10_000, Combination(20)
    ),
    "NoisyOrNetwork, 100 causes, a Gibbs pass": Case(
        lambda n, d: noisy_or_sampled("wide", sparse_bits(n, d, DENSITY), 100).ours, 1000, NoisyOrGibbs([100])
    ),
    "BinarySparseCoding, 100 causes, real cells": Case(
        lambda n, d: coding("wide", n, d, 100, 6, 4, "float64").ours, 200, SparseCoding(100)
    ),
    "ClippedPCA, counts of pairs": Case(
        lambda n, d: pairs("wide", sparse_bits(n, d, 10 * DENSITY)).ours, 20_000, columns=2000
    ),
    "TreeMixture, 8 classes": Case(
        lambda n, d: trees("wide", sparse_bits(n, d, 10 * DENSITY), 8).ours, 10_000, columns=2000
    ),
    "HiddenTree, 4 states": Case(
        lambda n, d: hidden_tree("wide", sparse_bits(n, d, 10 * DENSITY), 4).ours, 500, columns=2000
    ),
}


def quickest(work: Callable[[], Any]) -> float:
    work()  # compiles, and makes buffers
    return min(seconds_of(work) for _ in range(TURNS))


def measure(case: Case, quick: bool) -> dict[str, Any]:
    n, d = (200, 1000) if quick else (case.rows, case.columns)
    with one_blas_thread():
        once, thrice = quickest(case.make(n, d)), quickest(case.make(3 * n, d))
    row = (thrice - once) / (2 * n)
    return {
        "rows": [n, 3 * n],
        "columns": d,
        "seconds_a_pass": [round(once, 4), round(thrice, 4)],
        "microseconds_a_row": round(1e6 * row, 3),
        "seconds_without_rows": round(once - n * row, 4),
        **({"seconds_update": round(update_by_ones(n, d), 2)} if case.model is BY_ONES else {}),
        "statistics": None if case.model is None else case.model.footprint(d, d * DENSITY).statistics,
    }


if __name__ == "__main__":
    quick = asking(__doc__).parse_args().quick
    figures = {}
    for name, case in CASES.items():
        figures[name] = measure(case, quick)
        print(name, figures[name], flush=True)
    record("scale/pass_rates" + ("_quick" if quick else ""), figures, seeds=SEED, density=DENSITY)
