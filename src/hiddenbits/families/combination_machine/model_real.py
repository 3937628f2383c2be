"""The real-valued combination machine: visible units that are normal with variance 1 about what the hidden ones say.

    ln P(x, h) = Sum_i h_i (th_i + w_i.x) + v.x - |x|^2 / 2 - ln Z,   x in R^d,  h in {0, 1}^m           eqs 2.5, 2.6
    ln Z       = logsumexp_h [ h.th + (d/2) ln 2pi + |om|^2 / 2 ],    om(h) = v + W h

It is a mixture of 2^m normals with means om. As a function of h the log weight is quadratic, with W'W between the
units, so that ln Z, E[h], E[x h'] = v E[h]' + W E[h h'] and E[x] = v + W E[h] need no (state, column) table
(`quadratic_state_sums`). All else is as for bits, with om in the place of tanh om and om^2/2 + ln(2pi)/2 in that of
ln 2cosh om: missing coordinates integrate out,

    ln P(x_obs) = logsumexp_h [ h.A + Sum_{j missing} (om_j^2 + ln 2pi)/2 ] + v.x_obs - |x_obs|^2/2 - ln Z.

The climb goes by th + W'c and v - c, c the column means: far from 0, thresholds and weights would otherwise pull at
each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, Table
from hiddenbits.data.operands import Operand
from hiddenbits.data.summary import Summary
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.params import UNKNOWN, Centred, CombinationParams, CombinationStats
from hiddenbits.families.combination_machine.projection_pursuit import pursue
from hiddenbits.maths.missing_rows import Blanks, States, rows_with_blanks
from hiddenbits.maths.state_sums import MOST_UNITS, Phase, TooManyUnitsError, states_of, table_of_states
from hiddenbits.model_api import Key, Passes

HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class RealParams(CombinationParams):
    """W, th, v and ln Z, and c, the column means of the table that is fitted."""

    centre: Floats

    furthest: ClassVar[float] = 1e100  # in the units of the table; squares of them are still numbers

    @classmethod
    def about(cls, weights: Floats, thresholds: Floats, bias: Floats, centre: Floats) -> RealParams:
        """Return parameters with their exact ln Z."""
        phase = real_phase(weights, thresholds, bias)
        return cls(weights, thresholds, bias, np.asarray(phase.log_partition), np.zeros(()), centre)

    def with_units(self, weights: Floats) -> RealParams:
        """Return a machine with further units, each on in half of the rows were it alone with the bias."""
        shift = self.bias @ weights + 0.5 * np.sum(weights**2, axis=0)
        thresholds = np.append(self.thresholds, -shift)
        return RealParams.about(np.column_stack([self.weights, weights]), thresholds, self.bias, self.centre)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        fits = self.centre.shape == self.bias.shape and np.all(np.abs(self.centre) <= self.furthest)
        return super().flaw() or (
            None if fits else f"centre must have shape (d,) and lie within {self.furthest:g} of 0"
        )


def quadratic_of(weights: Floats, thresholds: Floats, bias: Floats) -> Quadratic:
    """Return the weights of the states, but for the factor of all of them: b = th + W'v, J = W'W."""
    return Quadratic(thresholds + weights.T @ bias, weights.T @ weights)


def _as_phase(moments: Moments, weights: Floats, bias: Floats) -> Phase:
    """Return what the free machine expects of x and h, from normalised moments of h."""
    log_z = moments.log_scale + len(bias) * HALF_LOG_2PI + 0.5 * float(bias @ bias)
    joint = np.outer(bias, moments.hidden) + weights @ moments.pairs
    return Phase(log_z, 1.0, moments.hidden, joint, bias + weights @ moments.hidden)


def real_phase(weights: Floats, thresholds: Floats, bias: Floats) -> Phase:
    """Return the expectations of the free machine, exactly.

    Examples
    --------
    >>> phase = real_phase(np.zeros((3, 2)), np.zeros(2), np.zeros(3))
    >>> round(float((phase.log_partition - 1.5 * np.log(2 * np.pi)) / np.log(2)), 12)   # 2 units that act on nothing
    2.0
    """
    return _as_phase(quadratic_of(weights, thresholds, bias).moments(), weights, bias)


class RealStates(States):
    """Some states: H (states, m), om (states, d) and om^2/2 + ln(2pi)/2."""

    @property
    def mean(self) -> Floats:
        """E[x | h]."""
        return self.om


class RealBlanks(Blanks):
    """A machine, for rows with blanks. Each function takes A and the numbers of those rows of a block."""

    def _states(self, start: int, stop: int) -> States:
        H = states_of(len(self.thresholds), start, stop)
        om = H @ self.weights.T + self.bias
        return RealStates(H, om, 0.5 * om**2 + HALF_LOG_2PI)

    def means(self, A: Floats, missing: Floats) -> Floats:
        """Return E[x_j | x_obs], as if the cell had to be drawn again."""
        return np.asarray(sum(p @ states.mean for states, p in self.posteriors(A, missing)[1]))


@dataclass(frozen=True)
class CombinationReal(Combination):
    """The model; hyperparameters only, those of `Combination`."""

    params_type: ClassVar[Any] = RealParams
    bits: ClassVar[bool] = False

    def start(self, summary: Summary, key: Key, passes: Passes) -> RealParams:
        """Return normals about the column means (or 0): alone, with units that hardly act yet, or with good ones."""
        _check_units(self.n_components)
        centre = summary.ones / np.maximum(summary.observed, 1e-300)  # of reals these are the sums
        d = len(centre)
        if not self.visible_bias:
            centre = np.zeros(d)
        if self.start_from == "pursuit":
            effort: Any = {"ridge": self.ridge, "n_starts": self.n_candidates, "n_steps": self.pursuit_steps}
            found = pursue(self.n_components, key, passes, centre, **effort, reals=True)
            return RealParams.about(found.weights, found.thresholds, centre, centre)
        alone = RealParams.about(np.zeros((d, 0)), np.zeros(0), centre, centre)
        return alone if self.start_from == "grow" else self._with_noise(alone, key)  # type: ignore[return-value]

    def with_unit_towards(self, params: Any, row: Floats) -> CombinationParams:
        """Return a machine with one more unit, drawn towards a row of the table."""
        return super().with_unit_towards(params, np.nan_to_num(row - params.centre))

    def prepare(self, params: CombinationParams) -> RealBlanks:
        """Return the tables of states that rows with blanks need, made when the first such row comes."""
        return RealBlanks(params.weights, params.thresholds, params.bias)

    def _messages(self, params: CombinationParams, block: Block) -> tuple[Floats, Floats, Operand, Operand]:
        """Return a = th + W'x and v.x - |x|^2/2 of each row, missing cells left out, and the operands."""
        t, o = block.operands()
        sums = np.asarray(t @ params.edged)
        return sums[:, :-1] + params.thresholds, sums[:, -1] - 0.5 * np.einsum("nj,nj->n", *(np.asarray(t),) * 2), t, o

    def _over_rows(self, t: Operand, o: Operand, right: Floats) -> Floats:
        return np.asarray(t.T @ right)

    # Climbing.

    def model_expectations(self, params: CombinationParams, over: Any) -> tuple[CombinationParams, Phase]:
        """Return the parameters with their ln Z, and what the free model expects: a pass over states, not rows."""
        _check_units(params.n_units)
        states = quadratic_of(params.weights, params.thresholds, params.bias)
        phase = _as_phase(over(states.add_block, states.table()).normalised(), params.weights, params.bias)
        return replace(params, log_partition=np.asarray(phase.log_partition), partition_error=np.zeros(())), phase

    def _phase(self, weights: Floats, thresholds: Floats, bias: Floats) -> Phase:
        return real_phase(weights, thresholds, bias)

    def gradient(self, params: Any, stats: CombinationStats, phase: Phase) -> Floats:
        """Return the gradient of the objective, in the coordinates of `to_vector`: W, th + W'c and v - c."""
        weight = float(stats.weight)
        hidden = stats.hidden - weight * phase.hidden
        joint = stats.joint - weight * phase.joint - self.ridge * params.weights - np.outer(params.centre, hidden)
        return self._flat(joint, hidden, stats.visible - weight * phase.visible)

    def coordinates(self, params: Any, phase: Phase) -> Centred:
        """Return coordinates in which the climb from here is easy; vectors are already about c."""
        d, h = params.n_columns, phase.hidden
        eta, spread = (h, np.ones(d)) if self.visible_bias else (np.zeros(len(h)), np.zeros(0))
        weights = np.tile(h * (1.0 - 2.0 * eta) + eta**2, (d, 1))  # times the variance of a column, at least 1
        return Centred.scaled(phase.visible - params.centre, eta, weights, h * (1.0 - h), spread)

    def to_vector(self, params: Any) -> Floats:
        """Return W, th + W'c and v - c in one row."""
        return self._flat(
            params.weights, params.thresholds + params.centre @ params.weights, params.bias - params.centre
        )

    def _parts(self, vector: Floats, params: Any) -> tuple[Floats, Floats, Floats]:
        W, th, v = super()._parts(vector, params)
        return W, th - params.centre @ W, v + params.centre if self.visible_bias else v

    def at_vector(self, vector: Floats, params: Any) -> RealParams:
        """Return parameters at `vector`; their ln Z is still unknown."""
        return RealParams(*self._parts(vector, params), np.zeros(()), np.asarray(UNKNOWN), params.centre)

    def from_vector(self, vector: Floats, params: Any) -> RealParams:
        """Return parameters at `vector`, with their ln Z."""
        return RealParams.about(*self._parts(vector, params), params.centre)

    # Row functions: what the estimators' verbs rest on; likelihood, posterior and code are those of bits.

    def reconstruct(self, params: CombinationParams, codes: Floats) -> Floats:
        """Return E[x] given the state of the units: om."""
        return np.asarray(codes @ params.weights.T + params.bias)

    def fill(self, params: CombinationParams, shared: Any, block: Block) -> Floats:
        """Return E[x_j | observed cells] for the missing cells; observed cells are 0 here."""
        a, blank = self._messages(params, block)[0], rows_with_blanks(block)
        out = np.zeros((block.n_rows, block.n_columns))
        if blank.size:
            missing = np.asarray(1.0 - block.observed.take(blank).to_dense(), np.float64)
            out[blank] = shared.means(a[blank], missing)
        return out

    def leave_one_out(self, params: CombinationParams, shared: object, block: Block) -> Floats:
        """Refuse: a real number has a density given the others, not a probability."""
        raise ValueError(
            "bit_probabilities needs a table of bits, but this machine has real columns. Use complete on a copy in "
            "which these cells are blank."
        )

    def draw(self, params: CombinationParams, n: int, rng: np.random.Generator) -> tuple[Any, Floats]:
        """Draw n rows and their states, exactly: a state from its probability, then normal numbers about its mean."""
        log_p = quadratic_of(params.weights, params.thresholds, params.bias).log_weights()
        p = np.exp(log_p - log_p.max())
        found = rng.choice(len(p), size=n, p=p / p.sum())
        h = ((found[:, None] >> np.arange(params.n_units)) & 1).astype(np.float64)
        return self.reconstruct(params, h) + rng.standard_normal((n, params.n_columns)), h

    def log_joint(self, params: CombinationParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        height = h @ (params.thresholds + x @ params.weights) + params.bias @ x - 0.5 * x @ x
        return float(height - params.log_partition)

    def stats_flaw(self, stats: CombinationStats, params: CombinationParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        d, m = params.weights.shape
        if stats.hidden.shape != (m,) or stats.joint.shape != (d, m) or stats.visible.shape != (d,):
            return "the statistics have the wrong shapes"
        if stats.bound.shape != () or stats.weight.shape != () or stats.weight <= 0:
            return "the statistics have no weight"
        slack = 1e-6 * float(stats.weight)
        valid = (stats.hidden >= -slack).all() and (stats.hidden <= stats.weight + slack).all()
        return None if valid else "units are on in more rows than there are, or in fewer than none"


def _check_units(m: int) -> None:
    if m > MOST_UNITS:
        raise TooManyUnitsError(
            f"{m} hidden units have 2^{m} states, too many to enumerate (at most {MOST_UNITS} units). Machines with "
            "real columns have no other method: use fewer units."
        )


# Sums over all 2^m states of m hidden units whose log weight is quadratic: ln Z, E[h] and E[h h'], exactly.
#
#     ln weight(h) = b.h + h'J h / 2,   h in {0, 1}^m
#
# No state ever touches the columns of a table: they are in J. The units are split in two halves. For each state k of
# the high units the low ones l add l.(J_lk k) to scores that are made once; the pairs of low units need only the sum of
# the weights over all k. The states of the high units are the rows of a table, so that the engine adds over them as it
# adds over data. Bits of a state: h_i = (k >> i) & 1, as in `state_sums`.

LOW_UNITS = 12  # 4,096 states are worked on together


@dataclass(frozen=True, eq=False)
class Moments:
    """Z, E[h] and E[h h'], each times exp(-log_scale) Z while they add; `state_sums.Phase` says why."""

    log_scale: float
    total: float
    hidden: Floats
    pairs: Floats

    def __iadd__(self, other: Self) -> Self:
        scale = max(self.log_scale, other.log_scale)
        mine, theirs = np.exp(self.log_scale - scale), np.exp(other.log_scale - scale)
        return type(self)(
            scale,
            self.total * mine + other.total * theirs,
            self.hidden * mine + other.hidden * theirs,
            self.pairs * mine + other.pairs * theirs,
        )

    def normalised(self) -> Self:
        """Return true expectations, with ln Z as the scale."""
        t = self.total
        return type(self)(float(self.log_scale + np.log(t)), 1.0, self.hidden / t, self.pairs / t)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Weights of states: b (m,) and J (m, m), symmetric.

    Examples
    --------
    >>> found = Quadratic(np.zeros(3), np.zeros((3, 3))).moments()
    >>> round(float(np.exp(found.log_scale)), 9), found.hidden
    (8.0, array([0.5, 0.5, 0.5]))
    """

    linear: Floats
    pairs: Floats

    @property
    def n_low(self) -> int:
        """Number of low units."""
        return min(len(self.linear), LOW_UNITS)

    @cached_property
    def states(self) -> Floats:
        """States of the low units: (L, m_low)."""
        return states_of(self.n_low)

    @cached_property
    def low_scores(self) -> Floats:
        """Log weight of the low states, all high units off."""
        low = slice(self.n_low)
        return np.asarray(
            self.states @ self.linear[low]
            + 0.5 * np.einsum("ki,ij,kj->k", self.states, self.pairs[low, low], self.states, optimize=True)
        )

    def table(self) -> Table:
        """Return the states of the high units as a table of bits, a row each: what the engine walks."""
        return table_of_states(len(self.linear) - self.n_low)

    def scores(self, high: Floats) -> Floats:
        """Return ln weight of the states with these high units: (L,)."""
        low = self.n_low
        own = self.linear[low:] @ high + 0.5 * high @ self.pairs[low:, low:] @ high
        return np.asarray(self.low_scores + self.states @ (self.pairs[:low, low:] @ high) + own)

    def add_block(self, block: Block) -> Moments:
        """Return the sums over a block of high states and all low ones."""
        m, low = len(self.linear), self.n_low
        scale, total = -np.inf, 0.0
        hidden, pairs, weights = np.zeros(m), np.zeros((m, m)), np.zeros(len(self.states))
        for high in block.x.to_dense().astype(np.float64)[:, : m - low]:
            scores = self.scores(high)
            largest = float(scores.max())
            if largest > scale:
                shrink = np.exp(scale - largest)
                scale, total = largest, total * shrink
                for sums in (hidden, pairs, weights):
                    sums *= shrink
            here = np.exp(scores - scale)
            sum_here, low_here = float(here.sum()), here @ self.states
            total += sum_here
            weights += here
            hidden[:low] += low_here
            hidden[low:] += sum_here * high
            pairs[:low, low:] += np.outer(low_here, high)
            pairs[low:, low:] += sum_here * np.outer(high, high)
        pairs[:low, :low] = self.states.T @ (weights[:, None] * self.states)
        pairs[low:, :low] = pairs[:low, low:].T
        return Moments(scale, total, hidden, pairs)

    def moments(self) -> Moments:
        """Return ln Z, E[h] and E[h h'], here and now; the engine does the same block by block."""
        blocks = self.table().grid(64).blocks
        total = self.add_block(blocks[0])
        for block in blocks[1:]:
            total += self.add_block(block)
        return total.normalised()

    def log_weights(self) -> Floats:
        """Return ln weight of all 2^m states."""
        return np.concatenate([self.scores(high) for high in states_of(len(self.linear) - self.n_low)])
