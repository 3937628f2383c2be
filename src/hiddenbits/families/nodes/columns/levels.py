"""Columns of levels, nominal or ordinal: a group of bits, of which a recorded cell has one and a missing cell none.

ln P(level l | node k) = ln p_lk is the score of the one bit that is set; a missing cell adds nothing.
"""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import AnyArray, Bytes, Floats
from hiddenbits.data.layout import Layout
from hiddenbits.maths.numerics import TINY


def normalized(p: Floats, layout: Layout) -> Floats:
    """Return probabilities whose levels add up to 1 in each column, none below TINY; those of binary columns stay."""
    p = np.maximum(p, TINY)
    return np.asarray(p / np.where(layout.is_level[:, None], layout.column_sums(p), 1.0))


def from_logs(logs: Floats, layout: Layout) -> Floats:
    """Return the probabilities with these logarithms up to a constant in each column, (d, K); binary rows are left."""
    largest = np.maximum.reduceat(logs, layout.starts, axis=0)[layout.columns]
    p = np.exp(logs - largest)
    return np.asarray(p / layout.column_sums(p))


def without_itself(r: Floats, theta: Floats, x: AnyArray, layout: Layout) -> Floats:
    """Return P(level | the other observed cells) of each bit of a level, from r = P(node | row) and theta, (K, d).

    Without the cell, whose level is v, the nodes have the weights r_k / theta_vk. Bits of binary columns come out as
    what this formula makes of them, for the caller to replace.
    """
    out = r @ theta
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        if size == 1:
            continue
        bits = slice(start, start + size)
        rows, level = np.nonzero(x[:, bits])
        at_node = r[rows] / theta[:, start + level].T
        out[rows, bits] = (at_node @ theta[:, bits]) / at_node.sum(axis=1, keepdims=True)
    return out


def sample(p: Floats, layout: Layout, rng: np.random.Generator) -> Bytes:
    """Return rows of bits drawn with P(bit = 1) or P(level) p, (rows, d): one level of each column."""
    x = (rng.random((len(p), len(layout.sizes)))[:, layout.columns] < p).view(np.uint8)
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        if size > 1:
            bits = slice(start, start + size)
            edges = np.cumsum(p[:, bits], axis=1)
            level = np.minimum((rng.random(len(p))[:, None] * edges[:, -1:] >= edges).sum(axis=1), size - 1)
            x[:, bits] = np.eye(size, dtype=np.uint8)[level]
    return x
