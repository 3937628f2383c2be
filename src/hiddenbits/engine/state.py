"""Where a fit stands, how it is to go, and who keeps and watches it: what all loops share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays
from hiddenbits.data.summary import ColumnSums
from hiddenbits.engine.outcome import Restart
from hiddenbits.engine.row_memory import RowMemory

# Extrapolation begins after this many plain passes: earlier it more often lands in the basin of another maximum.
# benchmarks/results/mixture.md has what it gains and how often it ends below plain EM. What begins close to its end,
# a refinement or a fit that goes on from a subsample, needs fewer.
PLAIN_PASSES, PLAIN_PASSES_FROM_FIT = 10, 3


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """Where the extrapolation stands between two passes.

    Attributes
    ----------
    begins_after : int
        Plain passes before the first extrapolation.
    tried : bool
        The next pass looks at an extrapolation.
    theta0 : ndarray or None
        The first point of the three, in the model's coordinates.
    longest : float
        The longest extrapolation allowed now; it grows when reached and shrinks when an extrapolation fails.
    at_limit : bool
        Whether the extrapolation under way is the longest allowed.
    """

    begins_after: int = PLAIN_PASSES
    tried: bool = False
    theta0: Floats | None = None
    longest: float = 4.0
    at_limit: bool = False


@dataclass(frozen=True, eq=False)
class Running:
    """Statistics so far, per unit of weight.

    Attributes
    ----------
    stats : Arrays or None
        The running average.
    steps : int
        Updates so far.
    weight : float
        Weight of all the rows seen: what the average stands for when the prior is weighed against it.
    """

    stats: Any = None
    steps: int = 0
    weight: float = 0.0

    def with_group(self, stats: Arrays, weight: float, forgetting: float) -> Running:
        """Return the average after one more group."""
        share = (weight / (self.weight + weight)) ** forgetting
        average = stats.scaled(share / weight)
        if self.stats is not None:
            average += self.stats.scaled(1.0 - share)
        return Running(average, self.steps + 1, self.weight + weight)


@dataclass(frozen=True, eq=False)
class Online:
    """How far the online passes of a restart are: how many were made, and the statistics that they average."""

    passes: int = 0
    running: Running = field(default_factory=Running)


@dataclass(frozen=True, eq=False)
class Best:
    """The best of the restarts that have ended: its number, -1 before the first, and what is reported of it."""

    restart: int = -1
    params: Any = None
    trace: tuple[float, ...] = ()
    stages: tuple[int, ...] = ()
    stage: int = 0


@dataclass(frozen=True)
class Settings:
    """How to fit: what belongs to the loop and not to a model."""

    n_init: int = 1
    max_iter: int = 1000
    max_time: float | None = None  # seconds
    tol: float = 1e-6
    online_passes: int = 0
    start_rows: int | None = None  # run each restart on about this many rows first; None: use all rows throughout
    accelerate: bool = True
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Position:
    """Where a fit stands between two passes: all that the next pass depends on, and all that a checkpoint holds.

    Attributes
    ----------
    restart : int
        Number of the restart.
    params : Params or None
        What the next pass looks at; None before the start of a restart.
    safe : Params or None
        The last M-step result: a refused extrapolation returns to it, and the fit ends with it.
    refused : bool
        The last pass was refused: it tells nothing about gains.
    objective : float
        What the last pass found, at the parameters before the update; -inf before the first pass of a stage.
    trace : tuple of float
        The objective of each pass of the restart; a refused pass repeats the one before.
    stage : int
        Which of the models that a fit goes through it is at.
    stages : tuple of int
        The number of passes after which each later stage began, or a model grew.
    online : Online
        Online passes.
    extrapolation, row_memory
        EM: where the extrapolation stands, and what rows remember from pass to pass.
    memory : Arrays or None
        Random steps: what persists from step to step, such as the states of chains.
    finished : tuple of Restart
        The restarts that have ended.
    best : Best
        The best of them.
    """

    restart: int = 0
    params: Any = None
    safe: Any = None
    refused: bool = False
    objective: float = -np.inf
    trace: tuple[float, ...] = ()
    stage: int = 0
    stages: tuple[int, ...] = ()
    online: Online = field(default_factory=Online)
    extrapolation: Extrapolation = field(default_factory=Extrapolation)
    row_memory: RowMemory | None = None
    memory: Any = None
    finished: tuple[Restart, ...] = ()
    best: Best = field(default_factory=Best)

    @property
    def n_passes(self) -> int:
        """Passes since the present stage began."""
        return len(self.trace) - (self.stages[-1] if self.stages else 0)

    @property
    def last_gain(self) -> float | None:
        """What the last pass gained; inf if it was refused, None before the second pass of a stage."""
        if self.n_passes < 2:
            return None
        return np.inf if self.refused else self.trace[-1] - self.trace[-2]


class CheckpointStore(Protocol):
    """Keeps positions: a checkpoint file, or nothing."""

    def load(self, summary: ColumnSums) -> Position | None:
        """Return the position to continue from, None to begin."""
        ...

    def save(self, position: Position, summary: ColumnSums) -> None:
        """Keep a position of the fit to the table with this summary."""
        ...

    def beside(self, name: str) -> CheckpointStore:
        """Return the store of a part of the same fit, with a file of its own."""
        ...

    def drop(self) -> None:
        """Forget what was kept."""
        ...


Watch = Callable[[Position, bool], bool]
"""Called after every pass with False, and with True where a restart is over; returning True asks it to stop."""
