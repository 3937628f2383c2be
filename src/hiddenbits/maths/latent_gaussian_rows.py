"""What a model with a hidden x ~ N(0, I) says about rows, whatever links x to the bits; all integrated over x.

On a grid (up to three dimensions, where one fine enough is small enough) the integrals are exact to about 1e-8.
Elsewhere they are importance sampled: each row draws from its own Gaussian posterior, and the draws are weighted by
P(t | x) p(x) / q(x). Either way a row has nodes with posterior weights, and the answers are weighted means.

A model gives its activations A(x), one for each column, and its link: P(1), ln P(1)/P(0) and ln P(0) as functions of A.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

import numpy as np
from scipy.special import logsumexp

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.data.operands import Operand, product_with_totals
from hiddenbits.maths.gauss_hermite import Rule, row_draws
from hiddenbits.maths.numerics import softmax_rows
from hiddenbits.maths.packed_symmetric import Posterior, pack_outer, unpack

Functions = Callable[[Floats], tuple[Floats, ...]]

NODE_NUMBERS = 1 << 20  # numbers of a table of nodes and columns, or nodes and rows, that are worked on together


def left_out(block: Block, up: Floats, down: Floats, mean: Floats) -> Floats:
    """Return P(t_i = 1 | the other observed bits) for every cell, given the posterior means of the odds and of P.

    Without bit i a node's weight is divided by P(t_i | x). So with t_i = 1 the answer is 1/(1 + E[P(0)/P(1)]), with
    t_i = 0 it is u/(1 + u), u = E[P(1)/P(0)], and for a missing bit E[P(1)], E over the posterior of the row.
    """
    x, observed = block.x.to_dense(), block.observed.to_dense()
    return np.where(observed == 0, mean, np.where(x == 1, 1.0 / (1.0 + down), up / (1.0 + up)))


class MapParams(Protocol):
    """Parameters of a map of q dimensions."""

    @property
    def n_components(self) -> int:
        """Q."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""


P = TypeVar("P", bound=MapParams)


class LatentRows(ABC, Generic[P]):
    """The row functions that all models with a hidden Gaussian x and conditionally independent bits share."""

    n_draws: int
    seed: int

    @abstractmethod
    def rule(self, params: P) -> Rule | None:
        """Return the grid to integrate on; None where importance sampling has to do."""

    @abstractmethod
    def activations(self, params: P, nodes: Floats) -> Floats:
        """Return A at every node, (nodes, d)."""

    @abstractmethod
    def probabilities(self, A: Floats) -> Floats:
        """Return P(1)."""

    @abstractmethod
    def log_odds(self, A: Floats) -> Floats:
        """Return ln P(1)/P(0)."""

    @abstractmethod
    def log_zero(self, A: Floats) -> Floats:
        """Return ln P(0)."""

    @abstractmethod
    def proposal(self, params: P, block: Block) -> Posterior:
        """Return the Gaussian posterior that each row draws from."""

    @abstractmethod
    def drawn_scores(self, params: P, block: Block, nodes: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with A (rows, draws, d) and ln P(t | x) (rows, draws) at nodes of their own."""

    @abstractmethod
    def posterior_moments(self, params: P, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side."""

    def node_scores(self, params: P, rule: Rule, x: Operand, o: Operand) -> Floats:
        """Return ln P(t | node) + ln weight for every row and node: x L' + o F', L the log odds and F = ln P(0)."""
        step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
        scores = []
        for start in range(0, len(rule.nodes), step):
            A = self.activations(params, rule.nodes[start : start + step])
            off = np.ascontiguousarray(self.log_zero(A).T)
            totals = off.sum(axis=0, keepdims=True)
            part = np.asarray(x @ np.ascontiguousarray(self.log_odds(A).T)) + product_with_totals(o, off, totals)
            scores.append(part + rule.log_weights[start : start + step])
        return np.concatenate(scores, axis=1)

    def odds(self, A: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the odds of a 1, those of a 0, and P(1): what `left_out` needs the posterior means of."""
        logs = self.log_odds(A)
        return np.exp(logs), np.exp(-logs), self.probabilities(A)

    def on_grid(self, params: P, rule: Rule, block: Block) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with the posterior weights of all nodes and ln P(t)."""
        step = max(1, 2 * NODE_NUMBERS // len(rule.nodes))
        for start in range(0, block.n_rows, step):
            rows = slice(start, min(start + step, block.n_rows))
            x, o = block.x.rows(rows.start, rows.stop), block.observed.rows(rows.start, rows.stop)
            weights = self.node_scores(params, rule, x.operand(slot="x"), o.operand(slot="observed"))
            log_p = softmax_rows(weights)
            yield rows, weights, log_p

    def drawn(self, params: P, block: Block) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with activations (rows, draws, d) and log importance weights (rows, draws)."""
        posterior, q = self.proposal(params, block), params.n_components
        roots = np.linalg.cholesky(unpack(posterior.covariance, q))
        z = row_draws(self.seed, block.start, (block.n_rows, self.n_draws, q))
        nodes = posterior.mean[:, None, :] + z @ np.swapaxes(roots, 1, 2)
        log_det = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        ratio = 0.5 * ((z * z).sum(axis=2) - (nodes * nodes).sum(axis=2)) + log_det[:, None]  # ln p(x) / q(x)
        for rows, A, scores in self.drawn_scores(params, block, nodes):
            yield rows, A, scores + ratio[rows]

    def moments_on_grid(self, params: P, rule: Rule, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side; exact."""
        parts = []
        squares = pack_outer(rule.nodes)
        for _, weights, _ in self.on_grid(params, rule, block):
            mean = weights @ rule.nodes
            parts.append(np.concatenate([mean, weights @ squares - pack_outer(mean)], axis=1))
        return np.concatenate(parts)

    def likelihood_and_error(self, params: P, shared: object, block: Block) -> Floats:
        """Return ln P(observed bits) of each row and its standard error: 0 on a grid."""
        out = np.zeros((block.n_rows, 2))
        if (rule := self.rule(params)) is not None:
            for rows, _, log_p in self.on_grid(params, rule, block):
                out[rows, 0] = log_p
            return out
        for rows, _, scores in self.drawn(params, block):
            out[rows, 0] = logsumexp(scores, axis=1) - np.log(self.n_draws)
            ratio = np.exp(scores - out[rows, :1])
            out[rows, 1] = ratio.std(axis=1, ddof=1) / np.sqrt(self.n_draws)
        return out

    def log_likelihood(self, params: P, shared: object, block: Block) -> Floats:
        """Return ln P(observed bits) of each row."""
        return np.ascontiguousarray(self.likelihood_and_error(params, shared, block)[:, 0])

    def posterior(self, params: P, shared: object, block: Block) -> Floats:
        """Return the posterior mean of each row's x."""
        return np.ascontiguousarray(self.posterior_moments(params, shared, block)[:, : params.n_components])

    def reconstruct(self, params: P, codes: Floats) -> Floats:
        """Return P(bit = 1 | x)."""
        return self.probabilities(self.activations(params, codes))

    def fill(self, params: P, shared: object, block: Block) -> Floats:
        """Return P(bit = 1 | observed bits) for every cell, as if that cell had to be drawn again: E[P(1)]."""
        return self.weighted(params, block, lambda A: (self.probabilities(A),))[0][0]

    def leave_one_out(self, params: P, shared: object, block: Block) -> Floats:
        """Return P(t_i = 1 | the other observed bits) for every cell."""
        return left_out(block, *self.weighted(params, block, self.odds)[0])

    def weighted(self, params: P, block: Block, functions: Functions) -> tuple[list[Floats], Floats]:
        """Return the posterior means of functions of the activations, each (rows, d), and ln P(observed bits)."""
        out = [np.zeros((block.n_rows, params.n_columns)) for _ in functions(np.zeros((1, 1)))]
        rule, log_p = self.rule(params), np.zeros(block.n_rows)
        if rule is None:
            for rows, A, scores in self.drawn(params, block):
                log_p[rows] = softmax_rows(scores) - np.log(self.n_draws)
                for total, values in zip(out, functions(A), strict=True):
                    total[rows] = np.matmul(scores[:, None, :], values)[:, 0, :]
            return out, log_p
        step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
        for rows, weights, log_of_sum in self.on_grid(params, rule, block):
            log_p[rows] = log_of_sum
            for start in range(0, len(rule.nodes), step):
                some = slice(start, start + step)
                A = self.activations(params, rule.nodes[some])
                for total, values in zip(out, functions(A), strict=True):
                    total[rows] += weights[:, some] @ values
        return out, log_p

    def draw(self, params: P, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and their x."""
        codes = rng.standard_normal((n, params.n_components))
        x = rng.random((n, params.n_columns)) < self.reconstruct(params, codes)
        return x.view(np.uint8), codes
