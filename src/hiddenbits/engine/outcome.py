"""The result of a fit: `Outcome` has the best parameters and a `Restart` record, with its `StopReason`, per restart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hiddenbits.array_types import Floats


class StopReason(StrEnum):
    """Why a fit stopped; only `CONVERGED` counts as convergence.

    `SCHEDULE`: a fixed schedule is over, of random steps or of a model's plan. `BEHIND`: on a subsample of the rows
    another restart had a higher objective.
    """

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    TIME = "time"
    SCHEDULE = "schedule_done"
    CALLBACK = "callback"
    BEHIND = "behind_on_subsample"
    FELL = "objective_fell"
    NOT_FINITE = "not_finite"


@dataclass(frozen=True)
class Restart:
    """Record of a restart that has ended.

    Attributes
    ----------
    objective : float
        The last value of the objective (log-likelihood or bound, plus log prior), in nats over the whole table.
    n_iter : int
        Passes over the table.
    reason : StopReason
        Why it stopped.
    """

    objective: float
    n_iter: int
    reason: StopReason


@dataclass(frozen=True, eq=False)
class Outcome:
    """A finished fit.

    Attributes
    ----------
    params : Arrays
        Parameters of the best restart, after its last update.
    trace : ndarray of shape (n_iter,)
        The objective of each pass of that restart; a refused extrapolation repeats the value before it.
    stages : tuple of int
        The passes after which a new stage began, such as the next split of classes; the objective may fall there.
    best : int
        Number of the best restart.
    restarts : tuple of Restart
        Records of all restarts.
    independent : float or None
        Mean log-likelihood of a row under independent columns; None if the table is not binary.
    """

    params: Any
    trace: Floats
    stages: tuple[int, ...]
    best: int
    restarts: tuple[Restart, ...]
    independent: float | None = None
