"""What a mixture of trees makes of rows without blanks: r, and counts of ones, of links and of all pairs.

    ln P(x, k) = ln pi_k + Sum_j ln(1 - p0_j) + Sum_j x_j a_jk + Sum_j x_j x_parent(j) b_jk

so that the cost follows the ones. Each function has a compiled twin (`trees_numba.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Bits, Block
from hiddenbits.data.kernels import kernels_pay
from hiddenbits.families.tree_mixture.params import TreeParams, TreeStats
from hiddenbits.maths.chow_liu import fast_kernels, n_pairs, pair_number
from hiddenbits.maths.cooccurrence import co_counts
from hiddenbits.maths.numerics import sigmoid, softmax_rows, softplus
from hiddenbits.maths.pair_counts import PairCounts

CHUNK_CELLS = 1 << 17  # cells of a block that are floats at a time: they stay in the cache
# Classes below this share of a row are left out of its counts: of all pairs, where each costs much and only the choice
# of trees depends on it (see `MARGIN`); and of the others, where it is far below rounding.
PAIR_SHARE, SHARE = 1e-10, 1e-17
MANY_ONES = 0.15  # share of ones from which on a matrix product counts pairs faster than going through them does


def posterior(
    params: TreeParams, block: Block, weights: Floats, *, count: bool = True
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return r times the weights, ln P(x), and the expected ones of each class, and those whose parent is 1 too.

    The last two are (d, K), and 0 without `count`. All rows are taken as complete; a weight of 0 leaves one out.
    """
    ones, both = np.zeros((2, *params.parents.shape))
    kernels = fast_kernels()
    if kernels is not None:
        (indptr, indices), (n, K) = block.ones(), (block.n_rows, params.n_classes)
        r, largest, total, none = np.empty((n, K)), np.empty(n), np.empty(n), np.zeros((0, 0))
        kernels.sparse_rows(
            indptr.view(np.uint64),
            indices.view(np.uint32 if indices.itemsize == 4 else np.uint64),
            *(params.lookup, params.linear, params.pair, params.offsets, weights, SHARE * weights),
            *(r, largest, total, ones if count else none, both),
        )
        largest += np.log(total, out=total)
        return r, largest, ones, both
    r = _scores(params, block)
    log_p = softmax_rows(r, None, weights)
    if count:
        for rows, cells in _chunks(block.x):
            ones += cells[:, :-1].T @ r[rows]
            for k in range(params.n_classes):
                both[:, k] += (cells[:, :-1] * cells[:, params.lookup[:, k]]).T @ r[rows, k]
    return r, log_p, ones, both


def _scores(params: TreeParams, block: Block) -> Floats:
    """Return ln P(x, class) of each row, (rows, K)."""
    out = np.repeat(params.offsets, block.n_rows, axis=0)
    for rows, cells in _chunks(block.x):
        out[rows] += cells[:, :-1] @ params.linear
        for k in range(params.n_classes):
            out[rows, k] += (cells[:, :-1] * cells[:, params.lookup[:, k]]) @ params.pair[:, k]
    return out


def pair_counts(block: Block, r: Floats) -> Floats:
    """Return the expected number of rows in which both columns of a pair are 1, (classes of r, pairs).

    Where rows have many ones and equal weights, those all but certain to be in a class are counted as bits, which is
    faster.
    """
    d, least = block.n_columns, PAIR_SHARE * block.weights
    pairs = np.zeros((r.shape[1], n_pairs(d)))
    kernels, above = fast_kernels(), np.triu_indices(d, 1)
    if kernels is None:
        for counts, share in zip(pairs, r.T, strict=True):
            counts += _pairs_of(block.x, np.flatnonzero(share > least), share)[above]
        return pairs
    indptr, indices = block.ones()
    left = np.ascontiguousarray(r)
    if kernels_pay() and len(indices) > MANY_ONES * block.n_rows * d and np.ptp(block.weights) == 0.0:
        left = left.copy()
        for counts, share in zip(pairs, left.T, strict=True):
            certain = np.flatnonzero(share >= block.weights - least)
            counts += _pairs_of(block.x, certain, block.weights)[above]
            share[certain] = 0.0
    kernels.add_pairs(indptr, indices, d, left, least, pairs)
    return pairs


def _pairs_of(x: Bits, rows: Rows, weights: Floats) -> Floats:
    """Return the weight of some rows in which columns i and j are both 1."""
    some = x.take(rows)
    return co_counts(some, some, np.ascontiguousarray(weights[rows]))


def _chunks(x: Bits) -> Iterator[tuple[slice, Floats]]:
    """Yield a few rows at a time as floats, with one more column of zeros."""
    n, d = x.shape
    step = max(1, CHUNK_CELLS // (d + 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        cells = np.zeros((rows.stop - start, d + 1))
        cells[:, :-1] = x.rows(start, rows.stop).to_dense()
        yield rows, cells


# Counts of pairs of columns, which outlive the trees: what online EM takes the counts of links from, and the prior's.
#
# A running average of the links' counts is made with the parents of each moment, and means nothing when a tree has
# changed. Counts of all pairs of columns do not depend on the trees. So every pass counts them, an update finds the
# best trees for their average, and the links are counted by it. Averaged over some passes only they would stand for the
# rows of those passes: too few to find a tree.


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


# Rows with blanks in one tree: exact sums over the missing cells, by messages along the links.
#
# Upwards, with e_j(b) = 0 where cell j was observed to be the other bit, and 1 otherwise, and C_j the sum of the
# messages of j's children:
#
#     u_j(b) = ln Sum_a P(x_j = a | parent = b) e_j(a) exp C_j(a),      ln P(observed) = Sum of the roots' messages
#
# Downwards, pi_j = P(x_j = 1 | all observed cells that are not below j):
#
#     pi_j = (1 - w) p0_j + w p1_j,      w = parent's bit, or sigma(logit pi_parent + difference of C_parent - u_j)
#
# Given its observed cells a row's tree is a tree again, with P(x_j = 1 | parent = b) = c_j(b). In it
#
#     E[x_j x_parent] = c_j(1) E[x_parent],      cov(x_i, x_j) = cov(x_i, x_parent(j)) (c_j(1) - c_j(0)),  i not below j
#
# so that the expected counts of all pairs are exact, too. Arrays are (columns, classes, rows): each step goes to one
# column of every class's tree, for all rows of a chunk at once.

MISSING_CHUNK_CELLS = 1 << 18  # cells (of every class) of the rows that are worked on together
LARGEST_ODDS = 700.0  # of a sigmoid


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows of a block: bits and which of them were observed, (columns, rows) each."""

    x: Floats
    observed: NDArray[np.bool_]

    @classmethod
    def of(cls, block: Block, rows: Rows) -> Cells:
        """Return the given rows."""
        x, o = (np.ascontiguousarray(bits.take(rows).to_dense().T) for bits in (block.x, block.observed))
        return cls(x.astype(np.float64), o.astype(bool))


class Messages:
    """What the cells of some rows say to each other along the links of every class.

    Attributes
    ----------
    scores : ndarray of shape (rows, K)
        ln P(observed | class).
    """

    def __init__(self, params: TreeParams, cells: Cells) -> None:
        (d, K), n = params.parents.shape, cells.x.shape[1]
        self._params, self._cells, self._k = params, cells, np.arange(K)
        self._below = np.zeros((2, d + 1, K, n))  # C; what roots say goes to column d
        self._above = np.empty((2, d, K, n))  # u
        self._given = np.empty((2, d, K, n))  # c
        probabilities = np.array([params.if_zero, params.if_one])[..., None]
        for j in params.orders[::-1]:
            here = (j, self._k)
            x, o, (C0, C1) = cells.x[j], cells.observed[j], self._below[:, *here]
            shift = np.where(o, np.where(x == 1.0, C1, C0), np.maximum(C0, C1))
            off = np.where(o, 1.0 - x, np.exp(np.minimum(C0 - shift, 0.0)))
            on = np.where(o, x, np.exp(np.minimum(C1 - shift, 0.0)))
            p = probabilities[:, *here]
            likely = p * on
            total = likely + (1.0 - p) * off
            self._given[:, *here] = likely / total
            self._above[:, *here] = message = np.log(total) + shift
            self._below[:, params.lookup[here], self._k] += message
        self.scores = np.ascontiguousarray(self._below[0, d].T)

    def odds(self) -> Floats:
        """Return the log-odds of every bit given the other observed bits, as if it were missing itself."""
        params, x, o = self._params, self._cells.x, self._cells.observed
        out = self._below[1, :-1] - self._below[0, :-1]
        for j in params.orders:
            here = (j, self._k)
            parent = np.maximum(params.parents[here], 0)
            others = out[parent, self._k] - (self._above[1, *here] - self._above[0, *here])
            w = np.where(o[parent], x[parent], sigmoid(np.clip(others, -LARGEST_ODDS, LARGEST_ODDS)))
            pi = (1.0 - w) * params.if_zero[here][:, None] + w * params.if_one[here][:, None]
            out[here] += np.log(pi) - np.log1p(-pi)
        return out

    def expected(self) -> Floats:
        """Return P(bit = 1 | observed bits, class): the bit itself where it was observed."""
        params, out = self._params, self._given[0].copy()
        for j in params.orders:
            here = (j, self._k)
            above = out[np.maximum(params.parents[here], 0), self._k]
            out[here] += above * (self._given[1, *here] - self._given[0, *here])
        return np.where(self._cells.observed[:, None, :], self._cells.x[:, None, :], out)

    def links(self, expected: Floats) -> Floats:
        """Return E[bit and parent = 1 | class], 0 without a parent."""
        above = np.take_along_axis(expected, np.maximum(self._params.parents, 0)[..., None], axis=0)
        return np.where(self._params.has_parent[..., None], above * self._given[1], 0.0)

    def pairs(self, expected: Floats, k: int, r: Floats) -> Floats:
        """Return Sum_n r_n E[x_i x_j] in class k, (d, d): products of means, and covariances of missing cells."""
        mean, slope = expected[:, k], self._given[1, :, k] - self._given[0, :, k]
        sums, parents, columns = (mean * r) @ mean.T, self._params.parents[:, k], self._params.orders[:, k]
        for start in range(0, len(r), step := max(1, MISSING_CHUNK_CELLS // len(mean) ** 2)):
            rows = slice(start, start + step)
            order = columns[~self._cells.observed[columns, rows].min(axis=1)]
            place = np.full(len(mean) + 1, -1)
            place[order] = np.arange(len(order))
            cov = np.zeros((len(order), len(order), len(r[rows])))
            for t, (j, above) in enumerate(zip(order, place[parents[order]], strict=True)):
                cov[t, t] = mean[j, rows] * (1.0 - mean[j, rows])
                if above >= 0:
                    cov[t, :t] = cov[:t, t] = cov[above, :t] * slope[j, rows]
            sums[np.ix_(order, order)] += cov @ r[rows]
        return np.asarray(sums)


def messages_of(params: TreeParams, block: Block, rows: Rows) -> Iterator[tuple[Rows, Messages]]:
    """Yield the messages of some rows, a few at a time."""
    step = max(1, MISSING_CHUNK_CELLS // params.parents.size)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        yield some, Messages(params, Cells.of(block, some))


def add_blanks(
    params: TreeParams, looked: slice, messages: Messages, r: Floats, least: Floats, stats: TreeStats
) -> None:
    """Add the expected counts of rows with blanks to `stats`; r (rows, K) has the weights in it."""
    expected = messages.expected()
    shares = np.ascontiguousarray(r.T)
    stats.ones[...] += np.einsum("jkn,kn->jk", expected, shares)
    stats.both[...] += np.einsum("jkn,kn->jk", messages.links(expected), shares)
    above = np.triu_indices(params.n_columns, 1)
    for row, k in enumerate(range(looked.start, looked.stop)):
        stats.pairs[row] += messages.pairs(expected, k, np.where(shares[k] > least, shares[k], 0.0))[above]


def filled(params: TreeParams, block: Block, r: Floats) -> Floats:
    """Return P(bit = 1 | observed bits) of every cell, given the probabilities r of the classes."""
    out = np.empty((block.n_rows, block.n_columns))
    for rows, messages in messages_of(params, block, np.arange(block.n_rows)):
        out[rows] = np.einsum("jkn,nk->nj", messages.expected(), r[rows])
    return out


def left_out(params: TreeParams, block: Block, r: Floats) -> Floats:
    """Return P(x_j = 1 | the other observed bits) of every cell.

    A class says P_k(x_j = 1 | others). Without bit j the class weights are r_k / P_k(x_j | others), and r_k where x_j
    is missing.
    """
    out = np.empty((block.n_rows, block.n_columns))
    with np.errstate(divide="ignore"):
        log_r = np.log(r)
    for rows, messages in messages_of(params, block, np.arange(block.n_rows)):
        odds = messages.odds()
        x, o = block.x.take(rows).to_dense().T[:, None, :], block.observed.take(rows).to_dense().T[:, None, :]
        scores = log_r[rows].T + np.where(o == 1, softplus(np.where(x == 1, -odds, odds)), 0.0)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        p = sigmoid(np.clip(odds, -LARGEST_ODDS, LARGEST_ODDS))
        out[rows] = ((scores * p).sum(axis=1) / scores.sum(axis=1)).T
    return out
