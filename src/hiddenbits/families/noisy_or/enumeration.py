"""All states of a small noisy-OR network: priors, likelihoods and the layers above the lowest, by enumeration.

Given the states s of the lowest layer, bits are independent and the layers above know no more about the row. So the
network is a mixture with one class for every s, whose class weights P(s) the layers above make, and what the upper
layers learn follows from the expected number of rows in each s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.families.noisy_or.params import NoisyOrParams, best_strengths, log_on
from hiddenbits.maths.state_sums import states_of

INNER = 5  # steps of eq 9 on the same counts: they cost no pass


@lru_cache(maxsize=16)
def all_states(n_causes: int) -> Floats:
    """Return every state of a layer, (2^K, K + 1), the leak always on."""
    states = states_of(n_causes)
    found = np.ascontiguousarray(np.column_stack([states, np.ones(len(states))]))
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False)
class Enumerated:
    """Tables over all states of each layer."""

    params: NoisyOrParams

    @cached_property
    def states(self) -> list[Floats]:
        """Every state of each layer, (2^K, K + 1)."""
        return [all_states(K) for K in self.params.n_causes]

    @cached_property
    def inputs(self) -> list[Floats]:
        """Input u of every child in every state of its causes, (2^K, d), of each layer."""
        return [S @ w for S, w in zip(self.states, self.params.weights, strict=True)]

    @cached_property
    def log_priors(self) -> list[Floats]:
        """Log-probability ln P(s) of the states of each layer, the layers above summed over."""
        pi, top = self.params.priors, self.states[-1][:, :-1]
        found = [top @ np.log(pi) + (1.0 - top) @ np.log1p(-pi)]
        for number in range(len(self.states) - 2, -1, -1):
            found.insert(0, logsumexp(self._log_given_above(number) + found[0], axis=1))
        return found

    def _log_given_above(self, number: int) -> Floats:
        """Return ln P(s | t) for the states s of a layer and t of the one above, (2^K, 2^K_above)."""
        u, s = self.inputs[number + 1], self.states[number][:, :-1]
        return np.asarray(s @ (log_on(u) + u).T - u.sum(axis=1))

    def above_given(self, number: int) -> Floats:
        """Return P(t | s) for the states s of a layer and t of the one above, (2^K, 2^K_above)."""
        joint = self._log_given_above(number) + self.log_priors[number + 1]
        return np.asarray(np.exp(joint - self.log_priors[number][:, None]))

    @cached_property
    def on_given(self) -> Floats:
        """P(unit on | s) for all units of all layers and the states s of the lowest, (2^K, units)."""
        found, link = [self.states[0][:, :-1]], None
        for number in range(len(self.states) - 1):
            step = self.above_given(number)
            link = step if link is None else link @ step
            found.append(link @ self.states[number + 1][:, :-1])
        return np.concatenate(found, axis=1)

    @cached_property
    def probabilities(self) -> Floats:
        """P(bit = 1 | s) of every column, (columns, 2^K)."""
        return np.ascontiguousarray(-np.expm1(-self.inputs[0]).T)

    def best_layers(
        self, ones: Floats, tried: Floats, classes: Floats, alpha: float, beta: float, first: int, hold_leak: bool
    ) -> tuple[list[Floats], Floats]:
        """Return the strengths after the M-step of the layers from `first` on, and the rows with each top cause on.

        `ones` and `tried` (columns, 2^K) count the ones and the observed cells of each column in each state of the
        lowest layer, `classes` (2^K,) the rows.
        """
        layers = list(self.params.layers)
        for number, states in enumerate(self.states):
            if number >= first:
                layers[number] = best_layer(layers[number], states, ones, tried, alpha, beta, hold_leak)
            if number + 1 < len(self.states):
                joint = classes[:, None] * self.above_given(number)
                ones, classes = states[:, :-1].T @ joint, joint.sum(axis=0)
                tried = classes[None, :]
        return layers, classes @ self.states[-1][:, :-1]


def best_layer(
    f: Floats,
    states: Floats,
    ones: Floats,
    tried: Floats,
    alpha: float,
    beta: float,
    hold_leak: bool = False,
    steps: int = INNER,
) -> Floats:
    """Return strengths after some steps of eq 9 on counts of states, (K + 1, d); each step raises the objective.

    A_ij = f_ij Sum_s s_i ones_j(s) / g_j(s),   T_ij = Sum_s s_i tried_j(s)
    """
    often, leak = np.asarray((tried @ states).T), f[-1]
    for _ in range(steps):
        g = -np.expm1(states @ np.log1p(-f))
        f = best_strengths(f * ((ones / g.T) @ states).T, often, alpha, beta)
        if hold_leak:
            f[-1] = leak
    return f
