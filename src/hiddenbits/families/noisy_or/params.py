"""Parameters of a layered noisy-OR network, all states of a small network, and the prior.

A unit that is on is a cause of the units below it. Each cause that is on may switch a unit on, independently of the
others, and the unit is on if any of them did (Lewicki & Sejnowski 1996):

    P(S_j = 1 | layer above) = 1 - exp(-u_j),   u_j = w_0j + Sum_i S_i w_ij,   f_ij = 1 - exp(-w_ij)

Letters and shapes are in `model.py`. Layers are counted from the data upwards: layer 0 has the causes of the columns.

Given the states s of the lowest layer, columns are independent of each other and of the layers above. So a small
network is a model with one node for every s, whose weights P(s) come from the layers above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Annotated, Literal

import numpy as np
from scipy.special import gammaln, logsumexp

from hiddenbits.array_types import Floats
from hiddenbits.data.declared import Link, Params, Range
from hiddenbits.data.layout import Layout, binary_columns
from hiddenbits.families.nodes.params import NodeScores
from hiddenbits.families.noisy_or.m_step import clip_strengths
from hiddenbits.maths.numerics import COUNTS, LOGITS, are_probabilities
from hiddenbits.maths.state_sums import states_of

OPEN_INTERVAL = Range(partial(are_probabilities, least=1e-300, most=np.nextafter(1.0, 0.0)), "must lie between 0 and 1")
UNIT_COUNTS = Range(lambda a: bool(np.all((a >= 1) & (a <= 2**31) & (a == np.round(a)))), "must be numbers of units")
LOG_WEIGHTS = Link(lambda f: np.log(-np.log1p(-f)), lambda z: -np.expm1(-np.exp(np.clip(z, -50.0, 5.0))))

Learns = Literal["strengths", "layer", "network"]
"""What is fitted: strengths of the top layer; also its leak and the priors; or all layers together."""


def n_free_parameters(n_causes: Sequence[int], n_columns: int) -> int:
    """Return how many parameters of a network are free; its causes layer by layer, the lowest first.

    All layers above a layer of K causes determine only the probabilities of its states: at most 2^K - 1 numbers.

    Examples
    --------
    >>> n_free_parameters((3,), 10), n_free_parameters((3, 2), 10)   # 40 + 3, and 40 + min(3 * 3 + 2, 2^3 - 1)
    (43, 47)
    """
    free = n_causes[-1]
    for K, n_below in zip(n_causes[::-1], (n_columns, *n_causes)[-2::-1], strict=True):
        free = min(free, 2**K - 1) + (K + 1) * n_below
    return free


def log_on(u: Floats) -> Floats:
    """Return ln(1 - exp(-u)), for u > 0.

    Examples
    --------
    >>> float(log_on(np.array([1e-20]))[0].round(6))
    -46.051702
    """
    return np.asarray(np.log(-np.expm1(-u)))


@lru_cache(maxsize=16)
def all_states(n_causes: int) -> Floats:
    """Return every state of a layer, (2^K, K + 1), the leak always on."""
    states = states_of(n_causes)
    states_with_leak = np.ascontiguousarray(np.column_stack([states, np.ones(len(states))]))
    states_with_leak.flags.writeable = False
    return states_with_leak


@dataclass(frozen=True, eq=False)
class NoisyOrParams(Params):
    """Strengths of all layers, and the priors of the top one.

    Attributes
    ----------
    sizes : ndarray of shape (layers + 1,)
        The number of columns, then of causes in each layer, the lowest first.
    strengths : ndarray
        f of all layers, leak last in each, one after the other.
    priors : ndarray of shape (K_top,)
    names : ndarray of shape (all units,)
        A permanent number for each unit, by which stored states of rows are matched after pruning.
    """

    sizes: Annotated[Floats, "layers", UNIT_COUNTS]
    strengths: Annotated[Floats, "strengths", OPEN_INTERVAL, LOG_WEIGHTS]
    priors: Annotated[Floats, "K", OPEN_INTERVAL, LOGITS]
    names: Annotated[Floats, "units", COUNTS]

    @classmethod
    def of(cls, layers: list[Floats], priors: Floats, names: Floats | None = None) -> NoisyOrParams:
        """Return the network with these strengths of each layer, (K + 1, children), the lowest first."""
        sizes = [layers[0].shape[1], *(len(f) - 1 for f in layers)]
        names = np.arange(float(sum(sizes[1:]))) if names is None else names
        return cls(np.array(sizes, np.float64), np.concatenate([f.ravel() for f in layers]), priors, names)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.sizes[0])

    @property
    def n_causes(self) -> tuple[int, ...]:
        """Causes of each layer, the lowest first."""
        return tuple(int(size) for size in self.sizes[1:])

    @cached_property
    def layers(self) -> list[Floats]:
        """Strengths f of each layer, (K + 1, children), the leak last."""
        strengths, start = [], 0
        for below, above in zip(self.sizes[:-1].astype(int), self.sizes[1:].astype(int), strict=True):
            stop = start + (above + 1) * below
            strengths.append(self.strengths[start:stop].reshape(above + 1, below))
            start = stop
        return strengths

    @cached_property
    def w(self) -> list[Floats]:
        """Weights w = -ln(1 - f) of each layer, (K + 1, children)."""
        return [-np.log1p(-f) for f in self.layers]

    @cached_property
    def activity(self) -> list[Floats]:
        """P(unit on) of each layer, as if the units above were independent of each other."""
        activity = [self.priors]
        for f in self.layers[:0:-1]:
            activity.insert(0, 1.0 - (1.0 - f[-1]) * np.prod(1.0 - activity[0][:, None] * f[:-1], axis=0))
        return activity

    def ordered(self) -> NoisyOrParams:
        """Return the same network with the units of each layer in order of decreasing activity."""
        orders = [np.argsort(-p, kind="stable") for p in self.activity]
        layers, below = [], np.arange(self.n_columns)
        for f, order in zip(self.layers, orders, strict=True):
            layers.append(np.vstack([f[order], f[-1:]])[:, below])
            below = order
        return NoisyOrParams.of(layers, self.priors[orders[-1]])

    def with_vector(self, vector: Floats) -> NoisyOrParams:
        """Return the network with these coordinates, its strengths clipped."""
        unclipped = super().with_vector(vector)
        return NoisyOrParams.of([clip_strengths(f) for f in unclipped.layers], unclipped.priors, self.names)

    def flaw(self) -> str | None:
        """Return what makes these arrays invalid, or None."""
        if flaw := super().flaw():
            return flaw
        sizes = self.sizes
        if len(sizes) < 2 or self.strengths.size != np.sum(sizes[:-1] * (sizes[1:] + 1.0)):
            return "strengths do not fit the sizes of the layers"
        if self.priors.size != sizes[-1] or self.names.size != sizes[1:].sum():
            return "priors and names do not fit the sizes of the layers"
        return None

    # ------------------------------------------------------------------------ all states, for few causes

    @cached_property
    def states(self) -> list[Floats]:
        """Every state of each layer, (2^K, K + 1)."""
        return [all_states(K) for K in self.n_causes]

    @cached_property
    def inputs(self) -> list[Floats]:
        """Input u of every child in every state of its causes, (2^K, d), of each layer."""
        return [S @ w for S, w in zip(self.states, self.w, strict=True)]

    @cached_property
    def log_priors(self) -> list[Floats]:
        """Log-probability ln P(s) of the states of each layer, summed over the layers above."""
        pi, top = self.priors, self.states[-1][:, :-1]
        log_priors = [top @ np.log(pi) + (1.0 - top) @ np.log1p(-pi)]
        for number in range(len(self.states) - 2, -1, -1):
            log_priors.insert(0, logsumexp(self._log_given_above(number) + log_priors[0], axis=1))
        return log_priors

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
        conditionals, transition = [self.states[0][:, :-1]], None
        for number in range(len(self.states) - 1):
            next_transition = self.above_given(number)
            transition = next_transition if transition is None else transition @ next_transition
            conditionals.append(transition @ self.states[number + 1][:, :-1])
        return np.concatenate(conditionals, axis=1)

    @cached_property
    def probabilities(self) -> Floats:
        """P(cell = 1 | s) of every column, (columns, 2^K)."""
        return np.ascontiguousarray(-np.expm1(-self.inputs[0]).T)

    @cached_property
    def weights(self) -> Floats:
        """P(s) of the states of the lowest layer, (2^K,)."""
        return np.exp(self.log_priors[0])

    @property
    def layout(self) -> Layout:
        """Every column is binary."""
        return binary_columns(self.n_columns)

    @cached_property
    def scores(self) -> NodeScores:
        """The scores of the states: ln g + u for a 1, -u for an observed cell, g = 1 - e^-u; and ln P(s)."""
        log_off = np.ascontiguousarray(-self.inputs[0].T)
        return NodeScores.of(np.log(self.probabilities) - log_off, log_off.sum(axis=0), self.log_priors[0], log_off)


def log_prior(params: NoisyOrParams, alpha: float, beta: float, center: float) -> float:
    """Return the log density of all w, (alpha - 1) ln w - beta w + const, plus that of pi: a pseudo-row at `center`."""
    total = sum(float((alpha - 1.0) * np.log(w).sum() - beta * w.sum()) for w in params.w)
    total += params.strengths.size * float(alpha * np.log(beta) - gammaln(alpha))
    return total + float((center * np.log(params.priors) + (1.0 - center) * np.log1p(-params.priors)).sum())
