"""Reading tables that stay where they are: rows a second and peak memory of one pass over all parts.

    python -m benchmarks.streams.run --full [--folder DISK]     (20 million rows x 16 bits; 5 million rows x 16 yes/no)
    python -m benchmarks.streams.run --quick                    (1 million rows, and 250,000)

The same bits as Parquet files, as an Arrow dataset of them, as a query of DuckDB over them, which is spilled when it is
opened (its time is told apart), and as a Delta table, where that can be opened; and a yes/no table in Parquet files,
which is coded as it is read. The passes are taken in turn, several times, each in a new process; figures are medians. The
rate of a pass is set against that of the Parquet files in the same round.
"""

import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.record import asking, peak_memory_mb, record

SEED = 0
COLUMNS = 16
FILE_ROWS, GROUP_ROWS = 1_000_000, 250_000
ROUNDS = 3
BUSY = "processor_seconds_to_read"
MEMORY_MB, RATE = 1000, 0.7  # what is asked for: at most, and at least of the rate of Parquet files


def write(folder: Path, n_rows: int, words: bool) -> None:
    """Write random bits, or yes, no and blanks, in files of a million rows."""
    folder.mkdir()
    rng = np.random.default_rng(SEED)
    answers = pa.array(["no", "yes", None])
    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        many = min(FILE_ROWS, n_rows - start)
        cells = rng.integers(0, 2, (COLUMNS, many), np.uint8)
        if words:
            cells[rng.random(cells.shape) < 0.05] = 2
        columns = {f"q{j}": answers.take(pa.array(one)) if words else one for j, one in enumerate(cells)}
        pq.write_table(pa.table(columns), folder / f"{number:03}.parquet", row_group_size=GROUP_ROWS)


def write_delta(folder: Path, bits: Path) -> None:
    """Write the same rows as a Delta table, a file at a time."""
    from deltalake import write_deltalake

    for file in sorted(bits.iterdir()):
        write_deltalake(str(folder), pq.read_table(file), mode="append")


def source(kind: str, folder: Path) -> Any:
    """Return what is opened."""
    if kind == "Arrow dataset":
        import pyarrow.dataset as ds

        return ds.dataset(folder / "bits")
    if kind == "DuckDB query":
        import duckdb

        duckdb.execute("set memory_limit = '300MB'")
        return duckdb.sql(f"select * from read_parquet('{folder}/bits/*.parquet')")
    if kind == "Delta table":
        return folder / "delta"
    return f"{folder}/{'words' if kind.startswith('yes/no') else 'bits'}/*.parquet"


def child(kind: str, folder: Path, quick: bool) -> dict[str, float]:
    """Open a table, read some rows, which loads what is needed for it, and then all its parts once."""
    from hiddenbits import open_table
    from hiddenbits.data.readers.parquet import coded
    from hiddenbits.data.readers.streams import spill

    if quick:  # the way of large tables for small ones
        spill.KEEP_BYTES = coded.SMALL_BYTES = 1 << 20
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = open_table(source(kind, folder))
    opened = time.perf_counter()
    if table.source.resident:
        raise SystemExit(f"{kind}: the table is in memory, so there is nothing to measure")
    table.source.read(0, 1024)[0].row_sums()
    grid = table.grid(1024)
    warm, busy = time.perf_counter(), time.process_time()
    ones = sum(float(grid.load(i).x.row_sums().sum()) for i in range(grid.n_parts))
    done, busy = time.perf_counter(), time.process_time() - busy
    return {
        "rows": table.shape[0],
        "ones": ones,
        "seconds_to_open": round(opened - begun, 3),
        "seconds_to_read": round(done - warm, 3),
        "processor_seconds_to_read": round(busy, 3),
        "rows_a_second": round(table.shape[0] / (done - warm)),
        "peak_memory_mb": round(peak_memory_mb(), 1),
    }


def run(kind: str, folder: Path, size: str) -> dict[str, float]:
    call = [sys.executable, "-m", "benchmarks.streams.run", size, "--child", kind, "--folder", str(folder)]
    found: dict[str, float] = json.loads(
        subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    )
    return found


def summary(rounds: list[dict[str, float]], plain: list[dict[str, float]]) -> dict[str, Any]:
    """Return medians, the worst memory, and the rate as a share of the one of Parquet files in the same round."""
    middle = {name: statistics.median(one[name] for one in rounds) for name in rounds[0] if name != "peak_memory_mb"}
    shares = [a["rows_a_second"] / b["rows_a_second"] for a, b in zip(rounds, plain, strict=True)]
    worst = max(one["peak_memory_mb"] for one in rounds)
    busy = [b[BUSY] / b["rows"] / (a[BUSY] / a["rows"]) for a, b in zip(rounds, plain, strict=True)]
    return middle | {
        "peak_memory_mb": worst,
        "share_of_parquet": round(statistics.median(shares), 3),
        "share_of_parquet_by_processor_time": round(statistics.median(busy), 3),
    }


def main() -> None:
    parser = asking(__doc__)
    parser.add_argument("--folder", help="where the tables are written; a temporary folder by default")
    parser.add_argument("--child", help="used by the program itself")
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(child(asked.child, Path(asked.folder), asked.quick)))
        return
    n_bits, n_words = (1_000_000, 250_000) if asked.quick else (20_000_000, 5_000_000)
    work = Path(tempfile.mkdtemp(prefix="streams-", dir=asked.folder))
    kinds = ["Parquet files", "Arrow dataset", "DuckDB query", "yes/no Parquet"]
    packages = ["pyarrow", "duckdb"]
    try:
        write(work / "bits", n_bits, words=False)
        write(work / "words", n_words, words=True)
        if importlib.util.find_spec("deltalake") and importlib.util.find_spec("hiddenbits.data.readers.streams.lakes"):
            write_delta(work / "delta", work / "bits")
            kinds.append("Delta table")
            packages.append("deltalake")
        found: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
        for _ in range(ROUNDS):
            for kind in kinds:
                found[kind].append(run(kind, work, "--quick" if asked.quick else "--full"))
                print(kind, found[kind][-1], file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(work)
    figures = {kind: summary(rounds, found["Parquet files"]) for kind, rounds in found.items()}
    for kind, one in figures.items():
        same = kind.startswith("yes/no") or one["ones"] == figures["Parquet files"]["ones"]
        if not same:
            raise SystemExit(f"{kind}: other bits than the Parquet files")
        one["under_1_gb"] = one["peak_memory_mb"] < MEMORY_MB
        if not kind.startswith("yes/no"):
            one["fast_enough"] = one["share_of_parquet"] >= RATE
    record("streams/" + ("quick" if asked.quick else "full"), figures, seeds=SEED, packages=tuple(packages))


if __name__ == "__main__":
    main()
