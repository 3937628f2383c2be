"""Scores of rows under latent classes, in logits: what standard errors are made of.

Coordinates: ln pi_k - ln pi_c for every class k but the largest, c; then, class by class, logit(theta_kj) of a binary
column and ln p_kl - ln p_kc for every level but the class's most probable, c. Given its class k, a row has the score S:
[class = l] - pi_l for each l, and in class k o_j (x_j - theta_kj) for each bit (o: the column's cell is recorded). The
score of the row is the mean of S over its classes (Fisher), and its information E[-S'] - Var[S] (Louis).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Block, observed_cells
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.columns.levels import from_logs
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.numerics import LARGEST_LOGIT, shares_at, sigmoid

FEWEST = 0.01  # a probability is at the border where fewer rows of its class than this are expected to differ


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores at given parameters."""

    model: Classes
    params: NodeParams

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self.moving.sum()) + len(self.params.weights) - 1

    @property
    def others(self) -> NDArray[np.intp]:
        """All classes but the largest."""
        return np.delete(np.arange(len(self.params.weights)), int(np.argmax(self.params.weights)))

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """Which bits have a coordinate in each class, (K, d): all but the most probable level of each column."""
        theta, layout = self.params.probabilities.T, self.params.layout
        moving = np.ones(theta.shape, bool)
        for start, size in zip(layout.starts, layout.sizes, strict=True):
            if size > 1:
                moving[np.arange(len(theta)), start + theta[:, start : start + size].argmax(axis=1)] = False
        return moving

    @property
    def _parts(self) -> list[slice]:
        """Which coordinates belong to each class."""
        ends = len(self.params.weights) - 1 + np.cumsum(self.moving.sum(axis=1))
        return [slice(end - int(m.sum()), end) for end, m in zip(ends.tolist(), self.moving, strict=True)]

    def _slopes(self, k: int) -> Floats:
        """Return the derivatives of the probabilities of a class by their logits, (d, d)."""
        theta, layout = self.params.probabilities[:, k], self.params.layout
        same = layout.is_level[:, None] & (layout.columns[:, None] == layout.columns)
        return np.asarray(np.diag(theta * np.where(layout.is_level, 1.0, 1.0 - theta)) - same * np.outer(theta, theta))

    def free(self, weight: float) -> FreeParameters:
        """Return the coordinates, of a fit to rows of this weight."""
        params, s, others, moving = self.params, self.model.prior_strength, self.others, self.moving
        pi, theta, m, is_level = params.weights, params.probabilities.T, params.prior_mean, params.layout.is_level
        (K, d), p = theta.shape, self.n_coordinates
        log_pi = np.log(pi)
        few_rows = weight * pi < FEWEST
        rarer = np.where(is_level, theta, np.minimum(theta, 1.0 - theta))
        few = (weight * pi[:, None] * rarer < FEWEST) & (s == 0.0)
        jacobian_pi, jacobian_theta, curvature = np.zeros((K, p)), np.zeros((K, d, p)), np.zeros((p, p))
        jacobian_pi[:, : K - 1] = (np.diag(pi) - np.outer(pi, pi))[:, others]
        for k, part in enumerate(self._parts):
            slopes = self._slopes(k)
            jacobian_theta[k, :, part] = slopes[:, moving[k]]
            curvature[part, part] = s * slopes[np.ix_(moving[k], moving[k])]
        largest = np.maximum.reduceat(np.log(theta), params.layout.starts, axis=1)[:, params.layout.columns]
        logits = np.where(is_level, np.log(theta) - largest, params.logits.T)
        return FreeParameters(
            vector=np.concatenate([log_pi[others] - log_pi.max(), logits[moving]]),
            prior_gradient=np.concatenate([np.zeros(K - 1), (s * (m - theta))[moving]]),
            prior_curvature=curvature,
            border=np.concatenate([few_rows[others], (few | few_rows[:, None])[moving]]),
            ties=np.zeros((0, p)),
            quantities=(
                Quantity("weights", pi, jacobian_pi, ("class",), "probability"),
                Quantity("probabilities", theta, jacobian_theta.reshape(-1, p), ("class", "column"), "probability"),
            ),
        )

    def at(self, vector: Floats) -> NodeParams:
        """Return the parameters at a vector of coordinates."""
        params, layout, K = self.params, self.params.layout, len(self.params.weights)
        logs = np.zeros(K)
        logs[self.others] = vector[: K - 1]
        logits = np.zeros(self.moving.shape)
        logits[self.moving] = np.clip(vector[K - 1 :], -LARGEST_LOGIT, LARGEST_LOGIT)
        of_bits, of_levels = sigmoid(np.ascontiguousarray(logits.T)), from_logs(logits.T, layout)
        theta = np.where(layout.is_level[:, None], of_levels, of_bits)
        return params.at(shares_at(logs), theta)

    def _rows(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Return r, (n, K), x - theta, (K, n, d), 0 where not recorded, and what was recorded, (n, d)."""
        r = self.model.posterior(self.params, self.model.prepare(self.params), block)
        x = block.x.to_dense().astype(np.float64)
        o = observed_cells(block.x, block.observed, self.model.sizes).astype(np.float64)
        return r, x - o * self.params.probabilities.T[:, None, :], o

    def _gradients(self, r: Floats, away: Floats) -> Floats:
        of_bits = [r[:, k, None] * away[k][:, self.moving[k]] for k in range(len(away))]
        return np.concatenate([(r - self.params.weights)[:, self.others], *of_bits], axis=1)

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        r, away, _ = self._rows(block)
        return self._gradients(r, away)

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood of a block."""
        r, away, o = self._rows(block)
        pi, others, w, K = self.params.weights, self.others, block.weights, len(self.params.weights)
        g = self._gradients(r, away)
        total = (g * w[:, None]).T @ g
        wr = w[:, None] * r
        size = wr.sum(axis=0)
        unit = np.eye(K) - pi  # row k: [k = l] - pi_l
        first = w.sum() * (np.diag(pi) - np.outer(pi, pi)) - (unit * size[:, None]).T @ unit
        total[: K - 1, : K - 1] += first[np.ix_(others, others)]
        for k, part in enumerate(self._parts):
            bits = self.moving[k]
            weighted = (away[k] * wr[:, k : k + 1])[:, bits]
            cross = np.outer(unit[k, others], weighted.sum(axis=0))
            total[: K - 1, part] -= cross
            total[part, : K - 1] -= cross.T
            recorded = (wr[:, k] @ o)[:, None] * self._slopes(k)
            total[part, part] += recorded[np.ix_(bits, bits)] - weighted.T @ away[k][:, bits]
        return total
