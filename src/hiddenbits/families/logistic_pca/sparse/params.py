"""Parameters, statistics and row memory of sparse logistic PCA; letters are in `model.py`."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Arrays
from hiddenbits.data.declared import Params, WeightedSums
from hiddenbits.families.logistic_pca.params import LARGEST_PARAMETER, LogisticParams
from hiddenbits.maths.packed_symmetric import identity, packed_size


@dataclass(frozen=True, eq=False)
class AnchoredParams(Params):
    """W, b and the center of the prior of b; the cells of the latent space, with an anchor in each.

    Attributes
    ----------
    loadings, intercepts, center : ndarrays of shape (d, q), (d,), (d,)
        W, b, c.
    empty : ndarray of shape (d,)
        1 for the columns without 1s, which share one (w, b).
    axis, threshold, child : ndarrays of shape (nodes,)
        The tree of cells.
    anchors, covariances : ndarrays of shape (A, q), (A, q(q + 1)/2)
        Points around which F is expanded; packed covariances of posteriors there.
    """

    loadings: Floats
    intercepts: Floats
    center: Floats
    empty: Floats
    axis: Rows
    threshold: Floats
    child: Rows
    anchors: Floats
    covariances: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.intercepts)

    @property
    def n_components(self) -> int:
        """Number of dimensions, q."""
        return int(self.loadings.shape[1])

    @cached_property
    def joint(self) -> Floats:
        """Return w^, (d, q + 1)."""
        return np.column_stack([self.loadings, self.intercepts])

    @cached_property
    def cells(self) -> CellTree:
        """Return the tree of cells."""
        return CellTree.of(self.axis, self.threshold, self.child)

    @cached_property
    def distinct(self) -> tuple[Rows, Floats]:
        """Return the distinct columns (all empty columns as one, the last), and how many columns each represents."""
        empty = np.flatnonzero(self.empty)
        columns = np.concatenate([np.flatnonzero(self.empty == 0.0), empty[:1]])
        copies = np.ones(len(columns))
        if len(empty):
            copies[-1] = len(empty)
        return columns, copies

    def for_all_columns(self, values: Floats) -> Floats:
        """Return values for all columns, given those of the distinct columns."""
        columns, _ = self.distinct
        out = np.empty((self.n_columns, *values.shape[1:]))
        out[columns] = values
        if self.empty.any():
            out[self.empty > 0.0] = values[-1]
        return out

    def without_cells(self) -> LogisticParams:
        """Return the parameters without cells, as after a refinement, which has the same bound."""
        return LogisticParams(self.loadings, self.intercepts, self.center)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := self.without_cells().flaw():
            return flaw
        d, q = self.loadings.shape
        nodes, p = np.arange(len(self.child)), packed_size(q)
        if self.empty.shape != (d,) or not np.isin(self.empty, (0.0, 1.0)).all():
            return "empty must be 0 or 1 for each column"
        if not len(nodes) or self.axis.shape != nodes.shape or self.threshold.shape != nodes.shape:
            return "axis, threshold and child must have one number for each node"
        inner = self.child != nodes
        if (self.child < nodes).any() or (self.child[inner] + 1 >= len(nodes)).any():
            return "children must be nodes that follow their parents"
        if (self.axis < 0).any() or (self.axis >= q).any():
            return f"axis must be one of {q} dimensions"
        A = int((~inner).sum())
        if self.anchors.shape != (A, q) or self.covariances.shape != (A, p):
            return "each cell must have an anchor and a covariance"
        if not all(np.all(np.abs(a) <= LARGEST_PARAMETER) for a in (self.anchors, self.covariances)):
            return f"anchors and covariances must lie within {LARGEST_PARAMETER:g} of 0"
        return None


@dataclass(frozen=True, eq=False)
class AnchoredStats(WeightedSums):
    """Sums over rows.

    Attributes
    ----------
    weight : 0-d array
        Weight of the rows.
    groups : ndarray of shape (A, 1 + q + q(q + 1)/2)
        For each cell: weight of its rows, sum of their means, sum of packed squares of their means.
    covariances : ndarray of shape (A, q(q + 1)/2)
        For each cell: sum of the packed covariances of its posteriors.
    log_determinant : 0-d array
        Sum of the ln |C|.
    linear : ndarray of shape (d, q + 1)
        Sum of x^ over the 1s of each column.
    """

    weight: Floats
    groups: Floats
    covariances: Floats
    log_determinant: Floats
    linear: Floats


@dataclass(frozen=True, eq=False)
class RowMeans(Arrays):
    """The posterior mean of each row, (rows, q).

    In single precision: they are only starts of the next iteration, and there may be a hundred million rows.
    """

    mean: AnyArray


# Cells: a binary tree that cuts the space of x, and so the rows, into groups.
#
# A node is cut at a threshold along one axis; its two children have successive numbers. A leaf is its own child, so
# that a search of fixed depth needs no special case.

LEAF_THRESHOLD = 1e300  # never exceeded
VARIANCE_POWER = 1.5  # the error of a quadratic expansion grows with the third power of the cell's width
LEAST_ERROR_SHARE = 1e-9  # cells with a smaller weight x width^3, relative to the total weight, are not cut
HALF_MEAN, HALF_VARIANCE = np.sqrt(2.0 / np.pi), 1.0 - 2.0 / np.pi  # of a standard normal distribution above 0


@dataclass(frozen=True, eq=False)
class CellTree:
    """A tree of cells: for each node the axis and the threshold of its cut, and its first child."""

    axis: Rows
    threshold: Floats
    child: Rows
    leaf: Rows
    depth: int

    @classmethod
    def of(cls, axis: Rows, threshold: Floats, child: Rows) -> CellTree:
        """Return the tree with its leaves numbered in the order of the nodes."""
        leaf = child == np.arange(len(child))
        depth = np.zeros(len(child), np.int64)
        for node in np.flatnonzero(~leaf):  # children come after their parent
            depth[child[node]] = depth[child[node] + 1] = depth[node] + 1
        return cls(axis, threshold, child, np.cumsum(leaf) - 1, int(depth.max()))

    def find(self, x: Floats) -> Rows:
        """Return the cell of each x, (rows,)."""
        flat, q = np.ascontiguousarray(x).ravel(), x.shape[1]
        first, node = np.arange(len(x)) * q, np.zeros(len(x), np.int64)
        for _ in range(self.depth):
            node = self.child[node] + (flat[first + self.axis[node]] > self.threshold[node])
        return np.asarray(self.leaf[node])


def axis_variances(packed: Floats, q: int) -> Floats:
    """Return the diagonals of packed matrices, not below 0."""
    return np.maximum(packed[:, identity(q) > 0.0], 0.0)


def cut(weights: Floats, means: Floats, variances: Floats, n_cells: int) -> tuple[Rows, Floats, Rows, Floats]:
    """Return axis, threshold and child of a tree with up to `n_cells` leaves, and the mean of each leaf.

    Rows are given by groups: their weights, means (groups, q) and variances along the axes. The cell with the largest
    weight x width^3 is cut next, at its mean, along its widest axis; a single group is cut as a normal distribution.
    """
    nonempty = np.flatnonzero(weights > 0.0)
    shape = (len(nonempty) + 2 * n_cells, means.shape[1])  # a group that is cut in half adds two
    N, mu, v = np.empty(shape[0]), np.empty(shape), np.empty(shape)
    n = len(nonempty)
    N[:n], mu[:n], v[:n] = weights[nonempty], means[nonempty], variances[nonempty]
    axis: list[int] = []
    threshold: list[float] = []
    child: list[int] = []
    nodes: list[tuple[float, Floats, Floats]] = []  # weight, mean and variances
    heap: list[tuple[float, int, Rows]] = []
    least_error = LEAST_ERROR_SHARE * float(weights.sum())

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
        threshold.append(LEAF_THRESHOLD)
        child.append(number)
        heapq.heappush(heap, (-weight * float(variance.max()) ** VARIANCE_POWER, number, members))

    add(np.arange(n))
    leaves = 1
    while leaves < n_cells and -heap[0][0] > least_error:
        _, node, members = heapq.heappop(heap)
        weight, mean, variance = nodes[node]
        cut_axis = int(variance.argmax())
        beyond = mu[members, cut_axis] > mean[cut_axis]
        left, right = members[~beyond], members[beyond]
        if not len(left) or not len(right):
            left, right = np.array([n]), np.array([n + 1])
            N[n : n + 2], mu[n : n + 2], v[n : n + 2] = 0.5 * weight, mean, variance
            mu[n : n + 2, cut_axis] += np.array([-1.0, 1.0]) * HALF_MEAN * np.sqrt(variance[cut_axis])
            v[n : n + 2, cut_axis] *= HALF_VARIANCE
            n += 2
        axis[node], threshold[node], child[node] = cut_axis, float(mean[cut_axis]), len(nodes)
        add(left)
        add(right)
        leaves += 1
    children = np.array(child, np.int64)
    leaf = np.flatnonzero(children == np.arange(len(children)))
    anchors = np.array([nodes[i][1] for i in leaf])
    return np.array(axis, np.int64), np.array(threshold), children, anchors
