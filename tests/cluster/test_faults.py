"""Faults with real processes and real signals: a fit ends with the same bits, or with one clear error."""

import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import ItemResponseModel, LatentClassAnalysis, TopographicMap
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from tests.cluster.processes import Processes, running
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROWS, OF_BITS = 300_000, ("table_of_levels", "table")


@pytest.fixture(scope="module")
def table():
    X = simulate_mixture(ROWS, 24, 4, random_state=0).X
    return Table(NotResident(hiddenbits.open_table(X).source), None, None, 24 * 20_000)


@pytest.fixture(scope="module")
def table_of_levels():
    """Six columns of four levels."""
    X = simulate_mixture(ROWS, 12, 4, random_state=0).X
    opened = hiddenbits.open_table(X[:, ::2] + 2 * X[:, 1::2], column_types="nominal")
    return Table(NotResident(opened.source), None, None, 24 * 20_000, levels=opened.coding)


@pytest.fixture(scope="module")
def mixed_table():
    """Four columns of four levels, a continuous one and counts."""
    X = simulate_mixture(ROWS, 12, 4, random_state=0).X
    rows = (X[:, ::2] + 2 * X[:, 1::2]).astype(float)
    rows[:, 4] += np.random.default_rng(0).standard_normal(ROWS)
    rows[::7, 4:] = np.nan
    opened = hiddenbits.open_table(rows, column_types={"*": "nominal", "4": "continuous", "5": "count"})
    return Table(NotResident(opened.source), None, None, 40 * 20_000, levels=opened.coding)


def mixture(passes=24):
    return LatentClassAnalysis(8, n_init=1, max_iter=passes, tol=0.0, random_state=0)


@pytest.fixture(scope="module")
def alone(table):
    return mixture().fit(table)


def fit_while(client, table, disturb, passes=24, estimator=None, **run):
    """Fit on the cluster while `disturb` runs in a thread; return the model."""
    stop = threading.Event()
    thread = threading.Thread(target=disturb, args=(stop,))
    thread.start()
    try:
        with hiddenbits.run_on(client, **run):
            return (estimator or mixture(passes)).fit(table)
    finally:
        stop.set()
        thread.join()


RANDOM_STEPS = TopographicMap(3, n_points=64, n_features=16, batch_rows=2048, max_iter=12, random_state=0)
EM_IN_TWO_STAGES = TopographicMap(2, n_points=400, n_features=16, max_iter=12, tol=0.0, random_state=0)


@pytest.mark.parametrize(
    "map_model", [RANDOM_STEPS, pytest.param(EM_IN_TWO_STAGES, marks=pytest.mark.full)], ids=["random steps", "EM"]
)
def test_a_worker_killed_during_the_fit_of_a_map(map_model, tmp_path):
    X = simulate_mixture(20_000, 24, 4, random_state=0).X
    table = Table(NotResident(hiddenbits.open_table(X).source), None, None, 24 * 2_000)
    with hiddenbits.run_on(n_jobs=2):
        alone = clone(map_model).fit(table)
    with running(tmp_path, 2) as (cluster, client):
        kills = []

        def disturb(stop):
            time.sleep(1.0)
            cluster.kill_worker(0)
            kills.append(stop.is_set())  # whether the fit was over by then

        model = fit_while(client, table, disturb, estimator=clone(map_model))
    assert kills == [False]
    assert same(alone._params, model._params)
    assert np.array_equal(alone.trace_, model.trace_)


def items(passes):
    """A scale behind columns of every type; the first stage of its nodes has most of the passes."""
    return ItemResponseModel(max_iter=passes, tol=0.0, random_state=0)


@pytest.mark.parametrize(
    ("columns", "family"),
    [
        ("mixed_table", mixture),
        ("mixed_table", items),
        *(pytest.param(columns, mixture, marks=pytest.mark.full) for columns in OF_BITS),
    ],
)
def test_workers_killed_during_one_fit(columns, family, request, tmp_path, short):
    """Ten of them, or two in a short run, while others join."""
    table = request.getfixturevalue(columns)
    rng, passes, deaths = np.random.default_rng(0), 40 if short else 150, 2 if short else 10
    alone = family(passes).fit(table)
    with running(tmp_path, 2) as (cluster, client):
        kills = []

        def disturb(stop):
            while len(kills) < deaths and not stop.is_set():
                cluster.add_worker()
                client.wait_for_workers(3, timeout=60)  # the new one joins while the old ones work
                time.sleep(rng.uniform(0.0, 0.5))
                cluster.kill_worker(int(rng.integers(len(cluster.workers) - 1)))
                kills.append(time.monotonic())

        model = fit_while(client, table, disturb, estimator=family(passes))
    assert len(kills) == deaths
    assert same(alone._params, model._params)
    assert np.array_equal(alone.trace_, model.trace_)


@pytest.mark.full
def test_a_worker_that_stands_still(table, alone, tmp_path):
    with running(tmp_path, 2) as (cluster, client):

        def disturb(stop):
            time.sleep(1.0)
            cluster.workers[0].send_signal(signal.SIGSTOP)
            stop.wait(20.0)
            cluster.workers[0].send_signal(signal.SIGCONT)

        model = fit_while(client, table, disturb)
    assert same(alone._params, model._params)


@pytest.mark.full
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

            with pytest.raises(hiddenbits.exceptions.ClusterError, match=r"scheduler was lost.*fit\.hb"):
                fit_while(client, table, disturb, checkpoint=kept)
    with running(tmp_path / "two") as (cluster, client), hiddenbits.run_on(client, checkpoint=kept):
        model = mixture().fit(table)
    assert same(alone._params, model._params)
    assert np.array_equal(alone.trace_, model.trace_)


@pytest.mark.full
def test_a_worker_without_enough_memory(tmp_path):
    """A part that hardly fits, if at all: the fit ends or says what to do, and does not hang."""
    rows = np.zeros((1_500_000, 64), np.uint8)
    rows[::3] = 1
    for name in ("rows0.npy", "rows1.npy"):  # two files are a source that workers read themselves
        np.save(tmp_path / name, rows)
    table = hiddenbits.open_table(f"{tmp_path}/*.npy", part_bytes=10**9)
    with running(tmp_path, memory="300MiB", nanny=True) as (_cluster, client), hiddenbits.run_on(client):
        error = None
        try:
            mixture(passes=3).fit(table)
        except hiddenbits.exceptions.ClusterError as caught:
            error = caught
    assert error is None or "smaller part_bytes" in str(error)


@pytest.mark.full
def test_tls(table, alone, tmp_path):
    pytest.importorskip("cryptography")
    security = distributed.Security.temporary()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, security=security, dashboard_address=":0", local_directory=tmp_path
        ) as cluster,
        distributed.Client(cluster, security=security) as client,
    ):
        assert client.scheduler.address.startswith("tls://127.0.0.1")
        with hiddenbits.run_on(client):
            model = mixture().fit(table)
    assert same(alone._params, model._params)
