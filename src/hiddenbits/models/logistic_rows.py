"""What logistic PCA says about rows: likelihoods, missing cells, left-out bits, all integrated over the hidden x.

On a grid (up to three dimensions, where one fine enough is small enough) the integrals are exact to about 1e-8.
Elsewhere they are importance sampled: each row draws from its own Gaussian posterior, and the draws are weighted by
P(t | x) p(x) / q(x). Either way a row has nodes with posterior weights, and the answers are weighted means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from hiddenbits.data import Block
from hiddenbits.data.operands import product_with_totals
from hiddenbits.models.latent_gaussian import Rule, newton_tops, row_draws
from hiddenbits.models.logistic_cells import Blanks
from hiddenbits.models.logistic_params import LogisticParams, Posterior
from hiddenbits.models.packed import unpack
from hiddenbits.models.special import sigmoid, softmax_rows

Floats = NDArray[np.float64]

FURTHEST = 300.0  # activations beyond this are certain; exp of them is still a number
NODE_NUMBERS = 1 << 20  # numbers of a table of nodes and columns, or nodes and rows, that are worked on together


def activations(params: LogisticParams, nodes: Floats) -> Floats:
    """Return A = W x + b for every node, (nodes, d)."""
    A = nodes @ params.loadings.T
    A += params.intercepts
    return np.clip(A, -FURTHEST, FURTHEST, out=A)


def softplus(A: Floats) -> Floats:
    """Return ln(1 + exp(A))."""
    return np.asarray(np.logaddexp(0.0, A))


def node_scores(params: LogisticParams, rule: Rule, x: Any, o: Any) -> Floats:
    """Return ln P(t | node) + ln weight for every row and node: x A' - o softplus(A)'."""
    step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
    scores = []
    for start in range(0, len(rule.nodes), step):
        A = activations(params, rule.nodes[start : start + step])
        off = np.ascontiguousarray(softplus(A).T)
        totals = off.sum(axis=0, keepdims=True)
        part = np.asarray(x @ np.ascontiguousarray(A.T)) - product_with_totals(o, off, totals)
        scores.append(part + rule.log_weights[start : start + step])
    return np.concatenate(scores, axis=1)


def odds(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the odds of a 1, those of a 0, and P(1): what `left_out` needs the posterior means of."""
    return np.exp(A), np.exp(-A), sigmoid(A)


def left_out(block: Block, up: Floats, down: Floats, mean: Floats) -> Floats:
    """Return P(t_i = 1 | the other observed bits) for every cell, given the posterior means of `odds`.

    Without bit i a node's weight is divided by P(t_i | x). So with t_i = 1 the answer is 1/(1 + E[exp(-A)]), with
    t_i = 0 it is E[exp(A)]/(1 + E[exp(A)]), and for a missing bit E[sigma(A)], E over the posterior of the row.
    """
    x, observed = block.x.to_dense(), block.observed.to_dense()
    return np.where(observed == 0, mean, np.where(x == 1, 1.0 / (1.0 + down), up / (1.0 + up)))


class LatentRows(ABC):
    """The row functions that all variants of logistic PCA share."""

    n_draws: int
    seed: int

    @abstractmethod
    def gaussian_posterior(self, params: LogisticParams, block: Block, *, polished: bool) -> Posterior:
        """Return a Gaussian posterior of each row."""

    @abstractmethod
    def posterior_moments(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side."""

    def rule(self, params: LogisticParams) -> Rule | None:
        """Return the grid to integrate on; None where importance sampling has to do."""
        return params.grid

    def _on_grid(self, params: LogisticParams, rule: Rule, block: Block) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with the posterior weights of all nodes and ln P(t)."""
        step = max(1, 2 * NODE_NUMBERS // len(rule.nodes))
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            x, o = block.x.rows(rows.start, rows.stop), block.observed.rows(rows.start, rows.stop)
            weights = node_scores(params, rule, x.operand(slot="x"), o.operand(slot="observed"))
            log_p = softmax_rows(weights)
            yield rows, weights, log_p

    def _drawn(self, params: LogisticParams, block: Block) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with activations (rows, draws, d) and log importance weights (rows, draws)."""
        q, n_draws, d = params.n_components, self.n_draws, params.n_columns
        posterior = self.gaussian_posterior(params, block, polished=True)
        roots = np.linalg.cholesky(unpack(posterior.covariance, q))
        z = row_draws(self.seed, block.start, (block.n_rows, n_draws, q))
        nodes = posterior.mean[:, None, :] + z @ np.swapaxes(roots, 1, 2)
        log_det = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        ratio = 0.5 * ((z * z).sum(axis=2) - (nodes * nodes).sum(axis=2)) + log_det[:, None]  # ln p(x) / q(x)
        x, o = block.operands()
        step = max(1, NODE_NUMBERS // max(n_draws * d, 1))
        joint = params.joint
        linear = np.asarray(x @ joint - 0.5 * (o @ joint))  # Sum r w^: r A summed over columns is linear in x
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            A = activations(params, nodes[rows].reshape(-1, q)).reshape(-1, n_draws, d)
            log_cosh = np.abs(A) * 0.5
            log_cosh += np.log1p(np.exp(-2.0 * log_cosh))
            blanks = Blanks.of(block.observed.rows(rows.start, rows.stop))
            if blanks.where is not None:
                log_cosh = np.moveaxis(log_cosh, 1, 2)  # (rows, d, draws): an index of cells fits
                blanks.fill(log_cosh, 0.0)
                log_cosh = np.moveaxis(log_cosh, 2, 1)
            scores = ratio[rows] - log_cosh.sum(axis=2)
            scores += (nodes[rows] @ linear[rows, :q, None])[..., 0] + linear[rows, q:]
            yield rows, A, scores

    def likelihood_and_error(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error: 0 on a grid."""
        out = np.zeros((block.n_rows, 2))
        if (rule := self.rule(params)) is not None:
            for rows, _, log_p in self._on_grid(params, rule, block):
                out[rows, 0] = log_p
            return out
        for rows, _, scores in self._drawn(params, block):
            out[rows, 0] = logsumexp(scores, axis=1) - np.log(self.n_draws)
            ratio = np.exp(scores - out[rows, :1])
            out[rows, 1] = ratio.std(axis=1, ddof=1) / np.sqrt(self.n_draws)
        return out

    def log_likelihood(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return np.ascontiguousarray(self.likelihood_and_error(params, shared, block)[:, 0])

    def posterior(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return the posterior mean of each row's x."""
        return np.ascontiguousarray(self.posterior_moments(params, shared, block)[:, : params.n_components])

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

    def reconstruct(self, params: LogisticParams, codes: Floats) -> Floats:
        """Return P(bit = 1 | x)."""
        return sigmoid(activations(params, codes))

    def fill(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn anew: E[sigma(A)]."""
        return self.weighted(params, block, lambda A: (sigmoid(A),))[0][0]

    def leave_one_out(self, params: LogisticParams, shared: Any, block: Block) -> Floats:
        """Return P(t_i = 1 | the other observed bits) for every cell."""
        return left_out(block, *self.weighted(params, block, odds)[0])

    def weighted(self, params: LogisticParams, block: Block, functions: Any) -> tuple[list[Floats], Floats]:
        """Return the posterior means of functions of the activations, each (rows, d), and ln P(observed bits)."""
        out = [np.zeros((block.n_rows, params.n_columns)) for _ in functions(np.zeros((1, 1)))]
        rule, log_p = self.rule(params), np.zeros(block.n_rows)
        if rule is None:
            for rows, A, scores in self._drawn(params, block):
                log_p[rows] = softmax_rows(scores) - np.log(self.n_draws)
                for total, values in zip(out, functions(A), strict=True):
                    total[rows] = np.matmul(scores[:, None, :], values)[:, 0, :]
            return out, log_p
        step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
        for rows, weights, log_of_sum in self._on_grid(params, rule, block):
            log_p[rows] = log_of_sum
            for start in range(0, len(rule.nodes), step):
                some = slice(start, start + step)
                A = activations(params, rule.nodes[some])
                for total, values in zip(out, functions(A), strict=True):
                    total[rows] += weights[:, some] @ values
        return out, log_p

    def draw(self, params: LogisticParams, n: int, rng: np.random.Generator) -> tuple[NDArray[np.uint8], Floats]:
        """Draw n rows and their x."""
        codes = rng.standard_normal((n, params.n_components))
        x = rng.random((n, params.n_columns)) < self.reconstruct(params, codes)
        return x.view(np.uint8), codes

    def log_joint(self, params: LogisticParams, x: Floats, h: Floats) -> float:
        """Return ln P(t | x) + ln p(x) of one complete row t and its hidden x: the definition."""
        A = params.loadings @ h + params.intercepts
        prior = -0.5 * float(h @ h) - 0.5 * len(h) * float(np.log(2.0 * np.pi))
        return prior + float(np.sum(np.where(x == 1, -np.logaddexp(0.0, -A), -np.logaddexp(0.0, A))))
