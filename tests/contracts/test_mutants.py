"""The contracts can fail: in a model that keeps all of them, each mistake below breaks the one that is named with it.

The model is the worked example (tests/families/worked_model), which is so held to the contracts too.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone

from hiddenbits.model_api import Footprint
from tests.contracts import (
    test_expect,
    test_fit,
    test_footprint,
    test_methods,
    test_n_parameters,
    test_pseudo_statistics,
    test_same_bits,
)
from tests.contracts.cases import Case
from tests.families.worked_model.silent_rows import SilentParams, SilentRows, SilentRowsMixture

pytestmark = pytest.mark.core


def silent_params(d, rng):
    return SilentParams(rng.dirichlet([2.0, 2.0]), rng.uniform(0.05, 0.95, d))


def silent_statistics(x, observed, h):
    return {"classes": h, "ones": x * observed * h[1], "observed": observed * h[1]}


def logits(params):
    return logit(np.append(params.weights[1], params.probabilities))


def from_logits(vector, params):
    active, *probabilities = expit(vector)
    return SilentParams(np.array([1.0 - active, active]), np.array(probabilities))


def case_of(model=SilentRows, estimator=SilentRowsMixture):
    """The case of the worked model, or of one with a mistake in its model or its estimator."""
    mistaken = type(estimator.__name__, (estimator,), {"_model": lambda self: model(self.silent_rate)})
    return Case(
        "SilentRows", model(), mistaken(random_state=0), silent_params, silent_statistics, {"silent_rate": 0.05}
    )


# ------------------------------------------------------------------------------------------------------- mistakes


class OneShareTooMany(SilentRowsMixture):
    @property
    def n_parameters_(self):
        return 2 + self.n_features_in_


class SwappedOnes(SilentRows):
    def pseudo_statistics(self, params, weight):
        stats = super().pseudo_statistics(params, weight)
        return replace(stats, ones=stats.observed, observed=stats.ones)


class SwappedClasses(SilentRows):
    def pseudo_statistics(self, params, weight):
        stats = super().pseudo_statistics(params, weight)
        return replace(stats, classes=stats.classes[::-1])


class NoColumns(SilentRows):
    def footprint(self, n_columns, row_cells):
        return replace(super().footprint(n_columns, row_cells), working=4)


class AllColumnsSquared(SilentRows):
    def footprint(self, n_columns, row_cells):
        return replace(super().footprint(n_columns, row_cells), working=n_columns**2)


class NoStatistics(SilentRows):
    def footprint(self, n_columns, row_cells):
        return Footprint(working=n_columns + 4, statistics=2, flops=8 * row_cells)


class WrongSign(SilentRows):
    def update(self, params, stats):
        return super().update(params, replace(stats, ones=stats.observed - stats.ones))


class WrongSignOfPrior(SilentRows):
    def update(self, params, stats):
        return super().update(params, replace(stats, ones=stats.ones - 1.0, observed=stats.observed - 2.0))


class ObjectiveWithoutPrior(SilentRows):
    def objective(self, params, stats):
        return float(stats.bound)


class MeanOfRows(SilentRows):
    def expect(self, params, shared, block, carry, key):
        stats, kept = super().expect(params, shared, block, carry, key)
        return replace(stats, classes=stats.classes / block.n_rows), kept


class WithoutWeights(SilentRows):
    def expect(self, params, shared, block, carry, key):
        return super().expect(params, shared, replace(block, weights=np.ones(block.n_rows)), carry, key)


class PosteriorNotOne(SilentRows):
    def posterior(self, params, shared, block):
        return 1.01 * super().posterior(params, shared, block)


class MissingAsZero(SilentRows):
    def _posterior(self, shared, block):
        everything = np.ones(block.observed.shape)
        logits, off, log_pi = shared
        x, _ = block.operands()
        r = np.asarray(x @ logits) + everything @ off + log_pi
        log_p = np.logaddexp.reduce(r, axis=1)
        return np.exp(r - log_p[:, None]), log_p


class KeepsTheBit(SilentRows):
    def leave_one_out(self, params, shared, block):
        return self.fill(params, shared, block)


class DrawsZeros(SilentRows):
    def sample(self, params, n, rng):
        x, codes = super().sample(params, n, rng)
        return 1 - x, codes


class StartWithoutKey(SilentRows):
    def start(self, summary, key, passes):
        return super().start(summary, replace(key, seed=int(np.random.default_rng().integers(2**31))), passes)


# ------------------------------------------------------------------------------------------------------ contracts


def statistics(case):
    for storage, mask in (("dense", "full"), ("csr", "missing-pattern")):
        test_expect.test_expect_equals_enumeration(case, storage, mask, 0)


def rows(case):
    for storage, mask in (("dense", "full"), ("csr", "missing-pattern")):
        test_expect.test_rows_equal_enumeration(case, storage, mask)


def n_parameters(case):
    coordinates = logits, from_logits
    test_n_parameters.check_count(case.estimator, silent_params(5, np.random.default_rng(0)), coordinates=coordinates)


def samples(case):
    fitted = clone(case.estimator).fit(test_fit.structured_rows(np.random.default_rng(0), 300, 6, missing=True))
    test_methods.test_sampling_moments(case, fitted, 0)


def same_bits(case):
    with pytest.MonkeyPatch.context() as patch:
        test_same_bits.test_serial_threads_and_part_sizes(case, "dense", True, 0, True, patch)


CONTRACTS = {
    "statistics": statistics,
    "rows": rows,
    "sums": partial(test_expect.check_sum, seed=0, n=20, d=5, cut=7, missing=True),
    "monotone": partial(test_fit.test_objective_never_falls, seed=0, accelerate=False, missing=True),
    "maximum": test_fit.test_update_is_a_maximum,
    "weights": partial(test_fit.test_weights_equal_repeats, missing=True),
    "n_parameters": n_parameters,
    "pseudo-statistics": partial(test_pseudo_statistics.check_expected_rows, seed=0),
    "memory": partial(test_footprint.check_working, d=40),
    "statistics' size": partial(test_footprint.check_statistics, d=40),
    "samples": samples,
    "same bits": same_bits,
}
MISTAKES = [
    (case_of(estimator=OneShareTooMany), "n_parameters"),
    (case_of(SwappedOnes), "pseudo-statistics"),
    (case_of(SwappedClasses), "pseudo-statistics"),
    (case_of(NoColumns), "memory"),
    (case_of(AllColumnsSquared), "memory"),
    (case_of(NoStatistics), "statistics' size"),
    (case_of(WrongSign), "monotone"),
    (case_of(WrongSignOfPrior), "maximum"),
    (case_of(ObjectiveWithoutPrior), "maximum"),
    (case_of(MeanOfRows), "sums"),
    (case_of(WithoutWeights), "statistics"),
    (case_of(WithoutWeights), "weights"),
    (case_of(PosteriorNotOne), "rows"),
    (case_of(MissingAsZero), "rows"),
    (case_of(KeepsTheBit), "rows"),
    (case_of(DrawsZeros), "samples"),
    (case_of(StartWithoutKey), "same bits"),
]


def named(mistake):
    case, contract = mistake
    changed = type(case.model) if type(case.model) is not SilentRows else type(case.estimator)
    return f"{changed.__name__}-{contract}"


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_worked_model_keeps_every_contract(contract):
    CONTRACTS[contract](case_of())


@pytest.mark.parametrize("mistake", MISTAKES, ids=named)
def test_a_mistake_breaks_its_contract(mistake):
    case, contract = mistake
    with pytest.raises(AssertionError):
        CONTRACTS[contract](case)


def test_every_contract_has_a_mistake():
    assert {contract for _, contract in MISTAKES} == set(CONTRACTS)
