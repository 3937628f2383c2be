"""What `partial_fit` promises: it comes near to `fit`, never falls below independent bits, takes nothing from a fit.

Scores are of held-out rows, in nats a row. In short runs there are 6,000 rows to learn from instead of 15,000.
"""

import numpy as np
import pytest

import hiddenbits
from hiddenbits import TreeMixture
from hiddenbits.data import open_table
from hiddenbits.datasets import simulate_mixture
from hiddenbits.engine import Local, first_rows
from hiddenbits.engine.loops.online_em import FIRST_ROWS
from hiddenbits.families.logistic_pca.refine import RefinedLogistic
from hiddenbits.families.tree_mixture.model import Trees
from tests.contracts.online_cases import FAMILIES, learn

NEAR, FURTHEST = 0.05, 0.2  # behind `fit`, after three times through the rows: unless promises say why, and at most
NOT_LOST = 0.005  # of a fit, by further rows of the same kind
# The one measured exception, and how much it loses for a while (it ends 0.001 below): a `fit` to 6,000 rows of
# that table is itself 0.0035 below the one to 3,000. What the exception loses must stay within this.
LOSES_MORE = {("BinarySparseCoding", 0): 0.009}
FEWER_ROWS = 0.02  # independent bits of the tenth call's 5,000 rows may be so far below those of all rows


@pytest.mark.thin(9)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_partial_fit_comes_near_to_fit(name, seed, short):
    learned, promises = learn(name, seed, short=short), FAMILIES[name]._model().promises
    assert learned.gap <= promises.online_gap
    assert learned.above_independent >= -FEWER_ROWS
    if promises.closed_form:  # what is learned is `fit` to all rows, better or worse
        assert learned.further[-1] == pytest.approx(learned.fit, abs=1e-9)
    else:
        assert learned.lost <= (NOT_LOST if short else LOSES_MORE.get((name, seed), NOT_LOST))


def test_every_family_is_held_to_it():
    have = {name.partition(",")[0] for name in FAMILIES}
    assert have == {name for name in hiddenbits.__all__ if hasattr(getattr(hiddenbits, name), "fit")}


def test_a_wider_gap_has_its_reason():
    for estimator in FAMILIES.values():
        promises = estimator._model().promises
        assert promises.online_gap <= NEAR or (promises.online_gap <= FURTHEST and promises.why["online_gap"])


def test_running_links_are_those_of_the_present_trees():
    """Trees that change leave no counts of links with other parents behind: the average is that of pairs."""
    X = simulate_mixture(6_000, 8, 3, random_state=0).X
    model = TreeMixture(2, n_init=2, random_state=0)
    trees = set()
    for start in range(0, len(X), 200):
        model.partial_fit(X[start : start + 200])
        trees.add(model.parents_.tobytes())
    assert len(trees) > 1
    stats, p = model._running.stats, model._params
    for k in range(2):
        joint = dict(zip(zip(*np.triu_indices(8, 1), strict=True), stats.pairs[k], strict=True))
        for j, parent in enumerate(p.parents[:, k]):
            if parent < 0:
                continue
            above = stats.ones[parent, k] * model._fit_weight + model.sharing * p.prior_mean[parent]
            both = joint[min(j, parent), max(j, parent)] * model._fit_weight
            # The prior weighs 10.1 rows of thousands.
            assert p.if_one[j, k] == pytest.approx(both / above, abs=0.02)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_expected_pairs_of_trees_by_enumeration(n_classes):
    X = simulate_mixture(400, 5, 3, random_state=1).X
    params = TreeMixture(n_classes, n_init=1, random_state=0).fit(X)._params
    model = Trees(n_classes).online()
    stats = model.pseudo_statistics(params, 7.0)
    assert model.stats_flaw(stats, params) is None
    rows = ((np.arange(32)[:, None] >> np.arange(5)) & 1).astype(float)
    for k in range(n_classes):
        p = np.exp([model.log_joint(params, row, np.eye(n_classes)[k]) for row in rows])
        expected = (rows.T * p) @ rows
        np.testing.assert_allclose(stats.pairs[k], 7.0 * expected[np.triu_indices(5, 1)], atol=1e-12)
        np.testing.assert_allclose(stats.ones[:, k], 7.0 * np.diag(expected), atol=1e-12)


def test_a_fit_stands_still_at_what_it_expects():
    """Rows just as a refined map expects leave it where it is, and an online update of one group is a Newton step."""
    X = simulate_mixture(600, 6, 3, random_state=0).X
    model, params = RefinedLogistic(2), hiddenbits.LogisticPCA(2, random_state=0).fit(X)._params
    online = model.online()
    stats = online.pseudo_statistics(params, 600.0)
    assert online.stats_flaw(stats, params) is None
    moved = online.update(params, stats)
    np.testing.assert_allclose(model.to_vector(moved), model.to_vector(params), rtol=1e-6, atol=1e-8)


def test_a_long_first_table_is_begun_on_some_of_its_rows():
    X = simulate_mixture(20_000, 6, 2, random_state=0).X
    grid = open_table(X).grid(1000)
    assert first_rows(open_table(X[:500]).grid(1000), Local(), 0).table.shape == (500, 6)
    few = first_rows(grid, Local(), 0).table
    assert 0.9 * FIRST_ROWS < few.shape[0] < 1.1 * FIRST_ROWS
    assert few.weights.sum() == pytest.approx(20_000)
    again = first_rows(open_table(X).grid(700), Local(), 0).table
    np.testing.assert_array_equal(few.to_float(), again.to_float())  # however it is cut into blocks
