"""The sums, distances and resumed cells of experiments/freund_haussler_1994, against enumeration and scipy."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.freund_haussler_1994 import maths
from experiments.freund_haussler_1994.cells import Cells
from scipy.stats import kstest

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
    """The modules of pursuit and of peers, which find their neighbours as run.py does."""
    here = Path(maths.__file__).parent
    before = set(sys.modules)
    for folder in (here.parent, here):
        monkeypatch.syspath_prepend(str(folder))
    import peers
    import stopping

    yield stopping, peers
    for name in set(sys.modules) - before:
        if str(here.parent) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_a_unit_explains_becomes_fair_coins(pursuit, seed):
    """Rows of a machine with one unit, without it: means and correlations are 0, within 4 errors of 20,000 rows."""
    stopping, _ = pursuit
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
    stopping, _ = pursuit
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
    _, peers = pursuit
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
