"""Independent bits: no hidden structure at all, the baseline that every other model must beat.

    ln P(x) = Sum_j x_j ln theta_j + (1 - x_j) ln(1 - theta_j),   over the observed j

| letter | meaning | shape |
|---|---|---|
| x, o | bits; observed | (rows, d) |
| theta | P(bit = 1) | (d,) |
| m, s | centre and strength of the Beta prior, Beta(1 + s m, 1 + s (1 - m)) | (d,), number |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import Params, Statistics
from hiddenbits.data.operands import Operand, product_with_totals
from hiddenbits.data.summary import Summary
from hiddenbits.maths.numerics import PROBABILITIES, clip_probability, share_or
from hiddenbits.model_api import Counted, Footprint, Key, OneStage, Passes, Promises

Shared = tuple[Floats, Floats, Floats]  # logit(theta), ln(1 - theta) and the latter's sum, as columns


@dataclass(frozen=True, eq=False)
class IndependentParams(Params):
    """theta and the centre of its prior."""

    probabilities: Annotated[Floats, "d", PROBABILITIES]
    prior_mean: Annotated[Floats, "d", PROBABILITIES]


@dataclass(frozen=True, eq=False)
class IndependentStats(Statistics):
    """Weighted log-likelihood, rows, ones and observed cells."""

    ones: Annotated[Floats, "d"]
    observed: Annotated[Floats, "[d]"]

    nested: ClassVar = ("ones", "observed")


@dataclass(frozen=True)
class Independent(OneStage, Counted):
    """The model; hyperparameters only.

    Parameters
    ----------
    prior_strength : float
        s, in pseudo-rows.
    prior_mean : float or None
        m, the same for every column; None means the column means of the table.
    """

    prior_strength: float = 1.0
    prior_mean: float | None = None

    promises = Promises(accelerates=False, why={"accelerates": "the second pass is already at the maximum"})
    params_type = IndependentParams
    stats_type = IndependentStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs."""
        return Footprint(working=row_cells, statistics=2 * n_columns, flops=4 * row_cells)

    def start(self, summary: Summary, key: Key, passes: Passes) -> IndependentParams:
        """Return the column means."""
        means = summary.means
        centre = means.copy() if self.prior_mean is None else np.full_like(means, self.prior_mean)
        return IndependentParams(clip_probability(means), clip_probability(centre))

    def prepare(self, params: IndependentParams) -> Shared:
        """Return logit(theta), ln(1 - theta) and the latter's sum, as columns."""
        off = np.log1p(-params.probabilities)[:, None]
        return np.log(params.probabilities)[:, None] - off, off, off.sum(axis=0, keepdims=True)

    def log_likelihood(self, params: IndependentParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return self._log_likelihood(shared, *block.operands())

    def _log_likelihood(self, shared: Shared, x: Operand, o: Operand) -> Floats:
        logit, off, total = shared
        return np.asarray((x @ logit + product_with_totals(o, off, total))[:, 0])

    def expect(
        self,
        params: IndependentParams,
        shared: Shared,
        block: Block,
        carry: None,
        key: Key,
    ) -> tuple[IndependentStats, None]:
        """Count the ones and the observed cells."""
        weights = block.weights[:, None]
        x, o = block.operands()
        stats = IndependentStats(
            bound=np.asarray(block.weights @ self._log_likelihood(shared, x, o)),
            weight=np.asarray(block.weights.sum()),
            ones=np.ascontiguousarray((x.T @ weights)[:, 0]),
            observed=np.ascontiguousarray((o.T @ weights)[:, 0]),
        )
        return stats, None

    def objective(self, params: IndependentParams, stats: IndependentStats) -> float:
        """Return log-likelihood plus log prior, s Sum_j [ m_j ln theta_j + (1 - m_j) ln(1 - theta_j) ]."""
        theta, m = params.probabilities, params.prior_mean
        prior = m @ np.log(theta) + (1.0 - m) @ np.log1p(-theta)
        return float(stats.bound) + self.prior_strength * float(prior)

    def update(self, params: IndependentParams, stats: IndependentStats) -> IndependentParams:
        """Return theta = (ones + s m) / (observed + s); the prior's centre where nothing was seen."""
        s, m = self.prior_strength, params.prior_mean
        theta = share_or(stats.ones + s * m, stats.observed + s, m, float(stats.weight))
        return IndependentParams(clip_probability(theta), m)

    def fill(self, params: IndependentParams, shared: Shared, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell: theta."""
        return np.tile(params.probabilities, (block.n_rows, 1))

    def leave_one_out(self, params: IndependentParams, shared: Shared, block: Block) -> Floats:
        """Return P(bit = 1 | the other bits) for every cell: theta again."""
        return self.fill(params, shared, block)

    def draw(self, params: IndependentParams, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows; the code has no columns."""
        x = rng.random((n, params.n_columns)) < params.probabilities
        return x.view(np.uint8), np.zeros((n, 0))

    def hidden_states(self, params: IndependentParams) -> Floats:
        """Return the one state there is, with no coordinates."""
        return np.zeros((1, 0))

    def log_joint(self, params: IndependentParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        theta = params.probabilities
        return float(np.sum(np.where(x == 1, np.log(theta), np.log1p(-theta))))

    def mismatch(self, params: IndependentParams) -> None:
        """Any valid parameters fit."""
        return

    def pseudo_statistics(self, params: IndependentParams, weight: float) -> IndependentStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        return IndependentStats(np.zeros(()), np.asarray(weight), weight * params.probabilities, np.array([weight]))
