"""Many passes leave the cluster as they found it: no futures, no tasks."""

import time

import pytest

import hiddenbits
from hiddenbits.data.summary import summarise
from hiddenbits.datasets import simulate_mixture
from hiddenbits.engine import Cluster

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def grid():
    return hiddenbits.open_table(simulate_mixture(2000, 12, 2, seed=0).X, part_bytes=12 * 600).grid(256)


def test_passes_leave_no_futures_and_no_tasks(client, grid):
    executor = Cluster(client)
    seen = set()
    for _ in range(150):  # more than the generations of keys
        executor.reduce(summarise, grid)
        seen |= set(client.futures)
    assert len(seen) <= 64 + grid.n_parts + 3  # keys come back: one future a pass, the parts, and an anchor a group
    time.sleep(1.0)  # releases take a moment
    groups = {key[0] for key in client.futures}
    assert len(groups) == 4  # parts, and the tasks that ship, walk and merge: no new group in any pass
    assert len(client.futures) == grid.n_parts + len(groups) - 1  # the parts stay, and one anchor for each other group
    executor.close()
    time.sleep(1.0)
    assert client.futures == {}
    assert client.run_on_scheduler(_tasks) == 0


def _tasks(dask_scheduler):
    return len(dask_scheduler.tasks)
