"""What a pass of EM means for the fit: one pure function, and the verdicts that it can return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, Protocol

import numpy as np

# A fall of the objective within this share of its size, or by this much a row, is rounding: of a table whose rows are
# nearly certain the objective is next to nothing, and the terms that were added are not.
ROUNDING = 1e-10


class Verdict(Enum):
    """What a pass means."""

    REVERT = auto()  # an extrapolation or a speculative step lowered the objective: back to the last sure update
    DIVERGED = auto()  # the objective is not a number
    PLANNED = auto()  # the model's schedule is running or over: gains and falls mean nothing
    ACCEPTED = auto()  # an extrapolation did not lower the objective: a plain step follows
    FELL = auto()  # the objective of a model fell that promises it never does
    RECOVERING = auto()  # it fell because row memory was lost with a worker: it comes back
    CONVERGED = auto()  # the gain is within the tolerance
    CONTINUE = auto()


class Seen(Protocol):
    """What `judge` asks of a pass."""

    @property
    def objective(self) -> float:
        """The objective that the pass found."""

    @property
    def schedule(self) -> Literal["running", "free", "over"]:
        """Where the model's schedule is after the update; "free" where it has none."""

    @property
    def memory_may_be_lost(self) -> bool:
        """Whether rows have memory that a worker may have taken with it."""


@dataclass(frozen=True)
class Rules:
    """What a fit is judged by."""

    limit: float  # gain that counts as none, in nats over the table
    weight: float  # of all rows
    monotone: bool  # the model promises that the objective never falls
    scheduled: bool  # the objective may also end by falling a little


def judge(
    seen: Seen, rules: Rules, *, before: float, tentative: bool, extrapolated: bool, last_gain: float | None
) -> Verdict:
    """Return what a pass means; the first rule that applies decides.

    Parameters
    ----------
    seen : Seen
        What the pass found.
    rules : Rules
        What the fit is judged by.
    before : float
        The objective of the pass before; -inf in the first pass of a stage.
    tentative : bool
        The pass looked at an extrapolation or a speculative step, from which there is a way back.
    extrapolated : bool
        It looked at an extrapolation.
    last_gain : float or None
        What the pass before gained; None where the stage has had fewer than two.
    """
    if tentative and not seen.objective >= before:  # also where it is not a number
        return Verdict.REVERT
    if not np.isfinite(seen.objective):
        return Verdict.DIVERGED
    if seen.schedule != "free":
        return Verdict.PLANNED
    if extrapolated:
        return Verdict.ACCEPTED
    gain = seen.objective - before
    if rules.monotone and gain < -ROUNDING * max(abs(seen.objective), rules.weight):
        return Verdict.RECOVERING if seen.memory_may_be_lost else Verdict.FELL
    small = (abs(gain) if rules.scheduled else gain) <= rules.limit
    # A small gain right after a larger one may only mean that row memory was lost.
    quick_before = last_gain is not None and last_gain > rules.limit
    if small and not (seen.memory_may_be_lost and quick_before):
        return Verdict.CONVERGED
    return Verdict.CONTINUE
