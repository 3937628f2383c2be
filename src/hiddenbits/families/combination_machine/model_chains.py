"""Combination machines with more units than can be enumerated: persistent chains estimate the negative phase.

The gradient of the likelihood is the difference of two phases (eqs 3.5, 3.6). The positive phase is exact; the negative
phase is the mean over rows of Markov chains that continue from step to step while the machine changes (persistent
contrastive divergence, Tieleman 2008), optionally tempered. Steps use coordinates about the means of the data
(`params.Centered`), in which the gradient by the weights is <x' h'>, with x' = x - E[x] and h' = h - E[h]: it
decorrelates weights and bias (Montavon and Mueller 2012; Melchior et al. 2016).

After the fit ln Z is exact if the units can be enumerated. Otherwise it is estimated by annealed importance sampling
when a likelihood is needed, with an error if the estimate is not reliable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import expit

from hiddenbits.array_types import Bytes, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.declared import Range
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.combination_machine.model import Combination
from hiddenbits.families.combination_machine.params import Centered, CombinationParams, CombinationStats
from hiddenbits.families.combination_machine.sampler import Mixing, sample_rows
from hiddenbits.families.combination_machine.tempered_chains import ChainState, advance, expectations, start_chains
from hiddenbits.maths.missing_rows import missing_cells
from hiddenbits.maths.numerics import FLAGS, PROBABILITIES
from hiddenbits.maths.tempering import Tempered, base_bias
from hiddenbits.model_api import Key, Passes, Promises

EXACT_UNITS = 20  # up to here ln Z is enumerated
START_WEIGHT_STD = 0.01  # of a start from noise
SWEEPS_PER_STEP = 1  # of the chains, before each step
MOMENTUM = 0.5  # share of the previous direction in a step
LARGEST_WEIGHT = 50.0  # weights of a machine that diverges are clipped to this
UNKNOWN = 1e100  # the error of a ln Z without an estimate, as files cannot contain infinite numbers

ERROR_RANGE = Range(lambda a: bool(0.0 <= a <= UNKNOWN), f"must lie between 0 and {UNKNOWN:g}")


@dataclass(frozen=True, eq=False)
class ChainsParams(CombinationParams):
    """A machine with the standard error of its ln Z, the column means of its table, and the last rows of its chains.

    The error is 0 where ln Z is exact, and `UNKNOWN` before ln Z is estimated. The rows are starts for further chains.
    """

    partition_error: Annotated[Floats, "", ERROR_RANGE]
    means: Annotated[Floats, "d", PROBABILITIES]
    particles: Annotated[Floats, "chains d", FLAGS]

    def machine(self) -> Tempered:
        """Return the machine for the chains."""
        return Tempered.of(self.weights, self.thresholds, self.bias, base_bias(self.means))


@dataclass(frozen=True, eq=False)
class ChainsMemory(ChainState):
    """The state between steps: the chains, the last direction, and the mean activity of the units."""

    direction: Floats
    activity: Floats
    n_rows: Floats


@dataclass(frozen=True)
class CombinationChains(Combination):
    """The model; hyperparameters only. Those of `Combination`, and

    Parameters
    ----------
    learning_rate : float
        Size of the first steps; later steps decrease linearly to 0.
    batch_rows : int
        Rows per step.
    n_chains, n_temperatures : int
        Persistent chains, and temperatures of each (1: no tempering).
    seed : int
        Seed of row functions that sample.
    """  # noqa: D400

    learning_rate: float = 0.05
    batch_rows: int = 128
    n_chains: int = 200
    n_temperatures: int = 1
    seed: int = 0

    promises = Promises(
        likelihood="estimate",
        monotone=False,
        deterministic=False,
        carry=False,
        accelerates=False,
        oracle="enumeration",
        why={
            "likelihood": "ln Z is estimated where the units are too many to enumerate",
            "monotone": "steps are random",
            "deterministic": "missing values are filled in by Gibbs sampling",
            "accelerates": "steps are random",
        },
    )
    params_type: ClassVar[Any] = ChainsParams
    memory_type = ChainsMemory

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> ChainsParams:
        """Return independent columns with the column means of the table, and units from noise or projection pursuit."""
        bias = self.independent_bias(summary)
        d, m = len(bias), self.n_components
        weights, thresholds = START_WEIGHT_STD * key.rng().standard_normal((d, m)), np.zeros(m)
        if self.start_from == "pursuit":
            units = self.pursued(bias, key, passes)
            weights, thresholds = units.weights, units.thresholds
        unknown = np.zeros(()), np.asarray(UNKNOWN)
        return ChainsParams(weights, thresholds, bias, *unknown, summary.means.copy(), np.zeros((1, d)))

    def prepare(self, params: CombinationParams) -> SampledMissing:  # type: ignore[override]
        """Return the Gibbs sampler for rows with missing values."""
        return SampledMissing(params.weights, params.thresholds, params.bias, self.seed)

    def expect(
        self, params: CombinationParams, shared: Any, block: Block, carry: None, key: Key
    ) -> tuple[CombinationStats, None]:
        """Return the positive phase; missing values are filled in with keyed random numbers."""
        return super().expect(params, replace(shared, key=key), block, carry, key)

    def first_memory(self, params: ChainsParams, summary: ColumnSums, key: Key) -> ChainsMemory:
        """Return chains that start at samples of independent columns, and direction 0."""
        ladder = (1.0,) if self.n_temperatures == 1 else np.linspace(0.0, 1.0, self.n_temperatures)
        chains = start_chains(params.machine(), self.n_chains, key.rng(), ladder)
        direction, activity = np.zeros(len(self.to_vector(params))), np.full(params.n_units, 0.5)
        return ChainsMemory(**chains.to_arrays(), direction=direction, activity=activity, n_rows=summary.weight)

    def step(
        self, params: ChainsParams, memory: ChainsMemory, stats: CombinationStats, share_left: float, key: Key, run: Any
    ) -> tuple[ChainsParams, ChainsMemory, float]:
        """Return machine and memory after one step, and minus the mean squared difference of the phases."""
        machine = params.machine()
        memory = advance(machine, memory, SWEEPS_PER_STEP, key.rng(), run)
        expected, n = expectations(machine, memory, run), float(stats.weight)
        difference = stats.joint / n - expected.joint
        gradient = self._flat(difference, stats.hidden / n - expected.hidden, stats.visible / n - expected.visible)
        activity = 0.9 * memory.activity + 0.1 * stats.hidden / n
        coordinates = Centered(2.0 * params.means - 1.0, activity, np.ones(len(gradient)))
        ascent = coordinates.outwards(coordinates.slope(gradient))
        ascent[: difference.size] -= self.ridge / self.rows_or_prior(float(memory.n_rows)) * params.weights.ravel()
        direction = MOMENTUM * memory.direction + self.learning_rate * share_left * ascent
        W, th, v = self._parts(self.to_vector(params) + direction, params)
        updated = replace(params, weights=np.clip(W, -LARGEST_WEIGHT, LARGEST_WEIGHT), thresholds=th, bias=v)
        # Neither ln Z nor the objective is known: the trace shows the distance between moments of data and chains.
        return updated, replace(memory, direction=direction, activity=activity), -float(np.mean(difference**2))

    def settle(self, params: ChainsParams, memory: ChainsMemory) -> ChainsParams:
        """Return the result of a fit: the machine with the chains' rows, and ln Z where it can be enumerated."""
        params = replace(params, particles=memory.rows.astype(np.float64))
        if params.n_units > EXACT_UNITS:
            return params
        log_z = self.exact(params.weights, params.thresholds, params.bias).log_partition
        return replace(params, log_partition=log_z, partition_error=np.zeros(()))

    def objective(self, params: CombinationParams, stats: CombinationStats) -> float:
        """Return NaN: the likelihood is not known during the fit."""
        return float("nan")

    def sample(self, params: Any, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Sample n rows by tempered chains that start where those of the fit ended, and the states of the units."""
        rows, _ = self.sample_with_mixing(params, n, rng)
        return rows, self.units_given(params, rows, rng)

    def units_given(self, params: Any, rows: Bytes, rng: np.random.Generator) -> Floats:
        """Sample the states of the units given complete rows."""
        p_on = expit((2.0 * rows - 1.0) @ params.weights + params.thresholds)
        return np.asarray(rng.random(p_on.shape) < p_on, np.float64)

    def sample_with_mixing(
        self, params: ChainsParams, n: int, rng: np.random.Generator, run: Any = map
    ) -> tuple[Bytes, Mixing]:
        """Sample n rows, with diagnostics of the chains."""
        return sample_rows(params.machine(), n, rng, rows=params.particles.astype(np.uint8), run=run)


# Rows with missing values in a combination machine that is too large to enumerate: Gibbs sampling, row by row.
#
# The missing cells and the hidden units are sampled in turn, given the observed cells. Results are means over the
# sweeps after burn-in, each with the hidden units or the cells at their expectation given the rest (Rao-Blackwell).
# With 200 sweeps the standard error of a probability is at most .035, less where sweeps differ little.

BURN_IN_SWEEPS, SWEEPS = 50, 200  # for probabilities that users get
STEP_BURN_IN, STEP_SWEEPS = 5, 5  # for a gradient step


class IncompleteRowLikelihoodError(ValueError):
    """The likelihood of a row with missing values cannot be computed, because the machine has too many units."""


@dataclass(frozen=True, eq=False)
class SampledMissing:
    """A machine, for rows with missing values. Methods take A = th + W'x_obs of these rows, and their numbers."""

    weights: Floats
    thresholds: Floats
    bias: Floats
    seed: int
    key: Key | None = None

    def _sweeps(
        self, A: Floats, missing: Floats, block: Block, n_burn_in: int, n_sweeps: int
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield P(h = 1 | cells), the sampled units and their om, for each sweep after burn-in."""
        rng = np.random.default_rng((self.seed, block.start)) if self.key is None else self.key.rng()
        x = missing * np.tanh(self.bias)
        for sweep in range(n_burn_in + n_sweeps):
            p_on = expit(A + x @ self.weights)
            h = (rng.random(p_on.shape) < p_on).astype(np.float64)
            om = h @ self.weights.T + self.bias
            if sweep >= n_burn_in:
                yield p_on, h, om
            x = missing * np.where(rng.random(om.shape) < expit(2.0 * om), 1.0, -1.0)

    def log_sums(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Raise an error: there is no reliable estimate."""
        raise IncompleteRowLikelihoodError(
            f"Row {block.start + int(rows[0])} has missing values, and with {len(self.thresholds)} hidden units its "
            "likelihood cannot be summed exactly. Score complete rows, impute first (`complete`), or fit at most 20 "
            'units with method="exact".'
        )

    def posterior(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(h_i = 1 | x_obs)."""
        sweeps = self._sweeps(A, missing_cells(block, rows), block, BURN_IN_SWEEPS, SWEEPS)
        return np.asarray(sum(p_on for p_on, _, _ in sweeps) / SWEEPS)

    def most_probable(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return the units that are more probably on than off, as the most probable joint state is not available."""
        return (self.posterior(A, block, rows) > 0.5).astype(np.float64)

    def fill(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return the posterior predictive P(x_j = 1 | x_obs)."""
        sweeps = self._sweeps(A, missing_cells(block, rows), block, BURN_IN_SWEEPS, SWEEPS)
        return np.asarray(sum(expit(2.0 * om) for _, _, om in sweeps) / SWEEPS)

    def expected(self, A: Floats, block: Block, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return zeros for the log sums, E[h | x_obs] of each row, and the part of missing cells in the statistics."""
        missing = missing_cells(block, rows)
        weighted = block.weights[rows, None] * missing
        hidden, total = np.zeros(A.shape), np.zeros((missing.shape[1], A.shape[1] + 1))
        for p_on, h, om in self._sweeps(A, missing, block, STEP_BURN_IN, STEP_SWEEPS):
            hidden += p_on / STEP_SWEEPS
            x = weighted * np.tanh(om) / STEP_SWEEPS  # cells at their mean given the sampled units
            total[:, :-1] += x.T @ h
            total[:, -1] += x.sum(axis=0)
        return np.zeros(len(A)), hidden, total

    def leave_one_out(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | the other observed cells): the odds of the other value are E[exp(-2 x_j om_j) | x_obs]."""
        missing = missing_cells(block, rows)
        x = 2.0 * block.x.take(rows).to_dense() - 1.0
        other_odds, filled = np.zeros(x.shape), np.zeros(x.shape)
        for _, _, om in self._sweeps(A, missing, block, BURN_IN_SWEEPS, SWEEPS):
            other_odds += np.exp(-2.0 * np.clip(x * om, -300.0, 300.0)) / SWEEPS
            filled += expit(2.0 * om) / SWEEPS
        observed = np.where(x > 0.0, 1.0, other_odds) / (1.0 + other_odds)
        return np.where(missing == 1, filled, observed)
