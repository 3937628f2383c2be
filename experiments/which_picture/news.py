"""A default `compare` of news100: how long it takes, and what a kill -9 half-way costs.

Two runs in processes of their own, with two threads: one left alone, one killed when about half of its fits are
finished and then started again. The second must do no finished fit again, and both must give the same table. `--quick`
does the same on a small simulated table.
"""

import json
import multiprocessing
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import simulate

MEASURED = ("fit_seconds", "all_seconds", "peak_memory")  # differ from run to run
QUICK = {"BernoulliMixture": [2, 3, 5, 6], "ClippedPCA": [1, 2, 3]}


def table(*, full: bool) -> np.ndarray:
    if not full:
        return simulate.mixture(1500, 0)
    from hiddenbits.datasets import data_folder

    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=False) as held:
        return held["X"]


def work(folder: str, full: bool) -> None:
    """The program that is killed: compare, and write the table down."""
    import hiddenbits
    from hiddenbits import evaluate

    begun = time.perf_counter()
    with hiddenbits.run_on(n_jobs=2):
        if full:
            found = evaluate.compare(table(full=True), folder=Path(folder) / "fits")
        else:
            models = ["IndependentBits", *QUICK]
            found = evaluate.compare(table(full=False), models, sizes=QUICK, folder=Path(folder) / "fits")
    seconds = {"seconds": time.perf_counter() - begun, "processor seconds": time.process_time()}
    shown = {**seconds, "entries": found.records(), "text": str(found)}
    (Path(folder) / "table.json").write_text(json.dumps(shown))


def finished(folder: Path) -> dict[str, int]:
    """Return the finished fits, and when each was."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.json")}


def run(folder: Path, *, full: bool, kill_at: int | None = None) -> None:
    """Run the program; kill it when so many fits are finished."""
    child = multiprocessing.get_context("spawn").Process(target=work, args=(str(folder), full))
    child.start()
    while child.is_alive() and (kill_at is None or len(finished(folder)) < kill_at):
        child.join(0.02)
    if kill_at is not None:
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    elif child.exitcode != 0:
        raise RuntimeError(f"The comparison ended with {child.exitcode}.")


def measure(*, full: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as held:
        whole, broken = Path(held) / "whole", Path(held) / "broken"
        whole.mkdir()
        broken.mkdir()
        run(whole, full=full)
        n_fits = len(finished(whole))
        run(broken, full=full, kill_at=n_fits // 2)
        before = finished(broken)
        run(broken, full=full)
        after = finished(broken)
        left_alone, resumed = (json.loads((folder / "table.json").read_text()) for folder in (whole, broken))
    same = [[{k: v for k, v in e.items() if k not in MEASURED} for e in t["entries"]] for t in (left_alone, resumed)]
    return {
        "seconds": left_alone["seconds"],
        "processor seconds": left_alone["processor seconds"],
        "seconds after the kill": resumed["seconds"],
        "fits": n_fits,
        "finished before the kill": len(before),
        "done again": sum(after.get(name) != when for name, when in before.items()),
        "fits in the end": len(after),
        "same table": same[0] == same[1],
        "entries": left_alone["entries"],
        "text": left_alone["text"],
    }
