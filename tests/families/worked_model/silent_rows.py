"""Silent rows: some rows are silent, the others have a probability for each column (zero inflation).

    ln P(x, h = 0) = ln pi_0 + Sum_j [x_j ln e + (1 - x_j) ln(1 - e)]                    silent
    ln P(x, h = 1) = ln pi_1 + Sum_j [x_j ln theta_j + (1 - x_j) ln(1 - theta_j)]        active, over the observed j

| letter | meaning | shape |
|---|---|---|
| x, o | binary data; observed | (rows, d) |
| r | posterior P(h = k given x) | (rows, K), K = 2 |
| pi | shares of silent and active rows | (K,) |
| theta | P(x = 1) in an active row | (d,) |
| e | P(x = 1) in a silent row | number |
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from hiddenbits.array_types import Floats, Randomness
from hiddenbits.data import Block
from hiddenbits.data.declared import Params, Statistics
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families._base.parameters import COMMON
from hiddenbits.families._base.transformer import LatentEstimator
from hiddenbits.maths.numerics import PROBABILITIES, SHARES, class_shares, clip_probability, softmax_rows
from hiddenbits.model_api import ClassCodes, Footprint, Key, Passes, Promises

Shared = tuple[Floats, Floats, Floats]  # logit and ln(1 - probability) of each cell in each class, (d, K), and ln pi


@dataclass(frozen=True, eq=False)
class SilentParams(Params):
    """pi and theta. A letter in a shape has one size in all arrays; d is the number of columns."""

    weights: Annotated[Floats, "K", SHARES]
    probabilities: Annotated[Floats, "d", PROBABILITIES]


@dataclass(frozen=True, eq=False)
class SilentStats(Statistics):
    """What the M-step needs, as sums over rows; `bound` and `weight` are inherited."""

    classes: Annotated[Floats, "K"]  # expected number of silent and of active rows
    ones: Annotated[Floats, "d"]  # expected number of 1s in active rows
    observed: Annotated[Floats, "d"]  # expected number of observed cells in active rows

    nested: ClassVar = ("ones", "observed")  # ones <= observed <= weight: checked


@dataclass(frozen=True)
class SilentRows(ClassCodes[SilentParams]):
    """The model: hyperparameters, and pure functions of parameters and blocks of rows."""

    silent_rate: float = 0.01  # e
    n_components: ClassVar[int] = 2  # K, which ClassCodes needs

    # Otherwise the defaults: an exact likelihood, an objective that never decreases, no random numbers in an iteration.
    promises = Promises(accelerates=False, why={"accelerates": "it would need to_vector and from_vector"})
    params_type = SilentParams
    stats_type = SilentStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return the cost of a block: numbers in memory per row, numbers in the statistics, operations per row."""
        return Footprint(working=n_columns + 4, statistics=2 * n_columns, flops=8 * row_cells)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> SilentParams:
        """Return where a restart begins: half of the rows active, with the column means and a little keyed noise."""
        means = summary.means + 0.1 * key.rng().random(len(summary.means))
        return SilentParams(np.array([0.5, 0.5]), clip_probability(means))

    def cell_probabilities(self, params: SilentParams) -> Floats:
        """Return P(x = 1) in each class, (d, K): `ClassCodes` derives sample, reconstruct, fill, ... from it."""
        return np.stack([np.full(params.n_columns, self.silent_rate), params.probabilities], axis=1)

    def prepare(self, params: SilentParams) -> Shared:
        """Return what all blocks of an iteration need, computed once."""
        p = self.cell_probabilities(params)
        return np.log(p) - np.log1p(-p), np.log1p(-p), np.log(params.weights)

    def _posterior(self, shared: Shared, block: Block) -> tuple[Floats, Floats]:
        """Return r and ln P(x): the softmax of x.logit + o.ln(1 - p) + ln pi."""
        logit, off, log_pi = shared
        x, o = block.operands()  # dense, sparse or packed: `@` is all that a model needs
        r = np.asarray(x @ logit)
        return r, softmax_rows(r, o @ off + log_pi[None, :])  # in place; returns the log of each row's sum

    def expect(
        self, params: SilentParams, shared: Shared, block: Block, carry: None, key: Key
    ) -> tuple[SilentStats, None]:
        """E-step of one block."""
        r, log_p = self._posterior(shared, block)
        r *= block.weights[:, None]
        x, o = block.operands()
        observed = np.broadcast_to(o.T @ r[:, 1:], (block.n_columns, 1))  # a single row if no cell is missing
        stats = SilentStats(
            bound=np.asarray(block.weights @ log_p),
            weight=np.asarray(block.weights.sum()),
            classes=r.sum(axis=0),
            ones=np.asarray(x.T @ r[:, 1:])[:, 0],
            observed=observed[:, 0].copy(),
        )
        return stats, None

    def objective(self, params: SilentParams, stats: SilentStats) -> float:
        """Return ln P(all rows) plus the log prior: half a 1 and half a 0 in every column."""
        theta = params.probabilities
        return float(stats.bound) + 0.5 * float(np.sum(np.log(theta) + np.log1p(-theta)))

    def update(self, params: SilentParams, stats: SilentStats) -> SilentParams:
        """M-step: pi = shares of the rows, theta = (ones + 1/2) / (observed + 1)."""
        theta = (stats.ones + 0.5) / (stats.observed + 1.0)
        return SilentParams(class_shares(stats.classes, float(stats.weight)), clip_probability(theta))

    def log_likelihood(self, params: SilentParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return self._posterior(shared, block)[1]

    def posterior(self, params: SilentParams, shared: Shared, block: Block) -> Floats:
        """Return r."""
        return self._posterior(shared, block)[0]

    def log_joint(self, params: SilentParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition, as simple as possible. The tests enumerate it."""
        k = int(np.argmax(h))
        p = self.cell_probabilities(params)[:, k]
        return float(np.log(params.weights[k]) + np.sum(np.log(np.where(x == 1, p, 1 - p))))

    def pseudo_statistics(self, params: SilentParams, weight: float) -> SilentStats:
        """Return the expected statistics of rows from the model itself; `partial_fit` continues from them."""
        active = np.full(params.n_columns, weight * params.weights[1])
        return SilentStats(
            np.zeros(()), np.asarray(weight), weight * params.weights, active * params.probabilities, active
        )


class SilentRowsMixture(LatentEstimator[SilentParams, SilentStats]):
    """The scikit-learn estimator. `fit`, `score`, `transform`, `sample`, `complete`, ... are inherited."""

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "silent_rate": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        silent_rate: float = 0.01,
        *,
        online_passes: int = 0,
        n_init: int = 2,
        max_iter: int = 1000,
        tol: float = 1e-6,
        accelerate: bool = False,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.silent_rate = silent_rate
        self.online_passes = online_passes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.threshold = threshold
        self.random_state = random_state

    def _model(self) -> SilentRows:
        return SilentRows(self.silent_rate)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: the shares add up to 1, so one of them is free; silent_rate is not fitted."""
        return 1 + self.n_features_in_

    @property
    def weights_(self) -> Floats:
        """Shares of silent and of active rows."""
        return self._params.weights

    @property
    def probabilities_(self) -> Floats:
        """P(x = 1) in an active row."""
        return self._params.probabilities
