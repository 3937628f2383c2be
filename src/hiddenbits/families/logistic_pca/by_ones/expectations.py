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
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.operands import scratch
from hiddenbits.maths.gauss_hermite import hermite
from hiddenbits.maths.packed_symmetric import inner_places, pack_outer, packed_size, times

RARE = -4.0
N_NODES = 5
LARGEST = 30.0  # exponents stop here: such pairs are summed over nodes
SMALLEST = 1e-20  # the least variance that is divided by
STEP_PAIRS = 1 << 15  # pairs that are worked on together, in a core's cache


_compiled = compiled_twin("hiddenbits.families.logistic_pca.by_ones.expectations_numba", "expectations")


def expectations(
    mean: Floats, variance: Floats, slope: Literal["rows", "columns"], *, buffered: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return E f, which is for columns alone, E sigma and the slope; `buffered`, they last until the next call."""
    f, sigma, second = (
        scratch(name, mean.shape) if buffered else np.empty_like(mean) for name in ("softplus", "sigma", "slope")
    )
    out = f.ravel() if slope == "columns" else f.ravel()[:0], sigma.ravel(), second.ravel()
    if compiled := _compiled():
        compiled(mean.ravel(), variance.ravel(), np.array(hermite(N_NODES)), RARE, SMALLEST, *out)
        return f, sigma, second
    np.multiply(variance, 0.5, out=sigma)
    sigma += mean
    np.minimum(sigma, LARGEST, out=sigma)
    np.exp(sigma, out=sigma)
    np.copyto(second, sigma)
    if slope == "columns":
        np.copyto(f, sigma)
    _over_nodes(mean.ravel(), variance.ravel(), *out)
    return f, sigma, second


def _activations(places: Floats, covariances: Floats, joint: Floats, packed: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of w.x + b for every pair of a place and a column, in buffers."""
    shape = len(places), len(joint)
    mean = np.matmul(places, joint[:, :-1].T, out=scratch("mean", shape))
    mean += joint[:, -1]
    return mean, np.matmul(covariances, packed.T, out=scratch("variance", shape))


def _over_nodes(mean: Floats, variance: Floats, f: Floats, sigma: Floats, slope: Floats) -> None:
    """Replace the expectations of the pairs that are not rare by sums over nodes; without f the slope is for rows."""
    common = np.flatnonzero(mean + 1.5 * variance > RARE)
    m, s = mean[common], np.sqrt(np.maximum(variance[common], SMALLEST))
    total, first, second = np.zeros_like(m), np.zeros_like(m), np.zeros_like(m)
    for z, weight in zip(*hermite(N_NODES), strict=True):
        A = m + z * s
        u = np.exp(-np.abs(A))
        at_node = np.where(A > 0.0, 1.0, u) / (1.0 + u)
        first += weight * at_node
        if len(f):
            total += weight * (np.maximum(A, 0.0) + np.log1p(u))
            second += weight * z * at_node / s
        else:
            second += weight * at_node * (1.0 - at_node)
    sigma[common], slope[common] = first, second
    if len(f):
        f[common] = total


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
        cells = _activations(anchors, covariances, joint[some], packed[some])
        _, sigma, slope = expectations(*cells, "rows", buffered=True)
        gradient += sigma @ (joint[some, :-1] * copies[some, None])
        hessian += slope @ (packed[some] * copies[some, None])
    return gradient, hessian


def softplus_sums(joint: Floats, weights: Floats, means: Floats, covariances: Floats) -> Floats:
    """Return Sum_a N_a E f(w_j.x + b_j), x ~ N(mean_a, T_a), for every column."""
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    out = np.empty(len(joint))
    for some in _steps(len(joint), len(weights)):
        cells = _activations(means, covariances, joint[some], packed[some])
        out[some] = weights @ expectations(*cells, "columns", buffered=True)[0]
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
        cells = _activations(means, covariances, joint[some], packed[some])
        f, sigma, slope = expectations(*cells, "columns", buffered=True)
        out[some] = weights @ f
        gradient[some] = sigma.T @ (column * extended)
        both = slope.T @ by_slope
        gradient[some, :-1] += times(np.ascontiguousarray(both[:, :inner]), joint[some, :-1])
        matrix[some] = both[:, inner:]
    return out, gradient, matrix
