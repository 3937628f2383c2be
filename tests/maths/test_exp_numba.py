"""Exponential and logarithm of compiled kernels against NumPy's."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the fast extra is not installed")

from numba import njit

from hiddenbits.maths.exp_numba import exp_minus, log_of, log_one_plus, plus_and_minus_exp


def test_exponential():
    a = np.concatenate([np.linspace(0.0, 40.0, 2001), [100.0, 300.0, 699.0]])
    np.testing.assert_allclose([exp_minus(x) for x in a], np.exp(-a), rtol=3e-14, atol=0.0)
    assert exp_minus(1e9) < 1e-300
    assert exp_minus(np.inf) < 1e-300


def test_logarithms():
    u = np.concatenate([np.linspace(0.0, 1.0, 2001), 10.0 ** -np.arange(1.0, 300.0, 7.0)])
    np.testing.assert_allclose([log_one_plus(x) for x in u], np.log1p(u), rtol=1e-14, atol=0.0)
    x = np.concatenate([np.linspace(0.1, 9.0, 2001), 10.0 ** np.arange(-300.0, 300.0, 7.0)])
    np.testing.assert_allclose([log_of(one) for one in x], np.log(x), rtol=1e-14, atol=3e-16)


def test_one_plus_and_minus():
    """Against NumPy's, for arguments of every size; a polynomial of ten terms rounds a few times."""
    both = njit(lambda y, one: plus_and_minus_exp(y, one))
    y = -(10.0 ** np.linspace(-9, 2.8, 400))
    plus, minus = np.array([both(value, 1.0) for value in y]).T
    np.testing.assert_allclose(plus, 1.0 + np.exp(y), rtol=4e-15)
    np.testing.assert_allclose(minus, -np.expm1(y), rtol=4e-15)
    single = y.astype(np.float32)
    plus, minus = np.array([both(value, np.float32(1.0)) for value in single]).T
    np.testing.assert_allclose(minus, -np.expm1(single.astype(np.float64)), rtol=3e-7)
    assert np.isnan(both(np.nan, 1.0)).all()
