"""The methods that all mixtures with K nodes share: all that follows from the nodes' weights and probabilities."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.data import Block
from hiddenbits.families.nodes import posterior as e_step
from hiddenbits.families.nodes.columns import binary, levels
from hiddenbits.families.nodes.mixed import MixedParams, sampled_numbers
from hiddenbits.families.nodes.params import HasNodes, NodeCounts, NodeScores
from hiddenbits.model_api import Key, Promises

P = TypeVar("P", bound=HasNodes)


class NodeModel(Generic[P]):
    """E-step, row functions and sampling. A model adds its start, the latent variables at its nodes, and its M-step."""

    promises = Promises()
    carry_type = None

    @property
    def stats_type(self) -> type[NodeCounts]:
        """Class of the statistics."""
        return NodeCounts

    @abstractmethod
    def hidden_states(self, params: P) -> Floats:
        """Return the values of the latent variables at each node, (K, q)."""

    def prepare(self, params: P) -> NodeScores:
        """Return the coefficients of ln P(x, node)."""
        return params.scores

    def expect(self, params: P, shared: NodeScores, block: Block, carry: None, key: Key) -> tuple[NodeCounts, None]:
        """E-step: the posterior of the nodes and with it their expected counts."""
        return e_step.expected_counts(shared, block), None

    def log_likelihood(self, params: P, shared: NodeScores, block: Block) -> Floats:
        """Return ln P(observed cells) of each row."""
        return e_step.log_likelihood(shared, block)

    def node_weights(self, params: P, shared: NodeScores, block: Block) -> Floats:
        """Return r, the posterior probability of each node given the row's observed cells, (n, K)."""
        return e_step.posterior(shared, block)

    def posterior(self, params: P, shared: NodeScores, block: Block) -> Floats:
        """Return the posterior mean of each row's latent variables, (n, q)."""
        return np.asarray(self.node_weights(params, shared, block) @ self.hidden_states(params))

    def posterior_mode(self, params: P, shared: NodeScores, block: Block) -> Floats:
        """Return the latent variables of each row's most probable node."""
        return np.asarray(self.hidden_states(params)[self.node_weights(params, shared, block).argmax(axis=1)])

    def fill(self, params: P, shared: NodeScores, block: Block) -> Floats:
        """Return P(x = 1 | observed cells) of every bit as if it were observed anew, r theta, and E[x] of numbers."""
        r = self.node_weights(params, shared, block)
        bits = np.asarray(r @ params.probabilities.T)
        return bits if shared.numbers is None else np.concatenate([bits, shared.numbers.fill(block, r)], axis=1)

    def leave_one_out(self, params: P, shared: NodeScores, block: Block) -> Floats:
        """Return P(x_j = 1 | the other observed cells) of every cell, P(level) of every level, E[x] of every number."""
        layout, theta, x = params.layout, params.probabilities.T, block.x.to_dense()
        r = self.node_weights(params, shared, block)
        binary_columns = binary.leave_one_out(r, theta, x, block.observed.to_dense())
        bits = binary_columns
        if not layout.all_binary:
            bits = np.where(layout.is_level, levels.leave_one_out(r, theta, x, layout), binary_columns)
        if block.numbers is None:
            return bits
        expected = []
        for j in range(block.numbers.shape[1]):
            numbers = block.numbers.copy()
            numbers[:, j] = np.nan
            without = replace(block, numbers=numbers, keep=False, features={})  # not those of all cells
            expected.append(self.fill(params, shared, without)[:, len(layout.columns) + j])
        return np.column_stack([bits, *expected])

    def sample(self, params: P, n: int, rng: np.random.Generator) -> tuple[AnyArray, Floats]:
        """Sample n rows and the latent variables of their nodes."""
        k = rng.choice(len(params.weights), size=n, p=params.weights)
        x: AnyArray = levels.sample(params.probabilities.T[k], params.layout, rng)
        if isinstance(params, MixedParams):
            x = np.concatenate([x, sampled_numbers(params, k, rng)], axis=1)
        return x, self.hidden_states(params)[k]

    def pseudo_statistics(self, params: P, weight: float) -> NodeCounts:
        """Return the expected statistics of rows from the model itself, from which online EM continues after a fit."""
        return e_step.counts_as_expected(params, weight)
