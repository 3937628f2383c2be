"""What `LogisticPCA(2)` says about rows, beside its own fit and beside the products of one pass.

    python -m benchmarks.bare.map_rows

Score over fit: `score` of the rows of the fit, by the fit. Transform over bare: `transform`, by the bare products of a pass of the
refinement (`cells_of_refine`). Processor time, medians of several turns; a tenth of the cells is missing where it says so.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from hiddenbits import LogisticPCA, open_table, run_on
from hiddenbits.families.logistic_pca.model import Logistic

from .logistic import cells_of_refine, some_map
from .turns import SEED

SIZES = ((40_000, 64), (10_000, 64), (2_000, 30))
TURNS = 5


def seconds(function: Callable[[], object]) -> float:
    """Return the median time of a call, after one that makes what is kept."""
    function()
    times = []
    for _ in range(TURNS):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def measured(n: int, d: int, *, missing: bool) -> str:
    """Return a line with the two ratios."""
    rng = np.random.default_rng(SEED)
    X = Logistic(2).sample(some_map(d, 2, rng), n, rng)[0].astype(float)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    model, table = LogisticPCA(2, random_state=SEED), open_table(X)
    fit = seconds(lambda: model.fit(table))
    bare = seconds(cells_of_refine(table.grid(2048), 2))
    score, transform = (seconds(lambda verb=verb: verb(table)) for verb in (model.score, model.transform))
    what = f"{n:,} x {d}" + (", missing cells" if missing else "")
    return f"{what:28s} score / fit {score / fit:5.2f}    transform / bare {transform / bare:5.1f}    passes {model.n_iter_}"


if __name__ == "__main__":
    with run_on(n_jobs=1):
        for n, d in SIZES:
            for missing in (False, True):
                print(measured(n, d, missing=missing), flush=True)
