"""Copies of rows: when they are noticed, when common patterns are left alone, and groups that keep them together."""

import warnings

import numpy as np
import pytest

from hiddenbits import IndependentColumns, LatentClassAnalysis, evaluate, open_table
from hiddenbits.datasets import load_debd, simulate_mixture
from hiddenbits.evaluate.copies import copied_share
from hiddenbits.evaluate.splits import splits
from hiddenbits.exceptions import DuplicateRowsWarning
from hiddenbits.tables import hide_cells

pytestmark = [pytest.mark.core, pytest.mark.usefixtures("few_starts")]


def noise(seed, rows=60, columns=12):
    return np.random.default_rng(seed).integers(0, 2, (rows, columns))


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_noise_are_noticed_in_any_order(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(noise(seed), 10, axis=0)
    assert copied_share(open_table(rng.permutation(X))) == 1.0
    X = X.astype(float)
    X[:10, 0] = np.nan  # a blank is a value of its own
    assert copied_share(open_table(X)) == 1.0
    some = noise(seed, 400, 16)
    assert copied_share(open_table(np.concatenate([some, some[:200]]))) > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_common_patterns_are_not_copies(seed):
    """Rows that are drawn one by one repeat as well: few columns, few patterns, or classes with little noise."""
    rng = np.random.default_rng(seed)
    for X in (noise(seed, 500, 4), noise(seed, 500, 8), noise(seed)[rng.integers(0, 60, 600)]):
        assert copied_share(open_table(X)) is None
    kinds = noise(seed, 5, 30)[rng.integers(0, 5, 800)] ^ (rng.random((800, 30)) < 0.02)
    assert len(np.unique(kinds, axis=0)) < 700
    assert copied_share(open_table(kinds)) is None


def test_real_tables(real_data):
    """Silent where common patterns are normal; not where each row of SAT12 is there four times."""
    for name in ("votes/house84.csv", "survey/lsat.csv", "survey/psych_ability.csv"):
        assert copied_share(open_table(real_data / name, columns="binary")) is None, name
    assert copied_share(open_table(real_data / "baskets/groceries.txt.gz")) is None
    with np.load(real_data / "tables/news100.npz", allow_pickle=False) as held:
        assert copied_share(open_table(held["X"])) is None
    for name in ("nltcs", "plants", "kosarek"):
        assert copied_share(open_table(load_debd(name).train)) is None, name
    sat12 = open_table(real_data / "survey/sat12_binary.csv").to_float()
    assert copied_share(open_table(sat12)) is None
    assert copied_share(open_table(np.repeat(sat12, 4, axis=0))) == 1.0


@pytest.mark.slow
def test_all_that_hold_out_warn_unless_groups_are_given():
    X, copies = np.repeat(noise(0), 10, axis=0), np.repeat(np.arange(60), 10)
    model = LatentClassAnalysis(2, random_state=0)
    for work in (
        lambda **options: evaluate.compare(X, ["IndependentColumns"], measures=(), **options),
        lambda **options: evaluate.select(model, X, [1, 2], **options),
        lambda **options: evaluate.select(model, X, [1, 2], by="cells", **options),
        lambda **options: evaluate.held_out_cells(model, X, **options),
    ):
        with pytest.warns(DuplicateRowsWarning, match="groups="):
            work()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            work(groups=copies)


@pytest.mark.parametrize("cv", [None, 3, 0.3])
def test_groups_are_never_on_both_sides(cv):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([f"person {i}" for i in range(50)], rng.integers(1, 9, 50)))
    table = open_table(np.zeros((len(labels), 1)))
    dealt = splits(table, cv, 1, labels)
    for train, test in dealt:
        assert not set(labels[train]) & set(labels[test])
        assert len(train) + len(test) == len(labels)
    if cv != 0.3:
        assert len(np.unique(np.concatenate([test for _, test in dealt]))) == len(labels)
    alone = [splits(table, cv, 1, groups) for groups in (None, np.arange(len(labels)))]
    for one, other in zip(*alone, strict=True):
        assert np.array_equal(one.train, other.train)


def test_groups_that_cannot_be():
    table = open_table(np.zeros((6, 1)))
    with pytest.raises(ValueError, match="one label for each of the 6 rows"):
        splits(table, None, 0, [0, 1])
    with pytest.raises(ValueError, match="one group"):
        splits(table, None, 0, [1] * 6)
    with pytest.raises(ValueError, match="There are 2 groups"):
        splits(table, 3, 0, [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="one group in both training and test"):
        splits(table, [([0, 1, 2], [3, 4, 5])], 0, [0, 0, 1, 1, 1, 2])
    with pytest.raises(ValueError, match="one label for each of the"):
        hide_cells(table, 0.5, groups=[0, 1])
    from sklearn.model_selection import GroupKFold

    for train, test in splits(table, GroupKFold(2), 0, [0, 0, 1, 1, 2, 2]):
        assert len(train) + len(test) == 6


@pytest.mark.parametrize("columns", [3, 400_000])
def test_rows_of_a_group_have_the_same_cells_hidden(columns):
    """Wherever they are, and in whatever part of the table they are read; 400,000 columns make runs of two rows."""
    groups = np.array([4, 1, 4, 2, 1, 9])
    X = np.ones((6, columns), np.uint8)
    hidden = np.isnan(hide_cells(open_table(X), 0.4, random_state=3, groups=groups).to_float())
    plain = np.isnan(hide_cells(open_table(X), 0.4, random_state=3).to_float())
    for row, label in enumerate(groups):
        assert np.array_equal(hidden[row], plain[np.flatnonzero(groups == label)[0]])
    part = np.isnan(hide_cells(open_table(X[2:5]), 0.4, random_state=3, first_row=2, groups=groups).to_float())
    assert np.array_equal(part, hidden[2:5])


def test_tables_of_other_columns_are_left_alone():
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), 4, axis=0)
    assert copied_share(open_table(X, reals=True)) is None
    assert copied_share(open_table(simulate_mixture(50, 20, 2, random_state=0).X)) is None
    assert (
        evaluate.compare(np.repeat(X, 2, axis=0) > 0, [IndependentColumns()], measures=()).best == "IndependentColumns"
    )
