"""Delta and PostgreSQL: rows a second next to plain Parquet files, time of the one spill, and peak memory.

    python -m benchmarks.lakes.run --full     (Delta: 20 million rows x 16 bits; PostgreSQL: 5 million)
    python -m benchmarks.lakes.run --quick    (200,000 rows each)

The same rows lie in plain Parquet files and in a Delta table, where an earlier version was overwritten. Every figure is
from a fresh process, which opens the table and loads all its parts, one after the other; of three in turns the median
is taken. PostgreSQL is Debian's, on loopback, with data in a temporary folder.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from benchmarks.record import asking, peak_memory_mb, record
from tests.data.readers import postgres_server

import hiddenbits
from hiddenbits.datasets import write_mixture

COLUMNS, CLASSES, SEED, TURNS = 16, 8, 0, 3
NAMES = [f"x{j}" for j in range(COLUMNS)]
QUERY = f"select {', '.join(NAMES)} from answers order by id"


def measured(where: str) -> None:
    """The measured process: open a table, load all of it, and print what that took."""
    before, begun = peak_memory_mb(), time.perf_counter()
    options = {"query": QUERY} if where.startswith("postgresql:") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hiddenbits.SpilledTableWarning)
        table = hiddenbits.open_table(where, **options)
    opened = time.perf_counter()
    grid = table.grid(1024)
    ones = sum(int(grid.load(i).x.row_sums().sum()) for i in range(grid.n_parts))
    seconds = time.perf_counter() - opened
    figures = {
        "rows": table.shape[0],
        "ones": ones,
        "seconds_to_open": round(opened - begun, 2),
        "seconds_of_a_pass": round(seconds, 2),
        "rows_a_second": round(table.shape[0] / seconds),
        "peak_memory_mb": round(peak_memory_mb()),
        "memory_before_mb": round(before),
    }
    print(json.dumps(figures))


def fresh(where: str) -> dict[str, float]:
    """Return what a fresh process printed."""
    call = [sys.executable, "-m", "benchmarks.lakes.run", "--measure", where]
    found: dict[str, float] = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    return found


def middle(figures: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure, and the largest memory."""
    found = {name: statistics.median(one[name] for one in figures) for name in figures[0]}
    return found | {"peak_memory_mb": max(one["peak_memory_mb"] for one in figures)}


def write_lake(plain: Path, lake: Path) -> None:
    """Write the rows of Parquet files as a Delta table, over an earlier version."""
    from deltalake import write_deltalake

    source = ds.dataset(plain)
    schema = pa.schema([(name, pa.int8()) for name in NAMES])  # Delta has no unsigned numbers

    def batches():
        for file in sorted(source.files, key=lambda name: int(Path(name).stem.removeprefix("part"))):
            for batch in ds.dataset(file).to_batches(use_threads=False):
                yield batch.cast(schema)

    first = next(batches())
    write_deltalake(lake, pa.table(list(first.columns), names=NAMES))
    write_deltalake(lake, pa.RecordBatchReader.from_batches(schema, batches()), mode="overwrite")


def of_delta(n_rows: int, folder: Path) -> dict[str, object]:
    plain, lake = write_mixture(folder / "plain", n_rows, COLUMNS, CLASSES, seed=SEED), folder / "lake"
    write_lake(plain, lake)
    turns = [(fresh(f"{plain}/*.parquet"), fresh(str(lake))) for _ in range(TURNS)]
    parquet, delta = (middle([turn[k] for turn in turns]) for k in (0, 1))
    if (parquet["rows"], parquet["ones"]) != (delta["rows"], delta["ones"]):
        raise SystemExit("The Delta table has other rows than the Parquet files.")
    ratio = statistics.median(one["rows_a_second"] / other["rows_a_second"] for other, one in turns)
    return {"parquet": parquet, "delta": delta, "delta_over_parquet": round(ratio, 2)}


def of_postgresql(n_rows: int) -> dict[str, object]:
    bits = ", ".join(f"(random() < 0.3)::int::smallint as {name}" for name in NAMES)
    with postgres_server.running() as server:
        server.execute(
            f"select setseed({SEED})",
            f"create unlogged table answers as select i as id, {bits} from generate_series(1, {n_rows}) i",
            "create index on answers (id)",
            "analyze answers",
        )
        found = fresh(server.url)
    found["seconds_to_spill"] = found.pop("seconds_to_open")
    return {**found, "rows_a_second_of_the_spill": round(n_rows / found["seconds_to_spill"])}


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--measure":
        measured(sys.argv[2])
        return
    quick = asking(__doc__).parse_args().quick
    with tempfile.TemporaryDirectory(prefix="lakes-") as folder:
        figures = of_delta(200_000 if quick else 20_000_000, Path(folder))
    figures["postgresql"] = of_postgresql(200_000 if quick else 5_000_000)
    packages = ("adbc-driver-postgresql", "deltalake", "pyarrow")
    record("lakes/quick" if quick else "lakes/full", figures, seeds=SEED, packages=packages)


if __name__ == "__main__":
    main()
