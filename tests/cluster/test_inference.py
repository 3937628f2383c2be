"""Standard errors and replicates are the same numbers on a cluster."""

import threading

import numpy as np
import pytest

import hiddenbits
from hiddenbits import BernoulliMixture, diagnostics, inference
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from tests.cluster.processes import Processes
from tests.contracts.conftest import NotResident

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    theta = np.array([[0.8, 0.7, 0.9, 0.2], [0.3, 0.2, 0.1, 0.7]])
    X = (rng.random((900, 4)) < theta[rng.integers(0, 2, 900)]).astype(np.uint8)
    return BernoulliMixture(2, prior_strength=0, tol=1e-9, n_init=1, random_state=0).fit(X), X


@pytest.mark.slow
def test_same_numbers(client, fitted, monkeypatch):
    model, X = fitted
    monkeypatch.setattr("hiddenbits.inference.information_matrix.PIECE_NUMBERS", 1)  # pieces of 256 rows
    labels = np.arange(900) // 5
    here = inference.information(model, X, clusters=labels), inference.bootstrap(model, X, n=3, clusters=labels)
    table = diagnostics.classification_table(model, X)
    with hiddenbits.run_on(client):
        there = inference.information(model, X, clusters=labels), inference.bootstrap(model, X, n=3, clusters=labels)
        assert (diagnostics.classification_table(model, X) == table).all()
    assert (there[0].covariance == here[0].covariance).all()
    assert (there[1].replicates == here[1].replicates).all()


@pytest.mark.full
def test_the_same_replicates_although_workers_are_killed(tmp_path):
    """A worker is killed while each of two replicates is under way; its parts of the table go to the others."""
    X = simulate_mixture(20_000, 8, 2, seed=0).X
    table = Table(NotResident(hiddenbits.open_table(X).source), None, None, 8 * 4_000)
    model = BernoulliMixture(2, n_init=1, tol=1e-3, random_state=0).fit(table)
    here = inference.bootstrap(model, table, n=6, tol=1e-9)
    killed = []
    with Processes(tmp_path) as cluster:
        for _ in range(3):
            cluster.add_worker()
        with distributed.Client(scheduler_file=str(cluster.file)) as client:
            client.wait_for_workers(3, timeout=120)
            folder = tmp_path / "fits"

            def disturb():
                for finished in (1, 3):  # the next replicate is under way
                    while len(list(folder.glob("*.json"))) < finished and not over.wait(0.01):
                        pass
                    if not over.wait(0.05):
                        cluster.kill_worker(0)
                        killed.append(finished)

            over, thread = threading.Event(), threading.Thread(target=disturb)
            thread.start()
            try:
                with hiddenbits.run_on(client):
                    there = inference.bootstrap(model, table, n=6, tol=1e-9, folder=folder)
            finally:
                over.set()
                thread.join()
    assert killed == [1, 3]
    assert (there.replicates == here.replicates).all()
