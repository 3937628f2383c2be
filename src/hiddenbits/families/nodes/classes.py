"""Latent classes: nodes that are free. Each row belongs to one hidden class, in which its columns are independent.

    ln P(x, h = k) = ln pi_k + Sum over binary j [ x_j ln theta_jk + (1 - x_j) ln(1 - theta_jk) ]
                             + Sum over columns with levels j [ ln p_jlk ],  l = x_j,        over the observed j

| letter | meaning | shape |
|---|---|---|
| x, o | bits, one for each level of a column that is not binary; observed | (rows, d) |
| r | P(h = k, row n, given x) | (rows, K) |
| pi | class weights | (K,) |
| theta, p | P(bit = 1) and P(level) in each class | (d, K) |
| m, s | center and strength of the prior: Beta(1 + s m, 1 + s (1 - m)), Dirichlet(1 + s m) | (d,), number |

Freund & Haussler (1994, section 4) measure against it. With one class it is the baseline of every comparison:
independent columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from threadpoolctl import ThreadpoolController

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.layout import Layout, layout_of
from hiddenbits.data.rows_by_content import weighted_rows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes.columns import levels
from hiddenbits.families.nodes.model import Nodes
from hiddenbits.families.nodes.params import NodeCounts, NodeParams, Scores
from hiddenbits.families.nodes.posterior import footprint
from hiddenbits.maths.numerics import LARGEST_LOGIT, TINY, class_shares, share_or, sigmoid
from hiddenbits.model_api import AsOnSubsample, Declared, Footprint, Key, Passes


@dataclass(frozen=True)
class Classes(AsOnSubsample, Nodes[NodeParams], Declared[NodeParams]):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        K.
    prior_strength : float
        s, in pseudo-rows for each class.
    prior_mean : float or None
        m of every binary column, and for levels the same share of each; None means the shares in the table.
    sizes : tuple of int or None
        Bits of each column (`Layout`); None: every column is binary.
    """

    n_components: int = 2
    prior_strength: float = 1.0
    prior_mean: float | None = None
    sizes: tuple[int, ...] | None = None

    params_type = NodeParams
    letters: ClassVar = {"K": ("n_components", "classes")}

    def layout(self, n_bits: int) -> Layout:
        """Return which bits belong to which column."""
        return layout_of(self.sizes, n_bits)

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs."""
        return footprint(self.n_components, n_columns, row_cells)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> NodeParams:
        """Return classes that k-means found among some of the rows."""
        layout = self.layout(len(summary.means))
        means = levels.normalized(summary.means[:, None], layout)[:, 0]
        m = means
        if self.prior_mean is not None:
            m = np.where(layout.is_level, 1.0 / np.array(layout.sizes)[layout.columns], self.prior_mean)
        if self.n_components == 1:
            return NodeParams.of(np.ones(1), means[:, None], m, layout)
        weights, probabilities = classes_of_rows(self.n_components, means, layout, key, passes)
        return NodeParams.of(weights, probabilities, m, layout)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.prior_strength > 0.0

    def objective(self, params: NodeParams, stats: NodeCounts) -> float:
        """Return log-likelihood plus log prior, s Sum_jk [ m_j ln theta_jk + (1 - m_j) ln(1 - theta_jk) ].

        Of a level it is m ln p, which is the same formula, as its ln(1 - theta) is taken as 0.
        """
        scores = params.scores
        prior = (params.prior_mean @ scores.of_one + (scores.of_zeros - scores.log_prior)).sum()
        return float(stats.bound) + self.prior_strength * float(prior)

    def update(self, params: NodeParams, stats: NodeCounts) -> NodeParams:
        """M-step: pi = share of the rows, theta = (ones + s m) / (cells + s)."""
        s, m, weight = self.prior_strength, params.prior_mean[:, None], float(stats.weight)
        ones, cells = stats.ones + s * m, stats.cells(params.layout) + s
        theta = np.divide(ones, cells, out=ones) if s > TINY * weight else share_or(ones, cells, m, weight)
        return params.at(class_shares(stats.classes, weight), theta)

    def to_vector(self, params: NodeParams) -> Floats:
        """Return ln(pi_k / pi_1), and logit(theta) or ln p: coordinates without borders, for extrapolation."""
        return np.concatenate([np.log(params.weights[1:] / params.weights[0]), params.scores.of_one.ravel()])

    def from_vector(self, vector: Floats, params: NodeParams) -> NodeParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        K, layout = len(params.weights), params.layout
        logits = np.maximum(vector[K - 1 :], -LARGEST_LOGIT).reshape(params.probabilities.shape)
        theta = sigmoid(logits)
        if not layout.all_binary:
            theta = np.where(layout.is_level[:, None], levels.from_logs(logits, layout), theta)
        logs = np.concatenate([[0.0], vector[: K - 1]])
        odds = np.exp(logs - logs.max())
        return params.at(class_shares(odds, odds.sum()), theta)

    # Row functions beyond those of all nodes.

    def hidden_states(self, params: NodeParams) -> Floats:
        """Return every class, as 1 among zeros, (K, K)."""
        return np.eye(len(params.weights))

    def posterior(self, params: NodeParams, shared: Scores, block: Block) -> Floats:
        """Return r, the probability of each class given the row's observed cells."""
        return self.node_weights(params, shared, block)

    def reconstruct(self, params: NodeParams, codes: Floats) -> Floats:
        """Return P(bit = 1) given class probabilities and nothing else of the row, (n, d): r theta."""
        return np.asarray(codes @ params.probabilities.T)

    def log_joint(self, params: NodeParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        k = int(np.argmax(h))
        theta, is_level = params.probabilities[:, k], params.layout.is_level
        of_zero = np.where(is_level, 0.0, np.log1p(-theta))
        return float(np.log(params.weights[k]) + np.sum(np.where(x == 1, np.log(theta), of_zero)))

    def mismatch(self, params: NodeParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if params.layout.sizes != self.layout(params.n_columns).sizes:
            return "its columns have other levels than those of the table"
        return super().mismatch(params)


# Where classes begin: k-means on the first singular vectors of some rows; in further restarts by chance.
#
# The K - 1 first singular vectors of the centered columns hold what classes differ in; k-means there is quick, and
# the best of ten beginnings finds the right classes where EM from noise often does not (`benchmarks.starts.classes`).
# Where classes overlap it can lead to the same lesser maximum again and again, so further restarts begin with random
# shares of each row in the classes: then it says something if restarts agree. Rows are chosen and ordered by their
# content, and weights count as equal rows, so that a start does not depend on how a table is stored.

MOST_ROWS = 4096  # different rows that k-means sees
BEGINNINGS = 10  # of k-means; the best by its sum of squares counts
CLOSE = 1e-2  # of k-means: EM goes on from there
SPREAD = 0.5  # of the Dirichlet distribution of random shares: most rows are nearly in one class
PSEUDO_ROWS, MOST_PSEUDO = 4.0, 0.1  # like the whole table, in each class: none begins at 0 or 1; and of its rows


def classes_of_rows(n_classes: int, means: Floats, layout: Layout, key: Key, passes: Passes) -> tuple[Floats, Floats]:
    """Return weights, (K,), and probabilities, (d, K), of classes among some of the rows.

    Parameters
    ----------
    n_classes : int
        K.
    means : ndarray of shape (d,)
        The shares of ones in the table.
    layout : Layout
        Which bits belong to which column.
    key : Key
        Its random numbers choose rows and beginnings.
    passes : callable
        The engine's sum over blocks.
    """
    rows, weights = weighted_rows(MOST_ROWS, key, passes)
    ones, missing = (rows > 0.0).astype(np.float64), rows == 0.0
    if not layout.all_binary:  # a level that is missing has no bit set
        missing |= layout.is_level & (layout.column_sums(ones.T).T == 0.0)
    rng = key.stream("stage").rng()
    centered = np.where(missing, 0.0, ones - means)
    if key.restart:
        members = weights[:, None] * rng.dirichlet(np.full(n_classes, SPREAD), len(rows))
    else:
        labels = _k_means(centered, weights, n_classes, rng) if len(rows) > n_classes else np.arange(len(rows))
        members = weights[:, None] * np.eye(n_classes)[labels]
    size = members.sum(axis=0)
    pseudo = min(PSEUDO_ROWS, MOST_PSEUDO * size.sum() / n_classes)
    cells = (~missing).T.astype(np.float64) @ members
    shares = (size + pseudo / n_classes) / (size.sum() + pseudo)
    return shares, (ones.T @ members + pseudo * means[:, None]) / (cells + pseudo)


def _k_means(rows: Floats, weights: Floats, n_classes: int, rng: np.random.Generator) -> Floats:
    """Return the cluster of each row."""
    from sklearn.cluster import KMeans  # a model knows nothing else of scikit-learn, and begins quickly
    from sklearn.utils.extmath import randomized_svd

    seed = int(rng.integers(2**31 - 1))
    n_vectors = min(n_classes - 1, *rows.shape)
    with _threads().limit(limits=1):  # the sums of several threads would depend on who comes first
        _, _, directions = randomized_svd(rows * np.sqrt(weights)[:, None], n_vectors, random_state=seed)
        clusters = KMeans(n_classes, n_init=BEGINNINGS, tol=CLOSE, random_state=seed)
        labels: Floats = clusters.fit(rows @ directions.T, sample_weight=weights).labels_
    return labels


@cache
def _threads() -> ThreadpoolController:
    """Return what limits threads; looking for their libraries takes milliseconds."""
    return ThreadpoolController()
