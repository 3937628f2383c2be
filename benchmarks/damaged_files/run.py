"""Damaged files, with and without guarded=: how many crash or hang, give wrong rows, are refused, are read rightly.

800 .h5ad, 600 Parquet and 200 Zarr files with flipped bits, cut ends or swapped ranges. Every try has a process of its own,
forked from one that has imported the libraries, with at most 4 GiB of memory, 2 seconds of the processor and 600 by the
clock. Without guarded= that process opens the table and reads its rows; with it, it is the process that `open_table`
starts, and this program takes the table over.

    python -m benchmarks.damaged_files.run --full     (all of them)
    python -m benchmarks.damaged_files.run --quick    (14 of each)
"""

import io
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.record import asked_quick, peak_memory_mb, record, result
from scipy import sparse
from tests.data.readers.forked import LIBRARIES

from hiddenbits import ReadLimits, TableError, open_table
from hiddenbits.data.readers import guarded

PAGE = Path(__file__).parents[2] / "SECURITY.md"
MARKS = "<!-- counts: python -m benchmarks.damaged_files.run --full -->", "<!-- end of counts -->"
SEED = 20
FILES = {"h5ad": 800, "parquet": 600, "zarr": 200}
QUICK = 14
MEMORY, PROCESSOR, CLOCK = 4 << 30, 2, 600  # the clock is generous: a busy machine is slow
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


def in_child(function: Callable[[], str], seconds: float) -> tuple[str | None, int]:
    """Return what a function said in a forked process, and how that ended; killed when its time is over."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)  # HDF5 and glibc print what they die of
        os.write(writing, function().encode())
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], seconds)  # an answer, or the end of the process
    said = os.read(reading, 10_000).decode() if ready else ""
    os.close(reading)
    if not ready:
        os.kill(pid, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return (said or None), ended


def unguarded(path: Path, cells: np.ndarray) -> tuple[str, bool]:
    """Return what became of a file in a process that reads it itself, and whether it took much memory."""

    def attempt() -> str:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        said = verdict(path, cells)
        return json.dumps([said, peak_memory_mb() > LARGE])

    said, ended = in_child(attempt, CLOCK)
    if said is not None:
        found, large = json.loads(said)
        return found, large
    return ("hung" if ended in (-signal.SIGKILL, -signal.SIGXCPU) else "crashed"), False


def forked_run(asked: bytes, _folder: Path, limits: ReadLimits, shown: str) -> int:
    """Stand in for `guarded._run`: the same function in a forked process, and not in a new Python."""

    def child() -> str:
        sys.stdin = io.TextIOWrapper(io.BytesIO(asked))
        guarded.read(open_table)
        raise AssertionError("guarded.read ends its process")

    _, ended = in_child(child, CLOCK)  # by the clock a busy machine might be slow; the processor's time is limited
    if ended == -signal.SIGKILL:
        raise guarded._beyond(shown, "seconds", limits)
    return ended


def write_all(kind: str, many: int, folder: Path) -> str:
    """Write the damaged files of a kind, each into a folder of its own, with the cells that were in it."""
    for i in range(many):
        own = folder / str(i)
        own.mkdir()
        path, cells = damaged(kind, i, own)
        np.save(folder / f"{i}.npy", cells)
        (folder / f"{i}.txt").write_text(str(path))
    return "written"


def counted(figures: dict[str, Any]) -> str:
    """Return the counts as SECURITY.md shows them."""
    lines = [
        "| damaged files | crashed | hung | wrong rows | refused | read rightly |",
        "|---|---|---|---|---|---|",
    ]
    for kind, found in figures.items():
        counts = found["unguarded"]
        refused = sum(many for said, many in counts.items() if said.startswith("refused"))
        others = [counts.get(said, 0) for said in ("crashed", "hung", "wrong rows")]
        cells = [f"{found['files']} {kind}", *others, refused, counts.get("read rightly", 0)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def write_page() -> None:
    """Put the counts of the full run into SECURITY.md, between their marks."""
    figures = json.loads(result("damaged_files/counts").read_text())["figures"]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(
        before + MARKS[0] + "\n" + counted(figures) + MARKS[1] + rest.partition(MARKS[1])[2], encoding="utf-8"
    )


def main() -> None:
    quick = asked_quick(__doc__)
    for library in LIBRARIES:  # before processes are forked; none of them starts a thread
        import_module(library)
    guarded._run = forked_run
    limits = ReadLimits(memory=MEMORY, seconds=PROCESSOR)
    figures: dict[str, object] = {}
    for kind, full in FILES.items():
        many = QUICK if quick else full
        folder = Path(tempfile.mkdtemp(prefix="damaged-"))
        said, _ = in_child(partial(write_all, kind, many, folder), 3600)
        if said != "written":
            raise SystemExit(f"{kind}: the files could not be written")
        counts: dict[str, Counter[str]] = {"unguarded": Counter(), "guarded": Counter()}
        for i in range(many):
            path, cells = Path((folder / f"{i}.txt").read_text()), np.load(folder / f"{i}.npy")
            said, large = unguarded(path, cells)
            counts["unguarded"][said] += 1
            counts["unguarded"]["more than 1 GB"] += large
            counts["guarded"][verdict(path, cells, guarded=limits)] += 1
            if i % 50 == 49:
                print(kind, i + 1, json.dumps(counts), file=sys.stderr, flush=True)
        shutil.rmtree(folder)
        figures[kind] = {"files": many} | {how: dict(sorted(found.items())) for how, found in counts.items()}
        print(kind, json.dumps(figures[kind]), flush=True)
    name = "damaged_files/quick" if quick else "damaged_files/counts"
    record(name, figures, seeds=SEED, packages=("h5py", "pyarrow", "zarr"), aloud=False)
    if not quick:
        write_page()


if __name__ == "__main__":
    main()
