"""What a pass of each model costs on a very wide table: a constant for each row, and what is left without rows.

    python benchmarks/pass_rates.py --full [--only NAME]    (100,000 columns, one cell in a thousand a one)
    python benchmarks/pass_rates.py --quick                 (1,000 columns; the figures mean nothing, the program runs)

Fits with few and with more passes, to few and to twice as many rows, on one thread: the difference by passes leaves the start out, the
difference by rows leaves the update of the parameters out. Processor time, medians of three. docs/scale.md multiplies these constants.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from record import asking, peak_memory_mb, record
from scipy import sparse

import hiddenbits as h

DENSITY, SEED, TURNS = 1e-3, 0, 3


@dataclass(frozen=True)
class Case:
    """A model, how many rows to measure it with, and what makes a pass."""

    make: Callable[[int], Any]
    rows: int
    passes: tuple[int, int] = (2, 6)
    cells: str = "bits"
    columns: int = 100_000


FEW = {"tol": 0.0, "n_init": 1, "random_state": SEED}
CASES = {
    "BernoulliMixture, 100 classes": Case(
        lambda n: h.BernoulliMixture(100, max_iter=n, accelerate=False, **FEW), 20_000
    ),
    "LogisticPCA, 10 dimensions, shared curvature": Case(
        lambda n: h.LogisticPCA(
            10, curvature="shared", polish=False, max_iter=n, accelerate=False, start="noise", **FEW
        ),
        20_000,
    ),
    "LogisticPCA, 10 dimensions, a bound for every cell": Case(
        lambda n: h.LogisticPCA(10, polish=False, max_iter=n, accelerate=False, start="noise", **FEW), 150
    ),
    "CombinationMachine, 10 units, exact": Case(
        lambda n: h.CombinationMachine(10, start="noise", max_iter=n, **FEW), 20_000
    ),
    "NoisyOrNetwork, 100 causes, Gibbs": Case(
        lambda n: h.NoisyOrNetwork(100, method="gibbs", n_passes=n, **FEW), 4000, (4, 8)
    ),
    "BinarySparseCoding, 100 causes, real cells": Case(
        lambda n: h.BinarySparseCoding(100, max_iter=n, data_cut=False, **FEW), 500, cells="reals"
    ),
    "ClippedPCA, 10 dimensions": Case(lambda n: h.ClippedPCA(10, max_iter=n, **FEW), 20_000, (1, 1), columns=2000),
    "TreeMixture, 2 trees": Case(lambda n: h.TreeMixture(2, max_iter=n, **FEW), 5000, columns=2000),
    "HiddenTree, 4 states": Case(lambda n: h.HiddenTree(4, max_iter=n, **FEW), 1000, columns=2000),
}


def rows_of(n_rows: int, n_columns: int, cells: str) -> Any:
    """Rows with about a thousandth of ones, each column as often; or dense real cells."""
    rng = np.random.default_rng(SEED)
    if cells == "reals":
        return rng.standard_normal((n_rows, n_columns))
    per_row = rng.poisson(DENSITY * n_columns, n_rows)
    rows = np.repeat(np.arange(n_rows), per_row)
    X = sparse.csr_array((np.ones(len(rows)), (rows, rng.integers(0, n_columns, len(rows)))), (n_rows, n_columns))
    X.data[:] = 1.0  # an item that was drawn twice is there once
    return X


def seconds_of(make: Callable[[int], Any], n_passes: int, X: Any) -> float:
    begun = time.process_time()
    make(n_passes).fit(X)
    return time.process_time() - begun


def seconds_a_pass(case: Case, X: Any) -> float:
    """Processor time of a pass beyond the first ones; of the whole fit where there is only one."""
    few, more = case.passes
    if few == more:
        return statistics.median(seconds_of(case.make, few, X) for _ in range(TURNS))
    return statistics.median(
        (seconds_of(case.make, more, X) - seconds_of(case.make, few, X)) / (more - few) for _ in range(TURNS)
    )


def measure(case: Case, quick: bool) -> dict[str, Any]:
    n_rows, n_columns = (200, 1000) if quick else (case.rows, case.columns)
    short, long = (rows_of(n, n_columns, case.cells) for n in (n_rows, 2 * n_rows))
    once, twice = seconds_a_pass(case, short), seconds_a_pass(case, long)
    row = (twice - once) / n_rows
    return {
        "rows": [n_rows, 2 * n_rows],
        "columns": n_columns,
        "ones_a_row": None if case.cells == "reals" else round(long.nnz / long.shape[0], 1),
        "seconds_a_pass": [round(once, 4), round(twice, 4)],
        "microseconds_a_row": round(1e6 * row, 3),
        "seconds_without_rows": round(once - n_rows * row, 4),
        "statistics_at_1e5_columns": case.make(1)._model().footprint(100_000, 100_000 * DENSITY).statistics,
        "whole_fit": case.passes[0] == case.passes[1],
        "peak_memory_so_far_mb": round(peak_memory_mb()),
    }


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", help="cases whose name has this in it; nothing is recorded")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # so few passes do not converge; that is known
    figures = {}
    for name, case in CASES.items():
        if arguments.only is None or arguments.only in name:
            figures[name] = measure(case, arguments.quick)
            print(name, figures[name], flush=True)
    if arguments.only is None:
        record("pass_rates" + ("_quick" if arguments.quick else ""), figures, seeds=SEED, density=DENSITY)
