"""A real scheduler and real workers as processes on loopback, to be killed and stopped."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Processes:
    """Starts `dask scheduler` and `dask worker`; everything is killed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        until = time.monotonic() + 30
        while not self.file.exists():
            if time.monotonic() > until:
                raise TimeoutError("the scheduler did not start")
            time.sleep(0.05)

    def _start(self, what: str, *options: str, first: Path = ROOT, within: tuple[str, ...] = ()) -> subprocess.Popen:
        call = [*within, sys.executable, "-m", "dask", what, "--scheduler-file", str(self.file), *options]
        path = os.pathsep.join([str(first), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        with (self.folder / f"{what}.log").open("a") as log:
            return subprocess.Popen(call, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": path})

    def add_worker(
        self, *options: str, memory: str = "2GiB", nanny: bool = False, first: Path = ROOT, within: tuple[str, ...] = ()
    ) -> subprocess.Popen:
        """Start a worker whose Python looks for modules in the folder `first`; `within` is a command that starts it."""
        fixed = f"--host 127.0.0.1 --nthreads 1 --memory-limit {memory} --no-dashboard".split()
        kind = "--nanny" if nanny else "--no-nanny"
        folder = str(self.folder)
        worker = self._start("worker", *fixed, kind, "--local-directory", folder, *options, first=first, within=within)
        self.workers.append(worker)
        return worker

    def kill_worker(self, index: int) -> None:
        worker = self.workers.pop(index)
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self.scheduler]:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@contextmanager
def running(folder: Path, n_workers: int = 1, **options):
    """Start a scheduler and workers; give them, and a client that has seen them all."""
    from distributed import Client

    with Processes(folder) as processes:
        for _ in range(n_workers):
            processes.add_worker(**options)
        with Client(scheduler_file=str(processes.file)) as client:
            client.wait_for_workers(n_workers, timeout=60)
            yield processes, client
