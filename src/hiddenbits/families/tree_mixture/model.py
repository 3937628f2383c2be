"""Mixture of trees: each row belongs to one latent class, in which each column depends on one other (its parent).

    ln P(x, h = k) = ln pi_k + Sum_j ln P(x_j | x_parent(j, k), k)

| letter | meaning | shape |
|---|---|---|
| x | binary data | (rows, d) |
| h | the class of a row | (rows,) |
| r | posterior P(h = k given x) | (rows, K) |
| pi | class weights | (K,) |
| parents | parent of each column in each class, or -1 | (d, K) |
| p0, p1 | P(x = 1) if the parent is 0, and if it is 1 | (d, K) |
| m, Q | the prior's means and P(both = 1) of pairs of columns | (d,), pairs |
| s | strength of the prior in pseudo-rows per class: uniform (smoothing) and of the table (sharing) | number |
| c | penalty: the smallest gain of a link, in nats | number |

Meila & Jordan (2000). EM maximizes, with T_k the tree of class k and its parameters,

    Sum_n w_n ln Sum_k pi_k T_k(x_n)  +  s Sum_k E_Q[ ln T_k ]  -  c (number of links)

The prior is the log-likelihood of s pseudo-rows in each class. Only their tables of pairs matter, because the
log-likelihood of a tree is a sum over its links. All tables of Q have the margins m, so that the counts of the M-step
(expected rows + s Q) have common margins, too. For such counts the best parameters of a given forest are proportions of
counts. Its objective is then that of independent columns plus Sum over links of (total x mutual information - c), and
the best forest is the one with the largest sum (Chow & Liu 1968). So an M-step with a search for trees is an exact
maximum over trees and parameters, an M-step without a search one over parameters, and neither decreases the objective.
Without links the model is a latent class model; as such a fit begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import WeightedSums
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.tree_mixture import rows as tree_rows
from hiddenbits.families.tree_mixture.params import TreeParams, TreeStats
from hiddenbits.families.tree_mixture.rows import (
    add_incomplete_rows,
    imputed,
    joint_probabilities,
    joint_with_margins,
    messages_of,
)
from hiddenbits.maths.chow_liu import forest_gain, heaviest_forest, link_gains, n_pairs, pair_number
from hiddenbits.maths.missing_rows import rows_with_missing
from hiddenbits.maths.numerics import (
    class_shares,
    clip_probability,
    share_or,
    softmax_rows,
)
from hiddenbits.maths.pair_counts import count_pairs
from hiddenbits.model_api import AsOnSubsample, ClassCodes, Footprint, Key, Linked, Passes, Promises

# As shares of the weight: gains of links are rounded to GAIN_RESOLUTION, so that rounding errors do not choose trees; a
# better tree must gain MIN_IMPROVEMENT, which is more than the classes excluded from pair counts could contribute.
GAIN_RESOLUTION, MIN_IMPROVEMENT = 2.0**-36, 1e-8
MAX_PAIR_COUNTS = 1 << 24  # pair counts in one search (128 MB); with more, a search has only a part of the classes


@dataclass(frozen=True)
class Trees(AsOnSubsample, Linked, ClassCodes[TreeParams]):
    """The model of one iteration; hyperparameters only. `TreeSearch` is that of a fit.

    Parameters
    ----------
    n_components : int
        K.
    smoothing : float
        Pseudo-rows of each class with P(x = 1) = 1/2.
    sharing : float
        Pseudo-rows of each class with the pairwise tables of all rows.
    penalty : float
        c, in nats.
    part : int or None
        The part of the classes whose trees this iteration searches; None: the trees are fixed.
    """

    n_components: int = 2
    smoothing: float = 0.1
    sharing: float = 10.0
    penalty: float = 0.0
    part: int | None = None

    promises = Promises(start_sees_all=True)
    params_type = TreeParams
    stats_type = TreeStats
    carry_type = None
    links_from_pairs: ClassVar[bool] = False  # links are counted in the E-step, with the current trees

    @property
    def strength(self) -> float:
        """s, the pseudo-rows of each class."""
        return self.smoothing + self.sharing

    def n_parts(self, n_columns: int) -> int:
        """Return the number of parts of the classes, searched one after another; 0 if there can be no links."""
        return -(-self.n_components // self._part_size(n_columns)) if n_columns > 1 else 0

    def _part_size(self, n_columns: int) -> int:
        return max(1, MAX_PAIR_COUNTS // n_pairs(n_columns))

    def searched_classes(self, params: TreeParams) -> slice:
        """Return the classes whose pairs this iteration counts."""
        if self.part is None or params.n_columns < 2:
            return slice(0, 0)
        size = self._part_size(params.n_columns)
        return slice(self.part * size, min((self.part + 1) * size, self.n_components))

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block; pair counts have half their size, because most iterations do not need them."""
        K = self.n_components
        return Footprint(
            working=row_cells + 2 * K,
            statistics=2 * n_columns * K + min(K * n_pairs(n_columns), MAX_PAIR_COUNTS) / 2,
            flops=4 * row_cells * K,
        )

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> TreeParams:
        """Return the start of a latent class model, without links."""
        classes = Classes(self.n_components).start(summary, key, passes)
        (d, K), m, Q = classes.probabilities.shape, np.full(summary.means.shape, 0.5), np.zeros(0)
        if self.sharing:
            uniform = self.smoothing / self.strength
            m = uniform * 0.5 + (1.0 - uniform) * classes.prior_mean
            if d > 1:
                Q = uniform * 0.25 + (1.0 - uniform) * joint_with_margins(passes(count_pairs), classes.prior_mean)
        p = classes.probabilities
        return TreeParams(classes.weights, np.full((d, K), -1.0), p, p.copy(), m, Q)

    @property
    def has_prior(self) -> bool:
        """Whether the prior keeps parameters finite where a column does not vary."""
        return self.smoothing > 0.0 or self.sharing > 0.0

    def online(self) -> Trees:
        """Return the model for online EM."""
        return OnlineTrees(self.n_components, self.smoothing, self.sharing, self.penalty)

    def prepare(self, params: TreeParams) -> None:
        """Compute the properties of the parameters that every block needs; they are cached."""
        _ = params.linear, params.pair, params.lookup, params.offsets

    def _posterior(self, params: TreeParams, block: Block) -> tuple[Floats, Floats]:
        """Return r and ln P(x)."""
        r, log_p, _, _ = tree_rows.posterior(params, block, np.ones(block.n_rows), count=False)
        for rows, messages in messages_of(params, block, rows_with_missing(block)):
            log_p[rows] = softmax_rows(messages.scores, np.log(params.weights)[None, :])
            r[rows] = messages.scores
        return r, log_p

    def expect(self, params: TreeParams, shared: object, block: Block, carry: None, key: Key) -> tuple[TreeStats, None]:
        """E-step: r, and in each class the expected 1s, 1s whose parent is 1, and pairs of 1s in searched classes."""
        if not block.keep:  # the positions of its 1s are needed more than once here
            block = replace(block, keep=True)
        incomplete, weights, searched = rows_with_missing(block), block.weights, self.searched_classes(params)
        complete_weights = weights
        if len(incomplete):
            complete_weights = weights.copy()
            complete_weights[incomplete] = 0.0  # these rows are added below
        r, log_p, ones, both = tree_rows.posterior(params, block, complete_weights)
        classes = np.ones(len(r)) @ r
        pairs = tree_rows.pair_counts(block, r[:, searched]) if searched.stop else np.zeros((1, 1))
        bound, weight = np.asarray(0.0), np.asarray(weights.sum())
        stats = TreeStats(bound, weight, classes, ones, both, pairs)
        for rows, messages in messages_of(params, block, incomplete):
            r_rows = messages.scores  # softmax_rows turns them into r in place
            log_p[rows] = softmax_rows(r_rows, np.log(params.weights)[None, :], weights[rows])
            classes += np.ones(len(rows)) @ r_rows
            add_incomplete_rows(
                params, searched, messages, r_rows, tree_rows.NEGLIGIBLE_PAIR_SHARE * weights[rows], stats
            )
        return replace(stats, bound=np.asarray(weights @ log_p)), None

    def objective(self, params: TreeParams, stats: TreeStats) -> float:
        """Return the log-likelihood, s Sum_k E_Q[ln T_k], and the penalty."""
        s, m = self.strength, params.prior_mean[:, None]
        n_links = np.count_nonzero(params.has_parent)
        Q = self._prior_links(params)
        parent_m = np.where(params.has_parent, params.prior_mean[params.parents], 0.0)
        (log_zero0, log_zero1), (logit0, logit1) = params.log_zero, params.logits
        log_prior = np.sum((m - Q) * logit0 + (1.0 - parent_m) * log_zero0)
        log_prior += np.sum(Q * logit1 + parent_m * log_zero1)
        return float(stats.bound) + (s * float(log_prior) if s else 0.0) - self.penalty * n_links

    def update(self, params: TreeParams, stats: TreeStats) -> TreeParams:
        """M-step: pi, the trees of searched classes, and probabilities: proportions of counts + s Q."""
        weight = float(stats.weight)
        pi = class_shares(stats.classes, weight)
        parents, both = self._best_trees(params, stats)
        relinked = replace(params, parent_columns=parents.astype(np.float64))
        s, m = self.strength, params.prior_mean[:, None]
        ones, rows = stats.ones + s * m, (stats.classes + s)[None, :]
        both = both + s * self._prior_links(relinked)
        marginal = share_or(ones.copy(), np.broadcast_to(rows, ones.shape), np.broadcast_to(m, ones.shape), weight)
        parent_ones = np.where(relinked.has_parent, np.take_along_axis(ones, np.maximum(parents, 0), axis=0), 0.0)
        if_zero = share_or(ones - both, rows - parent_ones, marginal, weight)
        if_one = np.where(relinked.has_parent, share_or(both, parent_ones, marginal, weight), if_zero)
        if_zero, if_one = clip_probability(if_zero), clip_probability(if_one)
        return replace(relinked, weights=pi, if_zero=if_zero, if_one=if_one)

    def _prior_links(self, params: TreeParams) -> Floats:
        """Return Q(column and parent = 1) of every link, (d, K); 0 without a parent."""
        d = params.n_columns
        parents = np.maximum(params.parents, 0).astype(np.int64)
        if params.prior_both.size:
            columns = np.broadcast_to(np.arange(d)[:, None], parents.shape)
            numbers = np.where(params.has_parent, pair_number(columns, parents, d), 0)
            return np.where(params.has_parent, params.prior_both[numbers], 0.0)
        return np.where(params.has_parent, 0.25, 0.0)

    def _best_trees(self, params: TreeParams, stats: TreeStats) -> tuple[NDArray[np.int32], Floats]:
        """Return the best parents, and the counts of rows in which a column and its parent are both 1."""
        searched, d = self.searched_classes(params), params.n_columns
        parents, both = params.parents.copy(), stats.both.copy()
        s, m, weight = self.strength, params.prior_mean, float(stats.weight)
        prior = s * (params.prior_both if params.prior_both.size else 0.25)
        for k, pairs in zip(range(searched.start, searched.stop), stats.pairs, strict=False):
            ones, rows = stats.ones[:, k] + s * m, float(stats.classes[k] + s)
            gains = link_gains(pairs + prior, ones, rows, GAIN_RESOLUTION * weight)
            heaviest = heaviest_forest(gains, d, self.penalty)
            old_gain, new_gain = (forest_gain(gains, forest, self.penalty) for forest in (parents[:, k], heaviest))
            if better := new_gain > old_gain + MIN_IMPROVEMENT * weight:
                parents[:, k] = heaviest
            if better or self.links_from_pairs:
                children = np.flatnonzero(parents[:, k] >= 0)
                both[:, k] = 0.0
                both[children, k] = pairs[pair_number(children, parents[children, k].astype(np.int64), d)]
        return parents, both

    # Row functions.

    def log_likelihood(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return self._posterior(params, block)[1]

    def posterior(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return r, the posterior probability of each class given the row's observed cells."""
        return self._posterior(params, block)[0]

    def cell_probabilities(self, params: TreeParams) -> Floats:
        """Return the marginal P(x = 1) in each class."""
        return params.marginals

    def fill(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) of every cell: x itself in observed cells."""
        return imputed(params, block, self.posterior(params, shared, block))

    def leave_one_out(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) for every cell."""
        return tree_rows.leave_one_out(params, block, self.posterior(params, shared, block))

    def sample(self, params: TreeParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Sample n rows and their classes (one-hot), parents before children."""
        classes = rng.choice(params.n_classes, size=n, p=params.weights)
        x = np.zeros((params.n_columns, n), np.uint8)
        uniform = rng.random(x.shape)
        for k, order in enumerate(params.orders.T):
            rows = np.flatnonzero(classes == k)
            for j in order:
                parent = params.parents[j, k]
                parent_x = x[parent, rows] if parent >= 0 else 0
                x[j, rows] = uniform[j, rows] < np.where(parent_x == 1, params.if_one[j, k], params.if_zero[j, k])
        return np.ascontiguousarray(x.T), np.eye(params.n_classes)[classes]

    def log_joint(self, params: TreeParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        k = int(np.argmax(h))
        total = np.log(params.weights[k])
        for j, parent in enumerate(params.parents[:, k]):
            p = params.if_one[j, k] if parent >= 0 and x[parent] == 1 else params.if_zero[j, k]
            total += np.log(p) if x[j] == 1 else np.log1p(-p)
        return float(total)

    def mismatch(self, params: TreeParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        if classes := super().mismatch(params):
            return classes
        if bool(params.prior_both.size) != (self.sharing > 0 and params.n_columns > 1):
            return "its prior does not match its sharing"
        return None

    def pseudo_statistics(self, params: TreeParams, weight: float) -> TreeStats:
        """Return the expected statistics of rows from the model itself, from which online EM continues after a fit."""
        classes = weight * params.weights
        parent_p = np.take_along_axis(params.marginals, np.maximum(params.parents, 0), 0)
        searched, pairs = self.searched_classes(params), np.zeros((1, 1))
        if searched.stop:
            pairs = np.stack([classes[k] * joint_probabilities(params, k) for k in range(params.n_classes)[searched]])
        return TreeStats(
            bound=np.zeros(()),
            weight=np.asarray(weight),
            classes=classes,
            ones=params.marginals * classes,
            both=np.where(params.has_parent, parent_p, 0.0) * params.if_one * classes,
            pairs=pairs,
        )


class OnlineTrees(Trees):
    """The model for online EM: the counts of links are taken from the counts of pairs; `rows.py` explains why."""

    links_from_pairs: ClassVar[bool] = True

    def searched_classes(self, params: TreeParams) -> slice:
        """Return all classes, or none if their pair counts are too many; then the trees stay as they are."""
        return slice(0, self.n_components if self.n_parts(params.n_columns) == 1 else 0)

    def stats_flaw(self, stats: WeightedSums, params: TreeParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        counted = stats.to_arrays()["pairs"].shape == (self.n_components, n_pairs(params.n_columns))
        if flaw := super().stats_flaw(stats, params):
            return flaw
        return "the statistics have no counts of pairs" if self.searched_classes(params).stop and not counted else None
