"""A table larger than memory: time, rows a second and peak memory of a mixture fitted to Parquet parts.

    python -m benchmarks.scale.parquet --full     (2, 6 and 20 million rows x 128 columns)
    python -m benchmarks.scale.parquet --quick    (100,000 and 400,000 rows)

The simulator writes the parts; then, in a fresh process for each size, 20 classes are fitted by one pass of online EM
and one full pass (each fit also counts the columns in a first pass), with parts of at most 64 MB and two threads.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.record import peak_memory_mb, record

import hiddenbits
from hiddenbits.datasets import write_mixture

COLUMNS, CLASSES, SEED = 128, 20, 0


def fit(folder: str) -> None:
    """The measured process: fit, then print what it took."""
    before = peak_memory_mb()
    begun = time.perf_counter()
    table = hiddenbits.open_table(f"{folder}/*.parquet", part_bytes=64 * 2**20)
    model = hiddenbits.BernoulliMixture(CLASSES, n_init=1, online_passes=1, max_iter=1, random_state=SEED)
    with hiddenbits.run_on(n_jobs=2), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one full pass is what was asked for; it does not converge
        model.fit(table)
    seconds = time.perf_counter() - begun
    print(
        json.dumps(
            {
                "rows": table.shape[0],
                "seconds": round(seconds, 1),
                "rows_a_second_a_pass": round(3 * table.shape[0] / seconds),
                "peak_memory_mb": round(peak_memory_mb()),
                "memory_before_mb": round(before),
                "log_likelihood_a_row_in_the_full_pass": round(float(model.trace_[-1]) / table.shape[0], 4),
            }
        )
    )


def measure(n_rows: int, work: Path) -> dict[str, object]:
    folder = work / str(n_rows)
    begun = time.perf_counter()
    write_mixture(folder, n_rows, COLUMNS, CLASSES, seed=SEED)
    written = time.perf_counter() - begun
    size = sum(file.stat().st_size for file in folder.iterdir())
    call = [sys.executable, "-m", "benchmarks.scale.parquet", "--fit", str(folder)]
    figures = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    shutil.rmtree(folder)
    return {**figures, "seconds_to_simulate": round(written, 1), "megabytes_on_disk": round(size / 1e6)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true")
    size.add_argument("--fit", help="folder of parts: the measured process")
    arguments = parser.parse_args()
    if arguments.fit:
        fit(arguments.fit)
    else:
        sizes = [100_000, 400_000] if arguments.quick else [2_000_000, 6_000_000, 20_000_000]
        with tempfile.TemporaryDirectory() as work_folder:
            results = [measure(n, Path(work_folder)) for n in sizes]
        record("scale/parquet" + ("_quick" if arguments.quick else ""), results, seeds=SEED, packages=("pyarrow",))
