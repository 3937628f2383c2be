"""A fit to 1s and missing values warns that it can learn nothing, and what empty cells may mean."""

import warnings

import numpy as np
import pytest

from hiddenbits import (
    ClippedPCA,
    CombinationMachine,
    IndependentColumns,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    open_table,
)
from hiddenbits.exceptions import NoZerosWarning

X = np.where(np.random.default_rng(0).random((60, 4)) < 0.5, np.nan, 1.0)
X[:2] = 1.0


@pytest.mark.parametrize(
    "model",
    [
        IndependentColumns(),
        LatentClassAnalysis(2, max_iter=3),
        LogisticPCA(1, max_iter=3),
        NoisyOrNetwork(2, max_iter=3),
        CombinationMachine(2, max_iter=3),
        ClippedPCA(1, n_draws=16),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::hiddenbits.exceptions.DegeneratePairsWarning")
def test_every_fit_warns(model):
    with pytest.warns(NoZerosWarning, match=r"1s and missing values .* but no 0s.*empty='zero'") as caught:
        model.fit(X)
    assert sum(issubclass(one.category, NoZerosWarning) for one in caught) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_no_warning_without_a_reason(seed):
    rng = np.random.default_rng(seed)
    one_zero = X.copy()
    one_zero[rng.integers(2), rng.integers(4)] = 0.0
    weights = rng.random(60) + 0.1  # a zero of little weight is a zero
    weights[:2] = 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoZerosWarning)
        for table in (one_zero, np.ones((60, 4)), np.nan_to_num(X), open_table(X, empty="zero")):
            LatentClassAnalysis(1, max_iter=2).fit(table, sample_weight=weights)
    with pytest.warns(NoZerosWarning):
        LatentClassAnalysis(1, max_iter=2).fit(X, sample_weight=weights)
