"""Where passes by the ones begin: principal components, with cells for the prior of x."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.row_sampling import RowSampler, SomeRows
from hiddenbits.data.summary import Summary
from hiddenbits.families.logistic_pca.by_ones.cells import cut
from hiddenbits.families.logistic_pca.by_ones.expectations import at_anchors
from hiddenbits.families.logistic_pca.by_ones.params import AnchoredParams
from hiddenbits.families.logistic_pca.start import NOISE, PASSES, Product, centred_product
from hiddenbits.maths.packed_symmetric import identity, invert
from hiddenbits.model_api import Key, Passes

STEEPEST = 1.0  # loadings begin within this: where ones are rare, larger ones end in a worse maximum
# A table of 20 times as many rows is begun on so many of them, unless they are too wide to be held.
SAMPLE_ROWS, MIN_RATIO, MOST_CELLS, CHUNK = 50_000, 20, 1 << 26, 4096
ROUNDS = 4  # of the covariances at the anchors


def _product(means: Floats, scale: Floats, V: Floats, block: Block) -> Product:
    product = centred_product(means, scale[:, None] * V, block, block.weights)
    return Product(scale[:, None] * product)


def _on_some_rows(summary: Summary, key: Key, passes: Passes) -> Passes:
    """Return what sums over some rows of a long table, which are read once; over all rows of other tables."""
    weight, d = float(summary.weight), len(summary.means)
    if weight < MIN_RATIO * SAMPLE_ROWS or SAMPLE_ROWS * d > MOST_CELLS:
        return passes
    seed = int(key.stream("subsample").rng().integers(2**62))
    drawn: SomeRows = passes(RowSampler(seed, SAMPLE_ROWS / weight))
    grid = drawn.table(weight).grid(CHUNK)

    def over_sample(function: Callable[[Block], Any]) -> Any:
        blocks = iter(grid.blocks)
        total = function(next(blocks))
        for block in blocks:
            total += function(block)
        return total

    return over_sample


def start_by_ones(
    n_components: int, n_cells: int, start_from: str, summary: Summary, key: Key, passes: Passes
) -> AnchoredParams:
    """Return the start of a restart: principal components the first time, random loadings afterwards.

    The components are those of columns divided by the fourth root of their variance: between covariances, which rare
    columns have no say in, and correlations, where they are mostly noise.
    """
    means, q = summary.means, n_components
    d, variances = len(means), means * (1.0 - means)
    noise = key.rng().standard_normal((d, q))
    empty = ((summary.ones == 0.0) & (summary.observed == summary.weight)).astype(np.float64)
    if start_from == "noise" or key.restart > 0:
        W = NOISE * noise
    else:
        scale = np.where(empty > 0.0, 0.0, variances**-0.25)
        V = np.linalg.qr(noise[:, : min(q, d)])[0]
        passes = _on_some_rows(summary, key, passes)
        for _ in range(PASSES):
            V = np.linalg.qr(passes(partial(_product, means, scale, V)).product)[0]
        product = passes(partial(_product, means, scale, V)).product
        sizes, turn = np.linalg.eigh(V.T @ product / float(summary.weight))
        spread = V @ (turn * np.sqrt(np.maximum(sizes, 0.0)))[:, ::-1]
        W = 0.01 * NOISE * noise  # a dimension that begins at exactly 0 would stay there
        W[:, : V.shape[1]] += np.clip(spread / variances[:, None] ** 0.75, -STEEPEST, STEEPEST)
    W[empty > 0.0] = 0.0
    b = np.log(means) - np.log1p(-means)
    params = with_cells(W, b, empty, n_cells)
    columns, copies = params.distinct
    precision = params.covariances.copy()
    for _ in range(ROUNDS):  # half way each time: whole steps would swing
        covariance = invert(precision, q)[0]
        precision = 0.5 * (
            precision + identity(q) + at_anchors(params.joint[columns], copies, params.anchors, covariance)[1]
        )
    np.copyto(params.covariances, invert(precision, q)[0])
    return params


def with_cells(W: Floats, b: Floats, empty: Floats, n_cells: int) -> AnchoredParams:
    """Return the map with cells for the prior of x."""
    q = W.shape[1]
    axis, threshold, child, anchors = cut(np.ones(1), np.zeros((1, q)), np.ones((1, q)), n_cells)
    return AnchoredParams(
        loadings=W,
        intercepts=b,
        centre=b.copy(),
        empty=empty,
        axis=axis,
        threshold=threshold,
        child=child,
        anchors=anchors,
        covariances=np.tile(identity(q), (len(anchors), 1)),
        age=np.zeros(()),
        best=np.asarray(-np.inf),
        stalled=np.zeros(()),
    )
