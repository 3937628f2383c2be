"""The computations for every cell of a block, which dominate the cost of logistic PCA.

Each thread reuses a few buffers of rows x columns for them. Blocks are short enough for these to stay in the cache of a
core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.kernels import compiled_twin, kernels_pay
from hiddenbits.data.operands import scratch
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import (
    ROOT2,
    Posterior,
    column_dot,
    edge_places,
    identity,
    inner_places,
    moments_standing,
    packed_size,
    solve_standing,
)

LEAST_SQUARE = {"d": 1e-13, "f": 1e-7}  # least (xi/2)^2, for float64 and float32: kappa(xi) is 1/4 from there down
_compiled = compiled_twin("hiddenbits.families.logistic_pca.kernels_numba")
CELLS_AT_ONCE = 1 << 15  # cells processed together


def sum_of_logs(values: AnyArray) -> AnyArray:
    """Return the sum of the logs over the first axis, for values between 1 and 2; overwrites them.

    It takes the log of products, because a logarithm costs more than all other work on a cell.
    """
    max_factors = 512 if values.dtype == np.float64 else 64  # 2^512 and 2^64 are still far from the largest number
    n_factors, height = 1, len(values)
    while height > 1 and n_factors < max_factors:
        half = height // 2
        np.multiply(values[:half], values[height - half : height], out=values[:half])
        height -= half
        n_factors *= 2
    return np.asarray(np.log(values[:height].astype(np.float64)).sum(axis=0))


def quarter(V: AnyArray) -> AnyArray:
    """Return V/4, for which S V/4 is (xi/2)^2; b^2 is slightly larger, so that rounding leaves it above 0.

    The increment is part of b^2 everywhere, so the bound is exactly that of a model with a b^2 larger by LEAST_SQUARE.
    """
    out = 0.25 * V
    out[:, -1] += LEAST_SQUARE[out.dtype.char]
    return out


def tangent_standing(
    S: AnyArray, V4: AnyArray, missing: MissingCells, *, heights: bool = True
) -> tuple[AnyArray, AnyArray]:
    """Return 4 kappa (d, rows) and, for each row, -Sum_i ln 2cosh(xi_i/2), at the best xi for the moments S: eq 8.

    S has shape (p, rows) and V4 is V/4, so that a product and a root give e = xi/2. With t = tanh(e): 4 kappa = t/e,
    where kappa is -2 lambda(xi) of the paper; and ln 2cosh(e) = e + ln 2 - ln(1 + t), which is exact for any e. Columns
    are processed a few at a time: only kappa is kept for all cells, in a buffer of this thread. Without `heights`
    the sums of ln(1 + t) are omitted.
    """
    d, n = len(V4), S.shape[1]
    if kernels_pay(V4.shape[1] / 6) and (compiled := _compiled()):
        cells, total = scratch("kappa", (n, d), V4.dtype), np.empty(n)
        np.matmul(S.T, V4.T, out=cells)
        missing.fill(cells, 0.0)
        compiled.sweep(cells, V4.dtype.type(LEAST_SQUARE[V4.dtype.char]), compiled.LOG_FACTORS[V4.dtype.char], total)
        missing.fill(cells, 0.0)
        total += missing.counts * np.log(2.0)  # a missing cell counted as ln 2cosh(0)
        return cells.T, total
    kappa, total = scratch("kappa", (d, n), V4.dtype), np.zeros(n)
    step = max(1, CELLS_AT_ONCE // max(n, 1))
    for start in range(0, d, step):
        columns = slice(start, min(start + step, d))
        t = kappa[columns]
        e = scratch("xi", t.shape, V4.dtype)
        total += _roots(S, V4[columns], missing, columns, e)
        np.tanh(e, out=t)
        missing.fill_standing(t, columns, 0.0)  # kappa = 0, and ln(1 + t) = 0
        if heights:
            one_plus_t = scratch("one_plus_t", t.shape, V4.dtype)
            np.add(t, 1.0, out=one_plus_t)
            total -= sum_of_logs(one_plus_t)
        t /= e
    total += (d - missing.counts) * np.log(2.0) - missing.counts
    return kappa, np.negative(total, out=total)


def _roots(S: AnyArray, V4: AnyArray, missing: MissingCells, columns: slice, e: AnyArray) -> AnyArray:
    """Put xi/2 into `e`, 1 where a cell is missing; return the sums over these columns."""
    ones = np.ones(len(V4), e.dtype)
    for least in (None, LEAST_SQUARE[e.dtype.char]):
        np.matmul(V4, S, out=e)
        if least is not None:  # second attempt: rounding made a number negative
            np.maximum(e, least, out=e)
        with np.errstate(invalid="ignore"):
            np.sqrt(e, out=e)
        missing.fill_standing(e, columns, 1.0)
        total = ones @ e
        if not np.isnan(total).any():
            break
    return np.asarray(total)


# Steps of the row posteriors between two updates of the parameters: the largest part of the cost of an iteration.
#
# The last axis of arrays is that of the rows. In two dimensions a compiled twin (`kernels_numba.py`) does all steps.


def inner_steps(
    V4: AnyArray, linear: Floats, missing: MissingCells, posterior: Posterior, n_steps: int
) -> tuple[Posterior, AnyArray, Floats]:
    """Return the posterior after some steps, with the last 4 kappa (d, rows) and the bound of each row.

    With G = Sum kappa w^ w^' the bound at the best posterior for these kappa is
    Sum [ -ln 2cosh(xi/2) + (kappa/2) xi^2 + r b - (kappa/2) b^2 ] + (1/2) h.mean - (1/2) ln |P|.
    Sum kappa xi^2 is the inner product of G with the S that xi came from, and Sum kappa b^2 is the last number
    of G. 4 kappa is in a buffer that the next call of this thread overwrites.
    """
    n, q = posterior.mean.shape
    if q == 2 and missing.where is None and kernels_pay() and (compiled := _compiled()):
        return _inner_steps_of_two(compiled, V4, linear, posterior, n_steps)
    inner, edge, one = inner_places(q + 1), edge_places(q + 1), identity(q)[:, None].astype(V4.dtype)
    mean, covariance, pull = (np.ascontiguousarray(a.T) for a in (posterior.mean, posterior.covariance, linear))
    for steps_left in reversed(range(n_steps)):
        S = moments_standing(
            mean.astype(V4.dtype, copy=False),
            covariance.astype(V4.dtype, copy=False),
            np.ones(n, V4.dtype),
            scratch("S", (packed_size(q + 1), n), V4.dtype),
        )
        kappa, heights = tangent_standing(S, V4, missing, heights=steps_left == 0)
        G = V4.T @ kappa
        h = pull[:q] - G[edge] / ROOT2
        covariance, log_det, mean = solve_standing(one + G[inner], h)  # eqs 6 and 7
    bound = heights + 0.5 * (column_dot(S, G) - G[-1] + column_dot(h, mean) - log_det) + pull[q]
    return Posterior(mean.T, covariance.T), kappa, bound


def _inner_steps_of_two(
    compiled: Any, V4: AnyArray, linear: Floats, posterior: Posterior, n_steps: int
) -> tuple[Posterior, AnyArray, Floats]:
    n, d = len(linear), len(V4)
    mean, covariance = posterior.mean.copy(order="C"), posterior.covariance.copy(order="C")
    cells, bound = scratch("kappa", (n, d), V4.dtype), np.empty(n)
    least, factors = V4.dtype.type(LEAST_SQUARE[V4.dtype.char]), compiled.LOG_FACTORS[V4.dtype.char]
    V = np.ascontiguousarray(V4.T)
    compiled.steps_of_two(V, linear, mean, covariance, n_steps, least, factors, cells, bound)
    return Posterior(mean, covariance), cells.T, bound


def curvatures(kappa: AnyArray, posterior: Posterior, weights: Floats) -> Floats:
    """Return Sum_n weight kappa <x^ x^'>, packed, of each column, the matrix of eq 11, given 4 kappa."""
    n, q = posterior.mean.shape
    p, dtype = packed_size(q + 1), kappa.dtype
    mean, covariance = (np.ascontiguousarray(a.T, dtype) for a in (posterior.mean, posterior.covariance))
    M = moments_standing(mean, covariance, (0.25 * weights).astype(dtype), scratch("S", (p, n), dtype))
    return np.asarray((M @ kappa.T).T, np.float64)
