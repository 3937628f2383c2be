"""The planned course of a fit of binary sparse coding: where it begins, and the model of each pass.

The temperature falls to 1, more states are looked at, and the rows that few causes cannot explain are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Arrays, Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.binary_sparse_coding.model import EXACT_CAUSES, SparseCoding, sigma
from hiddenbits.families.binary_sparse_coding.params import CodingParams, RowScores
from hiddenbits.families.binary_sparse_coding.rows import EVERY_ROW, runs_of, scores_of, statistics_of
from hiddenbits.families.binary_sparse_coding.truncated_posterior import Prepared, active_shares, truncation
from hiddenbits.model_api import Key, Passes

COOLED, WIDE = 0.8, 0.75  # shares of the plan after which the temperature is 1, and more states are looked at
LEAST_KEPT = 0.1  # of the rows, whatever the cut: where most causes are on, next to none would be left


@dataclass(frozen=True)
class AnnealedCoding(SparseCoding):
    """The model of a fit, which the verbs use too; hyperparameters only.

    Those of `SparseCoding` are for the last quarter of the plan. The verbs look at all states of up to EXACT_CAUSES
    causes, so that the likelihood is exact there.

    Parameters
    ----------
    first_candidates, first_active, first_temperature : int, int, float
        H', gamma and temperature at first.
    planned_passes : int
        Passes of the plan.
    settles : bool
        Go on after the plan until the objective stands still.
    data_cut : bool
        Leave out the rows that truncated states cannot explain.
    cut_from, cut_to : float
        Shares of the plan between which the cut sets in.
    start_from : {"noise", "mean"}
        W of pure noise, or the mean row with a little noise.
    start_scale : float or None
        Standard deviation of that noise; None means a third of the spread of the table (a hundredth with "mean").
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
        """Return what the rows of a verb share."""
        H = self.n_components
        states = truncation(H, H) if H <= EXACT_CAUSES else self.states
        return Prepared(params, states, 1.0, np.float64)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> CodingParams:
        """Return W of noise (or about the mean row), and the noise that the table would have without causes."""
        H, rng = self.n_components, key.rng()
        mean = summary.ones / np.maximum(summary.observed, 1e-300)  # of reals these are the sums
        columns: Spread = passes(partial(_spread, mean))
        spread = float(np.sqrt(np.mean(columns.squares / np.maximum(columns.observed, 1e-300)))) or 1.0
        about, scale = (np.zeros_like(mean), spread / 3.0) if self.start_from == "noise" else (mean, spread / 100.0)
        scale = scale if self.start_scale is None else self.start_scale
        fields = about[:, None] + scale * rng.standard_normal((len(mean), H))
        params = CodingParams(fields, np.full(H, min(self.start_active / H, 0.5)), *2 * (np.asarray(spread),))
        if self.start_from == "noise":
            return params
        stats = passes(partial(statistics_of, self._planned(0).prepare(params), EVERY_ROW))
        left = float(stats.squares) - 2.0 * float(np.sum(fields * stats.joint))
        left += float(np.sum((fields.T @ fields) * stats.second))
        return replace(params, noise=sigma(params, left, stats))  # (7), with these fields

    def of_pass(self, params: CodingParams, key: Key, passes: Passes) -> SparseCoding:
        """Return the model of a pass; once the cut has set in, a look at the scores of all rows says where it is."""
        now = replace(self._planned(key.pass_number), key=key.stream("step"))
        share = self.way(key.pass_number, self.cut_from, self.cut_to) if self.data_cut else 0.0
        if share == 0.0:
            return now
        rows: RowScores = passes(partial(scores_of, now.prepare(params)))
        left_out = 1.0 - float(active_shares(params.activity, now.states.max_active).sum())  # 1 - A
        return replace(now, cut=rows.cut_at(float(rows.weights.sum()) * max(1.0 - left_out * share, LEAST_KEPT)))

    def _planned(self, number: int) -> SparseCoding:
        """Return the model of a pass, but for what depends on the rows."""
        wide = number >= WIDE * self.planned_passes
        return replace(
            self.online(),
            n_candidates=self.n_candidates if wide else self.first_candidates,
            max_active=self.max_active if wide else self.first_active,
            temperature=self.first_temperature + (1.0 - self.first_temperature) * self.way(number, 0.0, COOLED),
            jitter=self.jitter,
        )

    def way(self, number: int, begin: float, end: float) -> float:
        """Return the share of the way from one share of the plan to another that pass `number` has gone."""
        first, last = begin * self.planned_passes, end * self.planned_passes
        return 1.0 if number >= last else max(0.0, (number - first) / (last - first))


@dataclass(frozen=True, eq=False)
class Spread(Arrays):
    """Sum w (y - mean)^2 and weight of the observed cells of each column."""

    squares: Floats
    observed: Floats


def _spread(mean: Floats, block: Block) -> Spread:
    """Add up squares about the mean, a few rows at a time."""
    y, o = np.asarray(block.x.operand(slot="x")), block.observed.operand(slot="observed")
    out = np.zeros(block.n_columns)
    for rows, observed in runs_of(block):
        apart = (y[rows] - mean) ** 2
        out += block.weights[rows] @ (apart if observed is None else apart * observed)
    weights = np.broadcast_to((o.T @ block.weights[:, None])[:, 0], (block.n_columns,))
    return Spread(out, np.array(weights))
