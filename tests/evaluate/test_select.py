"""`select` against the same figures by hand, its rule, and known truths."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    diagnostics,
    evaluate,
    open_table,
)
from hiddenbits.datasets import load_gss82, simulate_mixture
from hiddenbits.evaluate.splits import splits

pytestmark = pytest.mark.core


@pytest.mark.slow
def test_figures_by_hand():
    X = simulate_mixture(400, 8, 2, random_state=0).X
    weights = np.random.default_rng(0).random(400)
    found = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2], cv=3, sample_weight=weights, random_state=5)
    dealt = splits(open_table(X), 3, 5)
    w = np.concatenate([weights[test] for _, test in dealt])
    rows = [
        np.concatenate(
            [
                LatentClassAnalysis(k, random_state=0).fit(X[a], sample_weight=weights[a]).score_samples(X[b])
                for a, b in dealt
            ]
        )
        for k in (1, 2)
    ]
    for figure, ll in zip(found.figures, rows, strict=True):
        assert figure.value == pytest.approx(np.average(ll, weights=w), abs=1e-10)
    apart = rows[0] - rows[1]
    mean = np.average(apart, weights=w)
    error = np.sqrt((w**2 * (apart - mean) ** 2).sum() * 400 / 399) / w.sum()
    assert found.figures[0].difference == pytest.approx(mean, abs=1e-10)
    assert found.figures[0].difference_error == pytest.approx(error, rel=1e-6)
    assert found.size == 2
    whole = LatentClassAnalysis(2, random_state=0).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(found.estimator.probabilities_, whole.probabilities_)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_truths_are_found(seed):
    X = simulate_mixture(2500, 16, 4, random_state=seed).X
    for by in ("rows", "cells") if seed else ("rows", "bic"):
        found = evaluate.select(
            LatentClassAnalysis(random_state=seed), X, [2, 3, 4, 5, 6], by=by, cv=0.3, random_state=seed
        )
        assert found.size == 4, by
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(size=(2500, 1)) @ (1.5 * rng.normal(size=(1, 12)))))
    map_ = evaluate.select(LogisticPCA(random_state=0), rng.random(p.shape) < p, [1, 2], cv=0.3)
    assert map_.size == 1


def test_hidden_cells_by_hand():
    X = simulate_mixture(400, 10, 3, random_state=0).X
    found = evaluate.select(
        LatentClassAnalysis(random_state=0), X, [1, 3], by="cells", held_out_share=0.2, random_state=7
    )
    for k, figure in zip((1, 3), found.figures, strict=True):
        own = evaluate.held_out_cells(LatentClassAnalysis(k, random_state=0), X, share=0.2, random_state=7)
        assert (figure.value, figure.standard_error) == pytest.approx((-own.value, own.standard_error), rel=1e-9)


@pytest.mark.slow
def test_criteria_are_those_of_the_estimator_and_only_where_they_are_defined():
    X = simulate_mixture(300, 8, 2, random_state=0).X
    model = LatentClassAnalysis(random_state=0)
    for by in ("bic", "aic"):
        found = evaluate.select(model, X, [1, 2, 3], by=by)
        fits = [LatentClassAnalysis(k, prior_strength=0, random_state=0).fit(X) for k in (1, 2, 3)]
        values = [getattr(fit, by)(X) for fit in fits]
        np.testing.assert_allclose([figure.value for figure in found.figures], values, rtol=1e-12)
        assert found.size == 1 + int(np.argmin(values))
        assert found.estimator.prior_strength == 1.0  # the fit that comes back has the settings that were given
        assert by.upper() in str(found)
    with pytest.raises(ValueError, match="maximum-likelihood fits, which ClippedPCA does not do"):
        evaluate.select(ClippedPCA(), X, [1, 2], by="bic")
    with pytest.raises(ValueError, match="maximum-likelihood fits, which BinarySparseCoding does not do"):
        evaluate.select(BinarySparseCoding(), X.astype(float), [1, 2], by="aic")
    with pytest.raises(ValueError, match="needs an exact likelihood"):
        evaluate.select(LogisticPCA(random_state=0, tol=1e-2), X, [4], by="bic")


def test_the_table_that_papers_report_by_hand():
    """All columns from the log-likelihoods and posteriors of fits by hand; ICL from the entropies themselves."""
    X = simulate_mixture(300, 8, 3, random_state=1).X
    weights = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    model = LatentClassAnalysis(n_init=4, random_state=0)
    selection = evaluate.select(model, X, [1, 2, 3], by="bic", sample_weight=weights)
    N = weights.sum()
    for K, fit in zip((1, 2, 3), selection.classes, strict=True):
        own = LatentClassAnalysis(K, prior_strength=0, n_init=4, random_state=0).fit(X, sample_weight=weights)
        log_likelihood, p = float(weights @ own.score_samples(X)), 9 * K - 1
        r = own.predict_proba(X)
        uncertain = float(-(weights @ np.where(r > 0, r * np.log(np.maximum(r, 1e-300)), 0.0)).sum())
        assert (fit.size, fit.n_parameters, fit.starts) == (K, p, 4)
        found = [fit.log_likelihood, fit.aic, fit.bic, fit.sabic, fit.icl, fit.smallest_class]
        bic = -2 * log_likelihood + p * np.log(N)
        expected = [log_likelihood, -2 * log_likelihood + 2 * p, bic, bic + p * np.log((N + 2) / 24 / N)]
        np.testing.assert_allclose(found, [*expected, bic + 2 * uncertain, own.weights_.min()], rtol=1e-10)
        assert fit.entropy is None if K == 1 else fit.entropy == pytest.approx(1 - uncertain / (N * np.log(K)))
        best = max(start.objective for start in own.restarts_)
        assert fit.replicated_starts == sum(start.objective > best - 0.02 for start in own.restarts_)
        assert fit.chosen == (selection.size == K)
        assert fit.lrt_p is None
    assert [figure.value for figure in selection.figures] == pytest.approx([fit.bic for fit in selection.classes])


@pytest.mark.slow
def test_the_table_is_printed_in_100_characters_and_is_the_frame(tmp_path):
    pd = pytest.importorskip("pandas")
    X = simulate_mixture(400, 8, 2, random_state=0).X
    model = LatentClassAnalysis(n_init=3, random_state=0)
    options = {"by": "aic", "lrt_replicates": 9, "folder": tmp_path}
    selection = evaluate.select(model, X, [1, 2, 4], **options)
    assert max(map(len, str(selection).splitlines())) <= 100
    frame = selection.to_frame(backend="pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["size"].tolist() == [1, 2, 4]
    fits = [LatentClassAnalysis(K, prior_strength=0, n_init=3, random_state=0).fit(X) for K in (1, 2)]
    p = diagnostics.bootstrap_lrt(*fits, X, n_replicates=9, random_state=0).p
    assert [fit.lrt_p for fit in selection.classes] == [
        None,
        p,
        None,
    ]  # four classes have no three to be tested against
    assert "LRT p" in str(selection)
    assert evaluate.select(model, X, [1, 2, 4], **options).classes == selection.classes  # fits read from the folder


def test_where_no_such_table_is():
    X = simulate_mixture(200, 6, 2, random_state=0).X
    failed = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 400], by="bic")
    assert [fit.size for fit in failed.classes] == [1]
    assert "400: the fit failed" in str(failed)
    assert evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2], cv=0.5).classes == ()
    items = ItemResponseModel(random_state=0)
    assert evaluate.select(items, X, [1], by="bic").classes == ()
    with pytest.raises(ValueError, match="needs a family of classes"):
        evaluate.select(items, X, [1], by="bic", lrt_replicates=9)
    with pytest.raises(ValueError, match='give by="bic"'):
        evaluate.select(LatentClassAnalysis(), X, [1], lrt_replicates=9)
    with pytest.raises(ValueError, match="repeat_rows"):
        evaluate.select(LatentClassAnalysis(), X, [1], by="bic", lrt_replicates=9, sample_weight=np.full(200, 2.0))


@pytest.mark.parametrize("K", [2, 3, 4])
def test_smallest_class_as_polca(real_data, K):
    """poLCA converges to 1e-10 of the log-likelihood; ours moves shares by less than 1e-4."""
    pd = pytest.importorskip("pandas")
    X = pd.read_csv(real_data / "survey" / "carcinoma.csv")
    theirs = pd.read_csv(real_data / "reference" / f"carcinoma_lca{K}_poLCA.csv").share.min()
    model = LatentClassAnalysis(n_init=20, tol=1e-10, max_iter=5000, random_state=0)
    (fit,) = evaluate.select(model, X, [K], by="bic").classes
    assert fit.smallest_class == pytest.approx(theirs, abs=1e-3)


def test_criteria_as_polca(real_data):
    """Nominal columns with counts; poLCA stops earlier, so its log-likelihood is lower by up to 1e-4 of it."""
    pd = pytest.importorskip("pandas")
    X, counts = load_gss82()
    theirs = pd.read_csv(real_data / "reference" / "gss82_lca3_poLCA.csv").set_index("what").estimate
    model = LatentClassAnalysis(column_types="nominal", n_init=10, tol=1e-11, max_iter=20_000, random_state=0)
    fit = evaluate.select(model, X, [1, 2, 3], by="bic", sample_weight=counts).classes[2]
    for ours, name in (("log_likelihood", "loglik"), ("aic", "aic"), ("bic", "bic")):
        assert getattr(fit, ours) == pytest.approx(theirs[name], rel=1e-4), name


def test_shown_and_refused():
    X = simulate_mixture(300, 8, 2, random_state=0).X
    found = evaluate.select(LatentClassAnalysis(random_state=0), X, [1, 2], cv=0.5)
    assert "2 *" in str(found)
    assert "one standard error" in found._repr_html_()
    assert [record["chosen"] for record in found.records()] == [False, True]
    with pytest.raises(ValueError, match="by='columns'"):
        evaluate.select(LatentClassAnalysis(), X, [1], by="columns")
    with pytest.raises(ValueError, match="GridSearchCV"):
        evaluate.select(PCA(), X, [1])
    with pytest.raises(ValueError, match="is empty"):
        evaluate.select(LatentClassAnalysis(), X, [])
    with pytest.raises(ValueError, match="no default sizes"):
        evaluate.select(IndependentColumns(), X)
    with pytest.raises(ValueError, match=r"Unknown model 'Mixture'\. Choose from IndependentColumns"):
        evaluate.select("Mixture", X, [1])
    with pytest.raises(ValueError, match="No size could be fitted and scored"):
        evaluate.select(LatentClassAnalysis(), X, [0])
