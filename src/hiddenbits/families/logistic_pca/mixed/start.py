"""Where logistic PCA of mixed tables begins: shift and scale of the reals, then principal components of all numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block, TableError
from hiddenbits.data.summary import Summary
from hiddenbits.families.logistic_pca.mixed.params import MixedParams, MixedStats, Places
from hiddenbits.families.logistic_pca.params import LogisticParams, effective_ridge
from hiddenbits.families.logistic_pca.start import NOISE, PASSES, STEEPEST, expected_statistics
from hiddenbits.maths.packed_symmetric import identity, row_dot
from hiddenbits.model_api import Key, Passes

LEAST_SPREAD = 1e-12  # a column that varies by less than this share of its size is constant but for rounding


@dataclass(frozen=True, eq=False)
class Sum(Arrays):
    """One array, summed over blocks."""

    total: Floats


def _squares(reals: slice, shift: Floats, block: Block) -> Sum:
    """Return the weighted squares of the reals around `shift`."""
    away = (np.asarray(block.operands()[0])[:, reals] - shift) * _seen(block)[:, reals]
    return Sum(block.weights @ (away * away))


def _seen(block: Block) -> Floats:
    return block.observed.to_dense().astype(np.float64)


def _product(means: Floats, scale: Floats, V: Floats, block: Block) -> Sum:
    """Return Z'(Z V), Z the centred and scaled numbers with 0 for a missing one."""
    Z = (np.asarray(block.operands()[0]) - means) / scale * _seen(block)
    return Sum(Z.T @ ((Z @ V) * block.weights[:, None]))


def start_mixed(model: Any, summary: Summary, key: Key, passes: Passes) -> MixedParams:
    """Return the start of a restart: principal components the first time, random loadings afterwards.

    Components are in standard deviations of their columns; those of bits and categories are divided by p (1 - p), as
    in `logistic_pca/start.py`.
    """
    places: Places = model.places
    D, q = places.n_numbers, model.n_components
    shift, scale = _shift_and_scale(places, model.noise, summary, passes)
    means = _shares(places, summary)
    b = np.zeros(D)
    b[places.bits] = np.log(means[places.bits]) - np.log1p(-means[places.bits])
    for group in _groups(places):
        b[group] = np.log(means[group]) - np.log(means[group]).mean()
    noise = key.rng().standard_normal((D, q))
    W = NOISE * noise
    s2 = np.full(places.n_real, 0.5)
    if model.start_from == "pca" and key.restart == 0:
        W = _components(places, summary, means, shift, scale, noise, passes)
        s2 = 1.0 - (W[places.reals] ** 2).sum(axis=1)
    if model.noise == "shared":
        s2 = np.full(places.n_real, s2.mean() if places.n_real else 0.0)
    s2 = np.clip(s2, max(0.05, model.least_noise), None)
    return MixedParams(W, b, b.copy(), s2, shift, scale)


def _groups(places: Places) -> list[slice]:
    first = places.nominal.start
    return [slice(first + group.start, first + group.stop) for group in places.groups]


def _shares(places: Places, summary: Summary) -> Floats:
    """Return the share of ones of every bit and category, half a row from 0 and 1; 0 for reals."""
    means = summary.means.copy()
    for group in _groups(places):
        counts = summary.ones[group] + 0.5
        means[group] = counts / counts.sum()
    means[places.reals] = 0.0
    return means


def _shift_and_scale(places: Places, noise: str, summary: Summary, passes: Passes) -> tuple[Floats, Floats]:
    """Return the mean of every real column and its standard deviation.

    With one noise variance for all columns there is one scale for all: the variance is that of the numbers as they are.
    """
    if places.n_real == 0:
        return np.zeros(0), np.zeros(0)
    seen = summary.observed[places.reals]
    blank = np.flatnonzero(seen <= 0.0)
    if len(blank):
        raise TableError(
            f"All cells of real column {blank[0]} (counting only the real columns) are blank, so its mean and "
            "variance are unknown. Drop the column."
        )
    shift = summary.ones[places.reals] / seen
    variance = passes(partial(_squares, places.reals, shift)).total / seen
    variance = np.where(variance > (LEAST_SPREAD * shift) ** 2, variance, 0.0)
    if noise == "shared":
        variance = np.full_like(variance, variance.mean())
    return shift, np.sqrt(np.where(variance > 0.0, variance, 1.0))


def _components(
    places: Places, summary: Summary, means: Floats, shift: Floats, scale: Floats, noise: Floats, passes: Passes
) -> Floats:
    """Return loadings from the principal components, by a few steps of subspace iteration."""
    D, q = noise.shape
    centre, spread = means.copy(), np.ones(D)
    centre[places.reals], spread[places.reals] = shift, scale
    rank = min(q, D)
    V = np.linalg.qr(noise[:, :rank])[0]
    for _ in range(PASSES):
        V = np.linalg.qr(passes(partial(_product, centre, spread, V)).total)[0]
    product = passes(partial(_product, centre, spread, V)).total
    variances, turn = np.linalg.eigh(V.T @ product / float(summary.weight))
    along = V @ (turn * np.sqrt(np.maximum(variances, 0.0)))[:, ::-1]
    slope = means * (1.0 - means)
    slope[places.reals] = 1.0
    W = 0.01 * NOISE * noise  # a dimension that begins at exactly 0 would stay there
    W[:, :rank] += np.clip(along / slope[:, None], -STEEPEST, STEEPEST)
    for group in _groups(places):
        W[group] -= W[group].mean(axis=0)
    return W


def expected_mixed(places: Places, params: MixedParams, weight: float, ridge: float) -> MixedStats:
    """Return statistics of which these very parameters are the update; see `expected_statistics` for the bits.

    Rows as the prior has them: Sum <x^ x^'> is weight I for every real and nominal column.
    """
    joint, ridge, k = params.joint, effective_ridge(ridge), params.n_components + 1
    away = joint.copy()
    away[:, -1] -= params.centre
    parts = params.loadings[places.bits], params.intercepts[places.bits], params.centre[places.bits]
    bits = expected_statistics(LogisticParams.at(*parts), weight, ridge)
    linear = weight * joint + ridge * away
    linear[places.bits] = bits.linear
    reals = joint[places.reals]
    linear[places.reals] = weight * reals + ridge * params.noise[:, None] * away[places.reals]
    for group in _groups(places):
        linear[group] = 0.5 * weight * joint[group] + ridge * away[group]
        linear[group] -= linear[group].mean(axis=0)
    squares = weight * params.noise + 2.0 * row_dot(reals, linear[places.reals]) - weight * row_dot(reals, reals)
    flat = np.tile(weight * identity(k), (places.n_units - places.n_bits, 1))
    moments = np.concatenate([bits.moments, flat])
    seen = np.full(places.n_real, weight)
    return MixedStats(np.zeros(()), np.asarray(weight), moments, linear, squares, seen)
