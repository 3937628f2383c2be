"""Scores of rows under a Bernoulli mixture, in logits: what standard errors are made of.

Coordinates: ln pi_k - ln pi_c for every class k but the largest, c; then logit(theta_kj), class by class. Given its
class k, a row has the score S: [class = l] - pi_l for each l, and in class k o_j (x_j - theta_kj) for each column.
The score of the row is the mean of S over its classes (Fisher), and its information E[-S'] - Var[S] (Louis).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.bernoulli_mixture.model import Mixture, MixtureParams
from hiddenbits.maths.free_parameters import FreeParameters, Quantity
from hiddenbits.maths.numerics import LARGEST_LOGIT, clip_probability, shares_at, sigmoid

FEWEST = 0.01  # a probability is at the border where fewer rows of its class than this are expected to differ


@dataclass(frozen=True, eq=False)
class MixtureScores:
    """The scores at given parameters."""

    model: Mixture
    params: MixtureParams

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return self.params.probabilities.size + len(self.params.weights) - 1

    @property
    def others(self) -> Floats:
        """All classes but the largest."""
        return np.delete(np.arange(len(self.params.weights)), int(np.argmax(self.params.weights)))

    def free(self, weight: float) -> FreeParameters:
        """Return the coordinates, of a fit to rows of this weight."""
        params, s, others = self.params, self.model.prior_strength, self.others
        pi, theta, m = params.weights, params.probabilities.T, params.prior_mean
        K, d = theta.shape
        p = K - 1 + K * d
        log_pi = np.log(pi)
        spread = theta * (1.0 - theta)
        few_rows = weight * pi < FEWEST
        few = (weight * pi[:, None] * np.minimum(theta, 1.0 - theta) < FEWEST) & (s == 0.0)
        jacobian_pi, jacobian_theta = np.zeros((K, p)), np.zeros((K * d, p))
        jacobian_pi[:, : K - 1] = (np.diag(pi) - np.outer(pi, pi))[:, others]
        jacobian_theta[:, K - 1 :] = np.diag(spread.ravel())
        return FreeParameters(
            vector=np.concatenate([log_pi[others] - log_pi.max(), params.logits.T.ravel()]),
            prior_gradient=np.concatenate([np.zeros(K - 1), (s * (m - theta)).ravel()]),
            prior_curvature=np.concatenate([np.zeros(K - 1), (s * spread).ravel()]),
            border=np.concatenate([few_rows[others], (few | few_rows[:, None]).ravel()]),
            ties=np.zeros((0, p)),
            quantities=(
                Quantity("weights", pi, jacobian_pi, ("class",), "probability"),
                Quantity("probabilities", theta, jacobian_theta, ("class", "column"), "probability"),
            ),
        )

    def at(self, vector: Floats) -> MixtureParams:
        """Return the parameters at a vector of coordinates."""
        d, K = self.params.probabilities.shape
        logs = np.zeros(K)
        logs[self.others] = vector[: K - 1]
        logits = np.clip(vector[K - 1 :], -LARGEST_LOGIT, LARGEST_LOGIT).reshape(K, d)
        return MixtureParams(
            shares_at(logs), clip_probability(sigmoid(np.ascontiguousarray(logits.T))), self.params.prior_mean
        )

    def _rows(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Return r, (n, K), x - theta, (K, n, d), 0 where not observed, and what was observed, (n, d)."""
        r = self.model.posterior(self.params, self.model.prepare(self.params), block)
        x, o = block.x.to_dense().astype(np.float64), block.observed.to_dense().astype(np.float64)
        return r, x - o * self.params.probabilities.T[:, None, :], o

    def _gradients(self, r: Floats, away: Floats) -> Floats:
        beta = (r.T[:, :, None] * away).transpose(1, 0, 2).reshape(len(r), -1)
        return np.concatenate([(r - self.params.weights)[:, self.others], beta], axis=1)

    def gradients(self, block: Block) -> Floats:
        """Return the gradient of ln P(row) of each row."""
        r, away, _ = self._rows(block)
        return self._gradients(r, away)

    def information(self, block: Block) -> Floats:
        """Return minus the second derivatives of the weighted log-likelihood of a block."""
        r, away, o = self._rows(block)
        pi, theta, others, w = self.params.weights, self.params.probabilities.T, self.others, block.weights
        g = self._gradients(r, away)
        total = (g * w[:, None]).T @ g
        K, d = theta.shape
        wr = w[:, None] * r
        size = wr.sum(axis=0)
        unit = np.eye(K) - pi  # row k: [k = l] - pi_l
        first = w.sum() * (np.diag(pi) - np.outer(pi, pi)) - (unit * size[:, None]).T @ unit
        total[: K - 1, : K - 1] += first[np.ix_(others, others)]
        for k in range(K):
            part = slice(K - 1 + k * d, K - 1 + (k + 1) * d)
            weighted = away[k] * wr[:, k : k + 1]
            cross = np.outer(unit[k, others], weighted.sum(axis=0))
            total[: K - 1, part] -= cross
            total[part, : K - 1] -= cross.T
            total[part, part] += np.diag((wr[:, k] @ o) * theta[k] * (1.0 - theta[k])) - weighted.T @ away[k]
        return total
