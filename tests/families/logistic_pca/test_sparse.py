"""The sparse model: against integration, against passes over all cells, and the same on every executor."""

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits import IndependentColumns, LogisticPCA
from hiddenbits.data import AllOnes, Block, Dense, MemorySource, Table
from hiddenbits.data.bits import Pattern, pattern_of
from hiddenbits.engine import Settings, fit_planned
from hiddenbits.engine.executors.local import Local
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams
from hiddenbits.families.logistic_pca.refine import RefinedLogistic
from hiddenbits.families.logistic_pca.sparse import model as sparse_model
from hiddenbits.families.logistic_pca.sparse import model_choice
from hiddenbits.families.logistic_pca.sparse.expectations import (
    RARE,
    at_anchors,
    expectations,
    softplus_steps,
    softplus_sums,
)
from hiddenbits.families.logistic_pca.sparse.model import SparseLogistic
from hiddenbits.maths.gauss_hermite import hermite
from hiddenbits.maths.packed_symmetric import pack, unpack
from tests.contracts.conftest import NotResident

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows_of_a_map(seed, n=4000, d=30, level=-3.0, q=2):
    rng = np.random.default_rng(seed)
    W, b = 1.2 * rng.standard_normal((d, q)), level + 0.5 * rng.standard_normal(d)
    A = rng.standard_normal((n, q)) @ W.T + b
    return (rng.random((n, d)) < 1.0 / (1.0 + np.exp(-A))).astype(np.uint8)


@pytest.fixture(scope="module")
def fitted():
    X = rows_of_a_map(0)
    return X, LogisticPCA(2, cost="ones", random_state=0).fit(X)


def exact_objective(model, X):
    """Return the bound of the refinement, computed cell by cell, with the prior: nats per row."""
    block = Block(Dense(X), AllOnes(X.shape), np.ones(len(X)), 0, 0)
    params = model._params
    prior = -0.05 * ((params.loadings**2).sum() + ((params.intercepts - params.center) ** 2).sum()) / len(X)
    return Logistic(2).gaussian_rows(params, block, refined=True)[1].mean() + prior


def integrated(mean, variance):
    """Return E f, E sigma and E sigma' by 101 nodes."""
    z, w = hermite(101)
    A = mean[..., None] + np.sqrt(variance)[..., None] * z
    sigma = 1.0 / (1.0 + np.exp(-A))
    return np.logaddexp(0.0, A) @ w, sigma @ w, (sigma * (1.0 - sigma)) @ w


def test_expectations_equal_integration():
    mean, variance = (a.copy() for a in np.meshgrid(np.linspace(-12.0, 4.0, 33), np.linspace(0.01, 1.5, 12)))
    rare = mean + 1.5 * variance <= RARE
    assert rare.any()
    assert not rare.all()
    for found, true in zip(expectations(mean, variance), integrated(mean, variance), strict=True):
        # The closed form errs by exp(mean + 1.5 variance)/2 of E f, by four times that of the slope.
        relative = np.abs(found / true - 1.0)
        assert (relative[rare] <= 2.2 * np.exp(mean + 1.5 * variance)[rare]).all()
        assert np.abs(found - true)[~rare].max() < 1e-8


@pytest.mark.parametrize("level", [-9.0, -1.0])
def test_gradient_of_columns_is_that_of_their_sums(level):
    rng = np.random.default_rng(1)
    joint = np.column_stack([0.5 * rng.standard_normal((3, 2)), np.full(3, level)])
    roots = 0.4 * rng.standard_normal((4, 2, 2))
    cells = rng.random(4), rng.standard_normal((4, 2)), pack(roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(2))
    sums, gradient, _ = softplus_steps(joint, *cells)
    np.testing.assert_allclose(sums, softplus_sums(joint, *cells), rtol=1e-13)
    for i in range(3):
        step = np.zeros_like(joint)
        step[:, i] = 1e-5
        numeric = (softplus_sums(joint + step, *cells) - softplus_sums(joint - step, *cells)) / 2e-5
        np.testing.assert_allclose(gradient[:, i], numeric, rtol=1e-6, atol=1e-9)


def test_expansion_at_anchors_equals_integration():
    rng = np.random.default_rng(2)
    joint = np.column_stack([rng.standard_normal((5, 2)), -2.0 * np.ones(5)])
    anchors, C = rng.standard_normal((3, 2)), pack(np.tile([[0.4, 0.1], [0.1, 0.3]], (3, 1, 1)))
    copies = np.array([1.0, 1.0, 1.0, 1.0, 7.0])
    W = joint[:, :2]
    variance = np.einsum("ja,nab,jb->nj", W, unpack(C, 2), W)
    _, sigma, slope = integrated(anchors @ W.T + joint[:, 2], variance)
    gradient, hessian = at_anchors(joint, copies, anchors, C)
    np.testing.assert_allclose(gradient, (sigma * copies) @ W, atol=0.01)
    np.testing.assert_allclose(unpack(hessian, 2), np.einsum("nj,ja,jb->nab", slope * copies, W, W), atol=0.02)


@pytest.mark.parametrize(("size", "level"), [(0.3, -3.0), (1.2, -6.0)], ids=["wide posteriors", "narrow ones"])
def test_rows_by_their_pull_equal_integration(size, level, monkeypatch):
    """By a table of F, to 1e-4 nats per row: rare and common columns, an extreme and an empty row included."""
    rng = np.random.default_rng(5)
    W, b = size * rng.standard_normal((200, 2)), level + 1.5 * rng.standard_normal(200)
    params = LogisticParams(W, b, b)
    X, _ = Logistic(2).sample(params, 300, rng)
    X[0], X[1] = 0, W[:, 0] > 1.7 * size
    block, model = Block(Dense(X), AllOnes(X.shape), np.ones(len(X)), 0, 0), RefinedLogistic(2)
    names = "likelihood_and_error", "posterior_moments"
    exact = [getattr(model, name)(params, None, block) for name in names]
    monkeypatch.setattr(Logistic, "rule", lambda self, params: None)
    for name, true, error in zip(names, exact, (1e-4, 1e-3), strict=True):
        np.testing.assert_allclose(getattr(model, name)(params, None, block), true, atol=error)


def test_likelihood_of_rows_with_few_of_many_rare_columns(monkeypatch):
    """F is thousands at the last nodes of a wide posterior. Against an even grid; 1e-3, as it is not quite normal."""
    rng = np.random.default_rng(5)
    W, b = 1.5 * rng.standard_normal((1500, 2)), rng.normal(-9.0, 1.5, 1500)
    X = np.zeros((3, 1500), np.uint8)
    X[1, 0] = X[2, :2] = 1
    axis = np.linspace(-8.0, 8.0, 129)
    nodes = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=2).reshape(-1, 2)
    A = nodes @ W.T + b
    heights = A @ X.T - (np.logaddexp(0.0, A).sum(axis=1) + 0.5 * (nodes**2).sum(axis=1))[:, None]
    exact = np.logaddexp.reduce(heights, axis=0) + 2.0 * np.log(axis[1] - axis[0]) - np.log(2.0 * np.pi)
    block, params = Block(Dense(X), AllOnes(X.shape), np.ones(3), 0, 0), LogisticParams(W, b, b)
    monkeypatch.setattr(Logistic, "rule", lambda self, params: None)
    found = Logistic(2).likelihood_and_error(params, None, block)
    np.testing.assert_allclose(found[:, 0], exact, atol=1e-3)
    assert (found[:, 1] == 0.0).all()


def test_online_passes_come_near_the_fit(fitted):
    X, model = fitted
    online = LogisticPCA(2, cost="ones", online_passes=2, max_iter=2, random_state=0).fit(X)
    assert online.cost_ == "ones"
    assert abs(online.score(X) - model.score(X)) < 0.02


@pytest.mark.slow
def test_compiled_steps_through_cells_equal_the_readable_ones(fitted, monkeypatch):
    pytest.importorskip("numba")
    X, _ = fitted
    quick = LogisticPCA(2, cost="ones", max_iter=6, tol=0.0, random_state=0)
    fast = quick.fit(X)._params.joint
    monkeypatch.setattr(sparse_model, "_compiled", lambda: None)
    np.testing.assert_allclose(quick.fit(X)._params.joint, fast, atol=1e-9)


@pytest.mark.full
@pytest.mark.parametrize(("seed", "q"), [(0, 2), (1, 2), (2, 2), (0, 3)])
def test_fit_is_as_good_as_one_over_all_cells(seed, q):
    """Held-out rows lose at most 1% of what the map gains over independent bits."""
    X = rows_of_a_map(seed, n=6000, q=q)
    train, test = X[:4000], X[4000:]
    cells = LogisticPCA(q, cost="cells", random_state=0).fit(train)
    ones = LogisticPCA(q, cost="ones", random_state=0).fit(train)
    assert (cells.cost_, ones.cost_) == ("cells", "ones")
    assert ones.converged_
    gain = cells.score(test) - IndependentColumns().fit(train).score(test)
    assert gain > 0.1
    assert abs(cells.score(test) - ones.score(test)) < 0.01 * gain


def test_objective_is_the_exact_bound_within_its_error(fitted):
    """The refinement computes exactly, cell by cell, the bound that the cells of the map stand for."""
    X, model = fitted
    assert abs(model.trace_[-1] / len(X) - exact_objective(model, X)) < 0.005


@pytest.mark.full
def test_rows_far_out_do_not_let_the_objective_run_away():
    """A few rows with many rare ones: those that kept their cells, or made long steps, never rested."""
    rng = np.random.default_rng(6)
    X = (rng.random((2000, 1000)) < 0.003).astype(np.uint8)
    X[:30, :300] |= rng.random((30, 300)) < 0.1
    X[30:60, 300:600] |= rng.random((30, 300)) < 0.1
    model = LogisticPCA(2, cost="ones", tol=1e-6, random_state=0).fit(X)
    gains = np.diff(model.trace_)[-20:] / len(X)
    assert np.abs(gains).max() < 0.005
    assert abs(model.trace_[-1] / len(X) - exact_objective(model, X)) < 0.015


@pytest.mark.full
def test_empty_columns_share_one_map_and_change_little(fitted):
    X, model = fitted
    wide = np.hstack([X, np.zeros((len(X), 20), np.uint8)])
    other = LogisticPCA(2, cost="ones", random_state=0).fit(wide)
    assert len(np.unique(other.components_[:, 30:], axis=1).T) == 1
    assert abs(other.score(wide[:500]) - model.score(X[:500])) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("q", [2, 3])
def test_same_bits_on_threads_and_from_parts(fitted, q):
    """Rows move and cells are cut: all of it within 16 passes."""
    X, _ = fitted
    source = MemorySource(Pattern(*pattern_of(X), X.shape[1]), AllOnes(X.shape))
    outcomes = []
    for n_jobs, walked in ((1, source), (3, source), (3, NotResident(source))):
        executor = Local(n_jobs)
        grid = Table(walked, None, None, 7000).grid(256)
        outcomes.append(fit_planned(SparseLogistic(q), grid, executor, Settings(n_init=1, max_iter=16), None, None))
        executor.close()
    for other in outcomes[1:]:
        assert np.array_equal(outcomes[0].trace, other.trace)
        for name, array in outcomes[0].params.to_arrays().items():
            assert np.array_equal(array, other.params.to_arrays()[name])


@pytest.mark.full
def test_weights_equal_repeats(fitted):
    X, _ = fitted
    twice = LogisticPCA(2, cost="ones", max_iter=20, tol=0.01, random_state=0)
    weighed = twice.fit(X, sample_weight=np.full(len(X), 2.0))._params
    repeated = twice.fit(np.vstack([X, X]))._params
    np.testing.assert_allclose(weighed.joint, repeated.joint, atol=1e-6)


def test_cost_is_chosen_and_reported(fitted, tmp_path, monkeypatch):
    X, model = fitted
    assert LogisticPCA(2, random_state=0, tol=0.1).fit(X[:300]).cost_ == "cells"
    incomplete = X.astype(float)
    incomplete[0, 0] = np.nan
    with pytest.raises(ValueError, match="without missing values; this one has 1"):
        LogisticPCA(2, cost="ones").fit(incomplete)
    with pytest.raises(ValueError, match="refine=True"):
        LogisticPCA(2, cost="ones", refine=False).fit(X)
    monkeypatch.setattr(model_choice, "LARGE_TABLE", 1.0)  # "auto" chooses the 1s of sparse complete tables
    sparse_rows = sparse.csr_array((X[:300] * (X[:300].cumsum(axis=1) == 1)).astype(float))
    quick = LogisticPCA(2, random_state=0, tol=0.1)
    assert quick.fit(sparse_rows).cost_ == "ones"
    assert quick.fit(X[:300]).cost_ == "cells"
    assert "over the 1s" in model.summary().story["iterations"]
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    assert loaded.cost_ == "ones"
    assert loaded.summary().story["iterations"] == model.summary().story["iterations"]
