"""The same bits on a cluster of real processes as on one thread."""

import numpy as np
import pytest
from sklearn.base import clone

import hiddenbits
from hiddenbits import BernoulliMixture
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture, write_mixture
from hiddenbits.engine import Local, Settings, fit_em
from hiddenbits.engine.cluster import Cluster
from tests.contracts.cases import CASES
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import same

MIXTURE = next(case for case in CASES if case.name == "BernoulliMixture")
OTHERS = [case for case in CASES if case is not MIXTURE]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("storage", ["dense", "csr", "packed"])
def test_same_bits(client, storage, seed, monkeypatch):
    check_same_bits(MIXTURE, client, storage, seed, monkeypatch)


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_same_bits_of_every_model(case, client, monkeypatch):
    check_same_bits(case, client, "csr", 0, monkeypatch)


def check_same_bits(case, client, storage, seed, monkeypatch):
    """One thread against two workers; rows sent with the tasks, and loaded by them; some with missing cells."""
    monkeypatch.setattr("hiddenbits.engine.online.GROUP_ROWS", 700)
    table = table_of(structured_rows(np.random.default_rng(seed), 3000, 12, missing=seed % 2 == 0), storage)
    settings = Settings(n_init=1, max_iter=6, seed=seed, online_passes=seed % 3 == 0)
    alone = fit_em(case.model, table.grid(256), Local(), settings, None, None)
    for part_bytes, source in ((20_000, table.source), (7000, NotResident(table.source))):
        walked = Table(source, None, None, part_bytes)
        there = fit_em(case.model, walked.grid(256), Cluster(client), settings, None, None)
        assert same(alone.params, there.params)
        assert np.array_equal(alone.trace, there.trace)


def test_all_verbs(client, tmp_path):
    pytest.importorskip("pyarrow")
    write_mixture(tmp_path, 3000, 12, 3, seed=0)
    table = hiddenbits.open_table(f"{tmp_path}/*.parquet", part_bytes=12 * 700)
    X = simulate_mixture(3000, 12, 3, seed=0).X
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    X = hiddenbits.open_table(X, names=table.names)
    alone = BernoulliMixture(3, random_state=0).fit(table)
    with hiddenbits.run_on(client):
        there = clone(alone).fit(table)
        assert same(alone.params_, there.params_)
        for verb in ("transform", "score_samples", "complete", "bit_probabilities", "code"):
            for rows in (table, X):
                assert np.array_equal(getattr(there, verb)(rows), _local(getattr(alone, verb), rows))
        online = clone(alone).partial_fit(table).partial_fit(X)
    assert same(online.params_, clone(alone).partial_fit(table).partial_fit(X).params_)
    assert client.futures == {}


def _local(verb, rows):
    with hiddenbits.run_on(n_jobs=1):
        return verb(rows)


def test_weights_travel_with_their_parts(client):
    rng = np.random.default_rng(0)
    rows, weights = structured_rows(rng, 2000, 10, missing=True), rng.random(2000)
    alone = BernoulliMixture(2, random_state=0).fit(rows, sample_weight=weights)
    source = NotResident(hiddenbits.open_table(rows).source)
    table = Table(source, None, weights, 3000)
    with hiddenbits.run_on(client):
        there = BernoulliMixture(2, random_state=0).fit(table)
    np.testing.assert_allclose(there.probabilities_, alone.probabilities_, rtol=0, atol=1e-8)


def test_client_or_threads(client):
    with pytest.raises(ValueError, match="not both"), hiddenbits.run_on(client, n_jobs=2):
        pass


def test_a_part_that_cannot_be_read(client, tmp_path):
    pytest.importorskip("pyarrow")
    write_mixture(tmp_path, 300_000, 6, 2, seed=0, rows_per_file=1 << 17)
    table = hiddenbits.open_table(f"{tmp_path}/*.parquet", part_bytes=6 * 100_000)
    (tmp_path / "part1.parquet").unlink()
    with hiddenbits.run_on(client), pytest.raises((hiddenbits.TableError, FileNotFoundError), match=r"part1\.parquet"):
        BernoulliMixture(2, random_state=0).fit(table)
