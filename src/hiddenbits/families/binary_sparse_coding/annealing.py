"""`Annealing`: how a fit of binary sparse coding begins, and what changes from pass to pass."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Literal

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions


class Annealing(BaseEstimator):  # type: ignore[misc]
    """The schedule of a fit of `BinarySparseCoding`.

    Parameters
    ----------
    n_passes : int, default=60
        Passes of the schedule.
    temperature : float, default=3.0
        The posterior of the first pass is flattened by this much, prior and likelihood; it falls to 1 over 80% of the
        schedule.
    wide_candidates, wide_active : int, default=8 and 5
        `n_candidates` and `max_active` for the last quarter of the schedule, and for scoring; up to 12 causes are
        scored with all states.
    data_cut : bool, default=True
        Leave those rows out of the updates that have more causes on than the states allow: as many as the activity
        lets expect, but at most 90%, those with the least likelihood. Costs a second look at all rows in each pass.
    cut_from, cut_to : float, default=1/3 and 2/3
        Shares of the schedule between which the cut sets in.
    jitter : float, default=0.0
        Standard deviation of noise that is added to the fields after every pass.
    settle : bool, default=True
        Go on after the schedule until the objective stands still; otherwise the end of the schedule is the end.
    start : {"noise", "mean"}, default="noise"
        Fields of pure noise, or the mean row with a little noise.
    start_scale : float, optional
        Standard deviation of that noise; by default a third of that of the columns (a hundredth with "mean").
    start_active : float, default=5.0
        Expected number of causes that are on in a row, at first; at most half of them.

    Examples
    --------
    >>> from hiddenbits import Annealing, BinarySparseCoding
    >>> BinarySparseCoding(10, schedule=Annealing(n_passes=100, temperature=5.0))
    BinarySparseCoding(schedule=Annealing(n_passes=100, temperature=5.0))
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_passes": [Interval(Integral, 0, None, closed="left")],
        "temperature": [Interval(Real, 1, None, closed="left")],
        **{name: [Interval(Integral, 1, None, closed="left")] for name in ("wide_candidates", "wide_active")},
        "data_cut": ["boolean"],
        **{name: [Interval(Real, 0, 1, closed="both")] for name in ("cut_from", "cut_to")},
        "jitter": [Interval(Real, 0, None, closed="left")],
        "settle": ["boolean"],
        "start": [StrOptions({"noise", "mean"})],
        "start_scale": [Interval(Real, 0, None, closed="neither"), None],
        "start_active": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_passes: int = 60,
        temperature: float = 3.0,
        wide_candidates: int = 8,
        wide_active: int = 5,
        data_cut: bool = True,
        cut_from: float = 1 / 3,
        cut_to: float = 2 / 3,
        jitter: float = 0.0,
        settle: bool = True,
        start: Literal["noise", "mean"] = "noise",
        start_scale: float | None = None,
        start_active: float = 5.0,
    ) -> None:
        self.n_passes = n_passes
        self.temperature = temperature
        self.wide_candidates = wide_candidates
        self.wide_active = wide_active
        self.data_cut = data_cut
        self.cut_from = cut_from
        self.cut_to = cut_to
        self.jitter = jitter
        self.settle = settle
        self.start = start
        self.start_scale = start_scale
        self.start_active = start_active
