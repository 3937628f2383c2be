"""A model of nodes: all that follows from their scores and probabilities, wherever they lie."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

import numpy as np

from hiddenbits.array_types import Bytes, Floats
from hiddenbits.data import Block
from hiddenbits.families.nodes import posterior as nodes
from hiddenbits.families.nodes.columns import binary, levels
from hiddenbits.families.nodes.params import AtNodes, NodeCounts, Scores
from hiddenbits.model_api import Key, Promises

P = TypeVar("P", bound=AtNodes)


class Nodes(Generic[P]):
    """The E-step, row functions and draws. A model adds where its nodes begin, what each stands for, and its M-step."""

    promises = Promises()
    stats_type = NodeCounts
    carry_type = None

    @abstractmethod
    def hidden_states(self, params: P) -> Floats:
        """Return the code that each node stands for, (K, q)."""

    def prepare(self, params: P) -> Scores:
        """Return the scores of the nodes."""
        return params.scores

    def expect(self, params: P, shared: Scores, block: Block, carry: None, key: Key) -> tuple[NodeCounts, None]:
        """E-step: P(node | row), and with it the expected ones and observed cells of each node."""
        return nodes.expected_counts(shared, block), None

    def log_likelihood(self, params: P, shared: Scores, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return nodes.log_likelihood(shared, block)

    def node_weights(self, params: P, shared: Scores, block: Block) -> Floats:
        """Return r, the probability of each node given the row's observed cells, (n, K)."""
        return nodes.posterior(shared, block)

    def posterior(self, params: P, shared: Scores, block: Block) -> Floats:
        """Return the posterior mean of each row's code, (n, q)."""
        return np.asarray(self.node_weights(params, shared, block) @ self.hidden_states(params))

    def posterior_mode(self, params: P, shared: Scores, block: Block) -> Floats:
        """Return the code of each row's most probable node."""
        return np.asarray(self.hidden_states(params)[self.node_weights(params, shared, block).argmax(axis=1)])

    def fill(self, params: P, shared: Scores, block: Block) -> Floats:
        """Return P(bit = 1 | observed cells) for every cell, as if that cell had to be drawn again: r theta."""
        return np.asarray(self.node_weights(params, shared, block) @ params.probabilities.T)

    def leave_one_out(self, params: P, shared: Scores, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) for every bit."""
        layout, theta, x = params.layout, params.probabilities.T, block.x.to_dense()
        r = self.node_weights(params, shared, block)
        of_bits = binary.without_itself(r, theta, x, block.observed.to_dense())
        if layout.all_binary:
            return of_bits
        return np.where(layout.is_level, levels.without_itself(r, theta, x, layout), of_bits)

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[Bytes, Floats]:
        """Draw n rows and the codes of their nodes."""
        drawn = rng.choice(len(params.weights), size=n, p=params.weights)
        return levels.sample(params.probabilities.T[drawn], params.layout, rng), self.hidden_states(params)[drawn]

    def pseudo_statistics(self, params: P, weight: float) -> NodeCounts:
        """Return the statistics of rows that are just as the model expects, for online EM to continue from a fit."""
        return nodes.counts_as_expected(params, weight)
