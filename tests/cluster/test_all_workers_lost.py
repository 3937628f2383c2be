"""All workers die at one moment and others come: the fit ends with the same bits. If none comes, it says so."""

import os
import signal
import threading
import time
from itertools import product

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis
from hiddenbits.datasets import simulate_mixture
from tests.cluster.processes import running
from tests.contracts.test_same_bits import same

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

# Number of workers, whether they have nannies, when they are killed, where the rows are; four of them twice.
WAYS = list(product((1, 2), (False, True), ("before", "after"), ("files", "driver")))
WAYS += [way for way in WAYS if way[0] == 1 and way[2] == "after"]
SHORT = [(2, False, "after", "files"), (1, False, "before", "driver"), (1, True, "after", "driver")]


def pytest_generate_tests(metafunc):
    """Go all ways, or a few in a short run; new workers come one to ten seconds later."""
    if "way" in metafunc.fixturenames:
        ways = WAYS if metafunc.config.getoption("--full") else SHORT
        delays = np.linspace(1.0, 10.0, len(ways)) if ways is WAYS else (1.0, 3.0, 0.0)
        metafunc.parametrize("way", [(*way, delay) for way, delay in zip(ways, delays, strict=True)], ids=str)


def mixture():
    return LatentClassAnalysis(8, n_init=1, max_iter=20, tol=0.0, random_state=0)


@pytest.fixture(scope="module")
def rows():
    return simulate_mixture(60_000, 24, 4, random_state=0).X


def open_rows(kind, rows, folder):
    """Return a table of six parts, in this process or in files that the workers read."""
    if kind == "driver":
        return hiddenbits.open_table(rows, part_bytes=24 * 10_000)
    for i, half in enumerate(np.split(rows, 2)):
        np.save(folder / f"rows{i}.npy", half)
    return hiddenbits.open_table(f"{folder}/*.npy", part_bytes=24 * 10_000)


def kill_all(client, cluster, n_workers, nanny, delay):
    """Kill all worker processes together; nannies start new ones, otherwise we do, after a while."""
    processes = list(client.run(os.getpid).values())
    for process in processes:
        os.kill(process, signal.SIGKILL)
    if not nanny:
        cluster.workers.clear()
        time.sleep(delay)
        for _ in range(n_workers):
            cluster.add_worker()
    return len(processes)


def _parts(dask_scheduler):
    return sum("hiddenbits-part" in str(key) for key in dask_scheduler.tasks)


def test_new_workers_come(way, rows, tmp_path):
    n_workers, nanny, when, kind, delay = way
    table = open_rows(kind, rows, tmp_path)
    passed, killed = threading.Event(), []
    with (
        running(tmp_path, n_workers, nanny=nanny) as (cluster, client),
        distributed.Client(scheduler_file=str(cluster.file), set_as_default=False) as other,
    ):

        def disturb():
            if when == "after":
                passed.wait(60)
            else:
                while not other.run_on_scheduler(_parts):  # the first pass begins
                    pass
            killed.append(kill_all(other, cluster, n_workers, nanny, delay))

        thread = threading.Thread(target=disturb, daemon=True)
        thread.start()
        with hiddenbits.run_on(client, on_progress=lambda _: passed.set(), stall_timeout=60):
            model = mixture().fit(table)
        thread.join()
    assert killed == [n_workers]
    alone = mixture().fit(table)
    assert same(alone._params, model._params)
    assert np.array_equal(alone.trace_, model.trace_)


def test_no_worker_comes(rows, tmp_path):
    """The error within the deadline, and the checkpoint goes on elsewhere."""
    table, kept = open_rows("files", rows, tmp_path), tmp_path / "fit.hb"
    with running(tmp_path) as (cluster, client):
        killed = []

        def kill(_):
            if not killed and kept.exists():
                cluster.kill_worker(0)
                killed.append(time.monotonic())

        with (
            pytest.raises(
                hiddenbits.exceptions.ClusterError, match=r"no progress for \d+ s: no worker is connected.*fit\.hb"
            ),
            hiddenbits.run_on(client, on_progress=kill, checkpoint=kept, stall_timeout=4),
        ):
            mixture().fit(table)
        waited = time.monotonic() - killed[0]
    assert 4 <= waited < 20  # the deadline, and what the scheduler takes to see that the worker is gone
    with hiddenbits.run_on(checkpoint=kept):
        assert same(mixture().fit(table)._params, mixture().fit(table)._params)


def test_a_scheduler_that_does_not_answer(rows, tmp_path):
    with running(tmp_path) as (cluster, client):

        def stop(_):
            cluster.scheduler.send_signal(signal.SIGSTOP)

        begin = time.monotonic()
        with (
            pytest.raises(hiddenbits.exceptions.ClusterError, match="scheduler does not answer"),
            hiddenbits.run_on(client, on_progress=stop, stall_timeout=3),
        ):
            mixture().fit(hiddenbits.open_table(rows))
        assert time.monotonic() - begin < 45
        cluster.scheduler.send_signal(signal.SIGCONT)
