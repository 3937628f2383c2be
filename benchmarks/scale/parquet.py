"""A table larger than memory: time, rows a second and peak memory of `hiddenbits look` and of a mixture fitted to its Parquet parts.

    python -m benchmarks.scale.parquet --full     (2, 6 and 20 million rows x 128 columns)
    python -m benchmarks.scale.parquet --quick    (100,000 and 400,000 rows)

The simulator writes the parts. Then, each in a fresh process, `look` goes over them, and 20 classes are fitted by one pass
of online EM and one full pass (each fit also counts the columns in a first pass), with parts of at most 64 MB and two
threads. Results: scale/parquet and scale/look.
"""

import argparse
import json
import os
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
    model = hiddenbits.LatentClassAnalysis(CLASSES, n_init=1, online_passes=1, max_iter=1, random_state=SEED)
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


def look(folder: Path) -> dict[str, object]:
    """Run the command, and return what it took."""
    begun = time.perf_counter()
    call = [sys.executable, "-m", "hiddenbits", "look", f"{folder}/*.parquet", "--json"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(f"look ended with status {process.returncode}")
    found = json.loads(said)
    return {
        "rows": found["rows"],
        "seconds": round(seconds, 1),
        "rows_a_second": round(found["rows"] / seconds),
        "peak_memory_mb": round(used.ru_maxrss / 1000.0),
        **{key: found[key] for key in ("ones", "different_rows", "different_rows_exact")},
    }


def measure(n_rows: int, work: Path) -> tuple[dict[str, object], dict[str, object]]:
    """Simulate a table; return what a fit to it takes, and a look at it."""
    folder = work / str(n_rows)
    begun = time.perf_counter()
    write_mixture(folder, n_rows, COLUMNS, CLASSES, random_state=SEED)
    written = {"seconds_to_simulate": round(time.perf_counter() - begun, 1)}
    written["megabytes_on_disk"] = round(sum(file.stat().st_size for file in folder.iterdir()) / 1e6)
    call = [sys.executable, "-m", "benchmarks.scale.parquet", "--fit", str(folder)]
    fitted = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    looked = look(folder)
    shutil.rmtree(folder)
    return fitted | written, looked


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
            fits, looks = zip(*(measure(n, Path(work_folder)) for n in sizes), strict=True)
        ending = "_quick" if arguments.quick else ""
        record(f"scale/parquet{ending}", fits, seeds=SEED, packages=("pyarrow",))
        record(f"scale/look{ending}", looks, seeds=SEED, packages=("pyarrow", "typer"))
