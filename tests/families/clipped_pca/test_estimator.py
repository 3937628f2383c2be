"""`ClippedPCA` as users meet it: fits in pieces, draws, morphs, refusals."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import ClippedPCA, IndependentColumns, evaluate
from hiddenbits.exceptions import TableError
from tests.families.clipped_pca.clipped_data import bumps, probit_params, rows_from, with_blanks

pytestmark = pytest.mark.core


def table(seed=0, d=12, n=900, q=2, missing=0.1, high=0.9):
    return with_blanks(rows_from(probit_params(d, q, seed, high=high), n, seed), missing, seed)


def assert_same(one, other, atol=0.0):
    for name, array in one._params.to_arrays().items():
        np.testing.assert_allclose(other._params.to_arrays()[name], array, rtol=0, atol=atol)


# ---------------------------------------------------------------------------------------------------- fits in pieces


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rows_in_pieces_are_the_whole_fit(missing):
    """Counts add: nothing fades, and the order does not matter."""
    X, weights = table(missing=missing), np.random.default_rng(1).integers(1, 4, 900)
    whole = ClippedPCA(2, random_state=0).fit(X, sample_weight=weights)
    online = ClippedPCA(2, random_state=0)
    for piece in (slice(500, 900), slice(0, 20), slice(20, 500)):
        online.partial_fit(X[piece], sample_weight=weights[piece])
    assert_same(whole, online, atol=1e-9)
    assert online._fit_weight == weights.sum()


def test_a_fit_goes_on_with_further_rows():
    """The rows of a fit then count as the model expects: without missing values and empty cells, what they were."""
    X = table(missing=0.0, high=0.5)
    whole = ClippedPCA(2).fit(X)
    more = ClippedPCA(2).fit(X[:600]).partial_fit(X[600:])
    np.testing.assert_allclose(more.correlation_, whole.correlation_, atol=1e-6)
    np.testing.assert_allclose(more.intercepts_, whole.intercepts_, atol=1e-9)


# ---------------------------------------------------------------------------------------------------- what it says


def test_it_finds_structure_and_guesses_hidden_cells():
    """Held-out cells choose the number of dimensions, as for every model."""
    X = table(3, d=16, n=1200, missing=0.0)
    figures = [evaluate.held_out_cells(m, X) for m in (IndependentColumns(), ClippedPCA(1), ClippedPCA(2))]
    for worse, better in ((0, 1), (1, 2)):
        assert figures[better].value + 2 * figures[better].standard_error < figures[worse].value


def test_few_columns_are_not_made_worse_than_independent_columns():
    """Plain PCA of five hardly correlated columns is: it takes their own noise for dimensions."""
    truth = probit_params(5, 1, 0, low=0.1, high=0.3)
    X, fresh = rows_from(truth, 2000, 1), rows_from(truth, 2000, 2)
    independent = IndependentColumns().fit(X).score(fresh)
    assert ClippedPCA(1).fit(X).score(fresh) > independent
    assert ClippedPCA(2, factor_steps=0).fit(X).score(fresh) < independent


def test_likelihoods_say_of_which_kind_they_are():
    X = table()
    exact, sampled = ClippedPCA(2, random_state=0).fit(X), ClippedPCA(5, random_state=0).fit(X)
    assert (exact._likelihood_kind, sampled._likelihood_kind) == ("exact", "estimate")
    assert not exact.score_samples(X[:9], return_std=True)[1].any()
    scores, errors = sampled.score_samples(X[:9], return_std=True)
    assert (errors > 0).all()
    np.testing.assert_array_equal(scores, sampled.score_samples(X[:9]))
    finer, smaller = sampled.set_params(n_draws=5000).score_samples(X[:9], return_std=True)
    assert (smaller < errors / 2).all()
    assert (np.abs(finer - scores) < 5 * errors).all()
    means, covariances = sampled.transform(X[:9], return_cov=True)
    assert covariances.shape == (9, 5, 5)
    np.testing.assert_array_equal(means, sampled.transform(X[:9]))


def test_the_number_of_dimensions_is_kept(tmp_path):
    model = ClippedPCA("parallel", random_state=0).fit(table(n=2000))
    assert model.n_components_ == model.transform(table()).shape[1] == 2
    assert len(model.chance_spectrum_) == 12
    assert ClippedPCA(1).fit(table()).chance_spectrum_ is None
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    assert loaded.n_components_ == 2
    np.testing.assert_array_equal(loaded.chance_spectrum_, model.chance_spectrum_)
    np.testing.assert_array_equal(loaded.sample(5, full=True), model.sample(5, full=True))


# ---------------------------------------------------------------------------------------------------- draws


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_drawn_rows_keep_margins_and_pairs(full, seed):
    """100,000 rows: means within .006 of the table's; pairs within 5 standard errors of what the model says of them."""
    X = table(seed, d=8, n=3000, missing=0.0, high=0.5)
    model = ClippedPCA(2, random_state=0).fit(X)
    drawn = model.sample(100_000, full=full, random_state=seed).astype(float)
    assert np.abs(drawn.mean(axis=0) - X.mean(axis=0)).max() <= 0.006
    R = model.corrected_correlation_ if full else model.components_.T @ model.components_
    away = hiddenbits.tetrachoric(drawn)
    others = ~np.eye(8, dtype=bool)
    assert (np.abs(away.correlation - R)[others] < 5 * away.standard_error[others]).all()
    np.testing.assert_array_equal(
        model.sample(7, full=full, random_state=1), model.sample(7, full=full, random_state=1)
    )


def test_corrected_correlations_are_correlations():
    rows = np.random.default_rng(0).integers(0, 2, (15, 10))
    model = ClippedPCA(2).fit(rows)
    assert model.spectrum_[-1] < -0.1
    values = np.linalg.eigvalsh(model.corrected_correlation_)
    assert values[0] > 0
    np.testing.assert_array_equal(np.diag(model.corrected_correlation_), 1.0)


# ---------------------------------------------------------------------------------------------------- morphs


@pytest.mark.parametrize("seed", range(3))
def test_a_morph_flips_each_bit_at_most_once(seed):
    X = table(seed, d=30, n=400, q=3)
    model = ClippedPCA(3, random_state=0).fit(X)
    way = model.morph(X[0], X[1], steps=60)
    flips = np.abs(np.diff(way.astype(int), axis=0))
    assert flips.sum(axis=0).max() <= 1
    assert flips.sum() == (way[0] != way[-1]).sum() > 0
    ends = model.inverse_transform(model.transform(X[:2])) > 0.5
    np.testing.assert_array_equal(way[[0, -1]], ends)
    soft = model.morph(X[0], X[1], steps=60, soft=True)
    np.testing.assert_array_equal(soft > 0.5, way)
    np.testing.assert_array_equal(model.morph(hiddenbits.open_table(X[:1]), X[1:2], 60), way)


def test_morph_refusals():
    model = ClippedPCA(1).fit(table())
    with pytest.raises(ValueError, match="at least 2"):
        model.morph(np.zeros(12), np.ones(12), steps=1)
    with pytest.raises(TableError, match="b has 2 rows"):
        model.morph(np.zeros(12), np.ones((2, 12)))
    with pytest.raises(ValueError, match="features"):
        model.morph(np.zeros(11), np.ones(12))


# ---------------------------------------------------------------------------------------------------- refusals


def test_a_model_without_noise_says_what_it_cannot_do():
    model = ClippedPCA(2, biases=False, max_communality=1.0, random_state=0).fit(bumps(32))
    assert {row.tobytes() for row in model.sample(3000)} == {row.tobytes() for row in bumps(32)}
    np.testing.assert_allclose(np.unique(model.inverse_transform([[1.0, 0.5]])), [0.0, 1.0], atol=1e-15)
    for method in (model.score_samples, model.transform, model.complete, model._cell_probabilities):
        with pytest.raises(ValueError, match="max_communality below 1"):
            method(bumps(32)[:2])


def test_wide_tables_are_refused(monkeypatch):
    monkeypatch.setattr("hiddenbits.maths.pair_counts.MOST_COLUMNS", 10)
    X = table()
    for method in (ClippedPCA().fit, ClippedPCA().partial_fit):
        with pytest.raises(TableError, match="ClippedPCA supports at most 10 columns"):
            method(X)
