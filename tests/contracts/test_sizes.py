"""Sizes that no table can support are refused at once, with the largest that it can; all others are fitted."""

import numpy as np
import pytest
from sklearn.base import clone

from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
    open_table,
)
from hiddenbits.families._base.persistence import ESTIMATORS
from hiddenbits.families._base.sizes import refuse_unsupported
from tests.contracts.test_fit import structured_rows

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

ROWS = structured_rows(np.random.default_rng(0), 40, 6, missing=False)
BY_ROWS = [
    (LatentClassAnalysis, "classes"),
    (TreeMixture, "classes"),
    (HiddenTree, "states"),
    (CombinationMachine, "units"),
    (NoisyOrNetwork, "causes"),
    (BinarySparseCoding, "causes"),
]
BY_COLUMNS = [LogisticPCA, ClippedPCA, TopographicMap]


def refusal(estimator, rows=ROWS, fit="fit"):
    with pytest.raises(ValueError, match="this table cannot support") as caught:
        getattr(estimator, fit)(rows)
    return str(caught.value)


def accepts(estimator, rows=ROWS):
    """Whether the check passes; fits of the largest sizes would take long."""
    return refuse_unsupported(estimator, open_table(rows)) is None


@pytest.mark.parametrize("size", [41, 10**6])
@pytest.mark.parametrize(("family", "word"), BY_ROWS)
def test_more_parts_than_rows(family, word, size):
    said = refusal(family(size))
    assert said.startswith(f"{family.__name__}(n_components={size}): this table cannot support {size:,} {word}")
    assert said.endswith("because it has 40 rows (n_samples=40). Use at most 40.")
    assert accepts(family(40))


@pytest.mark.parametrize("size", [7, 500])
@pytest.mark.parametrize("family", BY_COLUMNS)
def test_more_dimensions_than_columns(family, size):
    for fit in ("fit", "partial_fit"):
        assert refusal(family(size), fit=fit).endswith("because it has 6 columns (n_features=6). Use at most 6.")
    assert accepts(family(6))


def test_largest_sizes_are_fitted():
    for estimator in (
        LatentClassAnalysis(40, max_iter=2),
        LogisticPCA(6, max_iter=2),
        NoisyOrNetwork((2, 40), max_iter=1),
    ):
        clone(estimator).set_params(n_init=1).fit(ROWS)


def test_the_largest_layer_counts():
    assert "(n_components=(3, 100)): this table cannot support 100 causes" in refusal(NoisyOrNetwork((3, 100)))


def test_points():
    said = refusal(TopographicMap(n_points=40_001))
    assert said.endswith(
        "because it has 40 rows (n_samples=40), and 1,000 for each are more than enough. Use at most 40,000."
    )
    assert accepts(TopographicMap(n_points=40_000))


def test_weights_stand_for_rows():
    """Twenty patterns with counts are a table of as many rows as they count; small weights do not take rows away."""
    model = LatentClassAnalysis(41)
    for weights, fits in ((np.full(40, 2.0), True), (np.full(40, 0.1), False)):
        table = open_table(ROWS).with_weights(weights)
        if fits:
            assert accepts(model, table)
        else:
            assert "Use at most 40." in refusal(model, table)
    assert accepts(LatentClassAnalysis(40), open_table(ROWS).with_weights(np.full(40, 1e-3)))


def test_more_classes_than_different_rows():
    """Six columns have 64 different rows, however many rows there are; a hundred classes do no harm."""
    many = np.tile(ROWS, (50, 1))
    assert refusal(LatentClassAnalysis(1000), many).endswith(
        "because it has 6 columns (n_features=6), so that there are 64 different rows. Use at most 64."
    )
    assert accepts(LatentClassAnalysis(100), many)
    assert accepts(LatentClassAnalysis(1000), np.ones((2000, 10)))


def test_pieces_may_have_fewer_rows_than_classes():
    LatentClassAnalysis(5, random_state=0).partial_fit(ROWS[:4]).partial_fit(ROWS)


def test_words_are_not_sizes():
    assert accepts(ClippedPCA("parallel"))


def test_every_estimator_with_a_size_says_what_it_needs():
    without = {"IndependentColumns"}
    assert {name for name, home in ESTIMATORS.items() if not getattr(home(), "_hidden_parts", ())} == without
