"""All pairs of a table at once: counts with missing cells, degenerate pairs, intervals, tests of independence."""

import numpy as np
import pytest
from scipy import stats

from hiddenbits.engine import Local
from hiddenbits.maths.pair_counts import PairCounts, TwoByTwoTables, block_rows, count_pairs
from hiddenbits.maths.tetrachoric import fit_pairs, independence, interval, orthant_probability, solve_tables
from tests.contracts.conftest import MASKS, STORAGES, random_rows, table_of

pytestmark = pytest.mark.core


def serial(function, tasks):
    return map(function, tasks)


def plain_cells(rows, weights, i, j):
    """The 2 x 2 table of two columns, row by row: [one_one, one_zero, zero_one, zero_zero]."""
    cells = [0.0] * 4
    for row, weight in zip(rows, weights, strict=True):
        if not np.isnan(row[i]) and not np.isnan(row[j]):
            cells[int(2 * (1 - row[i]) + (1 - row[j]))] += weight
    return cells


def counted(table, height=16, executor=None):
    return (executor or Local()).reduce(count_pairs, table.grid(height))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("mask", MASKS)
def test_counts(storage, mask):
    """Every storage, every mask, several blocks; whole weights, and real ones whose sums are rounded."""
    rng = np.random.default_rng(4)
    rows = random_rows(rng, 50, 5, missing=mask != "full")
    rows[:, 4] = np.where(np.isnan(rows[:, 0]), 1.0, np.nan) if mask != "full" else 1.0  # never seen with column 0
    for weights, exact in ((np.ones(50), True), (rng.integers(0, 4, 50) + 0.0, True), (rng.random(50), False)):
        counts = counted(table_of(rows, storage, mask, weights))
        assert counts.ones.shape == ((5, 1) if mask == "full" else (5, 5))
        cells = np.stack(counts.cells(slice(0, 5), slice(0, 5)))
        truth = np.array([[plain_cells(rows, weights, i, j) for j in range(5)] for i in range(5)]).transpose(2, 0, 1)
        np.testing.assert_allclose(cells, truth, rtol=0, atol=0 if exact else 1e-12)
        np.testing.assert_array_equal(cells == 0, truth == 0)  # rounding does not fill an empty cell
        np.testing.assert_allclose(counts.column_ones, np.nan_to_num(rows).T @ weights, rtol=1e-12)
        np.testing.assert_allclose(counts.column_seen, (~np.isnan(rows)).T @ weights, rtol=1e-12)


def test_block_rows():
    assert block_rows(2048, 2048) == 65536
    assert block_rows(5, 5) == 65536
    assert block_rows(20_000, 20_000) == 8192
    assert block_rows(20_000, 10) == 1 << 20


@pytest.mark.parametrize("side", [1, 3, 100])
def test_tiles_do_not_matter(side, monkeypatch):
    monkeypatch.setattr("hiddenbits.maths.tetrachoric.SIDE", side)
    rows = random_rows(np.random.default_rng(0), 80, 7, missing=True)
    counts = counted(table_of(rows))
    fit, _ = fit_pairs(counts, 1.0, False, serial)
    p_value = independence(counts)
    for i in range(7):
        for j in range(7):
            cells = TwoByTwoTables(*(np.array([cell]) for cell in plain_cells(rows, np.ones(80), i, j)))
            rho, error, *_ = solve_tables(cells, 1.0, False)
            if i != j:
                assert fit.correlation[i, j] == pytest.approx(rho[0], abs=1e-14)
                assert fit.standard_error[i, j] == pytest.approx(error[0], rel=1e-12)
            table = np.array(cells).reshape(2, 2)
            truth = stats.chi2_contingency(table, correction=False).pvalue if i != j else None
            assert i == j or p_value[i, j] == pytest.approx(truth, rel=1e-9)
    np.testing.assert_array_equal(np.diag(fit.correlation), 1.0)
    np.testing.assert_array_equal(np.diag(fit.standard_error), 0.0)
    ones, seen = np.nansum(rows, axis=0), (~np.isnan(rows)).sum(axis=0)
    np.testing.assert_allclose(fit.thresholds, stats.norm.isf(ones / seen), rtol=1e-13)


def test_degenerate_columns_and_pairs():
    """Columns: 0 varies, 1 is its copy, 2 its opposite, 3 is all 1, 4 was never observed, 5 never together with 0."""
    x = np.array([0, 0, 0, 1, 1, 0, 0, 1.0])
    nan = np.full(8, np.nan)
    rows = np.stack([x, x, 1 - x, np.ones(8), nan, nan], axis=1)
    rows = np.vstack([rows, np.full((4, 6), np.nan)])
    rows[8:, 5] = [0, 1, 0, 1]
    fit, degenerate = fit_pairs(counted(table_of(rows)), 2.0, False, serial)
    assert degenerate.constant.tolist() == [3, 4]
    assert degenerate.empty_cells == 3  # of 0, 1 and 2
    assert degenerate.unseen == 3  # 5 with each of them
    nothing = [(i, j) for i in range(6) for j in range(i) if i >= 3]
    assert all(fit.correlation[pair] == 0 and fit.standard_error[pair] == np.inf for pair in nothing)
    # cov' = cov n / (n + a) by hand: p = 3/8, cov = p(1 - p), n = 8, a = 2
    p = 3 / 8
    kept = p * p + p * (1 - p) * 0.8
    rho = fit.correlation[0, 1]
    assert 0.9 < rho < 1
    h = np.array([stats.norm.ppf(p)])
    assert orthant_probability(h, h, np.array([rho]))[0] == pytest.approx(kept, abs=1e-14)
    assert fit.correlation[0, 2] == fit.correlation[1, 2] == pytest.approx(-rho, abs=1e-14)
    assert fit.thresholds[3] == pytest.approx(stats.norm.isf(8.5 / 9), rel=1e-13)
    assert fit.thresholds[4] == 0.0
    low, high = interval(fit.correlation, fit.standard_error, 0.95)
    assert all((low[pair], high[pair]) == (-1.0, 1.0) for pair in nothing)
    assert np.all((low <= fit.correlation) & (fit.correlation <= high))
    assert independence(counted(table_of(rows)))[3, 0] == 1.0


def test_pseudo_rows_everywhere():
    """They pull every pair towards 0, and equal real rows that are independent."""
    cells = TwoByTwoTables(*(np.array([count]) for count in (30.0, 20.0, 10.0, 40.0)))
    plain, *_ = solve_tables(cells, 10.0, False)
    drawn, *_ = solve_tables(cells, 10.0, True)
    p, q = 0.5, 0.4
    added = TwoByTwoTables(
        *(cell + 10 * share for cell, share in zip(cells, (p * q, p - p * q, q - p * q, 0.3), strict=True))
    )
    assert drawn[0] == pytest.approx(solve_tables(added, 1.0, False)[0][0], abs=1e-13)
    assert 0 < drawn[0] < plain[0]


def test_turned_columns_turn_the_sign():
    """One estimate for all eight ways to write a table."""
    a, b, c, d = (np.array([count]) for count in (3.0, 90.0, 41.0, 266.0))
    rho, error, *_ = solve_tables(TwoByTwoTables(a, b, c, d), 1.0, False)
    for cells, sign in (
        ((a, c, b, d), 1),
        ((d, c, b, a), 1),
        ((d, b, c, a), 1),
        ((b, a, d, c), -1),
        ((c, d, a, b), -1),
        ((b, d, a, c), -1),
        ((c, a, d, b), -1),
    ):
        other, same_error, *_ = solve_tables(TwoByTwoTables(*cells), 1.0, False)
        assert other[0] == pytest.approx(sign * rho[0], abs=1e-14)
        assert same_error[0] == pytest.approx(error[0], rel=1e-11)


@pytest.mark.parametrize("n", [200, 1000])
def test_intervals_hold_the_truth(n):
    """Of 95% intervals 93 to 97% hold the truth, in 30 settings of 2,000 tables each whose cells are rarely empty.

    The share itself has a standard error of .5%: three of them are allowed beyond those bounds in a single setting, and
    the mean over all settings must be within half a percent of 95%.
    """
    shares = []
    for seed, (p, q) in enumerate([(0.5, 0.5), (0.3, 0.6), (0.2, 0.3), (0.8, 0.4), (0.15, 0.5)]):
        for rho in (-0.4, 0.0, 0.3, 0.6, 0.8, 0.9):
            h, k = stats.norm.ppf(p), stats.norm.ppf(q)
            c = orthant_probability(*(np.array([value]) for value in (h, k, rho)))[0]
            cells = np.array([c, p - c, q - c, 1 - p - q + c])
            if n * cells.min() < 5:
                continue
            tables = np.random.default_rng([seed, n]).multinomial(n, cells, 2000).T.astype(float)
            found, error, *_ = solve_tables(TwoByTwoTables(*tables), 1.0, False)
            low, high = interval(found, error, 0.95)
            shares.append(np.mean((low <= rho) & (rho <= high)))
    assert len(shares) > 15
    assert 0.93 - 0.015 < min(shares) <= max(shares) < 0.97 + 0.015
    assert abs(np.mean(shares) - 0.95) < 0.005


def test_p_values_are_uniform_under_independence():
    tables = TwoByTwoTables(*np.random.default_rng(0).multinomial(500, [0.12, 0.18, 0.28, 0.42], 4000).T.astype(float))
    first, second = tables.one_one + tables.one_zero, tables.one_one + tables.zero_one
    p = [
        independence(PairCounts(*(np.array(m) for m in ([[a, c], [c, b]], [[a], [b]], [[500.0]]))))[0, 1]
        for a, b, c in zip(first, second, tables.one_one, strict=True)
    ]
    assert stats.kstest(p, "uniform").pvalue > 0.001
