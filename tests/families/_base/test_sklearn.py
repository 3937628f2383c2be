"""scikit-learn's own checks on every estimator.

The checks feed real numbers, and most of this library takes bits: they run with ``threshold=0.0``, which turns numbers
into bits and leaves every other path as it is.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hiddenbits.families._base.persistence import ESTIMATORS

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

NO_CLASSIFIER = "the check takes whatever has predict_proba and sparse tables for a classifier"
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), NO_CLASSIFIER)
    for name in ("LatentClassAnalysis", "TreeMixture")
}


# What would only make the same checks take longer: all stages and restarts are those of LogisticPCA and the engine.
SHORTER = {
    "CombinationMachine": {"n_init": 1},
    "BinarySparseCoding": {"n_init": 1},
    "TopographicMap": {"n_points": 64, "n_features": 16},
}


def _expected_failures(estimator):
    has_bits = getattr(estimator, "column_types", None) != "continuous"
    return EXPECTED_FAILURES.get(type(estimator).__name__, {}) if has_bits else {}


def instances():
    reals = {"BinarySparseCoding"}  # which takes the numbers as they are
    bits = {"threshold": 0.0}
    every = ESTIMATORS.items()
    of_numbers = [
        ESTIMATORS[name]()(column_types="continuous") for name in ("LatentClassAnalysis", "IndependentColumns")
    ]
    covariances = ESTIMATORS["LatentClassAnalysis"]()(column_types="continuous", covariance_type="full")
    of_bits = [make()(**({} if name in reals else bits), **SHORTER.get(name, {})) for name, make in every]
    return [*of_bits, *of_numbers, covariances]


@pytest.mark.thin(7)
@parametrize_with_checks(instances(), expected_failed_checks=lambda estimator: _expected_failures(estimator))
def test_scikit_learn_check(estimator, check):
    check(estimator)
