"""Logistic PCA on fixed nodes: exact EM on a grid, and the paper's EM on a sample from the prior (section 3).

With nodes x_l and weights pi_l in place of the prior the model is a mixture whose class probabilities are
P(t_i = 1 | l) = sigma(w_i.x_l + b_i) (eq 3), so that EM has sufficient statistics: for each column the expected 1s
and observed cells at each node. The M-step is a logistic regression for each column, by Newton steps that are halved
while they would decrease the objective. On a sufficiently fine grid the result is that of maximum likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.data.declared import WeightedSums
from hiddenbits.data.operands import sums_over_rows
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.logistic_pca.model import LARGEST_PARAMETER, Logistic
from hiddenbits.families.logistic_pca.params import LogisticParams, params_mismatch
from hiddenbits.families.logistic_pca.rows import LogisticRows, activations, safe_sigmoid
from hiddenbits.families.logistic_pca.start import start_logistic
from hiddenbits.maths.gauss_hermite import ACCURACY, Rule, accuracy, random_nodes, regular_grid
from hiddenbits.maths.numerics import softmax_rows, softplus
from hiddenbits.maths.packed_symmetric import Posterior, pack_outer, unpack
from hiddenbits.maths.ridge import effective_ridge, log_prior
from hiddenbits.model_api import AsOnSubsample, Footprint, Key, Passes, Promises

ROUNDING = 1e-13  # a smaller relative decrease is rounding: if steps depended on it, equal tables would fit differently
NEWTON_STEPS = 3  # of an M-step; few suffice, as it starts from the result of the last one
LEAST_ACCURACY = 5.0  # minus the log of a grid's relative error: exp(-5), about 1%, is good enough for a fit
GRID_NODES = {1: 121, 2: 31, 3: 15}  # default nodes along each axis, by the number of dimensions


@dataclass(frozen=True, eq=False)
class GridStats(WeightedSums):
    """Weighted log-likelihood, rows, and for each column and node the expected 1s and observed cells.

    `observed` has a single row if no cell is missing: it is then the same for every column.
    """

    bound: Floats
    weight: Floats
    ones: Floats
    observed: Floats


@dataclass(frozen=True)
class LogisticGrid(AsOnSubsample, LogisticRows):
    """The model; hyperparameters only.

    Parameters
    ----------
    n_components : int
        q: 1 to 3 on a grid, any number with a sample.
    ridge, start_from, n_draws, seed
        As for `Logistic`.
    nodes : {"grid", "draws"}
        A grid, or a sample from the prior keyed by `seed`.
    n_nodes : int or None
        Nodes of the grid along each axis, or the sample size; None for 121, 31, 15 (q = 1, 2, 3) or 500.
    """

    n_components: int = 2
    ridge: float = 0.1
    nodes: Literal["grid", "draws"] = "grid"
    n_nodes: int | None = None
    start_from: Literal["pca", "noise"] = "pca"
    n_draws: int = 500
    seed: int = 0

    promises = Promises()
    params_type = LogisticParams
    stats_type = GridStats
    carry_type = None

    @property
    def fitted_rule(self) -> Rule:
        """The nodes that the fit uses in place of the prior."""
        if self.nodes == "draws":
            return random_nodes(self.n_components, self.n_nodes or 500, self.seed)
        return regular_grid(self.n_components, self.n_nodes or GRID_NODES[self.n_components])

    def resolves(self, params: LogisticParams) -> bool:
        """Whether the nodes of the fit are a grid that is fine enough for these parameters."""
        return self.nodes == "grid" and accuracy(params.loadings, params.growth, self._spacing) >= ACCURACY

    def is_too_coarse(self, params: LogisticParams) -> bool:
        """Whether the fit's grid is too coarse for a reliable likelihood."""
        return self.nodes == "grid" and accuracy(params.loadings, params.growth, self._spacing) < LEAST_ACCURACY

    @property
    def _spacing(self) -> float:
        nodes = self.fitted_rule.nodes
        return float(nodes[1, -1] - nodes[0, -1])

    def rule(self, params: LogisticParams) -> Rule | None:
        """Return the grid of the fit if it is fine enough for these parameters, otherwise a finer one."""
        return self.fitted_rule if self.resolves(params) else params.grid

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: two products of row_cells x nodes."""
        L = len(self.fitted_rule.nodes)
        dense = n_columns if row_cells >= n_columns else 0
        return Footprint(working=dense + 2 * L, statistics=n_columns * L, flops=4 * row_cells * L)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> LogisticParams:
        """Return principal components, or random loadings."""
        return start_logistic(self.n_components, self.start_from, summary, key, passes)

    @property
    def has_prior(self) -> bool:
        """Whether a prior keeps parameters finite where a column does not vary."""
        return self.ridge > 0.0

    def prepare(self, params: LogisticParams) -> Floats:
        """Return the table of nodes."""
        return self.node_table(params, self.fitted_rule)

    def expect(
        self, params: LogisticParams, shared: Floats, block: Block, carry: None, key: Key
    ) -> tuple[GridStats, None]:
        """E-step: the posterior of the nodes, and with it the expected 1s and observed cells."""
        x, o = block.operands()
        r = self.node_scores(params, shared, self.pull(params, block), block.observed)
        log_p = softmax_rows(r, None, block.weights)
        stats = GridStats(
            bound=np.asarray(block.weights @ log_p),
            weight=np.asarray(block.weights.sum()),
            ones=sums_over_rows(x, r),
            observed=sums_over_rows(o, r),
        )
        return stats, None

    def objective(self, params: LogisticParams, stats: GridStats) -> float:
        """Return log-likelihood plus log prior, -(ridge/2) Sum (|w|^2 + (b - c)^2)."""
        return float(stats.bound) + float(log_prior(params.joint, params.center, self.ridge).sum())

    def _column_objectives(self, params: LogisticParams, joint: Floats, stats: GridStats, nodes: Floats) -> Floats:
        """Return the expected log-likelihood of each column, with its prior."""
        A = activations(params.with_joint(joint), nodes).T
        return np.asarray(
            (stats.ones * A - stats.observed * softplus(A)).sum(axis=1) + log_prior(joint, params.center, self.ridge)
        )

    def update(self, params: LogisticParams, stats: GridStats) -> LogisticParams:
        """M-step: weighted logistic regressions over the nodes, one for each column."""
        nodes, ridge, k = self.fitted_rule.nodes, effective_ridge(self.ridge), self.n_components + 1
        extended = np.column_stack([nodes, np.ones(len(nodes))])
        squares = pack_outer(extended)
        joint = params.joint
        best = self._column_objectives(params, joint, stats, nodes)
        for _ in range(NEWTON_STEPS):
            p = safe_sigmoid(activations(params.with_joint(joint), nodes)).T
            gradient = (stats.ones - stats.observed * p) @ extended - ridge * joint
            gradient[:, -1] += ridge * params.center
            matrix = unpack((stats.observed * (p * (1.0 - p))) @ squares, k) + ridge * np.eye(k)
            step = np.linalg.solve(matrix, gradient[..., None])[..., 0]
            for _ in range(12):
                new = self._column_objectives(params, joint + step, stats, nodes)
                decreased = ~(new >= best - ROUNDING * np.abs(best))
                if not decreased.any():
                    break
                step[decreased] *= 0.5
            step[decreased] = 0.0
            joint = joint + step
            best = np.where(decreased, best, new)
        return params.with_joint(joint)

    def to_vector(self, params: LogisticParams) -> Floats:
        """Return W and b in one row."""
        return params.joint.ravel()

    def from_vector(self, vector: Floats, params: LogisticParams) -> LogisticParams:
        """Return parameters with W and b from `vector`, and the center of `params`."""
        return params.with_joint(np.clip(vector, -LARGEST_PARAMETER, LARGEST_PARAMETER).reshape(params.joint.shape))

    def gaussian_posterior(self, params: LogisticParams, block: Block, *, refined: bool) -> Posterior:
        """Return the best Gaussian posterior of each row, to sample from."""
        return Logistic(params.n_components).gaussian_posterior(params, block, refined=refined)

    def posterior_moments(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side; exact on a grid."""
        rule = self.rule(params)
        if rule is None:
            posterior = self.gaussian_posterior(params, block, refined=True)
            return np.concatenate([posterior.mean, posterior.covariance], axis=1)
        return self.moments_on_grid(params, rule, block)

    def bound_rows(self, params: LogisticParams, shared: object, block: Block) -> Floats:
        """Return Jaakkola and Jordan's lower bound of ln P(t) of each row."""
        model = Logistic(params.n_components)
        return model.bound_rows(params, model.prepare(params), block)

    def hidden_states(self, params: LogisticParams) -> Floats:
        """Return the nodes."""
        return self.fitted_rule.nodes

    def log_joint(self, params: LogisticParams, x: Floats, h: Floats) -> float:
        """Return ln P(t | node) + ln weight of one complete row: the definition."""
        rule = self.fitted_rule
        nearest = int(np.argmin(((rule.nodes - h) ** 2).sum(axis=1)))
        normal = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        return super().log_joint(params, x, h) - normal + float(rule.log_weights[nearest])

    def mismatch(self, params: LogisticParams) -> str | None:
        """Return how valid parameters disagree with the hyperparameters, or None."""
        return params_mismatch(self.n_components, params)

    def stats_flaw(self, stats: GridStats, params: LogisticParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        shape = (params.n_columns, len(self.fitted_rule.nodes))
        if stats.ones.shape != shape or stats.observed.shape not in (shape, (1, shape[1])):
            return "the statistics have the wrong shapes"
        if stats.bound.shape != () or stats.weight.shape != () or stats.weight <= 0:
            return "the statistics have no weight"
        slack = 1e-6 * float(stats.weight)
        counts = [stats.ones, stats.observed - stats.ones, stats.weight - stats.observed.sum(axis=1)]
        return "the statistics are not counts" if any((count < -slack).any() for count in counts) else None

    def pseudo_statistics(self, params: LogisticParams, weight: float) -> GridStats:
        """Return the statistics that the model expects, for online EM to continue from a fit."""
        rule = self.fitted_rule
        share = weight * np.exp(rule.log_weights)[None, :]
        ones = safe_sigmoid(activations(params, rule.nodes)).T * share
        return GridStats(np.zeros(()), np.asarray(weight), ones, share)
