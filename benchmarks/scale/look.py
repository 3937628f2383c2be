"""`hiddenbits look` on large tables: seconds, rows a second and peak memory of the command, in a process of its own.

    python -m benchmarks.scale.look --full     (2 and 20 million rows x 128 columns)
    python -m benchmarks.scale.look --quick    (100,000 and 400,000 rows)

The table is that of benchmarks/scale/parquet.py.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.record import asked_quick, record

from hiddenbits.datasets import write_mixture

COLUMNS, CLASSES, SEED = 128, 20, 0


def look(folder: Path) -> dict[str, object]:
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
        "ones": found["ones"],
        "different_rows": found["different_rows"],
        "different_rows_exact": found["different_rows_exact"],
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    results = []
    with tempfile.TemporaryDirectory() as work:
        for n_rows in (100_000, 400_000) if quick else (2_000_000, 20_000_000):
            folder = Path(work) / str(n_rows)
            write_mixture(folder, n_rows, COLUMNS, CLASSES, seed=SEED)
            results.append(look(folder))
            shutil.rmtree(folder)
    record("scale/look" + ("_quick" if quick else ""), results, seeds=SEED, packages=("pyarrow", "typer"))
