"""Exponential and logarithm of compiled kernels against NumPy's."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the fast extra is not installed")

from hiddenbits.maths.exp_numba import exp_minus, log_of, log_one_plus


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
