"""Binary sparse coding: binary causes whose fields add up to a row of real numbers (Henniges et al. 2010).

    s_h = 1 with probability pi_h,     y = W s + sigma e,     e ~ N(0, I)                                        eq 1

The posterior is truncated to states with at most gamma of the row's H' best candidates on, and to all single causes
(eqs 3 to 5; `truncated_posterior`).

    (6)  W (Sum <s s'>) = Sum <y s'>
    (7)  sigma^2 = [Sum y'y - 2 tr(W' Sum <y s'>) + tr(W'W Sum <s s'>)] / (|M| D), with the new W
    (8)  pi = (A pi / B) (1/|M|) Sum <|s|>,  A = P(|s| <= gamma), B = E[|s|; |s| <= gamma]

The sums are over M, the rows that states with few causes can explain: the N^cut = N A rows with the best scores. The
paper corrects pi for the omitted states, so the objective may decrease; with all states the algorithm is plain EM.

Missing numbers are hidden variables: they add <y_j s'> = W_j <s s'> to the sums. EM stays exact and the statistics
small; an update from observed cells alone would need a matrix (H, H) for every column.

| letter | meaning | shape |
|---|---|---|
| y | a row: real numbers | (D,) |
| s | which causes are on | (H,) |
| W | the field of each cause, which it adds to a row; also called basis functions | (D, H) |
| pi | P(a cause is on) | (H,) |
| sigma | standard deviation of the noise | number |
| H', gamma | number of candidates of a row; largest number of them that are on | numbers |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.binary_sparse_coding.params import CodingParams, CodingScores, CodingStats
from hiddenbits.families.binary_sparse_coding.rows import EVERY_ROW, Cut, runs_of, scores_of, statistics_of
from hiddenbits.families.binary_sparse_coding.truncated_posterior import (
    Prepared,
    RowPosterior,
    Truncation,
    active_shares,
    squares_of,
    truncation,
)
from hiddenbits.maths.state_sums import states_of
from hiddenbits.model_api import Declared, Footprint, Key, Passes, Promises

MOST_EXACT_CAUSES = 12  # 4,096 states per row, all of which row functions use
RIDGE_SHARE = 1e-9  # ridge over the mean of Sum <s>: a field without information from rows does not change
LEAST_NOISE_SHARE = 1e-6  # sigma over the spread: a table without noise would have sigma 0, and an infinite likelihood
LEAST_ACTIVITY = 1e-5  # distance of pi from 0 and 1


@dataclass(frozen=True)
class SparseCoding(Declared[CodingParams]):
    """The model of a pass; hyperparameters only.

    Parameters
    ----------
    n_components : int
        H.
    n_candidates, max_active : int
        H' and gamma.
    shared_activity : bool
        One pi for all causes.
    dtype : {"float64", "float32"}
        Precision of products over rows; sums and updates are in float64.
    temperature : float
        Weights of states have the exponent 1 / temperature.
    cut : tuple of two floats
        The rows that the statistics include.
    jitter : float
        Standard deviation of noise that is added to W.
    key : Key
        Random numbers of that noise.
    """

    n_components: int = 10
    n_candidates: int = 8
    max_active: int = 5
    shared_activity: bool = True
    dtype: Literal["float64", "float32"] = "float64"
    temperature: float = 1.0
    cut: Cut = EVERY_ROW
    jitter: float = 0.0
    key: Key = field(default_factory=partial(Key, 0))

    params_type: ClassVar[Any] = CodingParams
    stats_type: ClassVar[Any] = CodingStats
    carry_type: ClassVar[Any] = None
    letters: ClassVar[Mapping[str, tuple[str, str]]] = {"H": ("n_components", "causes")}

    @property
    def promises(self) -> Promises:
        """Properties of every fit."""
        exact = self.n_components <= MOST_EXACT_CAUSES
        reasons = {
            "accelerates": "candidates change from pass to pass",
            "monotone": "states and rows are omitted, and which of them changes from pass to pass",
            "likelihood": "states with many causes on are omitted: a lower bound",
        }
        return Promises(likelihood="exact" if exact else "bound", monotone=False, accelerates=False, why=reasons)

    @property
    def states(self) -> Truncation:
        """The states of the truncated posterior of a row."""
        c = min(self.n_candidates, self.n_components)
        return truncation(c, min(self.max_active, c))

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block. States of rows take little memory, because few rows are processed at a time."""
        H, states = self.n_components, self.states
        pairs = len(states.first)
        flops = 4.0 * n_columns * H + 4.0 * states.n_states * (states.n_candidates + pairs)
        return Footprint(100.0 + 2.0 * pairs, float(n_columns * H + H * H), flops)

    def prepare(self, params: CodingParams) -> Prepared:
        """Return the arrays that all rows of a pass share."""
        return Prepared(params, self.states, self.temperature, np.dtype(self.dtype).type)

    def expect(
        self, params: CodingParams, shared: Prepared, block: Block, carry: None, key: Key
    ) -> tuple[CodingStats, None]:
        """Return the statistics of a block."""
        return statistics_of(shared, self.cut, block), None

    def objective(self, params: CodingParams, stats: CodingStats) -> float:
        """Return the free energy of all rows, at the temperature of the pass."""
        return float(stats.bound)

    def update(self, params: CodingParams, stats: CodingStats) -> CodingParams:
        """M-step, equations 6 to 8; then noise of size `jitter` is added to the fields."""
        H, used = params.n_components, float(stats.used)
        ridge = RIDGE_SHARE * max(float(stats.hidden.mean()), 1e-300)
        second = stats.second
        second[np.diag_indices(H)] += ridge
        W = np.asarray(np.linalg.solve(second, (stats.joint + ridge * params.fields).T).T, np.float64)  # (6)
        # (7): by (6) tr(W'W Sum <s s'>) = tr(W' Sum <y s'>), except for the ridge
        residual = float(stats.squares) - float(np.vdot(W, stats.joint)) + ridge * float(np.vdot(W, params.fields - W))
        noise = sigma(params, residual, stats)
        shares = active_shares(params.activity, self.states.max_active)
        p_states, expected_on = float(shares.sum()), float(shares @ np.arange(len(shares)))  # A and B
        correction = p_states * float(params.activity.sum()) / expected_on if expected_on > 0.0 else 1.0
        pi = correction * stats.hidden / used  # (8)
        pi = np.full(H, pi.mean()) if self.shared_activity else pi
        if self.jitter:
            W = W + self.jitter * self.key.rng().standard_normal(W.shape)
        pi = np.clip(pi, LEAST_ACTIVITY, 1.0 - LEAST_ACTIVITY)
        return replace(params, fields=np.ascontiguousarray(W), activity=pi, noise=noise)

    # ------------------------------------------------------------------------------------------------ online EM

    def online(self) -> SparseCoding:
        """Return the model of the last pass of a plan, without a cut."""
        return SparseCoding(self.n_components, self.n_candidates, self.max_active, self.shared_activity, self.dtype)

    def pseudo_statistics(self, params: CodingParams, weight: float) -> CodingStats:
        """Return the statistics that the model expects, for online EM to continue from a fit."""
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
        unequal = self.shared_activity and np.ptp(params.activity) > 0.0
        reason = "its causes differ in their activity, where one for all is declared" if unequal else None
        return super().mismatch(params) or reason

    # ------------------------------------------------------------------------------------------------ rows

    def _row_values(self, shared: Prepared, block: Block, get: Callable[[RowPosterior], Any], **options: Any) -> Floats:
        """Return a value from the posterior of each row."""
        Y, values_of_rows = np.asarray(block.x.operand(slot="x")), None
        for rows, observed in runs_of(block):
            values_of_run = get(shared.posterior(Y[rows], observed, squares_of(Y[rows]), **options))
            if values_of_rows is None:
                values_of_rows = np.empty((block.n_rows, *values_of_run.shape[1:]))
            values_of_rows[rows] = values_of_run
        return np.asarray(values_of_rows)

    def log_likelihood(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return ln p(observed numbers) of each row, exact or a lower bound."""
        return self._row_values(shared, block, lambda row: row.scores, only_scores=True)

    def posterior(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return P(s_h = 1 | observed numbers) of each row."""
        return self._row_values(shared, block, lambda row: row.means)

    def posterior_mode(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return the most probable state of the causes."""
        return self._row_values(shared, block, lambda row: row.best, best=True)

    def reconstruct(self, params: CodingParams, codes: Floats) -> Floats:
        """Return E[y] given which causes are on: W s."""
        return np.asarray(codes @ params.fields.T)

    def fill(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Return E[y_j | observed numbers], for every cell."""
        return self.reconstruct(params, self.posterior(params, shared, block))

    def leave_one_out(self, params: CodingParams, shared: Prepared, block: Block) -> Floats:
        """Raise an error: given the other cells, a real number has a density, not a probability."""
        raise ValueError(
            "cell_probabilities needs binary data, but this model has real numbers. Use complete on a copy in "
            "which these cells are missing."
        )

    def sample(self, params: CodingParams, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Sample n rows, and the states of the causes."""
        s = (rng.random((n, params.n_components)) < params.activity).astype(np.float64)
        noise = float(params.noise) * rng.standard_normal((n, params.n_columns))
        return self.reconstruct(params, s) + noise, s

    def hidden_states(self, params: CodingParams) -> Floats:
        """Return every state of the causes."""
        return states_of(params.n_components)

    def log_joint(self, params: CodingParams, y: Floats, s: Floats) -> float:
        """Return ln p(y, s) of one complete row: the definition, equation 1."""
        pi, variance = params.activity, float(params.noise) ** 2
        difference = y - params.fields @ s
        prior = np.sum(s * np.log(pi) + (1.0 - s) * np.log1p(-pi))
        return float(prior - 0.5 * (len(y) * np.log(2.0 * np.pi * variance) + difference @ difference / variance))


def sigma(params: CodingParams, residual: float, stats: CodingStats) -> Floats:
    """Return sigma from the residual sum of squares; at least LEAST_NOISE_SHARE of the spread."""
    variance = residual / (float(stats.used) * params.n_columns)
    return np.asarray(np.sqrt(max(variance, (LEAST_NOISE_SHARE * float(params.spread)) ** 2)))


# The plan of a fit: its start, and the model of each pass.
#
# The temperature decreases to 1, the number of states increases, and rows that few causes cannot explain are excluded.

COOLED_AT, WIDE_AT = 0.8, 0.75  # shares of the plan at which the temperature reaches 1, and more states are used
LEAST_USED = 0.1  # share of the rows: if most causes are on, the cut would exclude almost all rows


@dataclass(frozen=True)
class AnnealedCoding(SparseCoding):
    """The model of a fit and of row functions; hyperparameters only.

    Those of `SparseCoding` are for the last quarter of the plan. With up to MOST_EXACT_CAUSES causes row functions use
    all states, so that the likelihood is exact.

    Parameters
    ----------
    first_candidates, first_active, first_temperature : int, int, float
        H', gamma and temperature in the first pass.
    planned_passes : int
        Passes of the plan.
    settles : bool
        Continue after the plan until convergence.
    data_cut : bool
        Exclude the rows that truncated states cannot explain.
    cut_from, cut_to : float
        Shares of the plan between which the cut is phased in.
    start_from : {"noise", "mean"}
        W starts as noise, or as the mean row plus small noise.
    start_scale : float or None
        Standard deviation of that noise; None: a third of the spread of the table (a hundredth with "mean").
    start_active : float
        Expected number of causes that are on, at the start.
    """

    first_candidates: int = 5
    first_active: int = 3
    first_temperature: float = 1.0
    planned_passes: int = 60
    settles: bool = True
    data_cut: bool = True
    cut_from: float = 1 / 3
    cut_to: float = 2 / 3
    start_from: Literal["noise", "mean"] = "noise"
    start_scale: float | None = None
    start_active: float = 5.0

    def __post_init__(self) -> None:
        if self.cut_from > self.cut_to:
            raise ValueError(f"cut_from={self.cut_from} is after cut_to={self.cut_to}: swap them.")

    def prepare(self, params: CodingParams) -> Prepared:
        """Return the arrays that all rows share."""
        H = self.n_components
        states = truncation(H, H) if H <= MOST_EXACT_CAUSES else self.states
        return Prepared(params, states, 1.0, np.float64)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> CodingParams:
        """Return W from noise (or near the mean row), and the noise of the table without causes."""
        H, rng = self.n_components, key.rng()
        mean = summary.ones / np.maximum(summary.observed, 1e-300)  # `ones` are the sums of columns of reals
        spreads: Spread = passes(partial(_spread, mean))
        spread = float(np.sqrt(np.mean(spreads.squares / np.maximum(spreads.observed, 1e-300)))) or 1.0
        center, scale = (np.zeros_like(mean), spread / 3.0) if self.start_from == "noise" else (mean, spread / 100.0)
        scale = scale if self.start_scale is None else self.start_scale
        fields = center[:, None] + scale * rng.standard_normal((len(mean), H))
        params = CodingParams(fields, np.full(H, min(self.start_active / H, 0.5)), *2 * (np.asarray(spread),))
        if self.start_from == "noise":
            return params
        stats = passes(partial(statistics_of, self._scheduled(0).prepare(params), EVERY_ROW))
        residual = float(stats.squares) - 2.0 * float(np.sum(fields * stats.joint))
        residual += float(np.sum((fields.T @ fields) * stats.second))
        return replace(params, noise=sigma(params, residual, stats))  # (7), with these fields

    def of_pass(self, params: CodingParams, key: Key, passes: Passes) -> SparseCoding:
        """Return the model of a pass; its cut, if any, depends on the scores of all rows."""
        model = replace(self._scheduled(key.pass_number), key=key.stream("step"))
        progress = self.progress(key.pass_number, self.cut_from, self.cut_to) if self.data_cut else 0.0
        if progress == 0.0:
            return model
        rows: CodingScores = passes(partial(scores_of, model.prepare(params)))
        omitted = 1.0 - float(active_shares(params.activity, model.states.max_active).sum())  # 1 - A
        return replace(model, cut=rows.cut_at(float(rows.weights.sum()) * max(1.0 - omitted * progress, LEAST_USED)))

    def _scheduled(self, number: int) -> SparseCoding:
        """Return the model of a pass without the cut."""
        wide = number >= WIDE_AT * self.planned_passes
        return replace(
            self.online(),
            n_candidates=self.n_candidates if wide else self.first_candidates,
            max_active=self.max_active if wide else self.first_active,
            temperature=self.first_temperature + (1.0 - self.first_temperature) * self.progress(number, 0.0, COOLED_AT),
            jitter=self.jitter,
        )

    def progress(self, number: int, begin: float, end: float) -> float:
        """Return how far pass `number` is from share `begin` of the plan to share `end`: 0 to 1."""
        first_pass, last_pass = begin * self.planned_passes, end * self.planned_passes
        return 1.0 if number >= last_pass else max(0.0, (number - first_pass) / (last_pass - first_pass))


@dataclass(frozen=True, eq=False)
class Spread(Arrays):
    """Sum w (y - mean)^2 and weight of the observed cells of each column."""

    squares: Floats
    observed: Floats


def _spread(mean: Floats, block: Block) -> Spread:
    """Return the sums of squares about the mean, a few rows at a time."""
    y, o = np.asarray(block.x.operand(slot="x")), block.observed.operand(slot="observed")
    sums = np.zeros(block.n_columns)
    for rows, observed in runs_of(block):
        squares = (y[rows] - mean) ** 2
        sums += block.weights[rows] @ (squares if observed is None else squares * observed)
    weights = np.broadcast_to((o.T @ block.weights[:, None])[:, 0], (block.n_columns,))
    return Spread(sums, np.array(weights))
