"""The latent class model: each row belongs to one latent class, within which its columns are independent.

    ln P(x, h = k) = ln pi_k + Sum over binary j [ x_j ln theta_jk + (1 - x_j) ln(1 - theta_jk) ]
                             + Sum over nominal and ordinal j [ ln p_jlk ],  l = x_j,        over observed cells

| letter | meaning | shape |
|---|---|---|
| x | binary data; a nominal or ordinal column has one bit per level | (rows, d) |
| o | `Block.observed`: 0 for a missing cell of a binary column, otherwise 1 (always for levels) | (rows, d) |
| w | weights of the rows | (rows,) |
| h | the class of a row | (rows,) |
| r | posterior P(h = k given x) | (rows, K) |
| pi | class weights | (K,) |
| theta, p | P(x = 1) and P(level) in each class | (d, K) |
| m, s | mean and strength of the prior: Beta(1 + s m, 1 + s (1 - m)), Dirichlet(1 + s m) | (d,), number |

EM maximizes Sum_n w_n ln P(x_n) plus the log prior of theta and p; pi has no prior:

    E-step (`posterior.py`)   r_nk = P(x_n, h = k) / Sum_l P(x_n, h = l),  and from it expected counts (`NodeCounts`):
                              bound = Sum_n w_n ln P(x_n),    weight = Sum_n w_n,     classes_k = Sum_n w_n r_nk,
                              ones_jk = Sum_n w_n r_nk x_nj,  cells_jk = Sum_n w_n r_nk o_nj
    M-step (`update`)         pi_k = classes_k / weight,      theta_jk = (ones_jk + s m_j) / (cells_jk + s)

A nominal or ordinal column is one-hot. Its cells_jk is the sum of ones over its levels, because an observed cell sets
one bit and a missing cell none; with it p_jlk has the M-step of theta_jk. With one class the model is the baseline of
every comparison: independent columns. Freund & Haussler (1994, section 4) use latent classes as their baseline.
Continuous columns and counts add ln p of their own, and their own sums and M-step: `mixed.py` and `columns/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.layout import Layout, layout_of
from hiddenbits.data.numbers import NumberSums
from hiddenbits.data.rows_by_content import weighted_rows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes import posterior as e_step
from hiddenbits.families.nodes.columns import levels
from hiddenbits.families.nodes.mixed import (
    MixedCounts,
    MixedParams,
    log_prior_of_numbers,
    log_probability,
    numbers_from_vector,
    numbers_to_vector,
    start_of_numbers,
    updated_numbers,
)
from hiddenbits.families.nodes.model import NodeModel
from hiddenbits.families.nodes.params import NodeCounts, NodeParams, NodeScores, with_kept
from hiddenbits.families.nodes.posterior import footprint
from hiddenbits.maths.numerics import LARGEST_LOGIT, TINY, class_shares, share_or, sigmoid
from hiddenbits.model_api import AsOnSubsample, Declared, Footprint, Key, Passes

LOG_ZERO = -1e9  # ln P(known class | another class): its exponential is 0, but no likelihood overflows


@dataclass(frozen=True)
class Classes(AsOnSubsample, NodeModel[NodeParams], Declared[NodeParams]):
    """The latent class model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        K.
    prior_strength : float
        s, in pseudo-rows for each class.
    prior_mean : float or None
        m of every binary column (levels: 1 / number of levels). None: the proportions in the table, shrunk by half a
        pseudo-row (`ColumnSums.means`).
    sizes : tuple of int or None
        Number of bits of each column (`Layout`); None: every column is binary.
    n_continuous, n_counts : int
        Number of columns of numbers.
    covariance_type : {"diag", "full", "tied", "tied_diag"}
        Variances or covariances of continuous columns, of each class or of all.
    start_values : mapping of arrays or None
        Parameters with which a fit begins, by the name of their array; NaN where the start chooses them. Those of
        columns of numbers are in the units of the table.
    fixed : mapping of arrays or None
        Which parameters stay as they are at the start, by the name of their array. They have no prior.
    has_known_classes : bool
        Whether the last column is nominal and has the classes of rows whose class is known.
    """

    n_components: int = 2
    prior_strength: float = 1.0
    prior_mean: float | None = None
    sizes: tuple[int, ...] | None = None
    n_continuous: int = 0
    n_counts: int = 0
    covariance_type: str = "diag"
    start_values: Mapping[str, Floats] | None = field(default=None, compare=False)
    fixed: Mapping[str, AnyArray] | None = field(default=None, compare=False)
    has_known_classes: bool = False

    letters: ClassVar = {"K": ("n_components", "classes")}

    def layout(self, n_bits: int) -> Layout:
        """Return the column of each bit."""
        return layout_of(self.sizes, n_bits)

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block."""
        bits, K, q = footprint(self.n_components, n_columns, row_cells), self.n_components, self.n_continuous
        n_features, covariances = 3 * q + 2 * self.n_counts, self.covariance_type in ("full", "tied")
        working, n_sums = n_features + 2 * K * q * covariances, K * (n_features + q**2 * covariances)
        return Footprint(bits.working + working, bits.statistics + n_sums, bits.flops + 4.0 * n_sums)

    @property
    def params_type(self) -> type[NodeParams]:
        """Class of the parameters."""
        return MixedParams if self.n_continuous + self.n_counts else NodeParams

    @property
    def stats_type(self) -> type[NodeCounts]:
        """Class of the statistics."""
        return MixedCounts if self.n_continuous + self.n_counts else NodeCounts

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> NodeParams:
        """Return initial classes from some of the rows: k-means clusters, or random memberships (see below)."""
        layout, values = self.layout(len(summary.means)), self.start_values or {}
        means = levels.normalize_levels(summary.means[:, None], layout)[:, 0]
        m = means
        if self.prior_mean is not None:
            m = np.where(layout.is_level, 1.0 / np.array(layout.sizes)[layout.columns], self.prior_mean)
        has_numbers, of_rows = self.n_continuous + self.n_counts, None
        if self.n_components == 1:
            params = NodeParams.of(np.ones(1), means[:, None], m, layout)
        elif values and not any(np.isnan(array).any() for array in values.values()):
            params = NodeParams.of(np.ones(self.n_components), np.ones((len(m), self.n_components)), m, layout)
        else:
            of_rows = classes_of_rows(self.n_components, means, layout, summary.numbers, key, passes)
            params = NodeParams.of(of_rows.weights, of_rows.probabilities, m, layout)
        if has_numbers:
            rows = () if of_rows is None else (of_rows.numbers, of_rows.memberships, of_rows.pseudo_rows)
            params = start_of_numbers(params, summary, self.n_continuous, self.covariance_type, *rows)
            values = {name: params.in_own_units(name, array) for name, array in values.items()}
        if of_rows is not None and (values or self.has_known_classes):
            params = self._matched(params, values, passes)
        chosen = {name: np.where(np.isnan(array), getattr(params, name), array) for name, array in values.items()}
        return replace(params, **chosen)

    def _matched(self, params: NodeParams, values: Mapping[str, Floats], passes: Passes) -> NodeParams:
        """Return the classes of a start in the order that agrees best with given parameters and known classes."""
        from scipy.optimize import linear_sum_assignment  # imported here, because it takes long

        K = self.n_components
        cost = np.zeros((K, K))  # of taking a class of the start (column) as a class of the user (row)
        for name in values.keys() - {"covariances"}:  # squared differences, but for what all columns share
            own, given = np.atleast_2d(getattr(params, name), values[name])
            cost += ~np.isnan(given).T @ own**2 - 2.0 * np.nan_to_num(given).T @ own
        if self.has_known_classes:
            params.probabilities[-K:] = 1.0 / K  # so that the posterior does not depend on known classes
            rows: Floats = passes(partial(e_step.expected_counts, params.scores)).ones[-K:]
            cost -= rows / max(float(rows.sum()), TINY)
        return params.reordered("K", linear_sum_assignment(cost)[1])

    def prepare(self, params: NodeParams) -> NodeScores:
        """Return the coefficients of ln P(x, class); a row of known class has no other."""
        if not self.has_known_classes:
            return params.scores
        K, x_coefs = self.n_components, params.scores.x_coefs.copy()
        x_coefs[-K:] = np.where(np.eye(K) == 1.0, 0.0, LOG_ZERO)
        return replace(params.scores, x_coefs=x_coefs)

    @property
    def has_prior(self) -> bool:
        """Whether the prior keeps parameters finite where a column does not vary.

        False with known classes: a subsample must have rows of each, or it could order the classes otherwise.
        """
        return self.prior_strength > 0.0 and not self.has_known_classes

    def objective(self, params: NodeParams, stats: NodeCounts) -> float:
        """Return log-likelihood plus log prior, s Sum_jk [ m_j ln theta_jk + (1 - m_j) ln(1 - theta_jk) ].

        With the coefficients a and c of `NodeScores` the prior is s Sum_k [ m.a_k + Sum_j c_jk ]. This holds for
        levels, too: their prior is m ln p, with a = ln p and c = 0. Fixed parameters have no prior.
        """
        scores = params.scores
        if self.fixed and "probabilities" in self.fixed:
            log_priors = params.prior_mean[:, None] * scores.x_coefs + scores.observed_coefs
            return float(stats.bound) + self.prior_strength * float(log_priors[~self.fixed["probabilities"]].sum())
        c_sums = scores.offsets - scores.log_weights  # Sum_j c_jk
        log_prior = (params.prior_mean @ scores.x_coefs + c_sums).sum()
        if isinstance(params, MixedParams):
            log_prior += log_prior_of_numbers(params, self.covariance_type)
        return float(stats.bound) + self.prior_strength * float(log_prior)

    def update(self, params: NodeParams, stats: NodeCounts) -> NodeParams:
        """M-step: pi = classes / weight, theta = (ones + s m) / (cells + s)."""
        s, m, weight = self.prior_strength, params.prior_mean[:, None], float(stats.weight)
        ones, cells = stats.ones + s * m, stats.cells(params.layout) + s
        theta = np.divide(ones, cells, out=ones) if s > TINY * weight else share_or(ones, cells, m, weight)
        updated = params.with_values(class_shares(stats.classes, weight), theta)
        if isinstance(params, MixedParams) and isinstance(stats, MixedCounts):
            updated = replace(updated, **updated_numbers(params, stats, s, self.covariance_type, self.fixed))
        return with_kept(updated, params, self.fixed)

    def to_vector(self, params: NodeParams) -> Floats:
        """Return ln(pi_k / pi_1), and logit(theta) or ln p, for extrapolation of EM.

        `from_vector` accepts any numbers: a softmax normalizes the levels of a column, of which one is redundant.
        """
        bits = np.concatenate([np.log(params.weights[1:] / params.weights[0]), params.scores.x_coefs.ravel()])
        return np.concatenate([bits, numbers_to_vector(params)]) if isinstance(params, MixedParams) else bits

    def from_vector(self, vector: Floats, params: NodeParams) -> NodeParams:
        """Return the parameters at `vector`, with the prior of `params`."""
        K, layout = len(params.weights), params.layout
        vector, of_numbers = np.split(vector, [K - 1 + params.probabilities.size])
        logits = np.maximum(vector[K - 1 :], -LARGEST_LOGIT).reshape(params.probabilities.shape)
        theta = sigmoid(logits)
        if not layout.all_binary:
            theta = np.where(layout.is_level[:, None], levels.softmax_levels(logits, layout), theta)
        log_odds = np.concatenate([[0.0], vector[: K - 1]])
        odds = np.exp(log_odds - log_odds.max())
        moved = params.with_values(class_shares(odds, odds.sum()), theta)
        if isinstance(params, MixedParams):
            moved = replace(moved, **numbers_from_vector(of_numbers, params))
        return with_kept(moved, params, self.fixed)

    # Row functions that differ from those of `NodeModel`.

    def hidden_states(self, params: NodeParams) -> Floats:
        """Return every class, one-hot, (K, K)."""
        return np.eye(len(params.weights))

    def posterior(self, params: NodeParams, shared: NodeScores, block: Block) -> Floats:
        """Return r, the posterior probability of each class given the row's observed cells."""
        return self.node_weights(params, shared, block)

    def reconstruct(self, params: NodeParams, codes: Floats) -> Floats:
        """Return P(x = 1), and the means of numbers, given the class probabilities r of each row: r theta."""
        return np.asarray(codes @ params.cell_means.T)

    def log_joint(self, params: NodeParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        k = int(np.argmax(h))
        return float(np.log(params.weights[k])) + log_probability(params, k, x)

    def mismatch(self, params: NodeParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if params.layout.sizes != self.layout(params.n_columns).sizes:
            return "its columns have other levels than those of the table"
        if isinstance(params, MixedParams):
            width = self.n_continuous if self.covariance_type in ("full", "tied") else 1
            shape = (self.n_continuous, width or 1, self.n_components)
            if params.covariances.shape != shape or len(params.prior_rates) != self.n_counts:
                return "its columns of numbers are not those of the table"
        if any(getattr(params, name).shape != mask.shape for name, mask in (self.fixed or {}).items()):
            return "other parameters are fixed than it has"
        return super().mismatch(params)


# Start values: the first restart uses k-means on the first singular vectors of some rows, others random memberships.
#
# If columns are centered by their means in the table, the K class means lie in K - 1 dimensions, so that the first
# K - 1 singular vectors of the weighted rows (fewer if there are fewer rows or columns) separate the classes. K-means
# on them is fast, and the best of ten runs finds the right classes where EM from random values often does not
# (`benchmarks.starts.classes`). If classes overlap, every k-means start may lead to the same local maximum. So other
# restarts begin with random memberships of each row; if restarts agree, that is evidence for their maximum. Rows are
# chosen and ordered by their content, and a row of weight 2 counts as two equal rows, so that a start does not depend
# on how a table is stored.

MAX_START_ROWS = 4096  # different rows from which a fit starts
K_MEANS_RUNS = 10  # the run with the smallest sum of squares is used
K_MEANS_TOL = 1e-2  # coarse, because EM continues from the result
MEMBERSHIP_CONCENTRATION = 0.5  # parameter of the symmetric Dirichlet: below 1, so that memberships are uneven
START_PSEUDO_ROWS = 4.0  # pseudo-rows with the table's means in each class: no probability starts at 0 or 1
MAX_PSEUDO_SHARE = 0.1  # the largest ratio of these pseudo-rows to the mean number of rows in a class


class ClassesOfRows(NamedTuple):
    """Initial weights, (K,), and probabilities, (d, K); some rows' numbers and memberships, (rows, K)."""

    weights: Floats
    probabilities: Floats
    numbers: Floats
    memberships: Floats
    pseudo_rows: float


def classes_of_rows(
    n_classes: int, means: Floats, layout: Layout, of_numbers: NumberSums, key: Key, passes: Passes
) -> ClassesOfRows:
    """Return initial weights and probabilities from some of the rows.

    Parameters
    ----------
    n_classes : int
        K.
    means : ndarray of shape (d,)
        Proportion of 1s of each bit in the table.
    layout : Layout
        The column of each bit.
    of_numbers : NumberSums
        Means and variances of the columns of numbers, which are standardized.
    key : Key
        Random numbers for the choice of rows and for the start.
    passes : callable
        Sums a function of a block over all blocks.
    """
    rows, weights = weighted_rows(MAX_START_ROWS, key, passes)  # cells are -1 and 1, and 0 if missing
    rows, numbers = np.split(rows, [len(means)], axis=1)
    x, missing = (rows > 0.0).astype(np.float64), rows == 0.0
    if not layout.all_binary:  # a missing cell of a column with levels has no bit set
        missing |= layout.is_level & (layout.column_sums(x.T).T == 0.0)
    rng = key.stream("stage").rng()
    centered = np.where(missing, 0.0, x - means)
    if numbers.shape[1]:
        standardized = np.nan_to_num((numbers - of_numbers.means) / of_numbers.scales)
        centered = np.concatenate([centered, standardized], axis=1)
    if key.restart:
        memberships = weights[:, None] * rng.dirichlet(np.full(n_classes, MEMBERSHIP_CONCENTRATION), len(rows))
    else:
        labels = _k_means(centered, weights, n_classes, rng) if len(rows) > n_classes else np.arange(len(rows))
        memberships = weights[:, None] * np.eye(n_classes)[labels]
    class_weights = memberships.sum(axis=0)
    pseudo_rows = min(START_PSEUDO_ROWS, MAX_PSEUDO_SHARE * class_weights.sum() / n_classes)
    cells = (~missing).T.astype(np.float64) @ memberships
    pi = (class_weights + pseudo_rows / n_classes) / (class_weights.sum() + pseudo_rows)
    probabilities = (x.T @ memberships + pseudo_rows * means[:, None]) / (cells + pseudo_rows)
    return ClassesOfRows(pi, probabilities, numbers, memberships, pseudo_rows)


def _k_means(rows: Floats, weights: Floats, n_classes: int, rng: np.random.Generator) -> Floats:
    """Return the cluster of each row, by k-means on the first singular vectors."""
    from sklearn.cluster import KMeans  # imported here, because models do not otherwise need scikit-learn
    from sklearn.utils.extmath import randomized_svd

    seed = int(rng.integers(2**31 - 1))
    n_vectors = min(n_classes - 1, *rows.shape)
    with _blas_threads().limit(limits=1):  # the result of several threads depends on the order of their sums
        _, _, directions = randomized_svd(rows * np.sqrt(weights)[:, None], n_vectors, random_state=seed)
        clusters = KMeans(n_classes, n_init=K_MEANS_RUNS, tol=K_MEANS_TOL, random_state=seed)
        labels: Floats = clusters.fit(rows @ directions.T, sample_weight=weights).labels_
    return labels


@cache
def _blas_threads() -> ThreadpoolController:
    """Return the controller of BLAS threads; cached, because its creation takes milliseconds."""
    return ThreadpoolController()
