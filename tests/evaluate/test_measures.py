"""The measures against their definitions, by hand and by enumeration."""

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, evaluate, open_table
from hiddenbits.evaluate.measures import Ratio
from tests.contracts.test_fit import structured_rows
from tests.oracle.enumeration import Oracle

pytestmark = pytest.mark.core


@pytest.fixture
def fitted():
    rows = structured_rows(np.random.default_rng(0), 120, 6, missing=True)
    model = LatentClassAnalysis(3, random_state=0).fit(rows)
    return model, rows, Oracle(model._model(), model._params)


def test_likelihood_and_bits_per_cell(fitted):
    model, rows, oracle = fitted
    truth = np.array([oracle.log_likelihood(row) for row in rows])
    estimate = evaluate.mean_log_likelihood(model, rows)
    assert estimate.value == pytest.approx(truth.mean(), abs=1e-12)
    assert estimate.standard_error == pytest.approx(truth.std(ddof=1) / np.sqrt(len(rows)), rel=1e-9)
    assert (estimate.kind, estimate.n_rows) == ("exact", 120)
    bits = evaluate.bits_per_cell(model, rows)
    assert bits.value == pytest.approx(-truth.sum() / np.log(2) / (~np.isnan(rows)).sum(), abs=1e-12)


def test_single_bit_error(fitted):
    model, rows, oracle = fitted
    observed = ~np.isnan(rows)
    p = np.array([oracle.leave_one_out(row) for row in rows])
    wrong = ((p > 0.5) != (rows == 1))[observed]
    assert evaluate.leave_one_out_error(model, rows).value == pytest.approx(wrong.mean(), abs=1e-12)


def test_code_length(fitted):
    model, rows, oracle = fitted
    spent = []
    for row in rows:
        theta = model.probabilities_[int(np.argmax(oracle.posterior(row)))]
        spent.extend(-np.log2(np.where(row == 1, theta, 1 - theta))[~np.isnan(row)])
    assert evaluate.code_length(model, rows).value == pytest.approx(np.mean(spent), abs=1e-12)


def test_weights_are_repeats_in_the_value(fitted):
    model, rows, _ = fitted
    counts = np.random.default_rng(1).integers(0, 3, len(rows))
    for measure in (
        evaluate.mean_log_likelihood,
        evaluate.bits_per_cell,
        evaluate.leave_one_out_error,
        evaluate.code_length,
    ):
        weighted, repeated = measure(model, rows, counts), measure(model, np.repeat(rows, counts, axis=0))
        assert weighted.value == pytest.approx(repeated.value, rel=1e-12)
        carried = measure(model, open_table(rows).with_weights(counts))
        assert carried.value == pytest.approx(repeated.value, rel=1e-12)


def test_pieces_do_not_matter(fitted, monkeypatch):
    model, rows, _ = fitted
    whole = evaluate.code_length(model, rows)
    monkeypatch.setattr("hiddenbits.evaluate.measures.PIECE_CELLS", 40)
    pieces = evaluate.code_length(model, rows)
    assert pieces.value == pytest.approx(whole.value, rel=1e-13)
    assert pieces.standard_error == pytest.approx(whole.standard_error, rel=1e-9)


def test_standard_error_of_a_ratio_covers_the_true_value():
    """Of 2,000 ratios about 95% lie within 1.96 standard errors; 3 standard errors of that share are 1.5%."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(2000):
        cells = rng.integers(1, 10, 200).astype(float)
        losses = cells * 0.3 + rng.standard_normal(200) * np.sqrt(cells)
        ratio = Ratio()
        ratio.add(losses, cells, np.ones(200))
        estimate = ratio.estimate()
        inside += abs(estimate.value - 0.3) < 1.96 * estimate.standard_error
    assert 0.935 <= inside / 2000 <= 0.965
