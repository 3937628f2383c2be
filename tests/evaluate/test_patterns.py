"""Cover's count against the cells of random planes, each looked for by a linear program; entropies by hand."""

from itertools import product
from math import log

import numpy as np
import pytest
from scipy.optimize import linprog

from hiddenbits import evaluate, open_table

pytestmark = pytest.mark.core


def cells(n_columns, n_components, biases, seed):
    """How many sign patterns of w.y + h some y has: each is asked for, with as wide a margin as it can have."""
    rng = np.random.default_rng(seed)
    W, h = rng.standard_normal((n_columns, n_components)), rng.standard_normal(n_columns) * biases
    found = 0
    for signs in product((-1.0, 1.0), repeat=n_columns):
        s = np.array(signs)
        left = np.column_stack([-s[:, None] * W, np.ones(n_columns)])  # s (w.y + h) >= margin, margin <= 1
        bounds = [(None, None)] * n_components + [(None, 1.0)]
        answer = linprog([*np.zeros(n_components), -1.0], left, s * h, bounds=bounds)
        found += answer.x[-1] > 1e-9
    return found


@pytest.mark.parametrize(
    ("n_columns", "n_components", "through_origin", "anywhere"),
    [(5, 2, 10, 16), (7, 2, 14, 29), (6, 3, 32, 42), (8, 3, 58, 93)],
)
def test_planes_have_as_many_cells(n_columns, n_components, through_origin, anywhere):
    for biases, expected in ((False, through_origin), (True, anywhere)):
        assert evaluate.count_patterns(n_columns, n_components, biases=biases) == expected
        if n_columns < 7:  # hundreds of linear programs more would show the same
            assert cells(n_columns, n_components, biases, seed=n_columns) == expected


def test_counts_grow_without_end():
    """Python's whole numbers do not overflow, and all patterns are possible where there are dimensions enough."""
    assert log(evaluate.count_patterns(10_000, 16)) == pytest.approx(16 * log(10_000) - log(20922789888000), rel=1e-3)
    assert evaluate.count_patterns(6, 6) == evaluate.count_patterns(6, 9, biases=False) == 64
    with pytest.raises(ValueError, match="at least 1"):
        evaluate.count_patterns(0, 2)


def test_entropy_of_rows():
    X = np.array([[0, 1], [1, 1], [0, 1], [np.nan, 1]])
    assert evaluate.pattern_entropy(X) == pytest.approx(log(4) - 0.5 * log(2))
    weighted = evaluate.pattern_entropy(X, sample_weight=[1, 0, 1, 6])
    assert weighted == pytest.approx(-0.25 * log(0.25) - 0.75 * log(0.75))
    assert evaluate.pattern_entropy(np.ones((5, 3))) == 0.0
    table = open_table(X).with_weights([1, 0, 1, 2])  # the table's own weights count, as in every other measure
    assert evaluate.pattern_entropy(table, sample_weight=[1, 1, 1, 3]) == pytest.approx(weighted)


def test_entropy_of_many_pieces(monkeypatch):
    monkeypatch.setattr("hiddenbits.evaluate.patterns.PIECE_CELLS", 64)
    X = np.random.default_rng(0).integers(0, 2, (999, 3))
    share = np.unique(X @ [1, 2, 4], return_counts=True)[1] / 999
    assert evaluate.pattern_entropy(X) == pytest.approx(-(share @ np.log(share)), abs=1e-12)
