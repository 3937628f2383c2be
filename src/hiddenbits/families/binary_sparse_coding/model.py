"""Binary sparse coding: causes that are on or off and add up to a row of real numbers (Henniges et al. 2010).

    s_h = 1 with probability pi_h,     y = W s + sigma e,     e ~ N(0, I)                                        eq 1

The posterior is cut down to states with at most gamma of the row's H' best candidates on, and to all causes alone
(eqs 3 to 5; `truncated_posterior`).

    (6)  W (Sum <s s'>) = Sum <y s'>
    (7)  sigma^2 = [Sum y'y - 2 tr(W' Sum <y s'>) + tr(W'W Sum <s s'>)] / (|M| D), with the new W
    (8)  pi = (A pi / B) (1/|M|) Sum <|s|>,  A = P(|s| <= gamma), B = E[|s|; |s| <= gamma]

The sums are over M, the rows that states with few causes can explain: the N^cut = N A rows with the best scores. The
paper corrects pi for the states that are left out, which is why the objective may fall; with all states it is plain EM.

A number that was not observed is a hidden one: the sums take <y_j s'> = W_j <s s'> for it, so that EM stays exact and
the statistics small, where an update for the observed cells alone would need a matrix (H, H) for every column.

| letter | meaning | shape |
|---|---|---|
| y | a row: real numbers | (D,) |
| s | which causes are on | (H,) |
| W | what each cause adds to a row: the basis functions | (D, H) |
| pi | P(a cause is on) | (H,) |
| sigma | standard deviation of the noise | number |
| H', gamma | candidates of a row; most causes that are on among them | numbers |
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Arrays, Block
from hiddenbits.data.operands import scratch
from hiddenbits.data.summary import Summary
from hiddenbits.families.binary_sparse_coding.params import (
    EVERY_ROW,
    LEAST_ACTIVE,
    CodingParams,
    CodingStats,
    RowScores,
)
from hiddenbits.families.binary_sparse_coding.rows import CodingRows, CodingShared, runs_of
from hiddenbits.families.binary_sparse_coding.schedule import Schedule
from hiddenbits.families.binary_sparse_coding.truncated_posterior import Prepared, RowPosterior, squares_of
from hiddenbits.families.binary_sparse_coding.truncated_states import active_shares, truncation
from hiddenbits.model_api import Footprint, Key, Passes, Promises

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
class SparseCoding(CodingRows):
    """The model; hyperparameters only.

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
    stats_type: ClassVar[Any] = CodingStats
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

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs; the states of its rows do not count, for few rows are worked on at a time."""
        H, states = self.n_components, self._states(0.0)
        pairs = len(states.first)
        flops = 4.0 * n_columns * H + 4.0 * states.n_states * (states.n_candidates + pairs)
        return Footprint(100.0 + 2.0 * pairs, float(n_columns * H + H * H), flops)

    def _states(self, step: float) -> Any:
        wide, H = self.schedule.is_wide(step), self.n_components
        c = min(self.wide_candidates if wide else self.n_candidates, H)
        return truncation(c, min(self.wide_active if wide else self.max_active, c))

    def _gamma(self, step: float) -> int:
        return int(self._states(step).max_active)

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
        stats: CodingStats = passes(partial(_first_stats, self, params))  # sigma from (7), with this W
        return replace(params, noise=np.asarray(self._noise(params, params.fields, stats)))

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
        now = Prepared(params, self._states(step), self.schedule.heat(step), np.dtype(self.dtype).type)
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

    def expect(
        self, params: CodingParams, shared: CodingShared, block: Block, carry: None, key: Key
    ) -> tuple[CodingStats, None]:
        """Return the statistics of a block."""
        now, n, H = shared.now, block.n_rows, params.n_components
        means = scratch("means", (n, H), now.dtype)
        pairs = scratch("pairs", (n, len(now.states.first)), now.dtype)
        places: Rows = np.empty(pairs.shape, np.intp)
        Y, squares, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(n), np.empty(n)
        counted, filled, filled_squares = np.empty(n), None, 0.0
        for rows, observed in runs_of(block, now.dtype):
            squares[rows] = squares_of(Y[rows])
            found = now.look(Y[rows], observed, squares[rows], out=means[rows] if isinstance(rows, slice) else None)
            if not isinstance(rows, slice):
                means[rows] = found.means
            scores[rows], pairs[rows] = found.scores, found.pairs
            places[rows] = now.pair_places(found.candidates)
            counted[rows] = block.weights[rows] * _within(params.cut, found.scores)
            if observed is not None:
                more, more_squares = _filled(now, observed, found, counted[rows])
                filled = more if filled is None else filled + more
                filled_squares += more_squares
        if (counted != 1.0).any():
            means *= counted[:, None].astype(now.dtype)
            pairs *= counted[:, None].astype(now.dtype)
        joint = (Y.T @ means).astype(np.float64, copy=False)
        stats = CodingStats(
            np.asarray(block.weights @ scores),
            np.asarray(block.weights.sum()),
            np.asarray(counted.sum()),
            np.asarray(counted @ squares + filled_squares),
            means.sum(axis=0, dtype=np.float64),
            joint if filled is None else joint + filled,
            np.asarray(np.bincount(places.ravel(), pairs.ravel(), H * H), np.float64).reshape(H, H),
        )
        return stats, None

    def objective(self, params: CodingParams, stats: CodingStats) -> float:
        """Return the free energy: that of the step's temperature, over all rows."""
        return float(stats.bound)

    def update(self, params: CodingParams, stats: CodingStats) -> CodingParams:
        """Equations 6 to 8, and the noise that the schedule asks for."""
        H, used = params.n_components, float(stats.used)
        ridge = RIDGE * max(float(stats.hidden.mean()), 1e-300)
        second = stats.second
        second[np.diag_indices(H)] += ridge
        W = np.linalg.solve(second, (stats.joint + ridge * params.fields).T).T  # (6)
        # (7): by (6) the last trace is that of W' Sum <y s'>, but for the ridge
        left = float(stats.squares) - float(np.vdot(W, stats.joint)) + ridge * float(np.vdot(W, params.fields - W))
        noise = self._sigma(params, left, stats)
        shares = active_shares(params.activity, self._gamma(float(params.step)))
        few, on = float(shares.sum()), float(shares @ np.arange(len(shares)))  # A and B
        correction = few * float(params.activity.sum()) / on if on > 0.0 else 1.0
        pi = correction * stats.hidden / used
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

    def _noise(self, params: CodingParams, W: Floats, stats: CodingStats) -> float:
        """Return sigma for any fields W, equation 7."""
        left = float(stats.squares) - 2.0 * float(np.sum(W * stats.joint)) + float(np.sum((W.T @ W) * stats.second))
        return self._sigma(params, left, stats)

    def _sigma(self, params: CodingParams, left: float, stats: CodingStats) -> float:
        variance = left / (float(stats.used) * params.n_columns)
        return float(np.sqrt(max(variance, (LEAST_NOISE * float(params.spread)) ** 2)))

    def grow(self, params: CodingParams, key: Key) -> None:
        """There are no stages."""

    def pseudo_statistics(self, params: CodingParams, weight: float) -> CodingStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        pi, W = params.activity, params.fields
        pairs = np.triu(np.outer(pi, pi), 1)
        second = pairs + pairs.T + np.diag(pi)
        squares = float(np.sum((W.T @ W) * second)) + params.n_columns * float(params.noise) ** 2
        return CodingStats(
            np.zeros(()),
            np.asarray(weight),
            np.asarray(weight),
            np.asarray(weight * squares),
            weight * pi,
            weight * (W @ second),
            weight * pairs,
        )

    def mismatch(self, params: CodingParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        H = params.n_components
        if self.n_components != H:
            return f"it has {H} causes where {self.n_components} are declared"
        if self.shared_activity and np.ptp(params.activity) > 0.0:
            return "its causes differ in their activity, where one for all is declared"
        return None

    def stats_flaw(self, stats: CodingStats, params: CodingParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        D, H = params.fields.shape
        if stats.hidden.shape != (H,) or stats.joint.shape != (D, H) or stats.pairs.shape != (H, H):
            return "the statistics have the wrong shapes"
        if any(number.shape != () for number in (stats.bound, stats.weight, stats.used, stats.squares)):
            return "the statistics have the wrong shapes"
        if not 0.0 < stats.used <= stats.weight * (1.0 + 1e-9):
            return "the statistics have no weight"
        slack = 1e-6 * float(stats.weight)
        valid = (stats.hidden >= -slack).all() and (stats.hidden <= stats.used + slack).all()
        return None if valid else "causes are on in more rows than there are, or in fewer than none"


def _spread(mean: Floats, block: Block) -> Spread:
    """Add up squares about the mean, a few rows at a time."""
    y, o = np.asarray(block.x.operand(slot="x")), block.observed.operand(slot="observed")
    out = np.zeros(block.n_columns)
    for rows, observed in runs_of(block):
        apart = (y[rows] - mean) ** 2
        out += block.weights[rows] @ (apart if observed is None else apart * observed)
    seen = np.broadcast_to((o.T @ block.weights[:, None])[:, 0], (block.n_columns,))
    return Spread(out, np.array(seen))


def _first_stats(model: SparseCoding, params: CodingParams, block: Block) -> CodingStats:
    return model.expect(params, model.prepare(params), block, None, Key(0))[0]


def _scores(now: Prepared, block: Block) -> RowScores:
    """Return the scores of the rows of a block, the same bits as `expect` finds."""
    Y, scores = np.asarray(block.x.operand(now.dtype, slot="x")), np.empty(block.n_rows)
    for rows, observed in runs_of(block, now.dtype):
        scores[rows] = now.look(Y[rows], observed, squares_of(Y[rows]), only_scores=True).scores
    return RowScores(scores, block.weights.copy())


def _within(cut: Floats, scores: Floats) -> Floats:
    """Return the share of each row that is within the cut."""
    return np.where(scores > cut[0], 1.0, np.where(scores == cut[0], cut[1], 0.0))


def _filled(now: Prepared, observed: Any, found: RowPosterior, counted: Floats) -> tuple[Floats, float]:
    """Return what missing numbers add to Sum <y s'> and Sum <y'y>: <y_j s'> = W_j <s s'>, <y_j^2> = sigma^2 + ..."""
    n, c = found.candidates.shape
    H, missing, states = now.params.n_components, 1.0 - observed, now.states
    weighted = found.means * counted[:, None]
    joint = now.params.fields * (missing.T @ weighted)  # <s_h s_h>
    together = np.zeros((n, c, c))  # <s_i s_j> of different candidates
    together[:, states.first, states.second] = found.pairs * counted[:, None]
    together += together.transpose(0, 2, 1)
    across = (together @ now.rows_of_fields[found.candidates]) * missing[:, None, :]
    chosen = sparse.csr_array((np.ones(n * c), found.candidates.ravel(), np.arange(n * c + 1)), shape=(n * c, H))
    joint += (chosen.T @ across.reshape(n * c, -1)).T
    squares = float(np.sum(weighted * (missing @ now.squared_fields)))
    squares += float(np.sum(together * now.observed_gram(missing, found.candidates)))
    return joint, squares + float(now.params.noise) ** 2 * float(counted @ missing.sum(axis=1))
