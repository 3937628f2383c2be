"""Starts of logistic PCA: principal components, from a few passes over the table; for online EM, an earlier fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.operands import sums_over_rows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.logistic_pca.params import LogisticParams, LogisticStats
from hiddenbits.maths.gauss_hermite import hermite
from hiddenbits.maths.packed_symmetric import pack
from hiddenbits.maths.ridge import effective_ridge
from hiddenbits.model_api import Key, Passes

SUBSPACE_PASSES = 4  # subspace iterations, enough for a start
RANDOM_LOADING_STD = 0.1
MAX_LOADING = 4.0  # of the start: otherwise rare columns could begin with loadings of any size


@dataclass(frozen=True, eq=False)
class Product(Arrays):
    """Z'Z V, summed over blocks."""

    product: Floats


def _product(means: Floats, V: Floats, block: Block) -> Product:
    return Product(centered_product(means, V, block, block.weights))


def centered_product(means: Floats, V: Floats, block: Block, weights: Floats) -> Floats:
    """Return Z'(Z V), with Z the centered columns, 0 where a cell is missing, without a columns x columns matrix."""
    x, o = block.operands()
    R = np.asarray(x @ V - o @ (means[:, None] * V)) * weights[:, None]
    return np.asarray(sums_over_rows(x, R) - means[:, None] * sums_over_rows(o, R))


def start_logistic(n_components: int, start_from: str, summary: ColumnSums, key: Key, passes: Passes) -> LogisticParams:
    """Return the start of a restart: principal components the first time, later random loadings."""
    means = summary.means
    d, q = len(means), n_components
    b = np.log(means) - np.log1p(-means)
    noise = key.rng().standard_normal((d, q))
    if start_from == "noise" or key.restart > 0:
        return LogisticParams(RANDOM_LOADING_STD * noise, b, b.copy())
    rank = min(q, d)
    V = np.linalg.qr(noise[:, :rank])[0]
    for _ in range(SUBSPACE_PASSES):
        product = passes(partial(_product, means, V)).product
        V = np.linalg.qr(product)[0]
    product = passes(partial(_product, means, V)).product
    return LogisticParams(first_loadings(means, V, product, float(summary.weight), noise), b, b.copy())


def first_loadings(means: Floats, V: Floats, product: Floats, weight: float, noise: Floats) -> Floats:
    """Return loadings from the last step of subspace iteration.

    Components of the columns, in standard deviations, are divided by p (1 - p), the slope of the sigmoid at p, so that
    the first solution is about that of a linear model.
    """
    variances, rotation = np.linalg.eigh(V.T @ product / weight)
    spread = V @ (rotation * np.sqrt(np.maximum(variances, 0.0)))[:, ::-1]
    W = 0.01 * RANDOM_LOADING_STD * noise  # a dimension that begins at exactly 0 would stay at 0
    W[:, : V.shape[1]] += np.clip(spread / (means * (1.0 - means))[:, None], -MAX_LOADING, MAX_LOADING)
    return W


def expected_statistics(params: LogisticParams, weight: float, ridge: float, *, refined: bool = False) -> LogisticStats:
    """Return the statistics that the parameters imply, for online EM to continue from a fit.

    Sum kappa <x^ x^'> is weight E[kappa(A) x^ x^'] under the prior: along w its moments are k0, k1, k2 of kappa(A),
    across w only k0. Sum r <x^> is chosen so that these parameters solve the update. In the refinement sigma'(A)
    replaces kappa(A).
    """
    W, b = params.loadings, params.intercepts
    size = np.maximum(np.sqrt((W * W).sum(axis=1)), 1e-12)
    z, p = hermite(61)
    A = np.maximum(np.abs(size[:, None] * z + b[:, None]), 1e-6)
    kappa = 0.25 / np.cosh(A / 2.0) ** 2 if refined else np.tanh(A / 2.0) / (2.0 * A)
    k0, k1, k2 = (kappa @ (p * z**power) for power in range(3))
    along, q = W / size[:, None], params.n_components
    matrices = np.empty((len(b), q + 1, q + 1))
    matrices[:, :q, :q] = k0[:, None, None] * np.eye(q)
    matrices[:, :q, :q] += (k2 - k0)[:, None, None] * along[:, :, None] * along[:, None, :]
    matrices[:, :q, q] = matrices[:, q, :q] = k1[:, None] * along
    matrices[:, q, q] = k0
    matrices *= weight
    offset = params.joint.copy()
    offset[:, -1] -= params.center
    linear = (matrices @ params.joint[..., None])[..., 0] + effective_ridge(ridge) * offset
    return LogisticStats(np.zeros(()), np.asarray(weight), pack(matrices), linear)
