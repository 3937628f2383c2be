"""Clipped PCA: a few continuous dimensions behind the bits, and a threshold for each (Lee & Sompolinsky 1998).

    y ~ N(0, I),  x = W y                                                                                 eqs 1, 2
    s_i = sgn(h_i + x_i)                                              eqs 3 and 8; h_i = Phi^-1(P(s_i = 1))  eq 9

The paper fits W to the correlations that pairs of bits imply (`factors`). As it stands the model gives most real
rows a probability of 0, and W W' from data has |w_i|^2 > 1. So every column has noise that makes up its variance to 1,

    s_i = sgn(h_i + w_i.y + sqrt(psi_i) e_i),  psi_i = 1 - |w_i|^2:  P(s_i = 1 | y) = Phi((h_i + w_i.y)/sqrt(psi_i)),

a probit factor model whose means are exact. All that a fit needs is one pass of counts.

| letter | meaning | shape |
|---|---|---|
| W | loadings, in units of a hidden variable's standard deviation | (d, P) |
| h | biases: Phi^-1(P(bit = 1)) | (d,) |
| psi | noise, 1 - |w|^2 | (d,) |
| C^XX, C^SS | correlations of the hidden variables, covariances of the bits taken as -1 and 1 | (d, d) |
| a, b | slopes w/sqrt(psi) and offsets h/sqrt(psi) of the probit model | (d, P), (d,) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.special import ndtr, ndtri

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import AllOnes, Bits, Block, Dense
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.clipped_pca.params import SLACK, ClippedParams, ClippedStats
from hiddenbits.families.clipped_pca.rows import ClippedRows
from hiddenbits.maths.nearest_correlation import clipped
from hiddenbits.maths.packed_symmetric import packed_size
from hiddenbits.maths.pair_counts import PairCounts, count_pairs
from hiddenbits.maths.tetrachoric import fit_pairs, is_constant, orthant_probability
from hiddenbits.model_api import Declared, Footprint, Key, Passes, Promises


@dataclass(frozen=True)
class Clipped(Declared[ClippedParams], ClippedRows):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int or "parallel"
        P; or as many as have larger eigenvalues than chance would give.
    biases : bool
        Whether columns have an h of their own; otherwise all h are 0, and eq. 7 holds.
    pseudo_rows : float
        Rows of independent columns that are added to the table of a pair with an empty cell.
    smooth : {"empty", "all"}
        Whether only such pairs get them.
    cap : float
        The largest |w|^2.
    factor_steps : int
        Steps of principal-axis factoring after PCA.
    n_draws, seed : int
        Draws a row, and their seed, where a likelihood is estimated by importance sampling.
    """

    n_components: int | Literal["parallel"] = 2
    biases: bool = True
    pseudo_rows: float = 1.0
    smooth: Literal["empty", "all"] = "empty"
    cap: float = 0.95
    factor_steps: int = 5
    n_draws: int = 200
    seed: int = 0

    promises = Promises(
        likelihood="estimate",
        monotone=False,
        accelerates=False,
        oracle="quadrature",
        why={
            "likelihood": "P(t) has no closed form: it is integrated on a grid, or estimated by importance sampling",
            "monotone": "one pass is all: there is nothing to rise or fall",
            "accelerates": "one pass is all",
        },
        closed_form=True,
    )
    letters: ClassVar = {"P": ("n_components", "dimensions")}
    params_type = ClippedParams
    stats_type = ClippedStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block of rows costs to infer; the heights of passes are those of `cooccurrence.block_rows`."""
        p = packed_size(1 if self.n_components == "parallel" else self.n_components)
        return Footprint(working=8 * n_columns + 6 * p, statistics=n_columns, flops=4.0 * n_columns * p)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> ClippedParams:
        """Return independent columns."""
        h = ndtri(summary.means) if self.biases else np.zeros(len(summary.ones))
        P, flat = 1 if self.n_components == "parallel" else self.n_components, np.ones(len(h))
        return ClippedParams(np.zeros((len(h), P)), h, np.eye(len(h)), flat, flat.copy(), np.zeros(0))

    def prepare(self, params: ClippedParams) -> None:
        """Return nothing: counts need no preparation."""
        return

    def expect(
        self, params: ClippedParams, shared: None, block: Block, carry: None, key: Key
    ) -> tuple[ClippedStats, None]:
        """Count the pairs of columns, whatever the parameters are."""
        counts = count_pairs(block)
        return ClippedStats(counts.both, counts.ones, counts.seen, np.asarray(block.weights.sum())), None

    def objective(self, params: ClippedParams, stats: ClippedStats) -> float:
        """Return the pairwise log-likelihood."""
        return pair_log_likelihood(params, stats)

    def update(self, params: ClippedParams, stats: ClippedStats) -> ClippedParams:
        """Return the model that the counts make; the parameters before do not matter."""
        C, h, varies = self.hidden_correlations(stats)
        inner, n_components = np.ix_(varies, varies), self.n_components
        spectrum, chance = eigenvalues(C[inner]), np.zeros(0)
        if n_components == "parallel":
            chance = self.by_chance(stats, varies)
            n_components = above_chance(spectrum, chance)
        W = np.zeros((len(h), n_components))
        if varies.any():
            leading = factors(clipped(C[inner], FLOOR), n_components, self.cap, self.factor_steps)
            W[varies, : leading.shape[1]] = leading
        bit_spectrum = eigenvalues(bit_covariances(stats, biases=self.biases)[inner])
        return ClippedParams(W, h, C, spectrum, bit_spectrum, chance)

    def hidden_correlations(self, counts: PairCounts) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return C^XX, h, and which columns vary."""
        if self.biases:
            fit, _ = fit_pairs(counts, self.pseudo_rows, self.smooth == "all", map)
            return fit.correlation, -fit.thresholds, ~is_constant(counts)
        C = np.sin(0.5 * np.pi * bit_covariances(counts, biases=False))  # eq. 7
        return C, np.zeros(counts.n_columns), counts.column_seen > 0.0

    def by_chance(self, counts: PairCounts, varies: NDArray[np.bool_]) -> Floats:
        """Return what the eigenvalues of C^XX reach by chance: the 95% points over tables of independent columns.

        Horn's parallel analysis. The tables have the rows, the margins and the share of blanks of the given one. Of
        very long tables only a part is drawn, and how far eigenvalues stray from 1 is scaled by the root of the rows.
        """
        ones, seen = counts.column_ones[varies], counts.column_seen[varies]
        k, rows = len(ones), max(2, round(float(np.max(counts.seen))))
        drawn = min(rows, max(LONGEST, TALL * k))
        rng, spectra = np.random.default_rng([self.seed, 0xC4A]), []
        for _ in range(int(np.clip(PAIRS / max(k * k / 2, 1), FEWEST_TABLES, MOST_TABLES))):
            x = (rng.random((drawn, k)) < ones / seen).astype(np.uint8)
            observed: Bits = AllOnes(x.shape)
            if counts.seen.size > 1:
                kept = (rng.random(x.shape) < seen / rows).view(np.uint8)
                x, observed = x & kept, Dense(kept)
            block = Block(Dense(x), observed, np.ones(drawn), 0, 0)
            spectra.append(eigenvalues(self.hidden_correlations(count_pairs(block))[0]))
        reached = np.quantile(spectra, QUANTILE, axis=0) if k else np.zeros(0)
        return np.asarray(1.0 + (reached - 1.0) * np.sqrt(drawn / rows))

    def corrected(self, params: ClippedParams) -> Floats:
        """Return C^XX with eigenvalues above 0 and a unit diagonal: what W is made of."""
        return clipped(params.correlation, FLOOR)

    def draw_with(self, params: ClippedParams, root: Floats, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows whose hidden variables have the correlations root @ root.T; a row's code has no columns."""
        z = rng.standard_normal((n, params.n_columns)) @ root.T
        z += params.biases
        return (z > 0.0).view(np.uint8), np.zeros((n, 0))

    def mismatch(self, params: ClippedParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if self.n_components != "parallel" and (flaw := super().mismatch(params)):
            return flaw
        if not self.biases and params.biases.any():
            return "it has biases where none are declared"
        if 1.0 - params.noise.min() > self.cap + SLACK:
            return f"its loadings explain more of a column than max_communality={self.cap:g}"
        return None

    def pseudo_statistics(self, params: ClippedParams, weight: float) -> ClippedStats:
        """Return the counts of rows that are just as C^XX says, for further rows to be added to those of a fit."""
        return expected_counts(params, weight)


# From the 2 x 2 tables of all pairs of columns to the probit factor model: no rows are needed.
#
# 1. C^XX pair by pair: tetrachoric correlations (eq. 10), or sin(pi C^SS / 2) where there are no biases (eq. 7).
# 2. Estimated pair by pair, C^XX may have large negative eigenvalues: they are raised to FLOOR, and the matrix is
#    scaled back to a unit diagonal. Without the scaling, |w|^2 > 1 for many columns.
# 3. W from the leading eigenpairs; |w|^2 is capped, so that every column keeps some noise.
# 4. These eigenpairs have a part of each column's own noise in them: with many columns hardly any, with five so much
#    that the model is worse than none. So |w|^2 takes the place of the diagonal, and W is found again: principal-axis
#    factoring, a few steps of it. Many would drive some |w|^2 to the cap (a Heywood case).
#
# Columns that do not vary have w = 0.

FLOOR = 1e-6  # smallest eigenvalue of the corrected matrix
FEW = 8  # Lanczos finds the leading eigenpairs sooner where they are fewer than this part of all,
WIDE = 200  # and columns are at least so many
QUANTILE = 0.95  # over tables of independent columns, for what eigenvalues reach by chance
FEWEST_TABLES, MOST_TABLES, PAIRS = 5, 100, 100_000  # with many columns spectra hardly differ from table to table
LONGEST, TALL = 4000, 10  # rows of such a table, and its height in columns: beyond, chance shrinks as 1/sqrt(rows)
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


# Lee and Sompolinsky's own way: the leading eigenvectors of C^XX as it was estimated, and bits without noise.
#
# Pairs with an empty cell get pseudo-rows here, too: the paper does not say what it did with them. Negative
# eigenvalues stay. A column is sgn(Delta + w.y) with Delta = |w| Phi^-1(P(bit = 1)) (eq 9), so that only the
# direction of w matters: rows of W are scaled to length 1, whatever share of the variance the eigenvectors left out
# or invented.

SILENT = 1e-9  # length of w below which the eigenvectors say nothing about a column


@dataclass(frozen=True)
class ClippedRaw(Clipped):
    """The model; hyperparameters only, those of `Clipped`."""

    def update(self, params: ClippedParams, stats: ClippedStats) -> ClippedParams:
        """Return the model that the counts make: eigenvectors of C^XX without a correction."""
        found = super().update(params, stats)
        varies = np.abs(found.correlation).sum(axis=1) > 1.0  # the others are correlated with nothing
        W = np.zeros_like(found.loadings)
        if varies.any():
            kept = leading(found.correlation[np.ix_(varies, varies)], W.shape[1])
            W[varies, : kept.shape[1]] = kept
        length = np.linalg.norm(W, axis=1, keepdims=True)
        unit = np.divide(W, length, out=np.zeros_like(W), where=length > SILENT)
        return replace(found, loadings=capped(unit, self.cap))
