"""The parameters of nodes, what the blocks of a pass need of them, and what a pass adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Protocol

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params, Range, Statistics
from hiddenbits.data.layout import Layout
from hiddenbits.data.operands import column_sums
from hiddenbits.families.nodes.columns.levels import normalized
from hiddenbits.maths.numerics import (
    LEAST_SCORE,
    PROBABILITIES,
    SHARES,
    TINY,
    clip_probability,
    log_one_minus,
    scores_may_vanish,
    softplus_and_sigmoid,
)

SUM_SLACK = 1e-9  # by which the levels of a column may miss 1
NEVER_VANISH = int(LEAST_SCORE / np.log(TINY)) - 1  # columns up to which no score does: no probability is below TINY


@dataclass(frozen=True, eq=False)
class Scores:
    """What the blocks of a pass need of the nodes.

    Attributes
    ----------
    of_one : ndarray of shape (d, K)
        a: what a 1 adds to a row's score, the logit, and ln p of a level.
    of_zeros : ndarray of shape (1, K)
        The score of a row of zeros: the column sums of c, and ln pi.
    log_prior : ndarray of shape (1, K)
        ln pi.
    may_vanish : bool
        Whether exponentials of scores may vanish (`scores_may_vanish`).
    log_off : ndarray of shape (d, K) or None
        c: what an observed cell adds, ln(1 - theta), and 0 for a level. None: of all columns -ln(1 + exp a), which is
        made where it is needed.
    """

    of_one: Floats
    of_zeros: Floats
    log_prior: Floats
    may_vanish: bool
    log_off: Floats | None

    @classmethod
    def of(
        cls, of_one: Floats, totals: Floats, log_prior: Floats, log_off: Floats | None = None, never_vanish: int = 0
    ) -> Scores:
        """Return scores from a, the column sums of c, ln pi, and c; of so many columns they are known not to vanish."""
        log_prior = log_prior[None, :]
        of_zeros = totals + log_prior
        may_vanish = len(of_one) > never_vanish and scores_may_vanish(of_one, of_zeros[0])
        return cls(of_one, of_zeros, log_prior, may_vanish, log_off)

    @cached_property
    def of_observed(self) -> Floats:
        """c, needed only where cells are missing."""
        return np.negative(softplus_and_sigmoid(self.of_one)[0]) if self.log_off is None else self.log_off


class AtNodes(Protocol):
    """Parameters that come to K nodes."""

    @property
    def weights(self) -> Floats:
        """pi, (K,)."""

    @property
    def probabilities(self) -> Floats:
        """P(bit = 1) at each node, (d, K)."""

    @property
    def layout(self) -> Layout:
        """Which bits belong to which column."""

    @property
    def scores(self) -> Scores:
        """The scores of the nodes."""


def _are_column_numbers(columns: AnyArray) -> bool:
    steps = np.diff(columns)
    return bool(len(columns) and columns[0] == 0 and np.isin(steps, (0.0, 1.0)).all())


COLUMN_NUMBERS = Range(_are_column_numbers, "must count columns from 0, without a gap")


@dataclass(frozen=True, eq=False)
class NodeParams(Params):
    """pi, the probabilities of bits at the nodes, the center of their prior, and the number of each bit's column."""

    weights: Annotated[Floats, "K", SHARES]
    probabilities: Annotated[Floats, "d K", PROBABILITIES]
    prior_mean: Annotated[Floats, "d", PROBABILITIES]
    columns: Annotated[Floats, "d", COLUMN_NUMBERS]

    @classmethod
    def of(cls, weights: Floats, probabilities: Floats, prior_mean: Floats, layout: Layout) -> NodeParams:
        """Return parameters that are in range."""
        p, m = clip_probability(probabilities), clip_probability(prior_mean)
        if not layout.all_binary:
            p, m = normalized(p, layout), normalized(m[:, None], layout)[:, 0]
        return cls(weights, p, m, layout.columns.astype(np.float64))

    def at(self, weights: Floats, probabilities: Floats) -> NodeParams:
        """Return other weights and probabilities of the same columns, in range."""
        p = clip_probability(probabilities)
        p = p if self.layout.all_binary else normalized(p, self.layout)
        other = NodeParams(weights, p, self.prior_mean, self.columns)
        other.__dict__["layout"] = self.layout
        return other

    @cached_property
    def layout(self) -> Layout:
        """Which bits belong to which column."""
        return Layout.of_columns(self.columns)

    @cached_property
    def scores(self) -> Scores:
        """The scores of the nodes.

        Several steps of a pass need them, and on a wide table they are what a pass costs.
        """
        log_off, logits = log_one_minus(self.probabilities), np.log(self.probabilities)
        if not self.layout.all_binary:
            log_off[self.layout.is_level] = 0.0
        logits -= log_off
        return Scores.of(logits, column_sums(log_off), np.log(self.weights), log_off, NEVER_VANISH)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        layout = self.layout
        for p in (self.probabilities, self.prior_mean[:, None]):
            if (np.abs(layout.column_sums(p)[layout.is_level] - 1.0) > SUM_SLACK).any():
                return "the levels of a column must add up to 1"
        return None


@dataclass(frozen=True, eq=False)
class NodeCounts(Statistics):
    """Weighted log-likelihood, rows, and for each bit and node the expected ones and observed cells.

    `observed` has a single row where nothing is missing in binary columns: it is then the same for every bit. All bits
    of levels count as observed: how many cells are is the sum of their ones (`cells`).
    """

    classes: Annotated[Floats, "K"]
    ones: Annotated[Floats, "d K"]
    observed: Annotated[Floats, "[d] K"]

    nested: ClassVar = ("ones", "observed", "classes")

    def cells(self, layout: Layout) -> Floats:
        """Return the expected recorded cells of each bit's column at each node, (d, K) or a single row."""
        if layout.all_binary:
            return self.observed
        return np.where(layout.is_level[:, None], layout.column_sums(self.ones), self.observed)
