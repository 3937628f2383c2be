"""Rows with missing values in a combination machine: exact sums over all states of the hidden units.

A state of all units is a class of independent bits, P(x_j = 1 | h) = sigma(2 om_j). Given the observed bits of a row,

    score(h) = h.A + Sum_{j missing} ln 2cosh om_j,   A = th + W'x_obs,   P(h | x_obs) = softmax of the scores,

two matrix products for all rows and states together. Some thousand states are processed at a time. A row with missing
values takes as long as 2^m columns, a complete row as long as m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import AllOnes, Block
from hiddenbits.maths.numerics import softmax_rows
from hiddenbits.maths.state_sums import STATES_AT_ONCE, log_2cosh, states_of


def rows_with_missing(block: Block) -> Rows:
    """Return the rows of a block that have missing cells."""
    if isinstance(block.observed, AllOnes):
        return np.zeros(0, np.intp)
    return np.flatnonzero(block.observed.row_sums() < block.n_columns)


@dataclass(frozen=True)
class Visible:
    """The type of the visible units: binary or, in the real-valued machine, normal.

    Parameters
    ----------
    log_norm : function
        Of om, the input from the hidden units: ln of the sum, or integral, of each unit's unnormalized density.
    mean : function
        Of om: E[x | h].
    cell : function
        Of a mean: the expected cell of the table, P(x = 1) or the mean itself.
    """

    log_norm: Callable[[Floats], Floats]
    mean: Callable[[Floats], Floats]
    cell: Callable[[Floats], Floats]


def _probability(mean: Floats) -> Floats:
    """Return P(x = +1)."""
    return np.clip(0.5 + 0.5 * mean, 0.0, 1.0)


BITS = Visible(log_2cosh, np.tanh, _probability)


@dataclass(frozen=True, eq=False)
class States:
    """Some states: H (states, m), om (states, d) and its `log_norm`, for binary units ln 2cosh om."""

    H: Floats
    om: Floats
    log_norm: Floats


@dataclass(frozen=True, eq=False)
class MissingCellSums:
    """Sums over the states of a machine for rows with missing values; methods take A and the numbers of these rows."""

    weights: Floats
    thresholds: Floats
    bias: Floats
    visible: Visible = BITS

    def _states(self, start: int, stop: int) -> States:
        H = states_of(len(self.thresholds), start, stop)
        om = H @ self.weights.T + self.bias
        return States(H, om, self.visible.log_norm(om))

    @cached_property
    def _all_states(self) -> States:
        """All states, if they are few enough to store."""
        return self._states(0, 1 << len(self.thresholds))

    def _chunks(self) -> Iterator[States]:
        n = 1 << len(self.thresholds)
        if n <= STATES_AT_ONCE:
            yield self._all_states
            return
        for start in range(0, n, STATES_AT_ONCE):
            yield self._states(start, start + STATES_AT_ONCE)

    def _scores(self, A: Floats, missing: Floats) -> Iterator[tuple[States, Floats]]:
        for states in self._chunks():
            yield states, A @ states.H.T + missing @ states.log_norm.T

    def posteriors(self, A: Floats, missing: Floats) -> tuple[Floats, Iterable[tuple[States, Floats]]]:
        """Return ln P(x_obs) + ln Z - v.x_obs of each row, and an iterable of some states with their P(h | x_obs)."""
        if 1 << len(self.thresholds) <= STATES_AT_ONCE:
            ((states, p),) = self._scores(A, missing)
            return softmax_rows(p), [(states, p)]
        sums = [softmax_rows(scores) for _, scores in self._scores(A, missing)]
        log_sums = np.logaddexp.reduce(sums, axis=0)
        return log_sums, ((s, np.exp(scores - log_sums[:, None])) for s, scores in self._scores(A, missing))

    def log_sums(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return ln P(x_obs) + ln Z - v.x_obs of each row."""
        return self.posteriors(A, missing_cells(block, rows))[0]

    def posterior(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(h_i = 1 | x_obs)."""
        posteriors = self.posteriors(A, missing_cells(block, rows))[1]
        return np.asarray(sum(p @ states.H for states, p in posteriors))

    def most_probable(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return the most probable state given the observed cells."""
        best, code = np.full(len(A), -np.inf), np.zeros(A.shape)
        for states, scores in self._scores(A, missing_cells(block, rows)):
            k = scores.argmax(axis=1)
            largest = scores[np.arange(len(A)), k]
            better = largest > best
            best[better], code[better] = largest[better], states.H[k[better]]
        return code

    def fill(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | x_obs), for real values E[x_j | x_obs], if the cell were sampled again."""
        posteriors = self.posteriors(A, missing_cells(block, rows))[1]
        return self.visible.cell(np.asarray(sum(p @ self.visible.mean(states.om) for states, p in posteriors)))

    def expected(self, A: Floats, block: Block, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return the log sums and E[h | x_obs] of each row, and the contributions of missing cells to the statistics.

        They are Sum_n weight E[x_j h_i | x_obs] and Sum_n weight E[x_j | x_obs], side by side: (d, m + 1).
        """
        missing = missing_cells(block, rows)
        weighted = block.weights[rows, None] * missing
        log_sums, posteriors = self.posteriors(A, missing)
        h, total = np.zeros(A.shape), np.zeros((missing.shape[1], A.shape[1] + 1))
        for states, p in posteriors:
            h += p @ states.H
            mean = self.visible.mean(states.om) * (p.T @ weighted)
            total[:, :-1] += mean.T @ states.H
            total[:, -1] += mean.sum(axis=0)
        return log_sums, h, total

    def leave_one_out(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | the other observed cells).

        The other value of cell j has exp(-2 x_j om_j) times the weight in every state: the odds are a ratio of sums.
        """
        missing = missing_cells(block, rows)
        x = block.x.take(rows).to_dense()
        log_flipped = [
            np.where(x == 1, _log_product(scores, -2.0 * states.om), _log_product(scores, 2.0 * states.om))
            for states, scores in self._scores(A, missing)
        ]
        log_odds_of_flip = np.logaddexp.reduce(log_flipped, axis=0) - self.posteriors(A, missing)[0][:, None]
        logit = np.where(x == 1, -log_odds_of_flip, log_odds_of_flip)
        return np.where(missing == 1, self.fill(A, block, rows), expit(logit))


def missing_cells(block: Block, rows: Rows) -> Floats:
    """Return 1 where a cell of these rows is missing."""
    return np.asarray(1.0 - block.observed.take(rows).to_dense(), np.float64)


def _log_product(scores: Floats, logs: Floats) -> Floats:
    """Return ln Sum_h exp(scores_nh + logs_hj), stably, by a product of matrices."""
    row_max, column_max = scores.max(axis=1, keepdims=True), logs.max(axis=0, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - row_max) @ np.exp(logs - column_max)) + row_max + column_max)
