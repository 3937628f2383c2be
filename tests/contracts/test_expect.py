"""`expect`, the likelihood and the posterior equal enumeration; statistics add."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenbits.engine import Key
from tests.contracts.cases import CASES
from tests.contracts.conftest import random_rows, table_of
from tests.oracle.enumeration import Oracle

pytestmark = pytest.mark.core


@pytest.fixture(params=[case for case in CASES if case.enumerates], ids=lambda case: case.name)
def case(request):
    return request.param


def one_block(table):
    return table.grid(table.shape[0]).blocks[0]


def statistics(case, params, block):
    return case.model.expect(params, case.model.prepare(params), block, None, Key(0))[0]


@pytest.mark.thin(3)  # of twelve: every storage and every mask
@pytest.mark.parametrize("seed", range(3))
def test_expect_equals_enumeration(case, storage, mask, seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 9, 5, missing=mask != "full")
    weights = rng.uniform(0.5, 2.0, len(rows))
    params = case.draw_params(5, rng)
    truth = Oracle(case.model, params).statistics(rows, weights, case.complete_statistics)
    stats = statistics(case, params, one_block(table_of(rows, storage, mask, weights)))
    assert set(stats.to_arrays()) == set(truth)
    for name, value in stats.to_arrays().items():
        np.testing.assert_allclose(np.broadcast_to(value, np.shape(truth[name])), truth[name], rtol=0, atol=1e-12)


@pytest.mark.thin(4)
def test_rows_equal_enumeration(case, storage, mask):
    rng = np.random.default_rng(5)
    rows = random_rows(rng, 9, 5, missing=mask != "full")
    params = case.draw_params(5, rng)
    oracle, block = Oracle(case.model, params), one_block(table_of(rows, storage, mask))
    shared = case.model.prepare(params)
    for function, truth in [
        (case.model.log_likelihood, oracle.log_likelihood),
        (case.model.leave_one_out, oracle.leave_one_out),
    ]:
        np.testing.assert_allclose(function(params, shared, block), [truth(row) for row in rows], rtol=0, atol=1e-12)
    filled = case.model.fill(params, shared, block)
    holes = np.isnan(rows)
    np.testing.assert_allclose(filled[holes], np.array([oracle.conditional(row) for row in rows])[holes], atol=1e-12)
    if hasattr(case.estimator, "transform"):
        truth = [oracle.posterior(row) for row in rows]
        np.testing.assert_allclose(case.model.posterior(params, shared, block), truth, rtol=0, atol=1e-12)


def test_probabilities_of_all_rows_add_up_to_one(case):
    rng = np.random.default_rng(6)
    assert Oracle(case.model, case.draw_params(6, rng)).moments(6)[2] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.thin(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@given(data=st.data())
def test_statistics_add(case, data):
    """expect(A + B) = expect(A) + expect(B), also where only one of the two has missing cells."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    n, d = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 12))
    check_sum(case, seed, n, d, cut=data.draw(st.integers(1, n - 1)), missing=data.draw(st.booleans()))


def check_sum(case, seed, n, d, *, cut, missing):
    """Require that the statistics of rows before and after a cut add up to those of all."""
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n, d, missing=missing)
    weights = rng.uniform(0.0, 3.0, n)
    params = case.draw_params(d, rng)
    whole = statistics(case, params, one_block(table_of(rows, "dense", None, weights)))
    parts = statistics(case, params, one_block(table_of(rows[:cut], "csr", None, weights[:cut])))
    parts += statistics(case, params, one_block(table_of(rows[cut:], "packed", None, weights[cut:])))
    for name, value in whole.to_arrays().items():
        other = parts.to_arrays()[name]
        np.testing.assert_allclose(*np.broadcast_arrays(value, other), rtol=1e-10, atol=1e-10)
