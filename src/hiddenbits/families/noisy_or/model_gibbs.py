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

At the end all layers learn together. The clock in the parameters says where all this stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import Summary
from hiddenbits.families.noisy_or.gibbs import Ones, sweep
from hiddenbits.families.noisy_or.params import (
    JOINT,
    LEARN,
    SETTLE,
    NoisyOrParams,
    at,
    log_prior,
)
from hiddenbits.families.noisy_or.rows import SampledRows, Shared
from hiddenbits.families.noisy_or.start import (
    first_prior,
    first_strengths,
    least_missed,
    with_layer,
    with_room_for_leak,
    with_spare,
    without,
)
from hiddenbits.families.noisy_or.statistics import NoisyOrStats, RowStates, count, states_of_rows, stepped, survey
from hiddenbits.model_api import Footprint, Key, Passes, Promises

REFIT = 3  # passes after some causes were removed
SURVEY_ROWS, SURVEY_TABLE = 512, 5_000  # of each block, and of the table, from which the value of a cause is judged
MANY = 20  # spare causes, of which half go at a time; of fewer a quarter


@dataclass(frozen=True)
class NoisyOrGibbs(SampledRows):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : list of int
        Causes of each layer, the lowest first.
    alpha, beta : float
        Shape and rate of the gamma prior of every weight.
    prior : float or None
        P(cause on) while a layer learns; None means about three causes on in a row.
    leak : float
        P(bit on without a cause) while a layer learns, at most.
    spare : float
        Further causes that a layer begins with, as a share.
    n_passes : int
        Passes in which a layer learns; half as many for what comes after.
    n_sweeps, first_sweeps : int
        Sweeps of a pass, and of the first look at a row.
    seed : int
        Of what verbs draw.
    """

    n_components: list[int] = field(default_factory=lambda: [2])
    alpha: float = 1.0
    beta: float = 1.5
    prior: float | None = None
    leak: float = 1e-3
    spare: float = 1.0
    n_passes: int = 40
    n_sweeps: int = 3
    first_sweeps: int = 15
    seed: int = 0

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
        scheduled=True,
    )
    params_type = NoisyOrParams
    stats_type = NoisyOrStats
    carry_type = RowStates

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: several looks at every one, for every cause."""
        K = max(with_spare(size, self.spare) for size in self.n_components)
        return Footprint(working=4 * K + row_cells, statistics=n_columns * (K + 1), flops=10 * row_cells * K)

    def first_range(self) -> tuple[float, float] | None:
        """Return between which numbers the first strengths are drawn, None for shares of the means."""
        return None

    def size_at_first(self, layer: int) -> int:
        """Return how many causes a layer begins with."""
        return with_spare(self.n_components[layer], self.spare)

    def prior_of(self, layer: int, size: int) -> float:
        """Return P(S = 1) while `size` causes stand for those wanted: as many are on in a row."""
        wanted = self.n_components[layer]
        return first_prior(self.prior, wanted) * wanted / size

    def start(self, summary: Summary, key: Key, passes: Passes) -> NoisyOrParams:
        """Return the lowest layer, with causes that are nearly alike."""
        rng = key.rng()
        size = self.size_at_first(0)
        f = first_strengths(summary.means, size, self.leak, self.first_range(), rng)
        clock = (0.0, LEARN, 0.0, float(rng.integers(2**31)), 0.0, float(summary.rows))
        return NoisyOrParams.of([f], np.full(size, self.prior_of(0, size)), clock)

    # ------------------------------------------------------------------------------------------------ a pass

    def expect(
        self, params: NoisyOrParams, shared: Shared, block: Block, carry: RowStates | None, key: Key
    ) -> tuple[NoisyOrStats, RowStates]:
        """E-step: draw the states of every row a few times, and count."""
        rng, network = key.rng(), shared.network
        data = Ones.of_block(network.layers[0], block)
        states, fresh = states_of_rows(params, network, block.n_rows, carry, rng)
        active = np.ones(block.n_rows, bool)
        for _ in range(self.first_sweeps if fresh else self.n_sweeps):
            last = sweep(network, data, states, rng, None if active.all() else active)
            active &= last.flips >= self.stop_below
            if not active.any():
                break
        loss, surveyed = np.zeros(len(params.priors)), 0.0
        if self._surveys(params):
            rows = np.arange(_before_pass(block.n_rows, params.clock[5]))
            gains = survey(network, data.take(rows), [s[rows] for s in states], self.n_sweeps, rng)
            loss, surveyed = block.weights[rows] @ gains, float(block.weights[rows].sum())
        stats = replace(count(params, network, last, states, block), loss=loss, surveyed=np.asarray(surveyed))
        return stats, RowStates(np.packbits(np.concatenate(states, axis=1), axis=1), params.names)

    def objective(self, params: NoisyOrParams, stats: NoisyOrStats) -> float:
        """Return the log-joint of bits and drawn states, and the log prior of the weights."""
        centre = first_prior(self.prior, self.n_components[int(params.clock[0])])
        return float(stats.bound) + log_prior(params, self.alpha, self.beta, centre)

    def update(self, params: NoisyOrParams, stats: NoisyOrStats) -> NoisyOrParams:
        """M-step for what learns now, and on with the clock."""
        layer, phase, passes, *_ = params.clock.tolist()
        number = int(layer)
        size, wanted = params.n_causes[-1], self.n_components[number]
        if self._surveys(params):
            many = size - wanted
            gone = least_missed(stats.loss, params.layers[-1][:-1], many // 2 if many > MANY else -(-many // 4))
            pruned = without(params, gone, self.prior_of(number, size - len(gone)))
            return at(pruned, LEARN, max(self.n_passes - REFIT, 0))
        moved = self.stepped(params, stats, self._share(phase, passes))
        return self._next(at(moved, phase, passes + 1.0))

    def stepped(self, params: NoisyOrParams, stats: NoisyOrStats, share: float) -> NoisyOrParams:
        """Return parameters moved by a share of the way to the M-step, those that learn now."""
        centre = first_prior(self.prior, self.n_components[int(params.clock[0])])
        return stepped(params, stats, share, self.alpha, self.beta, centre, self.upper_steps)

    # ------------------------------------------------------------------------------------------------ the clock

    @property
    def _later_passes(self) -> int:
        return max(1, self.n_passes // 2)

    def _surveys(self, params: NoisyOrParams) -> bool:
        """Whether this pass is to find out which causes can go."""
        layer, phase, passes, *_ = params.clock.tolist()
        return bool(phase == LEARN and passes >= self.n_passes and params.n_causes[-1] > self.n_components[int(layer)])

    def _share(self, phase: float, passes: float) -> float:
        """Return 1, and in the second half of a last phase 1/2, 1/3, ...: the mean of what those passes found."""
        return 1.0 if phase == LEARN else 1.0 / max(1.0, passes + 2.0 - self._later_passes / 2.0)

    def _next(self, params: NoisyOrParams) -> NoisyOrParams:
        """Return parameters at the next phase, where this one is over."""
        layer, phase, passes, *_ = params.clock.tolist()
        number, last = int(layer), int(layer) + 1 == len(self.n_components)
        if phase == LEARN and (passes < self.n_passes or params.n_causes[-1] > self.n_components[number]):
            return params
        if phase == LEARN:
            return at(with_room_for_leak(params), SETTLE, 0.0)
        if phase == SETTLE and passes < self._later_passes:
            return params
        if phase != JOINT and not last:
            size = self.size_at_first(number + 1)
            return with_layer(params, size, self.prior_of(number + 1, size), self.leak, self.first_range())
        if phase == SETTLE and number > 0:
            return at(params, JOINT, 0.0)
        return params

    def schedule_state(self, params: NoisyOrParams) -> Literal["running", "over"]:
        """Whether the plan continues: an objective that rises and falls by chance is never judged."""
        return "over" if self._done(params) else "running"

    def _done(self, params: NoisyOrParams) -> bool:
        layer, phase, passes, *_ = params.clock.tolist()
        if int(layer) + 1 < len(self.n_components) or params.n_causes[-1] > self.n_components[-1]:
            return False
        return bool(phase == (JOINT if layer else SETTLE) and passes >= self._later_passes)


def _before_pass(n_rows: int, of_table: float) -> int:
    """Return how many rows of a block are asked about their causes."""
    share = min(1.0, SURVEY_TABLE / max(of_table, 1.0))
    return min(SURVEY_ROWS, int(np.ceil(n_rows * share)))


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
class NoisyOrBlocks(NoisyOrGibbs):
    """The model; hyperparameters only. Those of `NoisyOrGibbs`, and

    Parameters
    ----------
    batch_rows : int
        Rows of a step.
    """  # noqa: D400

    batch_rows: int = 200

    upper_steps: ClassVar[int] = 1
    stop_below: ClassVar[float] = 0.05
    memory_type = Steps

    def first_range(self) -> tuple[float, float]:
        """Return between which numbers the first strengths are drawn."""
        return 0.05, 0.15

    def first_memory(self, params: NoisyOrParams, summary: Summary, key: Key) -> Steps:
        """Return nothing to remember."""
        return Steps(np.zeros(()))

    def step(
        self, params: NoisyOrParams, memory: Steps, stats: NoisyOrStats, share_left: float, key: Key, run: Any
    ) -> tuple[NoisyOrParams, Steps, float]:
        """Return the network after eq 9 on one group of rows, and the group's log-joint, a row."""
        height = float(stats.bound) / float(stats.weight)
        params = self.stepped(params, stats, 1.0)
        due = min(int((1.0 - share_left) * len(self.n_components) + 1e-9), len(self.n_components) - 1)
        if len(params.n_causes) <= due:
            size = self.size_at_first(due)
            params = with_layer(params, size, self.prior_of(due, size), self.leak, self.first_range())
        return params, Steps(memory.taken + 1.0), height

    def settle(self, params: NoisyOrParams, memory: Steps) -> NoisyOrParams:
        """Return parameters as a fit hands them over, with all layers even where there were too few steps."""
        for number in range(len(params.n_causes), len(self.n_components)):
            size = self.size_at_first(number)
            params = with_layer(params, size, self.prior_of(number, size), self.leak, self.first_range())
        return params
