"""What it costs to open tables of every format, and to read all their rows once, beside another checkout.

    python -m benchmarks.opening FOLDER --full     (FOLDER: the other checkout; some minutes)
    python -m benchmarks.opening FOLDER --quick    (a fifth of the rows)

Each format is opened in fresh processes, in turn by this checkout and by the other one; processor time of the quickest of
several openings after one that is not counted, and the median over the processes.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.record import asking, record
from scipy import sparse

SEED = 20261119
PROCESSES, OPENINGS = 3, 4
BITS = 64  # columns of 0 and 1
WORDS = np.array(["never", "rarely", "sometimes", "often", "always"], object)


def bits(n: int, share: float = 0.3) -> Any:
    return (np.random.default_rng(SEED).random((n, BITS)) < share).astype(np.uint8)


def answers(n: int, n_columns: int = 30) -> Any:
    """Return a survey: words, with some missing."""
    import pandas as pd

    rng = np.random.default_rng(SEED)
    frame = pd.DataFrame(WORDS[rng.integers(0, 5, (n, n_columns))], columns=[f"q{j}" for j in range(n_columns)])
    return frame.mask(rng.random(frame.shape) < 0.02)


def named_bits(n: int) -> Any:
    import pandas as pd

    return pd.DataFrame(bits(n), columns=[f"c{j}" for j in range(BITS)])


def long_pairs(n: int, *, in_order: bool) -> Any:
    import pandas as pd

    rng = np.random.default_rng(SEED)
    rows = rng.integers(0, n, 10 * n)
    return pd.DataFrame({"order": np.sort(rows) if in_order else rows, "item": rng.integers(0, BITS, 10 * n)})


def baskets(n: int, prefix: str, between: str) -> str:
    rng = np.random.default_rng(SEED)
    return "".join(
        between.join(f"{prefix}{item}" for item in rng.choice(BITS, 8, replace=False)) + "\n" for _ in range(n)
    )


def lists(n: int) -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(SEED)
    return pa.table({"items": [rng.choice(BITS, 8, replace=False).tolist() for _ in range(n)]})


def store(path: Path, table: Any, **options: Any) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(table, path, **options)
    return path


def arrow(frame: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


def hdf(path: Path, n: int) -> Path:
    import anndata

    anndata.AnnData(sparse.csr_matrix(bits(n, 0.05).astype(np.float32))).write_h5ad(path)
    return path


def zarr_array(path: Path, n: int) -> Path:
    import zarr

    zarr.open_array(path, mode="w", shape=(n, BITS), chunks=(8192, BITS), dtype="u1")[:] = bits(n)
    return path


def npz(path: Path, n: int) -> Path:
    sparse.save_npz(path, sparse.csr_array(bits(n, 0.05)))
    return path


def npy(path: Path, n: int) -> Path:
    np.save(path, bits(n))
    return path


def text(path: Path, written: str) -> Path:
    path.write_text(written)
    return path


def csv(path: Path, frame: Any, **options: Any) -> Path:
    frame.to_csv(path, index=False, **options)
    return path


def saved(path: Path, frame: Any) -> Path:
    """Return the frame as a file of the format that the suffix names."""
    if path.suffix == ".sav":
        import pyreadstat

        pyreadstat.write_sav(frame, path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif path.suffix == ".feather":
        frame.to_feather(path)
    return path


def delta(path: Path, frame: Any) -> Path:
    import deltalake

    deltalake.write_deltalake(path, arrow(frame))
    return path


def hive(path: Path, frame: Any) -> Path:
    frame.assign(year=np.arange(len(frame)) % 3).to_parquet(path, partition_cols=["year"])
    return path


def dask_frame(frame: Any) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=8)


def dask_array(n: int) -> Any:
    import dask.array as da

    return da.from_array(bits(n), chunks=(max(n // 8, 1), BITS))


def polars(frame: Any) -> Any:
    import polars as pl

    return pl.from_pandas(frame)


# By the name of a format: what makes the table, given a folder and a number of rows; how many rows; options.
Format = tuple[Callable[[Path, int], Any], int, dict[str, Any]]
LEVELS = {"column_types": "auto"}
PAIRS = {"row": "order", "item": "item"}
FORMATS: dict[str, Format] = {
    "array of bytes": (lambda _, n: bits(n), 1_000_000, {}),
    "array of floats": (lambda _, n: bits(n).astype(float), 500_000, {}),
    "sparse array": (lambda _, n: sparse.csr_array(bits(n, 0.05)), 500_000, {}),
    "npy": (lambda f, n: npy(f / "x.npy", n), 1_000_000, {}),
    "npz, sparse": (lambda f, n: npz(f / "x.npz", n), 200_000, {}),
    "Zarr": (lambda f, n: zarr_array(f / "x.zarr", n), 500_000, {}),
    "h5ad": (lambda f, n: hdf(f / "x.h5ad", n), 200_000, {}),
    "dask array": (lambda _, n: dask_array(n), 500_000, {}),
    "dask frame, 0/1": (lambda _, n: dask_frame(named_bits(n)), 200_000, {}),
    "pandas, 0/1": (lambda _, n: named_bits(n), 500_000, {}),
    "pandas, words": (lambda _, n: answers(n), 50_000, LEVELS),
    "pandas, categories": (lambda _, n: answers(n).astype("category"), 200_000, LEVELS),
    "polars, words": (lambda _, n: polars(answers(n)), 100_000, LEVELS),
    "Arrow, words": (lambda _, n: arrow(answers(n)), 100_000, LEVELS),
    "dict of lists": (lambda _, n: answers(n).to_dict("list"), 10_000, LEVELS),
    "CSV, 0/1": (lambda f, n: csv(f / "x.csv", named_bits(n)), 200_000, {}),
    "CSV, 0/1, wide": (lambda f, n: csv(f / "x.csv", named_bits(n).loc[:, lambda x: list(x) * 16], header=False), 5_000, {}),
    "CSV, words": (lambda f, n: csv(f / "x.csv", answers(n)), 100_000, LEVELS),
    "CSV, semicolons": (lambda f, n: csv(f / "x.csv", answers(n), sep=";"), 100_000, LEVELS),
    "Parquet, 0/1": (lambda f, n: store(f / "x.parquet", arrow(named_bits(n)), row_group_size=50_000), 1_000_000, {}),
    "Parquet, words": (lambda f, n: store(f / "x.parquet", arrow(answers(n))), 200_000, LEVELS),
    "Feather": (lambda f, n: saved(f / "x.feather", answers(n)), 100_000, LEVELS),
    "JSON lines": (lambda f, n: saved(f / "x.jsonl", answers(n)), 20_000, LEVELS),
    "Excel": (lambda f, n: saved(f / "x.xlsx", answers(n)), 2_000, LEVELS),
    "SPSS": (lambda f, n: saved(f / "x.sav", answers(n)), 20_000, LEVELS),
    "Delta": (lambda f, n: delta(f / "x", named_bits(n)), 500_000, {}),
    "folders of partitions": (lambda f, n: hive(f / "x", named_bits(n)), 500_000, {"drop": "year"}),
    "reader of batches": (lambda _, n: arrow(named_bits(n)).to_reader(), 200_000, {}),
    "baskets of numbers": (lambda f, n: text(f / "x.dat", baskets(n, "", " ")), 200_000, {}),
    "baskets of names": (lambda f, n: text(f / "x.txt", baskets(n, "milk", ",")), 100_000, {}),
    "lists in Parquet": (lambda f, n: store(f / "x.parquet", lists(n)), 200_000, {}),
    "pairs in Parquet, in order": (
        lambda f, n: store(f / "x.parquet", arrow(long_pairs(n, in_order=True))), 200_000, PAIRS),
    "pairs in Parquet, in no order": (
        lambda f, n: store(f / "x.parquet", arrow(long_pairs(n, in_order=False))), 100_000, PAIRS),
    "pairs in a CSV": (lambda f, n: csv(f / "x.csv", long_pairs(n, in_order=True)), 50_000, PAIRS),
}  # fmt: skip


def measure(name: str, folder: Path, n: int) -> None:
    """Print the seconds of opening, and of opening and reading all rows; run in a process of its own."""
    from hiddenbits import open_table

    make, _, options = FORMATS[name]
    kept = folder / "made"
    data = None if name == "reader of batches" else made(make, folder, n, kept)
    opening, both = [], []
    warnings.simplefilter("ignore")
    for _ in range(OPENINGS + 1):
        data = make(folder, n) if name == "reader of batches" else data
        start = time.process_time()
        table = open_table(data, **options)
        opened = time.process_time()
        grid = table.grid(8192)
        for part in range(grid.n_parts):
            grid.load(part)
        opening.append(opened - start)
        both.append(time.process_time() - start)
        shape = table.shape
        del table, grid
    print(json.dumps({"opening": min(opening[1:]), "both": min(both[1:]), "shape": shape}))


def made(make: Callable[[Path, int], Any], folder: Path, n: int, kept: Path) -> Any:
    """Return the table; a file is written once, and read by all processes."""
    if kept.exists():
        return folder / kept.read_text()
    data = make(folder, n)
    if isinstance(data, Path):
        kept.write_text(data.name)
    return data


def compared(name: str, n: int, other: Path) -> dict[str, Any]:
    here = Path(__file__).parents[2]
    seconds: dict[str, list[dict[str, Any]]] = {"here": [], "other": []}
    with TemporaryDirectory() as folder:
        for _ in range(PROCESSES):
            for which, root in (("here", here), ("other", other)):
                env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(here)])}
                command = [sys.executable, "-m", "benchmarks.opening", "--measure", name, folder, str(n)]
                done = subprocess.run(command, env=env, cwd=here, capture_output=True, text=True, check=False)
                if done.returncode:
                    return {"failed": which, "why": done.stderr.strip().splitlines()[-1]}
                seconds[which].append(json.loads(done.stdout.splitlines()[-1]))
    middle = {
        which: {what: statistics.median(one[what] for one in found) for what in ("opening", "both")}
        for which, found in seconds.items()
    }
    return {
        "rows": n,
        "same shape": seconds["here"][0]["shape"] == seconds["other"][0]["shape"],
        "seconds": round(middle["here"]["opening"], 4),
        "opening": round(middle["here"]["opening"] / middle["other"]["opening"], 2),
        "opening and reading": round(middle["here"]["both"] / middle["other"]["both"], 2),
    }


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        return
    parser = asking(__doc__ or "")
    parser.add_argument("other", type=Path, metavar="FOLDER", help="another checkout of the project")
    parser.add_argument("--only", default="", help="formats whose names have this")
    asked = parser.parse_args()
    figures = {}
    for name, (_, n, _) in FORMATS.items():
        if asked.only in name:
            figures[name] = compared(name, n // 20 if asked.quick else n // 4, asked.other.resolve())
            print(f"{name:32} {figures[name]}", flush=True)
    if not asked.only and not asked.quick:
        git = ["git", "-C", str(asked.other), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
        sys.argv[1:] = ["FOLDER", "--full"]  # where the other checkout lies is nobody's business
        record("opening/formats", figures, seeds=SEED, packages=("pandas", "polars", "pyarrow"), other=commit)


if __name__ == "__main__":
    main()
