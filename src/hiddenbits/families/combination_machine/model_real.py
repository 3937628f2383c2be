"""The real-valued combination machine: normal visible units with variance 1, whose means depend on the hidden units.

    ln P(x, h) = Sum_i h_i (th_i + w_i.x) + v.x - |x|^2 / 2 - ln Z,   x in R^d,  h in {0, 1}^m           eqs 2.5, 2.6
    ln Z       = logsumexp_h [ h.th + (d/2) ln 2pi + |om|^2 / 2 ],    om(h) = v + W h

It is a mixture of 2^m normals with means om. As a function of h the log weight is quadratic, with W'W between the
units, so that ln Z, E[h], E[x h'] = v E[h]' + W E[h h'] and E[x] = v + W E[h] need no (state, column) table
(`quadratic_state_sums`). All else is as for binary data, with om instead of tanh om and om^2/2 + ln(2pi)/2 instead of
ln 2cosh om: missing coordinates integrate out,

    ln P(x_obs) = logsumexp_h [ h.A + Sum_{j missing} (om_j^2 + ln 2pi)/2 ] + v.x_obs - |x_obs|^2/2 - ln Z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Table
from hiddenbits.data.operands import Operand
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.params import CombinationParams, CombinationStats
from hiddenbits.maths.missing_rows import Visible
from hiddenbits.maths.state_sums import FreePhase, states_of, table_of_states

HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))


def _log_norm(om: Floats) -> Floats:
    return np.asarray(0.5 * om**2 + HALF_LOG_2PI)


def _identity(mean: Floats) -> Floats:
    return mean


class RealStats(CombinationStats):
    """The statistics of real data."""

    of_bits: ClassVar[bool] = False  # a density may be above 1


@dataclass(frozen=True)
class CombinationReal(Combination):
    """The model; hyperparameters only, those of `Combination`."""

    stats_type: ClassVar[type[CombinationStats]] = RealStats
    bits: ClassVar[bool] = False
    visible: ClassVar[Visible] = Visible(_log_norm, _identity, _identity)
    too_many_advice: ClassVar[str] = "Machines with real columns have no other method: use fewer units."

    def independent_bias(self, summary: ColumnSums) -> Floats:
        """Return the bias of independent columns: their means."""
        means = summary.ones / np.maximum(summary.observed, 1e-300)  # of reals `ones` are the sums
        return means if self.visible_bias else np.zeros(len(means))

    def state_sums(self, weights: Floats, thresholds: Floats, bias: Floats) -> Quadratic:
        """Return the states of the units, to be summed over."""
        return Quadratic(weights, thresholds, bias)

    def _messages(self, params: CombinationParams, block: Block) -> tuple[Floats, Floats, Operand, Operand]:
        """Return a = th + W'x and v.x - |x|^2/2 of each row, without missing cells, and the operands."""
        t, o = block.operands()
        sums = np.asarray(t @ params.weights_bias)
        return sums[:, :-1] + params.thresholds, sums[:, -1] - 0.5 * np.einsum("nj,nj->n", *(np.asarray(t),) * 2), t, o

    def _sums_over_rows(self, t: Operand, o: Operand, right: Floats) -> Floats:
        return np.asarray(t.T @ right)

    def reconstruct(self, params: CombinationParams, codes: Floats) -> Floats:
        """Return E[x] given the state of the units: om."""
        return np.asarray(codes @ params.weights.T + params.bias)

    def leave_one_out(self, params: CombinationParams, shared: object, block: Block) -> Floats:
        """Refuse: a real number has a density given the others, not a probability."""
        raise ValueError(
            "cell_probabilities needs binary data, but this machine has real columns. Use complete on a copy in "
            "which these cells are missing."
        )

    def _sample_cells(self, expected: Floats, rng: np.random.Generator) -> Any:
        return expected + rng.standard_normal(expected.shape)

    def log_joint(self, params: CombinationParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        height = h @ (params.thresholds + x @ params.weights) + params.bias @ x - 0.5 * x @ x
        return float(height - params.log_partition)


# Sums over all 2^m states of m hidden units whose log weight is quadratic: ln Z, E[h] and E[h h'], exactly.
#
#     ln weight(h) = b.h + h'J h / 2,   h in {0, 1}^m
#
# J contains all that is needed of the columns. The units are split into low and high ones. The states of the high units
# are the rows of a table, over which the engine sums as over data. A block of high states and all low states form a
# matrix of weights. Bits of a state: h_i = (k >> i) & 1, as in `state_sums`.

LOW_UNITS = 12  # their 4,096 states are processed together


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A machine as weights of its states, b = th + W'v and J = W'W, up to a common factor.

    Examples
    --------
    >>> from hiddenbits.maths.state_sums import expectations
    >>> phase = expectations(Quadratic(np.zeros((3, 2)), np.zeros(2), np.zeros(3)))
    >>> round(float((phase.log_partition - 1.5 * np.log(2 * np.pi)) / np.log(2)), 12)   # 2 units with weights 0
    2.0
    """

    weights: Floats
    thresholds: Floats
    bias: Floats

    @cached_property
    def linear(self) -> Floats:
        """b: (m,)."""
        return np.asarray(self.thresholds + self.weights.T @ self.bias)

    @cached_property
    def pairs(self) -> Floats:
        """J: (m, m)."""
        return np.asarray(self.weights.T @ self.weights)

    @cached_property
    def low(self) -> Floats:
        """States of the low units: (L, m_low)."""
        return states_of(min(len(self.linear), LOW_UNITS))

    def table(self) -> Table:
        """Return the states of the high units as a table for the engine, with one row per state."""
        return table_of_states(len(self.linear) - self.low.shape[1])

    def _block_log_weights(self, high: Floats) -> Floats:
        """Return ln weight of the states with these high units: (high states, L)."""
        n = self.low.shape[1]
        b, J, quadratic_form = self.linear, self.pairs, partial(np.einsum, "ki,ij,kj->k", optimize=True)
        low_terms = self.low @ b[:n] + 0.5 * quadratic_form(self.low, J[:n, :n], self.low)
        high_terms = high @ b[n:] + 0.5 * quadratic_form(high, J[n:, n:], high)
        return np.asarray(high @ J[n:, :n] @ self.low.T + low_terms + high_terms[:, None])

    def add_block(self, block: Block) -> FreePhase:
        """Return the sums over a block of high states and all low ones; of h h', not of x h' as for binary data."""
        low, n = self.low, self.low.shape[1]
        high = block.x.to_dense().astype(np.float64)[:, : len(self.linear) - n]
        p = self._block_log_weights(high)
        scale = float(p.max())
        np.exp(p - scale, out=p)
        by_high, by_low, cross = p.sum(axis=1), p.sum(axis=0), low.T @ (p.T @ high)
        pairs = np.block([[low.T @ (by_low[:, None] * low), cross], [cross.T, high.T @ (by_high[:, None] * high)]])
        hidden = np.concatenate([by_low @ low, by_high @ high])
        return FreePhase(scale, float(by_high.sum()), hidden, pairs, np.zeros(0))

    def expected(self, total: FreePhase) -> FreePhase:
        """Return the true expectations of x and h, from the sums over all blocks."""
        sums, v, W = total.normalized(), self.bias, self.weights
        log_z = sums.log_scale + len(v) * HALF_LOG_2PI + 0.5 * float(v @ v)
        return FreePhase(log_z, 1.0, sums.hidden, np.outer(v, sums.hidden) + W @ sums.joint, v + W @ sums.hidden)

    def log_weights(self) -> Floats:
        """Return ln weight of all 2^m states."""
        return self._block_log_weights(states_of(len(self.linear) - self.low.shape[1])).ravel()
