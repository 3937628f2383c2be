"""The data cut looks at all rows before a pass; on a cluster whose workers die the bits stay the same all the same."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import hiddenbits
from hiddenbits import Annealing, BinarySparseCoding
from hiddenbits.data import open_table
from hiddenbits.datasets import simulate_bars
from tests.cluster.processes import Processes
from tests.contracts.test_same_bits import same

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.full
def test_workers_killed_while_the_cut_is_on(tmp_path):
    rows = simulate_bars(20_000, seed=0).X
    rows[::7, 3] = np.nan
    table = replace(open_table(rows, reals=True), part_bytes=25 * 8 * 2000)
    schedule = Annealing(n_passes=30, settle=False, jitter=0.05)
    model = {"schedule": schedule, "n_init": 1, "random_state": 0}
    alone = BinarySparseCoding(10, **model).fit(table)
    kills = []
    with Processes(tmp_path) as cluster:
        for _ in range(2):
            cluster.add_worker()
        with distributed.Client(scheduler_file=str(cluster.file)) as client:
            client.wait_for_workers(2, timeout=60)

            def disturb():
                for _ in range(3):
                    cluster.add_worker()
                    client.wait_for_workers(3, timeout=60)
                    time.sleep(0.5)
                    cluster.kill_worker(0)
                    kills.append(time.monotonic())

            thread = threading.Thread(target=disturb)
            thread.start()
            with hiddenbits.run_on(client):
                there = BinarySparseCoding(10, **model).fit(table)
                ended = time.monotonic()
            thread.join()
    assert sum(killed < ended for killed in kills) >= 1  # while the fit was under way
    assert same(alone.params_, there.params_)
    assert np.array_equal(alone.trace_, there.trace_)
    assert float(alone.params_.cut[1]) == 1.0  # no cut is left behind in the fitted parameters
