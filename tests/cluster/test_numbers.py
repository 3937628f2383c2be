"""Columns of numbers next to bits on a cluster of real processes: the same bits as on one thread."""

from dataclasses import replace

import numpy as np
import pytest

import hiddenbits
from hiddenbits import ItemResponseModel, LatentClassAnalysis, inference, open_table
from tests.contracts.conftest import NotResident
from tests.contracts.test_same_bits import same

pytestmark = pytest.mark.timeout(120)

TYPES = {"visits": "count", "age": "quantiles"}
COVARIANCES = ("diag", "full", "tied", "tied_diag")
ITEMS = "items"  # an item response model instead of latent classes


def columns(n=2000, seed=0):
    """Incomes, heights, visits, ages and an answer; some cells missing."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 3, n)
    numbers = {
        "income": rng.normal(1e5 + 1e4 * k, 1e4),
        "height": rng.normal(170 + 5 * k, 6),
        "visits": rng.poisson(1 + 2 * k).astype(float),
        "age": rng.uniform(18, 90, n).round(1),
        "smokes": (rng.random(n) < 0.2 + 0.3 * k).astype(float),
    }
    for values in numbers.values():
        values[rng.random(n) < 0.1] = np.nan
    return numbers


def estimator(covariance_type, n_init=2, **options):
    options |= {"column_types": TYPES, "n_init": n_init, "max_iter": 5, "tol": 0.0, "random_state": 0}
    if covariance_type == ITEMS:
        return ItemResponseModel(**options)
    return LatentClassAnalysis(3, covariance_type=covariance_type, **options)


def fitted_alike(client, table, others, model, monkeypatch):
    """Fit on one thread and on the cluster; every fit and every score has the same bits."""
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 128)
    alone = model.fit(table)
    params, trace, scores = alone._params, alone.trace_, alone.score_samples(table)
    for other in others:
        with hiddenbits.run_on(client):
            there = model.fit(other)
            assert same(params, there._params)
            assert np.array_equal(trace, there.trace_)
            assert np.array_equal(scores, there.score_samples(other))


@pytest.mark.thin(2)
@pytest.mark.parametrize("online_passes", [0, 1])
@pytest.mark.parametrize("covariance_type", [*COVARIANCES, ITEMS])
def test_rows_that_are_sent_and_loaded(client, covariance_type, online_passes, monkeypatch):
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 500)
    table = open_table(columns(), column_types=TYPES)
    loaded = replace(table, source=NotResident(table.source))
    others = [replace(table, part_bytes=20_000), replace(loaded, part_bytes=9_000)]
    # Several starts are fits on the workers, which do not know of the smaller groups.
    model = estimator(covariance_type, n_init=2 - online_passes, online_passes=online_passes)
    fitted_alike(client, table, others, model, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv", "dask"])
def test_files_and_frames_that_workers_read(client, form, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns())
    if form == "parquet":
        frame[:900].to_parquet(tmp_path / "rows0.parquet", row_group_size=200)
        frame[900:].to_parquet(tmp_path / "rows1.parquet")
        X = f"{tmp_path}/rows*.parquet"
    elif form == "csv":
        X = tmp_path / "rows.csv"
        frame.to_csv(X, index=False)
    else:
        X = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=5, sort=False)
    table = open_table(X, column_types=TYPES)
    assert table.n_numbers == 3
    others = [open_table(X, column_types=TYPES, part_bytes=part_bytes) for part_bytes in (5_000, 40_000)]
    fitted_alike(client, table, others, estimator("full"), monkeypatch)
    of_frame = estimator("full").fit(open_table(frame, column_types=TYPES))
    assert same(of_frame._params, estimator("full").fit(table)._params)


@pytest.mark.slow
def test_bootstrap(client):
    """Replicates are fits with weights."""
    X = columns(400)
    model = LatentClassAnalysis(2, column_types=TYPES, n_init=1, random_state=0).fit(X)
    alone = inference.bootstrap(model, X, n_replicates=4)
    with hiddenbits.run_on(client):
        there = inference.bootstrap(model, X, n_replicates=4)
    assert np.array_equal(alone.replicates, there.replicates)
