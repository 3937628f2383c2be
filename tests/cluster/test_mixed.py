"""Tables of several kinds of columns on a cluster of real processes: the same bits as on one thread."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import LogisticPCA, evaluate
from hiddenbits.engine import Cluster, Local, Settings
from tests.contracts.cases import MIXED, mixed_table
from tests.contracts.test_mixed_same_bits import in_parts
from tests.contracts.test_same_bits import same

pytest.importorskip("distributed", reason="the cluster extra is not installed")
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
@pytest.mark.parametrize("case", MIXED, ids=lambda case: case.name)
def test_one_worker_has_the_same_bits(case, lone_client):
    """With one worker no part leaves its memory of the last pass behind."""
    for alone, there in fits(case, lone_client, mixed_table(case, 0)):
        assert same(alone.params, there.params)
        assert np.array_equal(alone.trace, there.trace)


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize("case", MIXED, ids=lambda case: case.name)
def test_two_workers(case, client):
    """The same bits where rows need no memory; otherwise a part may move, and its rows begin anew."""
    for alone, there in fits(case, client, mixed_table(case, 1)):
        if case.name in ("LogisticPCA-reals", "BinarySparseCoding"):
            assert same(alone.params, there.params)
            assert np.array_equal(alone.trace, there.trace)
        else:
            np.testing.assert_allclose(there.trace, alone.trace, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:LogisticPCA did not converge")
def test_files_verbs_and_hidden_cells(lone_client, tmp_path, monkeypatch):
    """Workers read the rows of Parquet files themselves.

    The number of passes is fixed: where memory may be lost, a fit takes one more before it believes in a small gain.
    """
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 128)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(700)
    word = np.array(["a", "b", "c"])[np.digitize(x + 0.5 * rng.standard_normal(700), [-0.5, 0.5])]
    frame = pa.table({"r": x + 0.5 * rng.standard_normal(700), "w": word, "b": x > rng.standard_normal(700)})
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=150)
    table = hiddenbits.open_table(tmp_path / "rows.parquet", kinds="auto", part_bytes=3000)
    assert table.grid(128).n_parts > 1
    alone = LogisticPCA(1, tol=0.0, max_iter=8, random_state=0).fit(table)
    hidden = evaluate.hidden_cells(alone, table)
    with hiddenbits.run_on(lone_client):
        there = clone(alone).fit(table)
        assert same(alone.params_, there.params_)
        found = {verb: getattr(there, verb)(table) for verb in ("transform", "score_samples")}
        completed = there.complete(table)
        assert evaluate.hidden_cells(alone, table) == hidden
    assert all(np.array_equal(found[verb], getattr(alone, verb)(table)) for verb in found)
    assert completed.equals(alone.complete(table))
