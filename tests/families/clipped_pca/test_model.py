"""From counts of pairs to the model: the paper's examples, known truths, and what chance gives."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import multivariate_normal

from hiddenbits.engine import one_blas_thread
from hiddenbits.families.clipped_pca.model import (
    Clipped,
    bit_covariances,
    expected_counts,
    leading_components,
    pair_log_likelihood,
)
from tests.families.clipped_pca.clipped_data import bumps, one_block, probit_params, rows_from, with_blanks

pytestmark = pytest.mark.core


def counts_of(rows):
    return Clipped().expect(None, None, one_block(rows), None, None)[0]


def fit(rows, n_components=2, **options):
    with one_blas_thread():  # as the engine does
        return Clipped(n_components, **options).update(None, counts_of(rows))


# ---------------------------------------------------------------------------------------------------- the paper


def test_translation_has_two_dimensions():
    """C^SS has 128 eigenvalues 4/(N sin^2(pi k/N)), k odd; C^XX has two of 128 and nothing else."""
    found = fit(bumps(), biases=False)
    np.testing.assert_allclose(found.spectrum[:2], 128.0, rtol=0, atol=1e-9)
    assert np.abs(found.spectrum[2:]).max() < 1e-10
    odd = np.repeat(np.arange(1, 128, 2), 2)
    np.testing.assert_allclose(found.bit_spectrum[:128], 4 / (256 * np.sin(np.pi * odd / 256) ** 2), atol=1e-9)
    assert found.bit_spectrum[0] == pytest.approx(103.7581, abs=1e-4)
    assert np.abs(found.bit_spectrum[128:]).max() < 1e-10


def test_any_sample_of_shifts_has_two_dimensions():
    some = bumps()[np.random.default_rng(0).integers(0, 256, 40)]
    found = fit(some, biases=False)
    assert found.spectrum[:2].sum() == pytest.approx(256.0, abs=1e-9)
    assert np.abs(found.spectrum[2:]).max() < 1e-10


def test_without_noise_only_bumps_are_drawn():
    model = Clipped(2, biases=False, cap=1.0)
    found = fit(bumps(), biases=False, cap=1.0)
    assert found.noise.max() < 1e-15
    drawn, _ = model.sample(found, 20_000, np.random.default_rng(0))
    allowed = {row.tobytes() for row in bumps()}
    assert {row.tobytes() for row in drawn} == allowed


@pytest.mark.parametrize(("n_columns", "smallest"), [(4, -0.5), (6, -0.545085), (8, -0.557647)])
@pytest.mark.parametrize("biases", [True, False])
def test_a_sum_constraint_has_no_such_model(n_columns, smallest, biases):
    """Rows with as many ones as zeros: C^SS = -1/(N - 1), and C^XX has 1 - (N - 1) sin(pi/(2(N - 1)))."""
    every = (np.arange(2**n_columns)[:, None] >> np.arange(n_columns)) & 1
    found = fit(every[every.sum(axis=1) == n_columns // 2], biases=biases)
    exact = 1 - (n_columns - 1) * np.sin(np.pi / (2 * (n_columns - 1)))
    assert found.spectrum[-1] == pytest.approx(exact, abs=1e-12)
    assert exact == pytest.approx(smallest, abs=1e-6)


# ---------------------------------------------------------------------------------------------------- known truths


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_known_model_is_found(missing):
    """40,000 rows: correlations within .045 (3 standard errors of the worst pair), and so W W', communalities too."""
    truth = probit_params(12, 2, 0, low=0.3, high=0.7)
    rows = with_blanks(rows_from(truth, 40_000, 1), missing, 2)
    found = fit(rows, pseudo_rows=1e-9)
    assert np.abs(found.correlation - truth.correlation).max() < 0.045
    away = found.loadings @ found.loadings.T - truth.loadings @ truth.loadings.T
    assert np.abs(away).max() < 0.045
    plain = fit(rows, pseudo_rows=1e-9, factor_steps=0).loadings
    assert np.abs(plain @ plain.T - truth.loadings @ truth.loadings.T).max() > 0.09  # noise among the dimensions
    np.testing.assert_allclose(found.biases, ndtri(np.nanmean(rows, axis=0)), atol=1e-12)


def test_columns_that_do_not_vary():
    rows = rows_from(probit_params(5, 1, 0), 200, 0)
    rows[:, 1], rows[:, 3] = 0.0, 1.0
    found = fit(rows, 1)
    assert not found.loadings[[1, 3]].any()
    np.testing.assert_allclose(found.biases[[1, 3]], ndtri(np.array([0.5, 200.5]) / 201))
    assert len(found.spectrum) == len(found.bit_spectrum) == 3
    assert found.spectrum.sum() == pytest.approx(3.0)
    alone = fit(rows[:, [0, 2, 4]], 1)
    np.testing.assert_allclose(found.loadings[[0, 2, 4]], alone.loadings, atol=1e-12)
    nothing = fit(np.ones((4, 3)), 2)
    assert not nothing.loadings.any()
    assert nothing.flaw() is None


def test_covariances_of_bits():
    rows = with_blanks(rows_from(probit_params(5, 2, 3), 80, 3), 0.3, 3)
    spins, found = 2 * rows - 1, bit_covariances(counts_of(rows), biases=True)
    raw = bit_covariances(counts_of(rows), biases=False)
    for i in range(5):
        for j in range(5):
            both = ~np.isnan(spins[:, i] + spins[:, j])
            a, b = spins[both, i], spins[both, j]
            assert found[i, j] == pytest.approx((a * b).mean() - a.mean() * b.mean(), abs=1e-12)
            assert raw[i, j] == pytest.approx((a * b).mean(), abs=1e-12)


def test_leading_eigenpairs():
    """Lanczos finds what a whole decomposition finds, and gives way to it where all eigenvalues are the same."""
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((240, 500))
    matrix = factor @ factor.T / 500
    with one_blas_thread():
        values, vectors = np.linalg.eigh(matrix)
        found, same = leading_components(matrix, 5), leading_components(np.eye(240), 3)
    np.testing.assert_allclose((found**2).sum(axis=0), values[::-1][:5], rtol=1e-10)
    along = np.abs(found.T @ vectors[:, ::-1][:, :5])
    np.testing.assert_allclose(along, np.diag(np.sqrt(values[::-1][:5])), atol=1e-6)
    assert (found[np.abs(found).argmax(axis=0), np.arange(5)] > 0).all()
    np.testing.assert_allclose((same**2).sum(axis=0), 1.0)
    assert leading_components(np.eye(2), 5).shape == (2, 2)


def test_pairwise_likelihood_is_that_of_the_tables():
    params = probit_params(4, 2, 6)
    rows = with_blanks(rows_from(params, 60, 6), 0.2, 6)
    total, R = 0.0, params.loadings @ params.loadings.T
    for i in range(4):
        for j in range(i):
            both = multivariate_normal([0, 0], [[1, R[i, j]], [R[i, j], 1]]).cdf(params.biases[[i, j]])
            p, q = (multivariate_normal([0]).cdf(params.biases[k]) for k in (i, j))
            for row in rows:
                cell = {(1, 1): both, (1, 0): p - both, (0, 1): q - both, (0, 0): 1 - p - q + both}
                if not np.isnan(row[i] + row[j]):
                    total += np.log(cell[row[i], row[j]])
    assert pair_log_likelihood(params, counts_of(rows)) == pytest.approx(total / 3, abs=1e-5)
    one = replace(params, loadings=params.loadings[:1], biases=params.biases[:1])
    p = multivariate_normal([0]).cdf(params.biases[0])
    seen = rows[~np.isnan(rows[:, 0]), 0]
    assert pair_log_likelihood(one, counts_of(rows[:, :1])) == pytest.approx(
        np.log(np.where(seen == 1, p, 1 - p)).sum()
    )


def test_expected_counts_make_the_same_model():
    truth = probit_params(7, 2, 8)
    found = Clipped().update(truth, expected_counts(truth, 500.0))
    np.testing.assert_allclose(found.correlation, truth.correlation, atol=1e-9)
    np.testing.assert_allclose(found.biases, truth.biases, atol=1e-9)


# ---------------------------------------------------------------------------------------------------- chance


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_parallel_analysis_finds_the_dimensions(seed, missing):
    truth = probit_params(20, 3, seed, low=0.4, high=0.7)
    rows = with_blanks(rows_from(truth, 1500, seed), missing, seed)
    found = fit(rows, "parallel", seed=seed)
    assert found.n_components == 3
    assert (found.spectrum[:3] > found.chance[:3]).all()
    assert found.spectrum[3] <= found.chance[3]


@pytest.mark.slow
def test_parallel_analysis_of_independent_columns():
    """The largest eigenvalue of independent columns is above the 95% point in 5% of tables: in at most 3 of 12 here."""
    rng, above = np.random.default_rng(0), 0
    p = rng.uniform(0.2, 0.8, 10)
    for _ in range(12):
        found = fit((rng.random((300, 10)) < p).astype(float), "parallel", pseudo_rows=1.0)
        above += found.spectrum[0] > found.chance[0]
        assert found.n_components >= 1
    assert above <= 3


def test_chance_in_long_tables_is_scaled(monkeypatch):
    """Drawing a part of the rows gives what drawing all of them gives."""
    rows = (np.random.default_rng(1).random((6000, 15)) < 0.4).astype(float)
    model, counts, varies = Clipped(), counts_of(rows), np.ones(15, bool)
    monkeypatch.setattr("hiddenbits.families.clipped_pca.model.MIN_SIMULATED_ROWS", 6000)
    whole = model.chance_quantiles(counts, varies)
    monkeypatch.setattr("hiddenbits.families.clipped_pca.model.MIN_SIMULATED_ROWS", 1000)
    part = model.chance_quantiles(counts, varies)
    np.testing.assert_allclose(part - 1, whole - 1, atol=0.012)  # a tenth of how far the largest strays


# ---------------------------------------------------------------------------------------------------- lawfulness


def valid():
    return fit(rows_from(probit_params(6, 2, 0), 100, 0))


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ({"loadings": np.ones((6, 2))}, "more than all"),
        ({"loadings": np.zeros((6, 0))}, "shape"),
        ({"biases": np.full(6, 50.0)}, "within 40"),
        ({"biases": np.zeros(5)}, "shapes must be"),
        ({"correlation": 2 * np.eye(6)}, "not a correlation matrix"),
        ({"correlation": np.tri(6)}, "not a correlation matrix"),
        ({"spectrum": np.arange(6.0)}, "must be decreasing numbers"),
        ({"spectrum": np.zeros(7)}, "shapes must be"),
        ({"chance": np.zeros(3)}, "shapes must be"),
        ({"spectrum": np.zeros(0)}, "do not fit"),
    ],
)
def test_unlawful_parameters(change, flaw):
    assert valid().flaw() is None
    assert flaw in replace(valid(), **change).flaw()


def test_parameters_of_another_model():
    found = valid()
    assert Clipped(2).mismatch(found) is None
    assert Clipped("parallel").mismatch(found) is None
    assert "2 dimensions where 3" in Clipped(3).mismatch(found)
    assert "biases" in Clipped(2, biases=False).mismatch(found)
    assert "max_communality" in Clipped(2, cap=0.01).mismatch(found)


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        (lambda s: {"both": -s.both}, "differs from its count with itself"),
        (lambda s: {"both": s.both + np.triu(np.ones((6, 6)), 1)}, "depend on its order"),
        (lambda s: {"both": 1e3 * (s.both - np.diag(np.diag(s.both))) + np.diag(np.diag(s.both))}, "not counts"),
        (lambda s: {"weight": np.asarray(1.0)}, "not counts"),
        (lambda s: {"weight": np.asarray(0.0)}, "no weight"),
        (lambda s: {"seen": s.seen[:3]}, "wrong shapes"),
    ],
)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_unlawful_statistics(change, flaw, missing):
    stats = counts_of(with_blanks(rows_from(probit_params(6, 2, 0), 100, 0), missing, 0))
    assert Clipped().stats_flaw(stats, valid()) is None
    if missing == 0.0 and flaw == "wrong shapes":
        return  # one cell has no first three rows
    assert flaw in Clipped().stats_flaw(replace(stats, **change(stats)), valid())
