"""Curved maps: the M-step against an optimizer, gradients against differences, rows against sums over points."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import TopographicMap
from hiddenbits.data.operands import sums_over_rows
from hiddenbits.engine import Key
from hiddenbits.families.nodes import posterior as nodes
from hiddenbits.families.topographic_map import params
from hiddenbits.families.topographic_map.model import Topographic, grid_points, sobol_points
from hiddenbits.families.topographic_map.params import regress, smooth_basis
from hiddenbits.maths.ridge import log_prior
from tests.contracts.conftest import STORAGES, random_rows, table_of
from tests.families.topographic_map.map_data import circle_rows, random_map

pytestmark = pytest.mark.core


def column_objective(eta, ones, observed, joint, center, ridge):
    """What the regression maximizes, for each column: the definition."""
    return (ones * eta - observed * np.logaddexp(0.0, eta)).sum(axis=1) + log_prior(joint, center, ridge)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(("columns", "few"), [(2, False), (4_000, True)])
def test_rows_at_few_of_many_points_are_counted_there_alone(monkeypatch, storage, columns, few):
    """Many columns say where a row is, and two do not; by the definition, ones and rows add up to the same."""
    rng = np.random.default_rng(0)
    params = random_map(columns, rng, q=2, K=128)
    block = table_of(random_rows(rng, 60, columns, missing=False), storage).grid(60).blocks[0]
    counted = []
    monkeypatch.setattr(nodes, "sums_over_rows", lambda x, r: counted.append(r) or sums_over_rows(x, r))
    model = Topographic(2, 128)
    shared = model.prepare(params)
    stats, _ = model.expect(params, shared, block, None, Key(0))
    r = model.node_weights(params, shared, block)
    assert bool(counted) == (storage == "csr" or not few)
    np.testing.assert_allclose(stats.ones, block.x.to_dense().T @ (block.weights[:, None] * r), rtol=0, atol=1e-12)


def all_rows(d):
    return ((np.arange(2**d)[:, None] >> np.arange(d)) & 1).astype(float)


def by_hand(params, row):
    """Return ln P(row, z_k) of each point, from the definition alone."""
    z = params.points
    waves = 3 * np.sqrt(2 / len(params.phases)) * np.cos(z @ params.frequencies + params.phases)
    p = expit(np.hstack([z, waves]) @ params.joint[:, :-1].T + params.joint[:, -1])
    seen = ~np.isnan(row)
    return np.log(np.where(row == 1, p, 1 - p)[:, seen]).sum(axis=1) - np.log(len(z))


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_sums_over_points(seed):
    rng = np.random.default_rng(seed)
    params, model = random_map(6, rng), Topographic(3, 32, 5)
    rows = np.vstack([random_rows(rng, 20, 6, missing=True), np.full((1, 6), np.nan)])
    joint = np.array([by_hand(params, row) for row in rows])
    log_p = np.log(np.exp(joint).sum(axis=1))
    r = np.exp(joint - log_p[:, None])
    block = table_of(rows).grid(len(rows)).blocks[0]
    shared = model.prepare(params)
    np.testing.assert_allclose(model.log_likelihood(params, shared, block), log_p, atol=1e-12)
    np.testing.assert_allclose(model.node_weights(params, shared, block), r, atol=1e-12)
    np.testing.assert_allclose(model.posterior(params, shared, block), r @ params.points, atol=1e-12)
    assert np.array_equal(model.posterior_mode(params, shared, block), params.points[r.argmax(axis=1)])


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_all_rows_add_up_to_one(seed):
    params, model = random_map(8, np.random.default_rng(seed)), Topographic(3, 32, 5)
    rows = all_rows(8)
    log_p = model.log_likelihood(params, model.prepare(params), table_of(rows).grid(256).blocks[0])
    assert np.exp(log_p).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("storage", STORAGES)
def test_gradient_equals_differences(seed, storage):
    """Of weighted rows with missing values; central differences of 1e-5 are right to about 1e-9 of the sums."""
    rng = np.random.default_rng(seed)
    params, model = random_map(5, rng), Topographic(3, 32, 5)
    rows = random_rows(rng, 30, 5, missing=True)
    block = table_of(rows, storage, None, rng.uniform(0.5, 2.0, 30)).grid(30).blocks[0]

    def bound(vector):
        at = model.from_vector(vector, params)
        return float(model.expect(at, model.prepare(at), block, None, Key(0))[0].bound)

    here = model.to_vector(params)
    stats = model.expect(params, model.prepare(params), block, None, Key(0))[0]
    steps = 1e-5 * np.eye(len(here))
    differences = [(bound(here + step) - bound(here - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(model.gradient(params, stats).ravel(), differences, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("blanks", [True, False])
def test_m_step_equals_an_optimizer(seed, blanks):
    """Repeated until it stands still: the maximum of every column, which is the only one. And no step loses."""
    rng = np.random.default_rng(seed)
    K, m, d, ridge = 40, 12, 4, 0.7
    X = np.column_stack([rng.standard_normal((K, m)), np.ones(K)])
    rows = rng.uniform(0.0, 50.0, K)
    observed = rows * rng.uniform(0.3, 1.0, (d, K)) if blanks else rows[None, :]
    ones = observed * rng.beta(0.3, 0.3, (d, K))
    center = rng.standard_normal(d)
    found = np.zeros((d, m + 1))
    before = column_objective(found @ X.T, ones, observed, found, center, ridge)
    for _ in range(20):
        found = regress(smooth_basis(X), ones, observed, rows, found, center, ridge)
        now = column_objective(found @ X.T, ones, observed, found, center, ridge)
        assert (now >= before - 1e-12 * np.abs(before)).all()
        before = now
    for j in range(d):
        o, prior = np.broadcast_to(observed, (d, K))[j], np.append(np.zeros(m), center[j])

        def loss(w, o=o, s=ones[j], prior=prior):
            eta = X @ w
            value = o @ np.logaddexp(0, eta) - s @ eta + 0.5 * ridge * ((w - prior) ** 2).sum()
            return value, X.T @ (o * expit(eta) - s) + ridge * (w - prior)

        truth = minimize(loss, np.zeros(m + 1), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
        assert -before[j] == pytest.approx(truth.fun, rel=1e-9)
        np.testing.assert_allclose(found[j], truth.x, atol=1e-4)


def test_wide_tables_are_regressed_some_columns_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    basis, rows = smooth_basis(rng.standard_normal((30, 6))), rng.uniform(1.0, 9.0, 30)
    observed = rows * rng.uniform(0.3, 1.0, (7, 30))
    arrays = (observed * rng.random((7, 30)), observed, rows, np.zeros((7, 6)), rng.standard_normal(7), 1.0)
    whole = regress(basis, *arrays)
    monkeypatch.setattr(params, "BATCH_COLUMNS", 3)
    np.testing.assert_allclose(regress(basis, *arrays), whole, atol=1e-10)


@pytest.mark.parametrize("max_iter", [3, 300])
def test_a_large_grid_follows_a_smaller_one(max_iter):
    """Also where the first stage was cut off."""
    rows = circle_rows(1, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TopographicMap(2, n_points=400, n_features=64, max_iter=max_iter, random_state=0).fit(rows)
    np.testing.assert_array_equal(model.points_, grid_points(2, 400))
    falls = np.flatnonzero(np.diff(model.trace_) < 0)
    assert len(falls) <= 1  # where the grid changes
    assert model.converged_ == (max_iter == 300)


def test_points_are_those_of_a_normal_distribution():
    grid = grid_points(2, 1024)
    np.testing.assert_allclose(np.unique(grid[:, 0]), ndtri((np.arange(32) + 0.5) / 32), atol=1e-12)
    assert grid.shape == (1024, 2)
    many = sobol_points(5, 3000, np.random.default_rng(0))
    assert many.shape == (3000, 5)
    # 3000 balanced points: the moments are far nearer than those of draws, 1 / sqrt(3000) = .018
    np.testing.assert_allclose(many.mean(axis=0), 0.0, atol=5e-3)
    np.testing.assert_allclose(np.cov(many.T), np.eye(5), atol=2e-2)


@pytest.mark.parametrize("seed", range(3))
def test_a_bend_is_found(seed):
    """Rows around a circle: held-out rows are at least .5 nats more likely than on a flat map (.94 to .97 seen)."""
    rows = circle_rows(seed, 900)
    curved = TopographicMap(2, n_points=256, n_features=64, random_state=seed).fit(rows[:600])
    flat = hiddenbits.LogisticPCA(2, random_state=seed).fit(rows[:600])
    assert curved.score(rows[600:]) > flat.score(rows[600:]) + 0.5
    assert curved.converged_


def test_positions_and_two_places():
    """The first and the third kind share the last two ones, and the second kind lies between them."""
    kinds = np.array([[1.0, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])
    model = TopographicMap(1, random_state=0).fit(np.repeat(kinds, 40, axis=0))
    blank = np.full(8, np.nan)
    rows = np.vstack([kinds, [*blank[:6], 1, 1], blank])
    means, weights = model.transform(rows, return_weights=True)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(means, model.transform(rows), atol=1e-12)
    positions = model.position_summary(rows)
    assert positions.two_places.tolist() == [False, False, False, True, positions.two_places[4]]
    ends = np.sort(means[[0, 2], 0])
    assert np.allclose(np.sort([positions.first[3, 0], positions.second[3, 0]]), ends, atol=0.5)
    assert positions.effective_points[4] == pytest.approx(128.0)  # nothing observed: every point
    np.testing.assert_allclose(positions.effective_points, 1 / (weights**2).sum(axis=1))
    assert (positions.first_share >= positions.second_share).all()
    for row, r in enumerate(weights[:4]):
        z = model.points_[:, 0]
        near = np.abs(z - positions.first[row, 0]) <= np.sqrt(0.5)
        assert positions.first_share[row] == pytest.approx(r[near].sum(), abs=0.05)  # the center moves at the end


def test_positions_have_probabilities():
    rows = circle_rows(0, 300, 12)
    model = TopographicMap(2, n_points=64, n_features=32, random_state=0).fit(rows)
    np.testing.assert_allclose(model.inverse_transform(model.points_), model.probabilities_, atol=1e-12)
    assert model.get_feature_names_out().tolist() == ["dimension_1", "dimension_2"]
    assert "P(x = 1) over the latent space" in repr(model.summary())
