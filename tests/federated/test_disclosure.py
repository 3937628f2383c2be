"""Small counts are not handed out; and the reasons given for that hold."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import BernoulliMixture, IndependentBits, StatisticsError
from hiddenbits.federated.disclosure import GROUPS

pytestmark = pytest.mark.core


def with_count(what, count, n=60):
    """A table of three columns, the second of which has `count` ones, zeros or blanks."""
    X = np.tile([[0.0, 1.0], [1.0, 0.0]], (n // 2, 1))
    column = {"ones": [1.0, 0.0], "zeros": [0.0, 1.0], "blanks": [np.nan, 0.0]}[what]
    middle = np.where(np.arange(n) < count, *column)
    if what == "blanks":
        middle[-n // 2 + 1 :] = 1.0
    return np.column_stack([X[:, 0], middle, X[:, 1]])


def hand_out(X, sample_weight=None, **options):
    return IndependentBits(random_state=0).stats(X, sample_weight, **options)


@pytest.mark.parametrize("what", ["ones", "zeros", "blanks"])
def test_small_counts_of_a_column(what):
    for count in (1, 5, 9):
        with pytest.raises(StatisticsError, match=f"^1 counts .* minimum_count=10: {what} of column 1. ") as caught:
            hand_out(with_count(what, count))
        assert "remove such columns" in str(caught.value)
        assert f" {count}" not in str(caught.value).replace("column 1", "")  # the message may travel
    for count in (0, 10, 20):
        hand_out(with_count(what, count))
    hand_out(with_count(what, 3), minimum_count=3)
    hand_out(with_count(what, 1), minimum_count=0)
    hand_out(with_count(what, 1), minimum_count=1)


def test_names_and_numbers_of_columns_are_said():
    X = np.zeros((100, 9))
    X[:4] = 1.0
    table = hiddenbits.open_table(X, names=[f"code {j}" for j in range(9)])
    with pytest.raises(StatisticsError, match=r"^9 counts .*ones of column 0 \('code 0'\), .* and 4 more\. "):
        hand_out(table)


def test_a_weight_is_no_crowd():
    X = with_count("ones", 3)
    with pytest.raises(StatisticsError, match="ones of column 1"):
        hand_out(X, np.full(60, 100.0))
    X = with_count("ones", 12)
    hand_out(X, np.full(60, 0.01))
    weights = np.ones(60)
    weights[:9] = 0.0  # three ones are left
    with pytest.raises(StatisticsError, match="ones of column 1"):
        hand_out(X, weights)
    statistics = hand_out(X, weights, minimum_count=3)
    assert (statistics.rows, statistics.weight) == (51, 51.0)


def test_one_heavy_row_is_no_crowd():
    """One row of weight 1 among 499 of weight 1e-9: every sum is that row, to nine digits."""
    X = np.tile([[0.0, 1.0], [1.0, 0.0]], (250, 1))
    weights = np.full(500, 1e-9)
    hand_out(X, weights)
    weights[7] = 1.0
    sums = hand_out(X, weights, minimum_count=0).sums
    assert np.array_equal((sums.ones / sums.weight).round(6), X[7])
    with pytest.raises(StatisticsError, match=r"fewer than minimum_count=10 rows \(counted by their weights\)"):
        hand_out(X, weights)


@pytest.mark.parametrize("what", ["ones", "zeros", "blanks"])
@pytest.mark.parametrize("light", [1e-9, 1e-200])
def test_effective_rows_of_a_column(what, light):
    """Twenty heavy rows make a crowd; of 20 rows with the cell one is heavy, or all are light: 1 and 20 rows."""
    X = with_count(what, 20, n=100)
    weights = np.ones(100)
    weights[:20] = light
    hand_out(X, weights)  # light, and alike
    weights[0] = 1.0
    with pytest.raises(StatisticsError, match=f"^1 counts .*: {what} of column 1. "):
        hand_out(X, weights)


@pytest.mark.parametrize("seed", range(3))
def test_effective_rows_are_kishs(seed):
    """(Sum w)^2 / Sum w^2 decides to the last row, whatever the unit of the weights."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=200) * 10.0 ** rng.integers(-30, 30)
    X = with_count("ones", 40, n=200)
    effective = weights[:40].sum() ** 2 / (weights[:40] ** 2).sum()
    hand_out(X, weights, minimum_count=int(effective))
    with pytest.raises(StatisticsError, match=r"^1 counts .*: ones of column 1\. "):
        hand_out(X, weights, minimum_count=int(effective) + 1)


def test_a_short_table():
    X = np.ones((9, 2))
    with pytest.raises(StatisticsError, match="fewer than minimum_count=10 rows"):
        hand_out(X)
    hand_out(np.ones((10, 2)))
    with pytest.raises(StatisticsError, match="fewer than minimum_count=10 rows"):
        hand_out(np.ones((30, 2)), np.eye(30)[0] + np.eye(30)[7])


@pytest.fixture
def trained():
    """Two classes, learned elsewhere: mostly ones, mostly zeros."""
    rng = np.random.default_rng(0)
    X = rng.random((2000, 12)) < np.repeat([[0.9], [0.1]], 1000, axis=0)
    return BernoulliMixture(2, n_init=1, random_state=0).fit(X.astype(float))


def one_sided(rng, n=400):
    """Rows of the first class only, though every column has zeros enough."""
    return (rng.random((n, 12)) < 0.85).astype(float)


@pytest.mark.parametrize("weight", [None, 30.0])
def test_a_class_with_few_rows(trained, weight):
    X = one_sided(np.random.default_rng(1))
    weights = None if weight is None else np.full(400, weight)
    expected = trained.posterior(X).sum(axis=0)
    few = int(expected.argmin())
    assert 0 < expected[few] < 10
    with pytest.raises(StatisticsError, match=rf"^1 counts .*: rows of classes\[{few}\]\. .*fewer classes"):
        trained.stats(X, weights)
    trained.stats(X, weights, minimum_count=int(expected[few]))
    mixed = np.concatenate([X, 1.0 - X])
    assert trained.posterior(mixed).sum(axis=0).min() > 10
    trained.stats(mixed, site="mixed")


def test_effective_rows_of_a_class(trained):
    """A hundred rows of the second class, one of which outweighs the others."""
    X = np.concatenate([one_sided(np.random.default_rng(1), 500), 1.0 - one_sided(np.random.default_rng(2), 100)])
    few = int(trained.posterior(X).sum(axis=0).argmin())
    weights = np.ones(600)
    trained.stats(X, weights, site="alike")
    weights[501:] = 1e-6
    with pytest.raises(StatisticsError, match=rf"^1 counts .*: rows of classes\[{few}\]\. "):
        trained.stats(X, weights, site="heavy")


@pytest.mark.parametrize("seed", range(3))
def test_a_nearly_empty_class_is_the_profile_of_one_row(trained, seed):
    """Why even a millionth of an expected row is refused."""
    rng = np.random.default_rng(seed)
    X = np.ones((200, 12))
    X[np.arange(120), np.arange(120) % 12] = 0.0  # one zero each, ten in every column
    X[150] = np.concatenate([np.zeros(4), np.ones(8)])[rng.permutation(12)]
    sums = trained.stats(X, minimum_count=0).sums
    few = int(sums.classes.argmin())
    assert sums.classes[few] < 1e-3
    assert np.array_equal((sums.ones / sums.classes)[:, few].round(), X[150])
    with pytest.raises(StatisticsError, match="rows of classes"):
        trained.stats(X, site="again")


def test_statistics_that_nobody_thought_through(monkeypatch):
    monkeypatch.delitem(GROUPS, "IndependentBits")
    with pytest.raises(StatisticsError, match=r"IndependentBits cannot be checked for small counts.*minimum_count=0"):
        hand_out(with_count("ones", 20))
    hand_out(with_count("ones", 20), minimum_count=0)
