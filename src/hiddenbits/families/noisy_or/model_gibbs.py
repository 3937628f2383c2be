"""The noisy-OR network fitted by Gibbs sampling: rows keep their states between passes.

A pass samples the states of every row a few times, counts which causes were on and what they switched on, and makes one
M-step (eq 9). Layers are fitted one after the other, the lowest first; otherwise, the paper found, upper layers fit
priors for structure that does not exist. For each layer

1. weights are fitted, with priors and leak fixed, and with spare causes: bad local optima become rare, since some
   subset of many causes is probably a good solution;
2. spare causes are removed, first those without which their rows are explained best;
3. priors and leak are estimated too, at the end with decreasing steps, so that the noise of the sampler averages out. A
   leak starts at half of P(on) and then decreases, slowly if a pass takes one step of eq 9: upper layers of few causes
   take several.

At the end all layers are fitted together. `NoisyOrGibbs.plan` has a phase for each pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.noisy_or.gibbs import Children, Network, sweep
from hiddenbits.families.noisy_or.params import Learns, NoisyOrParams
from hiddenbits.families.noisy_or.rows import SampledRows
from hiddenbits.families.noisy_or.start import (
    add_layer,
    causes_to_remove,
    first_prior,
    first_strengths,
    n_surveys,
    n_to_remove,
    n_with_spare,
    raise_leak,
    remove_causes,
)
from hiddenbits.families.noisy_or.statistics import NoisyOrStats, RowStates, count, m_step, states_of_rows, survey
from hiddenbits.model_api import Footprint, Key, Passes, Promises

REFIT_PASSES = 3  # after the removal of some causes
SURVEY_BLOCK_ROWS, SURVEY_TABLE_ROWS = 512, 5_000  # for the gain of removing a cause


@dataclass(frozen=True)
class GibbsPhase:
    """The kind of a pass: what its update fits or changes.

    Parameters
    ----------
    learns : {"strengths", "layer", "network"}
        Parameters that the update changes.
    share : float
        Step size, as a share of the step to the result of the M-step.
    survey : bool
        If the top layer has spare causes, nothing is fitted: the gain of removing each cause is estimated from some
        rows, and the causes with the largest gains are removed.
    opens : {"leak", "layer"} or None
        Start of the next step, after the update: a larger leak of the top layer, or a new layer.
    """

    learns: Learns = "strengths"
    share: float = 1.0
    survey: bool = False
    opens: Literal["leak", "layer"] | None = None


@dataclass(frozen=True)
class NoisyOrSampler(SampledRows):
    """A model that samples the states of rows; hyperparameters only, those of `SampledRows` and more.

    Parameters
    ----------
    spare : float
        Spare causes that a layer starts with, as a share of its causes.
    n_passes : int
        Passes in which the strengths of a layer are fitted; half as many for each later step.
    n_sweeps, first_sweeps : int
        Sweeps of a pass, and of the first pass.
    survey_share : float
        Share of the rows that are used in a survey of causes.
    phase : GibbsPhase
        The update of this pass.
    key : Key
        Random numbers for the strengths of a new layer.
    """

    spare: float = 1.0
    n_passes: int = 40
    n_sweeps: int = 3
    first_sweeps: int = 15
    survey_share: float = 1.0
    phase: GibbsPhase = GibbsPhase()
    key: Key = field(default_factory=partial(Key, 0))

    first_range: ClassVar[tuple[float, float] | None] = None  # of first strengths; None: from the means
    upper_steps: ClassVar[int] = 20  # steps of eq 9 per pass in upper layers of few causes
    stop_below: ClassVar[float] = 0.0  # P(a cause changes) below which a row is not sampled again

    promises = Promises(
        likelihood="estimate",
        monotone=False,
        deterministic=False,
        carry=True,
        accelerates=False,
        oracle="enumeration",
        why={
            "likelihood": "the states of a row are too many to sum over",
            "monotone": "the states of a row are sampled",
            "deterministic": "the states of a row are sampled",
            "accelerates": "steps are random",
        },
    )
    stats_type = NoisyOrStats
    carry_type = RowStates

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: several operations on every 1, for every cause."""
        K = max(n_with_spare(size, self.spare) for size in self.n_components)
        return Footprint(working=4 * K + row_cells, statistics=n_columns * (K + 1), flops=10 * row_cells * K)

    def first_size(self, layer: int) -> int:
        """Return the number of causes that a layer starts with."""
        return n_with_spare(self.n_components[layer], self.spare)

    def prior_of(self, layer: int, size: int) -> float:
        """Return P(S = 1) for a layer of `size` causes: as many are on per row as with the declared number."""
        n_causes = self.n_components[layer]
        return first_prior(self.prior, n_causes) * n_causes / size

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> NoisyOrParams:
        """Return the lowest layer, with nearly equal causes."""
        size = self.first_size(0)
        f = first_strengths(summary.means, size, self.leak, self.first_range, key.rng())
        return NoisyOrParams.of([f], np.full(size, self.prior_of(0, size)))

    def with_next_layer(self, params: NoisyOrParams, key: Key) -> NoisyOrParams:
        """Return the network with the next layer."""
        number = len(params.n_causes)
        size = self.first_size(number)
        return add_layer(params, size, self.prior_of(number, size), self.leak, self.first_range, key.rng())

    def is_survey(self, params: NoisyOrParams) -> bool:
        """Whether this pass is a survey of spare causes."""
        spare = params.n_causes[-1] - self.n_components[len(params.n_causes) - 1]
        return self.phase.survey and spare > 0

    def expect(
        self, params: NoisyOrParams, shared: Network, block: Block, carry: RowStates | None, key: Key
    ) -> tuple[NoisyOrStats, RowStates]:
        """E-step: sample the states of every row a few times, and count."""
        rng, network = key.rng(), shared
        data = Children.of_block(network.layers[0], block)
        states, new_states = states_of_rows(params, network, block.n_rows, carry, rng)
        active = np.ones(block.n_rows, bool)
        for _ in range(self.first_sweeps if new_states else self.n_sweeps):
            last = sweep(network, data, states, rng, None if active.all() else active)
            active &= last.flips >= self.stop_below
            if not active.any():
                break
        loss = np.zeros(len(params.priors))
        if self.is_survey(params):
            rows = np.arange(min(SURVEY_BLOCK_ROWS, int(np.ceil(block.n_rows * self.survey_share))))
            gains = survey(network, data.take(rows), [s[rows] for s in states], self.n_sweeps, rng)
            loss = block.weights[rows] @ gains
        stats = replace(count(params, network, last, states, block), loss=loss)
        return stats, RowStates(np.packbits(np.concatenate(states, axis=1), axis=1), params.names)

    def update(self, params: NoisyOrParams, stats: NoisyOrStats) -> NoisyOrParams:
        """Return parameters after a partial M-step for those that this phase fits."""
        learns, share = self.phase.learns, self.phase.share
        return m_step(params, stats, learns, share, self.alpha, self.beta, self.center(params), self.upper_steps)


@dataclass(frozen=True)
class NoisyOrGibbs(NoisyOrSampler):
    """The model of a fit by full passes with a plan; hyperparameters only."""

    settles: ClassVar[bool] = False

    @cached_property
    def plan(self) -> tuple[GibbsPhase, ...]:
        """The phase of each pass of a fit."""
        n_later = max(1, self.n_passes // 2)
        # Steps of 1/2, 1/3, ... in the second half average over these passes.
        shares = [1.0 / max(1.0, number + 2.0 - n_later / 2.0) for number in range(n_later)]
        plan: list[GibbsPhase] = []
        for number, n_causes in enumerate(self.n_components):
            plan += [GibbsPhase()] * self.n_passes
            survey = [GibbsPhase(survey=True), *[GibbsPhase()] * min(REFIT_PASSES, self.n_passes)]
            plan += survey * n_surveys(self.first_size(number), n_causes)
            plan[-1] = GibbsPhase(opens="leak")
            plan += [GibbsPhase("layer", share) for share in shares]
            plan[-1] = replace(plan[-1], opens="layer" if number + 1 < len(self.n_components) else None)
        return (*plan, *[GibbsPhase("network", share) for share in shares if len(self.n_components) > 1])

    @property
    def planned_passes(self) -> int:
        """Passes of the plan."""
        return len(self.plan)

    def of_pass(self, params: NoisyOrParams, key: Key, passes: Passes) -> NoisyOrGibbs:
        """Return the model of a pass."""
        return replace(self, phase=self.plan[key.pass_number], key=key.stream("stage", len(params.n_causes)))

    def update(self, params: NoisyOrParams, stats: NoisyOrStats) -> NoisyOrParams:
        """M-step for the parameters that this phase fits, or removal of causes."""
        phase, number, size = self.phase, len(params.n_causes) - 1, params.n_causes[-1]
        if self.is_survey(params):
            removed = causes_to_remove(stats.loss, params.layers[-1][:-1], n_to_remove(size, self.n_components[number]))
            return remove_causes(params, removed, self.prior_of(number, size - len(removed)))
        updated = super().update(params, stats)
        if phase.opens == "leak":
            return raise_leak(updated)
        return self.with_next_layer(updated, self.key) if phase.opens == "layer" else updated


# The noisy-OR network with the algorithm of the paper: an update after every few hundred rows, without stored states.
#
# Fitted by the engine's loop of random steps: states of a group of rows are sampled, counted and discarded, and eq 9 is
# applied to that group alone. Layers share the epochs evenly, the lowest first. Priors are fixed. Strengths start
# between .05 and .15, and a row is sampled until no cause would change with a probability of .05.


@dataclass(frozen=True, eq=False)
class StepCount(Arrays):
    """The number of steps, the only state between steps."""

    taken: Floats


@dataclass(frozen=True)
class NoisyOrBlocks(NoisyOrSampler):
    """The model; hyperparameters only, those of `NoisyOrSampler` and one more.

    Parameters
    ----------
    batch_rows : int
        Rows per step.
    """

    batch_rows: int = 200

    first_range: ClassVar[tuple[float, float] | None] = 0.05, 0.15
    upper_steps: ClassVar[int] = 1
    stop_below: ClassVar[float] = 0.05
    memory_type = StepCount

    def first_memory(self, params: NoisyOrParams, summary: ColumnSums, key: Key) -> StepCount:
        """Return a count of 0."""
        return StepCount(np.zeros(()))

    def step(
        self, params: NoisyOrParams, memory: StepCount, stats: NoisyOrStats, share_left: float, key: Key, run: Any
    ) -> tuple[NoisyOrParams, StepCount, float]:
        """Return the network after an update from one group of rows, and the group's mean log-joint."""
        log_joint = float(stats.bound) / float(stats.weight)
        params = self.update(params, stats)
        layer = min(int((1.0 - share_left) * len(self.n_components) + 1e-9), len(self.n_components) - 1)
        if len(params.n_causes) <= layer:
            params = self.with_next_layer(params, key)
        return params, StepCount(memory.taken + 1.0), log_joint

    def settle(self, params: NoisyOrParams, memory: StepCount) -> NoisyOrParams:
        """Return the result of a fit, with all layers even after too few steps."""
        for number in range(len(params.n_causes), len(self.n_components)):
            params = self.with_next_layer(params, Key(self.seed).stream("stage", number))
        return params
