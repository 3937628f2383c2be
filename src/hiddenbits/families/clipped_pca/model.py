"""Clipped PCA: binary columns are thresholded Gaussian variables with a few factors (Lee & Sompolinsky 1998).

    y ~ N(0, I),  x = W y                                                                                 eqs 1, 2
    s_i = sgn(h_i + x_i)                                              eqs 3 and 8; h_i = Phi^-1(P(s_i = 1))  eq 9

The paper fits W to correlations that are estimated from pairs of columns (`factors`). In that model most real rows have
probability 0, and |w_i|^2 may be above 1. So here every column has noise, and its latent variable a variance of 1,

    s_i = sgn(h_i + w_i.y + sqrt(psi_i) e_i),  psi_i = 1 - |w_i|^2:  P(s_i = 1 | y) = Phi((h_i + w_i.y)/sqrt(psi_i)),

a probit factor model whose means are exact. A fit needs only the counts of one pass.

| letter | meaning | shape |
|---|---|---|
| s | binary data as -1 and 1 | (rows, d) |
| y | latent positions | (rows, P) |
| W | loadings, in standard deviations of the latent variable x | (d, P) |
| h | biases: Phi^-1(P(s_i = 1)) | (d,) |
| psi | noise variances, 1 - |w|^2 | (d,) |
| C^XX, C^SS | correlations of the latent variables x, covariances of s | (d, d) |
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
        P; "parallel": the number of eigenvalues above chance.
    biases : bool
        Whether each column has its own h. False: all h are 0, and eq. 7 holds.
    pseudo_rows : float
        Rows of independent columns, added to the table of a pair with an empty cell.
    smooth : {"empty", "all"}
        Whether pseudo-rows are added only to such pairs, or to all.
    cap : float
        The largest |w|^2, the communality of a column.
    factor_steps : int
        Steps of principal-axis factoring after PCA.
    n_draws, seed : int
        Draws per row, and their seed, where a likelihood is estimated by importance sampling.
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
            "monotone": "there is a single pass",
            "accelerates": "there is a single pass",
        },
        closed_form=True,
    )
    letters: ClassVar = {"P": ("n_components", "dimensions")}
    params_type = ClippedParams
    stats_type = ClippedStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of inference for a block; a fit has blocks of `pair_counts.block_rows` rows."""
        p = packed_size(1 if self.n_components == "parallel" else self.n_components)
        return Footprint(working=8 * n_columns + 6 * p, statistics=n_columns, flops=4.0 * n_columns * p)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> ClippedParams:
        """Return independent columns."""
        h = ndtri(summary.means) if self.biases else np.zeros(len(summary.ones))
        P, ones = 1 if self.n_components == "parallel" else self.n_components, np.ones(len(h))
        return ClippedParams(np.zeros((len(h), P)), h, np.eye(len(h)), ones, ones.copy(), np.zeros(0))

    def prepare(self, params: ClippedParams) -> None:
        """Return None: counts need no preparation."""
        return

    def expect(
        self, params: ClippedParams, shared: None, block: Block, carry: None, key: Key
    ) -> tuple[ClippedStats, None]:
        """Count the pairs of columns; the parameters do not matter."""
        counts = count_pairs(block)
        return ClippedStats(counts.both, counts.ones, counts.seen, np.asarray(block.weights.sum())), None

    def objective(self, params: ClippedParams, stats: ClippedStats) -> float:
        """Return the pairwise log-likelihood."""
        return pair_log_likelihood(params, stats)

    def update(self, params: ClippedParams, stats: ClippedStats) -> ClippedParams:
        """Return the parameters that follow from the counts; the previous ones do not matter."""
        C, h, varies = self.latent_correlations(stats)
        varying, n_components = np.ix_(varies, varies), self.n_components
        spectrum, chance = eigenvalues(C[varying]), np.zeros(0)
        if n_components == "parallel":
            chance = self.chance_quantiles(stats, varies)
            n_components = n_above_chance(spectrum, chance)
        W = np.zeros((len(h), n_components))
        if varies.any():
            W_varying = factors(clipped(C[varying], MIN_EIGENVALUE), n_components, self.cap, self.factor_steps)
            W[varies, : W_varying.shape[1]] = W_varying
        bit_spectrum = eigenvalues(bit_covariances(stats, biases=self.biases)[varying])
        return ClippedParams(W, h, C, spectrum, bit_spectrum, chance)

    def latent_correlations(self, counts: PairCounts) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return C^XX, h, and which columns vary."""
        if self.biases:
            fit, _ = fit_pairs(counts, self.pseudo_rows, self.smooth == "all", map)
            return fit.correlation, -fit.thresholds, ~is_constant(counts)
        C = np.sin(0.5 * np.pi * bit_covariances(counts, biases=False))  # eq. 7
        return C, np.zeros(counts.n_columns), counts.column_seen > 0.0

    def chance_quantiles(self, counts: PairCounts, varies: NDArray[np.bool_]) -> Floats:
        """Return the 95% quantiles of the eigenvalues of C^XX over simulated tables of independent columns.

        Horn's parallel analysis. The simulated tables have the rows, margins and missing shares of the counted table.
        If that is very long, fewer rows are simulated, and the deviations of eigenvalues from 1, which are proportional
        to 1 / sqrt(rows), are scaled.
        """
        ones, cells = counts.column_ones[varies], counts.column_seen[varies]
        k, rows = len(ones), max(2, round(float(np.max(counts.seen))))
        simulated = min(rows, max(MIN_SIMULATED_ROWS, ROWS_PER_COLUMN * k))
        rng, spectra = np.random.default_rng([self.seed, 0xC4A]), []
        for _ in range(int(np.clip(SIMULATED_PAIRS / max(k * k / 2, 1), MIN_TABLES, MAX_TABLES))):
            x = (rng.random((simulated, k)) < ones / cells).astype(np.uint8)
            observed: Bits = AllOnes(x.shape)
            if counts.seen.size > 1:
                o = (rng.random(x.shape) < cells / rows).view(np.uint8)
                x, observed = x & o, Dense(o)
            block = Block(Dense(x), observed, np.ones(simulated), 0, 0)
            spectra.append(eigenvalues(self.latent_correlations(count_pairs(block))[0]))
        quantiles = np.quantile(spectra, CHANCE_QUANTILE, axis=0) if k else np.zeros(0)
        return np.asarray(1.0 + (quantiles - 1.0) * np.sqrt(simulated / rows))

    def corrected(self, params: ClippedParams) -> Floats:
        """Return C^XX with positive eigenvalues and a unit diagonal, from which W is computed."""
        return clipped(params.correlation, MIN_EIGENVALUE)

    def sample_all(self, params: ClippedParams, root: Floats, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Sample n rows whose latent variables have the correlations root @ root.T; they have no latent positions."""
        z = rng.standard_normal((n, params.n_columns)) @ root.T
        z += params.biases
        return (z > 0.0).view(np.uint8), np.zeros((n, 0))

    def mismatch(self, params: ClippedParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if self.n_components != "parallel" and (flaw := super().mismatch(params)):
            return flaw
        if not self.biases and params.biases.any():
            return "it has biases, but biases=False"
        if 1.0 - params.noise.min() > self.cap + SLACK:
            return f"its loadings explain more of a column than max_communality={self.cap:g}"
        return None

    def pseudo_statistics(self, params: ClippedParams, weight: float) -> ClippedStats:
        """Return the expected counts of rows from the model, to which `partial_fit` adds the counts of a batch."""
        return expected_counts(params, weight)


# From the 2 x 2 tables of all pairs of columns to the probit factor model, without the rows.
#
# 1. C^XX pair by pair: tetrachoric correlations (eq. 10), or sin(pi C^SS / 2) without biases (eq. 7).
# 2. Estimated pair by pair, C^XX may have large negative eigenvalues: they are raised to MIN_EIGENVALUE, and the matrix
#    is scaled back to a unit diagonal. Without the scaling, |w|^2 > 1 for many columns.
# 3. W from the leading eigenpairs; |w|^2 is capped, so that every column keeps some noise.
# 4. These eigenpairs contain a part of each column's noise: hardly any with many columns, but with five so much that
#    the model is worse than independent columns. So the diagonal is replaced by |w|^2, and W is computed again: a few
#    steps of principal-axis factoring. Many steps would drive some |w|^2 to the cap (a Heywood case).
#
# Columns that do not vary have w = 0.

MIN_EIGENVALUE = 1e-6  # smallest eigenvalue of the corrected matrix
LANCZOS_RATIO, MIN_LANCZOS_COLUMNS = 8, 200  # Lanczos is faster from 8 columns per eigenpair and 200 columns on
CHANCE_QUANTILE = 0.95  # quantile of the eigenvalues over simulated tables
MIN_TABLES, MAX_TABLES, SIMULATED_PAIRS = 5, 100, 100_000  # fewer tables with many columns: spectra then vary little
MIN_SIMULATED_ROWS, ROWS_PER_COLUMN = 4000, 10  # longer tables are simulated with max(4000, 10 d) rows
MIN_PROBABILITY = 1e-12  # of a cell
MAX_CORRELATION = 1.0 - 1e-12
TILE_COLUMNS = 256  # columns on either side of a tile of pairs


def bit_covariances(counts: PairCounts, *, biases: bool) -> Floats:
    """Return C^SS: the covariances of s; without biases the mean products <s_i s_j>."""
    d = counts.n_columns
    cells = np.maximum(np.broadcast_to(counts.seen, (d, d)), np.finfo(float).tiny)
    first = counts.ones / cells
    both = counts.both / cells
    if biases:
        return np.asarray(4.0 * (both - first * first.T))
    mean_product = np.where(counts.seen > 0.0, 4.0 * both - 2.0 * first - 2.0 * first.T + 1.0, 0.0)
    # Rounding may differ between (i, j) and (j, i).
    mean_product = np.clip(0.5 * (mean_product + mean_product.T), -1.0, 1.0)
    np.fill_diagonal(mean_product, 1.0)
    return mean_product


def eigenvalues(matrix: Floats) -> Floats:
    """Return the eigenvalues of a symmetric matrix, largest first."""
    return np.array(np.linalg.eigvalsh(matrix)[::-1], np.float64)


def factors(matrix: Floats, n_components: int, cap: float, n_steps: int) -> Floats:
    """Return W: the leading eigenpairs of a correlation matrix, refined by steps of principal-axis factoring."""
    W, reduced = cap_communalities(leading_components(matrix, n_components), cap), matrix.copy()
    for _ in range(n_steps):
        np.fill_diagonal(reduced, (W**2).sum(axis=1))
        W = cap_communalities(leading_components(reduced, n_components), cap)
    return W


def cap_communalities(W: Floats, cap: float) -> Floats:
    """Return W with |w|^2 of at most `cap`; with a cap of 1, noise that is only due to MIN_EIGENVALUE is removed."""
    communality = np.maximum((W**2).sum(axis=1), np.finfo(float).tiny)
    is_noiseless = communality > 1.0 - 2.0 * MIN_EIGENVALUE
    target = np.where(is_noiseless, 1.0, communality) if cap == 1.0 else np.minimum(communality, cap)
    return np.asarray(W * np.sqrt(target / communality)[:, None])


def leading_components(matrix: Floats, n_components: int) -> Floats:
    """Return the leading eigenvectors times the square roots of their eigenvalues, the largest entries positive."""
    k = len(matrix)
    n = min(n_components, k)
    values, vectors = _lanczos(matrix, n) if k >= MIN_LANCZOS_COLUMNS and LANCZOS_RATIO * n <= k else (None, None)
    if values is None or vectors is None:
        values, vectors = eigh(matrix, subset_by_index=(k - n, k - 1))
    order = np.argsort(-values, kind="stable")
    W = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    largest = np.abs(W).argmax(axis=0)
    return np.asarray(W * np.where(W[largest, np.arange(n)] < 0.0, -1.0, 1.0))


def _lanczos(matrix: Floats, n: int) -> tuple[Floats | None, Floats | None]:
    """Return leading eigenpairs; None if eigenvalues are too close to each other for the method to converge."""
    start = np.random.default_rng(0).standard_normal(len(matrix))  # fixed, for identical results
    try:
        values, vectors = eigsh(matrix, k=n, which="LA", v0=start, tol=1e-13)
    except ArpackError:
        return None, None
    return values, vectors


def n_above_chance(spectrum: Floats, chance: Floats) -> int:
    """Return the number of leading eigenvalues above their chance quantiles, at least 1."""
    below = np.flatnonzero(spectrum <= chance)
    return max(1, int(below[0]) if len(below) else len(spectrum))


def pair_log_likelihood(params: ClippedParams, counts: PairCounts) -> float:
    """Return the pairwise log-likelihood of the model, Sum_{i<j} Sum_cells n ln P / (d - 1).

    Each column is in d - 1 pairs, so that for independent columns it is the log-likelihood itself. Otherwise it ignores
    the joint dependence of more than two columns.
    """
    d, h, W = params.n_columns, params.biases, params.loadings
    if d == 1:
        ones, cells = counts.column_ones, counts.column_seen
        p = np.clip(ndtr(h), MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
        return float((ones * np.log(p) + (cells - ones) * np.log1p(-p))[0])
    total, tiles = 0.0, [slice(start, min(start + TILE_COLUMNS, d)) for start in range(0, d, TILE_COLUMNS)]
    for number, rows in enumerate(tiles):
        for columns in tiles[number:]:
            pairs = np.arange(rows.start, rows.stop)[:, None] < np.arange(columns.start, columns.stop)
            table = [cell[pairs] for cell in counts.cells(rows, columns)]
            first, second = (np.broadcast_to(x, pairs.shape)[pairs] for x in (h[rows, None], h[columns]))
            for cell, p in zip(table, cell_probabilities(first, second, (W[rows] @ W[columns].T)[pairs]), strict=True):
                total += float(cell @ np.log(np.maximum(p, MIN_PROBABILITY)))
    return total / (d - 1)


def cell_probabilities(h: Floats, k: Floats, rho: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the probabilities of the four cells of pairs, in the order of `pair_counts.TwoByTwoTables`."""
    p, q, both = ndtr(h), ndtr(k), orthant_probability(h, k, np.clip(rho, -MAX_CORRELATION, MAX_CORRELATION))
    return both, p - both, q - both, 1.0 - p - q + both


def expected_counts(params: ClippedParams, weight: float) -> ClippedStats:
    """Return the expected counts of rows from the model with correlations C^XX."""
    h = params.biases
    first, second = np.broadcast_arrays(h[:, None], h)
    both = cell_probabilities(first.ravel(), second.ravel(), params.correlation.ravel())[0].reshape(first.shape)
    both = 0.5 * weight * (both + both.T)
    ones = weight * ndtr(h)
    np.fill_diagonal(both, ones)
    return ClippedStats(both, ones[:, None].copy(), np.full((1, 1), weight), np.asarray(weight))


# The method of Lee and Sompolinsky: the leading eigenvectors of the uncorrected C^XX, and columns without noise.
#
# Pairs with an empty cell have pseudo-rows here, too, because the paper does not describe how it handled them. Negative
# eigenvalues stay. A column is sgn(Delta + w.y) with Delta = |w| Phi^-1(P(s = 1)) (eq 9), so that only the direction of
# w matters, and rows of W are scaled to length 1.

MIN_LENGTH = 1e-9  # of w; the direction of a shorter one is rounding


@dataclass(frozen=True)
class ClippedRaw(Clipped):
    """The model of the paper; hyperparameters only, those of `Clipped`."""

    def update(self, params: ClippedParams, stats: ClippedStats) -> ClippedParams:
        """Return the parameters that follow from the counts: eigenvectors of the uncorrected C^XX."""
        params = super().update(params, stats)
        varies = np.abs(params.correlation).sum(axis=1) > 1.0  # the others are uncorrelated with all columns
        W = np.zeros_like(params.loadings)
        if varies.any():
            W_varying = leading_components(params.correlation[np.ix_(varies, varies)], W.shape[1])
            W[varies, : W_varying.shape[1]] = W_varying
        length = np.linalg.norm(W, axis=1, keepdims=True)
        unit = np.divide(W, length, out=np.zeros_like(W), where=length > MIN_LENGTH)
        return replace(params, loadings=cap_communalities(unit, self.cap))
