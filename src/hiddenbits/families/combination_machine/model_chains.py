"""Combination machines with more units than can be enumerated: persistent chains stand for the free phase.

The gradient of the likelihood is the difference of two phases (eqs 3.5, 3.6). The data's is exact; the free model's is
the mean over rows of Markov chains that are carried on from step to step while the machine changes under them
(persistent contrastive divergence, Tieleman 2008), tempered if wished. Steps go in coordinates about the means of the
data (`params.Centerd`): there the weights follow <x' h'>, with x' = x - E[x] and h' = h - E[h], which keeps them from
doing the bias's work (Montavon and Mueller 2012; Melchior et al. 2016).

ln Z is then exact where the units can be enumerated after all, otherwise looked for by annealed importance sampling
when somebody asks for a likelihood, and refused where it cannot be trusted.
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
from hiddenbits.families.combination_machine.params import Centerd, CombinationParams, CombinationStats
from hiddenbits.families.combination_machine.sampler import Mixing, draw
from hiddenbits.families.combination_machine.tempered_chains import ChainState, advance, expectations, start_chains
from hiddenbits.maths.missing_rows import missing_cells
from hiddenbits.maths.numerics import FLAGS, PROBABILITIES
from hiddenbits.maths.tempering import Tempered, base_bias
from hiddenbits.model_api import Key, Passes, Promises

EXACT_UNITS = 20  # up to here ln Z is enumerated
FIRST_WEIGHTS = 0.01
SWEEPS_A_STEP = 1  # of the chains, before each step
MOMENTUM = 0.5  # share of the last step's direction that continues
LARGEST_WEIGHT = 50.0  # a machine beyond has run away
UNKNOWN = 1e100  # the error of a ln Z that has not been looked for: files hold no infinite numbers

ERROR = Range(lambda a: bool(0.0 <= a <= UNKNOWN), f"must lie between 0 and {UNKNOWN:g}")


@dataclass(frozen=True, eq=False)
class ChainsParams(CombinationParams):
    """A machine with the standard error of its ln Z, the column means of its table, and rows where its chains ended.

    The error is 0 where ln Z is exact, and `UNKNOWN` where it has not been looked for. The rows are starts for further
    chains.
    """

    partition_error: Annotated[Floats, "", ERROR]
    means: Annotated[Floats, "d", PROBABILITIES]
    particles: Annotated[Floats, "chains d", FLAGS]

    def machine(self) -> Tempered:
        """Return the machine as chains know it."""
        return Tempered.of(self.weights, self.thresholds, self.bias, base_bias(self.means))


@dataclass(frozen=True, eq=False)
class ChainsMemory(ChainState):
    """What persists from step to step: the chains, the last direction, and the mean activity of the units."""

    direction: Floats
    activity: Floats
    n_rows: Floats


@dataclass(frozen=True)
class CombinationChains(Combination):
    """The model; hyperparameters only. Those of `Combination`, and

    Parameters
    ----------
    learning_rate : float
        Size of the first steps; they shrink evenly to nothing.
    batch_rows : int
        Rows of a step.
    n_chains, n_temperatures : int
        Persistent chains, and temperatures of each (1: no tempering).
    seed : int
        Of what verbs draw.
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
            "deterministic": "rows with blanks are filled in by Gibbs sampling",
            "accelerates": "steps are random",
        },
    )
    params_type: ClassVar[Any] = ChainsParams
    memory_type = ChainsMemory

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> ChainsParams:
        """Return the independent bits of the column means with units that hardly act yet, or those of a pursuit."""
        bias = self.bias_alone(summary)
        d, m = len(bias), self.n_components
        weights, thresholds = FIRST_WEIGHTS * key.rng().standard_normal((d, m)), np.zeros(m)
        if self.start_from == "pursuit":
            units = self.pursued(bias, key, passes)
            weights, thresholds = units.weights, units.thresholds
        unknown = np.zeros(()), np.asarray(UNKNOWN)
        return ChainsParams(weights, thresholds, bias, *unknown, summary.means.copy(), np.zeros((1, d)))

    def prepare(self, params: CombinationParams) -> SampledBlanks:  # type: ignore[override]
        """Return what fills in rows with blanks: Gibbs sampling."""
        return SampledBlanks(params.weights, params.thresholds, params.bias, self.seed)

    def expect(
        self, params: CombinationParams, shared: Any, block: Block, carry: None, key: Key
    ) -> tuple[CombinationStats, None]:
        """Return the data phase; rows with blanks are filled in with keyed random numbers."""
        return super().expect(params, replace(shared, key=key), block, carry, key)

    def first_memory(self, params: ChainsParams, summary: ColumnSums, key: Key) -> ChainsMemory:
        """Return chains at rows of independent bits, and no direction."""
        ladder = (1.0,) if self.n_temperatures == 1 else np.linspace(0.0, 1.0, self.n_temperatures)
        chains = start_chains(params.machine(), self.n_chains, key.rng(), ladder)
        still, activity = np.zeros(len(self.to_vector(params))), np.full(params.n_units, 0.5)
        return ChainsMemory(**chains.to_arrays(), direction=still, activity=activity, n_rows=summary.weight)

    def step(
        self, params: ChainsParams, memory: ChainsMemory, stats: CombinationStats, left: float, key: Key, run: Any
    ) -> tuple[ChainsParams, ChainsMemory, float]:
        """Return the machine and the memory after one step, and how much more likely data are than chains, a row."""
        machine = params.machine()
        memory = advance(machine, memory, SWEEPS_A_STEP, key.rng(), run)
        free, n = expectations(machine, memory, run), float(stats.weight)
        apart = stats.joint / n - free.joint
        gradient = self._flat(apart, stats.hidden / n - free.hidden, stats.visible / n - free.visible)
        activity = 0.9 * memory.activity + 0.1 * stats.hidden / n
        view = Centerd(2.0 * params.means - 1.0, activity, np.ones(len(gradient)))
        uphill = view.outwards(view.slope(gradient))
        uphill[: apart.size] -= self.ridge / self.rows_or_prior(float(memory.n_rows)) * params.weights.ravel()
        direction = MOMENTUM * memory.direction + self.learning_rate * left * uphill
        W, th, v = self._parts(self.to_vector(params) + direction, params)
        moved = replace(params, weights=np.clip(W, -LARGEST_WEIGHT, LARGEST_WEIGHT), thresholds=th, bias=v)
        # Neither ln Z nor the objective is known: the trace follows how far the data's moments are from the chains'.
        return moved, replace(memory, direction=direction, activity=activity), -float(np.mean(apart**2))

    def settle(self, params: ChainsParams, memory: ChainsMemory) -> ChainsParams:
        """Return the machine as a fit hands it over: with the chains' rows, and ln Z where it can be enumerated."""
        params = replace(params, particles=memory.rows.astype(np.float64))
        if params.n_units > EXACT_UNITS:
            return params
        log_z = self.exact(params.weights, params.thresholds, params.bias).log_partition
        return replace(params, log_partition=log_z, partition_error=np.zeros(()))

    def objective(self, params: CombinationParams, stats: CombinationStats) -> float:
        """There is none: the likelihood is not known while the machine learns."""
        return float("nan")

    def sample(self, params: Any, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows by tempered chains that begin where those of the fit ended, and what the units make of them."""
        rows, _ = self.draw_and_judge(params, n, rng)
        return rows, self.units_given(params, rows, rng)

    def units_given(self, params: Any, rows: Bytes, rng: np.random.Generator) -> Floats:
        """Sample the states of the units given complete rows."""
        on = expit((2.0 * rows - 1.0) @ params.weights + params.thresholds)
        return np.asarray(rng.random(on.shape) < on, np.float64)

    def draw_and_judge(
        self, params: ChainsParams, n: int, rng: np.random.Generator, run: Any = map
    ) -> tuple[Bytes, Mixing]:
        """Draw n rows, and say how well the chains mixed."""
        return draw(params.machine(), n, rng, rows=params.particles.astype(np.uint8), run=run)


# Rows with blanks in a combination machine that is too large to enumerate: Gibbs sampling, row by row.
#
# The missing bits and the hidden units are drawn in turn, given the observed bits. What verbs return are means over the
# sweeps after the first ones, each with the hidden units or the bits at their expectation given the rest
# (Rao-Blackwell). With 200 sweeps the standard error of a probability is at most .035, less where sweeps differ little.

FIRST_SWEEPS, SWEEPS = 50, 200  # where a probability is the answer
QUICK_FIRST, QUICK = 5, 5  # where it is one step of many


class BlanksWithoutLikelihoodError(ValueError):
    """The likelihood of a row with blanks, of a machine that is too large for it."""


@dataclass(frozen=True, eq=False)
class SampledBlanks:
    """A machine, for rows with blanks. Each function takes A and the numbers of those rows of a block."""

    weights: Floats
    thresholds: Floats
    bias: Floats
    seed: int
    key: Key | None = None

    def _sweeps(
        self, A: Floats, missing: Floats, block: Block, first: int, kept: int
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield P(h = 1 | bits), the drawn units and their influences om, of each sweep after the first ones."""
        rng = np.random.default_rng((self.seed, block.start)) if self.key is None else self.key.rng()
        x = missing * np.tanh(self.bias)
        for sweep in range(first + kept):
            on = expit(A + x @ self.weights)
            h = (rng.random(on.shape) < on).astype(np.float64)
            om = h @ self.weights.T + self.bias
            if sweep >= first:
                yield on, h, om
            x = missing * np.where(rng.random(om.shape) < expit(2.0 * om), 1.0, -1.0)

    def log_sums(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """There is no figure to be trusted."""
        raise BlanksWithoutLikelihoodError(
            f"Row {block.start + int(rows[0])} has blanks, and with {len(self.thresholds)} hidden units its likelihood "
            "cannot be summed exactly. Score complete rows, fill the blanks in first (`complete`), or fit at most 20 "
            'units with method="exact".'
        )

    def posterior(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(h_i = 1 | x_obs)."""
        sweeps = self._sweeps(A, missing_cells(block, rows), block, FIRST_SWEEPS, SWEEPS)
        return np.asarray(sum(on for on, _, _ in sweeps) / SWEEPS)

    def most_probable(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return the units that are more probably on than off; the one most probable state is out of reach."""
        return (self.posterior(A, block, rows) > 0.5).astype(np.float64)

    def fill(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | x_obs), as if the cell had to be drawn again."""
        sweeps = self._sweeps(A, missing_cells(block, rows), block, FIRST_SWEEPS, SWEEPS)
        return np.asarray(sum(expit(2.0 * om) for _, _, om in sweeps) / SWEEPS)

    def expected(self, A: Floats, block: Block, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return zeros for the log sums, E[h | x_obs] of each row, and what the missing cells add to the statistics."""
        missing = missing_cells(block, rows)
        weighted = block.weights[rows, None] * missing
        hidden, total = np.zeros(A.shape), np.zeros((missing.shape[1], A.shape[1] + 1))
        for on, h, om in self._sweeps(A, missing, block, QUICK_FIRST, QUICK):
            hidden += on / QUICK
            x = weighted * np.tanh(om) / QUICK  # the bits at their mean given the units that are drawn
            total[:, :-1] += x.T @ h
            total[:, -1] += x.sum(axis=0)
        return np.zeros(len(A)), hidden, total

    def leave_one_out(self, A: Floats, block: Block, rows: Rows) -> Floats:
        """Return P(x_j = 1 | the other observed bits): the other value weighs E[exp(-2 x_j om_j) | x_obs] as much."""
        missing = missing_cells(block, rows)
        x = 2.0 * block.x.take(rows).to_dense() - 1.0
        other, filled = np.zeros(x.shape), np.zeros(x.shape)
        for _, _, om in self._sweeps(A, missing, block, FIRST_SWEEPS, SWEEPS):
            other += np.exp(-2.0 * np.clip(x * om, -300.0, 300.0)) / SWEEPS
            filled += expit(2.0 * om) / SWEEPS
        alone = np.where(x > 0.0, 1.0, other) / (1.0 + other)
        return np.where(missing == 1, filled, alone)
