"""How fast a pass of a mixture goes over a sparse table, in useful flops: 4 x ones x classes, on one core.

python benchmarks/sparse_rate.py --full
python benchmarks/sparse_rate.py --quick
"""

import statistics
import time
from functools import partial

import numpy as np
from record import asked_quick, record
from scipy import sparse

import hiddenbits
from hiddenbits.data.summary import summarise
from hiddenbits.engine import Key, Local, block_height, full_start
from hiddenbits.engine.online import expect
from hiddenbits.models import Mixture

DENSITY, CLASSES, SEED = 1e-3, 100, 0


def measure(n_rows: int, n_columns: int, turns: int) -> dict[str, object]:
    rng = np.random.default_rng(SEED)
    per_row = rng.poisson(DENSITY * n_columns, n_rows)
    rows = np.repeat(np.arange(n_rows), per_row)
    X = sparse.csr_array((np.ones(len(rows)), (rows, rng.integers(0, n_columns, len(rows)))), (n_rows, n_columns))
    X.data[:] = 1.0  # an item that was drawn twice is there once
    table, model = hiddenbits.open_table(X), Mixture(CLASSES)
    grid = table.grid(block_height(model.footprint(n_columns, table.source.row_cells)))
    params = full_start(model, Local().reduce(summarise, grid), Key(SEED), None)
    function = partial(expect, model, params, model.prepare(params), Key(SEED), None)
    times = []
    for _ in range(turns + 1):
        begun = time.perf_counter()
        Local().reduce(function, grid)
        times.append(time.perf_counter() - begun)
    seconds = statistics.median(times[1:])
    return {
        "rows": n_rows,
        "columns": n_columns,
        "density": DENSITY,
        "ones": X.nnz,
        "classes": CLASSES,
        "block_rows": grid.height,
        "seconds_a_pass": round(seconds, 3),
        "gigaflops_sparse": round(4e-9 * X.nnz * CLASSES / seconds, 3),
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    result = measure(5000, 2000, 2) if quick else measure(200_000, 100_000, 5)
    record("sparse_rate" + ("_quick" if quick else ""), result, seeds=SEED)
