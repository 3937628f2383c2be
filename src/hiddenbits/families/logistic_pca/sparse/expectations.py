"""Expectations of softplus over normal activations, for every pair of a cell of the latent space and a column.

    f(A) = ln(1 + exp A),  A ~ N(mean, variance):      E f,  E sigma,  E sigma'

Where mean + 1.5 variance is below RARE, sigma is an exponential: all three are exp(mean + variance / 2), with a
relative error of about exp(mean + 1.5 variance) / 2. Elsewhere they are those of `gaussian_cells`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import scratch
from hiddenbits.data.row_sampling import RowSampler, SomeRows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.logistic_pca.gaussian_cells import gaussian_cells
from hiddenbits.families.logistic_pca.sparse.params import AnchoredParams, cut
from hiddenbits.families.logistic_pca.start import RANDOM_LOADING_STD, SUBSPACE_PASSES, Product, centered_product
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import identity, inner_places, invert, pack_outer, packed_size, times
from hiddenbits.model_api import Key, Passes

RARE = -4.0  # limit of mean + 1.5 variance for the exponential
PAIRS_AT_ONCE = 1 << 15  # pairs of cell and column processed together, in the cache of a core


def expectations(mean: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return E f, E sigma and E sigma'; in buffers of this thread, which the next call overwrites."""
    f, sigma, slope = (scratch(name, mean.shape) for name in ("softplus", "sigma", "slope"))
    np.multiply(variance, 0.5, out=sigma)
    sigma += mean
    np.add(sigma, variance, out=f)
    frequent = np.flatnonzero(f > RARE)
    np.put(sigma, frequent, 0.0)
    np.exp(sigma, out=sigma)
    np.copyto(f, sigma)
    np.copyto(slope, sigma)
    means = mean.ravel()[None, frequent]
    log_cosh, frequent_sigma, frequent_slope = gaussian_cells(
        means, variance.ravel()[None, frequent], MissingCells(None, np.zeros(1))
    )
    np.put(f, frequent, log_cosh + 0.5 * means)
    np.put(sigma, frequent, frequent_sigma)
    np.put(slope, frequent, frequent_slope)
    return f, sigma, slope


def _activations(anchors: Floats, covariances: Floats, joint: Floats, packed: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of w.x + b for every pair of an anchor and a column, in buffers."""
    shape = len(anchors), len(joint)
    mean = np.matmul(anchors, joint[:, :-1].T, out=scratch("mean", shape))
    mean += joint[:, -1]
    return mean, np.matmul(covariances, packed.T, out=scratch("variance", shape))


def _column_slices(n_columns: int, n_cells: int) -> Iterator[slice]:
    """Yield slices of columns with at most PAIRS_AT_ONCE pairs."""
    step = max(1, PAIRS_AT_ONCE // max(n_cells, 1))
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))


def at_anchors(joint: Floats, copies: Floats, anchors: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Return gradient and packed Hessian of F(x) = Sum_j f(w_j.x + b_j), smoothed by N(0, C), at every anchor.

    `copies` is the number of columns that share the (w, b) of a row of `joint`.
    """
    n_cells, q = anchors.shape
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    gradient, hessian = np.zeros((n_cells, q)), np.zeros((n_cells, packed_size(q)))
    for part in _column_slices(len(joint), n_cells):
        activations = _activations(anchors, covariances, joint[part], packed[part])
        _, sigma, slope = expectations(*activations)
        gradient += sigma @ (joint[part, :-1] * copies[part, None])
        hessian += slope @ (packed[part] * copies[part, None])
    return gradient, hessian


def softplus_sums(joint: Floats, weights: Floats, means: Floats, covariances: Floats) -> Floats:
    """Return Sum_a N_a E f(w_j.x + b_j), x ~ N(mean_a, T_a), for every column."""
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    out = np.empty(len(joint))
    for part in _column_slices(len(joint), len(weights)):
        activations = _activations(means, covariances, joint[part], packed[part])
        out[part] = weights @ expectations(*activations)[0]
    return out


def softplus_steps(joint: Floats, weights: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the sums of `softplus_sums`, their gradient (columns, q + 1) and a packed matrix for a Newton step."""
    q = means.shape[1]
    packed = pack_outer(np.ascontiguousarray(joint[:, :-1]))
    extended = np.column_stack([means, np.ones(len(means))])
    moments = pack_outer(extended)
    moments[:, inner_places(q + 1)] += covariances
    column = weights[:, None]
    slope_terms = np.column_stack([column * covariances, column * moments])
    inner = packed_size(q)
    out, gradient = np.empty(len(joint)), np.empty((len(joint), q + 1))
    matrix = np.empty((len(joint), packed_size(q + 1)))
    for part in _column_slices(len(joint), len(weights)):
        activations = _activations(means, covariances, joint[part], packed[part])
        f, sigma, slope = expectations(*activations)
        out[part] = weights @ f
        gradient[part] = sigma.T @ (column * extended)
        slope_sums = slope.T @ slope_terms
        gradient[part, :-1] += times(np.ascontiguousarray(slope_sums[:, :inner]), joint[part, :-1])
        matrix[part] = slope_sums[:, inner:]
    return out, gradient, matrix


# The start: principal components, with cells for the prior of x.

MAX_LOADING = 1.0  # of the start: where 1s are rare, larger loadings lead to a worse maximum
# A table with at least 20 times as many rows starts from a sample of START_ROWS, unless it has too many cells.
START_ROWS, MIN_ROWS_RATIO, MAX_SAMPLE_CELLS, ROWS_PER_BLOCK = 50_000, 20, 1 << 26, 4096
COVARIANCE_STEPS = 4  # of the fixed-point iteration for the covariances at the anchors


def _product(means: Floats, scale: Floats, V: Floats, block: Block) -> Product:
    product = centered_product(means, scale[:, None] * V, block, block.weights)
    return Product(scale[:, None] * product)


def _passes_over_sample(summary: ColumnSums, key: Key, passes: Passes) -> Passes:
    """Return a function that sums over a sample of a long table (read once), or `passes` itself for other tables."""
    weight, d = float(summary.weight), len(summary.means)
    if weight < MIN_ROWS_RATIO * START_ROWS or START_ROWS * d > MAX_SAMPLE_CELLS:
        return passes
    seed = int(key.stream("subsample").rng().integers(2**62))
    sample: SomeRows = passes(RowSampler(seed, START_ROWS / weight))
    grid = sample.table(weight).grid(ROWS_PER_BLOCK)

    def over_sample(function: Callable[[Block], Any]) -> Any:
        blocks = iter(grid.blocks)
        total = function(next(blocks))
        for block in blocks:
            total += function(block)
        return total

    return over_sample


def start_sparse(
    n_components: int, n_cells: int, start_from: str, summary: ColumnSums, key: Key, passes: Passes
) -> AnchoredParams:
    """Return the start of a restart: principal components the first time, later random loadings.

    Columns are first divided by the fourth root of their variance: a compromise between covariances, to which rare
    columns contribute nothing, and correlations, in which they are mostly noise.
    """
    means, q = summary.means, n_components
    d, variances = len(means), means * (1.0 - means)
    noise = key.rng().standard_normal((d, q))
    empty = ((summary.ones == 0.0) & (summary.observed == summary.weight)).astype(np.float64)
    if start_from == "noise" or key.restart > 0:
        W = RANDOM_LOADING_STD * noise
    else:
        scale = np.where(empty > 0.0, 0.0, variances**-0.25)
        V = np.linalg.qr(noise[:, : min(q, d)])[0]
        passes = _passes_over_sample(summary, key, passes)
        for _ in range(SUBSPACE_PASSES):
            V = np.linalg.qr(passes(partial(_product, means, scale, V)).product)[0]
        product = passes(partial(_product, means, scale, V)).product
        sizes, rotation = np.linalg.eigh(V.T @ product / float(summary.weight))
        spread = V @ (rotation * np.sqrt(np.maximum(sizes, 0.0)))[:, ::-1]
        W = 0.01 * RANDOM_LOADING_STD * noise  # a dimension that begins at exactly 0 would stay at 0
        W[:, : V.shape[1]] += np.clip(spread / variances[:, None] ** 0.75, -MAX_LOADING, MAX_LOADING)
    W[empty > 0.0] = 0.0
    b = np.log(means) - np.log1p(-means)
    params = with_cells(W, b, empty, n_cells)
    columns, copies = params.distinct
    precision = params.covariances.copy()
    for _ in range(COVARIANCE_STEPS):  # half steps: full steps would oscillate
        covariance = invert(precision, q)[0]
        precision = 0.5 * (
            precision + identity(q) + at_anchors(params.joint[columns], copies, params.anchors, covariance)[1]
        )
    np.copyto(params.covariances, invert(precision, q)[0])
    return params


def with_cells(W: Floats, b: Floats, empty: Floats, n_cells: int) -> AnchoredParams:
    """Return the parameters with cells for the prior of x."""
    q = W.shape[1]
    axis, threshold, child, anchors = cut(np.ones(1), np.zeros((1, q)), np.ones((1, q)), n_cells)
    return AnchoredParams(
        loadings=W,
        intercepts=b,
        center=b.copy(),
        empty=empty,
        axis=axis,
        threshold=threshold,
        child=child,
        anchors=anchors,
        covariances=np.tile(identity(q), (len(anchors), 1)),
    )
