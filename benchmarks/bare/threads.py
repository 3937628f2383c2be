"""How much faster two threads make a pass of every model, and how much faster two cores of this computer could make it.

    python -m benchmarks.bare.threads --full     (passes of 50 ms and more, large tables; five minutes)
    python -m benchmarks.bare.threads --quick    (small tables, few turns; nothing is written)

Seconds by the clock, medians of turns: a pass on one thread, on two, and on one while a second process makes the same pass again and again.
Two threads cannot do better than two processes that share nothing but the computer: 2 x (alone / next to the other) is the limit.
Nor can they do better than blocks allow: a thread takes whole blocks, and where these are few one thread has more rows than the other.
Processor time of a pass on two threads next to that on one says whether they are in each other's way.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.record import asked_quick, record

from hiddenbits.engine import Local, one_blas_thread

from .jobs import jobs
from .turns import SEED, Job

SHORTEST, TURNS, BUSY = 0.05, 7, "--busy"


def clock(work: Callable[[], Any]) -> float:
    """Return the seconds of a call, by the clock."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def busy(size: str, number: int) -> None:
    """Make the same pass until this process is stopped; a line says that it has begun."""
    job = jobs(size)[number]()
    with one_blas_thread():
        job.ours()
        print("ready", flush=True)
        while True:
            job.ours()


def most_by_blocks(rows: Sequence[int]) -> float:
    """Return how many times faster two threads could be that take these blocks in order, each when it is free."""
    taken = [0, 0]
    for n in rows:
        taken[taken.index(min(taken))] += n
    return sum(taken) / max(taken)


def measured(job: Job, size: str, number: int, turns: int) -> dict[str, Any]:
    """Return the seconds of a pass: alone, on two threads, and next to another process."""
    expect, grid = job.ours.args
    two = Local(2)
    ways = {"one": job.ours, "two": lambda: two.reduce(expect, grid)}
    seconds: dict[str, list[float]] = {name: [] for name in (*ways, "beside")}
    processor: dict[str, list[float]] = {name: [] for name in ways}
    with one_blas_thread():
        for _ in range(turns):
            for name, work in ways.items():
                before = time.process_time()
                seconds[name].append(clock(work))
                processor[name].append(time.process_time() - before)
        other = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.bare.threads", BUSY, size, str(number)], stdout=subprocess.PIPE
        )
        try:
            assert other.stdout is not None
            other.stdout.readline()
            seconds["beside"] = [clock(job.ours) for _ in range(turns)]
        finally:
            other.kill()
            other.wait()
    two.close()
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        **{key: getattr(job, key) for key in ("model", "what", "table", "hidden", "dtype", "storage")},
        "milliseconds": round(1e3 * middle["one"], 1),
        "two_threads": round(middle["one"] / middle["two"], 2),
        "two_processes": round(2.0 * middle["one"] / middle["beside"], 2),
        "blocks": len(grid.blocks),
        "most_by_blocks": round(most_by_blocks([block.n_rows for block in grid.blocks]), 2),
        "processor": round(statistics.median(processor["two"]) / statistics.median(processor["one"]), 2),
    }


def main() -> None:
    if BUSY in sys.argv:
        busy(sys.argv[-2], int(sys.argv[-1]))
    quick = asked_quick(__doc__ or "")
    size, found = "small" if quick else "large", {}
    for number, make in enumerate(jobs(size)[:2] if quick else jobs(size)):
        job = make()
        with one_blas_thread():
            job.ours()  # compiles, and makes buffers
            if not quick and (job.dtype == "float32" or clock(job.ours) < SHORTEST):
                continue
        found[job.name] = measured(job, size, number, 2 if quick else TURNS)
        print(job.name, found[job.name]["two_threads"], found[job.name]["two_processes"], flush=True)
    if not quick:
        record("bare/threads", found, seeds=SEED, packages=("numba",), aloud=False)


if __name__ == "__main__":
    main()
