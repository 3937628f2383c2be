"""Expectations of softplus over normal activations, for every pair of a cell of the map and a column.

    f(A) = ln(1 + exp A),  A ~ N(mean, variance):      E f,  E sigma,  and a slope

Where mean + 1.5 variance is below RARE, sigma is an exponential: all three are exp(mean + variance / 2), with a
relative error of about exp(mean + 1.5 variance) / 2. Elsewhere they are sums over five nodes; three are too few, and
so is the probit approximation. The slope is E sigma' for rows, and for columns that which makes the gradient of the
sum over nodes exact: E[sigma z] / s, equal to E sigma' for the integral itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.maths.gauss_hermite import hermite
from hiddenbits.maths.packed_symmetric import inner_places, pack_outer, packed_size, times

RARE = -4.0
N_NODES = 5
LARGEST = 30.0  # exponents stop here: such pairs are summed over nodes
SMALLEST = 1e-20  # the least variance that is divided by
STEP_PAIRS = 1 << 15  # pairs that are worked on together, in a core's cache


def expectations(mean: Floats, variance: Floats, slope: Literal["rows", "columns"]) -> tuple[Floats, Floats, Floats]:
    """Return E f, E sigma and the slope; the three may be one array."""
    rare = 0.5 * variance
    rare += mean
    common = np.flatnonzero(rare + variance > RARE)
    np.minimum(rare, LARGEST, out=rare)
    np.exp(rare, out=rare)
    if not len(common):
        return rare, rare, rare
    m, s = mean.ravel()[common], np.sqrt(np.maximum(variance.ravel()[common], SMALLEST))
    f, first, second = np.zeros_like(m), np.zeros_like(m), np.zeros_like(m)
    for z, weight in zip(*hermite(N_NODES), strict=True):
        A = m + z * s
        u = np.exp(-np.abs(A))
        f += weight * (np.maximum(A, 0.0) + np.log1p(u))
        sigma = np.where(A > 0.0, 1.0, u) / (1.0 + u)
        first += weight * sigma
        second += weight * (sigma * (1.0 - sigma) if slope == "rows" else z * sigma)
    if slope == "columns":
        second /= s
    out = rare, rare.copy(), rare.copy()
    for whole, some in zip(out, (f, first, second), strict=True):
        whole.ravel()[common] = some
    return out


def _steps(n_columns: int, n_cells: int) -> Iterator[slice]:
    """Yield some columns at a time."""
    step = max(1, STEP_PAIRS // max(n_cells, 1))
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))


def at_anchors(joint: Floats, copies: Floats, anchors: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Return gradient and packed Hessian of F(x) = Sum_j f(w_j.x + b_j), smoothed by N(0, C), at every anchor.

    `copies` says how many columns share the (w, b) of a row of `joint`.
    """
    n_cells, q = anchors.shape
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    gradient, hessian = np.zeros((n_cells, q)), np.zeros((n_cells, packed_size(q)))
    for some in _steps(len(joint), n_cells):
        mean = anchors @ joint[some, :-1].T + joint[some, -1]
        _, sigma, slope = expectations(mean, covariances @ packed[some].T, "rows")
        gradient += sigma @ (joint[some, :-1] * copies[some, None])
        hessian += slope @ (packed[some] * copies[some, None])
    return gradient, hessian


def softplus_sums(joint: Floats, weights: Floats, means: Floats, covariances: Floats) -> Floats:
    """Return Sum_a N_a E f(w_j.x + b_j), x ~ N(mean_a, T_a), for every column."""
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    out = np.empty(len(joint))
    for some in _steps(len(joint), len(weights)):
        mean = means @ joint[some, :-1].T + joint[some, -1]
        out[some] = weights @ expectations(mean, covariances @ packed[some].T, "columns")[0]
    return out


def softplus_steps(joint: Floats, weights: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the sums of `softplus_sums`, their gradient (columns, q + 1) and a packed matrix for a Newton step."""
    q = means.shape[1]
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    extended = np.column_stack([means, np.ones(len(means))])
    moments = pack_outer(extended)
    moments[:, inner_places(q + 1)] += covariances
    column = weights[:, None]
    by_slope = np.column_stack([column * covariances, column * moments])
    inner = packed_size(q)
    out, gradient = np.empty(len(joint)), np.empty((len(joint), q + 1))
    matrix = np.empty((len(joint), packed_size(q + 1)))
    for some in _steps(len(joint), len(weights)):
        mean = means @ joint[some, :-1].T + joint[some, -1]
        f, sigma, slope = expectations(mean, covariances @ packed[some].T, "columns")
        out[some] = weights @ f
        gradient[some] = sigma.T @ (column * extended)
        both = slope.T @ by_slope
        gradient[some, :-1] += times(np.ascontiguousarray(both[:, :inner]), joint[some, :-1])
        matrix[some] = both[:, inner:]
    return out, gradient, matrix
