"""Lines and shifter: what the truth says is what the bits show."""

import numpy as np
import pytest

from hiddenbits.datasets import simulate_lines, simulate_shifter

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(3))
def test_lines(seed):
    """Pictures are the OR of their lines; kinds come as often as they should, within 5 standard errors."""
    n = 5000
    truth = simulate_lines(n, random_state=seed)
    for row, lines in zip(truth.X[:200], truth.lines[:200], strict=True):
        assert np.array_equal(row, truth.patterns[lines == 1].max(axis=0, initial=0))
    assert (truth.patterns.sum(axis=1) == 5).all()
    assert (truth.patterns[:5].sum(axis=0) == 1).all()
    for kind, share in enumerate([0.6, 0.1, 0.1, 0.1, 0.1]):
        assert abs(np.mean(truth.kinds == kind) - share) < 5 * np.sqrt(share * (1 - share) / n)
    for kind, members in enumerate(truth.sets, start=1):
        chosen = truth.lines[truth.kinds == kind]
        assert (chosen[:, list(members)] == 1).all()
        assert (chosen.sum(axis=1) == len(members)).all()
    free = truth.lines[truth.kinds == 0]
    assert abs(free.mean() - 0.3) < 5 * np.sqrt(0.21 / free.size)


@pytest.mark.parametrize("seed", range(3))
def test_shifter(seed):
    """The copy is the row moved by one, around; a row is the OR of its direction's causes."""
    n = 4000
    truth = simulate_shifter(n, random_state=seed)
    lines = truth.X.reshape(n, 4, 8)
    assert np.array_equal(lines[:, 0], lines[:, 1])
    assert np.array_equal(lines[:, 2], lines[:, 3])
    assert lines[:, 0].any(axis=1).all()
    for direction, step in ((0, -1), (1, 1)):
        here = truth.directions == direction
        assert np.array_equal(np.roll(lines[here, 0], step, axis=1), lines[here, 2])
        made = lines[here, 0] @ truth.patterns[8 * direction : 8 * direction + 8] > 0
        assert np.array_equal(made, truth.X[here] == 1)
    assert abs(truth.directions.mean() - 0.5) < 5 * 0.5 / np.sqrt(n)
    assert (truth.patterns.sum(axis=1) == 4).all()
    assert len({tuple(row) for row in truth.patterns}) == 16


def test_the_same_seed_draws_the_same_rows():
    assert np.array_equal(simulate_lines(50, random_state=3).X, simulate_lines(50, random_state=3).X)
    assert not np.array_equal(simulate_shifter(50, random_state=3).X, simulate_shifter(50, random_state=4).X)
