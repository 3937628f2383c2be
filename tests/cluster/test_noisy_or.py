"""Gibbs states on the workers: the same bits as on one thread, and a killed worker costs memory alone."""

import numpy as np
import pytest

from hiddenbits.data import Table
from hiddenbits.engine import Cluster, Local, Settings, fit_planned
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from tests.cluster.processes import running
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_same_bits import same

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = pytest.mark.timeout(300)

ROWS, KILLED_AFTER, SEEDS = 600, 8, range(5)
MODEL = NoisyOrGibbs([4], spare=0.5, n_passes=8)


def easy_rows():
    """Four causes with five bits of their own each, strengths .8, and a leak: every fit finds them."""
    rng = np.random.default_rng(0)
    strengths = np.kron(np.eye(4), np.full((1, 5), 0.8))
    keep = 0.98 * np.exp((rng.random((ROWS, 4)) < 0.3) @ np.log1p(-strengths))
    return (rng.random((ROWS, 20)) > keep).astype(float)


@pytest.mark.slow
def test_same_bits_as_on_one_thread(lone_client):
    grid = Table(NotResident(table_of(easy_rows()).source), None, None, 20 * 150).grid(64)
    alone = fit_planned(MODEL, grid, Local(), Settings(seed=0), None, None)
    executor = Cluster(lone_client)
    there = fit_planned(MODEL, grid, executor, Settings(seed=0), None, None)
    executor.close()
    assert same(alone.params, there.params)
    assert np.array_equal(alone.trace, there.trace)


@pytest.mark.full
@pytest.mark.slow
def test_a_killed_worker_costs_the_states_of_its_rows_alone(tmp_path):
    """Five seeds: a worker dies in the middle; the fit comes to its planned end, and ends as well as undisturbed.

    The noise is that of the states drawn in the last pass: undisturbed fits of different seeds show it.
    """
    rows = table_of(easy_rows())
    grid = Table(NotResident(rows.source), None, None, 20 * 150).grid(64)  # several parts, so that some are lost
    alone = [fit_planned(MODEL, grid, Local(), Settings(seed=seed), None, None) for seed in SEEDS]
    ends = np.array([fit.trace[-1] for fit in alone]) / ROWS
    disturbed = []
    with running(tmp_path, 2) as (processes, client):
        for seed in SEEDS:
            client.wait_for_workers(2, timeout=60)

            def watch(position, done, last=seed == SEEDS[-1]):
                if len(position.trace) == KILLED_AFTER:
                    processes.kill_worker(0)
                    if not last:
                        processes.add_worker()  # for the next fit, or for this one if it is there in time
                return False

            executor = Cluster(client)
            disturbed.append(fit_planned(MODEL, grid, executor, Settings(seed=seed), None, watch))
            executor.close()
    for one, other in zip(alone, disturbed, strict=True):
        assert other.restarts[0].reason == "schedule_done"
        assert other.params.flaw() is None
        assert not np.array_equal(one.trace[KILLED_AFTER:], other.trace[KILLED_AFTER:])  # something was lost
    gaps = np.array([fit.trace[-1] for fit in disturbed]) / ROWS - ends
    noise = np.sqrt(2.0) * ends.std(ddof=1)
    assert np.abs(gaps).max() < 5 * noise
    assert abs(gaps.mean()) < 4 * noise / np.sqrt(len(gaps))
    assert noise < 0.1
