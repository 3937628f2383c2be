"""The real-valued combination machine, against the mixture of 2^m normals that it is, and against integrals."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import hiddenbits
from hiddenbits import CombinationMachine
from hiddenbits.data.rows_by_content import choose_rows
from hiddenbits.engine import Key, Local, Settings, fit_em
from hiddenbits.exceptions import TableError
from hiddenbits.families.combination_machine import model_real
from hiddenbits.families.combination_machine.growth import fit_machine
from hiddenbits.families.combination_machine.model_real import CombinationReal, Quadratic
from hiddenbits.families.combination_machine.projection_pursuit import pursue
from hiddenbits.maths.state_sums import expectations, sum_states

pytestmark = pytest.mark.core


def machine(seed, d=5, m=3, scale=1.0):
    rng = np.random.default_rng([seed, d, m])
    return CombinationReal(m).exact(scale * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d))


def phase_of(params):
    return expectations(Quadratic(params.weights, params.thresholds, params.bias))


def rows_of(seed, n, d, missing):
    rng = np.random.default_rng([seed, 7])
    rows = 2.0 * rng.standard_normal((n, d))
    if missing:
        rows[rng.random((n, d)) < 0.3] = np.nan
        rows[: n // 3] = np.nan_to_num(rows[: n // 3])  # complete ones, too
        rows[-1] = np.nan
    return rows


def block_of(rows, weights=None):
    table = hiddenbits.open_table(rows, reals=True)
    return (table if weights is None else table.with_weights(weights)).grid(len(rows)).blocks[0]


class Mixture:
    """The same machine as a mixture of normals: classes are states, P(h) ~ exp(h.th + |om|^2 / 2)."""

    def __init__(self, params):
        self.h = np.array(list(product((0.0, 1.0), repeat=params.n_units)))
        self.om = self.h @ params.weights.T + params.bias
        log_p = self.h @ params.thresholds + 0.5 * (self.om**2).sum(axis=1)
        self.log_p = log_p - logsumexp(log_p)

    def look(self, rows):
        """Return ln P(x_obs) and P(h | x_obs) of each row."""
        scores = self.log_p + np.nansum(norm.logpdf(rows[:, None, :], self.om), axis=2)
        return logsumexp(scores, axis=1), np.exp(scores - logsumexp(scores, axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [False, True])
def test_rows_equal_those_of_the_mixture_of_normals(seed, missing, monkeypatch):
    model, params, rows = CombinationReal(3), machine(seed), rows_of(seed, 30, 5, missing)
    truth = Mixture(params)
    log_p, posterior = truth.look(rows)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 30)
    block = block_of(rows, weights)
    for at_once in (4096, 2):  # all states together, and two at a time
        monkeypatch.setattr("hiddenbits.maths.missing_rows.STATES_AT_ONCE", at_once)
        shared = model.prepare(params)
        np.testing.assert_allclose(model.log_likelihood(params, shared, block), log_p, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.posterior(params, shared, block), posterior @ truth.h, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(model.posterior_mode(params, shared, block), truth.h[posterior.argmax(axis=1)])
        blank = np.isnan(rows)
        filled = model.fill(params, shared, block)
        np.testing.assert_allclose(filled[blank], (posterior @ truth.om)[blank], rtol=0, atol=1e-10)
        stats = model.expect(params, shared, block, None, Key(0))[0]
        # A missing cell counts as what it is expected to be in each state.
        cells = np.where(blank[:, None, :], truth.om[None], np.nan_to_num(rows)[:, None, :])
        joint = np.einsum("n,nk,nkj,ki->ji", weights, posterior, cells, truth.h)
        np.testing.assert_allclose(stats.joint, joint, rtol=0, atol=1e-9)
        np.testing.assert_allclose(stats.visible, np.einsum("n,nk,nkj->j", weights, posterior, cells), atol=1e-9)
        np.testing.assert_allclose(stats.hidden, weights @ posterior @ truth.h, rtol=1e-10)
        np.testing.assert_allclose(stats.bound, weights @ log_p, rtol=1e-11)


@pytest.mark.parametrize("seed", range(2))
def test_definition_integrates_to_one(seed):
    """Two columns, on a grid that reaches eight standard deviations beyond all means: exact to rounding for normals."""
    model, params = CombinationReal(2), machine(seed, 2, 2)
    reach = np.abs(Mixture(params).om).max() + 8.0
    line = np.linspace(-reach, reach, 61)
    cell = (line[1] - line[0]) ** 2
    total = sum(
        np.exp(model.log_joint(params, np.array([x, y]), h))
        for x, y in product(line, line)
        for h in model.hidden_states(params)
    )
    assert total * cell == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("low", [1, 3, 12])
@pytest.mark.parametrize("seed", range(2))
def test_moments_of_quadratic_weights_equal_enumeration(low, seed, monkeypatch):
    monkeypatch.setattr(model_real, "LOW_UNITS", low)
    rng = np.random.default_rng(seed)
    W, th, v = rng.standard_normal((6, 8)), 3 * rng.standard_normal(8), rng.standard_normal(6)
    b, J = th + W.T @ v, W.T @ W
    states = Quadratic(W, th, v)
    h = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(float)
    log_w = np.array([b @ one + 0.5 * one @ J @ one for one in h])
    p = np.exp(log_w - logsumexp(log_w))
    found = sum_states(states.add_block, states.table()).normalized()
    np.testing.assert_allclose(states.log_weights(), log_w, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.log_scale, logsumexp(log_w), rtol=1e-13)
    np.testing.assert_allclose(found.hidden, p @ h, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.joint, h.T @ (p[:, None] * h), rtol=0, atol=1e-12)
    threads = Local(2)
    by_engine = threads.reduce(states.add_block, states.table().grid(2)).normalized()
    threads.close()
    np.testing.assert_allclose(by_engine.joint, found.joint, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_free_machine_equals_the_mixture(seed):
    params = machine(seed)
    truth, phase = Mixture(params), phase_of(params)
    p = np.exp(truth.log_p)
    np.testing.assert_allclose(phase.hidden, p @ truth.h, rtol=0, atol=1e-12)
    np.testing.assert_allclose(phase.visible, p @ truth.om, rtol=0, atol=1e-12)
    np.testing.assert_allclose(phase.joint, truth.om.T @ (p[:, None] * truth.h), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bias", [False, True])
def test_gradient_equals_finite_differences(seed, bias):
    model, params = CombinationReal(3, ridge=0.7, visible_bias=bias), machine(seed)
    block = block_of(rows_of(seed, 20, 5, missing=True), np.random.default_rng(seed).uniform(0.5, 2.0, 20))

    def objective(vector):
        there = model.from_vector(vector, params)
        return model.objective(there, model.expect(there, model.prepare(there), block, None, Key(0))[0])

    here, step = model.to_vector(params), 1e-5
    back = model.from_vector(here, params)
    for name, array in params.to_arrays().items():
        np.testing.assert_allclose(back.to_arrays()[name], array, rtol=0, atol=1e-13)
    stats = model.expect(params, model.prepare(params), block, None, Key(0))[0]
    gradient = model.gradient(params, stats, phase_of(params))
    slopes = [(objective(here + step * u) - objective(here - step * u)) / (2 * step) for u in np.eye(len(here))]
    np.testing.assert_allclose(gradient, slopes, rtol=0, atol=2e-6)


def drawn(seed, n, d=8, m=3, missing=0.0):
    """Rows of a machine whose states are as likely as their opposites, each unit acting on half of the columns."""
    rng = np.random.default_rng([seed, 1])
    W = 2.0 * rng.standard_normal((d, m)) * (rng.random((d, m)) < 0.5)
    v = rng.standard_normal(d)
    truth = CombinationReal(m).exact(W, -0.5 * (W.T @ W).sum(axis=1) - v @ W, v)
    rows = CombinationReal(m).sample(truth, n, rng)[0]
    rows[rng.random(rows.shape) < missing] = np.nan
    return truth, rows


@pytest.mark.parametrize("seed", range(2))
def test_em_never_falls_and_the_climb_ends_no_lower(seed):
    grid = hiddenbits.open_table(drawn(seed, 200, missing=0.1)[1], reals=True).grid(200)
    model = CombinationReal(2, ridge=2.0, start_from="noise")
    em = fit_em(model, grid, Local(), Settings(tol=1e-7, max_iter=2000, seed=seed), None, None)
    climbed = fit_machine(model, grid, Local(), Settings(tol=1e-9, seed=seed), None, None)
    assert (np.diff(em.trace) >= -1e-10 * abs(em.trace[-1])).all()
    assert (np.diff(climbed.trace) >= 0.0).all()
    # From the same start; the quasi-Newton climb may find another maximum, but hardly a worse one here.
    assert climbed.trace[-1] > em.trace[-1] - 0.1


@pytest.mark.parametrize("start", ["grow", "pursuit"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_fit_finds_a_machine(seed, start, bias):
    """Units with orthogonal weights, on in a quarter of the rows: what pursuit is for (section 3.5).

    On new rows maximum likelihood costs p / 2N nats a row on average, with a standard deviation of sqrt(1.5 p) / N.
    """
    rng = np.random.default_rng([seed, 2])
    W = 2.0 * np.repeat(np.eye(3), 3, axis=0) * rng.choice([-1.0, 1.0], (9, 1))
    truth = CombinationReal(3).exact(W, -0.5 * np.sum(W**2, axis=0) - 1.0, np.zeros(9))
    rows = CombinationReal(3).sample(truth, 3000, rng)[0]
    train, test = rows[:1500], rows[1500:]
    fitted = CombinationMachine(3, visible="reals", bias=bias, start=start, random_state=seed).fit(train)
    p, excess = fitted.n_parameters_, Mixture(truth).look(test)[0].mean() - fitted.score(test)
    assert fitted.converged_
    assert fitted._likelihood_kind == "exact"
    assert abs(excess - p / 3000) < 3.0 * np.sqrt(1.5 * p) / 1500
    assert bias or not fitted.bias_.any()


def test_columns_far_from_zero_change_nothing():
    """The machine has a bias, so a shift of the columns is a shift of the fit; thresholds move along."""
    _, rows = drawn(0, 400, missing=0.1)
    shift = np.array([300.0, -50.0, 0.0, 10.0, -1000.0, 0.0, 2.0, 77.0])
    far = rows + shift
    near_fit, far_fit = (CombinationMachine(2, visible="reals", tol=1e-9, random_state=0).fit(x) for x in (rows, far))
    assert far_fit.n_iter_ < 2 * near_fit.n_iter_ + 20
    np.testing.assert_allclose(far_fit.score_samples(far), near_fit.score_samples(rows), rtol=0, atol=1e-3)
    np.testing.assert_allclose(far_fit.complete(far) - shift, near_fit.complete(rows), rtol=0, atol=1e-2)


@pytest.mark.parametrize("seed", range(2))
def test_drawn_rows_have_the_moments_of_the_machine(seed):
    """Means and covariances within five standard errors, 40,000 rows."""
    params, n = machine(seed, scale=0.7), 40_000
    truth, p = Mixture(params), np.exp(Mixture(params).log_p)
    x = CombinationReal(3).sample(params, n, np.random.default_rng(seed))[0]
    mean = p @ truth.om
    covariance = np.eye(5) + (truth.om - mean).T @ (p[:, None] * (truth.om - mean))
    assert (abs(x.mean(axis=0) - mean) < 5.0 * np.sqrt(np.diag(covariance) / n)).all()
    products = (x - mean)[:, :, None] * (x - mean)[:, None, :]
    assert (abs(products.mean(axis=0) - covariance) < 5.0 * products.std(axis=0) / np.sqrt(n)).all()


@pytest.mark.slow
def test_verbs_on_frames_and_files(tmp_path):
    pd = pytest.importorskip("pandas")
    _, rows = drawn(1, 300, missing=0.1)
    frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(8)], index=np.arange(300) + 1000)
    model = CombinationMachine(2, visible="reals", random_state=0).fit(frame)
    completed = model.complete(frame)
    assert list(completed.columns) == list(frame.columns)
    assert (completed.index == frame.index).all()
    seen = ~np.isnan(rows)
    np.testing.assert_array_equal(completed.to_numpy()[seen], rows[seen])
    assert np.isfinite(completed.to_numpy()).all()
    assert model.transform(frame).shape == (300, 2)
    np.testing.assert_allclose(
        model.inverse_transform(model.posterior_mode(frame)), model.posterior_mode(frame) @ model.weights_ + model.bias_
    )
    sampled = model.sample(7)
    assert sampled.shape == (7, 8)
    assert sampled.dtype == np.float64
    model.save(tmp_path / "model.hb")
    loaded = hiddenbits.load(tmp_path / "model.hb")
    np.testing.assert_array_equal(loaded.score_samples(frame), model.score_samples(frame))
    np.testing.assert_array_equal(loaded.sample(7), sampled)
    with hiddenbits.run_on(n_jobs=2):
        threaded = CombinationMachine(2, visible="reals", random_state=0).fit(frame)
    np.testing.assert_array_equal(threaded.weights_, model.weights_)
    further = CombinationMachine(2, visible="reals", random_state=0).partial_fit(rows[:150]).partial_fit(rows[150:])
    assert np.isfinite(further.score(rows))


@pytest.mark.slow
def test_weights_equal_repeats_and_rows_are_chosen_by_content():
    _, rows = drawn(2, 120, missing=0.1)
    counts = np.random.default_rng(0).integers(0, 3, 120)
    repeated = np.random.default_rng(1).permutation(np.repeat(rows, counts, axis=0))
    weighted = hiddenbits.open_table(rows, reals=True).with_weights(counts.astype(float))
    tables = [weighted, hiddenbits.open_table(repeated, reals=True)]
    passes = [partial(Local().reduce, grid=table.grid(32)) for table in tables]
    chosen = [choose_rows(5, Key(0), one) for one in passes]
    np.testing.assert_array_equal(*chosen)
    units = [pursue(3, Key(0), one, np.zeros(8), n_steps=5, reals=True) for one in passes]
    np.testing.assert_allclose(units[0].weights, units[1].weights, rtol=0, atol=1e-9)
    estimator = CombinationMachine(2, visible="reals", ridge=1.0, tol=1e-10, random_state=0)
    a = estimator.fit(rows, sample_weight=counts).score(rows)
    b = estimator.fit(repeated).score(rows)
    assert a == pytest.approx(b, abs=1e-4)


@pytest.mark.parametrize(
    ("settings", "rows", "message"),
    [
        ({"visible": "reals", "threshold": 0.5}, np.zeros((4, 2)), "threshold= is for binary data"),
        ({"visible": "reals", "method": "chains"}, np.zeros((4, 2)), "needs method="),
        ({"visible": "reals", "n_components": 30}, np.zeros((40, 2)), "use fewer units"),
        ({"visible": "reals"}, np.array([["a", "b"], ["c", "d"]]), "is not a number"),
        ({"visible": "reals"}, np.array([[0.0, np.inf], [1.0, 2.0]]), "is infinite or too large"),
        ({"visible": "reals"}, hiddenbits.open_table(np.eye(3)), "table has binary columns"),
        ({"visible": "bits"}, np.array([[0.5, 2.0], [1.0, 0.0]]), "0.5"),
    ],
)
def test_refusals(settings, rows, message):
    with pytest.raises((ValueError, TableError), match=message):
        CombinationMachine(**{"n_components": 2, **settings}).fit(rows)


def test_no_probabilities_of_bits():
    model = CombinationMachine(1, visible="reals", random_state=0).fit(drawn(0, 50)[1])
    with pytest.raises(ValueError, match="needs binary data"):
        model._cell_probabilities(drawn(0, 5)[1])
