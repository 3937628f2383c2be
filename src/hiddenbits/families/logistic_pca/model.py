"""Logistic PCA: binary data from a few continuous latent dimensions (Tipping 1998).

    x ~ N(0, I),   P(t_i = 1 | x) = sigma(w_i.x + b_i)                                                      eqs 1, 2

ln P(t) has no closed form; Jaakkola and Jordan's bound has (eq 4): with kappa = tanh(xi/2)/(2 xi) for each cell,

    ln P(t | x) >= Sum_i [ r_i A_i - ln 2cosh(xi_i/2) - (kappa_i/2)(A_i^2 - xi_i^2) ],   A = w.x + b, r = t - 1/2

is quadratic in x, so that the posterior is Gaussian and everything is a matrix product:

    P = I + Sum kappa w w'   (eq 6, inverted)      h = Sum (r - kappa b) w,  mean = P^-1 h   (eq 7)
    xi^2 = w^' <x^ x^'> w^   (eq 8)                [Sum_n kappa <x^ x^'>] w^ = Sum_n r <x^>  (eq 11)

A missing cell has kappa = r = 0; kappa is -2 lambda(xi) in the paper.
An iteration computes xi from the stored posterior of each row, the posterior from xi, and the statistics from both.
Each of these steps, and the update, increases the bound or leaves it unchanged.

| letter | meaning | shape |
|---|---|---|
| W, b | loadings and intercepts | (d, q), (d,) |
| c | center of the prior of b | (d,) |
| w^, x^ | (w, b) of a column, (x, 1) of a row | (q + 1,) |
| S | <x^ x^'> of each row, packed | (rows, p), p = (q + 1)(q + 2)/2 |
| V | w^ w^' of each column, packed | (d, p) |
| t, r | a row of data, and t - 1/2; in functions that all models have, the data are `x` | (rows, d) |
| x | the latent position of a row; in `log_joint` it is `h` | (q,) |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import Operand, product_with_totals, sums_over_rows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.logistic_pca.cell_kernels import curvatures, inner_steps, quarter
from hiddenbits.families.logistic_pca.params import LogisticParams, LogisticStats, params_mismatch, stats_flaw
from hiddenbits.families.logistic_pca.refined_rows import VARIATIONAL_STEPS, converged_rows
from hiddenbits.families.logistic_pca.rows import LogisticRows
from hiddenbits.families.logistic_pca.start import expected_statistics, start_logistic
from hiddenbits.maths.missing_cells import MissingCells
from hiddenbits.maths.packed_symmetric import Posterior, identity, pack_outer, packed_size, unpack
from hiddenbits.maths.ridge import effective_ridge, log_prior
from hiddenbits.model_api import AsOnSubsample, Footprint, Key, Passes, Promises

LARGEST_PARAMETER = 1e3  # extrapolated loadings and intercepts are clipped to this
CELLS_PER_SLICE = 1 << 22  # cells that a row function processes together; taller blocks are divided
MAX_INNER_STEPS, STEPS_PER_CHECK = 64, 8  # of a posterior that must converge
CONVERGED_MOVE = {"d": 1e-8, "f": 1e-4}  # a row has converged if its mean moved less between checks; by precision


@dataclass(frozen=True, eq=False)
class PreparedLogistic:
    """Results of `prepare` for all blocks: w^ and V/4 in the precision of the cells, and the column sums of w^."""

    joint: AnyArray
    V4: AnyArray
    totals: AnyArray


@dataclass(frozen=True)
class Logistic(AsOnSubsample, LogisticRows):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        q.
    ridge : float
        Precision of the normal prior of the loadings, and of the intercepts around the logits of the column means.
    start_from : {"pca", "noise"}
        Principal components (in the first restart), or random loadings.
    dtype : {"float64", "float32"}
        Precision of the work on cells; statistics are always added in float64.
    cold_steps : int
        Inner steps for a row that has no posterior yet. With two, as in the paper, the fit loses 4 nats per row.
    warm_steps : int
        Inner steps for a row with a posterior from the last iteration.
    n_draws, seed : int
        Samples per row, and their seed, if a likelihood is estimated by importance sampling.
    """

    n_components: int = 2
    ridge: float = 0.1
    start_from: Literal["pca", "noise"] = "pca"
    dtype: Literal["float64", "float32"] = "float64"
    cold_steps: int = 10
    warm_steps: int = 1
    n_draws: int = 500
    seed: int = 0

    params_type = LogisticParams
    stats_type = LogisticStats
    carry_type = Posterior

    @property
    def promises(self) -> Promises:
        """The properties that hold for the model."""
        reasons = {"likelihood": "P(t) has no closed form: the fit uses a lower bound, the methods for rows integrate"}
        if self.dtype == "float32":
            reasons["monotone"] = "in float32 rounding may be larger than the last gains"
        float64 = self.dtype == "float64"
        return Promises(
            likelihood="bound",
            monotone=float64,
            deterministic=True,
            carry=True,
            accelerates=True,
            oracle="quadrature",
            why=reasons,
        )

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: three products of columns x p, and arrays of cells."""
        p = packed_size(self.n_components + 1)
        # Of arrays of cells only kappa is kept; float32 takes half the memory.
        size = (n_columns + (n_columns if row_cells >= n_columns else 0)) * (1.0 if self.dtype == "float64" else 0.5)
        return Footprint(working=size + 2 * p, statistics=n_columns * p, flops=6.0 * n_columns * p)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> LogisticParams:
        """Return principal components, or random loadings."""
        return start_logistic(self.n_components, self.start_from, summary, key, passes)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.ridge > 0.0

    def prepare(self, params: LogisticParams) -> PreparedLogistic:
        """Return w^, V/4 with V = packed w^ w^', and the column sums of w^."""
        return self.prepared(params, self.dtype)

    def prepared(self, params: LogisticParams, dtype: DTypeLike) -> PreparedLogistic:
        """Return the result of `prepare` in this precision."""
        joint = params.joint.astype(dtype)
        totals = joint.sum(axis=0, keepdims=True, dtype=np.float64)  # of the rounded numbers, as in the products
        return PreparedLogistic(joint, quarter(pack_outer(joint)), totals)

    def linear(self, shared: PreparedLogistic, block: Block) -> Floats:
        """Return Sum_i r_i w^_i for each row, through which the data enter the posterior."""
        return linear_terms(shared.joint, shared.totals, *self._operands(shared, block))

    def _operands(self, shared: PreparedLogistic, block: Block) -> tuple[Operand, Operand]:
        if shared.V4.dtype == np.float64:
            return block.operands()
        return block.x.operand(np.float32, slot="x"), block.observed.operand(np.float32, slot="observed")

    def _converged_posterior(self, shared: PreparedLogistic, linear: Floats, block: Block) -> tuple[Posterior, Floats]:
        """Return posterior and bound of each row after convergence, or after the maximum number of steps."""
        posterior, bounds = self.cold(shared, block), np.empty(block.n_rows)
        moving_rows, current, limit = np.arange(block.n_rows), posterior, CONVERGED_MOVE[shared.V4.dtype.char]
        for _ in range(0, MAX_INNER_STEPS, STEPS_PER_CHECK):
            missing = MissingCells.of(block.observed.take(moving_rows))
            new, _, bounds[moving_rows] = inner_steps(shared.V4, linear[moving_rows], missing, current, STEPS_PER_CHECK)
            moving = np.abs(new.mean - current.mean).max(axis=1) > limit
            posterior.mean[moving_rows], posterior.covariance[moving_rows] = new.mean, new.covariance
            moving_rows, current = moving_rows[moving], Posterior(new.mean[moving], new.covariance[moving])
            if not len(moving_rows):
                break
        return posterior, bounds

    def cold(self, shared: PreparedLogistic, block: Block) -> Posterior:
        """Return the prior, for rows that have no posterior yet."""
        q = shared.joint.shape[1] - 1
        return Posterior(np.zeros((block.n_rows, q)), np.tile(identity(q), (block.n_rows, 1)))

    def expect(
        self, params: LogisticParams, shared: PreparedLogistic, block: Block, carry: Posterior | None, key: Key
    ) -> tuple[LogisticStats, Posterior]:
        """E-step: the posterior of each row, and with it the two sums of each column."""
        operands, missing = self._operands(shared, block), MissingCells.of(block.observed)
        linear = linear_terms(shared.joint, shared.totals, *operands)
        posterior, kappa, bound = self.expect_rows(shared, block, linear, missing, carry)
        sums = linear_sums(operands, block.weights[:, None] * posterior.extended(), self.dtype)
        return self.sum_rows(block.weights, sums, posterior, kappa, bound), posterior

    def expect_rows(
        self,
        shared: PreparedLogistic,
        block: Block,
        linear: Floats,
        missing: MissingCells,
        carry: Posterior | None,
    ) -> tuple[Posterior, AnyArray, Floats]:
        """Return the posterior of each row, 4 kappa (in a buffer of this thread) and the bound of each row."""
        n_steps = self.cold_steps if carry is None else self.warm_steps
        return inner_steps(shared.V4, linear, missing, carry or self.cold(shared, block), n_steps)

    def sum_rows(
        self, weights: Floats, linear: Floats, posterior: Posterior, kappa: AnyArray, bound: Floats
    ) -> LogisticStats:
        """Return the statistics of rows with these weights; `linear` comes from `linear_sums`."""
        return LogisticStats(
            bound=np.asarray(weights @ bound),
            weight=np.asarray(weights.sum()),
            moments=curvatures(kappa, posterior, weights),
            linear=linear,
        )

    def objective(self, params: LogisticParams, stats: LogisticStats) -> float:
        """Return the bound plus the log prior, -(ridge/2) Sum (|w|^2 + (b - c)^2)."""
        return float(stats.bound) + float(log_prior(params.joint, params.center, self.ridge).sum())

    def update(self, params: LogisticParams, stats: LogisticStats) -> LogisticParams:
        """M-step, eq 11 with the prior: d small linear systems."""
        ridge = effective_ridge(self.ridge)
        right = stats.linear.copy()
        right[:, -1] += ridge * params.center
        k = params.n_components + 1
        left = unpack(stats.moments, k) + ridge * np.eye(k)
        return params.with_joint(np.asarray(np.linalg.solve(left, right[..., None])[..., 0], np.float64))

    def to_vector(self, params: LogisticParams) -> Floats:
        """Return W and b in one row."""
        return params.joint.ravel()

    def from_vector(self, vector: Floats, params: LogisticParams) -> LogisticParams:
        """Return parameters with W and b from `vector`, and the center of `params`."""
        return params.with_joint(np.clip(vector, -LARGEST_PARAMETER, LARGEST_PARAMETER).reshape(params.joint.shape))

    # Row functions: see LatentRows and LogisticRows for those that integrate.

    def gaussian_rows(self, params: LogisticParams, block: Block, *, refined: bool) -> tuple[Posterior, Floats]:
        """Return the Gaussian posterior and the bound of each row: Jaakkola and Jordan's, or the best Gaussian."""
        shared, posteriors, bounds = self.prepare(params), [], []
        for part in _slices(block):
            linear = self.linear(shared, part)
            if refined:
                missing, cold = MissingCells.of(part.observed), self.cold(shared, part)
                posterior = inner_steps(shared.V4, linear, missing, cold, min(self.cold_steps, VARIATIONAL_STEPS))[0]
                rows = converged_rows(params, linear, part, missing, posterior)
                posterior, bound = rows.posterior, rows.bound
            else:
                posterior, bound = self._converged_posterior(shared, linear, part)
            posteriors.append(posterior)
            bounds.append(bound)
        mean, covariance = (np.concatenate([getattr(f, name) for f in posteriors]) for name in ("mean", "covariance"))
        return Posterior(mean, covariance), np.concatenate(bounds)

    def gaussian_posterior(self, params: LogisticParams, block: Block, *, refined: bool) -> Posterior:
        """Return the Gaussian posterior of each row: that of the bound, or the best Gaussian."""
        return self.gaussian_rows(params, block, refined=refined)[0]

    def posterior_moments(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side."""
        posterior = self.gaussian_posterior(params, block, refined=False)
        return np.concatenate([posterior.mean, posterior.covariance], axis=1)

    def bound_rows(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return Jaakkola and Jordan's lower bound of ln P(t) of each row."""
        return self.gaussian_rows(params, block, refined=False)[1]

    def mismatch(self, params: LogisticParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        return params_mismatch(self.n_components, params)

    def stats_flaw(self, stats: LogisticStats, params: LogisticParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        return stats_flaw(stats, params)

    def pseudo_statistics(self, params: LogisticParams, weight: float) -> LogisticStats:
        """Return the statistics that the model expects, for online EM to continue from a fit."""
        return expected_statistics(params, weight, self.ridge)


def linear_terms(joint: AnyArray, totals: AnyArray, x: Operand, o: Operand) -> Floats:
    """Return Sum_i r_i w^_i for each row, given the columns w^ of one or more maps and their sums."""
    return np.asarray(x @ joint - 0.5 * product_with_totals(o, joint, totals), np.float64)


def linear_sums(operands: tuple[Operand, Operand], extended: Floats, dtype: DTypeLike = np.float64) -> Floats:
    """Return Sum_n r x^ for each column, given the weighted x^ of rows on one or more maps."""
    x, o = operands
    numbers = extended.astype(dtype, copy=False)
    return np.asarray(sums_over_rows(x, numbers) - 0.5 * sums_over_rows(o, numbers), np.float64)


def _slices(block: Block) -> Iterator[Block]:
    """Yield parts of a block with few enough rows for arrays of rows x columns."""
    step = max(1, CELLS_PER_SLICE // max(block.n_columns, 1))
    if step >= block.n_rows:
        yield block
        return
    for start in range(0, block.n_rows, step):
        rows = slice(start, min(start + step, block.n_rows))
        x, observed = block.x.rows(rows.start, rows.stop), block.observed.rows(rows.start, rows.stop)
        yield Block(x, observed, block.weights[rows], block.number, block.start + rows.start)
