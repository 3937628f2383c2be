"""Opening CSV files of yes and no: `open_table`, against pyarrow's CSV reader and its columns turned into bits.

    python -m benchmarks.streams.csv_words --full [--folder DISK]     (5 million rows x 50; 1 million with blanks)
    python -m benchmarks.streams.csv_words --quick                    (200,000 rows x 50, and 40,000)

Both sides end with a matrix of one byte a cell, 1 for yes, and know which cells are blank. `open_table` also looks at
what each column holds, and keeps its cells as they are written; pyarrow is told that all columns are text (or categories,
"dictionary") and that yes is 1. The sides are taken in turn, several times, each in a new process, after a read of the
file; figures are medians, and a rate is set against the one of pyarrow in the same round.
"""

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
from benchmarks.record import asking, peak_memory_mb, record

SEED = 0
COLUMNS = 50
CHUNK_ROWS = 100_000
ROUNDS = 3
BLANKS = 0.05
OURS, TEXT, CATEGORIES = "hiddenbits", "pyarrow", "pyarrow, dictionary"
RATE = 0.5  # what is asked for: at least, of the rate of pyarrow


def write(path: Path, n_rows: int, blanks: float) -> None:
    """Write random cells, yes with a probability of 0.4."""
    rng = np.random.default_rng(SEED)
    with path.open("wb") as file:
        file.write(",".join(f"q{j}" for j in range(COLUMNS)).encode() + b"\n")
        for start in range(0, n_rows, CHUNK_ROWS):
            shape = (min(CHUNK_ROWS, n_rows - start), COLUMNS)
            cells = np.where(rng.random(shape) < 0.4, b"yes,", b"no,")
            cells[rng.random(shape) < blanks] = b","
            cells[:, -1] = np.char.replace(cells[:, -1], b",", b"\n")
            file.write(cells.tobytes().replace(b"\0", b""))


def with_hiddenbits(path: Path) -> tuple[Any, int]:
    """Return the bits, and the number of blanks."""
    from hiddenbits import open_table

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that says which word is 1
        table = open_table(path)
    x, observed = table.source.read(0, table.shape[0])
    return x.values, table.shape[0] * table.shape[1] - int(observed.row_sums().sum())


def with_pyarrow(path: Path, *, categories: bool) -> tuple[Any, int]:
    """Do the same."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    kind = pa.dictionary(pa.int32(), pa.string()) if categories else pa.string()
    convert = pyarrow.csv.ConvertOptions(
        column_types={f"q{j}": kind for j in range(COLUMNS)}, strings_can_be_null=True, null_values=[""]
    )
    table = pyarrow.csv.read_csv(path, convert_options=convert)
    x = np.empty(table.shape, np.uint8)
    observed = np.empty(table.shape, np.uint8) if any(column.null_count for column in table.columns) else None
    for j, column in enumerate(table.columns):
        if categories:
            start = 0
            for chunk in column.chunks:  # each has a dictionary of its own
                yes = chunk.dictionary.index("yes").as_py()
                x[start : start + len(chunk), j] = chunk.indices.fill_null(-1).to_numpy() == yes
                start += len(chunk)
        else:
            x[:, j] = pc.equal(column, "yes").fill_null(False).cast(pa.uint8()).to_numpy()
        if observed is not None:
            observed[:, j] = column.is_valid().cast(pa.uint8()).to_numpy()
    return x, 0 if observed is None else observed.size - int(np.count_nonzero(observed))


def child(side: str, path: Path) -> dict[str, Any]:
    """Open the file once, after what is needed for it was loaded."""
    small = path.with_name("small.csv")
    open_it = {
        OURS: with_hiddenbits,
        TEXT: lambda path: with_pyarrow(path, categories=False),
        CATEGORIES: lambda path: with_pyarrow(path, categories=True),
    }[side]
    open_it(small)
    begun, busy = time.perf_counter(), time.process_time()
    x, blanks = open_it(path)
    done, busy = time.perf_counter() - begun, time.process_time() - busy
    return {
        "rows": len(x),
        "ones": [int(many) for many in x.sum(axis=0, dtype=np.int64)],
        "blanks": blanks,
        "seconds": round(done, 3),
        "processor_seconds": round(busy, 3),
        "peak_memory_mb": round(peak_memory_mb(), 1),
    }


def run(side: str, path: Path) -> dict[str, Any]:
    call = [sys.executable, "-m", "benchmarks.streams.csv_words", "--quick", "--child", side, "--folder", str(path)]
    found: dict[str, Any] = json.loads(
        subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    )
    return found


def compared(path: Path) -> dict[str, Any]:
    """Return the figures of all sides for one file."""
    found: dict[str, list[dict[str, Any]]] = {OURS: [], TEXT: [], CATEGORIES: []}
    for _ in range(ROUNDS):
        for side, rounds in found.items():
            rounds.append(run(side, path))
            shown = {name: value for name, value in rounds[-1].items() if name != "ones"}
            print(path.name, side, shown, file=sys.stderr, flush=True)
    first = found[OURS][0]
    for side, rounds in found.items():
        if any(one[name] != first[name] for one in rounds for name in ("rows", "ones", "blanks")):
            raise SystemExit(f"{side}: other bits")
    figures: dict[str, Any] = {
        "rows": first["rows"],
        "blanks": first["blanks"],
        "file_mb": path.stat().st_size // 10**6,
    }
    for side, rounds in found.items():
        figures[side] = {
            "seconds": statistics.median(one["seconds"] for one in rounds),
            "processor_seconds": statistics.median(one["processor_seconds"] for one in rounds),
            "peak_memory_mb": max(one["peak_memory_mb"] for one in rounds),
        }
        if side != OURS:
            for name in ("seconds", "processor_seconds"):
                shares = [a[name] / b[name] for a, b in zip(rounds, found[OURS], strict=True)]
                figures[OURS][f"rate_against_{side}_by_{name}"] = round(statistics.median(shares), 3)
    figures["fast_enough"] = figures[OURS][f"rate_against_{TEXT}_by_seconds"] >= RATE
    return figures


def main() -> None:
    parser = asking(__doc__)
    parser.add_argument("--folder", help="where the files are written; a temporary folder by default")
    parser.add_argument("--child", help="used by the program itself")
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(child(asked.child, Path(asked.folder))))
        return
    n_rows = 200_000 if asked.quick else 5_000_000
    work = Path(tempfile.mkdtemp(prefix="csv-words-", dir=asked.folder))
    figures = {}
    try:
        write(work / "small.csv", 1000, BLANKS)
        for name, many, blanks in (("yes/no", n_rows, 0.0), ("yes/no and blanks", n_rows // 5, BLANKS)):
            path = work / "cells.csv"
            write(path, many, blanks)
            figures[name] = compared(path)
    finally:
        shutil.rmtree(work)
    record("streams/csv_words" + ("_quick" if asked.quick else ""), figures, seeds=SEED, packages=("pyarrow",))


if __name__ == "__main__":
    main()
