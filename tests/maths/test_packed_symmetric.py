"""Packed symmetric matrices against NumPy's own linear algebra."""

import numpy as np
import pytest

from hiddenbits.data import kernels
from hiddenbits.maths.packed_symmetric import (
    column_dot,
    edge_places,
    identity,
    inner_places,
    invert,
    invert_standing,
    moments_standing,
    pack,
    pack_outer,
    packed_size,
    row_dot,
    solve_standing,
    times,
    unpack,
)

pytestmark = pytest.mark.core


@pytest.fixture(params=[0.0, np.inf], ids=["NumPy", "compiled where numba is"], autouse=True)
def kernels_used(request, monkeypatch):
    monkeypatch.setattr(kernels._thread, "table_cells", request.param, raising=False)


def definite(rng, n, k):
    A = rng.standard_normal((n, k, k + 3))
    return np.eye(k) + A @ np.swapaxes(A, 1, 2)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 17, 40])  # closed forms, number by number, by halves once and again
def test_inverse_solution_and_determinant(k):
    """75 matrices: the compiled twin does 64 together, and then the rest."""
    rng = np.random.default_rng(k)
    M, v = definite(rng, 75, k), rng.standard_normal((75, k))
    packed = pack(M)
    np.testing.assert_allclose(unpack(packed, k), M, rtol=1e-15)
    truth, log_det = np.linalg.inv(M), np.linalg.slogdet(M)[1]
    for inverse, found in (invert(packed, k), (lambda a, b: (a.T, b))(*invert_standing(packed.T.copy(), k))):
        np.testing.assert_allclose(unpack(inverse, k), truth, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found, log_det, rtol=1e-12)
    inverse, found, solution = solve_standing(packed.T.copy(), v.T.copy())
    np.testing.assert_allclose(unpack(inverse.T, k), truth, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found, log_det, rtol=1e-12)
    np.testing.assert_allclose(solution.T, np.linalg.solve(M, v[..., None])[..., 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(times(packed, v), (M @ v[..., None])[..., 0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("q", [1, 2, 5, 12])
def test_moments_and_places(q):
    rng = np.random.default_rng(q)
    C, mean, factor = definite(rng, 7, q), rng.standard_normal((7, q)), rng.uniform(0.1, 2.0, 7)
    x = np.column_stack([mean, np.ones(7)])
    truth = x[:, :, None] * x[:, None, :]
    truth[:, :q, :q] += C
    out = np.empty((packed_size(q + 1), 7))
    S = moments_standing(mean.T.copy(), pack(C).T.copy(), factor, out)
    np.testing.assert_allclose(unpack(S.T.copy(), q + 1), factor[:, None, None] * truth, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(pack(truth)[:, inner_places(q + 1)], pack(truth[:, :q, :q]))
    np.testing.assert_allclose(pack(truth)[:, edge_places(q + 1)], np.sqrt(2.0) * mean, rtol=1e-15)
    w = rng.standard_normal((7, q + 1))
    traces = np.einsum("na,nab,nb->n", w, truth, w)
    np.testing.assert_allclose(row_dot(pack(truth), pack_outer(w)), traces, rtol=1e-12)
    np.testing.assert_allclose(column_dot(pack(truth).T, pack_outer(w).T), traces, rtol=1e-12)
    np.testing.assert_array_equal(unpack(identity(q), q), np.eye(q))
