"""Tables in which nothing, or a column of nothing, was recorded: one behavior of all estimators."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from hiddenbits import BinarySparseCoding, CombinationMachine, tetrachoric
from hiddenbits.exceptions import TableError, UnobservedColumnsWarning
from hiddenbits.options import Annealing
from tests.contracts.conftest import table_of
from tests.contracts.test_fit import structured_rows

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


def short(estimator):
    few = {"max_iter": 3, "n_init": 1}
    return clone(estimator).set_params(**{name: few[name] for name in few.keys() & estimator.get_params().keys()})


@pytest.mark.parametrize("weighted", [False, True], ids=["all missing", "rows without a weight"])
def test_a_table_without_recorded_cells_is_refused(case, weighted):
    rows, weights = np.full((20, 5), np.nan), None
    if weighted:
        rows[10:], weights = 1.0, np.repeat([1.0, 0.0], 10)
    with pytest.raises(TableError, match="No cell of the table is recorded: all cells are missing"):
        short(case.estimator).fit(rows, sample_weight=weights)


def test_a_first_piece_without_recorded_cells_is_refused(case):
    if not hasattr(case.model, "pseudo_statistics"):
        pytest.skip("it does not learn online")
    with pytest.raises(TableError, match="No cell of the table is recorded"):
        short(case.estimator).partial_fit(np.full((20, 5), np.nan))


@pytest.mark.thin(2)
@pytest.mark.parametrize("mask", ["dense", "missing-pattern", "observed-pattern"])
def test_a_column_without_recorded_cells_is_named(case, mask):
    """The fit goes on: the column has probabilities, of the prior or the start, and makes no row less likely."""
    rows = structured_rows(np.random.default_rng(0), 80, 6, missing=True)
    rows[:, 2] = np.nan
    with warnings.catch_warnings(record=True, action="always") as caught:
        model = short(case.estimator).fit(table_of(rows, mask=mask))
    told = [str(one.message) for one in caught if one.category is UnobservedColumnsWarning]
    assert len(told) == 1
    assert told[0].startswith("1 of 6 columns have no recorded cell, not counting rows of weight 0: 2. ")
    filled = model.complete(rows)
    assert ((filled >= 0.0) & (filled <= 1.0)).all()
    assert np.isfinite(model.score_samples(rows)).all()


def test_tables_with_recorded_columns_bring_no_warning(case):
    rows = structured_rows(np.random.default_rng(1), 80, 6, missing=False)
    rows[1:, 2] = np.nan
    rows[0, 2] = 0.0  # a single cell
    with warnings.catch_warnings(action="error", category=UnobservedColumnsWarning):
        short(case.estimator).fit(rows)


@pytest.mark.parametrize(
    "estimator",
    [
        CombinationMachine(1, visible="reals", start="noise", max_iter=3, random_state=0),
        BinarySparseCoding(3, schedule=Annealing(n_passes=2), n_init=1, max_iter=3, random_state=0),
    ],
    ids=["machine", "coding"],
)
def test_tables_of_reals_too(estimator):
    X = np.random.default_rng(0).standard_normal((40, 4))
    with pytest.raises(TableError, match="No cell of the table is recorded"):
        clone(estimator).fit(np.full(X.shape, np.nan))
    X[:, 1] = np.nan
    with pytest.warns(
        UnobservedColumnsWarning, match="1 of 4 columns have no recorded cell, not counting rows of weight 0: 1"
    ):
        estimator.fit(X)


def test_correlations_of_nothing_are_refused():
    with pytest.raises(TableError, match="No cell of the table is recorded"):
        tetrachoric(np.full((20, 3), np.nan))
