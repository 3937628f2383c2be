"""Latent classes of a million rows with fifty columns of five levels, from Parquet: memory, time of the fit and of a pass.

    python -m benchmarks.scale.levels --full     (1,000,000 rows; the default fit with four classes)
    python -m benchmarks.scale.levels --quick    (50,000 rows; nothing is written)

The simulator writes ten files. A fresh process fits on one thread; its peak memory is that of the whole process, Python included.
Seconds are of the processor. A pass is measured three times after the fit: from the files, over the first file in memory,
and as bare products of the same blocks (`benchmarks/bare/classes.py`); the last two are multiplied to all rows.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.bare.classes import two_products
from benchmarks.bare.turns import pass_of, seconds_of
from benchmarks.record import asked_quick, peak_memory_mb, record

import hiddenbits
from hiddenbits.engine import block_height, one_blas_thread

COLUMNS, LEVELS, CLASSES, FILES, SEED, CONCENTRATION = 50, 5, 4, 10, 0, 8.0


def write(folder: str, rows: int) -> None:
    profiles = np.random.default_rng(SEED).dirichlet(np.full(LEVELS, CONCENTRATION), (CLASSES, COLUMNS))
    for number in range(FILES):
        rng = np.random.default_rng([SEED, number])
        classes, n = rng.integers(0, CLASSES, rows // FILES), rows // FILES
        edges = profiles.cumsum(axis=2)
        cells = {
            f"q{j}": (rng.random((n, 1)) > edges[classes, j]).sum(axis=1).clip(max=LEVELS - 1).astype(np.int8) + 1
            for j in range(COLUMNS)
        }
        pq.write_table(pa.table(cells), f"{folder}/part{number}.parquet")


def passes(model: Any, table: Any) -> tuple[Callable[[], Any], Any]:
    """Return a pass over a table, at the parameters of a fit, and its blocks."""
    inner = model._model()
    grid = table.grid(block_height(inner.footprint(table.shape[1], table.source.row_cells)))
    return pass_of(inner, model._params, grid), grid


def fit(folder: str) -> None:
    """The measured process."""
    before, begun = peak_memory_mb(), time.process_time()
    table = hiddenbits.open_table(f"{folder}/*.parquet", column_types="ordinal")
    opened = time.process_time() - begun
    model = hiddenbits.LatentClassAnalysis(CLASSES, random_state=SEED).fit(table)
    found = {
        "rows": table.shape[0],
        "bits": table.shape[1],
        "peak_memory_mb": round(peak_memory_mb()),
        "memory_before_mb": round(before),
        "seconds_to_open": round(opened, 1),
        "seconds": round(time.process_time() - begun, 1),
        "passes_over_all_rows": model.n_iter_,
        "stopped": str(model.stop_reason_),
    }
    first = hiddenbits.open_table(pq.read_table(f"{folder}/part0.parquet"), column_types="ordinal")
    with one_blas_thread():
        of_files, _ = passes(model, table)
        in_memory, grid = passes(model, first)
        bare = two_products(grid, CLASSES)
        for name, work, times in (("files", of_files, 1), ("memory", in_memory, FILES), ("bare", bare, FILES)):
            work()
            found[f"seconds_of_a_pass_{name}"] = round(
                times * float(np.median([seconds_of(work) for _ in range(5)])), 3
            )
    print(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        fit(sys.argv[2])
    else:
        quick = asked_quick(str(__doc__))
        with tempfile.TemporaryDirectory() as folder:
            write(folder, 50_000 if quick else 1_000_000)
            disk = sum(file.stat().st_size for file in Path(folder).iterdir())
            call = [sys.executable, "-m", "benchmarks.scale.levels", "--fit", folder]
            said = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout
        figures = json.loads(said.splitlines()[-1]) | {"megabytes_on_disk": round(disk / 1e6)}
        if quick:
            print(figures)
        else:
            record("scale/levels", figures, seeds=SEED, packages=("pyarrow", "numba"))
