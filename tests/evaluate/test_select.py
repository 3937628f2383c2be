"""`select` against the same figures by hand, its rule, and known truths."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    IndependentColumns,
    LatentClassAnalysis,
    LogisticPCA,
    evaluate,
    open_table,
)
from hiddenbits.datasets import simulate_mixture
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
