"""Rows that are drawn stand for the table: each with its probability, whatever the blocks and the storage."""

import numpy as np
import pytest
from scipy.stats import chi2

from hiddenbits.data.hashing import uniform_by_row
from hiddenbits.data.row_sampling import RowSampler, rate_for
from hiddenbits.engine import Local
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows

pytestmark = pytest.mark.core


def drawn(table, seed, rate, height=256, n_jobs=1):
    executor = Local(n_jobs)
    found = executor.reduce(RowSampler(seed, rate), table.grid(height))
    executor.close()
    return found


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("storage", ["dense", "csr", "packed"])
def test_the_same_rows_whatever_the_storage_the_blocks_and_the_threads(storage, missing):
    rows = structured_rows(np.random.default_rng(0), 900, 8, missing)
    weights = np.random.default_rng(1).integers(0, 4, 900).astype(float)
    one = drawn(table_of(rows, weights=weights), 5, 0.2, height=1024)
    for height, n_jobs in ((64, 1), (64, 3), (1024, 1)):
        other = drawn(table_of(rows, storage, weights=weights), 5, 0.2, height, n_jobs)
        for name in ("x", "observed", "weights"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
        small = other.table(900.0)
        np.testing.assert_array_equal(small.to_float(), one.table(900.0).to_float())
        assert small.weights.sum() == pytest.approx(900.0)
        assert type(small.source.x) is type(table_of(rows, "csr" if storage == "csr" else "dense").source.x)
    assert (one.weights > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_every_row_has_its_probability(seed):
    """How often each of 400 rows comes in 500 draws, by chi square, between its 1e-6 and 1 - 1e-6 quantiles."""
    numbers = np.arange(400)
    rows = (numbers[:, None] >> np.arange(9) & 1).astype(float)  # a row is its own number
    weights = np.tile([0.0, 0.5, 1.0, 2.0], 100)
    share = np.minimum(1.0, 0.3 * weights)
    table, counts = table_of(rows, weights=weights), np.zeros(400)
    for one in range(500):
        found = drawn(table, 1000 * seed + one, 0.3)
        which = found.x.astype(int) @ (1 << np.arange(9))
        counts[which] += 1
        np.testing.assert_allclose(found.weights, np.maximum(weights[which], 1 / 0.3))
    assert not counts[share == 0].any()
    moved = (share > 0) & (share < 1)
    spread = (counts - 500 * share)[moved] ** 2 / (500 * share * (1 - share))[moved]
    assert chi2.ppf(1e-6, moved.sum()) < spread.sum() < chi2.ppf(1 - 1e-6, moved.sum())


def test_rows_heavy_enough_always_come_with_their_own_weight():
    found = drawn(table_of(np.eye(4), weights=np.array([1e-3, 50.0, 80.0, 1e-3])), 0, 0.1)
    np.testing.assert_array_equal(found.weights[found.x[:, 1:3].any(axis=1)], [50.0, 80.0])


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_drawn_independently(seed):
    """The variance of the numbers drawn in 2,000 windows of 64 rows, and neighbors, within 5 standard errors."""
    hits = uniform_by_row(seed, np.arange(128_000, dtype=np.uint64)) < 0.1
    counts = hits.reshape(-1, 64).sum(axis=1)
    expected = 64 * 0.1 * 0.9
    assert abs(counts.var() / expected - 1.0) < 5 * np.sqrt(2 / 2_000)
    assert abs(np.corrcoef(hits[1:], hits[:-1])[0, 1]) < 5 / np.sqrt(128_000)


def test_heavy_rows_leave_room_for_others():
    """One row of nine tenths of the weight, as equal rows collapsed make it: as many of the others are drawn."""
    weights = np.append(900_000.0, np.ones(100_000))
    assert rate_for(8_192, weights, 100_001) == pytest.approx(8_191 / 100_000)
    assert rate_for(8_192, None, 100_000) == 8_192 / 100_000
    assert rate_for(3, np.array([0.0, 0.0, 1.0, 0.0]), 4) >= 1.0  # fewer with a weight than are wanted: all of them
