"""The map with a tree inside, of the density benchmark: a density, and that of the map of the table by parents."""

import itertools

import numpy as np
import pytest
from benchmarks.debd.tree_map import by_parent, fit_tree_map

from hiddenbits import TopographicMap
from hiddenbits.datasets import simulate_mixture

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

SETTINGS = {"n_components": 3, "n_points": 64, "n_features": 16, "max_iter": 3}


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_density_of_the_map(seed):
    X = simulate_mixture(300, 6, 3, seed=seed).X
    model = fit_tree_map(X, SETTINGS, seed)
    rows = np.array(list(itertools.product((0, 1), repeat=6)))
    scores = model.score_samples(rows)
    assert np.exp(scores).sum() == pytest.approx(1.0, abs=1e-10)
    parents = model.parents_[0]
    assert (parents >= 0).sum() == 5
    there = TopographicMap(**SETTINGS, random_state=seed).fit(by_parent(X, parents))
    np.testing.assert_allclose(scores, there.score_samples(by_parent(rows, parents)), atol=1e-10)


def test_blanks_are_where_the_parent_has_the_other_value():
    table = by_parent(np.array([[0, 1], [1, 1]]), np.array([-1, 0]))
    np.testing.assert_array_equal(table, [[0, 1, np.nan], [1, np.nan, 1]])
