"""The noisy-OR network by enumeration: exact likelihood and EM, for layers of at most about ten causes.

    ln P(x | s) = Sum_j x_j [ ln g_j(s) + u_j(s) ] - o_j u_j(s),   g = 1 - e^{-u},   over the observed j

Zeros are linear in u, so the cost of a row is proportional to its 1s: every state of the lowest layer is a node
(`families/nodes`). Layers are fitted one after the other, the lowest first: weights with priors and leak fixed, then
priors and leak too; at the end all layers are fitted together. These are the stages of the fit.

| letter | meaning | shape |
|---|---|---|
| f | P(cause i alone switches j on); the last row is the leak, a cause that is always on | (K + 1, d) for each layer |
| w | -ln(1 - f), which add up | (K + 1, d) |
| pi | P(S_i = 1) in the top layer | (K_top,) |
| alpha, beta | shape and rate of the gamma prior of every w | numbers |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.data import Block
from hiddenbits.data.summary import ColumnSums
from hiddenbits.families.nodes.model import NodeModel
from hiddenbits.families.nodes.params import NodeCounts, NodeScores
from hiddenbits.families.nodes.posterior import footprint
from hiddenbits.families.noisy_or.layered import Layered
from hiddenbits.families.noisy_or.m_step import best_layer, best_priors
from hiddenbits.families.noisy_or.params import Learns, NoisyOrParams
from hiddenbits.families.noisy_or.start import add_layer, first_prior, first_strengths
from hiddenbits.maths.state_sums import states_of
from hiddenbits.model_api import AsOnSubsample, Footprint, Key, Linked, Passes, Promises, Stage


@dataclass(frozen=True)
class NoisyOr(Layered, AsOnSubsample, Linked, NodeModel[NoisyOrParams]):
    """The model; hyperparameters only, those of `Layered` and one more. Leaks have no prior: `has_prior` is False.

    Parameters
    ----------
    learns : {"strengths", "layer", "network"}
        Parameters that the update changes.
    """

    learns: Learns = "network"

    promises = Promises(
        why={"online_gap": "EM may stay with the causes of the first few hundred rows, not those of all"},
        online_gap=0.15,
    )

    def footprint(self, n_columns: int, row_cells: float) -> Footprint:
        """Return what a block costs: every state is a node."""
        return footprint(1 << self.n_components[0], n_columns, row_cells)

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> NoisyOrParams:
        """Return the lowest layer, with nearly equal causes."""
        K = self.n_components[0]
        f = first_strengths(summary.means, K, self.leak, None, key.rng())
        return NoisyOrParams.of([f], np.full(K, first_prior(self.prior, K)))

    def stages(self) -> Sequence[Stage[NoisyOrParams, NodeCounts]]:
        """Return the network layer by layer: strengths, then priors and leak; at the end all layers together."""
        stages: list[Stage[NoisyOrParams, NodeCounts]] = []
        for number in range(len(self.n_components)):
            begin = self._with_next_layer if number else None
            stages.append(Stage(replace(self, learns="strengths"), begin))
            stages.append(Stage(replace(self, learns="layer")))
        return [*stages, Stage(self)] if len(self.n_components) > 1 else stages

    def _with_next_layer(self, params: NoisyOrParams, key: Key) -> NoisyOrParams:
        K = self.n_components[len(params.n_causes)]
        return add_layer(params, K, first_prior(self.prior, K), self.leak, None, key.rng())

    def update(self, params: NoisyOrParams, stats: NodeCounts) -> NoisyOrParams:
        """M-step for the parameters of this stage; the counts of a layer's states are the data of the layer above."""
        fixed, layers = self.learns == "strengths", list(params.layers)
        ones, tried, rows = stats.ones, stats.observed, stats.classes
        for number, states in enumerate(params.states):
            if self.learns == "network" or number + 1 == len(layers):
                layers[number] = best_layer(layers[number], states, ones, tried, self.alpha, self.beta, fixed)
            if number + 1 < len(layers):
                joint = rows[:, None] * params.above_given(number)
                ones, rows = states[:, :-1].T @ joint, joint.sum(axis=0)
                tried = rows[None, :]
        times_on = rows @ params.states[-1][:, :-1]
        priors = params.priors if fixed else best_priors(times_on, float(stats.weight), self.center(params))
        return NoisyOrParams.of(layers, priors, params.names)

    def stats_flaw(self, stats: NodeCounts, params: NoisyOrParams) -> str | None:
        """Return what makes statistics invalid for these parameters, or None."""
        return stats.flaw({"d": params.n_columns, "K": 1 << params.n_causes[0]})

    # Row functions in addition to those of all models with nodes.

    def posterior(self, params: NoisyOrParams, shared: NodeScores, block: Block) -> Floats:
        """Return P(unit on | observed cells), of all units, the lowest layer first."""
        return np.asarray(np.minimum(self.node_weights(params, shared, block) @ params.on_given, 1.0))

    def posterior_mode(self, params: NoisyOrParams, shared: NodeScores, block: Block) -> Floats:
        """Return the most probable joint state of all units, given the observed cells."""
        log_p_lowest = np.log(np.maximum(self.node_weights(params, shared, block), 1e-300))
        # From the top down: the best states of the layers above each state, and their log-probability.
        best_above, log_p_above = np.zeros((1 << params.n_causes[-1], 0), np.int64), np.zeros(1 << params.n_causes[-1])
        for number in range(len(params.n_causes) - 2, -1, -1):
            joint = np.log(np.maximum(params.above_given(number), 1e-300)) + log_p_above
            best_next, log_p_above = joint.argmax(axis=1), joint.max(axis=1)
            best_above = np.column_stack([best_next, best_above[best_next]])
        best_lowest = (log_p_lowest + log_p_above).argmax(axis=1)
        chosen = np.column_stack([best_lowest, best_above[best_lowest]])
        return np.concatenate([states_of(K)[chosen[:, number]] for number, K in enumerate(params.n_causes)], axis=1)

    def responsibilities(self, params: NoisyOrParams, shared: NodeScores, block: Block) -> CauseShares:
        """Return row and column of every 1, and each cause's share in it, the leak's last: (ones, K + 1)."""
        indptr, indices = block.x.ones()
        rows = np.repeat(np.arange(block.n_rows), np.diff(indptr))
        p, w, states = self.node_weights(params, shared, block), params.w[0], params.states[0]
        shares = np.empty((len(rows), len(w)))
        for i in range(len(w)):  # a loop over causes: an array (rows, columns, causes) would be too large
            mean = p @ (states[:, i : i + 1] * w[i] / params.inputs[0])
            shares[:, i] = mean[rows, indices]
        return block.start + rows, indices, shares


CauseShares = tuple[Rows, AnyArray, Floats]
"""Row and column of every 1, and the responsibility of each cause for it.

Regard every cause that is on as a Poisson source of events for column j, w_ij on average, any one of which switches the
cell on. If the cell is on, the first event came from cause i with probability w_ij S_i / u_j. These shares, with the
leak's, add up to 1; the responsibilities are their means over the states of the causes given the row.
"""
