"""Log-likelihood, criteria, G^2 and X^2 against closed forms and poLCA."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from hiddenbits import ClippedPCA, LatentClassAnalysis, diagnostics
from hiddenbits.datasets import load_gss82

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("seed", range(3))
def test_one_class_behind_two_columns_is_a_test_of_independence(seed):
    X = (np.random.default_rng(seed).random((150, 2)) < [0.3, 0.6]).astype(int)
    X[:40, 1] = X[:40, 0]
    model = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    found = diagnostics.fit_statistics(model, X)
    counts = np.histogram2d(*X.T, bins=2)[0]
    for value, p, kind in ((found.x2, found.x2_p, 1.0), (found.g2, found.g2_p, 0.0)):
        expected = chi2_contingency(counts, correction=False, lambda_=kind)
        assert value == pytest.approx(expected.statistic, rel=1e-6)
        assert p == pytest.approx(expected.pvalue, rel=1e-5)
    assert found.df == 1
    assert found.aic == pytest.approx(model.aic(X))
    assert found.bic == pytest.approx(model.bic(X))
    assert found.log_likelihood == pytest.approx(model.score_samples(X).sum())
    assert found.sabic == pytest.approx(found.aic - 4 + 2 * np.log(152 / 24))


def test_weights_blanks_and_what_is_refused():
    X = (np.random.default_rng(0).random((80, 3)) < 0.5).astype(float)
    w = np.arange(80) % 3 + 1.0
    model = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X, sample_weight=w)
    weighted = diagnostics.fit_statistics(model, X, w)
    repeated = diagnostics.fit_statistics(model, np.repeat(X, w.astype(int), axis=0))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)
    X[0, 0] = np.nan
    blank = diagnostics.fit_statistics(model, X, w)
    assert np.isnan(blank.g2)
    assert np.isnan(blank.x2_p)
    assert np.isfinite(blank.bic)
    many = LatentClassAnalysis(3, prior_strength=0, random_state=0).fit(X)
    assert diagnostics.fit_statistics(many, X).df < 0
    with pytest.raises(ValueError, match="prior"):
        diagnostics.fit_statistics(LatentClassAnalysis(2, random_state=0).fit(X), X)
    with pytest.raises(TypeError, match="criteria"):
        diagnostics.fit_statistics(ClippedPCA(1).fit(X), X)


@pytest.mark.parametrize(
    ("K", "log_likelihood", "aic", "bic", "g2"),
    [(2, -317.2568, 664.5137, 706.0739, 62.36543), (3, -293.7050, 633.4100, 697.1357, 15.26171)],
)
def test_carcinoma_as_polca(real_data, K, log_likelihood, aic, bic, g2):
    X = pd.read_csv(real_data / "survey" / "carcinoma.csv")
    settings = {"prior_strength": 0, "tol": 1e-11, "max_iter": 10000, "n_init": 5, "random_state": 0}
    found = diagnostics.fit_statistics(LatentClassAnalysis(K, **settings).fit(X), X)
    np.testing.assert_allclose(
        [found.log_likelihood, found.aic, found.bic, found.g2], [log_likelihood, aic, bic, g2], rtol=1e-6
    )


def test_levels_as_polca(real_data):
    """36 patterns of 2 x 2 x 3 x 3 answers; poLCA's statistics are at a larger tol than ours."""
    X, counts = load_gss82()
    settings = {"column_types": "nominal", "prior_strength": 0, "tol": 1e-11, "max_iter": 20_000, "random_state": 0}
    model = LatentClassAnalysis(3, n_init=10, **settings).fit(X, sample_weight=counts)
    found = diagnostics.fit_statistics(model, X, counts)
    theirs = pd.read_csv(real_data / "reference" / "gss82_lca3_poLCA.csv").set_index("what").estimate
    for ours, name in (("log_likelihood", "loglik"), ("aic", "aic"), ("bic", "bic"), ("g2", "Gsq"), ("x2", "Chisq")):
        assert getattr(found, ours) == pytest.approx(theirs[name], rel=1e-4), name
    assert (found.df, found.expected) == (15, pytest.approx(1202 / 36))
