"""What a pass of logistic PCA costs beside the arithmetic that no code could do without.

    python benchmarks/bare_logistic.py --full     (100,000 x 256 cells; 2, 10 and 40 dimensions)
    python benchmarks/bare_logistic.py --quick    (a small table; the figures mean nothing, the program runs)

The pass is one E-step over rows that kept their posteriors, all statistics added up, on one thread. The bare engine walks the
same blocks: x as floats, x @ W, S @ V.T, one tanh for every cell, kappa @ V, kappa.T @ S, x.T @ X, with plain NumPy into
buffers that it keeps, in the same precision and with one BLAS thread. It inverts nothing and knows no bound. The two
take turns, and the ratio is the median of the ratios of neighbouring turns, in CPU time of the process, so that other
work on the machine counts for little. The shares say where the pass spends its time: cells beside the bare tanh, the
inverse of each row's precision, and the rest.
"""

import statistics
import time
from functools import partial
from typing import Any

import numpy as np
from record import asked_quick, record

import hiddenbits
from hiddenbits.data import Block, Grid
from hiddenbits.engine import Key, Local, block_height
from hiddenbits.engine.executors import one_blas_thread
from hiddenbits.models import Logistic
from hiddenbits.models.logistic_cells import Blanks, tangent_standing
from hiddenbits.models.logistic_params import LogisticParams
from hiddenbits.models.packed import identity, invert_standing, moments_standing, packed_size

COLUMNS, SEED = 256, 0


def bare_pass(grid: Grid, arrays: dict[str, Any]) -> None:
    """Only the products and the tanh."""
    S, V, W, X, cells = (arrays[name] for name in ("S", "V", "W", "X", "cells"))
    for block in grid.blocks:
        n = block.n_rows
        x = block.operands()[0] if W.dtype == np.float64 else block.x.operand(np.float32, slot="x")
        out = cells[:n]
        x @ W
        np.matmul(S[:n], V.T, out=out)
        np.tanh(out, out=out)
        out @ V
        out.T @ S[:n]
        x.T @ X[:n]


def seconds_of(work: Any) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def shares(model: Logistic, shared: Any, block: Block, carry: Any, turns: int) -> dict[str, float]:
    """Microseconds a row of the parts of a pass, each on its own."""
    n, q = block.n_rows, model.n_components
    dtype = shared.V4.dtype
    mean, covariance = (np.ascontiguousarray(a.T, dtype) for a in (carry.mean, carry.covariance))
    out, blanks = np.empty((packed_size(q + 1), n), dtype), Blanks.of(block.observed)
    S = moments_standing(mean, covariance, np.ones(n, dtype), out).copy()
    cells = np.empty((COLUMNS, n), dtype)
    kappa = tangent_standing(S, shared.V4, blanks)[0].copy()
    P = identity(q)[:, None] + (shared.V4.T @ kappa)[: packed_size(q)]

    def bare_cells() -> None:
        np.matmul(shared.V4, S, out=cells)
        np.tanh(cells, out=cells)

    parts = {
        "cells, with their product": lambda: tangent_standing(S, shared.V4, blanks),
        "cells, bare": bare_cells,
        "inverse": lambda: invert_standing(P, q),
        "moments, twice": lambda: [moments_standing(mean, covariance, np.ones(n, dtype), out) for _ in range(2)],
        "pass of the block": lambda: model.expect(PARAMS[q], shared, block, carry, Key(SEED)),
    }
    return {name: round(1e6 * min(seconds_of(part) for _ in range(turns)) / n, 3) for name, part in parts.items()}


PARAMS: dict[int, LogisticParams] = {}


def measure(n_rows: int, q: int, dtype: Any, turns: int) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    params = LogisticParams.at(
        rng.standard_normal((COLUMNS, q)) / np.sqrt(q), rng.standard_normal(COLUMNS), np.zeros(COLUMNS)
    )
    PARAMS[q] = params
    model = Logistic(q, polish=False, dtype=dtype)
    X, _ = model.draw(params, n_rows, rng)
    table = hiddenbits.open_table(X)
    grid = table.grid(block_height(model.footprint(COLUMNS, table.source.row_cells)))
    shared, carries = model.prepare(params), {}
    p, height = packed_size(q + 1), grid.height
    arrays = {
        "S": rng.random((height, p)).astype(dtype) / p,
        "V": rng.random((COLUMNS, p)).astype(dtype),
        "W": rng.random((COLUMNS, q + 1)).astype(dtype),
        "X": rng.random((height, q + 1)).astype(dtype),
        "cells": np.empty((height, COLUMNS), dtype),
    }

    def expect(block: Block) -> Any:
        stats, carries[block.number] = model.expect(params, shared, block, carries.get(block.number), Key(SEED))
        return stats

    run = partial(Local().reduce, expect, grid)
    with one_blas_thread():
        run()
        bare_pass(grid, arrays)
        ours, bare = [], []
        for _ in range(turns):
            ours.append(seconds_of(run))
            bare.append(seconds_of(lambda: bare_pass(grid, arrays)))
        parts = shares(model, shared, grid.blocks[0], carries[0], 20)
    ratios = [a / b for a, b in zip(ours, bare, strict=True)]
    return {
        "rows": n_rows,
        "dimensions": q,
        "dtype": dtype,
        "block_rows": height,
        "cpu_seconds_a_pass": round(statistics.median(ours), 3),
        "cpu_seconds_bare": round(statistics.median(bare), 3),
        "ratio": round(statistics.median(ratios), 2),
        "ratios": [round(r, 2) for r in ratios],
        "microseconds_a_row": parts,
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    results = [
        measure(4_000 if quick else 100_000, q, dtype, 3 if quick else 7)
        for dtype in ("float64", "float32")
        for q in (2, 10, 40)
    ]
    record("bare_logistic" + ("_quick" if quick else ""), results, seeds=SEED)
