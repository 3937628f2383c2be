"""Cells of a map: a binary tree that cuts the space of x, and so the rows, into groups.

A node is cut at a threshold along one axis; its children are next to each other. A leaf is its own child, so that a
search of fixed depth needs no case for it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.maths.packed_symmetric import identity

NEVER = 1e300  # the threshold of a leaf
POWER = 1.5  # the error of a quadratic around a cell's mean grows with the third power of the cell's width
LEAST = 1e-9  # cells with a smaller share of (weight x width^3) are not cut
HALF_MEAN, HALF_VARIANCE = np.sqrt(2.0 / np.pi), 1.0 - 2.0 / np.pi  # of half a standard normal


@dataclass(frozen=True, eq=False)
class Cells:
    """A tree: for each node the axis and the threshold of its cut and its first child; with what a search needs."""

    axis: Rows
    threshold: Floats
    child: Rows
    leaf: Rows
    depth: int

    @classmethod
    def of(cls, axis: Rows, threshold: Floats, child: Rows) -> Cells:
        """Return the tree with its leaves numbered in the order of the nodes."""
        leaf = child == np.arange(len(child))
        depth = np.zeros(len(child), np.int64)
        for node in np.flatnonzero(~leaf):  # children come after their parent
            depth[child[node]] = depth[child[node] + 1] = depth[node] + 1
        return cls(axis, threshold, child, np.cumsum(leaf) - 1, int(depth.max()))

    def find(self, x: Floats) -> Rows:
        """Return the cell of each place x, (rows,)."""
        flat, q = np.ascontiguousarray(x).ravel(), x.shape[1]
        first, at = np.arange(len(x)) * q, np.zeros(len(x), np.int64)
        for _ in range(self.depth):
            at = self.child[at] + (flat[first + self.axis[at]] > self.threshold[at])
        return np.asarray(self.leaf[at])


def axis_variances(packed: Floats, q: int) -> Floats:
    """Return the diagonals of packed matrices, not below 0."""
    return np.maximum(packed[:, identity(q) > 0.0], 0.0)


def cut(weights: Floats, means: Floats, variances: Floats, n_cells: int) -> tuple[Rows, Floats, Rows, Floats]:
    """Return axis, threshold and child of a tree with up to `n_cells` leaves, and the mean of each.

    It is made for rows that are known by groups: their weights, means (groups, q) and variances along the axes. The
    cell where weight x width^3 is largest is cut next, at its mean, along the axis on which it is widest; a single
    group as if it were normal.
    """
    known = np.flatnonzero(weights > 0.0)
    room = (len(known) + 2 * n_cells, means.shape[1])  # a group that is cut in half adds two
    N, mu, v = np.empty(room[0]), np.empty(room), np.empty(room)
    n = len(known)
    N[:n], mu[:n], v[:n] = weights[known], means[known], variances[known]
    axis: list[int] = []
    threshold: list[float] = []
    child: list[int] = []
    nodes: list[tuple[float, Floats, Floats]] = []  # weight, mean and variances
    heap: list[tuple[float, int, Rows]] = []
    least = LEAST * float(weights.sum())

    def add(members: Rows) -> None:
        if len(members) == 1:
            weight, mean, variance = float(N[members[0]]), mu[members[0]], v[members[0]]
        else:
            w, m = N[members], mu[members]
            weight = float(w.sum())
            mean = w @ m / weight
            variance = w @ (v[members] + (m - mean) ** 2) / weight
        number = len(nodes)
        nodes.append((weight, mean, variance))
        axis.append(0)
        threshold.append(NEVER)
        child.append(number)
        heapq.heappush(heap, (-weight * float(variance.max()) ** POWER, number, members))

    add(np.arange(n))
    leaves = 1
    while leaves < n_cells and -heap[0][0] > least:
        _, node, members = heapq.heappop(heap)
        weight, mean, variance = nodes[node]
        along = int(variance.argmax())
        beyond = mu[members, along] > mean[along]
        left, right = members[~beyond], members[beyond]
        if not len(left) or not len(right):
            left, right = np.array([n]), np.array([n + 1])
            N[n : n + 2], mu[n : n + 2], v[n : n + 2] = 0.5 * weight, mean, variance
            mu[n : n + 2, along] += np.array([-1.0, 1.0]) * HALF_MEAN * np.sqrt(variance[along])
            v[n : n + 2, along] *= HALF_VARIANCE
            n += 2
        axis[node], threshold[node], child[node] = along, float(mean[along]), len(nodes)
        add(left)
        add(right)
        leaves += 1
    children = np.array(child, np.int64)
    leaf = np.flatnonzero(children == np.arange(len(children)))
    anchors = np.array([nodes[i][1] for i in leaf])
    return np.array(axis, np.int64), np.array(threshold), children, anchors
