"""What a cluster costs: passes over one table, serially, on one and two dask workers, and in two bare processes.

    python benchmarks/cluster_overhead.py --full     (a serial pass of at least 5 s)
    python benchmarks/cluster_overhead.py --quick    (a small table; the figures mean nothing, the program runs)

A pass is the E-step of a mixture of 64 classes, all statistics added up and brought to the driver. The rows are in memory
everywhere, in parts of the usual size (64 MB): in this process, on the workers (each one thread), and in the two bare processes, which walk one half each
with the same functions and neither send nor merge anything: what two processes can do at best on this machine. The
four take turns, and each figure is the median of its turns. Besides: what a pass over a tiny table costs, and a pass
of 1,000 parts with next to no work, which is the scheduler's own load.
"""

import multiprocessing
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from record import asked_quick, record

import hiddenbits
from hiddenbits.data import Block, Grid
from hiddenbits.data.summary import summarise
from hiddenbits.datasets import simulate_mixture
from hiddenbits.engine import Cluster, Key, Local, block_height
from hiddenbits.engine.loops.online_em import expect
from hiddenbits.engine.loops.restarts import full_start
from hiddenbits.families.bernoulli_mixture.model import Mixture
from hiddenbits.families.independent_bits.model import IndependentStats

COLUMNS, CLASSES, SEED = 128, 64, 0


def grid_of(path: str, *, in_memory: bool) -> Grid:
    """The table, its rows in memory or to be loaded by workers; cut into the same blocks everywhere."""
    model = Mixture(CLASSES)
    table = hiddenbits.open_table(np.load(path) if in_memory else [path])
    return table.grid(block_height(model.footprint(COLUMNS, float(COLUMNS))))


def e_step(path: str) -> Any:
    """The function of a pass: parameters somewhere, the same for all."""
    model = Mixture(CLASSES)
    grid = hiddenbits.open_table(np.load(path, mmap_mode="r")[:20_000]).grid(4096)
    params = full_start(model, Local().reduce(summarise, grid), Key(SEED), None)
    return partial(expect, model, params, model.prepare(params), Key(SEED), None)


def bare(path: str, half: int, turns: int, barrier: Any, seconds: Any) -> None:
    """One of the two bare processes: its half of the rows, walked with the same function."""
    rows = np.load(path, mmap_mode="r")
    middle = len(rows) // 2
    mine = np.array(rows[:middle] if half == 0 else rows[middle:])
    grid = hiddenbits.open_table(mine).grid(grid_of(path, in_memory=False).height)
    function = e_step(path)
    Local().reduce(function, grid)
    for _ in range(turns):
        barrier.wait()  # begin together, and only when it is our turn
        begun = time.perf_counter()
        Local().reduce(function, grid)
        seconds[half] = time.perf_counter() - begun
        barrier.wait()


def seconds_of(work: Any) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def large(n_rows: int, turns: int, folder: Path) -> dict[str, Any]:
    path = str(folder / "rows.npy")
    np.save(path, simulate_mixture(n_rows, COLUMNS, 20, seed=SEED).X)
    function, here = e_step(path), grid_of(path, in_memory=True)
    there = grid_of(path, in_memory=False)
    context = multiprocessing.get_context("spawn")
    barrier, bare_seconds = context.Barrier(3), context.Array("d", 2)
    processes = [context.Process(target=bare, args=(path, half, turns, barrier, bare_seconds)) for half in (0, 1)]
    for process in processes:
        process.start()
    found: dict[str, list[float]] = {"serial": [], "one_worker": [], "two_workers": [], "two_bare_processes": []}
    with workers(1) as one, workers(2) as two, Client(one) as client_one, Client(two) as client_two:
        executors = {"one_worker": Cluster(client_one), "two_workers": Cluster(client_two)}
        for executor in executors.values():  # the rows are loaded, and every process has seen the functions
            executor.reduce(function, there)
        Local().reduce(function, here)
        for _ in range(turns):
            found["serial"].append(seconds_of(lambda: Local().reduce(function, here)))
            for name, executor in executors.items():
                found[name].append(seconds_of(lambda executor=executor: executor.reduce(function, there)))
            barrier.wait()
            barrier.wait()
            found["two_bare_processes"].append(max(bare_seconds))
        for executor in executors.values():
            executor.close()
    for process in processes:
        process.join()
    medians = {name: statistics.median(times) for name, times in found.items()}
    return {
        "rows": n_rows,
        "columns": COLUMNS,
        "classes": CLASSES,
        "parts": there.n_parts,
        "seconds": {name: round(median, 3) for name, median in medians.items()},
        "seconds_each": {name: [round(s, 3) for s in times] for name, times in found.items()},
        "times_serial": {name: round(median / medians["serial"], 3) for name, median in medians.items()},
        "rows_a_second_serial": round(n_rows / medians["serial"]),
        "gigaflops_serial": round(4e-9 * n_rows * COLUMNS * CLASSES / medians["serial"], 2),
    }


def workers(n: int) -> LocalCluster:
    return LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="8GiB")


def tiny(turns: int) -> dict[str, Any]:
    """A pass over 2,000 x 12 cells in 4 parts."""
    grid = hiddenbits.open_table(simulate_mixture(2000, 12, 2, seed=SEED).X, part_bytes=12 * 600).grid(256)
    with workers(2) as cluster, Client(cluster) as client:
        executor = Cluster(client)
        executor.reduce(summarise, grid)
        there = [seconds_of(lambda: executor.reduce(summarise, grid)) for _ in range(turns)]
        executor.close()
    here = [seconds_of(lambda: Local().reduce(summarise, grid)) for _ in range(turns)]
    return {
        "milliseconds_a_pass_serial": round(1e3 * statistics.median(here), 2),
        "milliseconds_a_pass_two_workers": round(1e3 * statistics.median(there), 2),
    }


def next_to_nothing(_: Block) -> IndependentStats:
    """Work of no size on a block: what is left is the scheduler's."""
    one = np.ones(1)
    return IndependentStats(np.ones(()), np.ones(()), one, one)


def many_parts(n_parts: int, turns: int) -> dict[str, Any]:
    """A pass over parts with next to no work."""
    grid = hiddenbits.open_table(np.zeros((n_parts, 8), np.uint8), part_bytes=8).grid(1)
    assert grid.n_parts == n_parts
    with workers(2) as cluster, Client(cluster) as client:
        executor = Cluster(client)
        executor.reduce(next_to_nothing, grid)
        times = [seconds_of(lambda: executor.reduce(next_to_nothing, grid)) for _ in range(turns)]
        executor.close()
    median = statistics.median(times)
    merges, level = 0, n_parts
    while level > 1:
        level = -(-level // 8)
        merges += level
    tasks = 1 + n_parts + merges
    return {
        "parts": n_parts,
        "tasks_a_pass": tasks,
        "seconds_a_pass": round(median, 3),
        "seconds_each": [round(s, 3) for s in times],
        "milliseconds_a_task": round(1e3 * median / tasks, 3),
    }


if __name__ == "__main__":
    quick = asked_quick(__doc__)
    with tempfile.TemporaryDirectory() as work_folder:
        results = {
            "large": large(200_000 if quick else 1 << 22, 2 if quick else 9, Path(work_folder)),
            "tiny": tiny(10 if quick else 200),
            "many_parts": [many_parts(n, 2 if quick else 7) for n in ((50,) if quick else (250, 1000))],
        }
    record("cluster_overhead" + ("_quick" if quick else ""), results, seeds=SEED, packages=("dask", "distributed"))
