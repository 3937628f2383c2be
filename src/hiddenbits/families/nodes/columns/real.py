"""Continuous columns: a normal distribution at each node, with independent columns or with covariances.

Columns are centered and scaled by their means and standard deviations in the table of the fit, z = (x - center)/scale,
because sums of squares of years or incomes would cancel. With independent columns, the log-density is linear in z^2, z
and o (1 if observed):

    ln p(x | k) = Sum_j o_j [ -z_j^2 / 2v + z_j m / v - (ln v + m^2 / v + ln 2 pi) / 2 - ln scale_j ],   m, v of j and k

With covariances V_k within nodes, a row has the density of its observed cells, and adds to the sums of its node the
expected values, and their covariance, of its missing cells given the observed ones.

A node that sits on one repeated value has no maximum likelihood, so no variance (with covariances: no eigenvalue of V)
is below `VARIANCE_FLOOR` of the variance of the column. The prior of strength s counts as s rows with the variances of
the table: ln prior = -s/2 Sum_k [ ln |V_k| + trace V_k^-1 ] in units of z; covariances that all nodes share count once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats

LOG_2PI = float(np.log(2.0 * np.pi))
VARIANCE_FLOOR = 1e-6  # smallest variance at a node, as a share of the variance of the column
MIN_EIGENVALUE_RATIO = 1e-12  # of covariances: with smaller ones, rounding may make the smallest negative
MAX_LOG_SPREAD = 20.0  # of a standard deviation in units of the table's, as a coordinate of the extrapolation
TIED = ("tied", "tied_diag")


def coefficients(means: Floats, variances: Floats, scales: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the coefficients of z^2, z and o for independent columns, each (q, K)."""
    constants = -0.5 * (np.log(variances) + means**2 / variances + LOG_2PI) - np.log(scales)[:, None]
    return -0.5 / variances, means / variances, constants


class MissingPattern(NamedTuple):
    """The rows with the same observed cells: which rows, which cells, and the cells, (rows, observed columns)."""

    rows: NDArray[np.intp] | slice
    observed: NDArray[np.bool_]
    cells: Floats


def patterns_of(z: Floats) -> list[MissingPattern]:
    """Return the rows of each pattern of observed cells."""
    observed = ~np.isnan(z)
    if observed.all():
        return [MissingPattern(slice(None), np.ones(z.shape[1], bool), z)]
    packed = np.packbits(observed, axis=1)  # a row is one number of several bytes, which sorts faster than its cells
    as_numbers = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, pattern_of, sizes = np.unique(as_numbers, return_index=True, return_inverse=True, return_counts=True)
    by_pattern = np.split(np.argsort(pattern_of, kind="stable"), np.cumsum(sizes)[:-1])
    kinds = zip(by_pattern, observed[first], strict=True)
    return [MissingPattern(rows, o, z[np.ix_(rows, o)]) for rows, o in kinds]


class Whitening(NamedTuple):
    """The product that makes the observed columns independent, with variances of 1, at all K nodes at once.

    With V = L L', cells @ product - means are L^-1 (z - m) of each node, (rows, K o); `constants` are ln p at the mean.
    """

    product: Floats
    means: Floats
    constants: Floats


def whitening(means: Floats, covariances: Floats, scales: Floats, o: NDArray[np.bool_]) -> Whitening:
    """Return how the columns `o` become independent; means (q, K), covariances (q, q, K)."""
    factors = np.linalg.inv(np.linalg.cholesky(covariances[o][:, o].transpose(2, 0, 1)))
    log_roots = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    return Whitening(
        factors.transpose(2, 0, 1).reshape(o.sum(), len(factors) * o.sum()),
        (factors @ means[o].T[:, :, None]).ravel(),
        log_roots - 0.5 * o.sum() * LOG_2PI - np.log(scales[o]).sum(),
    )


def log_densities(patterns: list[MissingPattern], whitening_of: Callable[[NDArray[np.bool_]], Whitening]) -> Floats:
    """Return ln p of the observed cells of each row at each node, (n, K), with covariances."""

    def of_pattern(pattern: MissingPattern) -> Floats:
        white = whitening_of(pattern.observed)
        deviations = pattern.cells @ white.product
        deviations -= white.means
        by_node = deviations.reshape(len(deviations), len(white.constants), pattern.cells.shape[1])
        return np.asarray(white.constants - 0.5 * np.einsum("nkj,nkj->nk", by_node, by_node))

    return _in_order(patterns, of_pattern)


def _in_order(patterns: list[MissingPattern], of_pattern: Callable[[MissingPattern], Floats]) -> Floats:
    """Return a function of the rows of each pattern, in the order of the rows."""
    parts = [of_pattern(pattern) for pattern in patterns]
    if len(parts) == 1:
        return parts[0]
    out = np.empty((sum(map(len, parts)), *parts[0].shape[1:]))
    for pattern, part in zip(patterns, parts, strict=True):
        out[pattern.rows] = part
    return out


def moments(patterns: list[MissingPattern], r: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Return Sum_n r E[z], (q, K), and Sum_n r E[z z'], (q, q, K), given the observed cells, with covariances."""
    first, second = np.zeros(means.shape), np.zeros(covariances.shape)
    for pattern in patterns:
        of_rows = r[pattern.rows]
        if pattern.observed.all():
            transposed = np.ascontiguousarray(pattern.cells.T)
            first += transposed @ of_rows
            for k, weights in enumerate(of_rows.T):
                second[:, :, k] += (transposed * weights) @ pattern.cells
            continue
        expected, spread = _expected(pattern, means, covariances)
        weighted = expected * of_rows.T[:, :, None]
        first += weighted.sum(axis=1).T
        second += (weighted.transpose(0, 2, 1) @ expected).transpose(1, 2, 0) + of_rows.sum(axis=0) * spread
    return first, second


def imputed(patterns: list[MissingPattern], r: Floats, means: Floats, covariances: Floats) -> Floats:
    """Return E[z | observed cells] of each cell, averaged over nodes with r, with covariances."""

    def of_pattern(pattern: MissingPattern) -> Floats:
        if pattern.observed.all():
            return pattern.cells
        expected, _ = _expected(pattern, means, covariances)
        return np.asarray(np.einsum("nk,knj->nj", r[pattern.rows], expected))

    return _in_order(patterns, of_pattern)


def _expected(pattern: MissingPattern, means: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Return rows of one pattern with E[missing | observed] at each node, (K, n, q), and the missing cells' spread."""
    o, m = pattern.observed, ~pattern.observed
    by_node = covariances.transpose(2, 0, 1)
    expected = np.empty((len(by_node), len(pattern.cells), len(o)))
    spread = np.zeros(covariances.shape)
    of_observed, of_both = by_node[:, o][:, :, o], by_node[:, o][:, :, m]
    slopes = np.linalg.solve(of_observed, of_both)
    expected[:, :, o] = pattern.cells
    expected[:, :, m] = means[m].T[:, None, :] + (pattern.cells - means[o].T[:, None, :]) @ slopes
    spread[np.ix_(m, m)] = (by_node[:, m][:, :, m] - of_both.transpose(0, 2, 1) @ slopes).transpose(1, 2, 0)
    return expected, spread


# The M-step. Variances are (q, 1, K), covariances (q, q, K), in units of z.


def updated_covariances(
    scatter: Floats, cells: Floats, prior_strength: float, covariance_type: str, previous: Floats
) -> Floats:
    """Return the variances or covariances from sums of squared deviations, and the weight of the cells of each column.

    Parameters
    ----------
    scatter : ndarray of shape (q, 1 or q, K)
        Sums of squares and products of deviations from the means.
    cells : ndarray of shape (q or 1, K)
        Weight of the observed cells.
    prior_strength, covariance_type
        As for `LatentClassAnalysis`.
    previous : ndarray
        The variances so far, which stay where there is neither a row nor a prior.
    """
    cells = np.broadcast_to(cells, (scatter.shape[0], scatter.shape[2]))[:, None, :]
    if covariance_type in TIED:
        scatter, cells = scatter.sum(axis=2, keepdims=True), cells.sum(axis=2, keepdims=True)
    of_table = np.ones(scatter.shape) if scatter.shape[1] == 1 else np.eye(len(scatter))[:, :, None]
    total = cells + prior_strength
    updated = np.where(total > 0.0, (scatter + prior_strength * of_table) / np.where(total > 0.0, total, 1.0), previous)
    return with_floor(np.broadcast_to(updated, previous.shape))


def with_floor(covariances: Floats) -> Floats:
    """Return variances of at least the floor; of covariances the eigenvalues."""
    if covariances.shape[1] <= 1:
        return np.maximum(covariances, VARIANCE_FLOOR)
    values, vectors = np.linalg.eigh(covariances.transpose(2, 0, 1))
    floor = np.maximum(VARIANCE_FLOOR, MIN_EIGENVALUE_RATIO * values[:, -1:])
    if (values >= floor).all():
        return np.ascontiguousarray(covariances)
    values = np.maximum(values, floor)
    return np.ascontiguousarray(((vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)).transpose(1, 2, 0))


def log_prior(covariances: Floats, covariance_type: str) -> float:
    """Return the log prior of strength 1, up to a constant."""
    if covariance_type in TIED:
        covariances = covariances[:, :, :1]
    if covariances.shape[1] <= 1:
        return float(-0.5 * (np.log(covariances) + 1.0 / covariances).sum())
    by_node = covariances.transpose(2, 0, 1)
    return float(-0.5 * (np.linalg.slogdet(by_node)[1] + np.trace(np.linalg.inv(by_node), axis1=1, axis2=2)).sum())


# Coordinates of the extrapolation: logs of variances, or the Cholesky factor with the log of its diagonal.


def to_vector(covariances: Floats) -> Floats:
    """Return unbounded coordinates."""
    if covariances.shape[1] <= 1:
        return np.asarray(0.5 * np.log(covariances).ravel())
    factors = np.linalg.cholesky(covariances.transpose(2, 0, 1))
    i = np.arange(len(covariances))
    factors[:, i, i] = np.log(factors[:, i, i])
    return np.asarray(factors[(slice(None), *np.tril_indices(len(covariances)))].ravel())


def from_vector(vector: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the variances or covariances of this shape at any coordinates."""
    q, width, n_nodes = shape
    if width <= 1:
        spreads = np.clip(vector, -MAX_LOG_SPREAD, MAX_LOG_SPREAD).reshape(shape)
        return with_floor(np.exp(2.0 * spreads))
    factors = np.zeros((n_nodes, q, q))
    largest = np.exp(MAX_LOG_SPREAD)
    factors[(slice(None), *np.tril_indices(q))] = np.clip(vector.reshape(n_nodes, -1), -largest, largest)
    i = np.arange(q)
    factors[:, i, i] = np.exp(np.clip(factors[:, i, i], -MAX_LOG_SPREAD, MAX_LOG_SPREAD))
    return with_floor((factors @ factors.transpose(0, 2, 1)).transpose(1, 2, 0))


def n_coordinates(shape: tuple[int, ...]) -> int:
    """Return the length of `to_vector`."""
    q, width, n_nodes = shape
    return q * n_nodes if width <= 1 else n_nodes * q * (q + 1) // 2
