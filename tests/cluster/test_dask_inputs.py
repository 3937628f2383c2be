"""dask arrays, dask frames and pair files on real clusters: the same bits, no task that waits for ever."""

from __future__ import annotations

import gc
import os
import signal
import time
from pickle import dumps

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits import LatentClassAnalysis, open_table
from hiddenbits.data import Table
from hiddenbits.data.summary import summarize
from hiddenbits.engine import Cluster
from hiddenbits.exceptions import TableError
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = pytest.mark.timeout(120)

ROWS, COLUMNS = 2000, 12


def rows(seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    kinds = rng.random((3, COLUMNS)) < 0.4
    x = (kinds[rng.integers(0, 3, ROWS)] ^ (rng.random((ROWS, COLUMNS)) < 0.1)).astype(float)
    x[rng.random(x.shape) < missing] = np.nan
    return x


def mixture(seed=0):
    return LatentClassAnalysis(3, n_init=1, max_iter=4, tol=0.0, random_state=seed)


def alone(memory):
    """Fit the table in one thread, its rows in the storage that it has in memory."""
    return mixture().fit(Table(NotResident(memory.source), memory.names))._params


def array(x, kind):
    """Return a dask array or frame of the rows, its chunks unlike any part."""
    chunked = da.from_array(x, chunks=(700, 5))
    if kind == "dense":
        return chunked.astype(np.uint8)
    if kind == "sparse":
        return chunked.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0), dtype=float))
    if kind == "frame":
        pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
        columns = [f"c{j}" for j in range(COLUMNS)]
        return frames.from_pandas(pandas.DataFrame(x, columns=columns), npartitions=5, sort=False)
    return chunked


KINDS = {"dense": 0.0, "blanks": 0.05, "sparse": 0.0, "frame": 0.05}


def in_memory(x, kind):
    if kind == "frame":
        return open_table(array(x, kind).compute(scheduler="synchronous"))
    return open_table(sparse.csr_array(x) if kind == "sparse" else x)


@pytest.mark.slow
@pytest.mark.thin(5)
@pytest.mark.parametrize("persisted", ["no", "yes", "and more"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_worker_with_one_thread(lone_client, kind, persisted, monkeypatch):
    """Parts that stay on the worker, and parts that are loaded in every pass; chunks computed there or persisted."""
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 128)
    x = rows(missing=KINDS[kind])
    data = array(x, kind)
    if persisted != "no":
        data = data.persist()
    if persisted == "and more":
        data = data.map_partitions(lambda part: part) if kind == "frame" else data.map_blocks(lambda block: block)
    wanted = alone(in_memory(x, kind))
    table = open_table(data, part_bytes=COLUMNS * 400)
    assert _chunks(table).remote == (persisted != "no")
    assert table.grid(128).n_parts >= 4
    for share in (0.4, 0.0):
        monkeypatch.setattr("hiddenbits.engine.executors.dask_cluster.MEMORY_SHARE", share)
        with hiddenbits.run_on(lone_client):
            model = mixture().fit(table)
            scores = model.score_samples(table)
        assert same(model._params, wanted)
        assert np.array_equal(scores, model.score_samples(Table(NotResident(in_memory(x, kind).source), table.names)))
    del data, table
    assert _empties(lone_client)


@pytest.mark.slow
def test_a_slow_answer_leaves_nothing_on_the_cluster(lone_client, monkeypatch):
    """Nor an error: the driver looks for progress a hundred times before the answer is there."""
    monkeypatch.setattr("hiddenbits.engine.executors.dask_cluster.POLL", 1e-4)
    gc.collect()
    gc.disable()
    try:
        with hiddenbits.run_on(lone_client):
            mixture().fit(open_table(array(rows(), "dense")))
        assert _empties(lone_client)
    finally:
        gc.enable()


def _chunks(table):
    source = table.source
    return source.columns.chunks if hasattr(source, "columns") else source.arrays[0].chunks


def _empties(client):
    """Whether nothing is left on the scheduler, after a moment."""
    until = time.monotonic() + 20  # a busy machine releases late
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) and time.monotonic() < until:
        time.sleep(0.05)
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_two_workers(client, kind):
    x = rows(1, KINDS[kind])
    wanted = alone(in_memory(x, kind))
    for data in (array(x, kind), array(x, kind).persist()):
        with hiddenbits.run_on(client):
            assert same(mixture().fit(open_table(data, part_bytes=COLUMNS * 300))._params, wanted)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_of_the_driver_read_what_is_persisted(lone_client, n_jobs):
    x = rows(2, 0.05)
    table = open_table(array(x, "blanks").persist(), part_bytes=COLUMNS * 300)
    np.testing.assert_array_equal(table.to_float(), x)
    with hiddenbits.run_on(n_jobs=n_jobs):
        assert same(mixture().fit(table)._params, alone(in_memory(x, "blanks")))


@pytest.mark.slow
def test_counts_are_made_on_the_cluster(lone_client):
    def where(part):
        return part.assign(c0=int(os.getpid() != driver))

    driver = os.getpid()
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    data = frames.from_pandas(pandas.DataFrame(rows(), columns=[f"c{j}" for j in range(COLUMNS)]), npartitions=3)
    table = open_table(data.map_partitions(where))
    assert table.shape == (ROWS, COLUMNS)
    assert (table.source.read(0, 9)[0].to_dense()[:, 0] == 0).all()  # read here
    assert (open_table(data.map_partitions(where).persist()).source.read(0, 9)[0].to_dense()[:, 0] == 1).all()


@pytest.mark.parametrize("persisted", [False, True])
def test_a_bad_cell_is_named_from_the_worker(lone_client, persisted):
    x = rows()
    x[1345, 7] = 2
    data = da.from_array(x, chunks=(700, 5))
    table = open_table(data.persist() if persisted else data, part_bytes=COLUMNS * 300, empty="zero")  # not looked at
    with hiddenbits.run_on(lone_client), pytest.raises(TableError, match=r"^row 1345, column 7: 2\.0 is not a bit"):
        mixture().fit(table)


def test_what_was_persisted_is_gone(lone_client):
    data = array(rows(), "dense").persist()
    table = open_table(data)
    assert table.source.read(0, 5)[0].shape == (5, COLUMNS)
    lone_client.cancel(data)
    with pytest.raises(TableError, match="rows 0 to 1999 cannot be computed by dask"):
        table.to_float()


def test_no_client_for_what_is_persisted(lone_worker):
    with distributed.Client(lone_worker, set_as_default=False) as client:
        data = client.persist(array(rows(), "dense"))
        table = open_table(data)
        assert table.shape == (ROWS, COLUMNS)
        with pytest.raises(TableError, match=r"cannot be computed by dask .*[Cc]lient"):
            table.source.read(0, 5)
        with client.as_current():
            assert table.source.read(0, 5)[0].shape == (5, COLUMNS)


@pytest.mark.slow
def test_a_worker_dies_with_what_it_persisted(tmp_path):
    x = rows(4, 0.05)
    wanted = alone(in_memory(x, "blanks"))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=tmp_path, memory_limit="2GiB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        data = array(x, "blanks").persist()
        distributed.wait(data)
        table = open_table(data, part_bytes=COLUMNS * 300)
        held = client.has_what()
        victim = max(held, key=lambda worker: len(held[worker]))
        assert held[victim]
        os.kill(client.run(os.getpid)[victim], signal.SIGKILL)
        with hiddenbits.run_on(client):
            assert same(mixture().fit(table)._params, wanted)


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.SpilledTableWarning")
@pytest.mark.parametrize("on_disk", [False, True])
def test_pair_files(lone_client, tmp_path, monkeypatch, on_disk):
    monkeypatch.setattr("hiddenbits.data.items.gather.HELD_BYTES", 0 if on_disk else 1e9)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    x = rows(5)
    x[:, 0] = np.maximum(x[:, 0], x.sum(axis=1) == 0)
    who, what = np.nonzero(x)
    for i in range(3):
        cut = slice(i * len(who) // 3, (i + 1) * len(who) // 3)
        pq.write_table(pa.table({"who": who[cut], "what": what[cut]}), tmp_path / f"{i}.parquet", row_group_size=999)
    table = open_table(f"{tmp_path}/*.parquet", row="who", item="what", n_columns=COLUMNS, part_bytes=9000)
    memory = open_table(sparse.csr_array(x[table.source.row_keys(0, ROWS)]))
    wanted = alone(memory) if on_disk else mixture().fit(memory)._params
    with hiddenbits.run_on(lone_client):
        assert same(mixture().fit(table)._params, wanted)


def test_a_task_carries_what_its_part_needs(lone_client):
    """Chunks held in the driver's graph travel once each, not with every part."""
    x = da.from_array(
        np.random.default_rng(0).integers(0, 2, (50_000, COLUMNS)).astype(np.uint8), chunks=(5000, COLUMNS)
    )
    table = open_table(x, part_bytes=5000 * COLUMNS)
    executor = Cluster(lone_client)
    sizes = []
    hold = executor._hold
    executor._hold = lambda function, value, *rest: sizes.append(len(dumps(value))) or hold(function, value, *rest)
    executor.reduce(summarize, table.grid(500))
    executor.close()
    assert len(sizes) > 8
    assert max(sizes) < 4 * 5000 * COLUMNS  # the whole table is ten times that of a part
