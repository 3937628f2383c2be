"""The E-step of a mixture of trees, for complete rows and, below, for rows with missing values.

    ln P(x, k) = ln pi_k + Sum_j ln(1 - p0_j) + Sum_j x_j a_jk + Sum_j x_j x_parent(j) b_jk

so that the cost of a sparse block is that of its 1s. `posterior` and `pair_counts` have compiled twins
(`trees_numba.py`).
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

CHUNK_CELLS = 1 << 17  # cells converted to floats at a time: they stay in the cache
# Classes with a smaller posterior probability than this are excluded from a row's counts: in pair counts, which are
# expensive and matter only for the choice of trees (see `MIN_IMPROVEMENT`), and in other counts, below their rounding.
NEGLIGIBLE_PAIR_SHARE, NEGLIGIBLE_SHARE = 1e-10, 1e-17
MATRIX_PRODUCT_SHARE = 0.15  # share of 1s above which a matrix product counts pairs faster than a loop over 1s


def posterior(
    params: TreeParams, block: Block, weights: Floats, *, count: bool = True
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return r times the weights, ln P(x), the expected 1s, and the expected 1s whose parent is 1.

    The last two are (d, K), and 0 without `count`. Missing cells are treated as 0; a weight of 0 excludes a row.
    """
    ones, both = np.zeros((2, *params.parents.shape))
    kernels = fast_kernels()
    if kernels is not None:
        (indptr, indices), (n, K) = block.ones(), (block.n_rows, params.n_classes)
        r, largest, total, no_counts = np.empty((n, K)), np.empty(n), np.empty(n), np.zeros((0, 0))
        kernels.sparse_rows(
            indptr.view(np.uint64),
            indices.view(np.uint32 if indices.itemsize == 4 else np.uint64),
            *(params.lookup, params.linear, params.pair, params.offsets, weights, NEGLIGIBLE_SHARE * weights),
            *(r, largest, total, ones if count else no_counts, both),
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
    scores = np.repeat(params.offsets, block.n_rows, axis=0)
    for rows, cells in _chunks(block.x):
        scores[rows] += cells[:, :-1] @ params.linear
        for k in range(params.n_classes):
            scores[rows, k] += (cells[:, :-1] * cells[:, params.lookup[:, k]]) @ params.pair[:, k]
    return scores


def pair_counts(block: Block, r: Floats) -> Floats:
    """Return the expected number of rows in which both columns of a pair are 1, (classes of r, pairs).

    If rows have many 1s and equal weights, those with r of nearly 1 are counted by products of bits, which is faster.
    """
    d, negligible = block.n_columns, NEGLIGIBLE_PAIR_SHARE * block.weights
    pairs = np.zeros((r.shape[1], n_pairs(d)))
    kernels, upper_triangle = fast_kernels(), np.triu_indices(d, 1)
    if kernels is None:
        for counts, r_k in zip(pairs, r.T, strict=True):
            counts += _weighted_co_counts(block.x, np.flatnonzero(r_k > negligible), r_k)[upper_triangle]
        return pairs
    indptr, indices = block.ones()
    uncounted = np.ascontiguousarray(r)
    if kernels_pay() and len(indices) > MATRIX_PRODUCT_SHARE * block.n_rows * d and np.ptp(block.weights) == 0.0:
        uncounted = uncounted.copy()
        for counts, r_k in zip(pairs, uncounted.T, strict=True):
            certain = np.flatnonzero(r_k >= block.weights - negligible)
            counts += _weighted_co_counts(block.x, certain, block.weights)[upper_triangle]
            r_k[certain] = 0.0
    kernels.add_pairs(indptr, indices, d, uncounted, negligible, pairs)
    return pairs


def _weighted_co_counts(x: Bits, rows: Rows, weights: Floats) -> Floats:
    """Return the total weight of those of the given rows in which columns i and j are both 1, (d, d)."""
    selected = x.take(rows)
    return co_counts(selected, selected, np.ascontiguousarray(weights[rows]))


def _chunks(x: Bits) -> Iterator[tuple[slice, Floats]]:
    """Yield batches of rows as floats, with an additional column of zeros."""
    n, d = x.shape
    step = max(1, CHUNK_CELLS // (d + 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        cells = np.zeros((rows.stop - start, d + 1))
        cells[:, :-1] = x.rows(start, rows.stop).to_dense()
        yield rows, cells


# Joint probabilities of pairs of columns: for the pseudo-statistics of online EM, and for the prior.
#
# A running average of counts of links, as in online EM, is meaningless after a tree has changed. Counts of all pairs of
# columns do not depend on the trees. So every step of online EM counts all pairs; the M-step finds the best trees for
# their average, and takes the counts of links from it. If only some steps counted pairs, their rows would be too few to
# find a tree.


def joint_probabilities(params: TreeParams, k: int) -> Floats:
    """Return P(both = 1) of every pair of columns in class k: for a child from the pairs of its parent."""
    d, p = params.n_columns, params.marginals[:, k]
    joint, earlier = np.diag(p), np.zeros(0, np.intp)
    for j in params.orders[:, k]:
        parent = params.parents[j, k]
        with_parent = joint[parent, earlier] if parent >= 0 else np.zeros(len(earlier))
        with_j = with_parent * params.if_one[j, k] + (p[earlier] - with_parent) * params.if_zero[j, k]
        joint[j, earlier] = joint[earlier, j] = with_j
        earlier = np.append(earlier, j)
    pairs = np.empty(n_pairs(d))
    first, second = np.triu_indices(d, 1)
    pairs[pair_number(first, second, d)] = joint[first, second]
    return pairs


def joint_with_margins(pairs: PairCounts, m: Floats) -> Floats:
    """Return P(both = 1) of every pair of columns, with the margins m and the covariances of the table."""
    d = len(m)
    joint = []
    for i in range(d - 1):
        cells = pairs.cells(slice(i, i + 1), slice(i + 1, d))
        total = np.maximum(cells.total[0], 1.0)
        first, second = (cells.one_one + cells.one_zero)[0] / total, (cells.one_one + cells.zero_one)[0] / total
        both = cells.one_one[0] / total - first * second + m[i] * m[i + 1 :]
        joint.append(np.clip(both, np.maximum(m[i] + m[i + 1 :] - 1.0, 0.0), np.minimum(m[i], m[i + 1 :])))
    return np.concatenate(joint)


# Rows with missing values: exact sums over the missing cells, by messages along the links of each tree.
#
# Upward, with e_j(b) = 0 if cell j was observed to be 1 - b, else 1, and C_j the sum of the messages of j's children:
#
#     u_j(b) = ln Sum_a P(x_j = a | parent = b) e_j(a) exp C_j(a),      ln P(observed) = Sum of the roots' messages
#
# Downward, pi_j = P(x_j = 1 | all observed cells except j and those below j):
#
#     pi_j = (1 - w) p0_j + w p1_j,      w = x_parent, or sigma(logit pi_parent + difference of C_parent - u_j)
#
# Given its observed cells, the distribution of a row is again a tree, with P(x_j = 1 | parent = b) = c_j(b). In it
#
#     E[x_j x_parent] = c_j(1) E[x_parent],      cov(x_i, x_j) = cov(x_i, x_parent(j)) (c_j(1) - c_j(0)),  i not below j
#
# so that the expected counts of all pairs are exact, too. Arrays are (columns, classes, rows): each step processes one
# column of every class's tree, for all rows of a batch.

MISSING_CHUNK_CELLS = 1 << 18  # cells (of every class) of a batch of rows
LARGEST_LOG_ODDS = 700.0  # argument of a sigmoid, whose exponential does not overflow


@dataclass(frozen=True, eq=False)
class RowCells:
    """Some rows of a block: their cells, and which were observed, (columns, rows) each."""

    x: Floats
    observed: NDArray[np.bool_]

    @classmethod
    def of(cls, block: Block, rows: Rows) -> RowCells:
        """Return the given rows."""
        x, o = (np.ascontiguousarray(bits.take(rows).to_dense().T) for bits in (block.x, block.observed))
        return cls(x.astype(np.float64), o.astype(bool))


class Messages:
    """The messages along the links of every class, for some rows.

    Attributes
    ----------
    scores : ndarray of shape (rows, K)
        ln P(observed | class).
    """

    def __init__(self, params: TreeParams, cells: RowCells) -> None:
        (d, K), n = params.parents.shape, cells.x.shape[1]
        self._params, self._cells, self._k = params, cells, np.arange(K)
        self._from_children = np.zeros((2, d + 1, K, n))  # C; the messages of roots are added in column d
        self._to_parent = np.empty((2, d, K, n))  # u
        self._conditional = np.empty((2, d, K, n))  # c
        probabilities = np.array([params.if_zero, params.if_one])[..., None]
        for j in params.orders[::-1]:
            column = (j, self._k)
            x, o, (C0, C1) = cells.x[j], cells.observed[j], self._from_children[:, *column]
            shift = np.where(o, np.where(x == 1.0, C1, C0), np.maximum(C0, C1))
            factor0 = np.where(o, 1.0 - x, np.exp(np.minimum(C0 - shift, 0.0)))
            factor1 = np.where(o, x, np.exp(np.minimum(C1 - shift, 0.0)))
            p = probabilities[:, *column]
            joint1 = p * factor1
            total = joint1 + (1.0 - p) * factor0
            self._conditional[:, *column] = joint1 / total
            self._to_parent[:, *column] = message = np.log(total) + shift
            self._from_children[:, params.lookup[column], self._k] += message
        self.scores = np.ascontiguousarray(self._from_children[0, d].T)

    def log_odds(self) -> Floats:
        """Return the log-odds of every cell given the other observed cells."""
        params, x, o = self._params, self._cells.x, self._cells.observed
        log_odds = self._from_children[1, :-1] - self._from_children[0, :-1]
        for j in params.orders:
            column = (j, self._k)
            parent = np.maximum(params.parents[column], 0)
            parent_odds = log_odds[parent, self._k] - (self._to_parent[1, *column] - self._to_parent[0, *column])
            w = np.where(o[parent], x[parent], sigmoid(np.clip(parent_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)))
            pi = (1.0 - w) * params.if_zero[column][:, None] + w * params.if_one[column][:, None]
            log_odds[column] += np.log(pi) - np.log1p(-pi)
        return log_odds

    def expected(self) -> Floats:
        """Return E[x | observed cells, class]: x itself where it was observed."""
        params, mean = self._params, self._conditional[0].copy()
        for j in params.orders:
            column = (j, self._k)
            parent_mean = mean[np.maximum(params.parents[column], 0), self._k]
            mean[column] += parent_mean * (self._conditional[1, *column] - self._conditional[0, *column])
        return np.where(self._cells.observed[:, None, :], self._cells.x[:, None, :], mean)

    def links(self, expected: Floats) -> Floats:
        """Return E[x x_parent | observed cells, class]; 0 without a parent."""
        parent_mean = np.take_along_axis(expected, np.maximum(self._params.parents, 0)[..., None], axis=0)
        return np.where(self._params.has_parent[..., None], parent_mean * self._conditional[1], 0.0)

    def pairs(self, expected: Floats, k: int, r: Floats) -> Floats:
        """Return Sum_n r_n E[x_i x_j] in class k, (d, d): products of means, and covariances of missing cells."""
        mean, slope = expected[:, k], self._conditional[1, :, k] - self._conditional[0, :, k]
        sums, parents, columns = (mean * r) @ mean.T, self._params.parents[:, k], self._params.orders[:, k]
        for start in range(0, len(r), step := max(1, MISSING_CHUNK_CELLS // len(mean) ** 2)):
            rows = slice(start, start + step)
            order = columns[~self._cells.observed[columns, rows].all(axis=1)]
            position = np.full(len(mean) + 1, -1)
            position[order] = np.arange(len(order))
            cov = np.zeros(
                (len(order), len(order), len(r[rows]))
            )  # of the cells that are missing in some of these rows
            for t, (j, parent) in enumerate(zip(order, position[parents[order]], strict=True)):
                cov[t, t] = mean[j, rows] * (1.0 - mean[j, rows])
                if parent >= 0:
                    cov[t, :t] = cov[:t, t] = cov[parent, :t] * slope[j, rows]
            sums[np.ix_(order, order)] += cov @ r[rows]
        return np.asarray(sums)


def messages_of(params: TreeParams, block: Block, rows: Rows) -> Iterator[tuple[Rows, Messages]]:
    """Yield the messages of these rows, in batches."""
    step = max(1, MISSING_CHUNK_CELLS // params.parents.size)
    for start in range(0, len(rows), step):
        batch = rows[start : start + step]
        yield batch, Messages(params, RowCells.of(block, batch))


def add_incomplete_rows(
    params: TreeParams, searched: slice, messages: Messages, r: Floats, negligible: Floats, stats: TreeStats
) -> None:
    """Add the expected counts of rows with missing values to `stats`; r, (rows, K), includes their weights."""
    expected = messages.expected()
    r = np.ascontiguousarray(r.T)
    stats.ones[...] += np.einsum("jkn,kn->jk", expected, r)
    stats.both[...] += np.einsum("jkn,kn->jk", messages.links(expected), r)
    upper_triangle = np.triu_indices(params.n_columns, 1)
    for counts, k in zip(stats.pairs, range(searched.start, searched.stop), strict=False):
        counts += messages.pairs(expected, k, np.where(r[k] > negligible, r[k], 0.0))[upper_triangle]


def imputed(params: TreeParams, block: Block, r: Floats) -> Floats:
    """Return P(x = 1 | observed cells) of every cell, given the posterior r of the classes."""
    p = np.empty((block.n_rows, block.n_columns))
    for rows, messages in messages_of(params, block, np.arange(block.n_rows)):
        p[rows] = np.einsum("jkn,nk->nj", messages.expected(), r[rows])
    return p


def leave_one_out(params: TreeParams, block: Block, r: Floats) -> Floats:
    """Return P(x_j = 1 | the other observed cells) of every cell.

    It is the mean of P_k(x_j = 1 | others) over the classes k. Without cell j their posterior is proportional to
    r_k / P_k(x_j | others), or to r_k if x_j is missing.
    """
    out = np.empty((block.n_rows, block.n_columns))
    with np.errstate(divide="ignore"):
        log_r = np.log(r)
    for rows, messages in messages_of(params, block, np.arange(block.n_rows)):
        odds = messages.log_odds()
        x, o = block.x.take(rows).to_dense().T[:, None, :], block.observed.take(rows).to_dense().T[:, None, :]
        r_without = log_r[rows].T + np.where(o == 1, softplus(np.where(x == 1, -odds, odds)), 0.0)
        r_without -= r_without.max(axis=1, keepdims=True)
        np.exp(r_without, out=r_without)
        p = sigmoid(np.clip(odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))
        out[rows] = ((r_without * p).sum(axis=1) / r_without.sum(axis=1)).T
    return out
