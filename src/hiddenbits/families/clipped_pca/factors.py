"""From the 2 x 2 tables of all pairs of columns to the probit factor model: no rows are needed.

1. C^XX pair by pair: tetrachoric correlations (eq. 10), or sin(pi C^SS / 2) where there are no biases (eq. 7).
2. Estimated pair by pair, C^XX may have large negative eigenvalues: they are raised to FLOOR, and the matrix is scaled
   back to a unit diagonal. Without the scaling, |w|^2 > 1 for many columns.
3. W from the leading eigenpairs; |w|^2 is capped, so that every column keeps some noise.
4. These eigenpairs have a part of each column's own noise in them: with many columns hardly any, with five so much that
   the model is worse than none. So |w|^2 takes the place of the diagonal, and W is found again: principal-axis
   factoring, a few steps of it. Many would drive some |w|^2 to the cap (a Heywood case).

Columns that do not vary have w = 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.special import ndtr

from hiddenbits.array_types import Floats
from hiddenbits.data import AllOnes, Bits, Block, Dense
from hiddenbits.families.clipped_pca.params import ClippedParams, ClippedStats
from hiddenbits.maths.bivariate_normal import orthant_probability
from hiddenbits.maths.nearest_correlation import clipped
from hiddenbits.maths.pair_counts import PairCounts, count_pairs
from hiddenbits.maths.tetrachoric import fit_pairs, varies_not

FLOOR = 1e-6  # smallest eigenvalue of the corrected matrix
FEW = 8  # Lanczos finds the leading eigenpairs sooner where they are fewer than this part of all,
WIDE = 200  # and columns are at least so many
QUANTILE = 0.95  # over tables of independent columns, for what eigenvalues reach by chance
FEWEST_TABLES, MOST_TABLES, PAIRS = 5, 100, 100_000  # with many columns spectra hardly differ from table to table
LONGEST, TALL = (
    4000,
    10,
)  # rows of such a table, and its height in columns, from which on chance shrinks as 1/sqrt(rows)
TINY = 1e-12  # a cell has at least this probability
NEAR_ONE = 1.0 - 1e-12
SIDE = 256  # columns on either side of a tile of pairs


def bit_covariances(counts: PairCounts, *, biases: bool) -> Floats:
    """Return C^SS: covariances of bits taken as -1 and 1, or <s_i s_j> itself where they are taken to have mean 0."""
    d = counts.n_columns
    seen = np.maximum(np.broadcast_to(counts.seen, (d, d)), np.finfo(float).tiny)
    first = counts.ones / seen
    both = counts.both / seen
    if biases:
        return np.asarray(4.0 * (both - first * first.T))
    found = np.where(counts.seen > 0.0, 4.0 * both - 2.0 * first - 2.0 * first.T + 1.0, 0.0)
    found = np.clip(0.5 * (found + found.T), -1.0, 1.0)  # sums of weights may be rounded differently on either side
    np.fill_diagonal(found, 1.0)
    return found


def hidden_correlations(
    counts: PairCounts, *, biases: bool, pseudo_rows: float, everywhere: bool
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return C^XX, h, and which columns vary."""
    if biases:
        fit, _ = fit_pairs(counts, pseudo_rows, everywhere, map)
        return fit.correlation, -fit.thresholds, ~varies_not(counts)
    found = np.sin(0.5 * np.pi * bit_covariances(counts, biases=False))  # eq. 7
    return found, np.zeros(counts.n_columns), counts.column_seen > 0.0


def params_of(
    counts: PairCounts,
    n_components: int | Literal["parallel"],
    *,
    biases: bool,
    pseudo_rows: float,
    everywhere: bool,
    cap: float,
    factor_steps: int,
    seed: int,
) -> ClippedParams:
    """Return the model that the counts make."""
    C, h, varies = hidden_correlations(counts, biases=biases, pseudo_rows=pseudo_rows, everywhere=everywhere)
    inner = np.ix_(varies, varies)
    spectrum = eigenvalues(C[inner])
    chance = np.zeros(0)
    if n_components == "parallel":
        chance = by_chance(counts, varies, biases=biases, pseudo_rows=pseudo_rows, everywhere=everywhere, seed=seed)
        n_components = above_chance(spectrum, chance)
    W = np.zeros((len(h), n_components))
    if varies.any():
        found = factors(clipped(C[inner], FLOOR), n_components, cap, factor_steps)
        W[varies, : found.shape[1]] = found
    bit_spectrum = eigenvalues(bit_covariances(counts, biases=biases)[inner])
    return ClippedParams(W, h, C, spectrum, bit_spectrum, chance)


def eigenvalues(matrix: Floats) -> Floats:
    """Return the eigenvalues of a symmetric matrix, largest first."""
    return np.array(np.linalg.eigvalsh(matrix)[::-1], np.float64)


def factors(matrix: Floats, n_components: int, cap: float, n_steps: int) -> Floats:
    """Return W: the leading eigenpairs of a correlation matrix, and after that steps of principal-axis factoring."""
    W, reduced = capped(leading(matrix, n_components), cap), matrix.copy()
    for _ in range(n_steps):
        np.fill_diagonal(reduced, (W**2).sum(axis=1))
        W = capped(leading(reduced, n_components), cap)
    return W


def capped(W: Floats, cap: float) -> Floats:
    """Return W with |w|^2 of at most `cap`; with a cap of 1, what the floor of eigenvalues left over is no noise."""
    size = np.maximum((W**2).sum(axis=1), np.finfo(float).tiny)
    most = np.where(size > 1.0 - 2.0 * FLOOR, 1.0, size) if cap == 1.0 else np.minimum(size, cap)
    return np.asarray(W * np.sqrt(most / size)[:, None])


def leading(matrix: Floats, n_components: int) -> Floats:
    """Return the leading eigenvectors, each as long as the root of its eigenvalue, its largest entry positive."""
    k = len(matrix)
    n = min(n_components, k)
    values, vectors = _lanczos(matrix, n) if k >= WIDE and FEW * n <= k else (None, None)
    if values is None or vectors is None:
        values, vectors = eigh(matrix, subset_by_index=(k - n, k - 1))
    order = np.argsort(-values, kind="stable")
    found = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    largest = np.abs(found).argmax(axis=0)
    return np.asarray(found * np.where(found[largest, np.arange(n)] < 0.0, -1.0, 1.0))


def _lanczos(matrix: Floats, n: int) -> tuple[Floats | None, Floats | None]:
    """Return leading eigenpairs; None where they are too close to each other for the method."""
    start = np.random.default_rng(0).standard_normal(len(matrix))  # always the same, for the same bits
    try:
        values, vectors = eigsh(matrix, k=n, which="LA", v0=start, tol=1e-13)
    except ArpackError:
        return None, None
    return values, vectors


def by_chance(
    counts: PairCounts,
    varies: NDArray[np.bool_],
    *,
    biases: bool,
    pseudo_rows: float,
    everywhere: bool,
    seed: int,
) -> Floats:
    """Return what the eigenvalues of C^XX reach by chance: the 95% points over tables of independent columns.

    Horn's parallel analysis. The tables have the rows, the margins and the share of blanks of the given one. Of very
    long tables only a part is drawn, and how far eigenvalues stray from 1 is scaled by the root of the rows.
    """
    ones, seen = counts.column_ones[varies], counts.column_seen[varies]
    k, rows = len(ones), max(2, round(float(np.max(counts.seen))))
    drawn = min(rows, max(LONGEST, TALL * k))
    rng, found = np.random.default_rng([seed, 0xC4A]), []
    for _ in range(int(np.clip(PAIRS / max(k * k / 2, 1), FEWEST_TABLES, MOST_TABLES))):
        x = (rng.random((drawn, k)) < ones / seen).astype(np.uint8)
        observed: Bits = AllOnes(x.shape)
        if counts.seen.size > 1:
            kept = (rng.random(x.shape) < seen / rows).view(np.uint8)
            x, observed = x & kept, Dense(kept)
        block = Block(Dense(x), observed, np.ones(drawn), 0, 0)
        C, *_ = hidden_correlations(count_pairs(block), biases=biases, pseudo_rows=pseudo_rows, everywhere=everywhere)
        found.append(eigenvalues(C))
    reached = np.quantile(found, QUANTILE, axis=0) if k else np.zeros(0)
    return np.asarray(1.0 + (reached - 1.0) * np.sqrt(drawn / rows))


def above_chance(spectrum: Floats, chance: Floats) -> int:
    """Return how many leading eigenvalues are above what chance reaches, at least 1."""
    below = np.flatnonzero(spectrum <= chance)
    return max(1, int(below[0]) if len(below) else len(spectrum))


def pair_log_likelihood(params: ClippedParams, counts: PairCounts) -> float:
    """Return the pairwise log-likelihood of the model: each column counts in all of its d - 1 pairs, and is divided so.

    Sum_{i<j} Sum_cells n ln P / (d - 1): for independent columns it is the log-likelihood itself. Otherwise it leaves
    out what more than two columns have to do with each other.
    """
    d, h, W = params.n_columns, params.biases, params.loadings
    if d == 1:
        ones, seen, p = counts.column_ones, counts.column_seen, np.clip(ndtr(h), TINY, 1.0 - TINY)
        return float((ones * np.log(p) + (seen - ones) * np.log1p(-p))[0])
    total, cuts = 0.0, [slice(start, min(start + SIDE, d)) for start in range(0, d, SIDE)]
    for number, rows in enumerate(cuts):
        for columns in cuts[number:]:
            pairs = np.arange(rows.start, rows.stop)[:, None] < np.arange(columns.start, columns.stop)
            cells = [cell[pairs] for cell in counts.cells(rows, columns)]
            first, second = (np.broadcast_to(x, pairs.shape)[pairs] for x in (h[rows, None], h[columns]))
            for cell, p in zip(cells, cell_probabilities(first, second, (W[rows] @ W[columns].T)[pairs]), strict=True):
                total += float(cell @ np.log(np.maximum(p, TINY)))
    return total / (d - 1)


def cell_probabilities(h: Floats, k: Floats, rho: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return P of the four cells of pairs, in the order of `Cells`."""
    p, q, both = ndtr(h), ndtr(k), orthant_probability(h, k, np.clip(rho, -NEAR_ONE, NEAR_ONE))
    return both, p - both, q - both, 1.0 - p - q + both


def expected_counts(params: ClippedParams, weight: float) -> ClippedStats:
    """Return the counts of rows that are just as C^XX says, for further rows to be added to those of a fit."""
    h = params.biases
    first, second = np.broadcast_arrays(h[:, None], h)
    both = cell_probabilities(first.ravel(), second.ravel(), params.correlation.ravel())[0].reshape(first.shape)
    both = 0.5 * weight * (both + both.T)
    ones = weight * ndtr(h)
    np.fill_diagonal(both, ones)
    return ClippedStats(both, ones[:, None].copy(), np.full((1, 1), weight), np.asarray(weight))
