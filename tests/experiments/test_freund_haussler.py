"""The sums, distances and resumed cells of experiments/freund_haussler_1994, against enumeration and scipy."""

import json

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
