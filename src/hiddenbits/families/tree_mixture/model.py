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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.data.summary import Summary
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.tree_mixture import rows as tree_rows
from hiddenbits.families.tree_mixture.params import LATE_LOOKS, PAIR_NUMBERS, Clock, TreeParams, TreeStats
from hiddenbits.families.tree_mixture.rows import (
    add_blanks,
    consistent,
    filled,
    left_out,
    looking_at_pairs,
    messages_of,
    pairs_of,
)
from hiddenbits.maths.chow_liu import forest_gain, heaviest_forest, link_gains, n_pairs, pair_number
from hiddenbits.maths.missing_rows import rows_with_blanks
from hiddenbits.maths.numerics import (
    class_shares,
    clip_probability,
    share_or,
    softmax_rows,
)
from hiddenbits.maths.pair_counts import count_pairs
from hiddenbits.model_api import ClassCodes, Footprint, Key, Linked, Passes, Promises, Stage

# Gains of links closer than this (share of the weight) are equal, so that rounding does not choose trees; and a tree
# gives way only to one that is better by MARGIN: more than what the rows left out of pair counts could make up.
EQUAL, MARGIN = 2.0**-36, 1e-8


@dataclass(frozen=True)
class Trees(Linked, ClassCodes[TreeParams]):
    """The model; hyperparameters only.

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
    first_passes : int
        Passes as a Bernoulli mixture before trees are looked for, in every other restart; the others begin with trees.
    """

    n_components: int = 2
    smoothing: float = 0.1
    sharing: float = 10.0
    penalty: float = 0.0
    first_passes: int = 10

    promises = Promises(start_sees_all=True)
    params_type = TreeParams
    stats_type = TreeStats
    carry_type = None
    links_from_pairs: ClassVar[bool] = False  # counts of links are those of the pass, whose trees are the present ones

    @property
    def strength(self) -> float:
        """s, the pseudo-rows of each class."""
        return self.smoothing + self.sharing

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; counts of pairs come in some passes only, and their size counts by half."""
        K = self.n_components
        return Footprint(
            working=row_cells + 2 * K,
            statistics=2 * n_columns * K + min(K * n_pairs(n_columns), PAIR_NUMBERS) / 2,
            flops=4 * row_cells * K,
        )

    def start(self, summary: Summary, key: Key, passes: Passes) -> TreeParams:
        """Return classes that k-means found among the rows, without links."""
        classes = Classes(self.n_components).start(summary, key, passes)
        (d, K), m, both = classes.probabilities.shape, np.full(summary.means.shape, 0.5), np.zeros(0)
        if self.sharing:
            coins = self.smoothing / self.strength
            m = coins * 0.5 + (1.0 - coins) * classes.prior_mean
            if d > 1:
                both = coins * 0.25 + (1.0 - coins) * consistent(passes(count_pairs), classes.prior_mean)
        p = classes.probabilities
        # Classes that differ in their means are found by a Bernoulli mixture first; it is misled by those that do not.
        clock = Clock(wait=self.first_passes if K > 1 and key.restart % 2 == 0 else 0).to_array()
        return TreeParams(classes.weights, np.full((d, K), -1.0), p, p.copy(), m, both, clock)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.smoothing > 0.0 or self.sharing > 0.0

    def on_all_rows(self, params: TreeParams) -> TreeParams:
        """Return the parameters with which a fit goes on over all rows: trees are looked for again."""
        return params.at(Clock(passes=params.time.passes))

    def stages(self) -> Sequence[Stage[TreeParams, TreeStats]]:
        """Return the mixture, again and again as long as new trees are better."""
        return (Stage(self), *[Stage(self, self._looking_again)] * LATE_LOOKS)

    def _looking_again(self, params: TreeParams, key: Key) -> TreeParams | None:
        """Look for trees once more where a fit stands still, until that changes nothing."""
        time = params.time
        if not time.passes or not time.late_looks or not time.changed or params.n_columns < 2:
            return None
        return params.at(replace(time, wait=0, late_looks=time.late_looks - 1))

    def online(self) -> Trees:
        """Return the form of the model that online EM needs."""
        return OnlineTrees(self.n_components, self.smoothing, self.sharing, self.penalty, self.first_passes)

    def prepare(self, params: TreeParams) -> TreeParams | None:
        """Make what every block needs, once: it stays with the parameters."""
        _ = params.linear, params.pair, params.lookup, params.offsets, params.looked_at
        return None

    def _posterior(self, params: TreeParams, block: Block) -> tuple[Floats, Floats]:
        """Return r and ln P(x)."""
        r, log_p, _, _ = tree_rows.posterior(params, block, np.ones(block.n_rows), count=False)
        for rows, messages in messages_of(params, block, rows_with_blanks(block)):
            log_p[rows] = softmax_rows(messages.scores, np.log(params.weights)[None, :])
            r[rows] = messages.scores
        return r, log_p

    def expect(self, params: TreeParams, shared: object, block: Block, carry: None, key: Key) -> tuple[TreeStats, None]:
        """E-step: r, and with it the expected ones of each class, alone and with their parents, or with all others."""
        if not block.keep:  # its ones are needed more than once here, if not in the next pass
            block = replace(block, keep=True)
        blanks, weights, looked = rows_with_blanks(block), block.weights, params.looked_at
        complete = weights
        if len(blanks):
            complete = weights.copy()
            complete[blanks] = 0.0  # they come one by one
        r, log_p, ones, both = tree_rows.posterior(params, block, complete)
        classes, pair_rows = np.ones(len(r)) @ r, np.zeros(params.n_classes)
        pairs = tree_rows.pair_counts(block, r[:, looked]) if looked.stop else np.zeros((1, 1))
        bound, weight = np.asarray(0.0), np.asarray(weights.sum())
        stats = TreeStats(bound, weight, classes, ones, both, pairs, pair_rows)
        for rows, messages in messages_of(params, block, blanks):
            shares = messages.scores
            log_p[rows] = softmax_rows(shares, np.log(params.weights)[None, :], weights[rows])
            classes += np.ones(len(rows)) @ shares
            add_blanks(params, messages, shares, tree_rows.PAIR_SHARE * weights[rows], stats)
        pair_rows[looked] = classes[looked]
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
        parents, both, n_changed = self._best_trees(params, stats)
        moved = replace(params, parent_columns=parents.astype(np.float64))
        s, m = self.strength, params.prior_mean[:, None]
        ones, rows = stats.ones + s * m, (stats.classes + s)[None, :]
        both = both + s * self._prior_links(moved)
        alone = share_or(ones.copy(), np.broadcast_to(rows, ones.shape), np.broadcast_to(m, ones.shape), weight)
        above = np.where(moved.has_parent, np.take_along_axis(ones, np.maximum(parents, 0), axis=0), 0.0)
        if_zero = share_or(ones - both, rows - above, alone, weight)
        if_one = np.where(moved.has_parent, share_or(both, above, alone, weight), if_zero)
        looked = params.looked_at
        clock = params.time.after(len(pi), looked.stop - looked.start, n_changed).to_array()
        if_zero, if_one = clip_probability(if_zero), clip_probability(if_one)
        return replace(moved, weights=pi, if_zero=if_zero, if_one=if_one, clock=clock)

    def _prior_links(self, params: TreeParams) -> Floats:
        """Return Q(bit and parent = 1) of every link, (d, K); 0 where there is none."""
        d = params.n_columns
        above = np.maximum(params.parents, 0).astype(np.int64)
        if params.prior_both.size:
            columns = np.broadcast_to(np.arange(d)[:, None], above.shape)
            numbers = np.where(params.has_parent, pair_number(columns, above, d), 0)
            return np.where(params.has_parent, params.prior_both[numbers], 0.0)
        return np.where(params.has_parent, 0.25, 0.0)

    def _best_trees(self, params: TreeParams, stats: TreeStats) -> tuple[NDArray[np.int32], Floats, int]:
        """Return the parents, the counts of links that belong to them, and how many trees have changed."""
        looked, d = params.looked_at, params.n_columns
        if not looked.stop or np.count_nonzero(stats.pair_rows) > looked.stop - looked.start:
            return params.parents, stats.both, 0  # online averages of other classes' pairs are of no use
        parents, both, n_changed = params.parents.copy(), stats.both.copy(), 0
        s, m, weight = self.strength, params.prior_mean, float(stats.weight)
        prior = s * (params.prior_both if params.prior_both.size else 0.25)
        for row, k in enumerate(range(looked.start, looked.stop)):
            if stats.pair_rows[k] <= 0.0:
                continue
            pairs = stats.pairs[row] * (stats.classes[k] / stats.pair_rows[k])
            ones, rows = stats.ones[:, k] + s * m, float(stats.classes[k] + s)
            gains = link_gains(pairs + prior, ones, rows, EQUAL * weight)
            found = heaviest_forest(gains, d, self.penalty)
            old, new = (forest_gain(gains, forest, self.penalty) for forest in (parents[:, k], found))
            if better := new > old + MARGIN * weight:
                parents[:, k] = found
                n_changed += 1
            if better or self.links_from_pairs:
                children = np.flatnonzero(parents[:, k] >= 0)
                both[:, k] = 0.0
                both[children, k] = pairs[pair_number(children, parents[children, k].astype(np.int64), d)]
        return parents, both, n_changed

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

    def draw(self, params: TreeParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
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
        return TreeStats(
            bound=np.zeros(()),
            weight=np.asarray(weight),
            classes=classes,
            ones=params.marginals * classes,
            both=above * params.if_one * classes,
            pairs=np.zeros((1, 1)),
            pair_rows=np.zeros(params.n_classes),
        )


class OnlineTrees(Trees):
    """The model as online EM needs it (`rows.py`): counts of links are taken from counts of pairs."""

    links_from_pairs: ClassVar[bool] = True

    def prepare(self, params: TreeParams) -> TreeParams:
        """Return the parameters that every block of the pass looks at."""
        looking = looking_at_pairs(params)
        super().prepare(looking)
        return looking

    def expect(self, params: TreeParams, shared: Any, block: Block, carry: None, key: Key) -> tuple[TreeStats, None]:
        """E-step, with counts of all pairs."""
        return super().expect(shared, None, block, carry, key)

    def update(self, params: TreeParams, stats: TreeStats) -> TreeParams:
        """M-step for trees and probabilities; the clock of full passes continues by one plain pass."""
        looking, time = looking_at_pairs(params), params.time
        new, looked = super().update(looking, stats), bool(looking.looked_at.stop)
        passed = replace(time, passes=time.passes + 1, wait=max(time.wait - 1, 0))
        return new.at(replace(passed, changed=max(time.changed, 0)) if looked else passed)

    def pseudo_statistics(self, params: TreeParams, weight: float) -> TreeStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        stats = super().pseudo_statistics(params, weight)
        if not looking_at_pairs(params).looked_at.stop:
            return stats
        pairs = np.stack([pairs_of(params, k) for k in range(params.n_classes)]) * stats.classes[:, None]
        return replace(stats, pairs=pairs, pair_rows=stats.classes.copy())
