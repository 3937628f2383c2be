"""The sums, distances and resumed cells of experiments/freund_haussler_1994, against enumeration and scipy."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.freund_haussler_1994 import maths
from experiments.freund_haussler_1994.cells import Cells
from scipy.stats import kstest
from sklearn.datasets import load_digits

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sums_by_number_of_active_units(seed, monkeypatch):
    monkeypatch.setattr(maths, "CHUNK", 3)  # several pieces
    rng = np.random.default_rng(seed)
    weights, thresholds, bias = rng.standard_normal((5, 4)), rng.standard_normal(5), rng.standard_normal(4)
    rows = np.array([[2 * (k >> j & 1) - 1 for j in range(4)] for k in range(16)])
    sums = np.zeros(6)
    for k in range(32):
        h = np.array([k >> i & 1 for i in range(5)])
        sums[h.sum()] += sum(np.exp(h @ (thresholds + weights @ x) + bias @ x) for x in rows)
    np.testing.assert_allclose(maths.log_sums(weights, thresholds, bias), np.log(sums), rtol=0, atol=1e-12)


def test_too_many_states_are_left_out():
    assert len(maths.log_sums(np.zeros((45, 2)), np.zeros(45), np.zeros(2))) == 5  # 45 over 5 is 1.2 million


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_kolmogorov_distance_is_scipys(seed):
    values = np.random.default_rng(seed).standard_normal(300)
    assert maths.kolmogorov(values) == pytest.approx(kstest(values, "norm").statistic, abs=1e-12)
    lumps = np.round(values)  # equal values: one jump
    assert maths.kolmogorov(lumps) == pytest.approx(kstest(lumps, "norm").statistic, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_paper_s_machine_has_the_distribution(seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(8))
    weights, thresholds, x = maths.machine_for(p, 1e-7)
    assert weights.shape == (7, 3)
    factors = np.prod(1.0 + np.exp(x @ weights.T + thresholds), axis=1)  # eq 2.4
    np.testing.assert_allclose(factors / factors.sum(), p, rtol=0, atol=1e-6)


def test_cells_are_measured_once_and_forgotten_at_the_end(tmp_path):
    path, calls = tmp_path / "results" / "table.partial.json", []

    def measure():
        calls.append(1)
        return {"value": 0.1}

    def interrupted():
        with Cells(path) as cells:
            assert cells.get("one", measure)["value"] == 0.1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with Cells(path) as cells:
        assert cells.get("one", measure)["value"] == 0.1
        assert len(calls) == 1
        cells.get("two", measure)
        stored = json.loads(path.read_text())
    assert len(calls) == 2
    assert not path.exists()
    path.write_text(json.dumps(stored | {"versions": {"numpy": "0.1"}}))
    with Cells(path) as cells:
        cells.get("one", measure)
    assert len(calls) == 3  # other versions: measured again


@pytest.fixture
def pursuit(monkeypatch):
    """Modules of the experiment, which find their neighbours as run.py does."""
    here = Path(maths.__file__).parent
    before = set(sys.modules)
    for folder in (here.parent, here):
        monkeypatch.syspath_prepend(str(folder))
    import doubling
    import of_learning
    import of_model
    import of_optima
    import of_reals
    import peers
    import refitted
    import stopping

    yield SimpleNamespace(
        stopping=stopping,
        peers=peers,
        refitted=refitted,
        of_learning=of_learning,
        of_model=of_model,
        of_optima=of_optima,
        of_reals=of_reals,
        doubling=doubling,
    )
    for name in set(sys.modules) - before:
        if str(here.parent) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_a_unit_explains_becomes_fair_coins(pursuit, seed):
    """Rows of a machine with one unit, without it: means and correlations are 0, within 4 errors of 20,000 rows."""
    stopping = pursuit.stopping
    rng = np.random.default_rng(seed)
    w, on = np.array([1.5, -1.0, 0.7, 0.0, -2.0, 1.0]), rng.random(20_000) < 0.4
    p = 1.0 / (1.0 + np.exp(-2.0 * on[:, None] * w))
    X = np.where(rng.random(p.shape) < p, 1.0, -1.0)
    th = np.log(0.4 / 0.6) - stopping.mass(w, "bits")
    rest = stopping.removed(X, w, th, "bits", rng)
    assert set(np.unique(rest)) == {-1.0, 1.0}
    assert np.abs(rest.mean(axis=0)).max() < 4.0 / np.sqrt(20_000)
    assert np.abs(rest.T @ rest / 20_000 - np.eye(6)).max() < 4.0 / np.sqrt(20_000)


def test_pursuit_stops_where_there_is_nothing_left(pursuit):
    """Fair coins have no unit; rows of one unit have one, by either rule."""
    stopping = pursuit.stopping
    rng = np.random.default_rng(0)
    coins = np.where(rng.random((2000, 8)) < 0.5, 1.0, -1.0)
    on = rng.random((2000, 1)) < 0.5
    p = 1.0 / (1.0 + np.exp(-2.0 * on * np.array([1.5, 1.5, -1.5, 1.5, -1.5, 1.5, 0.0, 0.0])))
    one = np.where(rng.random(p.shape) < p, 1.0, -1.0)
    for rule in ("BIC", "held-out"):
        assert len(stopping.pursue(coins, "bits", rule, 5, 0)[1]) == 0
    assert len(stopping.pursue(one, "bits", "BIC", 5, 0)[1]) == 1


def test_components_guess_a_bit_by_its_conditional_mean(pursuit):
    """Against the regression on the other columns that the covariance implies."""
    peers = pursuit.peers
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < 0.5).astype(float)
    X[:, 1] = np.where(rng.random(200) < 0.8, X[:, 0], X[:, 1])
    mean, inverse = peers.precision(X, 2)
    C = np.linalg.inv(inverse)
    j, others = 1, [0, 2, 3, 4, 5]
    expected = mean[j] + (X[:, others] - mean[others]) @ np.linalg.solve(C[np.ix_(others, others)], C[others, j])
    guess = X - (X - mean) @ inverse / np.diag(inverse)
    np.testing.assert_allclose(guess[:, j], expected, atol=1e-10)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))
    np.testing.assert_allclose(np.linalg.eigvalsh(C)[-2:], values[-2:], atol=1e-10)


def rows_of_two(n, seed):
    """Rows of a machine with two units over 8 columns, and the machine: weights, thresholds."""
    W = np.array([[2.0, 2.0, -2.0, 2.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 2.0, -2.0, 2.0, 2.0]])
    th = -np.log(np.cosh(W)).sum(axis=1)  # each unit is on in half of the rows
    rng = np.random.default_rng(seed)
    h = rng.random((n, 2)) < 0.5
    return np.where(rng.random((n, 8)) < 1.0 / (1.0 + np.exp(-2.0 * (h @ W))), 1.0, -1.0), (W, th)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_right_machine_leaves_fair_coins(pursuit, seed):
    """Means and correlations are 0, within 4 errors of 20,000 rows; those of another machine's rows are not."""
    X, machine = rows_of_two(20_000, seed)
    rest = pursuit.refitted.removed(X, machine, np.random.default_rng([seed, 1]))
    assert np.abs(rest.T @ rest / 20_000 - np.eye(8)).max() < 4.5 / np.sqrt(20_000)
    assert np.abs(rest.mean(axis=0)).max() < 4.0 / np.sqrt(20_000)
    wrong = pursuit.refitted.removed(X, (machine[0][:1], machine[1][:1]), np.random.default_rng([seed, 1]))
    assert np.abs(wrong.T @ wrong / 20_000 - np.eye(8)).max() > 0.1


def test_likelihood_is_that_of_enumeration(pursuit):
    """Over all rows of 4 bits; and refitting climbs to a point where the likelihood is flat, by finite differences."""
    refitted, rng = pursuit.refitted, np.random.default_rng(0)
    W, th = rng.standard_normal((3, 4)), rng.standard_normal(3)
    x = np.array([[2.0 * (k >> j & 1) - 1.0 for j in range(4)] for k in range(16)])
    factors = np.prod(1.0 + np.exp(x @ W.T + th), axis=1)  # eq 2.4
    X = x[rng.integers(16, size=50)]
    expected = sum(np.log(factors[(x == row).all(axis=1)][0] / factors.sum()) for row in X)
    assert refitted.log_likelihood((W, th), X) == pytest.approx(expected, abs=1e-10)
    X, machine = rows_of_two(500, 0)
    W, th = refitted.refit((0.5 * machine[0], machine[1]), X, 500)
    for i, j in ((0, 0), (1, 5)):
        step = np.zeros_like(W)
        step[i, j] = 1e-4
        up, down = (
            refitted.log_likelihood((V, th), X) - 0.5 * refitted.RIDGE * (V**2).sum() for V in (W + step, W - step)
        )
        assert abs(up - down) / 2e-4 / 500 < 1e-3  # a row; at the start it is above .01


@pytest.mark.parametrize("seed", [0, 1])
def test_two_units_are_found_forwards_and_backwards(pursuit, seed):
    refitted = pursuit.refitted
    X, machine = rows_of_two(1500, seed)
    grown, up = refitted.forwards(X, np.random.default_rng([seed, 1]))
    assert len(grown[1]) == len(up) > 2
    best, down = refitted.backwards(X, grown)
    assert len(best[1]) == 2
    assert min(down) == pytest.approx(refitted.bic(best, X))
    assert min(down) < refitted.bic(machine, X)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_other_digits_are_five_hundred_and_five_hundred_different_rows(pursuit, seed):
    rows = pursuit.peers.data.small_digits(seed)
    assert rows.train.shape == rows.test.shape == (500, 64)
    grey, label = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(grey))
    np.testing.assert_array_equal(rows.train, grey[order[:500]] > 7)
    np.testing.assert_array_equal(rows.test_label, label[order[500:1000]])


def test_learned_units_are_told_apart(pursuit):
    true = np.eye(6)[:4]
    learned = np.array([2.0 * true[1], -0.5 * true[0], true[2] - 2.0 * true[3], np.eye(6)[5], true.sum(axis=0)])
    assert pursuit.of_learning.matched(learned, true) == {
        "same": 1,
        "negated": 1,
        "two": 1,
        "more": 1,
        "none": 1,
    }


@pytest.mark.parametrize("way", ["bits", "reals"])
def test_gradients_of_both_models_are_differences(pursuit, way):
    """Eqs 3.5, 3.6, 3.8, 3.9 against central differences of the likelihood, which is that of refitted for bits."""
    of_reals = pursuit.of_reals
    rng = np.random.default_rng(0)
    W, th = rng.standard_normal((3, 4)), rng.standard_normal(3)
    X = np.where(rng.random((30, 4)) < 0.5, 1.0, -1.0)
    slope_w, slope_th = of_reals.slopes(W, th, X, way)
    for i in range(3):
        step = 1e-5 * np.eye(3)[i]
        up, down = (of_reals.height(W, th + sign * step, X, way) for sign in (1, -1))
        assert slope_th[i] == pytest.approx((up - down) / 2e-5, abs=1e-8)
        step = 1e-5 * np.outer(np.eye(3)[i], np.eye(4)[2])
        up, down = (of_reals.height(W + sign * step, th, X, way) for sign in (1, -1))
        assert slope_w[i, 2] == pytest.approx((up - down) / 2e-5, abs=1e-8)
    if way == "bits":
        whole = pursuit.refitted.log_likelihood((W, th), X) / 30 + 4 * np.log(2.0)
        assert of_reals.height(W, th, X, way) == pytest.approx(whole, abs=1e-10)
        assert pursuit.of_optima.log_loss((W, th), X) == pytest.approx(1.0 - whole / (4 * np.log(2.0)), abs=1e-10)


def test_coefficients_and_means_of_the_two_mixtures(pursuit):
    """One unit, in closed form: logistic(th + sum ln cosh w) and logistic(th + |w|^2 / 2); tanh(w) and w."""
    w, th = np.array([[0.8, -0.3, 1.2]]), np.array([-0.4])
    found = pursuit.of_reals.components(w, th)
    bits, reals = (1.0 / (1.0 + np.exp(-(th[0] + c))) for c in (np.log(np.cosh(w)).sum(), 0.5 * (w**2).sum()))
    assert found["coefficients"] == pytest.approx(reals - bits, abs=1e-12)
    assert found["means"] == pytest.approx(np.linalg.norm(np.tanh(w) - w) / np.linalg.norm(w), abs=1e-12)


def test_the_usual_removal_makes_one_projection_normal(pursuit):
    """Those that are orthogonal to it stay as they are."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((2000, 5)) < 0.7, 1.0, -1.0)
    w, other = np.array([1.0, 2.0, 0.0, 0.0, -1.0]), np.array([2.0, -1.0, 3.0, 1.0, 0.0])
    flat = pursuit.of_optima.flattened(X, w)
    assert maths.kolmogorov(flat @ w / np.linalg.norm(w)) < 1e-3  # the quantiles themselves
    assert maths.kolmogorov(X @ w / np.linalg.norm(w)) > 0.1
    np.testing.assert_allclose(flat @ other, X @ other, atol=1e-10)


def test_errors_of_a_mixture_are_those_of_enumeration(pursuit):
    """Each bit guessed by the posterior of the classes given the other bits."""
    rng = np.random.default_rng(0)
    p, pi, T = rng.uniform(0.1, 0.9, (3, 5)), np.array([0.5, 0.3, 0.2]), (rng.random((40, 5)) < 0.5).astype(float)
    wrong, bits = 0, 0.0
    for row in T:
        cells = np.where(row > 0.5, p, 1.0 - p)
        own = cells[(pi * cells.prod(axis=1)).argmax()]
        bits -= np.log2(own).sum()
        for j in range(5):
            rest = pi * np.delete(cells, j, axis=1).prod(axis=1)
            wrong += (rest @ p[:, j] / rest.sum() > 0.5) != (row[j] > 0.5)
    reconstruction, single = pursuit.doubling.errors(T, p, pi)
    assert reconstruction == pytest.approx(bits / 200, abs=1e-12)
    assert single == pytest.approx(wrong / 200, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_humps_are_counted(pursuit, seed):
    """Two normals that are six deviations apart are two, one is one."""
    values = np.random.default_rng(seed).standard_normal(2000)
    assert pursuit.of_model.humps(values) == 1
    assert pursuit.of_model.humps(np.concatenate([values, values + 6.0])) == 2
