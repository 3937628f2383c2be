"""Measures on tables of real numbers."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import CombinationMachine, evaluate, open_table

pytestmark = pytest.mark.core


def two_heaps(n=80):
    rng = np.random.default_rng(0)
    return 0.5 * rng.standard_normal((n, 3)) + rng.integers(0, 2, (n, 1))


def test_machines_over_reals():
    """A mixture of 2^units Gaussians: the density of a cell given the rest is a ratio of two of its likelihoods."""
    rows = two_heaps()
    machine = CombinationMachine(1, visible="reals", random_state=0)
    figure = evaluate.held_out_cells(machine, rows, share=0.2, random_state=1)
    kept = hiddenbits.tables.hide_cells(open_table(rows, reals=True), 0.2, random_state=1).to_float()
    model = machine.fit(kept)
    losses = []
    for row, left in zip(rows, kept, strict=True):
        for j in np.flatnonzero(np.isnan(left)):
            with_cell = left.copy()
            with_cell[j] = row[j]
            losses.append(float(np.subtract(*model.score_samples(np.array([left, with_cell])))))
    assert figure.value == pytest.approx(np.mean(losses), abs=1e-9)
    assert evaluate.mean_log_likelihood(model, rows).value == pytest.approx(model.score(rows), abs=1e-12)


def test_measures_of_bits_are_refused():
    rows = two_heaps()
    model = CombinationMachine(1, visible="reals", random_state=0).fit(rows)
    for measure in (evaluate.bits_per_cell, evaluate.leave_one_out_error, evaluate.code_length):
        with pytest.raises(ValueError, match=rf"{measure.__name__} needs binary data.*held_out_cells"):
            measure(model, rows)
