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

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.data.summary import Summary
from hiddenbits.families.nodes import posterior as nodes
from hiddenbits.families.nodes.columns import binary, levels
from hiddenbits.families.nodes.columns.layout import Layout, binary_columns
from hiddenbits.families.nodes.params import NodeCounts, NodeParams
from hiddenbits.families.nodes.posterior import Scores
from hiddenbits.families.nodes.start import classes_of_rows
from hiddenbits.maths.numerics import LARGEST_LOGIT, class_shares, share_or, shares_at, sigmoid
from hiddenbits.model_api import AsOnSubsample, ClassCodes, Counted, Footprint, Key, OneStage, Passes, Promises


@dataclass(frozen=True)
class Classes(AsOnSubsample, OneStage, Counted, ClassCodes[NodeParams]):
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

    promises = Promises()
    params_type = NodeParams
    stats_type = NodeCounts
    carry_type = None

    def layout(self, n_bits: int) -> Layout:
        """Return which bits belong to which column."""
        return binary_columns(n_bits) if self.sizes is None else Layout(self.sizes)

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs."""
        return nodes.footprint(self.n_components, n_columns, row_cells)

    def start(self, summary: Summary, key: Key, passes: Passes) -> NodeParams:
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

    def prepare(self, params: NodeParams) -> Scores:
        """Return the scores of the classes."""
        return nodes.scores_of(params)

    def expect(
        self, params: NodeParams, shared: Scores, block: Block, carry: None, key: Key
    ) -> tuple[NodeCounts, None]:
        """E-step: r, and with it the expected ones and observed cells of each class."""
        return nodes.expected_counts(shared, block), None

    def objective(self, params: NodeParams, stats: NodeCounts) -> float:
        """Return log-likelihood plus log prior, s Sum_jk [ m_j ln theta_jk + (1 - m_j) ln(1 - theta_jk) ].

        Of a level it is m ln p, which is the same formula, as its ln(1 - theta) is taken as 0.
        """
        prior = np.sum(params.prior_mean @ params.logits) + np.sum(params.off_totals)
        return float(stats.bound) + self.prior_strength * float(prior)

    def update(self, params: NodeParams, stats: NodeCounts) -> NodeParams:
        """M-step: pi = share of the rows, theta = (ones + s m) / (cells + s)."""
        s, m, weight = self.prior_strength, params.prior_mean, float(stats.weight)
        pi = class_shares(stats.classes, weight)
        theta = share_or(stats.ones + s * m[:, None], stats.cells(params.layout) + s, m[:, None], weight)
        return params.at(pi, theta)

    def to_vector(self, params: NodeParams) -> Floats:
        """Return ln(pi_k / pi_1), and logit(theta) or ln p: coordinates without borders, for extrapolation."""
        return np.concatenate([np.log(params.weights[1:] / params.weights[0]), params.logits.ravel()])

    def from_vector(self, vector: Floats, params: NodeParams) -> NodeParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        K, layout = len(params.weights), params.layout
        logits = np.clip(vector[K - 1 :], -LARGEST_LOGIT, LARGEST_LOGIT).reshape(params.probabilities.shape)
        theta = sigmoid(logits)
        if not layout.all_binary:
            theta = np.where(layout.is_level[:, None], levels.from_logs(logits, layout), theta)
        return params.at(shares_at(np.append(0.0, vector[: K - 1])), theta)

    # Row functions: what the estimators' verbs rest on.

    def log_likelihood(self, params: NodeParams, shared: Scores, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return nodes.log_likelihood(shared, block)

    def posterior(self, params: NodeParams, shared: Scores, block: Block) -> Floats:
        """Return r, the probability of each class given the row's observed cells."""
        return nodes.posterior(shared, block)

    def cell_probabilities(self, params: NodeParams) -> Floats:
        """Return theta."""
        return params.probabilities

    def leave_one_out(self, params: NodeParams, shared: Scores, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) for every bit."""
        layout, theta, r = params.layout, params.probabilities.T, self.posterior(params, shared, block)
        x = block.x.to_dense()
        of_bits = binary.without_itself(r, theta, x, block.observed.to_dense())
        if layout.all_binary:
            return of_bits
        return np.where(layout.is_level, levels.without_itself(r, theta, x, layout), of_bits)

    def draw(self, params: NodeParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and their classes (1 among zeros)."""
        if params.layout.all_binary:
            return super().draw(params, n, rng)
        classes = rng.choice(len(params.weights), size=n, p=params.weights)
        return levels.draw(params.probabilities.T[classes], params.layout, rng), np.eye(len(params.weights))[classes]

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

    def pseudo_statistics(self, params: NodeParams, weight: float) -> NodeCounts:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        return nodes.counts_as_expected(params, weight)
