"""A tree of maps: planted groups are split apart, one map is not, and the leaves are the mixture they say they are."""

from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

import hiddenbits
from hiddenbits import LogisticPCAMixture, map_tree, open_table
from hiddenbits.families.logistic_pca_mixture.tree import _gain

SPLIT = LogisticPCAMixture(1, n_maps=2, n_init=2, random_state=0)


def rows_of_maps(n_groups, seed, n=300, d=20):
    """Rows of several maps of one dimension, each with intercepts and loadings of its own."""
    rng = np.random.default_rng(seed)
    W, b = 1.5 * rng.standard_normal((n_groups, d)), 2.0 * rng.standard_normal((n_groups, d))
    group = np.repeat(np.arange(n_groups), n)
    A = W[group] * rng.standard_normal((len(group), 1)) + b[group]
    return (rng.random(A.shape) < 1.0 / (1.0 + np.exp(-A))).astype(float), group


@cache
def planted(seed=0):
    X, group = rows_of_maps(3, seed)
    return X, group, map_tree(X, SPLIT, max_levels=4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_groups_are_found_and_not_split_further(seed):
    X, group, tree = planted(seed)
    assert [len(level.weights_) for level in tree.levels] == [1, 2, 3]
    best = tree.responsibilities(X)[-1].argmax(axis=1)
    counts = np.array([np.bincount(best[group == k], minlength=3) for k in range(3)])
    assert counts.max(axis=1).sum() > 0.95 * len(X)
    assert set(counts.argmax(axis=1)) == {0, 1, 2}
    # Both steps were clear, and each of the three leaves was tried and left alone.
    assert [said.kept for said in tree.splits].count(True) == 2
    assert tree.scores[0] < tree.scores[1] < tree.scores[2]
    assert all(said.kept == (said.gain > 2.0 * said.standard_error) for said in tree.splits)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_map_is_not_split(seed):
    X, _ = rows_of_maps(1, seed, n=500)
    tree = map_tree(X, SPLIT)
    assert len(tree.levels) == 1
    assert [said.kept for said in tree.splits] == [False]
    assert tree.names == (("1",),)


def log_p_on_a_grid(one, X):
    """Return ln P(row | map) by a sum over places from -8 to 8: exact to rounding for loadings of ordinary size."""
    z = np.arange(-8.0, 8.0001, 0.02)
    A = z[:, None] * one.components_[0] + one.intercepts_
    log_p = X @ A.T - np.logaddexp(0.0, A).sum(axis=1)
    return logsumexp(log_p - 0.5 * z * z - 0.5 * np.log(2.0 * np.pi) + np.log(0.02), axis=1)


def test_leaves_are_the_mixture_of_their_maps():
    X, _, tree = planted()
    for level, shares in zip(tree.levels, tree.responsibilities(X), strict=True):
        joint = np.stack([log_p_on_a_grid(one, X) for one in level.maps_], axis=1) + np.log(level.weights_)
        whole = np.logaddexp.reduce(joint, axis=1)
        assert np.allclose(level.score_samples(X), whole, rtol=0, atol=1e-7)
        assert np.allclose(shares, np.exp(joint - whole[:, None]), rtol=0, atol=1e-7)
    held = X[tree.held_out]
    assert tree.scores == pytest.approx([level.score(held) for level in tree.levels], abs=1e-9)


def test_children_stay_with_their_parents():
    """Each level is fitted together at its end, which may move maps: but not their order, nor many rows."""
    X, _, tree = planted()
    shares = tree.responsibilities(X)
    for depth in (1, 2):
        parents = np.array(tree.parents[depth])
        above = np.stack(
            [shares[depth][:, parents == k].sum(axis=1) for k in range(shares[depth - 1].shape[1])], axis=1
        )
        assert np.abs(above - shares[depth - 1]).mean() < 0.03
        for name, parent in zip(tree.names[depth], parents, strict=True):
            assert name.startswith(tree.names[depth - 1][parent])
    assert tree.parents[:2] == ((-1,), (0, 0))


def test_a_level_ends_at_a_maximum():
    """EM over all maps of a level gains nothing more, and the levels are ordinary estimators."""
    X, _, tree = planted()
    train = np.delete(X, tree.held_out, axis=0)
    for level in tree.levels:
        assert type(level) is LogisticPCAMixture
        again = level.refit(train)
        assert again.trace_[-1] - level.trace_[-1] < 1e-3 * len(train)


def test_held_out_rows_are_not_fitted():
    X, _ = rows_of_maps(2, 0, n=100)
    tree = map_tree(X, SPLIT, max_levels=1)
    other = X.copy()
    other[tree.held_out] = 1.0 - other[tree.held_out]
    again = map_tree(other, SPLIT, max_levels=1)
    assert np.array_equal(tree.held_out, again.held_out)
    assert len(tree.held_out) == 50
    assert np.array_equal(tree.leaves.params_.joints, again.leaves.params_.joints)
    assert tree.scores != again.scores


def test_three_children_blanks_and_frames():
    pandas = pytest.importorskip("pandas")
    X, group = rows_of_maps(3, 1)
    X[::7, 3] = np.nan
    frame = pandas.DataFrame(X, columns=[f"item {j}" for j in range(X.shape[1])])
    tree = map_tree(frame, LogisticPCAMixture(1, n_maps=3, n_init=4, random_state=0), max_levels=2)
    assert tree.names[1] == ("1.1", "1.2", "1.3")
    assert list(tree.leaves.feature_names_in_) == list(frame.columns)
    best = tree.responsibilities(frame)[1].argmax(axis=1)
    assert sum(np.bincount(best[group == k]).max() for k in range(3)) > 0.95 * len(X)


def test_the_leaves_can_be_saved(tmp_path):
    X, _, tree = planted()
    tree.leaves.save(tmp_path / "leaves")
    assert np.array_equal(hiddenbits.load(tmp_path / "leaves").score_samples(X), tree.leaves.score_samples(X))


def test_weights_count_as_rows():
    rng = np.random.default_rng(0)
    difference, weights = rng.standard_normal(40), rng.integers(1, 5, 40)
    table = open_table(np.zeros((40, 2)) + np.eye(40, 2)).with_weights(weights.astype(float))
    repeated = np.repeat(difference, weights)
    expected = repeated.mean(), repeated.std(ddof=1) / np.sqrt(len(repeated))
    assert _gain(difference, table) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("split", "options", "words"),
    [
        (LogisticPCAMixture(1, n_maps=1), {}, "split into 2 or more"),
        (SPLIT, {"max_levels": 0}, "max_levels"),
        (SPLIT, {"validation_fraction": 1.0}, "validation_fraction"),
        (SPLIT, {"standard_errors": -1.0}, "standard_errors"),
        (SPLIT, {"validation_fraction": 0.001}, "too few"),
    ],
)
def test_what_is_refused(split, options, words):
    X, _ = rows_of_maps(1, 0, n=50)
    with pytest.raises(ValueError, match=words):
        map_tree(X, split, **options)
