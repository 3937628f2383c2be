"""Likelihoods, posteriors and predictions of rows with a latent x ~ N(0, I), integrated over x, for any link function.

On a grid (up to three dimensions, if a grid that is fine enough has few enough nodes) the integrals are exact to about
1e-8. Otherwise they are importance sampled: each row has draws from its own Gaussian approximation q of the posterior,
weighted by P(t | x) p(x) / q(x). Either way a row has nodes with posterior weights, and results are weighted means.

A model defines its activations A(x), one per column, and its link: P(1), ln P(1)/P(0) and ln P(0) as functions of A.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from scipy.special import logsumexp

from hiddenbits.array_types import Bytes, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.bits import AllOnes, Bits
from hiddenbits.data.operands import OnesOperand, product_with_totals, scratch
from hiddenbits.maths.gauss_hermite import FAR, Rule, neighbors, row_draws
from hiddenbits.maths.numerics import softmax_rows
from hiddenbits.maths.packed_symmetric import Posterior, pack_outer, packed_size, unpack

Functions = Callable[[Floats], tuple[Floats, ...]]

MOST_CACHED_NUMBERS = 1 << 22  # in a table of nodes and columns that is cached from block to block
STEP_SCORES = 1 << 15  # processed together, in a core's cache
LEAVE_ONE_OUT_NATS = 16.0  # added to FAR: the posterior of a row without one cell may lie elsewhere
NEIGHBOR_ROWS = 64  # integrated over the same part of a grid
NODE_NUMBERS = 1 << 20  # numbers of a table of nodes and columns, or nodes and rows, that are processed together


def left_out(block: Block, up: Floats, down: Floats, mean: Floats) -> Floats:
    """Return P(t_i = 1 | the other observed cells) for every cell, given the posterior means of the odds and of P.

    Leaving out cell i divides a node's weight by P(t_i | x). So the result is 1/(1 + E[P(0)/P(1)]) if t_i = 1,
    u/(1 + u), u = E[P(1)/P(0)], if t_i = 0, and E[P(1)] for a missing cell, E over the posterior of the row.
    """
    x, observed = block.x.to_dense(), block.observed.to_dense()
    return np.where(observed == 0, mean, np.where(x == 1, 1.0 / (1.0 + down), up / (1.0 + up)))


class MapParams(Protocol):
    """Parameters of a latent space of q dimensions."""

    @property
    def n_components(self) -> int:
        """Number of dimensions, q."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""


P = TypeVar("P", bound=MapParams)


class LatentRows(ABC, Generic[P]):
    """The row functions of all models with a latent Gaussian x and conditionally independent columns."""

    n_draws: int
    seed: int

    @abstractmethod
    def rule(self, params: P) -> Rule | None:
        """Return the grid to integrate on, or None to use importance sampling."""

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
        """Return the Gaussian approximation of each row's posterior, from which importance samples are drawn."""

    @abstractmethod
    def drawn_scores(self, params: P, block: Block, nodes: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield some rows at a time, with A (rows, draws, d) and ln P(t | x) (rows, draws) at each row's own nodes."""

    @abstractmethod
    def posterior_moments(self, params: P, shared: object, block: Block) -> Floats:
        """Return the mean and the packed covariance of each row's posterior, side by side."""

    def pull(self, params: P, block: Block) -> Floats:
        """Return the factor to multiply by `lift`, (rows, k): the cells, a number that is added to each row, and 1."""
        return np.column_stack([block.x.to_dense(), np.zeros(block.n_rows), np.ones(block.n_rows)])

    def lift(self, params: P, table: Floats) -> Floats:
        """Return the factor to multiply `pull` by, (k, L), from columns of a `node_table`."""
        return np.vstack([self.log_odds(self.activations(params, table[:-2].T)).T, table[-2:]])

    def node_table(self, params: P, rule: Rule) -> Floats:
        """Return, for each node: x, 1, and the log of its weight and of P(row of zeros | x); (q + 2, L)."""
        key: Any = params  # by identity
        return _node_table(self, key, rule)

    def node_scores(
        self, params: P, table: Floats, pull: Floats, observed: Bits, zeros: Floats | None = None
    ) -> Floats:
        """Return ln P(t | node) + ln weight for every row and every column of the table, in a buffer of this thread.

        `zeros` has ln P(0) at these nodes, (L, d), if it is cached.
        """
        out = scratch("node scores", (len(pull), table.shape[1]))
        step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
        o = observed.operand(slot="observed")
        for nodes in (slice(start, start + step) for start in range(0, table.shape[1], step)):
            np.matmul(pull, self.lift(params, table[:, nodes]), out=out[:, nodes])
            if not isinstance(o, OnesOperand):
                off = self.log_zero(self.activations(params, table[:-2, nodes].T)) if zeros is None else zeros[nodes]
                totals = off.sum(axis=1)[None]
                out[:, nodes] += product_with_totals(o, off.T, totals) - totals
        return out

    def odds(self, A: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the odds of a 1, the odds of a 0, and P(1): `left_out` needs their posterior means."""
        logs = self.log_odds(A)
        return np.exp(logs), np.exp(-logs), self.probabilities(A)

    def on_grid(
        self, params: P, rule: Rule, block: Block, far: float = FAR
    ) -> Iterator[tuple[Rows, Floats, Floats, Floats]]:
        """Yield some rows at a time, with the relevant nodes, their posterior weights, and ln P(t)."""
        for rows, nodes, weights, total, log_p in self._sums_on_grid(params, rule, block, far):
            weights *= (1.0 / total)[:, None]
            yield rows, nodes, weights, log_p

    def _sums_on_grid(
        self, params: P, rule: Rule, block: Block, far: float = FAR
    ) -> Iterator[tuple[Rows, Floats, Floats, Floats, Floats]]:
        """Yield the same as `on_grid`, but with weights that are not yet divided by their sums, and the sums."""
        table, pull, base = self.node_table(params, rule), self.pull(params, block), np.zeros(block.n_rows)
        zeros = self._cached_zeros(params, rule, block.observed)
        for rows, nodes in self._nodes_of_rows(params, rule, pull, base, block.observed, far):
            part = table if nodes is None else np.take(table, nodes, axis=1)
            off = zeros if zeros is None or nodes is None else zeros[nodes]
            weights = self.node_scores(params, part, pull[rows], block.observed.take(rows), off)
            if rule.coarse is None:
                base[rows] = weights.max(axis=1)
                weights -= base[rows, None]
            np.exp(weights, out=weights)
            total = weights @ np.ones(part.shape[1])
            yield rows, part[:-2].T, weights, total, base[rows] + np.log(total)

    def _cached_zeros(self, params: P, rule: Rule, observed: Bits) -> Floats | None:
        """Return ln P(0) at all nodes, for rows with missing cells, if the table is small enough to cache."""
        key: Any = params  # by identity
        small = len(rule.nodes) * params.n_columns <= MOST_CACHED_NUMBERS
        return _log_zeros(self, key, rule) if small and not isinstance(observed, AllOnes) else None

    def _nodes_of_rows(
        self, params: P, rule: Rule, pull: Floats, base: Floats, observed: Bits, far: float
    ) -> Iterator[tuple[Rows, Rows | None]]:
        """Yield some rows at a time, and the nodes that are relevant for them; None means all.

        On a large grid the rows are neighbors. Their largest scores at coarse nodes are written to `base` and
        subtracted in `pull`, so that later scores are near 0.
        """
        n, coarse = len(pull), rule.coarse
        if coarse is None:
            step = max(1, 2 * NODE_NUMBERS // len(rule.nodes))
            for start in range(0, n, step):
                yield np.arange(start, min(start + step, n)), None
            return
        table, best_node = self.node_table(params, coarse.rule), np.empty(n, np.int64)
        near = np.empty((n, -(-len(coarse.rule.nodes) // 8)), np.uint8)
        zeros = self._cached_zeros(params, coarse.rule, observed)
        step = max(1, STEP_SCORES // len(coarse.rule.nodes))
        for start in range(0, n, step):
            stop = min(start + step, n)
            scores = self.node_scores(params, table, pull[start:stop], observed.rows(start, stop), zeros)
            best_node[start:stop] = scores.argmax(axis=1)
            base[start:stop] = scores.max(axis=1)
            near[start:stop] = np.packbits(scores >= base[start:stop, None] - far, axis=1)
        pull[:, -2] -= base
        for rows in neighbors(coarse.rule.nodes[best_node], NEIGHBOR_ROWS):
            near_any = np.unpackbits(np.bitwise_or.reduce(near[rows], axis=0), count=len(coarse.rule.nodes))
            yield rows, coarse.fine(near_any, len(rule.nodes))

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
        q = params.n_components
        out = np.empty((block.n_rows, q + packed_size(q)))
        for rows, nodes, weights, total, _ in self._sums_on_grid(params, rule, block):
            moments = weights @ np.hstack([nodes, pack_outer(nodes)]) / total[:, None]
            moments[:, q:] -= pack_outer(moments[:, :q])
            out[rows] = moments
        return out

    def likelihood_and_error(self, params: P, shared: object, block: Block) -> Floats:
        """Return ln P(observed cells) of each row and its standard error, which is 0 on a grid."""
        out = np.zeros((block.n_rows, 2))
        if (rule := self.rule(params)) is not None:
            for rows, *_, log_p in self._sums_on_grid(params, rule, block):
                out[rows, 0] = log_p
            return out
        for drawn_rows, _, scores in self.drawn(params, block):
            out[drawn_rows, 0] = logsumexp(scores, axis=1) - np.log(self.n_draws)
            ratio = np.exp(scores - out[drawn_rows, :1])
            out[drawn_rows, 1] = ratio.std(axis=1, ddof=1) / np.sqrt(self.n_draws)
        return out

    def log_likelihood(self, params: P, shared: object, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return np.ascontiguousarray(self.likelihood_and_error(params, shared, block)[:, 0])

    def posterior(self, params: P, shared: object, block: Block) -> Floats:
        """Return the posterior mean of each row's x."""
        return np.ascontiguousarray(self.posterior_moments(params, shared, block)[:, : params.n_components])

    def reconstruct(self, params: P, codes: Floats) -> Floats:
        """Return P(bit = 1 | x)."""
        return self.probabilities(self.activations(params, codes))

    def fill(self, params: P, shared: object, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) for every cell if it were sampled again: E[P(1)]."""
        return self.weighted(params, block, lambda A: (self.probabilities(A),))[0][0]

    def leave_one_out(self, params: P, shared: object, block: Block) -> Floats:
        """Return P(t_i = 1 | the other observed cells) for every cell."""
        return left_out(block, *self.weighted(params, block, self.odds, FAR + LEAVE_ONE_OUT_NATS)[0])

    def weighted(self, params: P, block: Block, functions: Functions, far: float = FAR) -> tuple[list[Floats], Floats]:
        """Return the posterior means of functions of the activations, each (rows, d), and ln P(observed cells)."""
        out = [np.zeros((block.n_rows, params.n_columns)) for _ in functions(np.zeros((1, 1)))]
        rule, log_p = self.rule(params), np.zeros(block.n_rows)
        if rule is None:
            for drawn_rows, A, scores in self.drawn(params, block):
                log_p[drawn_rows] = softmax_rows(scores) - np.log(self.n_draws)
                for total, values in zip(out, functions(A), strict=True):
                    total[drawn_rows] = np.matmul(scores[:, None, :], values)[:, 0, :]
            return out, log_p
        step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
        for rows, nodes, weights, log_p_rows in self.on_grid(params, rule, block, far):
            log_p[rows] = log_p_rows
            for start in range(0, len(nodes), step):
                chunk = slice(start, start + step)
                A = self.activations(params, nodes[chunk])
                for total, values in zip(out, functions(A), strict=True):
                    total[rows] += weights[:, chunk] @ values
        return out, log_p

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Return n simulated rows and their x."""
        codes = rng.standard_normal((n, params.n_components))
        x = rng.random((n, params.n_columns)) < self.reconstruct(params, codes)
        return x.view(np.uint8), codes


@lru_cache(maxsize=4)  # by identity of parameters and rule
def _node_table(model: LatentRows[Any], params: Any, rule: Rule) -> Floats:
    step = max(1, NODE_NUMBERS // max(params.n_columns, 1))
    parts = (rule.nodes[start : start + step] for start in range(0, len(rule.nodes), step))
    zeros = np.concatenate([model.log_zero(model.activations(params, nodes)).sum(axis=1) for nodes in parts])
    return np.vstack([rule.nodes.T, np.ones(len(zeros)), rule.log_weights + zeros])


@lru_cache(maxsize=4)
def _log_zeros(model: LatentRows[Any], params: Any, rule: Rule) -> Floats:
    return np.asarray(model.log_zero(model.activations(params, rule.nodes)))
