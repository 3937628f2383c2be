"""Groups of columns of which exactly one is 1: found from counts of pairs, against the rule row by row."""

import numpy as np
import pytest

from hiddenbits.diagnostics.exclusive_groups import exclusive_groups

pytestmark = pytest.mark.core


def counted(X):
    """Counts of pairs of a table with NaN for blanks."""
    seen = (~np.isnan(X)).astype(float)
    ones = np.nan_to_num(X)
    return exclusive_groups(ones.T @ ones, seen.T @ seen)


def one_hot(rng, n, sizes):
    """Answers to questions with so many answers, a column each; every answer is given."""
    answers = [np.concatenate([np.arange(k), rng.integers(0, k, n - k)]) for k in sizes]
    return [np.eye(k)[rng.permutation(a)] for a, k in zip(answers, sizes, strict=True)]


@pytest.mark.parametrize("seed", range(5))
def test_questions_are_found_wherever_their_columns_are(seed):
    """Independent questions and free columns, in any order: exactly the questions come back."""
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 6)
    X = np.concatenate([*one_hot(rng, 300, sizes), rng.integers(0, 2, (300, 4))], axis=1)
    owner = np.concatenate([np.repeat(np.arange(3), sizes), np.full(4, 3)])
    order = rng.permutation(15)
    expected = sorted(tuple(np.flatnonzero(owner[order] == k).tolist()) for k in range(3))
    assert counted(X[:, order]) == expected


def test_a_row_with_two_or_none_is_no_group():
    rng = np.random.default_rng(0)
    (X,) = one_hot(rng, 100, (4,))
    assert counted(X) == [(0, 1, 2, 3)]
    none, two = X.copy(), X.copy()
    none[7] = 0.0
    two[7] = [1.0, 1.0, 0.0, 0.0]
    assert counted(none) == counted(two) == []


def test_blanks_of_a_whole_question_are_allowed_and_others_are_not():
    rng = np.random.default_rng(1)
    (X,) = one_hot(rng, 100, (3,))
    X[:20] = np.nan
    assert counted(X) == [(0, 1, 2)]
    X[50, 0] = np.nan  # the rest of the row may be one answer or none: pairs cannot say
    assert counted(X) == []


def test_weights_and_constant_columns():
    rng = np.random.default_rng(2)
    X = np.concatenate([*one_hot(rng, 50, (3,)), np.zeros((50, 1)), np.ones((50, 1))], axis=1)
    weights = rng.random(50)
    assert exclusive_groups(X.T @ (weights[:, None] * X), np.full((1, 1), weights.sum())) == [(0, 1, 2)]


def test_the_search_ends():
    """200 columns that are 1 in one row each, of 150 rows: disjoint columns abound, groups may not be found."""
    rng = np.random.default_rng(3)
    X = np.eye(150)[rng.integers(0, 150, 200)].T
    assert all((X[:, list(group)].sum(axis=1) == 1).all() for group in counted(X))
