"""Mixture of trees: each row belongs to one hidden class, and in a class each bit depends on one other (its parent).

    ln P(x, h = k) = ln pi_k + Sum_j ln P(x_j | x_parent(j, k), k)

| letter | meaning | shape |
|---|---|---|
| x | bits | (rows, d) |
| r | P(h = k, row n, given x) | (rows, K) |
| pi | class weights | (K,) |
| parents | parent of each column in each class, -1 for none | (d, K) |
| p0, p1 | P(bit = 1) where the parent is 0, and 1 | (d, K) |
| m, Q | the prior's means and P(both = 1) of pairs of columns | (d,), pairs |
| s | strength of the prior: pseudo-rows of each class, of fair coins (smoothing) and of the table (sharing) | number |
| c | penalty: what a link must gain, in nats | number |

Meila & Jordan (2000). What EM climbs is, with T_k the tree and its parameters,

    Sum_n w_n ln Sum_k pi_k T_k(x_n)  +  s Sum_k E_Q[ ln T_k ]  -  c (number of links)

The prior is the log-likelihood of s rows in each class, of which only tables of pairs need be known, because a tree's
log-likelihood is a sum over its links. Every table of Q has the same margins m: so the update is that of counts
(expected rows + s Q) whose tables have common margins, too. For such counts the best parameters of a given forest are
the shares (n_j1 / n_1), at which its objective is that of independent columns plus Sum over links of
(total x mutual information - c); the best forest is then the heaviest (Chow & Liu 1968). So an update that looks for
trees is an exact maximum over trees and parameters, one that does not is one over parameters, and neither lowers the
objective. Without links the model is a Bernoulli mixture, and a fit begins as one.
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
    add_blanks,
    consistent,
    filled,
    left_out,
    messages_of,
    pairs_of,
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

# Gains of links closer than this (share of the weight) are equal, so that rounding does not choose trees; and a tree
# gives way only to one that is better by MARGIN: more than what the rows left out of pair counts could make up.
EQUAL, MARGIN = 2.0**-36, 1e-8
PAIR_NUMBERS = 1 << 24  # pair counts of so many classes at a time: 128 MB


@dataclass(frozen=True)
class Trees(AsOnSubsample, Linked, ClassCodes[TreeParams]):
    """The model of a pass; hyperparameters only. `TreeSearch` is that of a fit.

    Parameters
    ----------
    n_components : int
        K.
    smoothing : float
        Pseudo-rows of fair coins for each class.
    sharing : float
        Pseudo-rows for each class that are like all rows of the table, as far as pairs of columns go.
    penalty : float
        c, in nats.
    part : int or None
        The part of the classes whose trees this pass looks for; None in a plain pass, which keeps the trees.
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
    links_from_pairs: ClassVar[bool] = False  # counts of links are those of the pass, whose trees are the present ones

    @property
    def strength(self) -> float:
        """s, the pseudo-rows of each class."""
        return self.smoothing + self.sharing

    def n_parts(self, n_columns: int) -> int:
        """Return in how many parts the trees of all classes are looked for, one a pass; 0 where there are no links."""
        return -(-self.n_components // self._part_size(n_columns)) if n_columns > 1 else 0

    def _part_size(self, n_columns: int) -> int:
        return max(1, PAIR_NUMBERS // n_pairs(n_columns))

    def looked_at(self, params: TreeParams) -> slice:
        """Return the classes whose pairs this pass counts; none in a plain pass."""
        if self.part is None or params.n_columns < 2:
            return slice(0, 0)
        size = self._part_size(params.n_columns)
        return slice(self.part * size, min((self.part + 1) * size, self.n_components))

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; counts of pairs come in some passes only, and their size counts by half."""
        K = self.n_components
        return Footprint(
            working=row_cells + 2 * K,
            statistics=2 * n_columns * K + min(K * n_pairs(n_columns), PAIR_NUMBERS) / 2,
            flops=4 * row_cells * K,
        )

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> TreeParams:
        """Return classes that k-means found among the rows, without links."""
        classes = Classes(self.n_components).start(summary, key, passes)
        (d, K), m, both = classes.probabilities.shape, np.full(summary.means.shape, 0.5), np.zeros(0)
        if self.sharing:
            coins = self.smoothing / self.strength
            m = coins * 0.5 + (1.0 - coins) * classes.prior_mean
            if d > 1:
                both = coins * 0.25 + (1.0 - coins) * consistent(passes(count_pairs), classes.prior_mean)
        p = classes.probabilities
        return TreeParams(classes.weights, np.full((d, K), -1.0), p, p.copy(), m, both)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.smoothing > 0.0 or self.sharing > 0.0

    def online(self) -> Trees:
        """Return the form of the model that online EM needs."""
        return OnlineTrees(self.n_components, self.smoothing, self.sharing, self.penalty)

    def prepare(self, params: TreeParams) -> None:
        """Make what every block needs, once: it stays with the parameters."""
        _ = params.linear, params.pair, params.lookup, params.offsets

    def _posterior(self, params: TreeParams, block: Block) -> tuple[Floats, Floats]:
        """Return r and ln P(x)."""
        r, log_p, _, _ = tree_rows.posterior(params, block, np.ones(block.n_rows), count=False)
        for rows, messages in messages_of(params, block, rows_with_missing(block)):
            log_p[rows] = softmax_rows(messages.scores, np.log(params.weights)[None, :])
            r[rows] = messages.scores
        return r, log_p

    def expect(self, params: TreeParams, shared: object, block: Block, carry: None, key: Key) -> tuple[TreeStats, None]:
        """E-step: r, and with it the expected ones of each class, alone and with their parents, or with all others."""
        if not block.keep:  # its ones are needed more than once here, if not in the next pass
            block = replace(block, keep=True)
        blanks, weights, looked = rows_with_missing(block), block.weights, self.looked_at(params)
        complete = weights
        if len(blanks):
            complete = weights.copy()
            complete[blanks] = 0.0  # they come one by one
        r, log_p, ones, both = tree_rows.posterior(params, block, complete)
        classes = np.ones(len(r)) @ r
        pairs = tree_rows.pair_counts(block, r[:, looked]) if looked.stop else np.zeros((1, 1))
        bound, weight = np.asarray(0.0), np.asarray(weights.sum())
        stats = TreeStats(bound, weight, classes, ones, both, pairs)
        for rows, messages in messages_of(params, block, blanks):
            shares = messages.scores
            log_p[rows] = softmax_rows(shares, np.log(params.weights)[None, :], weights[rows])
            classes += np.ones(len(rows)) @ shares
            add_blanks(params, looked, messages, shares, tree_rows.PAIR_SHARE * weights[rows], stats)
        return replace(stats, bound=np.asarray(weights @ log_p)), None

    def objective(self, params: TreeParams, stats: TreeStats) -> float:
        """Return the log-likelihood, s Sum_k E_Q[ln T_k], and the penalty."""
        s, m = self.strength, params.prior_mean[:, None]
        n_links = np.count_nonzero(params.has_parent)
        both = self._prior_links(params)
        above = np.where(params.has_parent, params.prior_mean[params.parents], 0.0)
        (off0, off1), (logit0, logit1) = params.log_off, params.logits
        prior = np.sum((m - both) * logit0 + (1.0 - above) * off0) + np.sum(both * logit1 + above * off1)
        return float(stats.bound) + (s * float(prior) if s else 0.0) - self.penalty * n_links

    def update(self, params: TreeParams, stats: TreeStats) -> TreeParams:
        """M-step: pi, in some passes the trees, and the probabilities (expected ones + s m) / (expected rows + s)."""
        weight = float(stats.weight)
        pi = class_shares(stats.classes, weight)
        parents, both = self._best_trees(params, stats)
        moved = replace(params, parent_columns=parents.astype(np.float64))
        s, m = self.strength, params.prior_mean[:, None]
        ones, rows = stats.ones + s * m, (stats.classes + s)[None, :]
        both = both + s * self._prior_links(moved)
        alone = share_or(ones.copy(), np.broadcast_to(rows, ones.shape), np.broadcast_to(m, ones.shape), weight)
        above = np.where(moved.has_parent, np.take_along_axis(ones, np.maximum(parents, 0), axis=0), 0.0)
        if_zero = share_or(ones - both, rows - above, alone, weight)
        if_one = np.where(moved.has_parent, share_or(both, above, alone, weight), if_zero)
        if_zero, if_one = clip_probability(if_zero), clip_probability(if_one)
        return replace(moved, weights=pi, if_zero=if_zero, if_one=if_one)

    def _prior_links(self, params: TreeParams) -> Floats:
        """Return Q(bit and parent = 1) of every link, (d, K); 0 where there is none."""
        d = params.n_columns
        above = np.maximum(params.parents, 0).astype(np.int64)
        if params.prior_both.size:
            columns = np.broadcast_to(np.arange(d)[:, None], above.shape)
            numbers = np.where(params.has_parent, pair_number(columns, above, d), 0)
            return np.where(params.has_parent, params.prior_both[numbers], 0.0)
        return np.where(params.has_parent, 0.25, 0.0)

    def _best_trees(self, params: TreeParams, stats: TreeStats) -> tuple[NDArray[np.int32], Floats]:
        """Return the parents, and the counts of links that belong to them."""
        looked, d = self.looked_at(params), params.n_columns
        parents, both = params.parents.copy(), stats.both.copy()
        s, m, weight = self.strength, params.prior_mean, float(stats.weight)
        prior = s * (params.prior_both if params.prior_both.size else 0.25)
        for k, pairs in zip(range(looked.start, looked.stop), stats.pairs, strict=False):
            ones, rows = stats.ones[:, k] + s * m, float(stats.classes[k] + s)
            gains = link_gains(pairs + prior, ones, rows, EQUAL * weight)
            heaviest = heaviest_forest(gains, d, self.penalty)
            old, new = (forest_gain(gains, forest, self.penalty) for forest in (parents[:, k], heaviest))
            if better := new > old + MARGIN * weight:
                parents[:, k] = heaviest
            if better or self.links_from_pairs:
                children = np.flatnonzero(parents[:, k] >= 0)
                both[:, k] = 0.0
                both[children, k] = pairs[pair_number(children, parents[children, k].astype(np.int64), d)]
        return parents, both

    # Row functions: what the estimators' verbs rest on.

    def log_likelihood(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return self._posterior(params, block)[1]

    def posterior(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return r, the probability of each class given the row's observed bits."""
        return self._posterior(params, block)[0]

    def cell_probabilities(self, params: TreeParams) -> Floats:
        """Return P(bit = 1) in each class, whatever the parent is."""
        return params.marginals

    def fill(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell; observed bits are what they are."""
        return filled(params, block, self.posterior(params, shared, block))

    def leave_one_out(self, params: TreeParams, shared: object, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed bits) for every cell."""
        return left_out(params, block, self.posterior(params, shared, block))

    def sample(self, params: TreeParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and their classes (1 among zeros), parents before children."""
        classes = rng.choice(params.n_classes, size=n, p=params.weights)
        x = np.zeros((params.n_columns, n), np.uint8)
        uniform = rng.random(x.shape)
        for k, order in enumerate(params.orders.T):
            rows = np.flatnonzero(classes == k)
            for j in order:
                parent = params.parents[j, k]
                above = x[parent, rows] if parent >= 0 else 0
                x[j, rows] = uniform[j, rows] < np.where(above == 1, params.if_one[j, k], params.if_zero[j, k])
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
            return "its prior does not go with the declared sharing"
        return None

    def pseudo_statistics(self, params: TreeParams, weight: float) -> TreeStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        classes = weight * params.weights
        above = np.where(params.has_parent, np.take_along_axis(params.marginals, np.maximum(params.parents, 0), 0), 0.0)
        looked, pairs = self.looked_at(params), np.zeros((1, 1))
        if looked.stop:
            pairs = np.stack([classes[k] * pairs_of(params, k) for k in range(params.n_classes)[looked]])
        return TreeStats(
            bound=np.zeros(()),
            weight=np.asarray(weight),
            classes=classes,
            ones=params.marginals * classes,
            both=above * params.if_one * classes,
            pairs=pairs,
        )


class OnlineTrees(Trees):
    """The model as online EM needs it (`rows.py`): counts of links are taken from counts of pairs."""

    links_from_pairs: ClassVar[bool] = True

    def looked_at(self, params: TreeParams) -> slice:
        """Return all classes, or none where the counts of their pairs are too many: trees stay as they are then."""
        return slice(0, self.n_components if self.n_parts(params.n_columns) == 1 else 0)

    def stats_flaw(self, stats: WeightedSums, params: TreeParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        counted = stats.to_arrays()["pairs"].shape == (self.n_components, n_pairs(params.n_columns))
        wrong = "the statistics have no counts of pairs" if self.looked_at(params).stop and not counted else None
        return super().stats_flaw(stats, params) or wrong
