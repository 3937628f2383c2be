"""Pairs of columns against scipy's test of a table of counts, and which columns of a finding they support."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from hiddenbits.reporting.sample import associations, blanks_follow, supported


@pytest.mark.parametrize("seed", range(3))
def test_associations_are_the_roots_of_chi_squared(seed):
    rng = np.random.default_rng(seed)
    cells = (rng.random((200, 5)) < rng.random((200, 1))).astype(float)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    found = associations(cells)
    assert np.array_equal(found, found.T)
    for j, k in zip(*np.triu_indices(5, 1), strict=True):
        both = cells[~np.isnan(cells[:, [j, k]]).any(axis=1)][:, [j, k]]
        counts = [[((both == [a, b]).all(axis=1)).sum() for b in (0, 1)] for a in (0, 1)]
        squared = chi2_contingency(counts, correction=False).statistic * (len(both) - 1) / len(both)
        assert found[j, k] ** 2 == pytest.approx(squared, rel=1e-9)
        assert np.sign(found[j, k]) == np.sign(np.corrcoef(both.T)[0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_blanks_that_follow_another_column(seed):
    """The second column is asked only of those with the first; blanks of the third are drawn."""
    rng = np.random.default_rng(seed)
    cells = (rng.random((400, 3)) < 0.4).astype(float)
    cells[cells[:, 0] == 0, 1] = np.nan
    cells[rng.random(400) < 0.5, 2] = np.nan
    assert np.argwhere(blanks_follow(cells)).tolist() == [[0, 1], [1, 0]]


def test_columns_that_have_nothing_to_do_with_the_others_are_dropped():
    links = np.zeros((4, 4))
    links[0, 1] = links[1, 0] = 9.0
    links[1, 2] = links[2, 1] = -5.0
    signs = np.array([1.0, 1.0, -1.0, 1.0])
    assert supported([3, 0, 1, 2], signs, links, 3.0) == [0, 1, 2]
    assert supported([3, 2], signs, links, 3.0) == []  # nothing links them
    assert supported([3], signs, links, 3.0) == []
    assert supported([], signs, links, 3.0) == []


def test_columns_that_go_together_are_not_set_against_each_other():
    """0 and 1 go together, 2 and 3, and 1 with 2: a model that opposes the pairs keeps the one that comes first."""
    links = np.zeros((4, 4))
    for j, k, z in ((0, 1, 9.0), (2, 3, 7.0), (1, 2, 6.0)):
        links[j, k] = links[k, j] = z
    against = np.array([1.0, 1.0, -1.0, -1.0])
    assert supported([0, 1, 2, 3], against, links, 3.0) == [0, 1, 3]  # nothing speaks against 3
    assert supported([2, 3, 1, 0], against, links, 3.0) == [2, 3, 0]
    links[1, 2] = links[2, 1] = -6.0
    assert supported([0, 1, 2, 3], against, links, 3.0) == [0, 1, 2, 3]


def test_most_columns_of_a_side_are_linked():
    """2 goes with 1 and not with 0; with a fourth column that goes with all of them it is one of three."""
    links = np.zeros((4, 4))
    for j, k, z in ((0, 1, 9.0), (1, 2, 7.0), (0, 3, 6.0), (1, 3, 6.0), (2, 3, 6.0)):
        links[j, k] = links[k, j] = z
    assert supported([0, 1, 2], np.ones(4), links, 3.0) == [0, 1]
    assert supported([0, 1, 3, 2], np.ones(4), links, 3.0) == [0, 1, 3, 2]
