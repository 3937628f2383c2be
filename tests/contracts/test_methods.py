"""The methods of a fitted estimator against enumeration, for every storage."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from hiddenbits.families._base.persistence import ESTIMATORS
from hiddenbits.model_api import (
    Extrapolates,
    Promises,
)
from tests.contracts.cases import CASES, REALS
from tests.contracts.conftest import random_rows
from tests.contracts.test_fit import structured_rows
from tests.oracle.enumeration import Oracle

pytestmark = pytest.mark.core


@pytest.fixture(scope="module", params=[case for case in CASES if case.enumerates], ids=lambda case: case.name)
def case(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(case):
    return clone(case.estimator).fit(structured_rows(np.random.default_rng(0), 300, 6, missing=True))


@pytest.mark.thin(2)
def test_complete_equals_enumeration(case, fitted):
    rows = random_rows(np.random.default_rng(1), 40, 6, missing=True)
    oracle = Oracle(case.model, fitted._params)
    np.testing.assert_allclose(fitted.complete(rows), [oracle.conditional(row) for row in rows], rtol=0, atol=1e-12)


@pytest.mark.thin(3)
def test_bit_probabilities_equal_enumeration(case, fitted):
    rows = random_rows(np.random.default_rng(2), 40, 6, missing=True)
    oracle = Oracle(case.model, fitted._params)
    truth = [oracle.leave_one_out(row) for row in rows]
    np.testing.assert_allclose(fitted._cell_probabilities(rows), truth, rtol=0, atol=1e-12)


def test_score_equals_enumeration(case, fitted):
    rows = random_rows(np.random.default_rng(3), 40, 6, missing=True)
    oracle = Oracle(case.model, fitted._params)
    truth = [oracle.log_likelihood(row) for row in rows]
    np.testing.assert_allclose(fitted.score_samples(rows), truth, rtol=0, atol=1e-12)
    assert fitted.score(rows) == pytest.approx(np.mean(truth), abs=1e-12)
    assert fitted._likelihood_kind == case.model.promises.likelihood


@pytest.mark.parametrize("seed", range(3))
def test_sampling_moments(case, fitted, seed):
    """Means and second moments of 100,000 rows within 5 standard errors (63 figures a model and seed)."""
    n = 100_000
    mean, second, _ = Oracle(case.model, fitted._params).moments(6)
    x = fitted.sample(n, random_state=seed).astype(float)
    assert set(np.unique(x)) <= {0.0, 1.0}
    for ours, truth in ((x.mean(axis=0), mean), (x.T @ x / n, second)):
        error = np.sqrt(truth * (1 - truth) / n)
        assert (np.abs(ours - truth) <= 5 * error + 1e-12).all()


def test_sampling_is_reproducible(fitted):
    assert np.array_equal(fitted.sample(10, random_state=1), fitted.sample(10, random_state=1))
    assert not np.array_equal(fitted.sample(200, random_state=1), fitted.sample(200, random_state=2))


def test_codes_reconstruct(case, fitted):
    rows = structured_rows(np.random.default_rng(4), 60, 6, missing=True)
    if not hasattr(fitted, "transform"):
        assert not hasattr(fitted, "_reconstruct")
        return
    codes, hard = fitted.transform(rows), fitted._modes(rows)
    if case.codes == "points":  # no classes: their own tests say what codes are
        assert codes.shape == hard.shape
        return
    np.testing.assert_allclose(codes.sum(axis=1), 1.0, atol=1e-12)
    assert np.array_equal(codes.argmax(axis=1), hard.argmax(axis=1))
    assert np.array_equal(np.unique(hard), [0.0, 1.0])
    holes = np.isnan(rows)
    np.testing.assert_allclose(fitted._reconstruct(codes)[holes], fitted.complete(rows)[holes], atol=1e-12)


@pytest.mark.thin(5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_equals_dense(case, kind):
    rows = structured_rows(np.random.default_rng(5), 200, 7, missing=False)
    if case.name == "LatentClassAnalysis-levels":
        with pytest.raises(TypeError, match=r"column_types= .* are for .* not for a SciPy sparse array"):
            clone(case.estimator).fit(kind(rows))
        return
    dense, other = clone(case.estimator).fit(rows), clone(case.estimator).fit(kind(rows))
    for name, array in dense._params.to_arrays().items():
        np.testing.assert_allclose(other._params.to_arrays()[name], array, rtol=0, atol=case.close)
    np.testing.assert_allclose(dense.score_samples(kind(rows)), dense.score_samples(rows), rtol=0, atol=1e-12)


def test_every_estimator_is_under_contract():
    assert {type(case.estimator).__name__ for case in CASES + REALS} == set(ESTIMATORS)


@pytest.mark.parametrize("case", CASES + REALS, ids=lambda case: case.name)
def test_every_no_has_its_reason(case):
    promises = case.model.promises
    for name in ("monotone", "deterministic", "accelerates"):
        assert getattr(promises, name) or promises.why[name]
    assert promises.likelihood == "exact" or promises.why["likelihood"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_settings_reach_the_model(case):
    """What a user sets is what the model is made with, where both call it the same."""
    wanted = {name: value for name, value in case.other.items() if name in case.estimator.get_params()}
    model = clone(case.estimator).set_params(**wanted)._model()
    assert {name: getattr(model, name) for name in wanted} == wanted


PROMISED = {
    "accelerates": Extrapolates,
}


@pytest.mark.parametrize("case", CASES + REALS, ids=lambda case: case.name)
def test_a_promise_has_its_functions(case):
    # The engine asks for both: a promise without its functions would be passed over in silence.
    for name, protocol in PROMISED.items():
        assert not getattr(case.model.promises, name) or isinstance(case.model, protocol)


def test_promises_are_named():
    with pytest.raises(TypeError, match="positional"):
        Promises("exact", True, True, False, False, "enumeration")
