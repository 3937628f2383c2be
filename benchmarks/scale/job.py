"""The measured process: one fit by online EM and one scoring pass, on this machine's threads or on a cluster."""

import hashlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from contextlib import ExitStack
from typing import Any

import numpy as np
import psutil
from benchmarks.record import peak_memory_mb
from benchmarks.scale.simulate import CLASSES, COLUMNS
from sklearn.exceptions import ConvergenceWarning

import hiddenbits

PART_BYTES = 12 * 2**20  # small parts: little memory, and several parts in a group of online EM
WORKER_MEMORY = "900MB"  # less than a share of the large table: its parts do not stay, every pass reads the files


class Watch(threading.Thread):
    """Adds up the memory of this process and its children, twice a second, and keeps the largest sum."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._over = 0.0, threading.Event()

    def run(self) -> None:
        me = psutil.Process()
        while not self._over.wait(0.5):
            total = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:  # the one that was killed
                    continue
            self.peak = max(self.peak, total / 1e6)

    def close(self) -> None:
        self._over.set()


def kill_one(client: Any, seconds: float, said: list[float]) -> None:
    """Kill a worker process, by a signal that it cannot see coming, so many seconds from now."""
    time.sleep(seconds)
    os.kill(sorted(client.run(os.getpid).values())[0], signal.SIGKILL)
    said.append(round(seconds, 1))


def model_of(name: str) -> Any:
    """Return what is fitted: after the online pass, a full pass of the mixture or two of the map."""
    if name == "map":
        return hiddenbits.LogisticPCA(2, online_passes=1, max_iter=2, random_state=0)
    return hiddenbits.LatentClassAnalysis(CLASSES, n_init=1, online_passes=1, max_iter=1, random_state=0)


def run(pattern: str, *, workers: int, kill_after: float | None, model: str = "mixture") -> dict[str, Any]:
    watch, killed, stack = Watch(), [], ExitStack()
    watch.start()
    with stack:
        if workers:
            from distributed import Client, LocalCluster

            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, memory_limit=WORKER_MEMORY, dashboard_address=None
                )
            )
            client = stack.enter_context(Client(cluster))
            stack.enter_context(hiddenbits.run_on(client))
        else:
            stack.enter_context(hiddenbits.run_on(n_jobs=2))
        begun, cpu = time.perf_counter(), time.process_time()
        if kill_after is not None:
            threading.Thread(target=kill_one, args=(client, kill_after, killed), daemon=True).start()
        table = hiddenbits.open_table(pattern, n_columns=COLUMNS, part_bytes=PART_BYTES)
        fit = model_of(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit.fit(table)  # so few passes are what was asked for
        fitted = time.perf_counter()
        score = fit.score(table)
        done = time.perf_counter()
    watch.close()
    arrays = [fit.weights_, fit.probabilities_] if model == "mixture" else [fit.components_, fit.intercepts_]
    return {
        "rows": table.shape[0],
        "seconds": round(done - begun, 2),
        "seconds_fit": round(fitted - begun, 2),
        "seconds_score": round(done - fitted, 2),
        "processor_seconds": round(time.process_time() - cpu, 2) if not workers else None,
        "peak_memory_mb": round(max(peak_memory_mb(), watch.peak) if not workers else watch.peak),
        "log_likelihood_a_row": round(float(score), 6),
        "worker_killed_after": killed,
        "parameters": hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16],
    }


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(run(**asked)))
