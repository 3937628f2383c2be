"""A curved map of a wide sparse table: memory of a fit, and what a pass costs by ones, points and columns.

    python -m benchmarks.maps.retail --full
    python -m benchmarks.maps.retail --quick      (two passes at each stage; nothing is written)

`baskets/retail.dat.gz` (88,162 x 16,470, 0.06% ones), `TopographicMap(2, n_points=1024)`. A fresh process on one thread
reports its peak memory for a fit of 12 passes with 256 points and 12 with all. Then single passes are timed, E-step and
M-step apart: of all rows, of half of them, and of all with a quarter of the points.
"""

import json
import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from benchmarks.bare.turns import pass_of, seconds_of
from benchmarks.record import asking, peak_memory_mb, record

from hiddenbits import TopographicMap, open_table
from hiddenbits.data import Table
from hiddenbits.data.subset import take_rows
from hiddenbits.datasets import data_folder
from hiddenbits.engine import block_height, one_blas_thread
from hiddenbits.families.topographic_map.model import Topographic
from hiddenbits.families.topographic_map.params import TopographicParams
from hiddenbits.families.topographic_map.points import grid_points

POINTS, FEWER, SEED, ROUNDS = 1024, 256, 0, 1
PASSES = 12  # of each stage: extrapolation begins after 10, and needs memory too


def retail() -> Table:
    return open_table(data_folder() / "baskets" / "retail.dat.gz")


def fit(max_iter: int) -> dict[str, Any]:
    """The measured process."""
    before, table, begun = peak_memory_mb(), retail(), time.process_time()
    warnings.simplefilter("ignore")
    model = TopographicMap(2, n_points=POINTS, max_iter=max_iter, random_state=SEED).fit(table)
    seconds = time.process_time() - begun
    peak = peak_memory_mb()
    return {
        "peak_memory_mb": round(peak),
        "memory_before_mb": round(before),
        "processor_seconds": round(seconds, 1),
        "passes": model.n_iter_,
        "stop": model.stop_reason_,
        "mean_log_likelihood": round(model.score(table), 4),
    }


def steps(table: Table, params: TopographicParams, n_points: int) -> dict[str, float]:
    """Return the ones of a table, and the processor seconds of an E-step and of an M-step at these curves."""
    model, at = Topographic(2, n_points), replace(params, points=grid_points(2, n_points))
    walk = pass_of(model, at, table.grid(block_height(model.footprint(table.shape[1], table.source.row_cells))))
    with one_blas_thread():
        stats = walk()  # whatever is made late is so now
        e_step = statistics.median(seconds_of(walk) for _ in range(ROUNDS))
        model.update(at, stats)
        m_step = seconds_of(partial(model.update, at, stats))
    return {"ones": int(table.source.read(0, table.shape[0])[0].ones()[0][-1]), "e_step": e_step, "m_step": m_step}


def main() -> None:
    parser = asking(__doc__ or "")
    parser.add_argument("--fit", action="store_true", help="the measured process; printed by the other one")
    asked = parser.parse_args()
    if asked.fit:
        print(json.dumps(fit(2 if asked.quick else PASSES)))
        return
    call = [sys.executable, "-m", "benchmarks.maps.retail", "--fit", "--quick" if asked.quick else "--full"]
    found = {"fit": json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)}
    print(found, flush=True)
    if asked.quick:
        return
    table = retail()
    half = take_rows(table, np.arange(0, table.shape[0], 2))
    warnings.simplefilter("ignore")
    params = TopographicMap(2, n_points=FEWER, max_iter=1, random_state=SEED).fit(table).params_
    for name, rows, points in (("all", table, POINTS), ("half", half, POINTS), ("fewer", table, FEWER)):
        found[name] = steps(rows, params, points)
    record("maps/retail", found, seeds=SEED, rows=table.shape[0], columns=table.shape[1], points=POINTS, fewer=FEWER)


if __name__ == "__main__":
    main()
