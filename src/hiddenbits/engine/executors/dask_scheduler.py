"""What runs on a cluster's scheduler.

The functions take `dask_scheduler`, which dask fills in. They look inside it where it has no public way (2026.8).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

SPAN = "hiddenbits"
PART = "hiddenbits-part-"  # how the group of a part begins; the name of its executor follows


@dataclass(frozen=True)
class TaskProgress:
    """How far the tasks of one executor are.

    Attributes
    ----------
    n_workers : int
        Workers that are connected.
    states : dict
        Number of tasks in each of the scheduler's states: waiting, no-worker, queued, processing, memory, ...
    """

    n_workers: int
    states: dict[str, int]

    @property
    def running(self) -> bool:
        """Whether a worker has a task to run."""
        return self.states.get("processing", 0) > 0


def progress(name: str, dask_scheduler: Any) -> TaskProgress:
    """Return how far the tasks of an executor are, after freeing parts from workers that are gone.

    The scheduler itself lets a part go elsewhere only while other workers are left. A task that has found no worker
    waits for one of its own address to come back, although all others are allowed (distributed#7346).
    """
    tasks = {key: task for key, task in dask_scheduler.tasks.items() if isinstance(key, tuple) and name in str(key[0])}
    freed = [
        (key, task)
        for key, task in tasks.items()
        if task.worker_restrictions
        and not any(address in dask_scheduler.workers for address in task.worker_restrictions)
    ]
    for _, task in freed:
        task.worker_restrictions = None
    waiting = {key: "processing" for key, task in freed if task.state == "no-worker"}
    dask_scheduler.transitions(waiting, f"{SPAN}-freed-{name}")
    return TaskProgress(len(dask_scheduler.workers), dict(Counter(task.state for task in tasks.values())))


def workers(dask_scheduler: Any) -> dict[str, tuple[int, int]]:
    """Return the number of threads and the memory limit (0: none) of each worker, by address."""
    return {address: (found.nthreads, found.memory_limit) for address, found in dask_scheduler.workers.items()}


def forgive_deaths(deaths: int, dask_scheduler: Any) -> int:
    """Tell the scheduler how many deaths a task may be near without having caused them; return what it was told."""
    before = int(dask_scheduler.allowed_failures)
    dask_scheduler.allowed_failures = deaths
    return before


def cut_records(dask_scheduler: Any) -> None:
    """Drop the record of each graph that was sent: the scheduler never does."""
    spans = dask_scheduler.extensions.get("spans")
    for found in spans.spans.values() if spans else ():
        if found.name[:1] == (SPAN,):
            found._metadata = None
