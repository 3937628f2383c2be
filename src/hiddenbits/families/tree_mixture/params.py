"""Parameters and statistics of a mixture of trees, and its clock: in which passes trees are looked for."""

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

PAIR_NUMBERS = 1 << 24  # pair counts of so many classes at a time: 128 MB
UNIT = Range(partial(are_probabilities, least=0.0, most=1.0), "must lie between 0 and 1")
LATE_LOOKS = 3  # times that a fit which stands still looks for better trees once more


@dataclass(frozen=True)
class Clock:
    """Where a fit stands.

    Attributes
    ----------
    passes : int
        Updates so far.
    wait : int
        Plain passes before trees are looked for again.
    gap : int
        Plain passes after that; it doubles from look to look.
    first_class : int
        The classes from this one on are looked at next; wide tables take several passes for all classes.
    changes : int
        Trees that have changed in the look under way.
    changed : int
        Trees that changed in the last whole look; -1 before the first.
    late_looks : int
        How often a fit that stands still may look again.
    """

    passes: int = 0
    wait: int = 0
    gap: int = 1
    first_class: int = 0
    changes: int = 0
    changed: int = -1
    late_looks: int = LATE_LOOKS

    def after(self, n_classes: int, n_looked: int, n_changed: int) -> Clock:
        """Return the clock after an update that looked at so many classes and changed so many trees."""
        then = replace(self, passes=self.passes + 1)
        if n_looked == 0:
            return replace(then, wait=max(self.wait - 1, 0))
        changes, next_class = self.changes + n_changed, self.first_class + n_looked
        if next_class < n_classes:
            return replace(then, first_class=next_class, changes=changes)
        return replace(then, wait=self.gap, gap=2 * self.gap, first_class=0, changes=0, changed=changes)

    def to_array(self) -> Floats:
        """Return the clock as numbers, for the parameters."""
        return np.array([float(value) for value in self.__dict__.values()])


@dataclass(frozen=True, eq=False)
class TreeParams(Params):
    """pi, the parents' columns, P(bit = 1 | parent = 0) and P(bit = 1 | parent = 1), the prior's centre, and the clock.

    Without a parent (-1) both probabilities are the same. `prior_both` is Q(1, 1) of every pair of columns, or empty
    where the prior is of fair coins.
    """

    weights: Annotated[Floats, "K", SHARES, LOGS]
    parent_columns: Annotated[Floats, "d K", FORESTS]
    if_zero: Annotated[Floats, "d K", PROBABILITIES, LOGITS]
    if_one: Annotated[Floats, "d K", PROBABILITIES, LOGITS]
    prior_mean: Annotated[Floats, "d", PROBABILITIES]
    prior_both: Annotated[Floats, "d*(d-1)//2?", UNIT]
    clock: Annotated[Floats, "7"]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.weights)

    @property
    def time(self) -> Clock:
        """The clock by name."""
        return Clock(*(int(value) for value in self.clock))

    def at(self, time: Clock) -> TreeParams:
        """Return the same parameters at another time."""
        return replace(self, clock=time.to_array())

    @cached_property
    def looked_at(self) -> slice:
        """The classes whose pairs the next pass counts; none in a plain pass."""
        time, d = self.time, self.n_columns
        if time.wait or d < 2:
            return slice(0, 0)
        group = max(1, PAIR_NUMBERS // n_pairs(d))
        return slice(time.first_class, min(time.first_class + group, self.n_classes))

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
        """Parents as positions in a row with one more column, always 0, for those that have none."""
        return np.where(self.has_parent, self.parents, np.int32(self.n_columns)).astype(np.uint32)

    @cached_property
    def log_off(self) -> tuple[Floats, Floats]:
        """ln(1 - P(bit = 1)) for a parent of 0 and of 1."""
        return log_one_minus(self.if_zero), log_one_minus(self.if_one)

    @cached_property
    def logits(self) -> tuple[Floats, Floats]:
        """Log-odds of a bit for a parent of 0 and of 1."""
        return np.log(self.if_zero) - self.log_off[0], np.log(self.if_one) - self.log_off[1]

    @cached_property
    def offsets(self) -> Floats:
        """The log-probability of each class and a row of zeros, (1, K)."""
        return np.asarray((self.log_off[0].sum(axis=0) + np.log(self.weights))[None, :])

    @cached_property
    def linear(self) -> Floats:
        """What a one adds on its own, (d, K): its logit where the parent is 0, and what it does to children's zeros."""
        linear = self.logits[0].copy()
        on_zeros = np.where(self.has_parent, self.log_off[1] - self.log_off[0], 0.0)
        for k in range(self.n_classes):
            children = np.flatnonzero(self.has_parent[:, k])
            linear[:, k] += np.bincount(self.parents[children, k], on_zeros[children, k], minlength=self.n_columns)
        return linear

    @cached_property
    def pair(self) -> Floats:
        """What a one adds where its parent is 1 too, (d, K)."""
        return np.where(self.has_parent, self.logits[1] - self.logits[0], 0.0)

    @cached_property
    def orders(self) -> Rows:
        """The columns of each class, parents before children, (d, K)."""
        return np.array([top_down(parents) for parents in self.parents.T]).T

    @cached_property
    def marginals(self) -> Floats:
        """P(bit = 1 | class), (d, K)."""
        p = self.if_zero.copy()
        classes = np.arange(self.n_classes)
        for j in self.orders:  # one column of every class; a root's two probabilities are the same
            here = (j, classes)
            p[here] += p[np.maximum(self.parents[here], 0), classes] * (self.if_one[here] - self.if_zero[here])
        return p

    @property
    def moving(self) -> Mapping[str, Any]:
        """Without a parent both probabilities are the same."""
        return {"if_one": self.has_parent}

    def with_vector(self, vector: Floats) -> TreeParams:
        """Return the parameters at other coordinates."""
        moved = super().with_vector(vector)
        return replace(moved, if_one=np.where(moved.has_parent, moved.if_one, moved.if_zero))

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        if np.any((self.if_zero != self.if_one) & ~self.has_parent):
            return "a column without a parent has one probability"
        whole = (self.clock == np.floor(self.clock)) & (self.clock <= 2.0**53)
        if not whole.all() or np.any(self.clock < [0, 0, 1, 0, 0, -1, 0]):
            return "the clock must hold counts"
        if self.clock[3] >= self.n_classes:
            return "the clock names a class that is not there"
        return None


@dataclass(frozen=True, eq=False)
class TreeStats(Statistics):
    """Weighted log-likelihood, rows, rows of each class, and expected counts of ones.

    `ones` and `both` (d, K) count ones, and ones whose parent is 1. `pairs` (classes looked at, pairs of columns)
    counts all pairs of ones, and `pair_rows` (K,) the rows of the classes in it; both are 0 in a plain pass, where
    `pairs` is a single number.
    """

    classes: Annotated[Floats, "K"]
    ones: Annotated[Floats, "d K"]
    both: Annotated[Floats, "d K"]
    pairs: Annotated[Floats, "[K] [d*(d-1)//2]"]
    pair_rows: Annotated[Floats, "K"]

    nested: ClassVar = ("both", "ones", "classes")

    def flaw(self, sizes: Mapping[str, int]) -> str | None:
        """Return what makes the statistics invalid where letters stand for these sizes, or None."""
        if flaw := super().flaw(sizes):
            return flaw
        if self.pair_rows.any() and self.pairs.shape != (sizes["K"], n_pairs(sizes["d"])):
            return "the statistics have the wrong shapes"
        counts = self.pairs.min() >= -SLACK * self.weight and self.pair_rows.min() >= -SLACK * self.weight
        return None if counts else "the statistics are not counts"
