"""Faults with real processes and real signals: a fit ends with the same bits, or with one clear error."""

import signal
import threading
import time

import numpy as np
import pytest

import hiddenbits
from hiddenbits import BernoulliMixture
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from tests.cluster.processes import Processes
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

ROWS = 300_000


@pytest.fixture(scope="module")
def table():
    X = simulate_mixture(ROWS, 24, 4, seed=0).X
    return Table(NotResident(hiddenbits.open_table(X).source), None, None, 24 * 20_000)


def mixture(passes=24):
    return BernoulliMixture(8, n_init=1, max_iter=passes, tol=0.0, random_state=0)


@pytest.fixture(scope="module")
def alone(table):
    return mixture().fit(table)


def fit_while(client, table, disturb, **run):
    """Fit on the cluster while `disturb` runs in a thread; return the model."""
    stop = threading.Event()
    thread = threading.Thread(target=disturb, args=(stop,))
    thread.start()
    try:
        with hiddenbits.run_on(client, **run):
            return mixture().fit(table)
    finally:
        stop.set()
        thread.join()


def test_ten_workers_killed_during_one_fit(table, alone, tmp_path):
    rng = np.random.default_rng(0)
    with Processes(tmp_path) as cluster:
        for _ in range(2):
            cluster.add_worker()
        with distributed.Client(scheduler_file=str(cluster.file)) as client:
            client.wait_for_workers(2, timeout=60)
            kills = []

            def disturb(stop):
                while len(kills) < 10 and not stop.is_set():
                    cluster.add_worker()
                    time.sleep(rng.uniform(0.8, 1.6))  # the new one joins while the old one works
                    cluster.kill_worker(int(rng.integers(len(cluster.workers) - 1)))
                    kills.append(time.monotonic())

            model = fit_while(client, table, disturb)
            fits = 1
            while len(kills) < 10:  # a fast machine ends early: fit again until ten workers have died
                assert same(alone.params_, model.params_)
                model = fit_while(client, table, disturb)
                fits += 1
    assert same(alone.params_, model.params_)
    assert np.array_equal(alone.trace_, model.trace_)
    assert fits <= 5


def test_a_worker_that_stands_still(table, alone, tmp_path):
    with Processes(tmp_path) as cluster:
        for _ in range(2):
            cluster.add_worker()
        with distributed.Client(scheduler_file=str(cluster.file)) as client:
            client.wait_for_workers(2, timeout=60)

            def disturb(stop):
                time.sleep(1.0)
                cluster.workers[0].send_signal(signal.SIGSTOP)
                stop.wait(20.0)
                cluster.workers[0].send_signal(signal.SIGCONT)

            model = fit_while(client, table, disturb)
    assert same(alone.params_, model.params_)


def test_scheduler_killed_and_resumed_on_another_cluster(table, alone, tmp_path):
    kept = tmp_path / "fit.hb"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with Processes(tmp_path / "one") as cluster:
        cluster.add_worker()
        with distributed.Client(scheduler_file=str(cluster.file), timeout="10s") as client:
            client.wait_for_workers(1, timeout=60)

            def disturb(stop):
                while not kept.exists() and not stop.wait(0.05):
                    pass
                stop.wait(1.0)
                cluster.scheduler.kill()

            with pytest.raises(hiddenbits.ClusterError, match=r"scheduler was lost.*fit\.hb"):
                fit_while(client, table, disturb, checkpoint=kept)
    with Processes(tmp_path / "two") as cluster:
        cluster.add_worker()
        with distributed.Client(scheduler_file=str(cluster.file)) as client:
            client.wait_for_workers(1, timeout=60)
            with hiddenbits.run_on(client, checkpoint=kept):
                model = mixture().fit(table)
    assert same(alone.params_, model.params_)
    assert np.array_equal(alone.trace_, model.trace_)
