"""What a mixture of trees makes of rows without blanks: r, and counts of ones, of links and of all pairs.

    ln P(x, k) = ln pi_k + Sum_j ln(1 - p0_j) + Sum_j x_j a_jk + Sum_j x_j x_parent(j) b_jk

so that the cost follows the ones. Each function has a compiled twin (`trees_numba.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Bits, Block
from hiddenbits.data.cooccurrence import co_counts
from hiddenbits.data.kernels import kernels_pay
from hiddenbits.families.tree_mixture.params import TreeParams
from hiddenbits.maths.chow_liu import fast_kernels, n_pairs
from hiddenbits.maths.numerics import softmax_rows

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
