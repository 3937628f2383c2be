"""Fits of mixtures of maps: the bound is what it says, never falls, and finds maps that are there."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from hiddenbits import LogisticPCA, LogisticPCAMixture, Variational, open_table
from hiddenbits.data import Table
from hiddenbits.engine import Checkpoint, Key, Local, Settings, fit_em
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import POLISHED, LogisticParams
from hiddenbits.families.logistic_pca_mixture.model import LogisticMixture
from hiddenbits.families.logistic_pca_mixture.params import MapsParams, MapsStats, canonical_maps
from hiddenbits.maths.numerics import TINY
from tests.contracts.conftest import NotResident, table_of
from tests.contracts.test_fit import structured_rows
from tests.contracts.test_same_bits import InterruptAfter, InterruptedFitError, same
from tests.families.logistic_pca.logistic_data import fit, rows_of, synth
from tests.families.logistic_pca_mixture.maps_data import drawn, holed, oracle, random_maps

pytestmark = pytest.mark.core


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_one_map_is_logistic_pca(polish, missing):
    X = structured_rows(np.random.default_rng(0), 300, 10, missing)
    options = {"tol": 1e-6, "max_iter": 60, "n_init": 1, "random_state": 0}
    one = LogisticPCA(2, method=Variational(polish=polish), **options).fit(X)
    mixture = LogisticPCAMixture(2, n_maps=1, polish=polish, **options).fit(X)
    np.testing.assert_allclose(mixture.trace_, one.trace_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(mixture.maps_[0].components_, one.components_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(mixture.bound_samples(X), one.bound_samples(X), rtol=0, atol=1e-8)
    np.testing.assert_allclose(mixture.score_samples(X), one.score_samples(X), rtol=0, atol=1e-8)
    codes = mixture.transform(X)
    np.testing.assert_allclose(codes[:, 0], 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(codes[:, 1:], one.transform(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("stage", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_statistics_are_those_of_weighted_maps(seed, stage):
    """L of each row and map from a table of that row alone; R and the sums by their definitions."""
    rng = np.random.default_rng(seed)
    params, rows = random_maps(rng, 7, 2, K=3, stage=stage), holed(rng, 12, 7)
    weights = rng.uniform(0.0, 2.0, len(rows))
    model, one = LogisticMixture(2, 3, cold_steps=4), Logistic(2, cold_steps=4)
    block = table_of(rows, weights=weights).grid(256).blocks[0]
    stats, posterior = model.expect(params, model.prepare(params), block, None, Key(0))

    def of_map(k, rows, weights):
        block = table_of(rows, weights=weights).grid(256).blocks[0]
        return one.expect(params.maps[k], one.prepare(params.maps[k]), block, None, Key(0))

    L = np.array([[float(of_map(k, row[None], np.ones(1))[0].bound) for k in range(3)] for row in rows])
    scores = L + np.log(params.weights)
    R = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    assert float(stats.bound) == pytest.approx(weights @ logsumexp(scores, axis=1), abs=1e-10)
    np.testing.assert_allclose(posterior.shares, R, rtol=0, atol=1e-12)
    np.testing.assert_allclose(stats.classes, weights @ R, rtol=0, atol=1e-12)
    for k in range(3):
        expected, its = of_map(k, rows, weights * R[:, k])
        np.testing.assert_allclose(stats.moments[k], expected.moments, rtol=0, atol=1e-10)
        np.testing.assert_allclose(stats.linear[k], expected.linear, rtol=0, atol=1e-10)
        np.testing.assert_allclose(posterior.means[k], its.mean, rtol=0, atol=1e-12)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_both_bounds_are_below_the_likelihood_on_every_row(seed, q):
    rng = np.random.default_rng(seed)
    params, rows = random_maps(rng, 9, q), holed(rng, 20, 9)
    best = oracle(params, step=0.12)
    truth = np.array([best.log_likelihood(row) for row in rows])
    bound = rows_of(LogisticMixture(q), "bound_rows", params, rows)
    assert (bound < truth + 1e-12).all()
    assert (truth - bound).max() < 3.0
    model, better = LogisticMixture(q), np.empty(len(rows))
    polished = params.at_stage(POLISHED)
    for n, row in enumerate(rows):
        block, carry = open_table(row[None]).grid(256).blocks[0], None
        for _ in range(8):
            stats, carry = model.expect(polished, model.prepare(polished), block, carry, Key(0))
        better[n] = float(stats.bound)
    assert (better < truth + 1e-12).all()
    assert (truth - better).mean() < 0.2 * (truth - bound).mean()


@pytest.mark.thin(3)
@pytest.mark.parametrize("start", ["classes", "noise"])
@pytest.mark.parametrize(("seed", "q", "K"), [(0, 1, 3), (1, 2, 2), (2, 2, 4)])
def test_objective_never_falls(seed, q, K, start):
    """Four maps of three prototypes and a small ridge: some maps are nearly empty, and some columns nearly certain."""
    rows = structured_rows(np.random.default_rng(seed), 250, 10, missing=seed != 1)
    outcome = fit(LogisticMixture(q, K, ridge=0.01, start_from=start), rows, tol=0.0, max_iter=50, seed=seed)
    steps = np.diff(outcome.trace)
    assert len(outcome.stages) == 1
    assert outcome.trace[-1] > outcome.trace[outcome.stages[0] - 1]
    steps[outcome.stages[0] - 1] = 0.0  # there the bound changes
    assert (steps >= -1e-12 * abs(outcome.trace[-1])).all()
    assert float(outcome.params.stage) == POLISHED
    assert outcome.params.flaw() is None


@pytest.mark.parametrize("polish", [False, True])
def test_masked_columns_equal_dropped_ones(polish):
    """A fit to a table with columns that nobody answered is that to the table without them."""
    X, rng = synth(1, 0.1)[::3].astype(float), np.random.default_rng(0)
    kept = np.array([j for j in range(19) if j not in (2, 7, 18)])
    padded = np.full((len(X), 19), np.nan)
    padded[:, kept] = X
    wide = random_maps(rng, 19, 2, size=0.3, stage=0.0)
    narrow = MapsParams(wide.weights, wide.joints[:, kept], wide.centre[kept], wide.stage, wide.steps)
    model = LogisticMixture(2, polish=polish)
    fits = [
        fit(model, table, start, max_iter=10, tol=0.0, accelerate=False).params
        for table, start in ((X, narrow), (padded, wide))
    ]
    np.testing.assert_allclose(fits[1].joints[:, kept], fits[0].joints, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fits[1].weights, fits[0].weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fits[1].joints[:, [2, 7, 18]], 0.0, rtol=0, atol=1e-10)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_two_maps_are_found(seed):
    """Rows of two maps of one dimension and 20 columns.

    A fit of p parameters to n rows loses about p/(2n) nats a new row, here .027: we allow three times that. Shares are
    known to (pi(1 - pi)/n)^1/2, .013, or a little worse, since rows are not quite sure of their map: five times that.
    Every second restart finds the maps, so that eight of them fail once in 256 times.
    """
    rng = np.random.default_rng(seed)
    truth, n = random_maps(rng, 20, 1), 1500
    (X, _), (new, chosen) = drawn(truth, n, rng), drawn(truth, n, rng)
    model = LogisticPCAMixture(1, n_init=8, tol=1e-3, ridge=0.01, random_state=seed).fit(X)
    best = oracle(canonical_maps(truth), step=0.1)
    limit = 3 * model.n_parameters_ / (2 * n)
    scores = np.array([best.log_joint(row) for row in new.astype(float)])
    assert model.score(new) > logsumexp(scores, axis=1).mean() - limit
    order = np.argsort(-truth.weights)
    codes, apart = model.transform(new), np.abs(model.weights_ - truth.weights[order])
    assert apart.max() < 5 * np.sqrt(truth.weights.prod() / n)
    right = (order[codes[:, :2].argmax(axis=1)] == chosen).mean()
    at_best = (order[scores.argmax(axis=1)] == chosen).mean()
    assert right > at_best - 0.02
    for found, k in zip(model.maps_, order, strict=True):
        W = truth.maps[k].loadings[:, 0]
        assert np.corrcoef(found.components_[0], W * np.sign(W[np.abs(W).argmax()]))[0, 1] > 0.97
    one = LogisticPCA(1, tol=1e-4, ridge=0.01, random_state=seed).fit(X)
    two = LogisticPCA(2, tol=1e-4, ridge=0.01, random_state=seed).fit(X)  # as many parameters
    for other in (one, two):
        gain = model.score_samples(new) - other.score_samples(new)
        assert gain.mean() > 5 * gain.std() / np.sqrt(n)


def test_maps_come_in_order_and_canonical():
    rng = np.random.default_rng(0)
    params = random_maps(rng, 8, 2, K=3)
    found = canonical_maps(params)
    assert (np.diff(found.weights) < 0).all()
    X = holed(rng, 20, 8)
    model = LogisticMixture(2, 3)
    for function in ("log_likelihood", "fill"):
        np.testing.assert_allclose(rows_of(model, function, found, X), rows_of(model, function, params, X), atol=1e-10)
    for one in found.maps:
        products = one.loadings.T @ one.loadings
        assert products[0, 0] > products[1, 1]
        assert products[0, 1] == pytest.approx(0.0, abs=1e-10)
        assert (one.loadings.max(axis=0) == np.abs(one.loadings).max(axis=0)).all()


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_a_map_without_rows_does_no_harm(ridge, polish):
    """It goes back to the column means, keeps the smallest share there is, and changes no answer."""
    X = structured_rows(np.random.default_rng(0), 200, 8, missing=True)
    rng, model = np.random.default_rng(1), LogisticMixture(1, 2, ridge=ridge, polish=polish)
    one = fit(Logistic(1, ridge=ridge, polish=polish), X, tol=1e-6, max_iter=100).params
    far = LogisticParams.at(5.0 * rng.standard_normal((8, 1)), np.full(8, -900.0), one.centre, float(one.stage))
    params = MapsParams.of(np.array([1.0 - TINY, TINY]), [one.at_stage(float(one.stage)), far])
    block, carry = open_table(X).grid(256).blocks[0], None
    for _ in range(4):
        stats, carry = model.expect(params, model.prepare(params), block, carry, Key(0))
        params = model.update(params, stats)
        assert params.flaw() is None
        assert params.weights[1] == pytest.approx(TINY, rel=1e-6)
    alone = rows_of(Logistic(1), "log_likelihood", params.maps[0], X)
    np.testing.assert_allclose(rows_of(model, "log_likelihood", params, X), alone, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("n", "d", "q", "K"), [(1, 5, 1, 2), (2, 1, 2, 3), (40, 2, 3, 2), (3, 30, 2, 5)])
def test_small_tables(n, d, q, K):
    X = np.random.default_rng(0).integers(0, 2, (n, d)).astype(float)
    model = LogisticPCAMixture(q, n_maps=K, n_init=2, max_iter=30, random_state=0).fit(X)
    for result in (model.score_samples(X), model.transform(X), model.bit_probabilities(X), model.weights_):
        assert np.isfinite(result).all()
    assert model.transform(X).shape == (n, K + K * q)
    assert (model.weights_ >= 0.9 * TINY).all()


def test_constant_and_missing_columns_and_rows():
    X = structured_rows(np.random.default_rng(0), 200, 8, missing=True)
    X[:, 1], X[:, 4], X[:, 6] = 1.0, 0.0, np.nan
    X[5] = np.nan
    model = LogisticPCAMixture(1, n_init=1, tol=1e-4, random_state=0).fit(X)
    p = model.complete(X)[5]  # a row that says nothing gets the margins of the model
    assert p[1] > 0.97
    assert p[4] < 0.03
    assert p[6] == pytest.approx(0.5, abs=1e-6)
    codes = model.transform(X)[5]
    np.testing.assert_allclose(codes[:2], model.weights_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(codes[2:], 0.0, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_polish_gives_the_same_bits_on_threads_and_in_parts_and_resumed(tmp_path):
    """Beside the contract tests, whose model is not polished: nine variational passes, and nine of the polish."""
    table = table_of(structured_rows(np.random.default_rng(0), 700, 8, missing=True))
    model, settings = LogisticMixture(1), Settings(max_iter=9, tol=0.0, seed=1)
    alone = fit_em(model, table.grid(256), Local(), settings, None, None)
    assert len(alone.stages) == 1
    parts = Table(NotResident(table.source), None, None, 3000)
    executor = Local(3)
    walked = fit_em(model, parts.grid(256), executor, settings, None, None)
    executor.close()
    outcomes = [walked]
    for passes in (4, 10, 13):
        checkpoints = Checkpoint(tmp_path / f"{passes}.hb", model, settings, table.shape, 256)
        with pytest.raises(InterruptedFitError):
            fit_em(model, table.grid(256), Local(), settings, checkpoints, InterruptAfter(passes))
        outcomes.append(fit_em(model, table.grid(256), Local(), settings, checkpoints, None))
    for other in outcomes:
        assert same(alone.params, other.params)
        assert np.array_equal(alone.trace, other.trace)


def test_memory_that_was_lost_is_made_again():
    """A pass that measures steps without the memory of its rows: the objective is as good, to 1e-3 nats a row."""
    X = structured_rows(np.random.default_rng(0), 200, 8, missing=True)
    model, block = LogisticMixture(1), open_table(X).grid(256).blocks[0]
    params = fit(replace(model, polish=False), X, tol=1e-5).params.at_stage(POLISHED)
    carry = None
    for _ in range(6):
        stats, carry = model.expect(params, model.prepare(params), block, carry, Key(0))
        params = model.update(params, stats)
    if not params.trying:
        stats, carry = model.expect(params, model.prepare(params), block, carry, Key(0))
        params = model.update(params, stats)
    assert params.trying
    shared = model.prepare(params)
    kept, lost = (model.objective(params, model.expect(params, shared, block, c, Key(0))[0]) for c in (carry, None))
    assert lost == pytest.approx(kept, abs=1e-3 * len(X))


def test_unlawful_arrays_are_named():
    rng = np.random.default_rng(0)
    params, model = random_maps(rng, 5, 2), LogisticMixture(2)
    assert params.flaw() is None
    for broken, flaw in (
        (replace(params, weights=np.array([0.5, 0.6])), "add up to 1"),
        (replace(params, weights=np.ones(1)), "as many"),
        (replace(params, joints=params.joints[:, :, :1]), "shapes"),
        (replace(params, joints=np.full_like(params.joints, 1e9)), "within"),
        (replace(params, centre=np.zeros(4)), "one number for each column"),
    ):
        assert flaw in broken.flaw()
    assert "3 maps" in LogisticMixture(2, 2).mismatch(random_maps(rng, 5, 2, K=3))
    assert "dimensions" in LogisticMixture(1, 2).mismatch(params)
    stats = model.pseudo_statistics(params, 100.0)
    assert model.stats_flaw(stats, params) is None
    assert same(model.update(params, stats), replace(params, joints=model.update(params, stats).joints))
    np.testing.assert_allclose(model.update(params, stats).joints, params.joints, rtol=0, atol=1e-8)
    for broken in (
        replace(stats, classes=stats.classes[:1]),
        replace(stats, classes=stats.classes * [2.0, 1.0]),
        replace(stats, classes=stats.classes * [-1.0, 1.0]),
        replace(stats, weight=np.zeros(())),
        replace(stats, moments=10.0 * stats.moments),
        replace(stats, linear=stats.linear[:, :3]),
    ):
        assert isinstance(broken, MapsStats)
        assert model.stats_flaw(broken, params)
