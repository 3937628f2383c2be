"""The compiled E-step of complete rows against its twin in NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import hiddenbits
from hiddenbits.families.combination_machine import complete_rows, model
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.params import CombinationParams
from hiddenbits.model_api import Key

pytest.importorskip("numba", reason="the fast extra is not installed")


def expected(X, params, weights=None):
    block = hiddenbits.open_table(X).grid(X.shape[0]).blocks[0]
    if weights is not None:
        block = replace(block, weights=weights)
    machine = Combination(params.n_units)
    return machine.expect(params, machine.prepare(params), block, None, Key(0))[0]


def machine_of(d, m, scale, rng):
    W, th, v = scale * rng.standard_normal((d, m)), rng.standard_normal(m), rng.standard_normal(d)
    return CombinationParams(W, th, v, np.asarray(3.0))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "d", "m"), [(1, 3, 1), (700, 20, 0), (700, 20, 5), (1100, 9, 7), (300, 5, 8)])
@pytest.mark.parametrize("scale", [0.5, 300.0])
def test_as_without_numba(monkeypatch, storage, n, d, m, scale):
    rng = np.random.default_rng(0)
    X, weights, params = (rng.random((n, d)) < 0.3).astype(np.uint8), rng.random(n) + 0.5, machine_of(d, m, scale, rng)
    for given in (None, weights):
        monkeypatch.setattr(model, "fast_kernels", complete_rows.fast_kernels)
        fast = expected(storage(X), params, given)
        monkeypatch.setattr(model, "fast_kernels", lambda: None)
        slow = expected(storage(X), params, given)
        for name, value in slow.to_arrays().items():
            np.testing.assert_allclose(fast.to_arrays()[name], value, rtol=1e-12, atol=1e-12 * n, err_msg=name)
            assert fast.to_arrays()[name].shape == value.shape


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_what_is_not_a_number_stays_so(storage):
    rng = np.random.default_rng(0)
    params = machine_of(6, 3, 1.0, rng)
    params.weights[2, 1] = np.nan
    assert np.isnan(expected(storage((rng.random((50, 6)) < 0.5).astype(np.uint8)), params).bound)


def test_a_product_of_many_units_stays_a_number():
    rng = np.random.default_rng(0)
    m = 2500
    params = CombinationParams(np.zeros((3, m)), np.zeros(m), np.zeros(3), np.zeros(()))
    found = expected((rng.random((4, 3)) < 0.5).astype(np.uint8), params)
    np.testing.assert_allclose(found.bound, 4 * m * np.log(2.0), rtol=1e-13)
