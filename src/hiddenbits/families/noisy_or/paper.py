"""The noisy-OR network as the paper learned it: weights again after every few hundred rows, states from scratch.

Fitted by the engine's loop of random steps: every group of rows is drawn, counted and forgotten, and eq 9 is taken on
that group alone. Layers share the epochs evenly, the lowest first. Priors stay as they are. Strengths begin between
.05 and .15, and a row is drawn until no cause would change with a probability of .05.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.data.summary import Summary
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrGibbs
from hiddenbits.families.noisy_or.params import NoisyOrParams
from hiddenbits.families.noisy_or.start import with_layer
from hiddenbits.families.noisy_or.statistics import NoisyOrStats
from hiddenbits.model_api import Key


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
