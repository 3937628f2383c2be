"""Peak memory of opening a table of many rows, and of reading all of them, in each form that is larger than memory.

    python -m benchmarks.scale.memory --full     (20 million rows x 16 columns)
    python -m benchmarks.scale.memory --quick    (200,000 rows)

Each form is opened in a fresh process, and its rows are read in parts of at most 64 MB. What comes only once (a reader of
batches) is written to temporary files while it is opened; so are lines that are pairs of a row and an item.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from benchmarks.record import asked_quick, peak_memory_mb, record

from hiddenbits import open_table

COLUMNS, SEED, STEP = 16, 20261119, 500_000
FORMS = ("Parquet", "Delta table", "reader of batches", "pairs in Parquet, sorted by row")


def write(folder: Path, n: int) -> None:
    """Write the rows as a Delta table, whose files are the Parquet files; and five items of each row as pairs."""
    import deltalake

    rng = np.random.default_rng(SEED)
    (folder / "pairs").mkdir()
    for first in range(0, n, STEP):
        m = min(STEP, n - first)
        table = pa.table({f"c{j}": rng.integers(0, 2, m, np.uint8) for j in range(COLUMNS)})
        deltalake.write_deltalake(folder / "delta", table, mode="append")
        pq.write_table(table, folder / f"part-{first:09}.parquet", row_group_size=100_000)
        items = np.argsort(rng.random((m, COLUMNS)), axis=1)[:, :5]
        pairs = pa.table({"row": np.repeat(np.arange(first, first + m), 5), "item": items.reshape(-1)})
        pq.write_table(pairs, folder / "pairs" / f"part-{first:09}.parquet", row_group_size=500_000)


def measure(form: str, folder: Path) -> None:
    """Run in the measured process: open and read, then print what it took."""
    data = {
        "Parquet": lambda: (f"{folder}/*.parquet", {}),
        "Delta table": lambda: (folder / "delta", {}),
        "reader of batches": lambda: (ds.dataset(folder / "delta", format="parquet").scanner().to_reader(), {}),
        "pairs in Parquet, sorted by row": lambda: (f"{folder}/pairs/*.parquet", {"row": "row", "item": "item"}),
    }[form]
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source, options = data()
        table = open_table(source, **options)
    opened = time.perf_counter() - begun
    grid, ones = table.grid(8192), 0
    for number in range(grid.n_parts):
        ones += int(grid.load(number).x.row_sums().sum())
    found = {"rows": table.shape[0], "ones": ones, "seconds_opening": round(opened, 1)}
    seconds = round(time.perf_counter() - begun - opened, 1)
    print(json.dumps({"form": form, **found, "seconds_reading": seconds, "peak_memory_mb": round(peak_memory_mb())}))


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
        return
    n = 200_000 if asked_quick(__doc__ or "") else 20_000_000
    figures = []
    with TemporaryDirectory() as folder:
        write(Path(folder), n)
        for form in FORMS:
            command = [sys.executable, "-m", "benchmarks.scale.memory", "--measure", form, folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            figures.append(json.loads(done.stdout.splitlines()[-1]))
            print(figures[-1], flush=True)
    record("scale/memory", figures, seeds=SEED, packages=("pyarrow", "deltalake"), columns=COLUMNS)


if __name__ == "__main__":
    main()
