"""What a pass of EM means for the fit: one pure function, and the verdicts that it can return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, Protocol

import numpy as np

# Falls up to this share of max(|objective|, weight of the rows) are rounding; the weight, because the objective can be
# near 0 although the terms that were added are not. COARSE is for models that do not promise monotonicity: float32.
ROUNDING, COARSE = 1e-10, 1e-5


class Verdict(Enum):
    """What a pass means."""

    REVERT = auto()  # an extrapolation or a speculative step lowered the objective: back to the last sure update
    DIVERGED = auto()  # the objective is not a number
    PLANNED = auto()  # the model's schedule is running or over: gains and falls mean nothing
    ACCEPTED = auto()  # an extrapolation did not lower the objective: a plain step follows
    FELL = auto()  # the objective fell by more than rounding
    RECOVERING = auto()  # it fell, but rows may have lost their memory with a worker: it comes back
    CONVERGED = auto()  # the gain is within the tolerance
    CONTINUE = auto()


class Seen(Protocol):
    """What `judge` asks of a pass."""

    @property
    def objective(self) -> float:
        """The objective that the pass found."""

    @property
    def schedule(self) -> Literal["running", "free", "settled", "over"]:
        """Where the model's schedule is after the update; "free" where it has none."""

    @property
    def memory_may_be_missing(self) -> bool:
        """Whether rows that should remember the pass before may not."""


@dataclass(frozen=True)
class Rules:
    """What a fit is judged by."""

    limit: float  # gain that counts as none, in nats over the table
    weight: float  # of all rows, at least 1
    monotone: bool  # the model promises that the objective never falls
    scheduled: bool  # the model has a schedule: after it a small change of either sign counts as converged


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
        What the pass before gained: inf if it was refused, None before the second pass of a stage.
    """
    if tentative and not seen.objective >= before:  # also where it is not a number
        return Verdict.REVERT
    if not np.isfinite(seen.objective):
        return Verdict.DIVERGED
    if seen.schedule == "settled":
        return Verdict.CONVERGED
    if seen.schedule != "free":
        return Verdict.PLANNED
    if extrapolated:
        return Verdict.ACCEPTED
    gain = seen.objective - before
    rounding = (ROUNDING if rules.monotone else COARSE) * max(abs(seen.objective), rules.weight)
    if gain < -rounding and not rules.scheduled:
        return Verdict.RECOVERING if seen.memory_may_be_missing else Verdict.FELL
    small = (abs(gain) if rules.scheduled else gain) <= rules.limit
    # Lost memory understates the gain: after a large one another pass decides.
    quick_before = last_gain is not None and last_gain > rules.limit
    if small and not (seen.memory_may_be_missing and quick_before):
        return Verdict.CONVERGED
    return Verdict.CONTINUE
