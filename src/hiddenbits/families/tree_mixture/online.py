"""A mixture of trees as online EM needs it: counts of links are taken from counts of pairs, which outlive the trees.

A running average of the links' counts is made with the parents of each moment, and means nothing when a tree has
changed. Counts of all pairs of columns do not depend on the trees. So every pass counts them (after the passes as a
Bernoulli mixture that a start may ask for), an update finds the best trees for their average, and the links are counted
by it. Averaged over some passes only they would stand for the rows of those passes: too few to find a tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from hiddenbits.data import Block
from hiddenbits.families.tree_mixture.model import Floats, Trees
from hiddenbits.families.tree_mixture.params import PAIR_NUMBERS, TreeParams, TreeStats
from hiddenbits.maths.chow_liu import n_pairs, pair_number


class OnlineTrees(Trees):
    """The model; hyperparameters only."""

    links_from_pairs: ClassVar[bool] = True

    def _looking(self, params: TreeParams) -> TreeParams:
        """Return the parameters of a pass over all pairs, or of a plain one where those of all classes are too many.

        Trees stay as they are then, and so do counts of links.
        """
        time, few = params.time, self._counts_pairs(params)
        before_trees = time.changed < 0 and time.wait > 0
        return params.at(replace(time, wait=0 if few and not before_trees else max(time.wait, 1), first_class=0))

    def _counts_pairs(self, params: TreeParams) -> bool:
        return params.n_classes * n_pairs(params.n_columns) <= PAIR_NUMBERS

    def prepare(self, params: TreeParams) -> TreeParams:
        """Return the parameters that every block of the pass looks at."""
        looking = self._looking(params)
        super().prepare(looking)
        return looking

    def expect(self, params: TreeParams, shared: Any, block: Block, carry: None, key: Any) -> tuple[TreeStats, None]:
        """E-step, with counts of all pairs."""
        return super().expect(shared, None, block, carry, key)

    def update(self, params: TreeParams, stats: TreeStats) -> TreeParams:
        """M-step for trees and probabilities; the clock of full passes goes on by one plain pass."""
        looking, time = self._looking(params), params.time
        new, looked = super().update(looking, stats), bool(looking.looked_at.stop)
        passed = replace(time, passes=time.passes + 1, wait=max(time.wait - 1, 0))
        return new.at(replace(passed, changed=max(time.changed, 0)) if looked else passed)

    def stats_flaw(self, stats: TreeStats, params: TreeParams) -> str | None:
        """Return what makes statistics unlawful for these parameters, or None."""
        wait = 0 if stats.pairs.shape != (1, 1) or params.n_columns == 2 else 1
        return super().stats_flaw(stats, params.at(replace(params.time, wait=wait, first_class=0)))

    def pseudo_statistics(self, params: TreeParams, weight: float) -> TreeStats:
        """Return the statistics of rows that are just as the model expects, for online EM to go on from a fit."""
        stats = super().pseudo_statistics(params, weight)
        if not self._looking(params).looked_at.stop:
            return stats
        pairs = np.stack([_pairs_of(params, k) for k in range(params.n_classes)]) * stats.classes[:, None]
        return replace(stats, pairs=pairs, pair_rows=stats.classes.copy())


def _pairs_of(params: TreeParams, k: int) -> Floats:
    """Return P(both = 1) of every pair of columns in a class: a column meets those before it through its parent."""
    d, p = params.n_columns, params.marginals[:, k]
    joint, before = np.diag(p), np.zeros(0, np.intp)
    for j in params.orders[:, k]:
        parent = params.parents[j, k]
        through = joint[parent, before] if parent >= 0 else np.zeros(len(before))
        meets = through * params.if_one[j, k] + (p[before] - through) * params.if_zero[j, k]
        joint[j, before] = joint[before, j] = meets
        before = np.append(before, j)
    run = np.empty(n_pairs(d))
    first, second = np.triu_indices(d, 1)
    run[pair_number(first, second, d)] = joint[first, second]
    return run
