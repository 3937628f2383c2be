"""Inner steps: the compiled twins against NumPy's."""

import numpy as np
import pytest

from hiddenbits.data import kernels
from hiddenbits.data.bits import Dense
from hiddenbits.families.logistic_pca import cell_kernels as of_rows
from hiddenbits.families.logistic_pca.cell_kernels import quarter
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import Posterior, identity, pack_outer


def found(V4, linear, blanks, q):
    cold = Posterior(np.zeros((len(linear), q)), np.tile(identity(q), (len(linear), 1)))
    posterior, kappa, bound = of_rows.inner_steps(V4, linear, blanks, cold, 3)
    weights = 1.0 + np.arange(len(linear))
    return [posterior.mean, posterior.covariance, bound, of_rows.curvatures(kappa, posterior, weights), kappa.copy()]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("q", [1, 2, 3, 11])
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 2e-5)])
def test_compiled_steps_equal_those_of_numpy(dtype, rtol, q, missing, monkeypatch):
    """700 columns: more than one product of factors; loadings from 1e-3 to 30. A number of float32 rounds to 6e-8."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(q)
    joint = rng.standard_normal((700, q + 1)) * 10.0 ** rng.uniform(-3, 1.5, (700, 1))
    V4, linear = quarter(pack_outer(joint.astype(dtype))), 3.0 * rng.standard_normal((23, q + 1))
    observed = (rng.random((23, 700)) < 0.8).astype(np.uint8)
    blanks = MissingCells.of(Dense(observed)) if missing else MissingCells(None, np.zeros(23))
    ours = found(V4, linear, blanks, q)
    monkeypatch.setattr(kernels._thread, "table_cells", 0.0, raising=False)
    for compiled, plain in zip(ours, found(V4, linear, blanks, q), strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=rtol, atol=rtol * np.abs(plain).max())
