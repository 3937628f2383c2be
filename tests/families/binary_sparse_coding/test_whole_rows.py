"""The compiled E-step of rows without blanks against its twin in NumPy."""

from dataclasses import replace

import numpy as np
import pytest

from hiddenbits.families.binary_sparse_coding import rows as coding_rows
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from tests.families.binary_sparse_coding.coding_data import block_of, expected, params_of, rows_of

pytest.importorskip("numba", reason="the fast extra is not installed")
pytestmark = pytest.mark.core


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-11), ("float32", 2e-5)])
@pytest.mark.parametrize(("H", "c", "gamma"), [(6, 6, 3), (6, 3, 2), (30, 5, 3), (90, 2, 2), (12, 1, 1)])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_as_without_numba(monkeypatch, dtype, rtol, H, c, gamma, temperature):
    params = params_of(0, 20, H)
    params = replace(params, activity=np.full(H, 2.0 / H))
    n = 1500 if H == 6 else 300
    rows, weights = rows_of(params, 1, n=n).astype(dtype), np.random.default_rng(0).uniform(0.0, 3.0, n)
    model = SparseCoding(H, c, gamma, dtype=dtype, temperature=temperature)
    fast = expected(model, params, rows, weights)
    monkeypatch.setattr(coding_rows, "fast_kernels", lambda: None)
    slow = expected(model, params, rows, weights)
    for name in ("bound", "weight", "used", "squares", "hidden", "joint", "second"):
        want = np.asarray(getattr(slow, name))
        np.testing.assert_allclose(getattr(fast, name), want, rtol=0, atol=rtol * np.abs(want).max(), err_msg=name)


def test_rows_at_the_cut_are_found_again():
    """The cut is the score of a row, and compared with `==`."""
    params, model = params_of(0), SparseCoding(6, 3, 2)
    rows = rows_of(params, 0, n=700)
    scores = coding_rows.scores_of(model.prepare(params), block_of(rows)).scores
    assert expected(replace(model, cut=(np.sort(scores)[300], 0.25)), params, rows).used == 399.25


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_candidates(dtype):
    """The largest ones; where several are equal, as many as are asked for, and none twice."""
    kernels, rng = coding_rows.fast_kernels(), np.random.default_rng(0)
    n, H, c = 400, 37, 5
    f = rng.standard_normal((n, H)).astype(dtype)
    f[100:200] = np.round(f[100:200])
    f[200:210] = 0.0
    f[210:300] **= 9
    f[300:] = -np.exp(20 * f[300:])
    values, chosen, features = f.copy(), np.empty((n, c), np.intp), np.empty((n, c + 10), dtype)
    one = np.ones(H, dtype)
    kernels.candidates(f, one, one, rng.random(H * H).astype(dtype), chosen, features)
    np.testing.assert_array_equal(f, values + 1)
    assert all(len(set(row)) == c for row in chosen)
    found = np.sort(np.take_along_axis(values, chosen, axis=1), axis=1)
    np.testing.assert_array_equal(found, np.sort(values, axis=1)[:, -c:])


def test_what_is_not_a_number_stays_so():
    params, model = params_of(0), SparseCoding(6, 3, 2)
    params.fields[1, 2] = np.nan
    with np.errstate(invalid="ignore"):
        assert np.isnan(expected(model, params, rows_of(params_of(0), 0)).bound)
