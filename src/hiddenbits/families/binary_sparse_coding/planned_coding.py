"""Hyperparameters of binary sparse coding, its starts, the planned course of a fit, and equation 8.

How the fields of causes add up, and their update, is in `model.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import Summary
from hiddenbits.families.binary_sparse_coding.params import EVERY_ROW, LEAST_ACTIVE, CodingParams, RowScores
from hiddenbits.families.binary_sparse_coding.rows import CodingRows, CodingShared, kernels_for, runs_of, whole_scores
from hiddenbits.families.binary_sparse_coding.truncated_posterior import Prepared, active_shares, squares_of, truncation
from hiddenbits.model_api import Key, Passes, Promises

# A planned course of a fit: what falls, and what widens, from pass to pass.


@dataclass(frozen=True)
class Schedule:
    """How a fit that counts its steps goes.

    Parameters
    ----------
    n_steps : int
        Length; afterwards everything stays as it is at the end.
    temperature : float
        Temperature of the first step; it falls evenly to 1.
    cooled_at : float
        Share of the steps after which it is 1.
    cut_from, cut_to : float
        Shares of the steps between which the data cut sets in.
    wide_at : float
        Share of the steps after which more states are looked at.
    """

    n_steps: int = 60
    temperature: float = 1.0
    cooled_at: float = 0.8
    cut_from: float = 1 / 3
    cut_to: float = 2 / 3
    wide_at: float = 0.75

    def __post_init__(self) -> None:
        if self.cut_from > self.cut_to:
            raise ValueError(f"cut_from={self.cut_from} is after cut_to={self.cut_to}: swap them.")

    def heat(self, step: float) -> float:
        """Return the temperature of a step.

        Examples
        --------
        >>> [Schedule(10, temperature=5.0).heat(step) for step in (0, 4, 8, 20)]
        [5.0, 3.0, 1.0, 1.0]
        """
        return self.temperature + (1.0 - self.temperature) * self.cooled(step)

    def cooled(self, step: float) -> float:
        """Return how far the temperature has fallen: 0 is not at all, 1 is all the way."""
        return self._way(step, 0.0, self.cooled_at)

    def cut(self, step: float) -> float:
        """Return how far the data cut has set in: 0 is not at all, 1 is to its full size."""
        return self._way(step, self.cut_from, self.cut_to)

    def is_wide(self, step: float) -> bool:
        """Whether more states are looked at."""
        return step >= self.wide_at * self.n_steps

    def is_over(self, step: float) -> bool:
        """Whether all steps have been made."""
        return step >= self.n_steps

    def _way(self, step: float, begin: float, end: float) -> float:
        """Return the share of the way from `begin` to `end` that has been gone."""
        first, last = begin * self.n_steps, end * self.n_steps
        if step >= last:
            return 1.0
        return max(0.0, (step - first) / (last - first))


RIDGE = 1e-9  # of the mean of Sum <s>: where rows say nothing of a field, it stays as it is
LEAST_NOISE = 1e-6  # of the spread: a table without any noise would have sigma 0, and an infinite likelihood
LEAST_KEPT = 0.1  # of the rows, whatever the cut: where most causes are on, next to none would be left
REPAIRED, REPAIR_STEPS = 3, 25  # fields that a repair draws again, and the steps it takes


@dataclass(frozen=True, eq=False)
class Spread(Arrays):
    """Sum w (y - mean)^2 and weight of the observed cells of each column."""

    squares: Floats
    observed: Floats


@dataclass(frozen=True)
class PlannedCoding(CodingRows):
    """The hyperparameters, and what follows from them alone.

    Parameters
    ----------
    n_components : int
        H.
    n_candidates, max_active : int
        H' and gamma.
    wide_candidates, wide_active : int
        H' and gamma towards the end of the schedule.
    shared_activity : bool
        One pi for all causes.
    start_from : {"noise", "mean"}
        W of pure noise, or the mean row with a little noise.
    start_scale : float or None
        Standard deviation of that noise; None means a third of the spread of the table (a hundredth with "mean").
    start_active : float
        Expected number of causes that are on, at the start.
    cut : bool
        Leave out the rows that truncated states cannot explain.
    jitter : float
        Standard deviation of the noise that is added to W after every step.
    schedule : Schedule
        Temperature, cut and widening.
    settles : bool
        Go on after the schedule until the objective stands still.
    dtype : {"float64", "float32"}
        Of the products over rows; sums, and the updates, are in float64.
    """

    n_components: int = 10
    n_candidates: int = 5
    max_active: int = 3
    wide_candidates: int = 8
    wide_active: int = 5
    shared_activity: bool = True
    start_from: Literal["noise", "mean"] = "noise"
    start_scale: float | None = None
    start_active: float = 5.0
    cut: bool = True
    jitter: float = 0.0
    schedule: Schedule = field(default_factory=Schedule)
    settles: bool = True
    dtype: Literal["float64", "float32"] = "float64"

    params_type: ClassVar[Any] = CodingParams
    stats_type: ClassVar[Any]
    carry_type: ClassVar[Any] = None

    @property
    def promises(self) -> Promises:
        """What holds for every fit."""
        H = self.n_components
        every_state = min(self.n_candidates, self.wide_candidates, self.max_active, self.wide_active) >= H
        plain = every_state and not self.cut and self.jitter == 0.0 and self.schedule.temperature == 1.0
        why = {"accelerates": "candidates change from pass to pass"}
        if not plain:
            why["monotone"] = "states and rows are left out, and which ones changes from pass to pass"
        if self.row_states != (H, H):
            why["likelihood"] = "states with many causes on are left out: a lower bound"
        return Promises(
            likelihood="exact" if self.row_states == (H, H) else "bound",
            monotone=plain and self.dtype == "float64",
            deterministic=True,
            carry=False,
            accelerates=False,
            oracle="enumeration",
            why=why,
            scheduled=True,
            looks_before_pass=self.cut,
        )

    def _states(self, step: float) -> Any:
        wide, H = self.schedule.is_wide(step), self.n_components
        c = min(self.wide_candidates if wide else self.n_candidates, H)
        return truncation(c, min(self.wide_active if wide else self.max_active, c))

    def _gamma(self, step: float) -> int:
        return int(self._states(step).max_active)

    # ---------------------------------------------------------------------------------- in `model.py`

    @abstractmethod
    def expect(
        self, params: CodingParams, shared: CodingShared, block: Block, carry: None, key: Key
    ) -> tuple[Any, None]:
        """Return the statistics of a block."""

    @abstractmethod
    def first_noise(self, params: CodingParams, stats: Any) -> float:
        """Return sigma from (7), with the fields of a start."""

    # ------------------------------------------------------------------------------------------------ starts

    def start(self, summary: Summary, key: Key, passes: Passes) -> CodingParams:
        """Return W of noise (or about the mean row), and the noise that the table would have without causes."""
        H, rng = self.n_components, key.rng()
        mean = summary.ones / np.maximum(summary.observed, 1e-300)  # of reals these are the sums
        found: Spread = passes(partial(_spread, mean))
        spread = float(np.sqrt(np.mean(found.squares / np.maximum(found.observed, 1e-300)))) or 1.0
        about, scale = (np.zeros_like(mean), spread / 3.0) if self.start_from == "noise" else (mean, spread / 100.0)
        scale = scale if self.start_scale is None else self.start_scale
        pi = min(self.start_active / H, 0.5)
        params = CodingParams(
            about[:, None] + scale * rng.standard_normal((len(mean), H)),
            np.full(H, pi),
            np.asarray(spread),
            np.asarray(spread),
            np.zeros(()),
            np.array([key.seed, key.restart], np.float64),
            np.array(EVERY_ROW),
        )
        if self.start_from == "noise":
            return params
        stats = passes(partial(_first_stats, self, params))
        return replace(params, noise=np.asarray(self.first_noise(params, stats)))

    def perturbed(self, params: CodingParams, key: Key) -> CodingParams:
        """Return parameters with a few fields drawn again, and more noise: a way out of a poor maximum."""
        rng, H = key.rng(), self.n_components
        few, fields = rng.permutation(H)[:REPAIRED], params.fields.copy()
        scale = float(params.spread) / 3.0 if self.start_scale is None else self.start_scale
        fields[:, few] = scale * rng.standard_normal((len(fields), len(few)))
        activity = params.activity.copy()
        activity[few] = activity.mean()
        step = float(max(self.schedule.n_steps - REPAIR_STEPS, 0))
        return replace(
            params,
            fields=fields,
            activity=activity,
            noise=2.0 * params.noise,
            step=np.asarray(step),
            stream=np.array([key.seed, key.restart], np.float64),
        )

    # ------------------------------------------------------------------------------------------------ passes

    def schedule_state(self, params: CodingParams) -> Literal["running", "free", "over"]:
        """Whether a fit is on its schedule, free to go on until it stands still, or at its planned end."""
        if not self.schedule.is_over(float(params.step)):
            return "running"
        return "free" if self.settles else "over"

    def prepare(self, params: CodingParams) -> CodingShared:
        """Return what all rows of a pass share."""
        step = float(params.step)
        now = self.prepared(params, self._states(step), self.schedule.heat(step), np.dtype(self.dtype).type)
        return CodingShared(now, partial(self.rows_prepared, params))

    def before_pass(self, params: CodingParams, passes: Passes) -> CodingParams:
        """Return the parameters with the cut of this step: a look at the scores of all rows, once it has set in."""
        share, step = self.schedule.cut(float(params.step)), float(params.step)
        if share == 0.0 or not self.cut:
            return params.with_every_row()
        rows: RowScores = passes(partial(_scores, self.prepare(params).now))
        left_out = 1.0 - float(active_shares(params.activity, self._gamma(step)).sum())  # 1 - A
        kept = max(1.0 - left_out * share, LEAST_KEPT)
        return replace(params, cut=rows.cut_at(float(rows.weights.sum()) * kept))

    def advanced(self, params: CodingParams, W: Floats, noise: float, hidden: Floats, used: float) -> CodingParams:
        """Return the parameters of the next step: W and sigma as found, jitter, and pi from Sum <s> by equation 8."""
        H = params.n_components
        shares = active_shares(params.activity, self._gamma(float(params.step)))
        few, on = float(shares.sum()), float(shares @ np.arange(len(shares)))  # A and B
        correction = few * float(params.activity.sum()) / on if on > 0.0 else 1.0
        pi = correction * hidden / used
        pi = np.full(H, pi.mean()) if self.shared_activity else pi
        if self.jitter:
            rng = np.random.default_rng([*params.stream.astype(np.int64).tolist(), int(params.step), 0xB5C])
            W = W + self.jitter * rng.standard_normal(W.shape)
        return replace(
            params,
            fields=np.ascontiguousarray(W),
            activity=np.clip(pi, LEAST_ACTIVE, 1.0 - LEAST_ACTIVE),  # (8)
            noise=np.asarray(noise),
            step=np.asarray(float(params.step) + 1.0),
            cut=np.array(EVERY_ROW),
        )

    def least_noise(self, params: CodingParams, variance: float) -> float:
        """Return sigma of a variance, not below what a table without noise would have."""
        return float(np.sqrt(max(variance, (LEAST_NOISE * float(params.spread)) ** 2)))

    def grow(self, params: CodingParams, key: Key) -> None:
        """There are no stages."""

    def mismatch(self, params: CodingParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        H = params.n_components
        if self.n_components != H:
            return f"it has {H} causes where {self.n_components} are declared"
        if self.shared_activity and np.ptp(params.activity) > 0.0:
            return "its causes differ in their activity, where one for all is declared"
        return None


def _spread(mean: Floats, block: Block) -> Spread:
    """Add up squares about the mean, a few rows at a time."""
    y, o = np.asarray(block.x.operand(slot="x")), block.observed.operand(slot="observed")
    out = np.zeros(block.n_columns)
    for rows, observed in runs_of(block):
        apart = (y[rows] - mean) ** 2
        out += block.weights[rows] @ (apart if observed is None else apart * observed)
    seen = np.broadcast_to((o.T @ block.weights[:, None])[:, 0], (block.n_columns,))
    return Spread(out, np.array(seen))


def _first_stats(model: PlannedCoding, params: CodingParams, block: Block) -> Any:
    return model.expect(params, model.prepare(params), block, None, Key(0))[0]


def _scores(now: Prepared, block: Block) -> RowScores:
    """Return the scores of the rows of a block, the same bits as `expect` finds."""
    if (kernels := kernels_for(now, block)) is not None:
        return RowScores(whole_scores(kernels, now, block), block.weights.copy())
    Y, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(block.n_rows)
    for rows, observed in runs_of(block, now.dtype):
        scores[rows] = now.look(Y[rows], observed, squares_of(Y[rows]), only_scores=True).scores
    return RowScores(scores, block.weights.copy())


def within(cut: Floats, scores: Floats) -> Floats:
    """Return the share of each row that is within the cut."""
    return np.where(scores > cut[0], 1.0, np.where(scores == cut[0], cut[1], 0.0))
