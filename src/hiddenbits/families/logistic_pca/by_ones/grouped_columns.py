"""Columns in groups, for maps of more dimensions than cells can cover.

In many dimensions no number of cells is enough: F expanded around an anchor is worth nothing a few steps away. There
F(x) = Sum_j f(w_j.x + b_j) is a sum over groups of columns instead, for each row at its own place:

    F(x) ~ Sum_c n_c f(w_c.x + b_c) + x'R x / 2                                            f = ln(1 + exp)

w_c is the mean of a group's loadings, each weighed by how often its column is 1, n_c the number of columns that the
group stands for, and b_c such that over x ~ N(0, I) the group has as many ones as its columns. R is what the Hessian
lacks, in the mean over the same x. So gradient and Hessian are right on average; a group of one column is exact. A row
costs its ones and the groups, however many columns there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.families.logistic_pca.by_ones.cells import Cells, cut
from hiddenbits.families.logistic_pca.by_ones.expectations import at_anchors, expectations
from hiddenbits.maths.packed_symmetric import identity, invert, pack, pack_outer, row_dot, times, unpack

N_GROUPS = 256
CHUNK = 128  # rows that are worked on together: with the groups, as many pairs as a core's cache holds
STEPS = 20  # of Newton's method for b_c; it needs about five


@dataclass(frozen=True, eq=False)
class GroupedColumns:
    """The groups: (w_c, b_c), n_c, and R packed."""

    joint: Floats
    copies: Floats
    rest: Floats

    @classmethod
    def of(cls, joint: Floats, copies: Floats, n_groups: int = N_GROUPS) -> GroupedColumns:
        """Group columns (w, b), each of which stands for some copies: where weight x width^3 is largest they part."""
        W, b, q = np.ascontiguousarray(joint[:, :-1]), joint[:, -1], joint.shape[1] - 1
        _, rate, slope = expectations(b, row_dot(W, W), "rows")
        weight = copies * rate
        axis, threshold, child, _ = cut(weight, W, np.zeros_like(W), n_groups)
        group = Cells.of(axis, threshold, child).find(W)
        total = np.bincount(group, weight)
        w = np.stack([np.bincount(group, weight * column) for column in W.T], axis=1) / total[:, None]
        n = total**2 / np.bincount(group, weight * rate)
        size, intercept = row_dot(w, w), np.bincount(group, weight * b) / total
        for _ in range(STEPS):
            _, found, change = expectations(intercept, size, "rows")
            step = (np.log(total / n) - np.log(found)) * found / change
            intercept = intercept + np.clip(step, -1.0, 1.0)
        change = expectations(intercept, size, "rows")[2]
        lacking = (copies * slope) @ pack_outer(W) - (n * change) @ pack_outer(w)
        sizes, axes = np.linalg.eigh(unpack(lacking, q))
        rest = pack((axes * np.maximum(sizes, 0.0)) @ axes.T)
        return cls(np.column_stack([w, intercept]), n, rest)

    def step(self, pull: Floats, mean: Floats, covariance: Floats, longest: float) -> tuple[Floats, Floats, Floats]:
        """Return mean, packed covariance and ln |C| of each row after a step; `pull` is Sum_ones w."""
        q = mean.shape[1]
        gradient, hessian = np.empty_like(mean), np.empty_like(covariance)
        for start in range(0, len(mean), CHUNK):
            some = slice(start, start + CHUNK)
            gradient[some], hessian[some] = at_anchors(self.joint, self.copies, mean[some], covariance[some])
        gradient += mean @ unpack(self.rest, q)
        hessian += identity(q) + self.rest
        covariance, log_determinant = invert(hessian, q)
        step = times(covariance, pull - gradient - mean)
        size = np.sqrt(row_dot(step, step))[:, None]
        return mean + step * np.minimum(1.0, longest / np.maximum(size, longest)), covariance, -log_determinant
