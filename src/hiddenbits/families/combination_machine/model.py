"""Influence combination machine, a restricted Boltzmann machine: binary hidden units that act together.

    ln P(x, h) = Sum_i h_i (th_i + w_i.x) + v.x - ln Z,   x in {-1, +1}^d (data 0 and 1),  h in {0, 1}^m

| letter | meaning | shape |
|---|---|---|
| x, o | data as -1 and +1, 0 where missing; observed | (rows, d) |
| W, th, v | weights, thresholds, bias of the visible units | (d, m), (m,), (d,) |
| a | th + W'x, the activation of each unit by the row | (rows, m) |
| om | v + W h, the activation of each column by a state | (d,) |

Freund & Haussler (1994). Complete rows: ln P(x) = v.x + Sum_i softplus(a_i) - ln Z (eq 2.4), and the units are
independent given the row, P(h_i = 1 | x) = sigma(a_i). Rows with missing values sum over all states (`missing_rows`):
ln P(x_obs) = logsumexp_h [ h.A + Sum_{j missing} ln 2cosh om_j ] + v.x_obs - ln Z, A = th + W'x_obs. Z is exact
(`state_sums`) and kept with the parameters.

The model is an exponential family in (x, h), so that its EM has a concave M-step, th.E[h] + W.E[x h] + v.E[x] - ln Z:
`update` maximizes it without the data. By Fisher's identity the same statistics give the gradient of the
likelihood for the engine's quasi-Newton loop, which is the default because it needs fewer passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.kernels import kernels_pay
from hiddenbits.data.operands import Operand, product_with_totals
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.combination_machine.complete_rows import complete_rows, fast_kernels
from hiddenbits.families.combination_machine.params import Centered, CombinationParams, CombinationStats
from hiddenbits.families.combination_machine.projection_pursuit import PursuitUnits, pursue
from hiddenbits.maths.missing_rows import BITS, MissingCellSums, Visible, rows_with_missing
from hiddenbits.maths.numerics import softplus, softplus_and_sigmoid
from hiddenbits.maths.state_sums import FreePhase, Halves, StateSums, check_units, expectations, states_of, sum_states
from hiddenbits.model_api import AsOnSubsample, Declared, Footprint, Key, Passes, Promises

START_NOISE = 0.1  # standard deviation of the first weights
UPDATE_STEPS = 40  # quasi-Newton steps of one M-step: enough for most of its gain


@dataclass(frozen=True)
class Combination(AsOnSubsample, Declared[CombinationParams]):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        m.
    ridge : float
        Precision of the normal prior of the weights.
    visible_bias : bool
        Whether v is estimated; otherwise it is 0, as in the paper.
    start_from : {"grow", "noise", "pursuit"}
        Units are added one by one, each the best of some candidates; or all units start with small random weights; or
        with the result of projection pursuit.
    n_candidates : int
        Candidates for each added unit, or for each unit of the pursuit.
    pursuit_steps : int
        EM steps for each unit of the pursuit.
    candidates_again : int, optional
        Candidates for each added unit in restarts after the first; by default as many as in the first.
    """

    n_components: int = 2
    ridge: float = 0.1
    visible_bias: bool = True
    start_from: Literal["grow", "noise", "pursuit"] = "grow"
    n_candidates: int = 4
    pursuit_steps: int = 20
    candidates_again: int | None = field(default=None, kw_only=True)

    promises = Promises()
    params_type: ClassVar[Any] = CombinationParams
    stats_type: ClassVar[type[CombinationStats]] = CombinationStats
    carry_type = None
    letters: ClassVar[Mapping[str, tuple[str, str]]] = {"m": ("n_components", "units")}
    bits: ClassVar[bool] = True  # whether the visible units are binary
    visible: ClassVar[Visible] = BITS
    too_many_advice: ClassVar[str] = 'Use method="chains".'  # of an error for too many units to enumerate

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: two products of row_cells x m."""
        m = self.n_components
        dense = n_columns if row_cells >= n_columns else 0
        return Footprint(working=dense + 2 * m, statistics=n_columns * m, flops=4 * row_cells * m)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> CombinationParams:
        """Return independent columns with the column means of the table, and no units or those of `start_from`."""
        check_units(self.n_components, self.too_many_advice)
        bias = self.independent_bias(summary)
        if self.start_from == "pursuit":
            units = self.pursued(bias, key, passes)
            return self.exact(units.weights, units.thresholds, bias)
        d = len(bias)
        no_units = self.exact(np.zeros((d, 0)), np.zeros(0), bias)
        if self.start_from == "grow":
            return no_units
        return self.with_units(no_units, START_NOISE * key.rng().standard_normal((d, self.n_components)))

    def independent_bias(self, summary: ColumnSums) -> Floats:
        """Return the bias of independent columns: half the log-odds of their means."""
        means = summary.means
        return 0.5 * (np.log(means) - np.log1p(-means)) if self.visible_bias else np.zeros(len(means))

    def pursued(self, bias: Floats, key: Key, passes: Passes) -> PursuitUnits:
        """Return units from projection pursuit; any number of them, since it needs no ln Z."""
        effort: Any = {"ridge": self.ridge, "n_starts": self.n_candidates, "n_steps": self.pursuit_steps}
        return pursue(self.n_components, key, passes, self.visible.mean(bias), **effort, reals=not self.bits)

    def with_units(self, params: CombinationParams, weights: Floats) -> CombinationParams:
        """Return a machine with further units, each of which alone would be on in half of the rows."""
        ln, v = self.visible.log_norm, params.bias[:, None]
        thresholds = np.append(params.thresholds, -(ln(v + weights) - ln(v)).sum(axis=0))
        return self.exact(np.column_stack([params.weights, weights]), thresholds, params.bias)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.ridge > 0.0

    def n_parameters(self, params: CombinationParams) -> int:
        """Return the number of free parameters."""
        d, m = params.n_columns, params.n_units
        return m * (d + 1) + (d if self.visible_bias else 0)

    def prepare(self, params: CombinationParams) -> MissingCellSums:
        """Return tables of states for rows with missing values, computed when first needed."""
        return MissingCellSums(params.weights, params.thresholds, params.bias, self.visible)

    def _messages(self, params: CombinationParams, block: Block) -> tuple[Floats, Floats, Operand, Operand]:
        """Return a = th + W'x and v.x of each row, without missing cells, and the operands."""
        t, o = block.operands()
        sums = 2.0 * np.asarray(t @ params.weights_bias) - product_with_totals(o, params.weights_bias, params.totals)
        return sums[:, :-1] + params.thresholds, sums[:, -1], t, o

    def expect(
        self, params: CombinationParams, shared: MissingCellSums, block: Block, carry: None, key: Key
    ) -> tuple[CombinationStats, None]:
        """E-step, and data phase of the gradient (eqs 3.5, 3.6): E[h], E[x h'], E[x] given the observed cells."""
        incomplete = rows_with_missing(block)
        if not incomplete.size and self.bits and kernels_pay() and (kernels := fast_kernels()) is not None:
            return complete_rows(kernels, params, block), None
        a, vx, t, o = self._messages(params, block)
        softplus_a, h = softplus_and_sigmoid(a)
        log_p = vx + softplus_a @ np.ones(softplus_a.shape[1])
        missing_sums: Floats | float = 0.0
        if incomplete.size:
            log_sums, h[incomplete], missing_sums = shared.expected(a[incomplete], block, incomplete)
            log_p[incomplete] = vx[incomplete] + log_sums
        weighted_h = np.empty((len(h), params.n_units + 1))  # the last column has the weights
        np.multiply(h, block.weights[:, None], out=weighted_h[:, :-1])
        weighted_h[:, -1] = block.weights
        sums = self._sums_over_rows(t, o, weighted_h) + missing_sums
        return self.stats_type(
            bound=np.asarray(block.weights @ (log_p - float(params.log_partition))),
            weight=np.asarray(block.weights.sum()),
            hidden=(np.ones(len(weighted_h)) @ weighted_h)[:-1].copy(),
            joint=np.array(np.broadcast_to(sums[:, :-1], params.weights.shape)),
            visible=np.array(np.broadcast_to(sums[:, -1], params.bias.shape)),
        ), None

    def _sums_over_rows(self, t: Operand, o: Operand, right: Floats) -> Floats:
        """Return x' times a matrix."""
        return np.asarray(2.0 * np.asarray(t.T @ right) - np.asarray(o.T @ right))

    def objective(self, params: CombinationParams, stats: CombinationStats) -> float:
        """Return log-likelihood plus log prior."""
        return float(stats.bound) + self._log_prior(params.weights)

    def _log_prior(self, weights: Floats) -> float:
        return -0.5 * self.ridge * float(np.sum(weights**2))

    # Optimization: the gradient, and the M-step.

    def model_expectations(self, params: CombinationParams, over: Any) -> tuple[CombinationParams, FreePhase]:
        """Return the parameters with their ln Z, and expectations under the model: a pass over states, not rows."""
        phase = self._phase(params.weights, params.thresholds, params.bias, over)
        return replace(params, log_partition=np.asarray(phase.log_partition)), phase

    def _phase(self, weights: Floats, thresholds: Floats, bias: Floats, over: Any = sum_states) -> FreePhase:
        check_units(len(thresholds), self.too_many_advice)
        return expectations(self.state_sums(weights, thresholds, bias), over)

    def state_sums(self, weights: Floats, thresholds: Floats, bias: Floats) -> StateSums:
        """Return the states of the units, to be summed over."""
        return Halves(weights, thresholds, bias)

    def exact(self, weights: Floats, thresholds: Floats, bias: Floats) -> CombinationParams:
        """Return parameters with their exact ln Z."""
        phase = self._phase(weights, thresholds, bias)
        return CombinationParams(weights, thresholds, bias, np.asarray(phase.log_partition))

    def gradient(self, params: CombinationParams, stats: CombinationStats, phase: FreePhase) -> Floats:
        """Return the gradient of the objective, in the coordinates of `to_vector` (eqs 3.5, 3.6)."""
        weight = float(stats.weight)
        joint = stats.joint - weight * phase.joint - self.ridge * params.weights
        visible = stats.visible - weight * phase.visible
        return self._flat(joint, stats.hidden - weight * phase.hidden, visible)

    def rows_or_prior(self, weight: float) -> float:
        """Return the weight of all rows, or the ridge if it is larger: divided by this, the prior cannot overflow."""
        return max(weight, self.ridge)

    def coordinates(self, params: CombinationParams, phase: FreePhase) -> Centered:
        """Return the coordinates in which the optimizer continues from this point."""
        return Centered.about(phase, bias=self.visible_bias, bits=self.bits)

    def update(self, params: CombinationParams, stats: CombinationStats) -> CombinationParams:
        """M-step: maximize th.E[h] + W.E[x h'] + v.E[x] - N ln Z - (ridge/2) |W|^2, which is concave."""
        weight = float(stats.weight)
        scale = self.rows_or_prior(weight)
        coordinates = self.coordinates(params, self._phase(params.weights, params.thresholds, params.bias))

        def loss(point: Floats) -> tuple[float, Floats]:
            W, th, v = self._parts(coordinates.outwards(point), params)
            phase = self._phase(W, th, v)
            candidate = replace(params, weights=W, thresholds=th, bias=v)
            value = np.sum(stats.joint * W) + stats.hidden @ th + stats.visible @ v
            value += self._log_prior(W) - weight * phase.log_partition
            return -float(value) / scale, -coordinates.slope(self.gradient(candidate, stats, phase)) / scale

        options: Any = {"maxiter": UPDATE_STEPS, "ftol": 1e-15, "gtol": 1e-12}
        start = coordinates.inwards(self.to_vector(params))
        result = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
        return self.from_vector(coordinates.outwards(result.x), params)

    def _flat(self, weights: Floats, thresholds: Floats, bias: Floats) -> Floats:
        return np.concatenate([weights.ravel(), thresholds, bias if self.visible_bias else np.zeros(0)])

    def _parts(self, vector: Floats, params: CombinationParams) -> tuple[Floats, Floats, Floats]:
        d, m = params.weights.shape
        W, th, v = np.split(vector, [d * m, d * m + m])
        return W.reshape(d, m), th, v if self.visible_bias else params.bias

    def to_vector(self, params: CombinationParams) -> Floats:
        """Return W, th and v in one row."""
        return self._flat(params.weights, params.thresholds, params.bias)

    def at_vector(self, vector: Floats, params: CombinationParams) -> CombinationParams:
        """Return parameters at `vector`, with unknown ln Z."""
        return CombinationParams(*self._parts(vector, params), np.asarray(np.nan))

    def from_vector(self, vector: Floats, params: CombinationParams) -> CombinationParams:
        """Return parameters at `vector`, with their ln Z."""
        return self.exact(*self._parts(vector, params))

    # Row functions, for the methods of the estimator.

    def log_likelihood(self, params: CombinationParams, shared: MissingCellSums, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        a, vx, _, _ = self._messages(params, block)
        return vx + _with_incomplete(softplus(a).sum(axis=1), shared.log_sums, a, block) - float(params.log_partition)

    def posterior(self, params: CombinationParams, shared: MissingCellSums, block: Block) -> Floats:
        """Return P(h_i = 1 | observed cells) of each row."""
        a = self._messages(params, block)[0]
        return _with_incomplete(expit(a), shared.posterior, a, block)

    def posterior_mode(self, params: CombinationParams, shared: MissingCellSums, block: Block) -> Floats:
        """Return the most probable state of the units given the observed cells."""
        a = self._messages(params, block)[0]
        return _with_incomplete((a > 0.0).astype(np.float64), shared.most_probable, a, block)

    def reconstruct(self, params: CombinationParams, codes: Floats) -> Floats:
        """Return P(cell = 1) given the state of the units: sigma(2 om)."""
        return np.asarray(expit(2.0 * (codes @ params.weights.T + params.bias)))

    def fill(self, params: CombinationParams, shared: MissingCellSums, block: Block) -> Floats:
        """Return P(cell = 1 | observed cells), or the mean of reals, for incomplete rows; 0.5 for other rows."""
        rows = np.full((block.n_rows, block.n_columns), 0.5)
        return _with_incomplete(rows, shared.fill, self._messages(params, block)[0], block)

    def leave_one_out(self, params: CombinationParams, shared: MissingCellSums, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) for every cell; Z cancels.

        logit = 2 v_j + Sum_i [ softplus(a_i - w_ij x_j + w_ij) - softplus(a_i - w_ij x_j - w_ij) ] on complete rows.
        """
        a, x = self._messages(params, block)[0], 2.0 * block.x.to_dense() - 1.0
        logits = np.broadcast_to(2.0 * params.bias, x.shape).copy()
        for w, activation in zip(params.weights.T, a.T, strict=True):
            without = activation[:, None] - w * x
            logits += softplus(without + w) - softplus(without - w)
        return _with_incomplete(expit(logits), shared.leave_one_out, a, block)

    def sample(self, params: CombinationParams, n: int, rng: np.random.Generator) -> tuple[Any, Floats]:
        """Sample n rows and their states, exactly: first a state, then the cells."""
        log_p = self.state_sums(params.weights, params.thresholds, params.bias).log_weights()
        p = np.exp(log_p - log_p.max())
        state_numbers = rng.choice(len(p), size=n, p=p / p.sum())
        h = ((state_numbers[:, None] >> np.arange(params.n_units)) & 1).astype(np.float64)
        return self._sample_cells(self.reconstruct(params, h), rng), h

    def _sample_cells(self, expected: Floats, rng: np.random.Generator) -> Any:
        """Sample cells with these expectations."""
        return (rng.random(expected.shape) < expected).view(np.uint8)

    def hidden_states(self, params: CombinationParams) -> Floats:
        """Return every state of the units."""
        return states_of(params.n_units)

    def log_joint(self, params: CombinationParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        s = 2.0 * x - 1.0
        return float(h @ (params.thresholds + s @ params.weights) + params.bias @ s - params.log_partition)

    def mismatch(self, params: CombinationParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        unwanted = params.bias.any() and not self.visible_bias
        return super().mismatch(params) or ("it has a bias where none is declared" if unwanted else None)

    def pseudo_statistics(self, params: CombinationParams, weight: float) -> CombinationStats:
        """Return the statistics that the model expects, for online EM to continue from a fit."""
        phase = self._phase(params.weights, params.thresholds, params.bias)
        return self.stats_type(
            np.zeros(()), np.asarray(weight), weight * phase.hidden, weight * phase.joint, weight * phase.visible
        )


def _with_incomplete(
    values: Floats, of_incomplete: Callable[[Floats, Block, Rows], Floats], a: Floats, block: Block
) -> Floats:
    """Return the values of all rows, with new values for incomplete rows."""
    incomplete = rows_with_missing(block)
    if incomplete.size:
        values[incomplete] = of_incomplete(a[incomplete], block, incomplete)
    return values
