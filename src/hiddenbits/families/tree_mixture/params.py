"""Parameters and statistics of a mixture of trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data.declared import SLACK, Params, Range, Statistics
from hiddenbits.maths.chow_liu import FORESTS, n_pairs, top_down
from hiddenbits.maths.numerics import LOGITS, LOGS, PROBABILITIES, SHARES, are_probabilities, log_one_minus

FROM_0_TO_1 = Range(partial(are_probabilities, least=0.0, most=1.0), "must lie between 0 and 1")


@dataclass(frozen=True, eq=False)
class TreeParams(Params):
    """pi, the parents' columns, P(x = 1 | parent = 0) and P(x = 1 | parent = 1), and the mean of the prior.

    Without a parent (-1) both probabilities are the same. `prior_both` is Q(1, 1) of every pair of columns, or empty
    if the prior is uniform.
    """

    weights: Annotated[Floats, "K", SHARES, LOGS]
    parent_columns: Annotated[Floats, "d K", FORESTS]
    if_zero: Annotated[Floats, "d K", PROBABILITIES, LOGITS]
    if_one: Annotated[Floats, "d K", PROBABILITIES, LOGITS]
    prior_mean: Annotated[Floats, "d", PROBABILITIES]
    prior_both: Annotated[Floats, "d*(d-1)//2?", FROM_0_TO_1]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.weights)

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """Parents as indices, (d, K)."""
        return self.parent_columns.astype(np.int32)

    @cached_property
    def has_parent(self) -> NDArray[np.bool_]:
        """Which columns have a parent, (d, K)."""
        return self.parents >= 0

    @cached_property
    def lookup(self) -> NDArray[np.uint32]:
        """Parents as indices; a column without a parent has the index d of an additional column, which is 0."""
        return np.where(self.has_parent, self.parents, np.int32(self.n_columns)).astype(np.uint32)

    @cached_property
    def log_zero(self) -> tuple[Floats, Floats]:
        """Ln P(x = 0) for a parent of 0 and of 1."""
        return log_one_minus(self.if_zero), log_one_minus(self.if_one)

    @cached_property
    def logits(self) -> tuple[Floats, Floats]:
        """Log-odds of x = 1 for a parent of 0 and of 1."""
        return np.log(self.if_zero) - self.log_zero[0], np.log(self.if_one) - self.log_zero[1]

    @cached_property
    def offsets(self) -> Floats:
        """Ln P(class, row of zeros), (1, K)."""
        return np.asarray((self.log_zero[0].sum(axis=0) + np.log(self.weights))[None, :])

    @cached_property
    def linear(self) -> Floats:
        """Coefficients a of x_j, (d, K): its logit if its parent is 0, plus the change of its children's ln P(0)."""
        linear = self.logits[0].copy()
        log_zero_change = np.where(self.has_parent, self.log_zero[1] - self.log_zero[0], 0.0)
        for k in range(self.n_classes):
            children = np.flatnonzero(self.has_parent[:, k])
            linear[:, k] += np.bincount(
                self.parents[children, k], log_zero_change[children, k], minlength=self.n_columns
            )
        return linear

    @cached_property
    def pair(self) -> Floats:
        """Coefficients b of x_j x_parent(j), (d, K)."""
        return np.where(self.has_parent, self.logits[1] - self.logits[0], 0.0)

    @cached_property
    def orders(self) -> Rows:
        """The columns of each class, parents before children, (d, K)."""
        return np.array([top_down(parents) for parents in self.parents.T]).T

    @cached_property
    def marginals(self) -> Floats:
        """P(x = 1 | class), (d, K)."""
        p = self.if_zero.copy()
        classes = np.arange(self.n_classes)
        for j in self.orders:  # one column of every class; the two probabilities of a root are the same
            column = (j, classes)
            p[column] += p[np.maximum(self.parents[column], 0), classes] * (self.if_one[column] - self.if_zero[column])
        return p

    @property
    def moving(self) -> Mapping[str, Any]:
        """The free entries: without a parent, if_one is not free."""
        return {"if_one": self.has_parent}

    def with_vector(self, vector: Floats) -> TreeParams:
        """Return the parameters at other coordinates."""
        params = super().with_vector(vector)
        return replace(params, if_one=np.where(params.has_parent, params.if_one, params.if_zero))

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        if np.any((self.if_zero != self.if_one) & ~self.has_parent):
            return "a column without a parent has one probability"
        return None


@dataclass(frozen=True, eq=False)
class TreeStats(Statistics):
    """Log-likelihood, weight of the rows, and expected counts in each class.

    `classes` counts rows, `ones` 1s, and `both` 1s whose parent is 1. `pairs` counts, for each pair of columns, rows in
    which both are 1; only in classes whose trees are searched, and if there are none it is a single 0.
    """

    classes: Annotated[Floats, "K"]
    ones: Annotated[Floats, "d K"]
    both: Annotated[Floats, "d K"]
    pairs: Annotated[Floats, "[K] [d*(d-1)//2]"]

    nested: ClassVar = ("both", "ones", "classes")

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return what makes the statistics invalid where letters stand for these sizes, or None."""
        if flaw := super().flaw(sizes):
            return flaw
        if self.pairs.shape not in ((1, 1), (sizes["K"], n_pairs(sizes["d"]))):
            return "the statistics have the wrong shapes"
        return None if self.pairs.min() >= -SLACK * self.weight else "the statistics are not counts"
