"""What the fitted map says about rows, against plain integration; and the edges of what a table can be."""

from dataclasses import replace

import numpy as np
import pytest

from hiddenbits import LogisticPCA, open_table
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.maths import gauss_hermite
from tests.contracts.test_fit import structured_rows
from tests.families.logistic_pca.logistic_data import Logistic, RefinedLogistic, rows_of, synth
from tests.oracle.integration import Plane

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


def some_rows(rng, n, d):
    rows = rng.integers(0, 2, (n, d)).astype(float)
    rows[rng.random((n, d)) < 0.2] = np.nan
    rows[0] = np.nan  # a row that says nothing
    return rows


def params_of(rng, d, q, size=1.5):
    return LogisticParams(size * rng.standard_normal((d, q)), rng.standard_normal(d), np.zeros(d))


@pytest.mark.thin(2)
@pytest.mark.parametrize("size", [0.3, 1.5, 4.0])
@pytest.mark.parametrize("q", [1, 2])
def test_grid_answers_equal_integration(q, size):
    rng = np.random.default_rng(q)
    params, rows = params_of(rng, 8, q, size), some_rows(rng, 7, 8)
    plane = Plane(params.loadings, params.intercepts, step=0.03 if size > 2 else 0.06)
    model = Logistic(q)
    for function, truth in (
        ("log_likelihood", plane.log_likelihood),
        ("fill", plane.conditional),
        ("leave_one_out", plane.leave_one_out),
    ):
        np.testing.assert_allclose(rows_of(model, function, params, rows), [truth(r) for r in rows], atol=1e-7, rtol=0)
    means = np.array([plane.moments(row)[0] for row in rows])
    np.testing.assert_allclose(rows_of(RefinedLogistic(q), "posterior", params, rows), means, rtol=0, atol=1e-7)


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("q", "size"), [(1, 0.5), (2, 4.0), (5, 2.0)])
def test_variational_posteriors_are_at_rest(q, size, seed):
    """The fixed point of Tipping's equations 6 to 8, one row at a time and written out; however rows stand together."""
    rng = np.random.default_rng(seed)
    params, rows = params_of(rng, 12, q, size), some_rows(rng, 20, 12)
    W, b = params.loadings, params.intercepts
    found = rows_of(Logistic(q), "posterior", params, rows)
    for row, mean in zip(rows, found, strict=True):
        seen = ~np.isnan(row)
        m, C, w, c = np.zeros(q), np.eye(q), W[seen], b[seen]
        for _ in range(300):
            xi = np.sqrt(np.einsum("ia,ab,ib->i", w, C + np.outer(m, m), w) + 2 * c * (w @ m) + c * c)
            kappa = np.tanh(xi / 2) / (2 * xi)
            C = np.linalg.inv(np.eye(q) + (w.T * kappa) @ w)
            m = C @ ((row[seen] - 0.5 - kappa * c) @ w)
        np.testing.assert_allclose(mean, m, rtol=0, atol=1e-7)
    alone = np.concatenate([rows_of(Logistic(q), "posterior", params, row[None]) for row in rows])
    np.testing.assert_allclose(alone, found, rtol=0, atol=1e-12)


@pytest.mark.thin(3)
@pytest.mark.parametrize("function", ["log_likelihood", "fill", "leave_one_out"])
def test_sampled_answers_are_within_their_error(function, monkeypatch):
    """The same quantities by importance sampling, forced on a model whose truth is known."""
    rng = np.random.default_rng(0)
    params, rows = params_of(rng, 10, 2, 1.2), some_rows(rng, 30, 10)
    exact = rows_of(Logistic(2), function, params, rows)
    monkeypatch.setattr(Logistic, "rule", lambda self, params: None)
    sampled = rows_of(Logistic(2, n_draws=20000), function, params, rows)
    np.testing.assert_allclose(sampled, exact, rtol=0, atol=0.03)
    few = rows_of(Logistic(2, n_draws=200), "likelihood_and_error", params, rows)
    truth = [Plane(params.loadings, params.intercepts, step=0.1).log_likelihood(row) for row in rows]
    np.testing.assert_allclose(few[0], 0.0, rtol=0, atol=1e-12)  # nothing observed: the proposal is the posterior
    away = ((few[:, 0] - truth) / np.maximum(few[:, 1], 1e-9))[1:]
    assert np.abs(away).max() < 5.0
    assert 0.5 < np.sqrt(np.mean(away**2)) < 1.6


@pytest.mark.full
def test_many_dimensions_are_estimated_and_say_so():
    X = structured_rows(np.random.default_rng(0), 300, 20, missing=True)
    model = LogisticPCA(5, random_state=0, tol=1e-4).fit(X)
    assert model._likelihood_kind == "estimate"
    scores, errors = model.score_samples(X, return_std=True)
    assert (errors > 0).all()
    assert np.array_equal(scores, model.score_samples(X))  # keyed draws
    more = LogisticPCA(5, random_state=1, tol=1e-4, n_draws=5000)
    more._params, more.n_features_in_ = model._params, model.n_features_in_
    assert np.abs((scores - more.score_samples(X)) / errors).mean() < 1.5
    assert (model.bound_samples(X) < more.score_samples(X) + 0.05).all()


def grid_of(W, level=0.0):
    return LogisticParams(W, np.full(len(W), level), np.zeros(len(W))).grid


def test_grid_is_refused_where_it_would_be_too_large():
    rng = np.random.default_rng(0)
    assert grid_of(rng.standard_normal((50, 4))) is None
    assert grid_of(30 * rng.standard_normal((500, 2))) is None
    assert grid_of(np.zeros((5, 2))) is not None
    W = 0.3 * rng.standard_normal((300, 2))
    assert len(grid_of(W, -6.0).nodes) < 0.5 * len(grid_of(W).nodes)  # rare ones say little of where a row is


@pytest.mark.parametrize(("q", "d", "size"), [(2, 40, 2.0), (2, 300, 0.5), (3, 20, 1.0)])
def test_parts_of_a_grid_are_as_good_as_a_finer_one(q, d, size, monkeypatch):
    """A large grid is looked at where rows are; against all of a finer one. Also rows far out, and missing cells."""
    rng = np.random.default_rng(d)
    params = params_of(rng, d, q, size / np.sqrt(q))
    model, X = RefinedLogistic(q), Logistic(q).sample(params, 300, rng)[0].astype(float)
    X[:100][rng.random((100, d)) < 0.3] = np.nan
    X[0], X[1, : d // 2], X[2, : d // 2] = np.nan, 0.0, 1.0
    assert params.grid.coarse is not None
    found = [rows_of(model, name, params, X) for name in ("log_likelihood", "posterior_moments", "leave_one_out")]
    monkeypatch.setattr(gauss_hermite, "ACCURACY", 27.0)
    monkeypatch.setattr(gauss_hermite, "MOST_NODES", 1 << 18)
    monkeypatch.setattr(gauss_hermite, "LARGE", np.inf)
    finer = replace(params)
    assert len(finer.grid.nodes) > 1.2 * len(params.grid.nodes)
    assert finer.grid.coarse is None
    true = [rows_of(model, name, finer, X) for name in ("log_likelihood", "posterior_moments", "leave_one_out")]
    for some, others, error in zip(found, true, (1e-8, 1e-6, 1e-7), strict=True):
        np.testing.assert_allclose(some, others, rtol=0, atol=error)


def test_most_probable_code_is_a_maximum():
    rng = np.random.default_rng(0)
    params, rows = params_of(rng, 12, 2, 2.0), some_rows(rng, 20, 12)
    plane = Plane(params.loadings, params.intercepts, step=0.04)
    at = rows_of(Logistic(2), "posterior_mode", params, rows)
    for row, code in zip(rows, at, strict=True):
        assert np.abs(plane.nodes[plane.log_joint(row).argmax()] - code).max() <= 0.04


def test_verbs_fit_together():
    X = synth(0, 0.05).astype(float)
    model = LogisticPCA(2, random_state=0).fit(X)
    assert model._likelihood_kind == "exact"
    means, covariances = model.transform(X, return_cov=True)
    assert np.array_equal(means, model.transform(X))
    assert covariances.shape == (600, 2, 2)
    assert (np.linalg.eigvalsh(covariances) > 0).all()
    np.testing.assert_allclose(
        model.inverse_transform(means), 1 / (1 + np.exp(-means @ model.components_ - model.intercepts_)), atol=1e-12
    )
    assert (model.bound_samples(X) <= model.score_samples(X) + 1e-9).all()
    drawn = model.sample(50_000, random_state=1)
    se = np.sqrt(X.mean(axis=0) * (1 - X.mean(axis=0)) / 600)
    assert (np.abs(drawn.mean(axis=0) - X.mean(axis=0)) < 5 * se + 0.01).all()


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize(
    ("n", "d", "q"), [(1, 5, 1), (2, 1, 1), (40, 2, 2), (3, 30, 2)], ids=["one row", "one column", "q = d", "wide"]
)
def test_small_tables(refine, n, d, q):
    X = np.random.default_rng(0).integers(0, 2, (n, d)).astype(float)
    model = LogisticPCA(q, refine=refine, random_state=0, max_iter=200).fit(X)
    assert model.stop_reason_ in ("converged", "max_iter")
    for result in (model.score_samples(X), model.transform(X), model._cell_probabilities(X), model.components_):
        assert np.isfinite(result).all()
    assert model.transform(X).shape == (n, q)


@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.UnobservedColumnsWarning")
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("refine", [True, False])
def test_constant_and_missing_columns_and_rows(refine, ridge):
    rng = np.random.default_rng(0)
    X = structured_rows(rng, 300, 8, missing=True)
    X[:, 1], X[:, 4], X[:, 6] = 1.0, 0.0, np.nan
    X[5] = np.nan
    model = LogisticPCA(2, refine=refine, ridge=ridge, random_state=0, max_iter=300).fit(X)
    assert model.stop_reason_ in ("converged", "max_iter")
    p = model.complete(X)[5]  # a row that says nothing gets the margins of the model
    assert p[1] > 0.98
    assert p[4] < 0.02
    np.testing.assert_allclose(model.components_[:, 6], 0.0, atol=1e-6)
    assert p[6] == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(model.transform(X)[5], 0.0, atol=1e-9)


def test_float32_estimator_agrees():
    X = synth(1, 0.1)
    wide = LogisticPCA(2, refine=False, random_state=0).fit(X)
    narrow = LogisticPCA(2, refine=False, dtype="float32", random_state=0).fit(X)
    np.testing.assert_allclose(narrow.score_samples(X), wide.score_samples(X), rtol=0, atol=2e-2)
    assert narrow.score(X) == pytest.approx(wide.score(X), rel=1e-4)


@pytest.mark.full
def test_online_learning_reaches_what_full_passes_reach(monkeypatch):
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 256)
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 128)
    rng = np.random.default_rng(0)
    X, _ = Logistic(2).sample(params_of(rng, 20, 2), 6000, rng)
    full = LogisticPCA(2, refine=False, random_state=0).fit(X)
    online = LogisticPCA(2, refine=False, random_state=0)
    for start in range(0, 6000, 1000):
        online.partial_fit(X[start : start + 1000])
    assert online.score(X) > full.score(X) - 0.05
    before = full.components_.copy()
    full.partial_fit(X[:500])  # goes on from the fit: the map moves a little
    assert 1e-6 < np.abs(full.components_ - before).max() < 0.3
    refined = LogisticPCA(2, random_state=0, online_passes=1).fit(X)
    assert refined.partial_fit(X[:300]).score(X) > full.score(X) - 0.05


def test_missing_cells_are_completed_from_the_map():
    rng = np.random.default_rng(0)
    truth = synth(2, 0.05).astype(float)
    hidden = rng.random(truth.shape) < 0.2
    X = np.where(hidden, np.nan, truth)
    model = LogisticPCA(2, random_state=0).fit(X)
    assert open_table(X).shape == truth.shape
    right = (model.complete(X)[hidden] > 0.5) == (truth[hidden] == 1)
    assert right.mean() > 0.9
