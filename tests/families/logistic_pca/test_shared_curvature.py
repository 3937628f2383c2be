"""One curvature for each column: a bound by definition, below the cells' own, never falling, cheap for zeros."""

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import LogisticPCA, open_table
from hiddenbits.engine import Key, Local
from hiddenbits.families.logistic_pca.params import LogisticParams
from tests.contracts.test_fit import structured_rows
from tests.families.logistic_pca.logistic_data import Logistic, fit, rows_of, small_start, synth
from tests.oracle.integration import Plane

pytestmark = pytest.mark.core


def holed(rng, n, d, share):
    rows = rng.integers(0, 2, (n, d)).astype(float)
    rows[rng.random((n, d)) < share] = np.nan
    return rows


def params_with_xi(rng, d, q):
    return LogisticParams.at(
        rng.standard_normal((d, q)), rng.standard_normal(d), np.zeros(d), 1.0, rng.uniform(0.01, 4.0, d)
    )


@pytest.mark.parametrize(("storage", "share"), [("dense", 0.0), ("sparse", 0.0), ("dense", 0.05), ("dense", 0.6)])
@pytest.mark.parametrize("seed", range(3))
def test_bound_and_statistics_equal_their_definition(seed, storage, share):
    """Row by row and column by column, from the formula; the integral of eq 5 at the shared xi."""
    rng = np.random.default_rng(seed)
    d, q = 6, 2
    params, rows, weights = params_with_xi(rng, d, q), holed(rng, 9, d, share), rng.uniform(0.5, 2.0, 9)
    data = sparse.csr_array(rows) if storage == "sparse" else rows
    block = open_table(data).with_weights(weights).grid(256).blocks[0]
    model = Logistic(q, curvature="shared")
    stats, _ = model.expect(params, model.prepare(params), block, None, Key(0))
    W, b, xi = params.loadings, params.intercepts, params.xi
    lam = (0.5 - 1 / (1 + np.exp(-xi))) / (2 * xi)
    plane = Plane(W, b, step=0.1)
    bound, T, linear = 0.0, np.zeros((d, 3, 3)), np.zeros((d, 3))
    for row, weight in zip(rows, weights, strict=True):
        seen = ~np.isnan(row)
        A = (2 * row[seen] - 1) * plane.A[:, seen]
        log_p = -np.logaddexp(0, -xi[seen]) + (A - xi[seen]) / 2 + lam[seen] * (A**2 - xi[seen] ** 2)
        scores = plane.log_prior + log_p.sum(axis=1)
        bound += weight * (np.log(np.exp(scores - scores.max()).sum()) + scores.max())
        density = np.exp(scores - scores.max())
        density /= density.sum()
        nodes = np.column_stack([plane.nodes, np.ones(len(plane.nodes))])
        T[seen] += weight * (nodes.T * density) @ nodes
        linear[seen] += weight * np.outer(row[seen] - 0.5, density @ nodes)
    assert float(stats.bound) == pytest.approx(bound, abs=1e-9)
    np.testing.assert_allclose(stats.linear, linear, rtol=0, atol=1e-9)
    packed = np.broadcast_to(stats.moments, (d, 6))
    places = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
    for number, (i, j) in enumerate(places):
        value = packed[:, number] / (1.0 if i == j else np.sqrt(2.0))
        np.testing.assert_allclose(value, T[:, i, j], rtol=0, atol=1e-9)
    assert len(stats.moments) == (d if np.isnan(rows).any() else 1)


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize(("seed", "q"), [(0, 1), (1, 2), (2, 3), (3, 5)])
def test_never_falls_and_stays_below_the_bound_of_the_cells(seed, q, missing):
    X = structured_rows(np.random.default_rng(seed), 400, 14, missing)
    model = Logistic(q, polish=False, ridge=0.0, curvature="shared")
    for accelerate in (False, True):
        outcome = fit(model, X, max_iter=200, tol=0.0, accelerate=accelerate)
        assert len(outcome.trace) > 10
        assert (np.diff(outcome.trace) >= -1e-12 * abs(outcome.trace[-1])).all()
    cells = rows_of(Logistic(q), "bound_rows", outcome.params, X)
    block = open_table(X).grid(512).blocks[0]
    for n in range(0, 400, 37):  # row by row: one row's bound with shared xi is below that with its own
        one = open_table(X[n : n + 1]).grid(256).blocks[0]
        shared = float(model.expect(outcome.params, model.prepare(outcome.params), one, None, Key(0))[0].bound)
        assert shared < cells[n] + 1e-10
    total = float(model.expect(outcome.params, model.prepare(outcome.params), block, None, Key(0))[0].bound)
    assert total < cells.sum()


@pytest.mark.parametrize("missing", [True, False])
def test_update_is_a_maximum_over_columns_and_xi(missing):
    """After convergence no small change of w, b or xi raises the objective at the same posteriors, nor anywhere."""
    X = structured_rows(np.random.default_rng(1), 300, 6, missing)
    model = Logistic(2, polish=False, ridge=0.1, curvature="shared")
    params = fit(model, X, max_iter=3000, tol=1e-13).params
    block = open_table(X).grid(512).blocks[0]

    def objective(joint, xi):
        moved = params.with_joint(joint, 1.0, xi)
        return model.objective(moved, model.expect(moved, model.prepare(moved), block, None, Key(0))[0])

    best = objective(params.joint, params.xi)
    for i in range(6):
        for j in range(4):
            step = np.zeros((6, 4))
            step[i, j] = 1e-3
            up, down = (objective(params.joint + s * step[:, :3], params.xi + s * step[:, 3]) for s in (1, -1))
            assert abs(up - down) / 2e-3 < 2e-2  # the slope; the curvature is about 10 to 100
            assert up + down < 2 * best


def test_wide_sparse_tables_make_no_array_of_cells(monkeypatch):
    """All-zero columns change nothing for the others, and no block is ever made dense."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((500, 40), density=0.1, random_state=rng, format="csr")
    X.data[:] = 1.0
    wide = sparse.csr_array((X.data, X.indices, X.indptr), shape=(500, 4000))
    model = Logistic(2, polish=False, curvature="shared")
    params = LogisticParams.at(rng.standard_normal((4000, 2)), rng.standard_normal(4000) - 2, np.zeros(4000), 1.0)

    def refuse(self):
        raise AssertionError("made dense")

    monkeypatch.setattr("hiddenbits.data.bits.Pattern.to_dense", refuse)
    table = open_table(wide)
    footprint = model.footprint(4000, table.source.row_cells)
    assert footprint.flops < 100 * table.source.row_cells  # the ones of a row, not its cells
    grid = table.grid(256)
    stats = Local().reduce(lambda block: model.expect(params, model.prepare(params), block, None, Key(0))[0], grid)
    assert stats.moments.shape == (1, 6)
    assert np.isfinite(model.objective(model.update(params, stats), stats))


def test_fits_nearly_as_well_as_the_cells():
    X = synth(0, 0.15)
    nll = {}
    for curvature in ("cell", "shared"):
        model = Logistic(2, polish=False, curvature=curvature)
        params = fit(model, X, small_start(0, X), tol=1e-7).params
        nll[curvature] = -rows_of(model, "log_likelihood", params, X).mean()
    independent = -np.mean(X, axis=0) @ np.log(X.mean(0)) - (1 - X.mean(0)) @ np.log(1 - X.mean(0))
    assert nll["shared"] - nll["cell"] < 0.1 * (independent - nll["cell"])


def test_estimator_saves_polishes_and_goes_on(tmp_path):
    X = synth(1, 0.1)
    plain = LogisticPCA(2, curvature="shared", polish=False, random_state=0).fit(X)
    plain.save(tmp_path / "model.hb")
    again = LogisticPCA.load(tmp_path / "model.hb")
    assert np.array_equal(again.params_.xi, plain.params_.xi)
    assert np.array_equal(again.transform(X), plain.transform(X))
    before = plain.score(X)
    plain.partial_fit(X[:100])
    assert abs(plain.score(X) - before) < 0.3
    polished = LogisticPCA(2, curvature="shared", random_state=0).fit(X)
    assert polished.score(X) > before
    assert len(polished.params_.xi) == 0
