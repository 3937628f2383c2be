"""Logistic PCA for sparse tables: the cost of an iteration depends on the number of 1s, not of cells.

In a row without missing values ln P(t | x) = Sum_ones (w_j.x + b_j) - F(x), where Sum_ones is the sum over the cells
that are 1, and F(x) = Sum_j ln(1 + exp(w_j.x + b_j)) is one smooth function of q numbers for all rows. Rows are grouped
into cells of the latent space, and F is expanded around an anchor in each, smoothed by the posterior's covariance:

    C_a = (I + H_a)^-1,    mean = C_a (Sum_ones w - g_a + H_a x_a)          g_a, H_a: gradient and Hessian at the anchor

so that a row costs a sum over its 1s and a search for its cell. The bound of all rows, with N_a, m_a, V_a the weight,
mean and spread of the means in a cell and T_a = C_a + V_a,

    J = Sum_j [ w^_j.Sum_ones x^ - Sum_a N_a E f(w_j.x + b_j) ] - Sum_n KL_n,    x ~ N(m_a, T_a),  f = ln(1 + exp)

is that of the refinement, except for third moments within cells. Columns make Newton steps on J, shortened if J would
decrease. Columns without 1s have the same sums, so they share one (w, b).

Rows move between cells, new cells are cut after some iterations, and W and b are scaled so that x keeps mean 0 and
variance 1. If rows stayed in their cells, J could increase forever where loadings are large: J is only approximately a
bound, and an expansion is useless outside its cell. So J fluctuates a little. Convergence is therefore checked after
MIN_ITERATIONS, over several iterations (`engine/loops/planned.py`). The tests compare J with the exact bound.

| letter | meaning | shape |
|---|---|---|
| W, b, c | loadings, intercepts, center of the prior of b | (d, q), (d,), (d,) |
| w^, x^ | (w, b) of a column, (x, 1) of a row | (q + 1,) |
| A, a | number of cells, a cell | |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.kernels import compiled_twin
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.logistic_pca.params import params_mismatch
from hiddenbits.families.logistic_pca.sparse.expectations import (
    at_anchors,
    softplus_steps,
    softplus_sums,
    start_sparse,
)
from hiddenbits.families.logistic_pca.sparse.params import (
    AnchoredParams,
    AnchoredStats,
    CellTree,
    RowMeans,
    axis_variances,
    cut,
)
from hiddenbits.maths.packed_symmetric import identity, invert, pack, pack_outer, packed_size, row_dot, times, unpack
from hiddenbits.maths.ridge import effective_ridge, log_prior
from hiddenbits.model_api import Footprint, Key, Passes, Promises

FIRST_CUTS, CUT_EVERY = (0, 1, 2, 4), 8  # new cells are cut after these iterations, and then after every 8th
MIN_ITERATIONS = 12  # before a small change may mean convergence
# Number and maximum length of the steps of a row's mean, without and with a stored mean.
COLD_STEPS, WARM_STEPS = (10, 1.0), (2, 0.3)
LONGEST_COLUMN_STEP = 5.0  # of a column's (w, b)
STEP_LENGTHS = (1.0, 0.25, 0.0625)  # shares of a column's full step, tried in turn; if all fail it does not move
ROUNDING = 1e-13  # a smaller relative decrease of J is rounding


_compiled = compiled_twin("hiddenbits.families.logistic_pca.sparse.kernels_numba", "settle")


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The mean and the cell of each row; packed C and ln |C| of each cell."""

    mean: Floats
    cell: Rows
    covariances: Floats
    log_determinants: Floats

    def sums(self, weights: Floats, n_cells: int) -> tuple[Floats, Floats, Floats]:
        """Return for each cell (weight, sum of means, sum of packed squares of means) and Sum C; and Sum ln |C|."""
        n = len(self.mean)
        members = sparse.csr_array((weights, self.cell, np.arange(n + 1)), shape=(n, n_cells)).T
        groups = np.asarray(members @ np.hstack([np.ones((n, 1)), self.mean, pack_outer(self.mean)]))
        return groups, groups[:, :1] * self.covariances, groups[:, 0] @ self.log_determinants


@dataclass(frozen=True, eq=False)
class AnchorExpansions:
    """The expansions of F in an iteration: W, the tree, and for each cell C_a and C_a (H_a x_a - g_a)."""

    loadings: Floats
    cells: CellTree
    covariances: Floats
    matrices: Floats
    offsets: Floats
    log_determinants: Floats  # of the C_a

    @cached_property
    def by_cell(self) -> Floats:
        """Return the C_a, (A, q, q)."""
        return np.ascontiguousarray(self.matrices.transpose(2, 0, 1))

    def posteriors(self, pull: Floats, carry: RowMeans | None) -> Posteriors:
        """Return the mean of each row from the expansion in its cell."""
        mean = np.zeros_like(pull) if carry is None else carry.mean.astype(np.float64)
        n_steps, longest = COLD_STEPS if carry is None else WARM_STEPS
        if compiled := _compiled():
            cell, tree = np.zeros(len(mean), np.int64), self.cells
            nodes = tree.axis, tree.threshold, tree.child, tree.leaf
            compiled(pull, mean, nodes, self.by_cell, self.offsets, n_steps, longest, cell)
            return Posteriors(mean, cell, self.covariances, self.log_determinants)
        for _ in range(n_steps):
            cell = self.cells.find(mean)
            step = _expanded_means(self, cell, pull) - mean
            size = np.sqrt(row_dot(step, step))[:, None]
            mean = mean + step * np.minimum(1.0, longest / np.maximum(size, longest))
        return Posteriors(mean, cell, self.covariances, self.log_determinants)


@dataclass(frozen=True)
class SparseLogistic:
    """The model; hyperparameters only: those of `Logistic`, the number of cells, and whether a pass cuts new cells."""

    n_components: int = 2
    ridge: float = 0.1
    start_from: Literal["pca", "noise"] = "pca"
    n_cells: int = 256
    new_cells: bool = True

    planned_passes: ClassVar[int] = MIN_ITERATIONS
    settles: ClassVar[bool] = True

    params_type = AnchoredParams
    stats_type = AnchoredStats
    carry_type = RowMeans

    @property
    def promises(self) -> Promises:
        """The properties that hold for the model."""
        reasons = {
            "likelihood": "P(t) has no closed form: the fit uses an approximate bound, the methods for rows integrate",
            "monotone": "the bound is approximate within a cell, and rows change cells",
            "accelerates": "rows change cells, and cells are cut again",
        }
        return Promises(
            likelihood="bound",
            monotone=False,
            carry=True,
            accelerates=False,
            oracle="quadrature",
            why=reasons,
        )

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: products with its 1s, and q x q numbers for each row."""
        q, dense = self.n_components, row_cells >= n_columns
        group = 1 + q + packed_size(q)
        return Footprint(
            working=(n_columns if dense else row_cells) + 4.0 * group + q * q + 16.0,
            statistics=n_columns * (q + 1) + self.n_cells * group,
            flops=4.0 * row_cells * (q + 1) + 10.0 * group + 100.0,
        )

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> AnchoredParams:
        """Return principal components, or random loadings, with cells for the prior."""
        return start_sparse(self.n_components, self.n_cells, self.start_from, summary, key, passes)

    def of_pass(self, params: AnchoredParams, key: Key, passes: Passes) -> SparseLogistic:
        """Return the model for this pass: some passes cut new cells."""
        number = key.pass_number
        return replace(self, new_cells=number in FIRST_CUTS or number % CUT_EVERY == 0)

    def prepare(self, params: AnchoredParams) -> AnchorExpansions:
        """Expand F around every anchor."""
        return _expansions(params)

    def expect(
        self, params: AnchoredParams, shared: AnchorExpansions, block: Block, carry: RowMeans | None, key: Key
    ) -> tuple[AnchoredStats, RowMeans]:
        """E-step: the mean of each row from the expansion in its cell, and the sums over cells and columns."""
        x, _ = block.operands()
        weights, A = block.weights, len(params.anchors)
        posteriors = shared.posteriors(np.asarray(x @ shared.loadings), carry)
        groups, covariances, log_determinant = posteriors.sums(weights, A)
        stats = AnchoredStats(
            weight=np.asarray(weights.sum()),
            groups=groups,
            covariances=covariances,
            log_determinant=np.asarray(log_determinant),
            linear=np.asarray(x.T @ (weights[:, None] * np.hstack([posteriors.mean, np.ones((len(weights), 1))]))),
        )
        return stats, RowMeans(posteriors.mean.astype(np.float32))

    def objective(self, params: AnchoredParams, stats: AnchoredStats) -> float:
        """Return J plus the log prior."""
        columns, copies = params.distinct
        groups = _groups(params, stats)
        sums, _, _ = _column_sums(params, stats)
        by_column = row_dot(params.joint[columns], stats.linear[columns]) - sums
        by_column += log_prior(params.joint[columns], params.center[columns], self.ridge)
        return float(copies @ by_column) - groups.divergence

    def update(self, params: AnchoredParams, stats: AnchoredStats) -> AnchoredParams:
        """M-step: a Newton step of every column, mean 0 and variance 1 of x, new anchors, sometimes new cells."""
        groups, q = _groups(params, stats), params.n_components
        joint = self._newton_columns(params, stats, groups)
        center, scale = groups.overall(float(stats.weight))
        joint[:, -1] += joint[:, :-1] @ center
        joint[:, :-1] = joint[:, :-1] @ scale
        inverse = np.linalg.inv(scale)
        anchors, covariances = (groups.mean - center) @ inverse.T, groups.covariance
        tree = params.axis, params.threshold, params.child
        if self.new_cells:
            spreads = pack(inverse @ unpack(groups.spread, q) @ inverse.T)
            *tree, anchors = cut(groups.weight, anchors, axis_variances(spreads, q), self.n_cells)  # type: ignore[assignment]
            covariances = covariances[params.cells.find(anchors)]
        all_columns = params.for_all_columns(joint)
        return AnchoredParams(
            loadings=np.ascontiguousarray(all_columns[:, :-1]),
            intercepts=all_columns[:, -1].copy(),
            center=params.center,
            empty=params.empty,
            axis=tree[0],
            threshold=tree[1],
            child=tree[2],
            anchors=anchors,
            covariances=covariances,
        )

    def _newton_columns(self, params: AnchoredParams, stats: AnchoredStats, groups: Groups) -> Floats:
        """Return (w, b) of the distinct columns after a Newton step each, shortened so that J does not decrease."""
        columns, _ = params.distinct
        ridge, k = effective_ridge(self.ridge), params.n_components + 1
        joint, linear, center = params.joint[columns], stats.linear[columns], params.center[columns]
        sums, slope, matrix = _column_sums(params, stats)
        gradient = linear - slope - ridge * joint
        gradient[:, -1] += ridge * center
        step = np.linalg.solve(unpack(matrix, k) + ridge * np.eye(k), gradient[..., None])[..., 0]
        size = np.sqrt(row_dot(step, step))[:, None]
        step *= np.minimum(1.0, LONGEST_COLUMN_STEP / np.maximum(size, LONGEST_COLUMN_STEP))
        before = row_dot(joint, linear) - sums + log_prior(joint, center, self.ridge)
        before -= ROUNDING * np.abs(before)
        out, remaining, occupied = joint.copy(), np.arange(len(joint)), groups.weight > 0.0
        cells = groups.weight[occupied], groups.mean[occupied], (groups.spread + groups.covariance)[occupied]
        for length in STEP_LENGTHS:
            candidate = joint[remaining] + length * step[remaining]
            after = row_dot(candidate, linear[remaining]) - softplus_sums(candidate, *cells)
            not_worse = after + log_prior(candidate, center[remaining], self.ridge) >= before[remaining]
            out[remaining[not_worse]] = candidate[not_worse]
            remaining = remaining[~not_worse]
            if not len(remaining):
                break
        return out

    def online(self) -> SparseLogistic:
        """Return the form of the model that online EM needs."""
        return OnlineSparseLogistic(**vars(self))

    def mismatch(self, params: AnchoredParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        return params_mismatch(self.n_components, params.without_cells())


class OnlineSparseLogistic(SparseLogistic):
    """The model for online EM: cells and the scale of x are fixed, so that the sums of cells can be averaged."""

    def update(self, params: AnchoredParams, stats: AnchoredStats) -> AnchoredParams:
        """M-step: a Newton step of every column, and new anchors."""
        groups = _groups(params, stats)
        all_columns = params.for_all_columns(self._newton_columns(params, stats, groups))
        return replace(
            params,
            loadings=np.ascontiguousarray(all_columns[:, :-1]),
            intercepts=all_columns[:, -1].copy(),
            anchors=groups.mean,
            covariances=groups.covariance,
        )


def _expanded_means(shared: AnchorExpansions, cell: Rows, pull: Floats) -> Floats:
    """Return C_a (Sum_ones w - g_a + H_a x_a) of each row."""
    out = shared.offsets[cell]
    for i, matrix_row in enumerate(shared.matrices):  # at most three dimensions
        for j, entries in enumerate(matrix_row):  # of all cells
            out[:, i] += entries[cell] * pull[:, j]
    return out


@lru_cache(maxsize=2)  # arguments are compared by identity; a pass, its objective and its update share the result
def _expansions(params: AnchoredParams) -> AnchorExpansions:
    columns, copies = params.distinct
    q = params.n_components
    gradient, hessian = at_anchors(params.joint[columns], copies, params.anchors, params.covariances)
    covariances, log_determinants = invert(identity(q) + hessian, q)
    matrices = np.ascontiguousarray(unpack(covariances, q).transpose(1, 2, 0))
    offsets = times(covariances, times(hessian, params.anchors) - gradient)
    return AnchorExpansions(params.loadings, params.cells, covariances, matrices, offsets, -log_determinants)


@dataclass(frozen=True, eq=False)
class Groups:
    """Of each cell: weight, mean and packed spread of the rows' means, mean covariance of the rows; and Sum KL."""

    weight: Floats
    mean: Floats
    spread: Floats
    covariance: Floats
    divergence: float

    def overall(self, weight: float) -> tuple[Floats, Floats]:
        """Return the mean of x over all rows, and the Cholesky root of its covariance."""
        q = self.mean.shape[1]
        center = self.weight @ self.mean / weight
        packed = self.weight @ (self.spread + self.covariance + pack_outer(self.mean - center)) / weight
        return center, np.linalg.cholesky(unpack(packed, q))


@lru_cache(maxsize=2)
def _groups(params: AnchoredParams, stats: AnchoredStats) -> Groups:
    q = params.n_components
    weight, sums, squares = stats.groups[:, 0], stats.groups[:, 1 : q + 1], stats.groups[:, q + 1 :]
    occupied = (weight > 0.0)[:, None]
    safe_weight = np.where(occupied, weight[:, None], 1.0)
    mean = np.where(occupied, sums / safe_weight, params.anchors)
    spread = np.where(occupied, squares / safe_weight - pack_outer(mean), 0.0)
    covariance = np.where(occupied, stats.covariances / safe_weight, params.covariances)
    traces = (squares + stats.covariances).sum(axis=0) @ identity(q)
    divergence = 0.5 * float(traces - q * weight.sum() - stats.log_determinant)
    return Groups(weight, mean, spread, covariance, divergence)


@lru_cache(maxsize=2)
def _column_sums(params: AnchoredParams, stats: AnchoredStats) -> tuple[Floats, Floats, Floats]:
    columns, _ = params.distinct
    groups = _groups(params, stats)
    occupied = groups.weight > 0.0
    cells = groups.weight[occupied], groups.mean[occupied], (groups.spread + groups.covariance)[occupied]
    return softplus_steps(params.joint[columns], *cells)
