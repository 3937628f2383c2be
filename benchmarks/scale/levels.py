"""Latent classes of a million rows with fifty columns of five levels, from Parquet: memory, time of the fit and of a pass.

    python -m benchmarks.scale.levels --full     (1,000,000 rows; the default fit with four classes)
    python -m benchmarks.scale.levels --full --mixed     (20 binary, 10 nominal, 15 continuous columns, 5 counts; 5% missing)
    python -m benchmarks.scale.levels --full --mixed --items     (the same columns, one scale: ItemResponseModel)
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
from benchmarks.record import asking, peak_memory_mb, record

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


def write_mixed(folder: str, rows: int) -> None:
    """Write columns of every type, whose classes differ by .4 of a probability, 1.5 standard deviations, or 1 event."""
    for number in range(FILES):
        rng = np.random.default_rng([SEED, 1, number])
        n = rows // FILES
        classes = rng.integers(0, CLASSES, n)
        cells: dict[str, Any] = {}
        for j in range(20):
            cells[f"b{j}"] = rng.random(n) < np.array([0.2, 0.8, 0.4, 0.6])[(classes + j) % 4]
        for j in range(10):
            words = rng.integers(0, 2, n) + (classes + j) % 2
            cells[f"n{j}"] = pa.array(np.array(["red", "green", "blue"])[words]).dictionary_encode()
        for j in range(15):
            numbers = rng.normal((classes + j) % 4 * 1.5, 1.0)
            cells[f"c{j}"] = pa.array(np.where(rng.random(n) < 0.05, np.nan, numbers), from_pandas=True)
        for j in range(5):
            cells[f"p{j}"] = rng.poisson(1 + (classes + j) % 4)
        pq.write_table(pa.table(cells), f"{folder}/part{number}.parquet")


def passes(model: Any, table: Any) -> tuple[Callable[[], Any], Any]:
    """Return a pass over a table, at the parameters of a fit, and its blocks."""
    inner = model._model()
    grid = table.grid(block_height(inner.footprint(table.shape[1], table.source.row_cells)))
    return pass_of(inner, model._params, grid), grid


def fit(folder: str, *, mixed: bool, items: bool) -> None:
    """The measured process."""
    types: Any = {f"p{j}": "count" for j in range(5)} if mixed else "ordinal"
    before, begun = peak_memory_mb(), time.process_time()
    table = hiddenbits.open_table(f"{folder}/*.parquet", column_types=types)
    opened = time.process_time() - begun
    estimator: Any = hiddenbits.LatentClassAnalysis(CLASSES, random_state=SEED)
    model = (hiddenbits.ItemResponseModel() if items else estimator).fit(table)
    found = {
        "rows": table.shape[0],
        "bits": table.shape[1],
        "columns_of_numbers": table.n_numbers,
        "peak_memory_mb": round(peak_memory_mb()),
        "memory_before_mb": round(before),
        "seconds_to_open": round(opened, 1),
        "seconds": round(time.process_time() - begun, 1),
        "passes_over_all_rows": model.n_iter_,
        "stopped": str(model.stop_reason_),
    }
    first = hiddenbits.open_table(pq.read_table(f"{folder}/part0.parquet"), column_types=types)
    with one_blas_thread():
        of_files, _ = passes(model, table)
        in_memory, grid = passes(model, first)
        measured = [("files", of_files, 1), ("memory", in_memory, FILES)]
        measured += [] if mixed else [("bare", two_products(grid, CLASSES), FILES)]
        for name, work, times in measured:
            work()
            found[f"seconds_of_a_pass_{name}"] = round(
                times * float(np.median([seconds_of(work) for _ in range(5)])), 3
            )
    print(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        fit(sys.argv[2], mixed="--mixed" in sys.argv, items="--items" in sys.argv)
    else:
        parser = asking(str(__doc__))
        parser.add_argument("--mixed", action="store_true")
        parser.add_argument("--items", action="store_true")
        arguments = parser.parse_args()
        quick, mixed = arguments.quick, arguments.mixed
        with tempfile.TemporaryDirectory() as folder:
            (write_mixed if mixed else write)(folder, 50_000 if quick else 1_000_000)
            disk = sum(file.stat().st_size for file in Path(folder).iterdir())
            call = [
                sys.executable,
                "-m",
                "benchmarks.scale.levels",
                "--fit",
                folder,
                *["--mixed"] * mixed,
                *["--items"] * arguments.items,
            ]
            said = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout
        figures = json.loads(said.splitlines()[-1]) | {"megabytes_on_disk": round(disk / 1e6)}
        if quick:
            print(figures)
        else:
            name = "items" if arguments.items else "mixed" if mixed else "levels"
            record(f"scale/{name}", figures, seeds=SEED, packages=("pyarrow", "numba"))
