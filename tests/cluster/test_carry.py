"""Per-row memory on the workers: kept from pass to pass, made again when it is lost."""

import time

import numpy as np
import pytest

from hiddenbits.data import Table
from hiddenbits.engine import Cluster, Local, Settings, fit_em
from hiddenbits.engine.row_memory import _kept
from tests.cluster.processes import running
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_same_bits import same
from tests.engine.test_row_memory import Toy

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")


@pytest.fixture
def table():
    rows = table_of(np.random.default_rng(0).integers(0, 2, (1000, 4)).astype(float))
    return Table(NotResident(rows.source), None, None, 4 * 300)


@pytest.mark.slow
def test_memory_stays_with_its_worker(table, tmp_path):
    """One worker loses nothing, so the fit is that of one thread; another restart begins without memory."""
    settings = Settings(max_iter=6, n_init=2)
    alone = fit_em(Toy(), table.grid(64), Local(), settings, None, None)
    with running(tmp_path) as (_processes, client):
        executor = Cluster(client)
        there = fit_em(Toy(), table.grid(64), executor, settings, None, None)
        ((held,),) = [list(client.run(_versions).values())]
        executor.close()
        until = time.monotonic() + 20  # closing asks the workers without waiting for them
        while (left := sum(client.run(_versions).values())) and time.monotonic() < until:
            time.sleep(0.1)
    assert same(alone.params, there.params)
    assert np.array_equal(alone.trace, there.trace)
    assert held == 2  # that of the last pass and of the one before: older ones are let go
    assert left == 0


@pytest.mark.full
def test_lost_memory_is_made_again(table, tmp_path):
    """The worker dies after some passes. The fit goes on; the blocks' visits begin again from 1."""
    settings = Settings(max_iter=12)
    with running(tmp_path) as (processes, client):

        def watch(position, done):
            if len(position.trace) == 5:
                processes.add_worker()
                client.wait_for_workers(2, timeout=60)
                processes.kill_worker(0)
            return False

        executor = Cluster(client)
        outcome = fit_em(Toy(), table.grid(64), executor, settings, None, watch)
        executor.close()
    visits = outcome.trace / table.grid(64).n_blocks
    np.testing.assert_array_equal(visits, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7])
    assert outcome.restarts[0].reason == "max_iter"  # a fall after a loss is no reason to stop


def _versions():
    return sum(len(passes) for passes in _kept.values())
