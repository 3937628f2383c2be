"""Mixtures of trees against brute force over all trees, and the compiled functions against the readable ones."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from hiddenbits.data.summary import summarize
from hiddenbits.engine import Key, Local, Settings, fit_em
from hiddenbits.families.tree_mixture import model as tree_model
from hiddenbits.families.tree_mixture import rows as tree_rows
from hiddenbits.families.tree_mixture.estimator import TreeSearch
from hiddenbits.families.tree_mixture.model import Trees
from hiddenbits.maths import chow_liu
from hiddenbits.maths.chow_liu import heaviest_forest, link_gains, n_pairs, pair_number, top_down
from tests.contracts.conftest import table_of
from tests.families.tree_mixture.tree_data import forests, links_of, random_forests, table_log_likelihood

pytestmark = pytest.mark.core


@pytest.fixture(params=["numpy", "numba"])
def kernels(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
        return
    for module in (chow_liu, tree_rows):
        monkeypatch.setattr(module, "fast_kernels", lambda: None)


def test_brute_force_knows_all_trees():
    """Cayley: d^(d-2) trees."""
    assert sum(len(links) == 4 for links in forests(5)) == 5**3


@pytest.mark.parametrize("seed", range(10))
def test_heaviest_forest_by_brute_force(kernels, seed):
    rng = np.random.default_rng(seed)
    d, penalty = int(rng.integers(1, 6)), float(rng.choice([0.0, 0.5]))
    gains = np.round(rng.uniform(0, 1, n_pairs(d)), 1)  # with ties
    parents = heaviest_forest(gains, d, penalty)
    assert len(top_down(parents)) == d
    ours = sum(gains[pair_number(i, j, d)] - penalty for i, j in links_of(parents))
    best = max(sum(gains[pair_number(i, j, d)] - penalty for i, j in links) for links in forests(d))
    assert ours == pytest.approx(best, abs=1e-12)


def test_lowest_columns_are_roots_and_win_ties(kernels):
    assert heaviest_forest(np.ones(n_pairs(4)), 4).tolist() == [-1, 0, 0, 0]
    gains = np.zeros(n_pairs(5))
    gains[pair_number(1, 4, 5)] = gains[pair_number(2, 3, 5)] = 1.0
    assert heaviest_forest(gains, 5, penalty=0.5).tolist() == [-1, -1, -1, 2, 1]


@pytest.mark.parametrize("seed", range(3))
def test_gains_are_mutual_information(seed):
    x = (np.random.default_rng(seed).random((300, 6)) < 0.4).astype(float)
    x[:, 3] = x[:, 1]  # equal columns: the other two cells are empty
    both = (x.T @ x)[np.triu_indices(6, 1)]
    gains = link_gains(both, x.sum(axis=0), 300.0, 1e-12)
    truth = [300 * mutual_info_score(x[:, i], x[:, j]) for i, j in zip(*np.triu_indices(6, 1), strict=True)]
    np.testing.assert_allclose(gains, truth, rtol=0, atol=1e-9)


def test_a_circle_is_no_forest():
    assert top_down(np.array([-1, 2, 3, 1, 0])).tolist() == [0, 4]


def fitted(model, rows, weights=None, **settings):
    grid = table_of(rows, weights=weights).grid(256)
    return fit_em(model, grid, Local(), Settings(**{"tol": 1e-8, **settings}), None, None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("smoothing", "sharing", "penalty"), [(0.0, 0.0, 0.0), (2.0, 0.0, 1.0), (0.5, 5.0, 2.0)])
def test_one_tree_is_the_best_of_all(seed, smoothing, sharing, penalty):
    """One class: over all forests of five columns, the largest penalized log-likelihood of weighted counts and prior.

    The prior's rows are s / 4 for each table of a pair of coins, and the table's own pairs.
    """
    rng = np.random.default_rng(seed)
    rows, weights = Trees().sample(random_forests(5, 2, rng), 60, rng)[0].astype(float), rng.uniform(0.5, 2.0, 60)
    outcome = fitted(TreeSearch(1, smoothing, sharing, penalty), rows, weights)
    means = (weights @ rows + 0.5) / (weights.sum() + 1.0)  # of the table, as the prior has them

    def pair_table(i, j):
        one = weights @ (rows[:, i] * rows[:, j]) / weights.sum()
        cov = one - (weights @ rows[:, i]) * (weights @ rows[:, j]) / weights.sum() ** 2
        shared = cells(means[i] * means[j] + cov, means[i], means[j])
        data = cells(one, *(weights @ rows[:, [i, j]] / weights.sum()))
        return weights.sum() * data + sharing * shared + smoothing / 4

    def cells(one, first, second):
        return np.array([[1 - first - second + one, second - one], [first - one, one]])

    def objective(links):
        columns = [table_log_likelihood(pair_table(j, (j + 1) % 5).sum(axis=1)) for j in range(5)]
        gains = [
            table_log_likelihood(t) - table_log_likelihood(t.sum(axis=0)) - table_log_likelihood(t.sum(axis=1))
            for t in (pair_table(i, j) for i, j in links)
        ]
        return sum(columns) + sum(gains) - penalty * len(links)

    best = max(objective(links) for links in forests(5))
    assert outcome.trace[-1] == pytest.approx(best, abs=1e-8)
    assert objective(links_of(outcome.params.parents[:, 0])) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_every_pass_rises_where_there_are_trees(kernels, seed, missing):
    """Looks for trees among them, of one class at a time: no step falls beyond rounding."""
    rng = np.random.default_rng(seed)
    truth = random_forests(8, 2, rng, 0.15)
    rows = Trees().sample(truth, 400, rng)[0].astype(float)
    rows[rng.random(rows.shape) < missing] = np.nan
    outcome = fitted(TreeSearch(3, penalty=1.0, first_passes=2), rows, tol=1e-6, seed=seed, accelerate=False)
    assert (np.diff(outcome.trace) >= -1e-12 * abs(outcome.trace[-1])).all()
    assert outcome.restarts[0].reason == "converged"
    assert outcome.params.has_parent.any()


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_trees_are_found(seed, missing):
    """3,000 rows of two trees over ten columns, one with few ones and one with many: the links of both."""
    rng = np.random.default_rng(seed)
    truth = random_forests(10, 2, rng)
    classes = np.array([[0.1, 0.3]] * 10)
    if_zero = np.where(truth.has_parent, classes, [0.3, 0.7])
    if_one = np.where(truth.has_parent, classes + 0.6, if_zero)
    truth = replace(truth, if_zero=if_zero, if_one=if_one)
    rows = Trees().sample(truth, 3000, rng)[0].astype(float)
    rows[rng.random(rows.shape) < missing] = np.nan
    outcome = fitted(TreeSearch(2, sharing=0.0), rows, tol=1e-4, seed=seed, n_init=2)
    found, wanted = ([links_of(parents) for parents in p.parents.T] for p in (outcome.params, truth))
    assert found in (wanted, wanted[::-1])


def test_every_other_restart_begins_with_trees():
    model = TreeSearch(3, first_passes=7)
    assert [model.passes_before_search(restart, 0) for restart in range(4)] == [7, 0, 7, 0]
    assert [model.passes_before_search(restart, 1) for restart in range(4)] == [0, 0, 0, 0]


def test_classes_in_turn(monkeypatch):
    """Where pair counts of all classes are too many, an iteration searches some, and the next ones the others."""
    rng = np.random.default_rng(0)
    truth = random_forests(8, 3, rng)
    rows = Trees().sample(truth, 1500, rng)[0].astype(float)
    monkeypatch.setattr(tree_model, "MAX_PAIR_COUNTS", n_pairs(8))
    model, table = Trees(3), table_of(rows).grid(2048)
    params = model.start(table_summary(table), Key(0), lambda function: function(table.blocks[0]))
    for part in range(model.n_parts(8)):
        searching = replace(model, part=part)
        params = searching.update(params, searching.expect(params, None, table.blocks[0], None, None)[0])
        assert params.has_parent.any(axis=0).tolist() == [k <= part for k in range(3)]
    alone = fitted(TreeSearch(3, first_passes=5), rows, tol=1e-7)
    assert (np.diff(alone.trace) >= -1e-12 * abs(alone.trace[-1])).all()
    assert alone.restarts[0].reason == "converged"
    assert alone.params.has_parent.any(axis=0).all()


def table_summary(grid):
    return summarize(grid.blocks[0])


@pytest.mark.parametrize("storage", ["dense", "csr", "packed"])
@pytest.mark.parametrize("seed", range(2))
def test_compiled_functions_are_twins(monkeypatch, storage, seed):
    pytest.importorskip("numba")
    rng = np.random.default_rng(seed)
    params = random_forests(13, 4, rng)
    weights = rng.uniform(0.5, 2, 70) if seed else np.full(70, 1.5)  # equal ones: certain rows are counted as bits
    block = table_of((rng.random((70, 13)) < 0.3) * 1.0, storage, weights=weights).grid(70).blocks[0]
    r = rng.dirichlet(np.full(4, 0.02), 70) * block.weights[:, None]
    assert (r >= (1.0 - tree_rows.NEGLIGIBLE_PAIR_SHARE) * block.weights[:, None]).any(axis=0).all()

    def all_of_them():
        gains = rng_gains.copy()
        return [
            *tree_rows.posterior(params, block, block.weights),
            *tree_rows.posterior(params, block, block.weights, count=False),
            tree_rows.pair_counts(block, r),
            heaviest_forest(gains, 13, 0.2),
        ]

    rng_gains = rng.uniform(0, 1, n_pairs(13))
    fast = all_of_them()
    monkeypatch.setattr(chow_liu, "fast_kernels", lambda: None)
    monkeypatch.setattr(tree_rows, "fast_kernels", lambda: None)
    for ours, plain in zip(fast, all_of_them(), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-8)  # of pairs, shares below 1e-10 are left out


def test_messages_of_long_rows_do_not_vanish():
    """A star of 2,000 columns that contradict its middle: a hand-made sum, where products would be 0."""
    d = 2000
    params = random_forests(d, 1, np.random.default_rng(0))
    star = np.concatenate([[-1.0], np.zeros(d - 1)])[:, None]
    p0, p1 = np.full((d, 1), 0.001), np.full((d, 1), 0.999)
    p0[0] = p1[0] = 0.5
    params = replace(params, parent_columns=star, if_zero=p0, if_one=p1)
    row = np.concatenate([[np.nan], np.ones(1000), np.zeros(999)])[None, :]
    block = table_of(row).grid(1).blocks[0]
    given = np.array([1000 * np.log(0.001) + 999 * np.log(0.999), 1000 * np.log(0.999) + 999 * np.log(0.001)])
    model = Trees(1)
    truth = np.logaddexp(*given) + np.log(0.5)
    assert model.log_likelihood(params, None, block)[0] == pytest.approx(truth, rel=1e-12)
    assert model.fill(params, None, block)[0, 0] == pytest.approx(1 / (1 + np.exp(given[0] - given[1])), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parent_columns": np.array([[1.0], [0.0], [-1.0]])}, "cycle"),
        ({"parent_columns": np.array([[-1.0], [3.0], [0.0]])}, "columns, or -1"),
        ({"parent_columns": np.array([[-1.0], [0.5], [0.0]])}, "columns, or -1"),
        ({"parent_columns": np.array([[-1.0], [-1.0], [0.0]])}, "one probability"),
        ({"weights": np.array([0.9])}, "add up"),
        ({"if_one": np.ones((3, 1))}, "between 0 and 1"),
        ({"prior_both": np.zeros(2)}, "shapes"),
        ({"if_zero": np.full((2, 1), 0.5)}, "shape"),
    ],
)
def test_unlawful_parameters_are_named(change, said):
    params = random_forests(3, 1, np.random.default_rng(0))
    assert params.flaw() is None
    assert said in replace(params, **change).flaw()
