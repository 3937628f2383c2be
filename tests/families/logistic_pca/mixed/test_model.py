"""Mixed columns: the bound, its monotone ascent, and what it becomes when all columns are of one kind."""

import pickle

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA, FactorAnalysis

from hiddenbits.data.mixed.encode import encode, open_mixed, raw_columns
from hiddenbits.engine import Key
from hiddenbits.families.logistic_pca.mixed.params import MixedParams, turned
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import canonical
from tests.contracts.test_fit import structured_rows
from tests.families.logistic_pca.logistic_data import fit as fit_logistic
from tests.families.logistic_pca.mixed.mixed_data import (
    KINDS,
    ask,
    fit,
    mixed_rows,
    model_of,
    random_params,
    small_table,
)
from tests.oracle.integration import plane

pytestmark = pytest.mark.core


def reals(seed, n=400, d=7, q=2, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, q)) @ rng.standard_normal((q, d)) + noise * rng.standard_normal((n, d))
    return X * rng.uniform(0.5, 2.0, d) + 10 * rng.standard_normal(d)


def covariance_of(params):
    """The covariance that the parameters give the real columns, in the units of the table."""
    W = params.loadings * params.scale[:, None]
    return W @ W.T + np.diag(params.noise * params.scale**2), params.shift + params.scale * params.intercepts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("q", [1, 3])
def test_real_columns_with_shared_noise_are_probabilistic_pca(seed, q):
    """The closed form of Tipping and Bishop; scikit-learn divides by n - 1, which stretches its covariance."""
    X = reals(seed)
    n = len(X)
    table = open_mixed(X, kinds="real")
    model, outcome = fit(table, n_components=q, ridge=0.0, noise="shared", tol=1e-14, max_iter=5000)
    C, mean = covariance_of(outcome.params)
    peer = PCA(q).fit(X)
    np.testing.assert_allclose(C * n / (n - 1), peer.get_covariance(), rtol=0, atol=1e-6 * np.abs(C).max())
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=0, atol=1e-7 * np.abs(mean).max())
    stretched = multivariate_normal(mean, C * n / (n - 1)).logpdf(X)
    np.testing.assert_allclose(stretched, peer.score_samples(X), rtol=0, atol=1e-6)
    own = multivariate_normal(mean, C).logpdf(X)
    np.testing.assert_allclose(ask(model, "log_likelihood", outcome.params, table), own, rtol=0, atol=1e-9)
    assert outcome.trace[-1] == pytest.approx(own.sum(), abs=1e-6)
    W = turned(outcome.params).loadings
    within = peer.components_.T @ (peer.components_ @ W)
    np.testing.assert_allclose(within, W, rtol=0, atol=1e-5)  # the same subspace


@pytest.mark.parametrize("seed", range(3))
def test_real_columns_with_their_own_noise_are_factor_analysis(seed):
    X = reals(seed)
    table = open_mixed(X, kinds="real")
    model, outcome = fit(table, n_components=2, ridge=0.0, tol=1e-14, max_iter=20000)
    peer = FactorAnalysis(2, tol=1e-12, max_iter=20000, svd_method="lapack").fit(X)
    assert (outcome.params.noise > 0.0051).all()  # no floor in the way
    ours = ask(model, "log_likelihood", outcome.params, table)
    np.testing.assert_allclose(ours, peer.score_samples(X), rtol=0, atol=1e-4)
    assert ours.mean() == pytest.approx(peer.score(X), abs=1e-6)
    means = ask(model, "posterior", outcome.params, table)
    them = peer.transform(X)
    turn, *_ = np.linalg.lstsq(them, means, rcond=None)
    np.testing.assert_allclose(them @ turn, means, rtol=0, atol=1e-3)


@pytest.mark.parametrize("noise", ["column", "shared"])
def test_missing_reals_are_integrated_out(noise):
    X = reals(3)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.3] = np.nan
    table = open_mixed(X, kinds="real")
    model, outcome = fit(table, n_components=2, noise=noise)
    C, mean = covariance_of(outcome.params)
    filled = ask(model, "fill", outcome.params, table)
    for row, log_p, guess in zip(X, ask(model, "log_likelihood", outcome.params, table), filled, strict=True):
        seen = ~np.isnan(row)
        if not seen.any():
            assert log_p == pytest.approx(0.0, abs=1e-12)
            continue
        S = C[np.ix_(seen, seen)]
        assert log_p == pytest.approx(multivariate_normal(mean[seen], S).logpdf(row[seen]), abs=1e-9)
        truth = mean[~seen] + C[np.ix_(~seen, seen)] @ np.linalg.solve(S, row[seen] - mean[seen])
        np.testing.assert_allclose(guess[~seen], truth, rtol=1e-9, atol=1e-9)


def test_noise_has_a_floor():
    """A column that a dimension can be: without a floor its noise goes to 0, slowly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    X[:, 1] = X[:, 0] + 1e-3 * rng.standard_normal(300)
    table = open_mixed(X, kinds="real")
    _, outcome = fit(table, n_components=1, noise_floor=0.02)
    np.testing.assert_allclose(outcome.params.noise[:2].min(), 0.02, rtol=1e-12)
    assert outcome.restarts[0].reason == "converged"


@pytest.mark.thin(3)
@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize(("seed", "q"), [(0, 1), (1, 2), (2, 3), (3, 6)])
@pytest.mark.parametrize(("noise", "ridge"), [("column", 0.1), ("shared", 0.0)])
def test_objective_never_falls(seed, q, accelerate, noise, ridge):
    table = open_mixed(mixed_rows(seed), kinds=KINDS)
    _, outcome = fit(
        table, n_components=q, accelerate=accelerate, noise=noise, ridge=ridge, tol=0.0, max_iter=70, seed=seed
    )
    steps = np.diff(outcome.trace)
    assert len(steps) > 50
    assert (steps >= -1e-12 * abs(outcome.trace[-1])).all()
    assert outcome.restarts[0].reason in ("max_iter", "converged")


def test_bits_alone_are_the_model_of_bits():
    X = structured_rows(np.random.default_rng(0), 400, 10, missing=True)
    _, mine = fit(open_mixed(X, kinds="binary"), n_components=2, tol=1e-9)
    theirs = fit_logistic(Logistic(2, polish=False), X, tol=1e-9)
    assert mine.trace[-1] == pytest.approx(theirs.trace[-1], abs=1e-4)
    np.testing.assert_allclose(turned(mine.params).loadings, canonical(theirs.params).loadings, rtol=0, atol=1e-2)


@pytest.mark.parametrize(
    "kinds", [("nominal",), ("nominal", "nominal", "real"), ("nominal", "binary", "ordered", "real")]
)
@pytest.mark.parametrize("seed", range(3))
def test_bound_and_posterior_equal_integration_of_the_bounded_integrand(kinds, seed):
    """One step from a given posterior: integrate exp of the quadratic bounds, touching where that posterior says."""
    table = small_table(seed, kinds)
    model = model_of(table, n_components=2, warm_steps=1)
    rng = np.random.default_rng(seed)
    params = random_params(rng, model)
    block = table.grid(table.shape[0]).blocks[0]
    shared = model.prepare(params)
    before = model.expect(params, shared, block, None, Key(0))[1]
    stats, after = model.expect(params, shared, block, before, Key(0))
    rows, total = table.to_float(), 0.0
    nodes, log_prior = plane(2, 0.08)
    A = nodes @ params.loadings.T + params.intercepts
    B, R = model.places.n_bits, model.n_real
    for n, row in enumerate(rows):
        C = np.array([[1, 2**-0.5], [2**-0.5, 1]]) * np.array(
            [[before.covariance[n][0], before.covariance[n][1]], [before.covariance[n][1], before.covariance[n][2]]]
        )
        m = params.loadings @ before.mean[n] + params.intercepts
        scores = log_prior.copy()
        for i in range(B):
            if not np.isnan(row[i]):
                xi = np.sqrt(m[i] ** 2 + params.loadings[i] @ C @ params.loadings[i])
                scores += (row[i] - 0.5) * A[:, i] - np.log(2 * np.cosh(xi / 2))
                scores -= np.tanh(xi / 2) / (4 * xi) * (A[:, i] ** 2 - xi**2)
        for j in range(R):
            if not np.isnan(row[B + j]):
                mean, sd = params.shift[j] + params.scale[j] * A[:, B + j], params.scale[j] * np.sqrt(params.noise[j])
                scores += -0.5 * ((row[B + j] - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
        first = B + R
        for K in model.levels:
            if not np.isnan(row[first]):
                eta, psi, t = A[:, first : first + K], m[first : first + K], row[first : first + K]
                g = np.exp(psi) / np.exp(psi).sum()
                H = 0.5 * (np.eye(K) - 1 / K)
                away = eta - psi
                scores += eta @ t - np.log(np.exp(psi).sum()) - away @ g - 0.5 * np.einsum("nk,kl,nl->n", away, H, away)
            first += K
        p = np.exp(scores - scores.max())
        total += np.log(p.sum()) + scores.max()
        p /= p.sum()
        np.testing.assert_allclose(after.mean[n], p @ nodes, rtol=0, atol=1e-9)
        spread = (nodes - p @ nodes).T @ ((nodes - p @ nodes) * p[:, None])
        np.testing.assert_allclose(after.covariance[n], [spread[0, 0], 2**0.5 * spread[0, 1], spread[1, 1]], atol=1e-9)
    assert float(stats.bound) == pytest.approx(total, abs=1e-9 * len(rows))


@pytest.mark.full
def test_update_is_a_maximum():
    table = open_mixed(mixed_rows(0, n=150), kinds=KINDS)
    model, outcome = fit(table, n_components=1, tol=0.0, max_iter=3000, noise_floor=1e-6, cold_steps=200)
    block = table.grid(table.shape[0]).blocks[0]

    def objective(params):
        return model.objective(params, model.expect(params, model.prepare(params), block, None, None)[0])

    best, here = objective(outcome.params), model.to_vector(outcome.params)
    for unit in np.eye(len(here)):
        for step in (-0.02, 0.02):
            assert objective(model.from_vector(here + step * unit, outcome.params)) < best - 1e-7


@pytest.mark.parametrize("kind", ["binary", "real", "nominal", "ordered"])
def test_masked_columns_equal_dropped_ones(kind):
    """A column that nobody answered changes nothing but its own loadings; a real one is refused."""
    rows = mixed_rows(1)
    table = open_mixed(rows, kinds=KINDS)
    layout = table.layout
    place = KINDS.index(kind)
    blank = rows.copy()
    blank[:, place] = np.nan
    masked = encode(raw_columns(blank)[0], layout)
    if kind == "real":
        with pytest.raises(ValueError, match="blank"):
            fit(masked, n_components=2)
        return
    dropped = open_mixed(np.delete(rows, place, axis=1), kinds=[k for j, k in enumerate(KINDS) if j != place])
    wide, narrow = model_of(masked, n_components=2), model_of(dropped, n_components=2)
    keep = np.array([label in dropped_labels(layout, place) for label in layout.labels()])
    params = random_params(np.random.default_rng(0), wide)
    less = MixedParams(
        params.loadings[keep], params.intercepts[keep], params.centre[keep], params.noise, params.shift, params.scale
    )
    for _ in range(5):
        stats, _ = wide.expect(params, wide.prepare(params), masked.grid(400).blocks[0], None, Key(0))
        few, _ = narrow.expect(less, narrow.prepare(less), dropped.grid(400).blocks[0], None, Key(0))
        assert float(stats.bound) == pytest.approx(float(few.bound), rel=1e-12)
        params, less = wide.update(params, stats), narrow.update(less, few)
        np.testing.assert_allclose(params.loadings[keep], less.loadings, rtol=0, atol=1e-10)
        np.testing.assert_allclose(params.loadings[~keep], 0.0, rtol=0, atol=1e-10)


def dropped_labels(layout, place):
    return {label for j, column in enumerate(layout.columns) if j != place for label in column.labels()}


def test_order_of_nominal_categories_does_not_matter():
    rows = mixed_rows(2)
    other = rows.copy()
    turn = np.array([2, 0, 3, 1])
    seen = ~np.isnan(rows[:, 8])
    other[seen, 8] = turn[rows[seen, 8].astype(int)]
    a, b = (open_mixed(r, kinds=KINDS) for r in (rows, other))
    model = model_of(a, n_components=2)
    params = random_params(np.random.default_rng(0), model)
    first = a.layout.n_bits + 4
    order = np.arange(model.places.n_numbers)
    order[first + turn] = first + np.arange(4)
    same = MixedParams(
        params.loadings[order], params.intercepts[order], params.centre[order], params.noise, params.shift, params.scale
    )
    for _ in range(5):
        one, _ = model.expect(params, model.prepare(params), a.grid(400).blocks[0], None, Key(0))
        two, _ = model.expect(same, model.prepare(same), b.grid(400).blocks[0], None, Key(0))
        assert float(one.bound) == pytest.approx(float(two.bound), rel=1e-13)
        params, same = model.update(params, one), model.update(same, two)
        np.testing.assert_allclose(params.loadings[order], same.loadings, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        ask(model, "log_likelihood", params, a), ask(model, "log_likelihood", same, b), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_weights_equal_repeats_and_threads_change_no_bit(missing):
    rows = mixed_rows(4, n=700, missing=missing)
    table = open_mixed(rows, kinds=KINDS)
    counts = np.random.default_rng(0).integers(0, 3, len(rows))
    repeated = open_mixed(np.repeat(rows, counts, axis=0), kinds=KINDS)
    _, a = fit(table, weights=counts, n_components=2, tol=1e-6)
    _, b = fit(repeated, n_components=2, tol=1e-6)
    for name, array in a.params.to_arrays().items():
        np.testing.assert_allclose(b.params.to_arrays()[name], array, rtol=0, atol=1e-6)
    _, c = fit(pickle.loads(pickle.dumps(table)), weights=counts, n_components=2, tol=1e-6, n_jobs=3)
    for name, array in a.params.to_arrays().items():
        assert np.array_equal(c.params.to_arrays()[name], array)


def test_statistics_add():
    rows = mixed_rows(5, n=60)
    table = open_mixed(rows, kinds=KINDS)
    model = model_of(table, n_components=3)
    params = random_params(np.random.default_rng(1), model)
    whole, *parts = (
        model.expect(params, model.prepare(params), block, None, Key(0))[0]
        for block in (table.grid(60).blocks[0], *table.grid(23).blocks)
    )
    total = parts[0]
    for part in parts[1:]:
        total += part
    for name, value in whole.to_arrays().items():
        np.testing.assert_allclose(total.to_arrays()[name], value, rtol=1e-10, atol=1e-10)


def test_online_learning_goes_on_from_the_parameters_it_has():
    table = open_mixed(mixed_rows(6), kinds=KINDS)
    model, outcome = fit(table, n_components=2, tol=1e-7)
    params = outcome.params
    back = model.update(params, model.pseudo_statistics(params, 400.0))
    np.testing.assert_allclose(back.joint, params.joint, rtol=0, atol=1e-9)
    np.testing.assert_allclose(back.noise, params.noise, rtol=1e-9)
    assert model.stats_flaw(model.pseudo_statistics(params, 400.0), params) is None


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_bohning_against_stick_breaking_on_softmax_data(seed):
    """Bohning's bound is looser, but the map it finds is the better one: the model is the true one."""
    rng = np.random.default_rng(seed)
    n, d, K = 1500, 16, 4
    x, V = rng.standard_normal((n, 2)), rng.standard_normal((d, K, 2))
    rows = np.stack([np.argmax(x @ V[j].T + rng.gumbel(size=(n, K)), axis=1) for j in range(d)], axis=1).astype(float)
    figures = {}
    for kind in ("nominal", "ordered"):
        table = open_mixed(rows, kinds=kind)
        model, outcome = fit(table, n_components=2, tol=1e-5)
        figures[kind] = -ask(model, "log_likelihood", outcome.params, table).mean()
        figures[kind + " bound"] = -ask(model, "bound_rows", outcome.params, table).mean()
        if kind == "nominal":
            truth = MixedParams(
                V.reshape(-1, 2), np.zeros(d * K), np.zeros(d * K), np.zeros(0), np.zeros(0), np.zeros(0)
            )
            figures["true"] = -ask(model, "log_likelihood", truth, table).mean()
    assert abs(figures["nominal"] - figures["true"]) < 0.1
    assert figures["nominal"] < figures["ordered"]
    assert figures["nominal bound"] > figures["ordered bound"]
