"""Steps of the posteriors of rows between those of the parameters: what makes logistic PCA's passes expensive.

Arrays stand: rows are their last axis. In two dimensions a compiled twin (`inner_steps_numba.py`) does it all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.families.logistic_pca.cell_kernels import SMALLEST, tangent_standing
from hiddenbits.maths.gaussian_posterior import Posterior
from hiddenbits.maths.missing_cells import Blanks
from hiddenbits.maths.packed_symmetric import (
    ROOT2,
    column_dot,
    edge_places,
    identity,
    inner_places,
    moments_standing,
    packed_size,
    solve_standing,
)

_compiled = compiled_twin("hiddenbits.families.logistic_pca.inner_steps_numba")


def inner_steps(
    V4: AnyArray, linear: Floats, blanks: Blanks, posterior: Posterior, n_steps: int
) -> tuple[Posterior, AnyArray, Floats]:
    """Return the posterior after some steps, with the last 4 kappa (d, rows) and the bound of each row.

    With G = Sum kappa w^ w^' the bound at the best posterior for these kappa is
    Sum [ -ln 2cosh(xi/2) + (kappa/2) xi^2 + r b - (kappa/2) b^2 ] + (1/2) h.mean - (1/2) ln |P|,
    where Sum kappa xi^2 is the inner product of G with the S that xi came from, and Sum kappa b^2 the last number
    of G. 4 kappa is in a buffer of this thread.
    """
    n, q = posterior.mean.shape
    if q == 2 and blanks.where is None and kernels_pay() and (compiled := _compiled()):
        return _steps_of_two(compiled, V4, linear, posterior, n_steps)
    inner, edge, one = inner_places(q + 1), edge_places(q + 1), identity(q)[:, None].astype(V4.dtype)
    mean, covariance, pull = (np.ascontiguousarray(a.T) for a in (posterior.mean, posterior.covariance, linear))
    for left in reversed(range(n_steps)):
        S = moments_standing(
            mean.astype(V4.dtype, copy=False),
            covariance.astype(V4.dtype, copy=False),
            np.ones(n, V4.dtype),
            scratch("S", (packed_size(q + 1), n), V4.dtype),
        )
        kappa, heights = tangent_standing(S, V4, blanks, heights=left == 0)
        G = V4.T @ kappa
        h = pull[:q] - G[edge] / ROOT2
        covariance, log_det, mean = solve_standing(one + G[inner], h)  # eqs 6 and 7
    bound = heights + 0.5 * (column_dot(S, G) - G[-1] + column_dot(h, mean) - log_det) + pull[q]
    return Posterior(mean.T, covariance.T), kappa, bound


def _steps_of_two(
    compiled: Any, V4: AnyArray, linear: Floats, posterior: Posterior, n_steps: int
) -> tuple[Posterior, AnyArray, Floats]:
    n, d = len(linear), len(V4)
    mean, covariance = posterior.mean.copy(order="C"), posterior.covariance.copy(order="C")
    cells, bound = scratch("kappa", (n, d), V4.dtype), np.empty(n)
    least, factors = V4.dtype.type(SMALLEST[V4.dtype.char]), compiled.FACTORS[V4.dtype.char]
    V = np.ascontiguousarray(V4.T)
    compiled.steps_of_two(V, linear, mean, covariance, n_steps, least, factors, cells, bound)
    return Posterior(mean, covariance), cells.T, bound


def curvatures(kappa: AnyArray, posterior: Posterior, weights: Floats) -> Floats:
    """Return Sum_n weight kappa <x^ x^'>, packed, of each column: eq 11's matrix. `kappa` is that of `inner_steps`."""
    n, q = posterior.mean.shape
    p, dtype = packed_size(q + 1), kappa.dtype
    mean, covariance = (np.ascontiguousarray(a.T, dtype) for a in (posterior.mean, posterior.covariance))
    M = moments_standing(mean, covariance, (0.25 * weights).astype(dtype), scratch("S", (p, n), dtype))
    return np.asarray((M @ kappa.T).T, np.float64)
