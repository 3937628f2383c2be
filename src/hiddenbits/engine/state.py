"""The state of a fit between two passes (`Position`) and its settings: what all loops share.

A `Position` is immutable; each pass returns a new one. The next pass evaluates `params`; `safe` are the
parameters to return to and to end with. They differ only if `params` are an extrapolation. A restart begins with a
Position without parameters. When it ends, its record is added to `finished`, and `best` has the parameters of the best
restart so far. So the last Position of a fit holds its result, and a Position on disk is a checkpoint.
"""

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

# The pass of a stage that may be the first of an extrapolation: earlier, it leads to another local maximum more often
# (benchmarks/results/mixture.md has the gains of extrapolation, and how often it ends below plain EM). A refinement, or
# a fit that continues from a subsample, begins close to its end and needs fewer plain passes.
PLAIN_PASSES, PLAIN_PASSES_FROM_FIT = 10, 3


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """State of the extrapolation between two passes.

    Attributes
    ----------
    begins_after : int
        Number of the pass, in its stage, from which on its parameters may be `theta0`. The first extrapolation is
        evaluated two passes later.
    tried : bool
        The next pass evaluates an extrapolation.
    theta0 : ndarray or None
        The first of the three points of an extrapolation, in the model's coordinates.
    longest : float
        The longest extrapolation allowed now; it grows when reached, and shrinks when one is refused.
    at_limit : bool
        Whether the extrapolation to be evaluated is the longest allowed.
    """

    begins_after: int = PLAIN_PASSES
    tried: bool = False
    theta0: Floats | None = None
    longest: float = 4.0
    at_limit: bool = False


@dataclass(frozen=True, eq=False)
class Running:
    """Running average of statistics in online EM, per unit of weight.

    Attributes
    ----------
    stats : Arrays or None
        The running average.
    steps : int
        Updates so far.
    weight : float
        Weight of all rows so far: the average counts for this weight against the prior.
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
    """Online passes of a restart: how many were made, and the running average of their statistics."""

    passes: int = 0
    running: Running = field(default_factory=Running)


@dataclass(frozen=True, eq=False)
class Best:
    """The best of the restarts that have ended: its number, -1 before the first, and its results."""

    restart: int = -1
    params: Any = None
    trace: tuple[float, ...] = ()
    stages: tuple[int, ...] = ()
    stage: int = 0


@dataclass(frozen=True)
class Settings:
    """How to fit: settings of the loops, not of a model."""

    n_init: int = 1
    max_iter: int = 1000
    max_time: float | None = None  # seconds
    tol: float = 1e-6
    online_passes: int = 0
    start_rows: int | None = None  # run each restart on about this many rows first; None: always on all rows
    accelerate: bool = True
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Position:
    """State of a fit between two passes: all that the next pass depends on, and all that a checkpoint holds.

    Attributes
    ----------
    restart : int
        Number of the restart.
    params : Params or None
        Parameters that the next pass evaluates; None before the start of a restart.
    safe : Params or None
        The start or the last M-step result: a refused extrapolation returns to it, and the fit ends with it.
    refused : bool
        The last pass was a refused extrapolation, so it has no gain.
    objective : float
        Objective of the last accepted pass, at the parameters before the update; -inf before the first of a stage.
    trace : tuple of float
        The objective of each pass of the restart; a refused pass repeats the one before.
    stage : int
        Number of the stage.
    stages : tuple of int
        The number of passes after which each later stage began, or a model grew.
    online : Online
        State of online EM.
    extrapolation, row_memory
        EM: the state of the extrapolation, and what is stored about each row from pass to pass.
    memory : Arrays or None
        Random steps: what persists from step to step, such as the states of chains.
    finished : tuple of Restart
        Records of the restarts that have ended.
    best : Best
        The best of these restarts.
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
        """Passes of the current stage."""
        return len(self.trace) - (self.stages[-1] if self.stages else 0)

    @property
    def last_gain(self) -> float | None:
        """Gain of the last pass; inf if it was refused, None before the second pass of a stage."""
        if self.n_passes < 2:
            return None
        return np.inf if self.refused else self.trace[-1] - self.trace[-2]


class CheckpointStore(Protocol):
    """Saves and loads positions: `Checkpoint` does so in a file."""

    def load(self, summary: ColumnSums) -> Position | None:
        """Return the saved position, or None if there is none."""
        ...

    def save(self, position: Position, summary: ColumnSums) -> None:
        """Save a position of the fit to the table with this summary."""
        ...

    def for_part(self, name: str) -> CheckpointStore:
        """Return the store for a part of the same fit, in another file."""
        ...

    def drop(self) -> None:
        """Delete what was saved."""
        ...


Watch = Callable[[Position, bool], bool]
"""The callbacks: called after every pass with False, after a restart with True. A restart stops if one returns True."""
