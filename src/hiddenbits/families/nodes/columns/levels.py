"""Nominal and ordinal columns, coded one-hot: a column of L levels is L bits, of which a missing cell sets none.

ln P(level l | node k) = ln p_lk is the coefficient of the bit that is set; a missing cell contributes nothing.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.layout import Layout
from hiddenbits.maths.numerics import TINY


def normalize_levels(p: Floats, layout: Layout) -> Floats:
    """Return probabilities of at least TINY whose levels add up to 1 in each column; binary columns are unchanged."""
    p = np.maximum(p, TINY)
    return np.asarray(p / np.where(layout.is_level[:, None], layout.column_sums(p), 1.0))


def softmax_levels(logs: Floats, layout: Layout) -> Floats:
    """Return the softmax of logs, (d, K), over the levels of each column; binary columns give 1."""
    largest = np.maximum.reduceat(logs, layout.starts, axis=0)[layout.columns]
    p = np.exp(logs - largest)
    return np.asarray(p / layout.column_sums(p))


def leave_one_out(r: Floats, theta: Floats, x: AnyArray, layout: Layout) -> Floats:
    """Return P(level | the other observed cells) of each level, from r = P(node | row) and theta, (K, d).

    Without a cell of level v the posterior is proportional to r_k / theta_vk. The results for binary columns are not
    valid; the caller replaces them.
    """
    out = r @ theta  # right for missing cells
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        if size == 1:
            continue
        bits = slice(start, start + size)
        rows, level = np.nonzero(x[:, bits])
        r_without = r[rows] / theta[:, start + level].T
        out[rows, bits] = (r_without @ theta[:, bits]) / r_without.sum(axis=1, keepdims=True)
    return out


def sample(p: Floats, layout: Layout, rng: np.random.Generator) -> Bytes:
    """Sample rows, (rows, d), from P(x = 1) or P(level) p of each row: one level of each column."""
    x = (rng.random((len(p), len(layout.sizes)))[:, layout.columns] < p).view(np.uint8)
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        if size > 1:
            bits = slice(start, start + size)
            cumulative = np.cumsum(p[:, bits], axis=1)
            level = np.minimum((rng.random(len(p))[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1), size - 1)
            x[:, bits] = np.eye(size, dtype=np.uint8)[level]
    return x
