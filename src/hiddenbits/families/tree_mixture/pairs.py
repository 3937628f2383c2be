"""Counts of pairs of columns, which outlive the trees: what online EM takes the counts of links from, and the prior's.

A running average of the links' counts is made with the parents of each moment, and means nothing when a tree has
changed. Counts of all pairs of columns do not depend on the trees. So every pass counts them (after the passes as a
Bernoulli mixture that a start may ask for), an update finds the best trees for their average, and the links are counted
by it. Averaged over some passes only they would stand for the rows of those passes: too few to find a tree.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.families.tree_mixture.params import PAIR_NUMBERS, TreeParams
from hiddenbits.maths.chow_liu import n_pairs, pair_number
from hiddenbits.maths.pair_counts import PairCounts


def looking_at_pairs(params: TreeParams) -> TreeParams:
    """Return the parameters of a pass over all pairs, or of a plain one where those of all classes are too many.

    Trees stay as they are then, and so do counts of links.
    """
    time, few = params.time, _counts_pairs(params)
    before_trees = time.changed < 0 and time.wait > 0
    return params.at(replace(time, wait=0 if few and not before_trees else max(time.wait, 1), first_class=0))


def _counts_pairs(params: TreeParams) -> bool:
    return params.n_classes * n_pairs(params.n_columns) <= PAIR_NUMBERS


def pairs_of(params: TreeParams, k: int) -> Floats:
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


def consistent(pairs: PairCounts, m: Floats) -> Floats:
    """Return P(both = 1) of every pair with margins m, and the table's covariances."""
    d = len(m)
    runs = []
    for i in range(d - 1):
        cells = pairs.cells(slice(i, i + 1), slice(i + 1, d))
        total = np.maximum(cells.total[0], 1.0)
        one, other = (cells.one_one + cells.one_zero)[0] / total, (cells.one_one + cells.zero_one)[0] / total
        both = cells.one_one[0] / total - one * other + m[i] * m[i + 1 :]
        runs.append(np.clip(both, np.maximum(m[i] + m[i + 1 :] - 1.0, 0.0), np.minimum(m[i], m[i + 1 :])))
    return np.concatenate(runs)
