"""What a mixture of maps says about rows, against plain integration; and the estimator's verbs."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import hiddenbits
from hiddenbits import LogisticPCA, LogisticPCAMixture, open_table
from hiddenbits.engine import Key
from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca.params import POLISHED
from hiddenbits.families.logistic_pca_mixture.model import LogisticMixture
from tests.contracts.test_fit import structured_rows
from tests.families.logistic_pca.logistic_data import rows_of
from tests.families.logistic_pca_mixture.maps_data import drawn, holed, oracle, random_maps
from tests.oracle.enumeration import fillings

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


@pytest.mark.parametrize(("q", "K", "size"), [(1, 2, 0.3), (1, 3, 4.0), (2, 2, 1.5)])
def test_grid_answers_equal_integration(q, K, size):
    rng = np.random.default_rng(q)
    params, rows = random_maps(rng, 8, q, K, size), holed(rng, 7, 8)
    truth, model = oracle(params, step=0.03 if q == 1 else 0.08), LogisticMixture(q, K)
    for function, expected in (
        ("log_likelihood", truth.log_likelihood),
        ("fill", truth.conditional),
        ("leave_one_out", truth.leave_one_out),
    ):
        found = rows_of(model, function, params, rows)
        np.testing.assert_allclose(found, [expected(row) for row in rows], rtol=0, atol=1e-7)
    assert rows_of(model, "likelihood_and_error", params, rows)[:, 1].max() == 0.0


def test_definition():
    """The integral of exp(log_joint) over maps and places is the likelihood."""
    rng = np.random.default_rng(0)
    params, model = random_maps(rng, 6, 1, K=3), LogisticMixture(1, 3)
    row = rng.integers(0, 2, 6).astype(float)
    places = np.arange(-9.0, 9.001, 0.05)
    total = sum(0.05 * np.exp(model.log_joint(params, row, np.array([*h, x]))) for h in np.eye(3) for x in places)
    assert np.log(total) == pytest.approx(oracle(params).log_likelihood(row), abs=1e-8)


def test_likelihoods_of_all_rows_add_up_to_one_and_draws_have_their_moments():
    """Means and second moments of 40,000 draws of five bits within 5 standard errors, over two seeds."""
    rng = np.random.default_rng(0)
    params, model = random_maps(rng, 5, 2, K=3), LogisticMixture(2, 3)
    every = np.array(list(fillings(np.full(5, np.nan))))
    p = np.exp(rows_of(model, "log_likelihood", params, every))
    assert p.sum() == pytest.approx(1.0, abs=1e-8)
    for seed in range(2):
        x, codes = model.draw(params, 40_000, np.random.default_rng(seed))
        assert codes.shape == (40_000, 3 + 6)
        for ours, truth in (
            (x.mean(axis=0), p @ every),
            (x.T @ x.astype(float) / len(x), every.T @ (p[:, None] * every)),
            (codes[:, :3].mean(axis=0), params.weights),
        ):
            assert (np.abs(ours - truth) <= 5 * np.sqrt(truth * (1 - truth) / len(x)) + 1e-12).all()


@pytest.mark.parametrize("function", ["log_likelihood", "fill", "leave_one_out"])
def test_sampled_answers_are_within_their_error(function, monkeypatch):
    """The same quantities by importance sampling, forced on a model whose truth is known."""
    rng = np.random.default_rng(0)
    params, rows = random_maps(rng, 10, 2, size=1.2), holed(rng, 30, 10)
    exact = rows_of(LogisticMixture(2), function, params, rows)
    truth = rows_of(LogisticMixture(2), "log_likelihood", params, rows)
    monkeypatch.setattr(Logistic, "rule", lambda self, params: None)
    sampled = rows_of(LogisticMixture(2, n_draws=8000), function, params, rows)
    # Without a bit that its row did not let expect, a few draws bear nearly all the weight: such cells are less sure.
    apart = np.sort(np.abs(sampled - exact), axis=None)
    assert apart[-1] < (0.1 if function == "leave_one_out" else 0.03)
    assert apart[int(0.99 * len(apart)) - 1] < 0.03
    few = rows_of(LogisticMixture(2, n_draws=200), "likelihood_and_error", params, rows)
    away = ((few[:, 0] - truth) / np.maximum(few[:, 1], 1e-9))[1:]
    assert np.abs(away).max() < 5.0
    assert 0.5 < np.sqrt(np.mean(away**2)) < 1.6


def test_draws_of_maps_are_their_own(monkeypatch):
    """Two equal maps: their errors are independent, so that the mixture's is that of one map over the root of 2."""
    rng = np.random.default_rng(0)
    one, rows = random_maps(rng, 10, 2, K=1, size=1.2), holed(rng, 40, 10)[1:]
    both = type(one).of(np.array([0.5, 0.5]), [one.maps[0], one.maps[0]])
    truth = rows_of(Logistic(2), "log_likelihood", one.maps[0], rows)
    monkeypatch.setattr(Logistic, "rule", lambda self, params: None)
    alone = rows_of(Logistic(2, n_draws=200), "likelihood_and_error", one.maps[0], rows)
    mixed = rows_of(LogisticMixture(2, n_draws=200), "likelihood_and_error", both, rows)
    assert np.mean(mixed[:, 1] / alone[:, 1]) == pytest.approx(np.sqrt(0.5), abs=0.1)
    away = (mixed[:, 0] - truth) / mixed[:, 1]
    assert 0.6 < np.sqrt(np.mean(away**2)) < 1.5


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_those_of_the_bound_and_after_a_polish_nearly_exact(seed):
    rng = np.random.default_rng(seed)
    params, rows = random_maps(rng, 12, 1, K=3), holed(rng, 30, 12)
    truth = np.array([oracle(params).shares(row) for row in rows])
    apart = {}
    for stage in (1.0, POLISHED):
        codes = rows_of(LogisticMixture(1, 3), "posterior", params.at_stage(stage), rows)
        np.testing.assert_allclose(codes[:, :3].sum(axis=1), 1.0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(codes[0, :3], params.weights, rtol=0, atol=1e-9)  # a row that says nothing
        apart[stage] = np.abs(codes[:, :3] - truth).max()
        for k, one in enumerate(params.at_stage(stage).maps):
            np.testing.assert_allclose(codes[:, 3 + k], rows_of(Logistic(1), "posterior", one, rows)[:, 0], atol=1e-12)
        if stage == 1.0:
            scores = np.stack([rows_of(Logistic(1), "bound_rows", one, rows) for one in params.maps], axis=1)
            p = params.weights * np.exp(scores - scores.max(axis=1, keepdims=True))
            np.testing.assert_allclose(codes[:, :3], p / p.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)
    assert apart[POLISHED] < 0.02
    assert apart[POLISHED] < 0.5 * apart[1.0]


def test_most_probable_code():
    rng = np.random.default_rng(0)
    params, rows = random_maps(rng, 12, 2, K=2, size=2.0), holed(rng, 10, 12)
    model, planes = LogisticMixture(2), oracle(params, step=0.05).planes
    codes, shares = rows_of(model, "code", params, rows), rows_of(model, "posterior", params, rows)[:, :2]
    assert np.array_equal(codes[:, :2], np.eye(2)[shares.argmax(axis=1)])
    for row, code in zip(rows, codes, strict=True):
        for k, plane in enumerate(planes):
            best = plane.nodes[plane.log_joint(row).argmax()]
            assert np.abs(best - code[2 + 2 * k : 4 + 2 * k]).max() <= 0.05


@pytest.fixture(scope="module")
def fitted():
    truth = random_maps(np.random.default_rng(1), 12, 2)
    X = drawn(truth, 600, np.random.default_rng(2))[0].astype(float)
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    return X, LogisticPCAMixture(2, n_init=2, tol=1e-4, random_state=0).fit(X)


@pytest.mark.slow
def test_verbs_fit_together(fitted, tmp_path):
    X, model = fitted
    assert model.likelihood_ == "exact"
    codes, covariances = model.posterior(X, return_cov=True)
    assert np.array_equal(codes, model.transform(X))
    assert codes.shape == (600, 6)
    assert covariances.shape == (600, 2, 2, 2)
    assert (np.linalg.eigvalsh(covariances) > 0).all()
    assert (model.bound_samples(X) <= model.score_samples(X) + 1e-9).all()
    expected = 0.0
    for k, one in enumerate(model.maps_):
        assert isinstance(one, LogisticPCA)
        A = codes[:, 2 + 2 * k : 4 + 2 * k] @ one.components_ + one.intercepts_
        expected = expected + codes[:, [k]] / (1 + np.exp(-A))
        means, of_map = one.posterior(X, return_cov=True)
        np.testing.assert_allclose(means, codes[:, 2 + 2 * k : 4 + 2 * k], rtol=0, atol=1e-12)
        np.testing.assert_allclose(of_map, covariances[:, k], rtol=0, atol=1e-12)
        one.save(tmp_path / "map.hb")
        assert np.array_equal(hiddenbits.load(tmp_path / "map.hb").transform(X), one.transform(X))
    np.testing.assert_allclose(model.inverse_transform(codes), expected, rtol=0, atol=1e-12)
    parts = np.stack([one.score_samples(X) for one in model.maps_], axis=1) + np.log(model.weights_)
    np.testing.assert_allclose(model.score_samples(X), np.logaddexp(*parts.T), rtol=0, atol=1e-12)
    completed = model.complete(X)
    assert np.array_equal(completed[~np.isnan(X)], X[~np.isnan(X)])
    assert ((completed > 0) | (X == 0)).all()
    assert model.n_parameters_ == 2 * (12 * 3 - 1) + 1


def test_codes_are_named_and_checked(fitted):
    X, model = fitted
    names = ["map_1", "map_2", *(f"map_{k}_dimension_{j}" for k in (1, 2) for j in (1, 2))]
    assert model.get_feature_names_out().tolist() == names
    codes = model.transform(X[:5])
    assert model.inverse_transform(codes.astype(np.float32)).shape == (5, 12)
    with pytest.raises(ValueError, match="A code has 6 columns, got 2"):
        model.inverse_transform(codes[:, :2])
    for broken in (codes * 2, codes - [1, -1, 0, 0, 0, 0]):
        with pytest.raises(ValueError, match="must add up to 1"):
            model.inverse_transform(broken)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"q{j}" for j in range(12)])
    named = clone(model).set_params(max_iter=3, n_init=1).set_output(transform="pandas").fit(frame)
    assert named.transform(frame).columns.tolist() == names
    assert named.maps_[0].feature_names_in_.tolist() == list(frame.columns)
    assert named.complete(frame).columns.tolist() == list(frame.columns)


def test_many_dimensions_are_estimated_and_say_so():
    X = structured_rows(np.random.default_rng(0), 150, 15, missing=True)
    model = LogisticPCAMixture(4, polish=False, n_init=1, max_iter=30, random_state=0).fit(X)
    assert model.likelihood_ == "estimate"
    scores, errors = model.score_samples(X, return_std=True)
    assert (errors > 0).all()
    assert np.array_equal(scores, model.score_samples(X))  # keyed draws
    assert (model.bound_samples(X) < scores + 5 * errors).all()


def test_a_fit_stopped_in_the_middle_of_a_step_is_whole(tmp_path):
    X = structured_rows(np.random.default_rng(0), 200, 8, missing=True)
    for max_iter in (7, 8):
        model = LogisticPCAMixture(1, n_init=1, max_iter=max_iter, tol=0.0, random_state=0).fit(X)
        assert model.params_.flaw() is None
        assert not model.params_.trying
        model.save(tmp_path / "model.hb")
        assert np.array_equal(LogisticPCAMixture.load(tmp_path / "model.hb").transform(X), model.transform(X))


@pytest.mark.full
def test_online_learning_reaches_what_full_passes_reach(monkeypatch):
    monkeypatch.setattr("hiddenbits.engine.loops.online_em.GROUP_ROWS", 256)
    monkeypatch.setattr("hiddenbits.families._base.estimator.block_height", lambda footprint: 256)
    rng = np.random.default_rng(0)
    X = drawn(random_maps(rng, 16, 1), 4000, rng)[0]
    full = LogisticPCAMixture(1, polish=False, n_init=1, random_state=0).fit(X)
    online = LogisticPCAMixture(1, polish=False, random_state=0)
    for start in range(0, 4000, 1000):
        online.partial_fit(X[start : start + 1000])
    assert online.score(X) > full.score(X) - 0.05
    before = full.params_.joints.copy()
    full.partial_fit(X[:500])  # goes on from the fit: the maps move a little
    assert 1e-6 < np.abs(full.params_.joints - before).max() < 0.3
    polished = LogisticPCAMixture(1, n_init=1, tol=1e-4, online_passes=1, random_state=0).fit(X)
    assert float(polished.params_.stage) == POLISHED
    assert polished.partial_fit(X[:300]).score(X) > full.score(X) - 0.05


@pytest.mark.parametrize("polish", [False, True])
def test_weights_equal_repeats(polish):
    rng = np.random.default_rng(1)
    X = structured_rows(rng, 120, 10, missing=True)
    counts = rng.integers(0, 4, 120)
    options = {"polish": polish, "n_init": 2, "tol": 1e-7, "max_iter": 60, "random_state": 0}
    weighted = LogisticPCAMixture(1, **options).fit(X, sample_weight=counts)
    repeated = LogisticPCAMixture(1, **options).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.params_.joints, repeated.params_.joints, rtol=0, atol=1e-7)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=0, atol=1e-9)


def test_storages_agree():
    rng = np.random.default_rng(0)
    params, X = random_maps(rng, 9, 2), rng.integers(0, 2, (50, 9))
    model = LogisticMixture(2)
    for stage in (1.0, POLISHED):
        at = params.at_stage(stage)
        blocks = [open_table(kind(X)).grid(256).blocks[0] for kind in (np.asarray, sparse.csr_array)]
        stats = [model.expect(at, model.prepare(at), block, None, Key(0))[0] for block in blocks]
        for name, array in stats[0].to_arrays().items():
            np.testing.assert_allclose(stats[1].to_arrays()[name], array, rtol=0, atol=1e-10)
