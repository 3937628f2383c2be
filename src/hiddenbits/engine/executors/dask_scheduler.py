"""What runs on a cluster's scheduler.

Dask passes itself as `dask_scheduler`. The functions use its private attributes where there is no public API (2026.8).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

SPAN = "hiddenbits"
PART = "hiddenbits-part-"  # start of the key of a part; the name of its executor follows


@dataclass(frozen=True)
class TaskProgress:
    """Progress of the tasks of one executor.

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
    """Return the progress of an executor's tasks, after freeing parts from workers that are gone.

    The scheduler itself moves a part to another worker only while there are other workers. A task that has found no
    other waits for its old worker's address, although all workers are allowed (distributed#7346).
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
    return {address: (state.nthreads, state.memory_limit) for address, state in dask_scheduler.workers.items()}


def forgive_deaths(deaths: int, dask_scheduler: Any) -> int:
    """Set how many worker deaths the scheduler tolerates per task before it blames the task; return the old number."""
    before = int(dask_scheduler.allowed_failures)
    dask_scheduler.allowed_failures = deaths
    return before


def cut_records(dask_scheduler: Any) -> None:
    """Delete the records of submitted graphs, which the scheduler never deletes."""
    spans = dask_scheduler.extensions.get("spans")
    for span in spans.spans.values() if spans else ():
        if span.name[:1] == (SPAN,):
            span._metadata = None
