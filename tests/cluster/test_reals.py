"""Tables of real numbers on a cluster of real processes: the same bits as on one thread."""

from dataclasses import replace

import numpy as np
import pytest

from hiddenbits.engine import Cluster, Local, Settings
from tests.contracts.cases import REALS, reals_table
from tests.contracts.test_reals_same_bits import in_parts
from tests.contracts.test_same_bits import same

SETTINGS = Settings(max_iter=4, tol=0.0, online_passes=1)


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 150)


def fits(case, client, table):
    """One fit on one thread, and two on the cluster: rows sent with the tasks, and loaded by them."""
    alone = case.loop(case.model, table.grid(64), Local(), SETTINGS, None, None)
    for walked in (replace(table, part_bytes=20_000), in_parts(table, 9000)):
        executor = Cluster(client)
        yield alone, case.loop(case.model, walked.grid(64), executor, SETTINGS, None, None)
        executor.close()


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize("workers", ["lone_client", "client"])
@pytest.mark.parametrize("case", REALS, ids=lambda case: case.name)
def test_same_bits(case, workers, request):
    """With one worker no part leaves its memory of the last pass behind."""
    for alone, there in fits(case, request.getfixturevalue(workers), reals_table(int(workers == "client"))):
        assert same(alone.params, there.params)
        assert np.array_equal(alone.trace, there.trace)
