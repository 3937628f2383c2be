"""Bernoulli mixture: each row belongs to one hidden class, and a class is a product of independent bits.

    ln P(x, h = k) = ln pi_k + Sum_j x_j ln theta_jk + (1 - x_j) ln(1 - theta_jk),   over the observed j

| letter | meaning | shape |
|---|---|---|
| x, o | bits; observed | (rows, d) |
| r | P(h = k, row n, given x) | (rows, K) |
| pi | class weights | (K,) |
| theta | P(bit = 1) in each class | (d, K) |
| a, c | logit(theta), ln(1 - theta) | (d, K) |
| m, s | centre and strength of the Beta prior, Beta(1 + s m, 1 + s (1 - m)), for every class | (d,), number |

The baseline of Freund & Haussler (1994, section 4), with their incremental start: fit one class, split each class in
two slightly different ones, fit, and so on (`start="split"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_array

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import Params, Statistics
from hiddenbits.data.operands import Operand, product, product_with_totals, sums_over_rows
from hiddenbits.data.summary import Summary
from hiddenbits.maths.numerics import (
    LARGEST_LOGIT,
    PROBABILITIES,
    SHARES,
    class_shares,
    clip_probability,
    log_one_minus,
    scores_may_vanish,
    share_or,
    shares_at,
    sigmoid,
    softmax_rows,
)
from hiddenbits.model_api import AsOnSubsample, ClassCodes, Counted, Footprint, Key, Passes, Promises

Shared = tuple[Floats, Floats, Floats, Floats, bool]  # a, c, the column sums of c, ln pi, and `scores_may_vanish`

START_NOISE = 1.0  # standard deviation of the classes' first logits around those of the columns
MANY_CLASSES, MANY_COLUMNS = 64, 256  # from which on it is worth a look whether rows have few of the classes
NEGLIGIBLE = 1e-17  # share of a row in a class: far below rounding
SPLIT_NOISE = 0.1  # how far apart the two halves of a split class begin, in logits


@dataclass(frozen=True, eq=False)
class MixtureParams(Params):
    """pi, theta and the centre of theta's prior."""

    weights: Annotated[Floats, "K", SHARES]
    probabilities: Annotated[Floats, "d K", PROBABILITIES]
    prior_mean: Annotated[Floats, "d", PROBABILITIES]

    @cached_property
    def log_off(self) -> Floats:
        """Return ln(1 - theta); several steps of a pass need it, and on a wide table it is what a pass costs."""
        return log_one_minus(self.probabilities)

    @cached_property
    def off_totals(self) -> Floats:
        """Return Sum_j ln(1 - theta_jk), the score of a row of zeros in each class."""
        return np.ones(len(self.prior_mean)) @ self.log_off

    @cached_property
    def logits(self) -> Floats:
        """Return ln theta - ln(1 - theta)."""
        logits = np.log(self.probabilities)
        logits -= self.log_off
        return logits


@dataclass(frozen=True, eq=False)
class MixtureStats(Statistics):
    """Weighted log-likelihood, rows, and for each column and class the expected ones and observed cells.

    `observed` has a single row where nothing is missing: it is then the same for every column.
    """

    classes: Annotated[Floats, "K"]
    ones: Annotated[Floats, "d K"]
    observed: Annotated[Floats, "[d] K"]

    nested: ClassVar = ("ones", "observed", "classes")


@dataclass(frozen=True)
class Mixture(AsOnSubsample, Counted, ClassCodes[MixtureParams]):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        K.
    prior_strength : float
        s, in pseudo-rows for each class.
    prior_mean : float or None
        m, the same for every column; None means the column means of the table.
    start_from : {"noise", "split"}
        All classes at once near the column means, or one class split again and again.
    """

    n_components: int = 2
    prior_strength: float = 1.0
    prior_mean: float | None = None
    start_from: Literal["noise", "split"] = "noise"

    promises = Promises()
    params_type = MixtureParams
    stats_type = MixtureStats
    carry_type = None

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: two products of row_cells x K."""
        K = self.n_components
        dense = n_columns if row_cells >= n_columns else 0
        return Footprint(working=dense + 2 * K, statistics=n_columns * K, flops=4 * row_cells * K)

    def start(self, summary: Summary, key: Key, passes: Passes) -> MixtureParams:
        """Return classes scattered around the column means, or a single one to split."""
        means = clip_probability(summary.means)
        centre = means.copy() if self.prior_mean is None else np.full_like(means, self.prior_mean)
        K = 1 if self.start_from == "split" else self.n_components
        logits = np.tile((np.log(means) - np.log1p(-means))[:, None], (1, K))
        if K > 1:
            logits += START_NOISE * key.rng().standard_normal(logits.shape)
        return MixtureParams(np.full(K, 1.0 / K), clip_probability(sigmoid(logits)), clip_probability(centre))

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.prior_strength > 0.0

    def grow(self, params: MixtureParams, key: Key) -> MixtureParams | None:
        """Split classes in two, all of them or as many as are still wanted; None when there are enough."""
        d, K = params.probabilities.shape
        n_split = min(K, self.n_components - K)
        if n_split <= 0:
            return None
        logits = params.logits
        apart = SPLIT_NOISE * key.rng().standard_normal((d, n_split))
        halves = params.weights.copy()
        halves[:n_split] /= 2.0
        split, kept = logits[:, :n_split], logits[:, n_split:]
        return MixtureParams(
            np.concatenate([halves, halves[:n_split]]),
            clip_probability(sigmoid(np.concatenate([split + apart, kept, split - apart], axis=1))),
            params.prior_mean,
        )

    def prepare(self, params: MixtureParams) -> Shared:
        """Return a, c, the column sums of c, ln pi, and whether scores must be shifted."""
        a, totals, log_pi = params.logits, params.off_totals, np.log(params.weights)
        return a, params.log_off, totals[None, :], log_pi[None, :], scores_may_vanish(a, totals + log_pi)

    def _posterior(
        self, shared: Shared, block: Block, weights: Floats | None, slot: str | None = None
    ) -> tuple[Floats, Floats, Operand, Operand]:
        """Return r (times the row's weight), ln P(x) and the operands of the block.

        ln P(x, k) = x.a_k + o.c_k + ln pi_k: the cost follows the ones, since zeros are in the sums of c.
        """
        a, c, totals, log_pi, shift = shared
        x, o = block.operands()
        r = product(x, a, slot)
        log_p = softmax_rows(r, product_with_totals(o, c, totals) + log_pi, weights, shift=shift)
        return r, log_p, x, o

    def expect(
        self,
        params: MixtureParams,
        shared: Shared,
        block: Block,
        carry: None,
        key: Key,
    ) -> tuple[MixtureStats, None]:
        """E-step: r, and with it the expected ones and observed cells of each class."""
        r, log_p, x, o = self._posterior(shared, block, block.weights, "posterior")
        classes = np.ones((1, len(r))) @ r
        stats = MixtureStats(
            bound=np.asarray(block.weights @ log_p),
            weight=np.asarray(block.weights.sum()),
            classes=classes[0].copy(),
            ones=_expected_ones(x, r, block.weights),
            observed=product_with_totals(o.T, r, classes),
        )
        return stats, None

    def objective(self, params: MixtureParams, stats: MixtureStats) -> float:
        """Return log-likelihood plus log prior, s Sum_jk [ m_j ln theta_jk + (1 - m_j) ln(1 - theta_jk) ]."""
        prior = np.sum(params.prior_mean @ params.logits) + np.sum(params.off_totals)
        return float(stats.bound) + self.prior_strength * float(prior)

    def update(self, params: MixtureParams, stats: MixtureStats) -> MixtureParams:
        """M-step: pi = share of the rows, theta = (ones + s m) / (observed + s)."""
        s, m = self.prior_strength, params.prior_mean
        pi = class_shares(stats.classes, float(stats.weight))
        theta = share_or(stats.ones + s * m[:, None], stats.observed + s, m[:, None], float(stats.weight))
        return MixtureParams(pi, clip_probability(theta), m)

    def to_vector(self, params: MixtureParams) -> Floats:
        """Return ln pi and logit(theta): coordinates without borders, for extrapolation."""
        return np.concatenate([np.log(params.weights), params.logits.ravel()])

    def from_vector(self, vector: Floats, params: MixtureParams) -> MixtureParams:
        """Return parameters at `vector`; what is not extrapolated comes from `params`."""
        K = len(params.weights)
        logits = np.clip(vector[K:], -LARGEST_LOGIT, LARGEST_LOGIT).reshape(params.probabilities.shape)
        return MixtureParams(shares_at(vector[:K]), clip_probability(sigmoid(logits)), params.prior_mean)

    # Row functions: what the estimators' verbs rest on.

    def log_likelihood(self, params: MixtureParams, shared: Shared, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return self._posterior(shared, block, None, "posterior")[1]

    def posterior(self, params: MixtureParams, shared: Shared, block: Block) -> Floats:
        """Return r, the probability of each class given the row's observed bits."""
        return self._posterior(shared, block, None)[0]

    def cell_probabilities(self, params: MixtureParams) -> Floats:
        """Return theta."""
        return params.probabilities

    def log_joint(self, params: MixtureParams, x: Floats, h: Floats) -> float:
        """Return ln P(x, h) of one complete row: the definition."""
        k = int(np.argmax(h))
        theta = params.probabilities[:, k]
        return float(np.log(params.weights[k]) + np.sum(np.where(x == 1, np.log(theta), np.log1p(-theta))))

    def pseudo_statistics(self, params: MixtureParams, weight: float) -> MixtureStats:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        classes = weight * params.weights
        return MixtureStats(
            np.zeros(()), np.asarray(weight), classes, params.probabilities * classes, classes[None, :].copy()
        )


def _expected_ones(x: Operand, r: Floats, weights: Floats) -> Floats:
    """Return x' r, (d, K); where rows have hardly more than one of many classes, by these alone."""
    if r.shape[1] >= MANY_CLASSES and isinstance(x, np.ndarray) and x.shape[1] >= MANY_COLUMNS:
        active = r > NEGLIGIBLE * weights[:, None]
        if np.count_nonzero(active) * MANY_CLASSES < r.size:
            row, k = np.nonzero(active)
            shares = csr_array((r[row, k], (k, row)), shape=r.shape[::-1])
            return np.ascontiguousarray((shares @ x).T)
    return sums_over_rows(x, r)
