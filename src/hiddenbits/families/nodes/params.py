"""Parameters of a mixture with K nodes, the coefficients of its log-likelihood, and its expected counts.

With o_j = 1 in observed cells, and o_j = x_j = 0 in missing ones, the log-likelihood of a row of binary columns at
node k is linear in x and o:

    ln P(x, k) = ln pi_k + Sum_j o_j [ x_j ln theta_jk + (1 - x_j) ln(1 - theta_jk) ]
               = ln pi_k + Sum_j x_j a_jk + Sum_j o_j c_jk,      a = logit(theta),  c = ln(1 - theta)

The bits of a nominal or ordinal column have a = ln p and c = 0, so that the row's level contributes its ln p.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Protocol, TypeVar

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import Params, Range, Statistics
from hiddenbits.data.layout import Layout
from hiddenbits.data.operands import column_sums
from hiddenbits.families.nodes.columns.levels import normalize_levels
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

LEVEL_SUM_TOLERANCE = 1e-9  # largest difference from 1 of the sum of a column's levels
SAFE_COLUMNS = int(LEAST_SCORE / np.log(TINY)) - 1  # up to so many, no exp(score) underflows, because theta >= TINY


class HasNumberScores(Protocol):
    """Log-densities of the numbers of a block: `NumberScores`."""

    def log_densities(self, block: Block) -> Floats:
        """Return ln p(observed numbers | node) of each row, (n, K)."""

    def sums(self, block: Block, r: Floats, classes: Floats) -> Mapping[str, AnyArray]:
        """Return sums over rows with these posteriors, by the name of the statistic."""

    def fill(self, block: Block, r: Floats) -> Floats:
        """Return the expected value of each number given the row's observed cells."""


@dataclass(frozen=True, eq=False)
class NodeScores:
    """The coefficients of the scores of a row: ln P(x, node) of every node.

    Attributes
    ----------
    x_coefs : ndarray of shape (d, K)
        a: logit(theta), and ln p of a level.
    offsets : ndarray of shape (1, K)
        ln pi + Sum_j c_j: in a row without missing values, the part of the score that does not depend on x.
    log_weights : ndarray of shape (1, K)
        ln pi.
    may_vanish : bool
        Whether exp(score) may underflow (`scores_may_vanish`).
    stored_observed_coefs : ndarray of shape (d, K) or None
        c: ln(1 - theta), and 0 for a level. None: all columns are binary; c = -ln(1 + exp a) is computed when needed.
    numbers : NumberScores or None
        The log-densities of columns of numbers (`mixed.py`).
    """

    x_coefs: Floats
    offsets: Floats
    log_weights: Floats
    may_vanish: bool
    stored_observed_coefs: Floats | None
    numbers: HasNumberScores | None = None

    @classmethod
    def of(
        cls, a: Floats, c_sums: Floats, log_weights: Floats, c: Floats | None = None, safe_columns: int = 0
    ) -> NodeScores:
        """Return scores from a, Sum_j c_j, ln pi, and c; up to `safe_columns` columns no exp(score) underflows."""
        log_weights = log_weights[None, :]
        offsets = c_sums + log_weights
        may_vanish = len(a) > safe_columns and scores_may_vanish(a, offsets[0])
        return cls(a, offsets, log_weights, may_vanish, c)

    @cached_property
    def observed_coefs(self) -> Floats:
        """c, (d, K); needed only if cells are missing."""
        c = self.stored_observed_coefs
        return np.negative(softplus_and_sigmoid(self.x_coefs)[0]) if c is None else c


class HasNodes(Protocol):
    """Parameters of any model, from which the weights and probabilities of its K nodes follow."""

    @property
    def weights(self) -> Floats:
        """pi, (K,)."""

    @property
    def probabilities(self) -> Floats:
        """theta, P(x = 1) at each node, and p of levels, (d, K)."""

    @property
    def layout(self) -> Layout:
        """Which bits belong to which column."""

    @property
    def scores(self) -> NodeScores:
        """The coefficients of ln P(x, node)."""


N = TypeVar("N", bound="NodeParams")


def _are_column_numbers(columns: AnyArray) -> bool:
    steps = np.diff(columns)
    return bool(not len(columns) or (columns[0] == 0 and np.isin(steps, (0.0, 1.0)).all()))


COLUMN_NUMBERS = Range(_are_column_numbers, "must count columns from 0, without a gap")


@dataclass(frozen=True, eq=False)
class NodeParams(Params):
    """pi, theta (and p of levels), the mean m of their prior, and the column to which each bit belongs."""

    weights: Annotated[Floats, "K", SHARES]
    probabilities: Annotated[Floats, "d? K", PROBABILITIES]
    prior_mean: Annotated[Floats, "d?", PROBABILITIES]
    columns: Annotated[Floats, "d?", COLUMN_NUMBERS]

    @classmethod
    def of(cls, weights: Floats, probabilities: Floats, prior_mean: Floats, layout: Layout) -> NodeParams:
        """Return parameters with all probabilities within their range."""
        p, m = clip_probability(probabilities), clip_probability(prior_mean)
        if not layout.all_binary:
            p, m = normalize_levels(p, layout), normalize_levels(m[:, None], layout)[:, 0]
        return cls(weights, p, m, layout.columns.astype(np.float64))

    def with_values(self, weights: Floats, probabilities: Floats) -> NodeParams:
        """Return parameters of the same columns with these weights and probabilities, within their range."""
        p = clip_probability(probabilities)
        p = p if self.layout.all_binary else normalize_levels(p, self.layout)
        params = replace(self, weights=weights, probabilities=p)
        params.__dict__["layout"] = self.layout  # cached
        return params

    @cached_property
    def layout(self) -> Layout:
        """Which bits belong to which column."""
        return Layout.of_columns(self.columns)

    @cached_property
    def scores(self) -> NodeScores:
        """The coefficients of ln P(x, node).

        Cached, because several steps of an iteration need them, and on a wide table they dominate its cost.
        """
        return self._scores_of_bits()

    @property
    def cell_means(self) -> Floats:
        """The expected value of each cell at each node, (d, K)."""
        return self.probabilities

    def _scores_of_bits(self) -> NodeScores:
        c, a = log_one_minus(self.probabilities), np.log(self.probabilities)
        if not self.layout.all_binary:
            c[self.layout.is_level] = 0.0
        a -= c
        return NodeScores.of(a, column_sums(c), np.log(self.weights), c, SAFE_COLUMNS)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        layout = self.layout
        for p in (self.probabilities, self.prior_mean[:, None]):
            if (np.abs(layout.column_sums(p)[layout.is_level] - 1.0) > LEVEL_SUM_TOLERANCE).any():
                return "the levels of a column must add up to 1"
        return None


def with_kept(updated: N, previous: N, kept: Mapping[str, AnyArray] | None) -> N:
    """Return updated parameters with the previous numbers where `kept`, masks by the names of arrays, is True."""
    if not kept:
        return updated
    arrays = {name: np.where(mask, getattr(previous, name), getattr(updated, name)) for name, mask in kept.items()}
    return replace(updated, **arrays)


@dataclass(frozen=True, eq=False)
class NodeCounts(Statistics):
    """Log-likelihood, and expected counts from the E-step: rows at each node, and 1s and observed cells of each bit.

    With r the posterior and w the weights of the rows: classes_k = Sum_n w_n r_nk, ones_jk = Sum_n w_n r_nk x_nj,
    observed_jk = Sum_n w_n r_nk o_nj. If no binary column has missing values, `observed` has a single row, `classes`.
    All bits of levels count as observed, so the observed cells of such a column are the sum of its ones (`cells`).
    """

    classes: Annotated[Floats, "K"]
    ones: Annotated[Floats, "d? K"]
    observed: Annotated[Floats, "[d] K"]

    nested: ClassVar[tuple[str, ...]] = ("ones", "observed", "classes")

    def cells(self, layout: Layout) -> Floats:
        """Return the expected number of observed cells of each bit's column at each node, (d, K) or a single row."""
        if layout.all_binary:
            return self.observed
        return np.where(layout.is_level[:, None], layout.column_sums(self.ones), self.observed)
