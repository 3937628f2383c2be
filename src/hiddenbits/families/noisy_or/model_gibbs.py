"""The noisy-OR network learned by Gibbs sampling: rows keep their states from pass to pass.

A pass draws the states of every row a few times, counts which causes were on and what they switched on, and takes one
M-step (eq 9). Layers learn one after the other, the lowest first; the paper found that otherwise the upper ones grow
priors for structure that is not there. Each layer

1. learns its weights, with priors and leak held, and with some causes more than wanted: to end in a bad place
   is then rare, since what a good solution needs is among them;
2. loses the spare causes, those first whose rows can best be explained without them;
3. learns priors and leak too, at last with ever smaller steps, so that the noise of the sampler averages out. A leak
   begins at half of what is on and is mostly taken back, slowly where eq 9 is taken once a pass: upper layers of few
   causes take it several times.

At the end all layers learn together. `NoisyOrGibbs.plan` has a phase for each pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.noisy_or.gibbs import Network, Ones, sweep
from hiddenbits.families.noisy_or.params import Learns, NoisyOrParams
from hiddenbits.families.noisy_or.rows import SampledRows
from hiddenbits.families.noisy_or.start import (
    first_prior,
    first_strengths,
    least_missed,
    n_surveys,
    to_go,
    with_layer,
    with_room_for_leak,
    with_spare,
    without,
)
from hiddenbits.families.noisy_or.statistics import NoisyOrStats, RowStates, count, states_of_rows, stepped, survey
from hiddenbits.model_api import Footprint, Key, Passes, Promises

REFIT = 3  # passes after some causes were removed
SURVEY_ROWS, SURVEY_TABLE = 512, 5_000  # of each block, and of the table, from which the value of a cause is judged


@dataclass(frozen=True)
class Phase:
    """What a pass does.

    Parameters
    ----------
    learns : {"strengths", "layer", "network"}
        What the update changes.
    share : float
        How much of the way to the M-step it goes.
    survey : bool
        Where the top layer has spare causes nothing learns, but rows are asked what each of them is worth, and some of
        those that are least missed go.
    opens : {"leak", "layer"} or None
        What the update ends with: room for the leak of the top layer, or a new layer.
    """

    learns: Learns = "strengths"
    share: float = 1.0
    survey: bool = False
    opens: Literal["leak", "layer"] | None = None


@dataclass(frozen=True)
class NoisyOrSampler(SampledRows):
    """A model that draws the states of rows; hyperparameters only, those of `SampledRows` and more.

    Parameters
    ----------
    spare : float
        Further causes that a layer begins with, as a share.
    n_passes : int
        Passes in which a layer learns; half as many for what comes after.
    n_sweeps, first_sweeps : int
        Sweeps of a pass, and of the first look at a row.
    survey_share : float
        Share of the rows that are asked what causes are worth.
    phase : Phase
        What this pass does.
    key : Key
        Where the strengths of a new layer come from.
    """

    spare: float = 1.0
    n_passes: int = 40
    n_sweeps: int = 3
    first_sweeps: int = 15
    survey_share: float = 1.0
    phase: Phase = Phase()
    key: Key = field(default_factory=partial(Key, 0))

    first_range: ClassVar[tuple[float, float] | None] = None  # of the first strengths; None: shares of the means
    upper_steps: ClassVar[int] = 20  # of eq 9 on the states of a pass, in upper layers: they cost no pass of their own
    stop_below: ClassVar[float] = 0.0  # rows whose largest probability of a change is below are not swept again

    promises = Promises(
        likelihood="estimate",
        monotone=False,
        deterministic=False,
        carry=True,
        accelerates=False,
        oracle="enumeration",
        why={
            "likelihood": "the states of a row are too many to add up",
            "monotone": "the states of a row are drawn at random",
            "deterministic": "the states of a row are drawn at random",
            "accelerates": "steps are random",
        },
    )
    stats_type = NoisyOrStats
    carry_type = RowStates

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: several looks at every one, for every cause."""
        K = max(with_spare(size, self.spare) for size in self.n_components)
        return Footprint(working=4 * K + row_cells, statistics=n_columns * (K + 1), flops=10 * row_cells * K)

    def size_at_first(self, layer: int) -> int:
        """Return how many causes a layer begins with."""
        return with_spare(self.n_components[layer], self.spare)

    def prior_of(self, layer: int, size: int) -> float:
        """Return P(S = 1) while `size` causes stand for those wanted: as many are on in a row."""
        wanted = self.n_components[layer]
        return first_prior(self.prior, wanted) * wanted / size

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> NoisyOrParams:
        """Return the lowest layer, with causes that are nearly alike."""
        size = self.size_at_first(0)
        f = first_strengths(summary.means, size, self.leak, self.first_range, key.rng())
        return NoisyOrParams.of([f], np.full(size, self.prior_of(0, size)))

    def with_next_layer(self, params: NoisyOrParams, key: Key) -> NoisyOrParams:
        """Return the network with the layer that comes next."""
        number = len(params.n_causes)
        size = self.size_at_first(number)
        return with_layer(params, size, self.prior_of(number, size), self.leak, self.first_range, key.rng())

    def surveys(self, params: NoisyOrParams) -> bool:
        """Whether this pass is to find out which causes can go."""
        spare = params.n_causes[-1] - self.n_components[len(params.n_causes) - 1]
        return self.phase.survey and spare > 0

    def expect(
        self, params: NoisyOrParams, shared: Network, block: Block, carry: RowStates | None, key: Key
    ) -> tuple[NoisyOrStats, RowStates]:
        """E-step: draw the states of every row a few times, and count."""
        rng, network = key.rng(), shared
        data = Ones.of_block(network.layers[0], block)
        states, fresh = states_of_rows(params, network, block.n_rows, carry, rng)
        active = np.ones(block.n_rows, bool)
        for _ in range(self.first_sweeps if fresh else self.n_sweeps):
            last = sweep(network, data, states, rng, None if active.all() else active)
            active &= last.flips >= self.stop_below
            if not active.any():
                break
        loss = np.zeros(len(params.priors))
        if self.surveys(params):
            rows = np.arange(min(SURVEY_ROWS, int(np.ceil(block.n_rows * self.survey_share))))
            gains = survey(network, data.take(rows), [s[rows] for s in states], self.n_sweeps, rng)
            loss = block.weights[rows] @ gains
        stats = replace(count(params, network, last, states, block), loss=loss)
        return stats, RowStates(np.packbits(np.concatenate(states, axis=1), axis=1), params.names)

    def update(self, params: NoisyOrParams, stats: NoisyOrStats) -> NoisyOrParams:
        """Return parameters moved by a share of the way to the M-step, those that learn now."""
        learns, share = self.phase.learns, self.phase.share
        return stepped(params, stats, learns, share, self.alpha, self.beta, self.center(params), self.upper_steps)


@dataclass(frozen=True)
class NoisyOrGibbs(NoisyOrSampler):
    """The model of a fit by full passes, with a plan for them; hyperparameters only."""

    settles: ClassVar[bool] = False

    @cached_property
    def plan(self) -> tuple[Phase, ...]:
        """What each pass of a fit does."""
        later = max(1, self.n_passes // 2)
        # In the second half 1/2, 1/3, ... of the way: the mean of what those passes saw.
        shares = [1.0 / max(1.0, number + 2.0 - later / 2.0) for number in range(later)]
        plan: list[Phase] = []
        for number, wanted in enumerate(self.n_components):
            plan += [Phase()] * self.n_passes
            survey = [Phase(survey=True), *[Phase()] * min(REFIT, self.n_passes)]
            plan += survey * n_surveys(self.size_at_first(number), wanted)
            plan[-1] = Phase(opens="leak")
            plan += [Phase("layer", share) for share in shares]
            plan[-1] = replace(plan[-1], opens="layer" if number + 1 < len(self.n_components) else None)
        return (*plan, *[Phase("network", share) for share in shares if len(self.n_components) > 1])

    @property
    def planned_passes(self) -> int:
        """Passes of the plan."""
        return len(self.plan)

    def of_pass(self, params: NoisyOrParams, key: Key, passes: Passes) -> NoisyOrGibbs:
        """Return the model of a pass."""
        return replace(self, phase=self.plan[key.pass_number], key=key.stream("stage", len(params.n_causes)))

    def update(self, params: NoisyOrParams, stats: NoisyOrStats) -> NoisyOrParams:
        """M-step for what learns now, or a smaller layer."""
        phase, number, size = self.phase, len(params.n_causes) - 1, params.n_causes[-1]
        if self.surveys(params):
            gone = least_missed(stats.loss, params.layers[-1][:-1], to_go(size, self.n_components[number]))
            return without(params, gone, self.prior_of(number, size - len(gone)))
        moved = super().update(params, stats)
        if phase.opens == "leak":
            return with_room_for_leak(moved)
        return self.with_next_layer(moved, self.key) if phase.opens == "layer" else moved


# The noisy-OR network as the paper learned it: weights again after every few hundred rows, states from scratch.
#
# Fitted by the engine's loop of random steps: every group of rows is drawn, counted and forgotten, and eq 9 is taken
# on that group alone. Layers share the epochs evenly, the lowest first. Priors stay as they are. Strengths begin
# between .05 and .15, and a row is drawn until no cause would change with a probability of .05.


@dataclass(frozen=True, eq=False)
class Steps(Arrays):
    """How many steps were taken: nothing else persists."""

    taken: Floats


@dataclass(frozen=True)
class NoisyOrBlocks(NoisyOrSampler):
    """The model; hyperparameters only, those of `NoisyOrSampler` and one more.

    Parameters
    ----------
    batch_rows : int
        Rows of a step.
    """

    batch_rows: int = 200

    first_range: ClassVar[tuple[float, float] | None] = 0.05, 0.15
    upper_steps: ClassVar[int] = 1
    stop_below: ClassVar[float] = 0.05
    memory_type = Steps

    def first_memory(self, params: NoisyOrParams, summary: ColumnSums, key: Key) -> Steps:
        """Return nothing to remember."""
        return Steps(np.zeros(()))

    def step(
        self, params: NoisyOrParams, memory: Steps, stats: NoisyOrStats, share_left: float, key: Key, run: Any
    ) -> tuple[NoisyOrParams, Steps, float]:
        """Return the network after eq 9 on one group of rows, and the group's log-joint, a row."""
        height = float(stats.bound) / float(stats.weight)
        params = self.update(params, stats)
        due = min(int((1.0 - share_left) * len(self.n_components) + 1e-9), len(self.n_components) - 1)
        if len(params.n_causes) <= due:
            params = self.with_next_layer(params, key)
        return params, Steps(memory.taken + 1.0), height

    def settle(self, params: NoisyOrParams, memory: Steps) -> NoisyOrParams:
        """Return parameters as a fit hands them over, with all layers even where there were too few steps."""
        for number in range(len(params.n_causes), len(self.n_components)):
            params = self.with_next_layer(params, Key(self.seed).stream("stage", number))
        return params
