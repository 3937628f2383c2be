"""The exponential of the compiled kernels, against NumPy's."""

import numpy as np
import pytest


def test_one_plus_and_minus():
    """Against NumPy's, for arguments of every size; a polynomial of ten terms rounds a few times."""
    numba = pytest.importorskip("numba")
    from hiddenbits.maths.exponential_numba import plus_and_minus_exp

    both = numba.njit(lambda y, one: plus_and_minus_exp(y, one))
    y = -(10.0 ** np.linspace(-9, 2.8, 400))
    plus, minus = np.array([both(value, 1.0) for value in y]).T
    np.testing.assert_allclose(plus, 1.0 + np.exp(y), rtol=4e-15)
    np.testing.assert_allclose(minus, -np.expm1(y), rtol=4e-15)
    single = y.astype(np.float32)
    plus, minus = np.array([both(value, np.float32(1.0)) for value in single]).T
    np.testing.assert_allclose(minus, -np.expm1(single.astype(np.float64)), rtol=3e-7)
    assert np.isnan(both(np.nan, 1.0)).all()
