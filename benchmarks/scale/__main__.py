"""Cost of a row and memory from a hundred thousand rows to a hundred million: a fit by online EM, and a scoring pass.

    python -m benchmarks.scale --full [--folder DISK]              (1e5 to 1e8 rows x 1,000 columns, 1% ones; a mixture)
    python -m benchmarks.scale --full --model map [--rows N]       (up to N of these rows; `LogisticPCA(2)`)
    python -m benchmarks.scale --quick [--model map]               (1e4 and 1e5 rows; the figures mean nothing, the program runs)

The map has one pass that counts, one that draws the rows it begins on, one of online EM, two full ones and one that scores. The mixture has 32 classes; a pass that counts, one of online EM, one full pass of EM, one that scores; every pass reads the files. Two threads of one
process; at the largest size also two dask workers, of which one is killed half-way. Each fit is a process of its own. The table is
simulated in parts on disk and deleted afterwards; if the disk is too small, there are fewer rows and the results say so.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.record import asking, record
from benchmarks.scale import simulate

SEED = 0
BYTES_A_ROW = 15.0  # on disk; measured
SPARE = 8e9  # bytes of disk that are left alone


def run(**asked: Any) -> dict[str, Any]:
    call = [sys.executable, "-m", "benchmarks.scale.job", json.dumps(asked)]
    return json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def measure(n_rows: int, repeats: int, folder: Path, model: str) -> dict[str, Any]:
    """Simulate and fit on two threads; the median of some repeats."""
    begun = time.perf_counter()
    ones = simulate.write(folder, n_rows, seed=SEED)
    simulated = time.perf_counter() - begun
    runs = [run(pattern=f"{folder}/*.parquet", workers=0, kill_after=None, model=model) for _ in range(repeats)]
    median = sorted(runs, key=lambda found: found["seconds"])[len(runs) // 2]
    return {
        **median,
        "seconds_each": [found["seconds"] for found in runs],
        "microseconds_a_row": round(1e6 * median["seconds"] / n_rows, 3),
        "processor_microseconds_a_row": round(
            1e6 * statistics.median(found["processor_seconds"] for found in runs) / n_rows, 3
        ),
        "ones": ones,
        "seconds_to_simulate": round(simulated, 1),
        "bytes_on_disk": sum(file.stat().st_size for file in folder.iterdir()),
    }


def main() -> None:
    parser = asking(__doc__)
    parser.add_argument("--folder", help="where the table is simulated; a temporary folder by default")
    parser.add_argument("--model", choices=["mixture", "map"], default="mixture")
    parser.add_argument("--rows", type=int, default=100_000_000, help="the most rows")
    arguments = parser.parse_args()
    sizes = [10_000, 100_000] if arguments.quick else [100_000, 1_000_000, 10_000_000, 100_000_000]
    sizes = [n_rows for n_rows in sizes if n_rows <= arguments.rows]
    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as work:
        room = int((shutil.disk_usage(work).free - SPARE) / BYTES_A_ROW)
        note = None
        if sizes[-1] > room:
            note = f"The disk has room for {room:,} rows, not for {sizes[-1]:,}."
            sizes[-1] = room
            print(note)
        for n_rows in sizes:
            folder = Path(work) / str(n_rows)
            figures.append(measure(n_rows, 3 if n_rows <= 1_000_000 else 1, folder, arguments.model))
            print(figures[-1], flush=True)
            if n_rows != sizes[-1]:
                shutil.rmtree(folder)
        if arguments.model == "map":
            record(
                "scale/scale_map" + ("_quick" if arguments.quick else ""),
                {"threads": figures, "note": note},
                seeds=SEED,
                packages=("pyarrow", "numba"),
            )
            return
        cluster = run(pattern=f"{folder}/*.parquet", workers=2, kill_after=0.75 * figures[-1]["seconds"])
        print(cluster, flush=True)
    cluster["same_parameters"] = cluster["parameters"] == figures[-1]["parameters"]
    record(
        "scale/scale" + ("_quick" if arguments.quick else ""),
        {"threads": figures, "cluster": cluster, "note": note},
        seeds=SEED,
        packages=("pyarrow", "dask", "distributed"),
    )


if __name__ == "__main__":
    main()
