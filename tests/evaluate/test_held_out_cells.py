"""Hold-out by cells against a loop over cells, and as a chooser of sizes."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import IndependentColumns, LatentClassAnalysis, evaluate
from hiddenbits.data import Table
from hiddenbits.datasets import simulate_mixture
from tests.contracts.conftest import NotResident

pytestmark = pytest.mark.core


def test_against_a_loop_over_cells():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((200, 6)) < 0.1, np.nan, rng.integers(0, 2, (200, 6)).astype(float))
    figure = evaluate.held_out_cells(IndependentColumns(), rows, share=0.25, random_state=3)
    kept = hiddenbits.tables.hide_cells(hiddenbits.open_table(rows), 0.25, random_state=3).to_float()
    p = IndependentColumns().fit(kept).complete(np.full((1, 6), np.nan))[0]
    losses = [
        -np.log(p[j] if rows[i, j] == 1 else 1 - p[j])
        for i in range(200)
        for j in range(6)
        if np.isnan(kept[i, j]) and not np.isnan(rows[i, j])
    ]
    assert figure.value == pytest.approx(np.mean(losses), abs=1e-12)
    assert figure.n_rows == 200


def test_the_same_from_parts():
    X = simulate_mixture(500, 8, 2, random_state=0).X
    weights = np.random.default_rng(0).random(500)
    model = LatentClassAnalysis(2, online_passes=1, random_state=0)
    memory = hiddenbits.open_table(X).with_weights(weights)
    parts = Table(NotResident(hiddenbits.open_table(X).source), None, weights, 8 * 60)
    one, other, plain = (evaluate.held_out_cells(model, t).value for t in (memory, parts, memory.with_weights(None)))
    assert other == pytest.approx(one, abs=1e-9)
    assert one != pytest.approx(plain, abs=1e-4)
