"""Damaged files, with and without guarded=: how many crash or hang, give wrong rows, are refused, are read rightly.

800 .h5ad, 600 Parquet and 200 Zarr files with flipped bits, cut ends or swapped ranges. Every try has a process of its own,
forked from one that has imported the libraries, at most 4 GiB of memory, 5 seconds of the processor and 60 by the clock
(guarded: 20 of both).
Without guarded= that process opens the table and reads its rows; with it, it is the process that `open_table` starts, and
this program takes the table over. `python benchmarks/damaged_files.py --quick` tries a few of each.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.record import asked_quick, peak_memory_mb, record
from tests.data.readers import forked

from hiddenbits import ReadLimits, TableError, open_table
from hiddenbits.data.readers import guarded

SEED = 20
FILES = {"h5ad": 800, "parquet": 600, "zarr": 200}
QUICK = 14
MEMORY, PROCESSOR, CLOCK = 4 << 30, 5, 60
SECONDS = 20  # of a guarded read
LARGE = 1000  # MB; a process that takes more is counted


def good(kind: str, i: int, folder: Path) -> tuple[Path, np.ndarray]:
    """Write the i-th sound file of a kind; return its path and its cells."""
    from tests.data.readers.arrays import test_h5ad, test_zarr
    from tests.data.readers.test_readers import as_lists, bits, frame, holes, write_parquet

    x = bits(60, 7, seed=i)
    names = [f"c{j}" for j in range(7)]
    if kind == "h5ad":
        storage = list(test_h5ad.STORAGE.values())[i % len(test_h5ad.STORAGE)]
        cells = [x.astype("f4"), holes(x), sparse.csr_array(x.astype("f4")), sparse.csc_array(x)][i % 4]
        libver = "latest" if i % 5 == 0 else None
        path = test_h5ad.write(folder / "x.h5ad", cells, names=names, libver=libver, **storage)
        return path, holes(x) if i % 4 == 1 else x.astype(float)
    if kind == "parquet":
        options = {"compression": ["snappy", "zstd", "gzip", "none"][i % 4]}
        if i % 3 == 2:
            x[0, 6] = 1
            return write_parquet(folder / "x.parquet", {"l": as_lists(x)}, **options), x.astype(float)
        cells = holes(x) if i % 3 else x
        form = ["uint8", "double", "bool"][i % 5 % 3]
        return write_parquet(folder / "x.parquet", frame(cells, form), **options), np.asarray(cells, float)
    if i % 3 == 0:
        return test_zarr.write_sparse(folder / "x.zarr", sparse.csr_array(x), version=2 + i % 2), x.astype(float)
    options = {"zarr_format": 2} if i % 2 else {"shards": (40, 8)} if i % 4 else {}
    return test_zarr.write(folder / "x.zarr", holes(x), chunks=(20, 4), **options), holes(x)


def damage(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip a few bits, cut the end, or swap two ranges."""
    raw, how = bytearray(data), rng.integers(3)
    if how == 0:
        for _ in range(rng.integers(1, 5)):
            raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    elif how == 1:
        del raw[rng.integers(len(raw)) :]
    else:
        length = int(rng.integers(1, max(2, min(64, len(raw) // 2))))
        one, other = sorted(int(at) for at in rng.integers(max(1, len(raw) - length), size=2))
        if other - one >= length:
            raw[one : one + length], raw[other : other + length] = (
                data[other : other + length],
                data[one : one + length],
            )
    return bytes(raw)


def damaged(kind: str, i: int, folder: Path) -> tuple[Path, np.ndarray]:
    """Write the i-th damaged file; return its path, and the cells that were in it."""
    rng = np.random.default_rng([SEED, list(FILES).index(kind), i])
    path, cells = good(kind, i, folder)
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    file = files[int(rng.integers(len(files)))]
    raw = file.read_bytes()
    changed = raw
    for _ in range(20):  # a swap of equal ranges changes nothing
        changed = damage(raw, rng)
        if changed != raw:
            break
    file.write_bytes(changed)
    return path, cells


def verdict(path: Path, cells: np.ndarray, **options: object) -> str:
    """Return what became of a damaged file."""
    try:
        table = open_table(path, **options)
        if table.shape != cells.shape:
            table.source.read(0, min(table.shape[0], 1000))
            return "wrong rows"
        return "read rightly" if np.array_equal(table.to_float(), cells, equal_nan=True) else "wrong rows"
    except TableError as error:
        for limit in ("seconds", "memory", "bytes"):
            if f"the limit of {limit}" in str(error):
                return f"refused at the limit of {limit}"
        return "refused after a crash" if "crashed (" in str(error) else "refused"
    except Exception as error:
        return f"another error: {type(error).__name__}"


def attempt(path: Path, cells: np.ndarray, out: str) -> None:
    """Open and read a file in this process, under the limits of the try; say what became of it."""
    forked.quiet(f"{out}.stderr")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    said = verdict(path, cells)
    Path(out).write_text(json.dumps([said, peak_memory_mb() > LARGE]))
    os._exit(0)


def unguarded(path: Path, cells: np.ndarray, folder: Path) -> tuple[str, bool]:
    """Return what became of a file in a process that reads it itself, and whether it took much memory."""
    out = folder / "said.json"
    out.unlink(missing_ok=True)
    process = forked.processes().Process(target=attempt, args=(path, cells, str(out)))
    process.start()
    process.join(CLOCK)
    if process.exitcode is None:
        process.kill()
        process.join()
        return "hung", False
    if out.is_file():
        said, large = json.loads(out.read_text())
        return said, large
    return ("hung" if -process.exitcode == 24 else "crashed"), False  # 24: the processor's time is over


def main() -> None:
    quick = asked_quick(__doc__)
    guarded._run = forked.run
    limits = ReadLimits(memory=MEMORY, seconds=SECONDS)
    figures: dict[str, object] = {}
    for kind, full in FILES.items():
        counts: dict[str, Counter[str]] = {"unguarded": Counter(), "guarded": Counter()}
        for i in range(QUICK if quick else full):
            folder = Path(tempfile.mkdtemp(prefix="damaged-"))
            path, cells = damaged(kind, i, folder)
            said, large = unguarded(path, cells, folder)
            counts["unguarded"][said] += 1
            counts["unguarded"]["more than 1 GB"] += large
            counts["guarded"][verdict(path, cells, guarded=limits)] += 1
            shutil.rmtree(folder)
        figures[kind] = {"files": sum(counts["guarded"].values())} | {
            how: dict(sorted(found.items())) for how, found in counts.items()
        }
        print(kind, json.dumps(figures[kind]), flush=True)
    name = "damaged_files_quick" if quick else "damaged_files"
    record(name, figures, seeds=SEED, packages=("h5py", "pyarrow", "zarr"), aloud=False)


if __name__ == "__main__":
    main()
