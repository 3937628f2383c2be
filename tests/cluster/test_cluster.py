"""The same bits on a cluster of real processes as on one thread."""

import os
import threading
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import LatentClassAnalysis, evaluate
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture, write_mixture
from hiddenbits.engine import Local, Settings, fit_em, fit_persistent
from hiddenbits.engine.executors.dask_cluster import Cluster
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.topographic_map.model_steps import TopographicSteps
from hiddenbits.tables import write_results
from tests.cluster.processes import Processes
from tests.contracts.cases import CASES
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import same
from tests.families._base.test_parquet_output import read_folder

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
MIXTURE = next(case for case in CASES if case.name == "LatentClassAnalysis")
OTHERS = [case for case in CASES if case is not MIXTURE]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("storage", ["dense", "csr", "packed"])
def test_same_bits(client, storage, seed, monkeypatch):
    check_same_bits(MIXTURE, client, storage, seed, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("n_workers", [1, 4])
def test_same_bits_on_one_and_on_four_workers(n_workers, monkeypatch, tmp_path, short):
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", local_directory=tmp_path
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for storage, seed in product(("dense", "csr", "packed"), range(2 if short else 5)):
            check_same_bits(MIXTURE, client, storage, seed, monkeypatch)


@pytest.mark.parametrize("missing", [False, True])
def test_a_long_table_with_equal_rows(client, missing, monkeypatch):
    """Few distinct rows are gathered on the workers; of many, rows in memory are collapsed, those on disk not."""
    monkeypatch.setattr("hiddenbits.families._base.sizes.MIN_SUBSAMPLE", 100)
    monkeypatch.setattr("hiddenbits.families._base.sizes.ROWS_PER_COMPONENT", 1)
    monkeypatch.setattr("hiddenbits.families._base.estimator.SMALL_TABLE_FLOPS", 0)
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 256)
    rows = structured_rows(np.random.default_rng(0), 3000, 8, missing)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(rows))
    memory = table_of(rows, weights=weights)
    disk = Table(NotResident(memory.source), None, weights, part_bytes=7000)
    model, fits = LatentClassAnalysis(3, n_init=2, tol=1e-4, random_state=0), []
    for table in (memory, disk):
        with hiddenbits.run_on(client):
            there = clone(model).fit(table)
        fits += [clone(model).fit(table), there]
        assert same(fits[-2]._params, there._params)
        assert np.array_equal(fits[-2].trace_, there.trace_)
    assert fits[0].trace_[-1] == pytest.approx(fits[2].trace_[-1], rel=1e-10)


@pytest.mark.slow
@pytest.mark.thin(3)
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_same_bits_of_every_model(case, client, monkeypatch):
    check_same_bits(case, client, "csr", 0, monkeypatch)


def check_same_bits(case, client, storage, seed, monkeypatch):
    """One thread against two workers; rows sent with the tasks, and loaded by them; some with missing cells."""
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 700)
    table = table_of(structured_rows(np.random.default_rng(seed), 3000, 12, missing=seed % 2 == 0), storage)
    # A extrapolation would stretch what lost memory costs (see below).
    plain = {"online_passes": seed % 3 == 0, "accelerate": not case.model.promises.carry}
    settings = Settings(n_init=1, max_iter=6, seed=seed, **plain)
    alone = fit_em(case.model, table.grid(256), Local(), settings, None, None)
    for part_bytes, source in ((20_000, table.source), (7000, NotResident(table.source))):
        walked = Table(source, None, None, part_bytes)
        there = fit_em(case.model, walked.grid(256), Cluster(client), settings, None, None)
        if case.model.promises.carry:
            # A part that another worker takes over has left its memory behind, which costs some of one pass's progress.
            np.testing.assert_allclose(there.trace, alone.trace, rtol=1e-3)
        else:
            assert same(alone.params, there.params)
            assert np.array_equal(alone.trace, there.trace)


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_same_bits_of_random_steps(client, storage):
    """Steps, and the score after each epoch of rows that are not learned from."""
    table = table_of(structured_rows(np.random.default_rng(0), 600, 12, missing=True), storage)
    model = TopographicSteps(3, n_points=64, n_features=16, batch_rows=256)
    settings = Settings(max_iter=3)
    alone = fit_persistent(model, table.grid(128), Local(), settings, None, None)
    walked = Table(NotResident(table.source), None, None, 2000)
    there = fit_persistent(model, walked.grid(128), Cluster(client), settings, None, None)
    assert same(alone.params, there.params)
    assert np.array_equal(alone.trace, there.trace)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [True, False])
def test_same_bits_of_a_fit_that_begins_on_few_rows(client, missing):
    """The workers draw the rows, the fit to these is made here, that to all rows on the workers again."""
    table = table_of(structured_rows(np.random.default_rng(0), 3000, 12, missing), "csr")
    model, settings = Combination(2, start_from="noise"), Settings(max_iter=6, start_rows=500)
    alone = fit_machine(model, table.grid(256), Local(), settings, None, None)
    walked = Table(NotResident(table.source), None, None, 7000)
    there = fit_machine(model, walked.grid(256), Cluster(client), settings, None, None)
    assert same(alone.params, there.params)
    assert np.array_equal(alone.trace, there.trace)


@pytest.mark.slow
def test_all_verbs(client, tmp_path):
    pytest.importorskip("pyarrow")
    write_mixture(tmp_path, 3000, 12, 3, random_state=0)
    table = hiddenbits.open_table(f"{tmp_path}/*.parquet", part_bytes=12 * 700)
    X = simulate_mixture(3000, 12, 3, random_state=0).X
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    X = hiddenbits.open_table(X, names=table.names)
    alone = LatentClassAnalysis(3, n_init=1, tol=1e-2, random_state=0).fit(table)
    with hiddenbits.run_on(client):
        there = clone(alone).fit(table)
        assert same(alone._params, there._params)
        for verb in ("transform", "score_samples", "complete", "_cell_probabilities", "predict"):
            for rows in (table, X):
                assert np.array_equal(getattr(there, verb)(rows), _local(getattr(alone, verb), rows))
        online = clone(alone).partial_fit(table).partial_fit(X)
    assert same(online._params, clone(alone).partial_fit(table).partial_fit(X)._params)
    assert client.futures == {}


def _local(verb, rows):
    with hiddenbits.run_on(n_jobs=1):
        return verb(rows)


def test_results_written_by_the_workers(client, tmp_path):
    pytest.importorskip("pyarrow")
    write_mixture(tmp_path / "in", 3000, 12, 3, random_state=0)
    table = hiddenbits.open_table(f"{tmp_path}/in/*.parquet", part_bytes=12 * 700)
    model = LatentClassAnalysis(3, n_init=1, random_state=0).fit(table)
    with hiddenbits.run_on(client):
        codes = write_results(model, "transform", table, tmp_path / "codes.parquet")
        scores = write_results(model, "score_samples", table, tmp_path / "scores.parquet")
    assert len(list(codes.iterdir())) == 5  # 3,000 rows in parts of 700
    assert np.array_equal(read_folder(codes), model.transform(table))
    assert np.array_equal(read_folder(scores)[:, 0], model.score_samples(table))


def test_evaluation(client):
    rng = np.random.default_rng(0)
    rows, weights = structured_rows(rng, 2000, 10, missing=True), rng.random(2000)
    model = LatentClassAnalysis(2, n_init=1, random_state=0).fit(rows)
    table = Table(NotResident(hiddenbits.open_table(rows).source), None, weights, 3000)
    for measure in (evaluate.mean_log_likelihood, evaluate.leave_one_out_error, evaluate.code_length):
        alone = measure(model, table)
        with hiddenbits.run_on(client):
            assert measure(model, table) == alone


def test_pieces_are_computed_on_the_workers(client):
    table = Table(NotResident(hiddenbits.open_table(np.eye(40)).source), None, None, 400)
    with hiddenbits.run_on(client):
        found = list(hiddenbits.tables.map_pieces(lambda piece: (piece.start, os.getpid()), table, 10))
    assert [start for start, _ in found] == [0, 10, 20, 30]
    assert os.getpid() not in {process for _, process in found}


def test_an_error_of_the_disk_is_not_taken_for_a_lost_cluster(client, tmp_path):
    table = Table(NotResident(hiddenbits.open_table(np.eye(40)).source), None, None, 400)

    def fail(piece):
        raise OSError("no space left on device")

    with hiddenbits.run_on(client), pytest.raises(OSError, match="no space left"):
        list(hiddenbits.tables.map_pieces(fail, table, 10))


def test_client_or_threads(client):
    with pytest.raises(ValueError, match="not both"), hiddenbits.run_on(client, n_jobs=2):
        pass


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(file.read_bytes()[:-1000])])
def test_a_part_that_cannot_be_read(client, tmp_path, damage):
    """The file is gone, or was cut short."""
    pytest.importorskip("pyarrow")
    write_mixture(tmp_path, 300_000, 6, 2, random_state=0, rows_per_file=1 << 17)
    table = hiddenbits.open_table(f"{tmp_path}/*.parquet", part_bytes=6 * 100_000)
    damage(tmp_path / "part1.parquet")
    with (
        hiddenbits.run_on(client),
        pytest.raises((hiddenbits.exceptions.TableError, FileNotFoundError), match=r"part1\.parquet"),
    ):
        LatentClassAnalysis(2, random_state=0).fit(table)


@pytest.mark.slow
def test_a_cluster_whose_workers_come_later(tmp_path):
    """An adaptive cluster may have no worker when a fit begins."""
    rows = structured_rows(np.random.default_rng(0), 600, 10, missing=False)
    alone = LatentClassAnalysis(2, n_init=1, max_iter=3, tol=10.0, random_state=0).fit(rows)
    with Processes(tmp_path) as processes, distributed.Client(scheduler_file=str(processes.file)) as client:
        later = threading.Timer(1.0, processes.add_worker)
        later.start()
        with hiddenbits.run_on(client):
            there = clone(alone).fit(rows)
        later.join()
    assert same(alone._params, there._params)


def test_neighboring_parts_share_a_worker(client):
    table = Table(NotResident(hiddenbits.open_table(np.eye(80)).source), None, None, 80 * 10)
    executor = Cluster(client)
    parts = executor._load(table.grid(10))
    distributed.wait(parts)
    places = client.who_has(parts)
    homes = [places[str(part.key) if str(part.key) in places else part.key][0] for part in parts]
    assert homes == sorted(homes)
    assert {homes.count(home) for home in homes} == {4}
    executor.close()


class Counted(NotResident):
    """A source that puts down a line for every load."""

    def __init__(self, source, log):
        super().__init__(source)
        self.log = log

    def read(self, start, stop):
        with self.log.open("a") as file:
            file.write(f"{start}\n")
        return self._source.read(start, stop)


def test_parts_that_may_not_stay_are_loaded_once_a_pass(client, monkeypatch, tmp_path):
    """Also by online EM, whose groups are much smaller than a part."""
    monkeypatch.setattr("hiddenbits.engine.executors.dask_cluster.MEMORY_SHARE", 0.0)
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 128)
    rows = structured_rows(np.random.default_rng(0), 2048, 12, missing=False)
    table = Table(Counted(table_of(rows).source, tmp_path / "loads"), None, None, 12 * 512)
    settings = Settings(max_iter=2, online_passes=1, tol=0.0)
    alone = fit_em(MIXTURE.model, table_of(rows).grid(64), Local(), settings, None, None)
    executor = Cluster(client)
    there = fit_em(MIXTURE.model, table.grid(64), executor, settings, None, None)
    executor.close()
    assert same(alone.params, there.params)
    loads = (tmp_path / "loads").read_text().split()
    assert len(loads) <= 4 * (1 + 1 + 2) + 4  # counting, one online and two full passes; stealing may load some again


def test_the_scheduler_is_left_as_it_was(client):
    before = client.run_on_scheduler(_allowed_failures)
    with hiddenbits.run_on(client):
        assert client.run_on_scheduler(_allowed_failures) == 30
    assert client.run_on_scheduler(_allowed_failures) == before


def _allowed_failures(dask_scheduler):
    return dask_scheduler.allowed_failures
