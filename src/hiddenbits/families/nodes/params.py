"""The parameters of nodes, and what a pass adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data.declared import Params, Range, Statistics
from hiddenbits.data.layout import Layout
from hiddenbits.families.nodes.columns.levels import normalized
from hiddenbits.maths.numerics import PROBABILITIES, SHARES, clip_probability, log_one_minus

SUM_SLACK = 1e-9  # by which the levels of a column may miss 1


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
        return NodeParams(weights, p, self.prior_mean, self.columns)

    @cached_property
    def layout(self) -> Layout:
        """Which bits belong to which column."""
        return Layout.of_columns(self.columns)

    @cached_property
    def log_off(self) -> Floats:
        """Return ln(1 - theta), 0 for levels, whose zeros say nothing.

        Several steps of a pass need it, and on a wide table it is what a pass costs.
        """
        log_off = log_one_minus(self.probabilities)
        if not self.layout.all_binary:
            log_off[self.layout.is_level] = 0.0
        return log_off

    @cached_property
    def off_totals(self) -> Floats:
        """Return Sum_j ln(1 - theta_jk), the score of a row of zeros at each node."""
        return np.ones(len(self.prior_mean)) @ self.log_off

    @cached_property
    def logits(self) -> Floats:
        """Return what a 1 adds to the score of a row: ln theta - ln(1 - theta), and ln p of a level."""
        logits = np.log(self.probabilities)
        logits -= self.log_off
        return logits

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
