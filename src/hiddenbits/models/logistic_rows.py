"""What logistic PCA says about rows: its link for `latent_rows`, the scores of drawn nodes, and the most probable x."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.data import Block
from hiddenbits.models.latent_gaussian import Rule, newton_tops
from hiddenbits.models.latent_rows import NODE_NUMBERS, LatentRows
from hiddenbits.models.logistic_cells import Blanks
from hiddenbits.models.logistic_params import LogisticParams, Posterior
from hiddenbits.models.special import sigmoid

Floats = NDArray[np.float64]

FURTHEST = 300.0  # activations beyond this are certain; exp of them is still a number


def activations(params: LogisticParams, nodes: Floats) -> Floats:
    """Return A = W x + b for every node, (nodes, d)."""
    A = nodes @ params.loadings.T
    A += params.intercepts
    return np.clip(A, -FURTHEST, FURTHEST, out=A)


def softplus(A: Floats) -> Floats:
    """Return ln(1 + exp(A))."""
    return np.asarray(np.logaddexp(0.0, A))


def odds(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the odds of a 1, those of a 0, and P(1): what `left_out` needs the posterior means of."""
    return np.exp(A), np.exp(-A), sigmoid(A)


class LogisticRows(LatentRows):
    """The row functions that all variants of logistic PCA share."""

    @abstractmethod
    def gaussian_posterior(self, params: LogisticParams, block: Block, *, polished: bool) -> Posterior:
        """Return a Gaussian posterior of each row."""

    def rule(self, params: LogisticParams) -> Rule | None:
        """Return the grid to integrate on; None where importance sampling has to do."""
        return params.grid

    def activations(self, params: LogisticParams, nodes: Floats) -> Floats:
        """Return A = W x + b for every node."""
        return activations(params, nodes)

    def probabilities(self, A: Floats) -> Floats:
        """Return sigma(A)."""
        return sigmoid(A)

    def log_odds(self, A: Floats) -> Floats:
        """Return A itself."""
        return A

    def log_zero(self, A: Floats) -> Floats:
        """Return -ln(1 + exp(A))."""
        return -softplus(A)

    def odds(self, A: Floats) -> tuple[Floats, Floats, Floats]:
        """Return exp(A), exp(-A) and sigma(A)."""
        return odds(A)

    def proposal(self, params: LogisticParams, block: Block) -> Posterior:
        """Return the best Gaussian posterior of each row."""
        return self.gaussian_posterior(params, block, polished=True)

    def drawn_scores(
        self, params: LogisticParams, block: Block, nodes: Floats
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with A (rows, draws, d) and ln P(t | x) (rows, draws) at nodes of their own."""
        q, n_draws, d = params.n_components, nodes.shape[1], params.n_columns
        x, o = block.operands()
        step = max(1, NODE_NUMBERS // max(n_draws * d, 1))
        joint = params.joint
        linear = np.asarray(x @ joint - 0.5 * (o @ joint))  # Sum r w^: r A summed over columns is linear in x
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            A = activations(params, nodes[rows].reshape(-1, q)).reshape(-1, n_draws, d)
            log_cosh = np.abs(A) * 0.5
            log_cosh += np.log1p(np.exp(-2.0 * log_cosh))
            Blanks.of(block.observed.rows(rows.start, rows.stop)).fill_drawn(log_cosh, 0.0)
            scores = (nodes[rows] @ linear[rows, :q, None])[..., 0] + linear[rows, q:]
            yield rows, A, scores - log_cosh.sum(axis=2)

    def code(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return the most probable x of each row: the top of ln P(t | x) p(x), by Newton steps from the mean.

        The function is concave and its curvature lies between 1 and P, so that a step that falls need only be halved.
        """
        x, o = block.operands()
        W, joint, q = params.loadings, params.joint, params.n_components
        blanks = Blanks.of(block.observed)
        linear = np.asarray(x @ joint - 0.5 * (o @ joint))

        def height(at: Floats) -> tuple[Floats, Floats]:
            A = activations(params, at)
            log_cosh = 0.5 * np.abs(A) + np.log1p(np.exp(-np.abs(A)))
            blanks.fill(log_cosh, 0.0)
            return (linear[:, :q] * at).sum(axis=1) - 0.5 * (at * at).sum(axis=1) - log_cosh.sum(axis=1), A

        def slopes(at: Floats, A: Floats) -> tuple[Floats, Floats]:
            p = sigmoid(A)
            slope, pull = p * (1.0 - p), p - 0.5
            blanks.fill(slope, 0.0)
            blanks.fill(pull, 0.0)
            curve = np.eye(q) + np.einsum("ni,ia,ib->nab", slope, W, W, optimize=True)
            return linear[:, :q] - pull @ W - at, curve

        return newton_tops(self.posterior(params, shared, block), height, slopes, n_steps=20, n_halvings=10)[0]

    def log_joint(self, params: LogisticParams, x: Floats, h: Floats) -> float:
        """Return ln P(t | x) + ln p(x) of one complete row t and its hidden x: the definition."""
        A = params.loadings @ h + params.intercepts
        prior = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        return prior + float(np.sum(np.where(x == 1, -np.logaddexp(0.0, -A), -np.logaddexp(0.0, A))))
