"""What passes by the ones learn, add up and remember; letters are in `model.py`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Arrays
from hiddenbits.data.declared import Params, Sums
from hiddenbits.families.logistic_pca.by_ones.cells import Cells
from hiddenbits.families.logistic_pca.params import LARGEST, POLISHED, LogisticParams
from hiddenbits.maths.packed_symmetric import packed_size


@dataclass(frozen=True, eq=False)
class AnchoredParams(Params):
    """W, b and the centre of b's prior; the cells of the map with an anchor in each; where the fit is.

    Attributes
    ----------
    loadings, intercepts, centre : ndarrays of shape (d, q), (d,), (d,)
        W, b, c.
    empty : ndarray of shape (d,)
        1 for the columns without ones, which share one (w, b).
    axis, threshold, child : ndarrays of shape (nodes,)
        The tree of cells.
    anchors, covariances : ndarrays of shape (A, q), (A, q(q + 1)/2)
        Where F is expanded; the covariance of posteriors there.
    age, best, stalled : 0-d arrays
        Passes so far; the objective that they reached, and how many there were since it rose by the tolerance.
    """

    loadings: Floats
    intercepts: Floats
    centre: Floats
    empty: Floats
    axis: Rows
    threshold: Floats
    child: Rows
    anchors: Floats
    covariances: Floats
    age: Floats
    best: Floats
    stalled: Floats

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
    def cells(self) -> Cells:
        """Return the tree of cells."""
        return Cells.of(self.axis, self.threshold, self.child)

    @cached_property
    def distinct(self) -> tuple[Rows, Floats]:
        """Return the columns that differ, the empty ones as one at the end, and how many columns each stands for."""
        empty = np.flatnonzero(self.empty)
        columns = np.concatenate([np.flatnonzero(self.empty == 0.0), empty[:1]])
        copies = np.ones(len(columns))
        if len(empty):
            copies[-1] = len(empty)
        return columns, copies

    def spread_out(self, values: Floats) -> Floats:
        """Return the values of the distinct columns for all columns."""
        columns, _ = self.distinct
        out = np.empty((self.n_columns, *values.shape[1:]))
        out[columns] = values
        if self.empty.any():
            out[self.empty > 0.0] = values[-1]
        return out

    def plain(self) -> LogisticParams:
        """Return the map without its cells, as after a polish: it is fitted by the same bound."""
        return LogisticParams.at(self.loadings, self.intercepts, self.centre, POLISHED)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := self.plain().flaw():
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
        if not all(np.all(np.abs(a) <= LARGEST) for a in (self.anchors, self.covariances)):
            return f"anchors and covariances must lie within {LARGEST:g} of 0"
        if any(number.shape != () for number in (self.age, self.best, self.stalled)):
            return "age, best and stalled must be numbers"
        return None


@dataclass(frozen=True, eq=False)
class AnchoredStats(Sums):
    """Sums over rows.

    Attributes
    ----------
    weight : 0-d array
        Weight of the rows.
    groups : ndarray of shape (A, 1 + q + q(q + 1)/2)
        Of each cell: weight, sum of the means, sum of their packed squares.
    covariances : ndarray of shape (A, q(q + 1)/2)
        Of each cell: sum of the packed covariances of posteriors.
    log_determinant : 0-d array
        Sum of the ln |C|.
    linear : ndarray of shape (d, q + 1)
        Sum of x^ over the ones of each column.
    """

    weight: Floats
    groups: Floats
    covariances: Floats
    log_determinant: Floats
    linear: Floats


@dataclass(frozen=True, eq=False)
class Place(Arrays):
    """The posterior mean of each row, (rows, q).

    In single precision: rows go on from here, and there may be a hundred million of them.
    """

    mean: AnyArray
